"""Words of column names: one list per idea, used by candidates and by checks alike.

A name is split into words by `roles.words`, so a list of words matches any name that contains one
of them.  Lists whose names end in `_NAMES` contain complete names, as `roles.leaf` spells them.
The names that give a column its role without a question are in `roles`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of a verdict on an attempt, of a grade, and of columns that may be either.
CORRECT_WORDS = _word_set(
    "correct correctness match matches em verdict label resolved verified accepted pass passed"
    " solved success successful right judgment"
)
GRADE_WORDS = _word_set("grade score scores reward accuracy acc rating f1")
VERDICT_WORDS = (
    CORRECT_WORDS
    | GRADE_WORDS
    | _word_set(
        "passes passing win won outcome result valid points complied done achieved completed ok"
        " safe"
    )
)
# Words of what is bad if it is true, so that nobody knows whether true passes.
BAD_WORDS = _word_set(
    "attack refusal refused jailbreak jailbroken harmful toxic unsafe hallucinated violation leaked"
    " flagged failed wrong breach compromised obsolete duplicate error incorrect bad rejected"
)
# Words of columns next to which a success may be the attacker's.
ATTACK_WORDS = _word_set("attack asr injection injected jailbreak poisoned adversarial")
# Words of how a run ended, which says less than any verdict; the last ones are never more.
ENDED_WORDS = _word_set("status success successful ok completed complete finished state done")
ENDED_ONLY_WORDS = _word_set("status ok completed complete finished state stop")
# Words of what an attempt is asked, of what is right, and of what was answered.
STATEMENT_WORDS = _word_set("question problem statement instruction query goal prompt input claim")
EXPECTED_WORDS = _word_set("expected gold golden gt gts target reference truth true label")
PREDICTED_WORDS = _word_set("pred predict predicted prediction predictions")
ANSWER_WORDS = PREDICTED_WORDS | _word_set("answer output response actual result")
# Words of what is written next to an answer, which names nothing.
PROSE_WORDS = _word_set(
    "text message content note notes explanation rationale reason reasoning reply log patch"
    " completion solution"
)
# Words of what an outcome is not, whatever its values are.
NOT_OUTCOME_WORDS = _word_set(
    "n num total max min enable enabled type first cached skipped retry timeout timed id idx index"
    " seed level turn step size rank confidence temperature k mock has exists"
)
# Names of settings, under which one model is really several; the first ones also end such names.
SETTING_ENDS = _word_set(
    "arm condition strategy method approach treatment variant scaffold hash version shot shots"
    " fewshot args config template effort"
)
SETTING_NAMES = SETTING_ENDS | _word_set(
    "harness adapter pipeline route configuration checkpoint provider mode prompt_type"
    " prompt_style prompt_name policy setting settings experiment baseline quantization precision"
    " thinking thinking_budget temperature noise edit_format decoding n_shot num_fewshot"
    " prompt_hash prompt_version"
)
# Names of parts of the data that have tasks of their own.
SUITE_NAMES = _word_set(
    "subject category domain split dataset benchmark suite subset topic language repo group"
    " difficulty level year"
)
# Words of what happens while attempts are made, which is never a setting or a task.
HAPPENING_WORDS = _word_set(
    "disposition date time timestamp ts at started start finished end created updated host"
    " hostname machine node gpu worker pid thread rank shard device session batch part uuid hash"
    " day duration elapsed latency seconds ms token tokens truncated stopped cost costs usd price"
    " weight turns steps length len lines count"
)
# Words of what numbers attempts, and values that do.
NUMBERING_WORDS = _word_set(
    "seed run runs rep repeat repetition replicate trial sample attempt epoch iteration iter try"
    " rollout generation index idx"
)
# Words of what a row is, but not its task.
ROW_WORDS = (NUMBERING_WORDS - {"index", "idx"}) | _word_set(
    "session completion response trajectory message request row"
)
NUMBERED = re.compile(rf"(?:(?:{'|'.join(NUMBERING_WORDS)})[ _\-#]*)?([0-9]+)(?:\.0+)?", re.I)
# Words of numbers of attempts, of numbers of passes among them, and of averages of several.
ATTEMPT_COUNT_WORDS = _word_set(
    "n trials episodes attempts samples evaluated total runs completions rollouts count size"
)
PASS_COUNT_WORDS = _word_set("c successes success correct passed passes solved wins sum")
AVERAGE_WORDS = _word_set("rate rates percent pct avg mean median average std")
# Words of lists of what happened within one attempt.
STEP_WORDS = _word_set("steps turns actions events trajectory history log")
# Words of who judges, whose name is not that of the model.
JUDGE_WORDS = _word_set("judge judged grader scorer evaluator annotator")

# What short names of models begin with, or end in: billions of parameters.
MODEL_NAME = re.compile(
    r"(?=.{,80}$)(.*/)?(claude|deepseek|gemini|gemma|glm|(chat)?gpt|grok|kimi|llama|mi[sx]tral|o[134](?=-|$)"
    r"|olmo|phi|qwen|qwq|starcoder|vicuna|wizard(coder|lm)|yi)"
    r"([-_ .:]?[rv]?[0-9]|[-_ .:]\w|$).*|.+[-_ ][0-9]+(\.[0-9]+)?b\b.*",
    re.I | re.S,
)
# The share of names that have to look like models.
_MOST_SHARE = 0.6


def look_like_models(names: Iterable[str]) -> bool:
    """Whether two or more names look like names of models, most of them.

    >>> look_like_models(["GPT-5.2", "Gemini 3 Flash", "DeepSeek-R1"])
    True
    >>> look_like_models(["gsm8k", "arc"])
    False
    """
    names = [*names]
    matches = sum(MODEL_NAME.fullmatch(name) is not None for name in names)
    return len(names) > 1 and matches >= _MOST_SHARE * len(names)
