"""Words of names and of values that speak for a role, or against it."""

from __future__ import annotations

import re

# Names of values of several attempts.
OF_SEVERAL = re.compile(r"(.*_)?pass(_at|_hat|@|\^)_?[0-9k]+")
# Names of what one attempt consists of.
PARTS = re.compile(
    r"(turn|step|message|criteri(on|a)|rubric|check|claim|gate|evidence|assertion|expectation"
    r"|event|tool_call)(s|_results)?"
)
OF_PARTS = frozenset("check criterion assertion claim expectation rubric requirement".split())
# Words of the sides of a comparison in one record.
SIDES = frozenset("a b left right".split())
# Words of verdicts on a classification, of which the first two are right.
CLASSIFIED = ("tp", "tn", "fp", "fn")
TRUTH_VALUES = frozenset("true false yes no 0 1".split())
# Words of outcomes of which nobody can know whether true passes.
UNCLEAR = frozenset(
    "label refusal refused refuse jailbreak jailbroken attack toxic toxicity harmful harm unsafe"
    " hallucination hallucinated violation leaked leak flagged fail failed failure wrong biased"
    " bias misled cheated hacked error breach breached obeyed complied exploited compromised"
    " exfiltrated bypassed evaded deceived manipulated hack hacking vuln vulnerable vulnerability"
    " vulnerabilities violations errors hallucinations overconfidence overconfident deception"
    " deceptive hijacked leakage severity exposed poisoned".split()
)
# Those of which true fails, as a rule.
FAILURES = frozenset("fail failed failure wrong error".split())
# Words of names of codes, and what a harness notes of an attempt.
CODES = frozenset("label code verdict judgment judgement rating".split())
NOTED = frozenset("flag flagged blocked filtered truncated thin".split())
# Words of names of what is no outcome, and of what is no task.
NO_OUTCOME = frozenset(
    "first total valid num count max min time timeout cached enabled skipped retry n index number"
    " exists has is_valid completed finished format prediction predicted dirty to type class kind"
    " mode improvement gain delta difference change enable enables use used uses using".split()
)
JUDGING = frozenset("judge grader scorer evaluator annotator rater".split())
NO_TASK = JUDGING | frozenset(
    "run session time timestamp date response output trajectory uuid hash attempt trial seed log"
    " version created at ts started finished answer worker host category type difficulty level"
    " count duration reason path file directory dir folder url message error rep repeat iter"
    " iteration round epoch rollout reply sha256 sha digest trace span note notes comment"
    " reasoning explanation rationale final story len length size chars lines".split()
)
# Words of names of what an attempt took, of numbers of something, and of records of an answer.
AMOUNTS = frozenset("tokens token cost usd latency seconds ms weight".split())
NUMBERS = frozenset("hits count counts num n length len size".split())
ANSWERS = frozenset("response usage raw output".split())
# Words of names of what was expected, alone where nothing else is said of it, of what is true, and
# of what is asked.
EXPECTED = frozenset("expected gold".split())
GOLDS = EXPECTED | frozenset("golden target reference".split())
TRUTHS = frozenset("label truth true actual".split())
SURE = (GOLDS | TRUTHS) - {"label"}
STATEMENTS = GOLDS | {*"question problem statement sentence instruction query prompt input".split()}
# Words of names of what was answered.
PREDICTED = frozenset("pred predict predicted prediction predictions".split())
ANSWERED = PREDICTED | {
    *"answer output response label action got actual chosen selected choice".split(),
    *"classification classified".split(),
}
# Words of names of how many of an attempt's tests passed, and of how many there were.
PASSED, TOTAL = frozenset("passed pass passing correct".split()), frozenset("total max".split())
SCORES = frozenset("score points".split())
# Words of names of how good an attempt is, and of shares that say something else.
QUALITIES = frozenset(
    "quality rating overall f1 em bleu rouge meteor similarity recall precision coverage compliance"
    " faithfulness relevance truthfulness helpfulness plausibility coherence completeness".split()
)
SHARES = frozenset(
    "probability prob confidence threshold risk entropy diversity std variance loss ratio density"
    " noise distance delta fraction uncertainty".split()
)
# Words of names of what is summed up over several tasks, and of what sums it up.
AVERAGES = frozenset("rate average avg mean".split())
SUMMED = frozenset(
    "category categories difficulty level domain topic tag aggregate aggregates averages".split()
)
