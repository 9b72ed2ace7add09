"""Lists of words that occur in column names. passk uses these lists to guess the meaning of
columns.

`roles.name_words` splits a column name into words. A list of words matches a column name if the
name contains a word of the list. Lists named `…_NAMES` contain complete column names, in lower case
with underscores. The usual column names of roles are in `roles`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A column with a word in CORRECTNESS_COLUMN_WORDS in its name may contain verdicts.
# GRADE_COLUMN_WORDS also contains words for grades.
CORRECTNESS_COLUMN_WORDS = _word_set(
    "correct correctness match matches em verdict label resolved verified accepted pass passed"
    " solved success successful right judgment"
)
GRADE_COLUMN_WORDS = _word_set("grade score scores reward accuracy acc rating f1")
VERDICT_COLUMN_WORDS = (
    CORRECTNESS_COLUMN_WORDS
    | GRADE_COLUMN_WORDS
    | _word_set(
        "passes passing win won outcome result valid points complied done achieved completed ok"
        " safe"
    )
)
# The words in BAD_EVENT_WORDS refer to bad events. If a column name contains a word for a bad
# event, the value true may mean a pass or a failure.
BAD_EVENT_WORDS = _word_set(
    "attack refusal refused jailbreak jailbroken harmful toxic unsafe hallucinated violation leaked"
    " flagged failed wrong breach compromised obsolete duplicate error incorrect bad rejected"
)
# The words in ATTACK_WORDS refer to attacks. If the name of a column contains a word for an attack,
# "success" may mean that the attack worked.
ATTACK_WORDS = _word_set("attack asr injection injected jailbreak poisoned adversarial")
# The words in RUN_STATUS_COLUMN_WORDS describe the end of a run, but may also be verdicts. The
# words in RUN_STATUS_ONLY_COLUMN_WORDS mean only that a run ended.
RUN_STATUS_COLUMN_WORDS = _word_set(
    "status success successful ok completed complete finished state done"
)
RUN_STATUS_ONLY_COLUMN_WORDS = _word_set("status ok completed complete finished state stop")
# A column with a word in PROBLEM_STATEMENT_WORDS in its name may contain questions. The words in
# EXPECTED_ANSWER_WORDS, PREDICTED_WORDS and ANSWER_WORDS refer to expected answers, predictions and
# answers.
PROBLEM_STATEMENT_WORDS = _word_set(
    "question problem statement instruction query goal prompt input claim"
)
EXPECTED_ANSWER_WORDS = _word_set("expected gold golden gt gts target reference truth true label")
PREDICTED_WORDS = _word_set("pred predict predicted prediction predictions")
ANSWER_WORDS = PREDICTED_WORDS | _word_set("answer output response actual result")
# A column with a word in PROSE_ABOUT_ANSWER_WORDS in its name contains texts about an answer, such
# as explanations.
PROSE_ABOUT_ANSWER_WORDS = _word_set(
    "text message content note notes explanation rationale reason reasoning reply log patch"
    " completion solution"
)
# A column with a word in NOT_OUTCOME_WORDS in its name never contains the outcome.
NOT_OUTCOME_WORDS = _word_set(
    "n num total max min enable enabled type first cached skipped retry timeout timed id idx index"
    " seed level turn step size rank confidence temperature k mock has exists"
)
# Columns with a name in SETTING_NAMES are settings that change how a model behaves. Longer names of
# settings may end with a word in SETTING_LAST_WORDS.
SETTING_LAST_WORDS = _word_set(
    "arm condition strategy method approach treatment variant scaffold hash version shot shots"
    " fewshot args config template effort"
)
SETTING_NAMES = SETTING_LAST_WORDS | _word_set(
    "harness adapter pipeline route configuration checkpoint provider mode prompt_type"
    " prompt_style prompt_name policy setting settings experiment baseline quantization precision"
    " thinking thinking_budget temperature noise edit_format decoding n_shot num_fewshot"
    " prompt_hash prompt_version"
)
# Columns with a name in SUITE_COLUMN_NAMES divide the data into parts with separate tasks.
SUITE_COLUMN_NAMES = _word_set(
    "subject category domain split dataset benchmark suite subset topic language repo group"
    " difficulty level year"
)
# The words in ATTEMPT_METADATA_WORDS name events and measurements during an attempt, which are
# never a setting or a task.
ATTEMPT_METADATA_WORDS = _word_set(
    "disposition date time timestamp ts at started start finished end created updated host"
    " hostname machine node gpu worker pid thread rank shard device session batch part uuid hash"
    " day duration elapsed latency seconds ms token tokens truncated stopped cost costs usd price"
    " weight turns steps length len lines count"
)
# A column with a word in ATTEMPT_NUMBER_WORDS in its name may contain attempt numbers.
# ATTEMPT_NUMBER_VALUE_PATTERN matches the values of a column of attempt numbers.
ATTEMPT_NUMBER_WORDS = _word_set(
    "seed run runs rep repeat repetition replicate trial sample attempt epoch iteration iter try"
    " rollout generation index idx"
)
# A column with a word in ROW_ID_WORDS in its name may contain row ids, which are not tasks.
ROW_ID_WORDS = (ATTEMPT_NUMBER_WORDS - {"index", "idx"}) | _word_set(
    "session completion response trajectory message request row"
)
ATTEMPT_NUMBER_VALUE_PATTERN = re.compile(
    rf"(?:(?:{'|'.join(ATTEMPT_NUMBER_WORDS)})[ _\-#]*)?([0-9]+)(?:\.0+)?", re.I
)
# A column with a word in ATTEMPT_COUNT_WORDS in its name may contain numbers of attempts. The words
# in PASS_COUNT_WORDS refer to numbers of passes, and the words in AVERAGE_WORDS refer to averages.
ATTEMPT_COUNT_WORDS = _word_set(
    "n trials episodes attempts samples evaluated total runs completions rollouts count size"
)
PASS_COUNT_WORDS = _word_set("c successes success correct passed passes solved wins sum")
AVERAGE_WORDS = _word_set("rate rates percent pct avg mean median average std")
# A list with a word in STEP_LIST_COLUMN_WORDS in its name contains the steps of one attempt.
STEP_LIST_COLUMN_WORDS = _word_set("steps turns actions events trajectory history log")
# The words in JUDGE_WORDS refer to judges. If a column name refers to a judge, the column does not
# contain the evaluated model.
JUDGE_WORDS = _word_set("judge judged grader scorer evaluator annotator")

# MODEL_NAME_PATTERN matches the name of a model by its usual beginning ("gpt") or by a number of
# parameters ("7b").
MODEL_NAME_PATTERN = re.compile(
    r"(?=.{,80}$)(.*/)?(claude|deepseek|gemini|gemma|glm|(chat)?gpt|grok|kimi|llama|mi[sx]tral|o[134](?=-|$)"
    r"|olmo|phi|qwen|qwq|starcoder|vicuna|wizard(coder|lm)|yi)"
    r"([-_ .:]?[rv]?[0-9]|[-_ .:]\w|$).*|.+[-_ ][0-9]+(\.[0-9]+)?b\b.*",
    re.I | re.S,
)


def look_like_models(names: Iterable[str]) -> bool:
    """Whether there are several names, and most names look like model names.

    >>> look_like_models(["GPT-5.2", "Gemini 3 Flash", "DeepSeek-R1"])
    True
    >>> look_like_models(["gsm8k", "arc"])
    False
    """
    names = [*names]
    matches = sum(MODEL_NAME_PATTERN.fullmatch(name) is not None for name in names)
    return len(names) > 1 and matches >= 0.6 * len(names)
