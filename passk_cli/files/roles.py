"""Find the role of each column, such as the task or the outcome, and the values that are passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import NamedTuple

from passk_cli.errors import DataError, FileWithoutResultsError
from passk_cli.suggested_fix import Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import truncated_text


@dataclass(frozen=True, eq=False, repr=False)
class RoleDefinition:
    """A role that a column can have, such as the task or the outcome, with the usual column names.

    usual_names : the names of columns that clearly have this role, separated by spaces.
    generic_names : column names such as `id` or `seed`, which occur in many records. A column with
        such a name has the role only if no column has a usual name. Names before a bar take
        precedence over names after the bar.
    name_words : words in column names that suggest the role.
    doubtful_names : column names that often mean something else. passk uses a column with such a
        name only if no other column has the role and the values fit
        (`checks.attempt_number_column`).
    value_kind : the kind of the values if the role is a fact about attempts, or "" for other roles.
        passk reads such a column only if a metric needs the fact. The kinds are "number" (or a
        verdict, as 1 and 0), "text", "solution", "label" (whether an attempt truly passes),
        "length" (of a task), "date" (of a model's release) and "amount" (in the unit in
        AMOUNT_UNITS).
    """

    usual_names: str
    generic_names: str = ""
    value_kind: str = ""
    name_words: str = ""
    doubtful_names: str = ""

    @cached_property
    def names_by_likelihood(self) -> tuple[tuple[str, ...], ...]:
        """The column names in order of likelihood: usual names first, then generic names."""
        return tuple(
            tuple(name_list.split())
            for name_list in (self.usual_names, *self.generic_names.split("|"))
        )

    @cached_property
    def rank_by_name(self) -> Mapping[str, int]:
        """Map each column name to its rank, which is 0 for a usual name."""
        ranked_names = [*enumerate(self.names_by_likelihood)]
        return {name: place for place, names in reversed(ranked_names) for name in names}


# Columns with a name in LOOSE_TASK_NAMES may contain tasks, but also occur in files without
# results.
LOOSE_TASK_NAMES = "id name user_input message_id nodeid row_number"
# Columns with the role TRUTH_ROLE contain labels. If a judge gave the outcome, a label shows
# whether the attempt truly passes.
TRUTH_ROLE = "truth"
ROLES: dict[str, RoleDefinition] = {
    "task": RoleDefinition(
        "task_id task task_name problem_id problem question_id question_name instance_id doc_id"
        " example_id eval_name puzzle_id case_id",
        "task_instance_id scenario_id test_id item_id eval_id query_id case fixture"
        f" | {LOOSE_TASK_NAMES} | prompt_id | sample_id | question idx",
        name_words="task case test item question problem prompt scenario instance example fixture"
        " query"
        " puzzle challenge exercise attack input instruction sentence qid goal ticket issue doc id"
        " uid idx index aufgabe frage tâche tarea pregunta 题目 问题"
        " 编号 任务 問題 課題 문제 질문",
    ),
    "outcome": RoleDefinition(
        "passed pass correct is_correct success is_success successful solved is_solved resolved"
        " is_resolved outcome outcomes result results status score scores reward rewards acc"
        " accuracy graded_list is_eval_success task_success functional_pass oracle_ok golden_match"
        " final_result_reached case_eval_result",
        "verified tests_passed tests_pass matches_expected",
        name_words="pass passes passed passing correct correctness success succeeded solved"
        " resolved"
        " verdict ok score reward grade outcome result acc accuracy right match win good valid"
        " compiles bestanden gelöst richtig réussi résolu aprobado resuelto correcto 正确"
        " 是否正确 是否通过 正解 정확 정답",
    ),
    "attempt": RoleDefinition(
        "sample sample_id sample_index attempt attempt_id trial trial_id epoch run run_index"
        " repeat completion_id generation_id rep repetition replicate sample_idx trial_index"
        " attempt_index attempt_number rollout_idx generation_index",
        "run_idx run_number trial_number iter | seed",
        name_words="attempt run trial rep repeat repetition replicate replica iter iteration try"
        " round"
        " seed epoch rollout sample versuch durchlauf essai intento",
        doubtful_names="n idx index iteration round rollout try replica",
    ),
    "model": RoleDefinition(
        "model model_name model_id system agent agent_name engine",
        "agent_model llm | checkpoint",
        name_words="model llm checkpoint agent engine assistant system modell modèle modelo"
        " 模型 モデル 모델",
    ),
    "score": RoleDefinition("score scores reward rewards points grade", value_kind="number"),
    "answer": RoleDefinition(
        "predicted_answer predicted answer_extracted extracted_answer final_answer prediction"
        " pred model_answer answers",
        "answer output",
        value_kind="text",
    ),
    "solution": RoleDefinition(
        "solution solutions completion completions generation generations generated_code code"
        " code_list program raw_generations",
        "response output text patch",
        value_kind="solution",
    ),
    "cost": RoleDefinition(
        "cost cost_usd usd usd_cost total_cost total_cost_usd cost_total cost_dollars agent_cost"
        " agent_cost_usd api_cost api_cost_usd llm_cost instance_cost cost_cents cents"
        " cost_in_cents cost_in_usd total_cost_cents",
        "cost_total_usd | cost_usd_notional",
        value_kind="amount",
    ),
    "tokens_in": RoleDefinition(
        "tokens_in tokens_input input_tokens n_input_tokens num_input_tokens total_input_tokens"
        " input_token_count prompt_tokens n_prompt_tokens num_prompt_tokens total_prompt_tokens"
        " prompt_token_count",
        value_kind="amount",
    ),
    "tokens_out": RoleDefinition(
        "tokens_out tokens_output output_tokens n_output_tokens num_output_tokens"
        " total_output_tokens output_token_count completion_tokens n_completion_tokens"
        " num_completion_tokens total_completion_tokens completion_token_count",
        value_kind="amount",
    ),
    "tokens": RoleDefinition(
        "tokens total_tokens tokens_total n_tokens num_tokens token_count tokens_used",
        value_kind="amount",
    ),
    "tokens_cached": RoleDefinition(
        "tokens_cached cached_tokens cached_input_tokens n_cache_tokens cache_read_tokens"
        " input_tokens_cache_read cache_read_input_tokens",
        value_kind="amount",
    ),
    "duration": RoleDefinition(
        "duration duration_s duration_sec duration_seconds duration_ms wall_clock wall_clock_s"
        " wall_clock_seconds wall_clock_ms wall_time wall_time_s wall_s wall_ms walltime walltime_s"
        " elapsed elapsed_s elapsed_seconds elapsed_ms elapsed_time runtime runtime_s"
        " runtime_seconds runtime_ms run_time execution_time latency latency_s latency_seconds"
        " latency_ms total_time total_time_s time_s time_seconds time_ms seconds",
        value_kind="amount",
    ),
    "turns": RoleDefinition(
        "turns num_turns n_turns total_turns turn_count",
        "steps num_steps n_steps total_steps step_count api_calls",
        value_kind="amount",
    ),
    "minutes": RoleDefinition("human_minutes expert_minutes", value_kind="length"),
    "date": RoleDefinition("release_date", value_kind="date"),
    # The role "truth" needs --field, because a column named "truth" usually contains the right
    # answer.
    TRUTH_ROLE: RoleDefinition("", value_kind="label"),
    "n": RoleDefinition(
        "n num_samples n_samples num_attempts n_attempts n_attempted attempts num_trials n_trials"
        " trials num_runs n_runs runs total"
    ),
    "c": RoleDefinition(
        "c num_correct n_correct num_passed n_passed n_passing n_pass passes num_success n_success"
        " num_successes n_successes successes n_solved num_solved correct"
    ),
}
NAME_WORDS_BY_ROLE = {
    name: {*role.name_words.split()} for name, role in ROLES.items() if role.name_words
}
# A column name that contains "system" or "model" and ends with a word in _MODEL_ATTRIBUTE_WORDS is
# not the name of a model.
_MODEL_ATTRIBUTE_WORDS = (
    *"hash sha sha256 digest prompt output answer response text message reasoning error status"
    " score cost tokens judge".split(),
)
# passk reads columns with the roles in ATTEMPT_FACT_ROLES only if a metric or an option needs them.
ATTEMPT_FACT_ROLES = tuple(name for name, role in ROLES.items() if role.value_kind)
# AMOUNT_UNITS maps the role of an amount to its unit, and to the SQL that converts numbers from
# other units to this unit.
AMOUNT_UNITS: dict[str, tuple[str, dict[str, str]]] = {
    "cost": (
        "dollars",
        {"dollars": "", "usd": "", "cents": " / 100", "cent": " / 100", "millicents": " / 1e5"}
        | dict.fromkeys(("micros", "microdollars"), " / 1e6"),
    ),
    "tokens_in": ("tokens", {}),
    "tokens_out": ("tokens", {}),
    "tokens": ("tokens", {}),
    "tokens_cached": ("tokens", {}),
    "duration": (
        "seconds",
        dict.fromkeys(("s", "sec", "secs", "seconds"), "")
        | dict.fromkeys(("ms", "msec", "millis", "milliseconds"), " / 1000")
        | dict.fromkeys(("us", "micros", "microseconds"), " / 1e6")
        | dict.fromkeys(("ns", "nanos", "nanoseconds"), " / 1e9")
        | dict.fromkeys(("minutes", "mins"), " * 60")
        | dict.fromkeys(("hours", "hrs"), " * 3600"),
    ),
    "turns": ("turns", {}),
}
# CONVERTED_TABLE_COLUMNS lists the columns of the tables that `passk convert` writes. Each column
# in CONVERTED_TABLE_COLUMNS has the name of its role.
CONVERTED_TABLE_COLUMNS = tuple("model suite task run attempt outcome score reason".split())
# COUNTS_COLUMNS lists the columns of the tables that `passk convert --counts` writes.
COUNTS_COLUMNS = ("model", "task", "n", "c")
# HISTORY_COLUMNS lists the columns of the histories that `passk record` writes.
HISTORY_COLUMNS = tuple("run at revision suite settings model task n c".split())
# The roles in _IDENTIFYING_ROLES identify an attempt. A column with one of these roles cannot have
# a second role.
_IDENTIFYING_ROLES = {"task", "attempt", "model"}
# passk warns if it pools attempts with different values of a setting in SETTING_COLUMN_NAMES,
# because these settings change how a model behaves.
SETTING_COLUMN_NAMES = (
    *"temperature temp top_p prompt prompt_id mode reasoning_effort agent user_model".split(),
)

# PASS_WORDS and FAIL_WORDS contain words in English, German, French, Spanish, Italian, Portuguese,
# Chinese, Japanese and Korean.
PASS_WORDS = (
    *"true t yes pass passed passing success succeeded successful correct resolved solved".split(),
    *"won win ok wahr ja vrai oui verdadero sí vero sì verdadeiro sim ✓ ✔ ✅".split(),
    *"正确 正確 通过 成功 是 对 正解 합격 정확 정답 성공".split(),
)
FAIL_WORDS = (
    *"false f no lost loss fail failed failing failure incorrect wrong unresolved unsolved".split(),
    *"falsch nein faux non falso não ✗ ✘ ❌".split(),
    *"错误 錯誤 未通过 失败 失敗 否 错 不正解 불합격 오류 오답 실패".split(),
    "not resolved",
)
# The words in ENDED_WITHOUT_VERDICT_WORDS mean that an attempt ended without a verdict. Each word
# is a reason for a missing outcome.
ENDED_WITHOUT_VERDICT_WORDS = (
    *"error errored exception crash crashed timeout timed_out killed aborted".split(),
    *"cancelled canceled skipped infra_error infrastructure_error".split(),
    "timed out",
)
# A column with a word in ATTEMPT_END_STATUS_COLUMN_WORDS in its name describes how an attempt
# ended.
ATTEMPT_END_STATUS_COLUMN_WORDS = frozenset(
    "error errors err exception exit status state reason stop finish termination terminated failure"
    " fault crash ended".split()
)
MISSING_OUTCOME_WORDS = ("", "null", "none", "nan", "na", "n/a", *ENDED_WITHOUT_VERDICT_WORDS)
THRESHOLD_SLACK = 1e-9
# The strings REACHED and BELOW replace the scores that passk compared with the threshold.
REACHED, BELOW = "≥ threshold", "< threshold"
# passk treats a text with more than MAX_NAME_LIKE_TEXT_CHARACTERS characters as a question or
# answer and not as a name.
MAX_NAME_LIKE_TEXT_CHARACTERS = 100
# passk writes the columns in PASSK_OUTPUT_COLUMNS to csv and json, but no file with attempts
# contains all these columns.
PASSK_OUTPUT_COLUMNS = {"metric", "estimate", "low", "high", "level", "interval", "population"}

CONTAINS_COUNTS_PROBLEM = "the file contains counts"
# In the path of a nested field, the brackets in EACH_ENTRY_KEY mean every entry of a list.
EACH_ENTRY_KEY = "[]"
# NAMED_ENTRY_PATTERN matches the part of a path that selects one list entry by a key:
# scores[name=correct].value.
NAMED_ENTRY_PATTERN = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]")
_LIST_KEY_START_PATTERN = re.compile(rf"(?=\[\]|{NAMED_ENTRY_PATTERN.pattern})")
# _PATH_SEPARATOR_DOT_PATTERN matches the dots that separate the keys of a path. A dot in brackets
# is part of a key.
_PATH_SEPARATOR_DOT_PATTERN = re.compile(r"\.(?![^\[\]]*\])")
# "a==b" is an outcome that passes if the columns a and b have equal values.
EQUAL_COLUMNS_OPERATOR = "=="
# "a|b" is an outcome that uses the column a or b, whichever has a value in the row.
ALTERNATIVE_COLUMNS_OPERATOR = "|"
# "a and not b" is an outcome that passes if the column a passes and the column b fails.
ALL, NOT = " and ", "not "
_COMMA_PATTERN = re.compile(r",(?![^\[\]]*\])")
_COLUMN_OPERATOR_PATTERN = re.compile(
    rf"(?:,|{EQUAL_COLUMNS_OPERATOR}|\{ALTERNATIVE_COLUMNS_OPERATOR}|{ALL})(?![^\[\]]*\])"
)
_PLURAL_BY_ATTEMPT_FACT = {
    "attempt": "attempt numbers",
    "line": "attempts in the order of lines",
    **dict.fromkeys(("tokens", "tokens_in", "tokens_out", "tokens_cached"), "token counts"),
    "turns": "turns",
    "minutes": "lengths of tasks",
}

# In LangSmith tables, the names of evaluator columns begin with LANGSMITH_FEEDBACK_PREFIX
# (github.com/langchain-ai/langsmith-sdk, MIT licence, python/langsmith/evaluation/_runner.py).
LANGSMITH_FEEDBACK_PREFIX = "feedback."
# A table with all of the columns in _LANGSMITH_MARKER_COLUMNS is from LangSmith. The status in a
# LangSmith table only shows that the run ended.
_LANGSMITH_MARKER_COLUMNS = {"inputs", "outputs", "reference_outputs", "status"}
# Result files of human-eval contain `passed`, and repeat it in words ("passed", "failed: …") in the
# column `result` (github.com/openai/human-eval, execution.py).
_HUMAN_EVAL_MARKER_COLUMNS = {"task_id", "completion", "passed", "result"}


@dataclass(frozen=True)
class ColumnRoles:
    """The name of the column with each role, or None if no column has the role.

    kind_of_rows : "attempts" (one row per attempt), "lists" (one list of outcomes per record) or
        "counts".
    attempt_fact_columns : pairs (role, column) of further facts about attempts that passk reads,
        such as the cost.
    """

    kind_of_rows: str
    task: str
    outcome: str | None = None
    attempt: str | None = None
    model: str | None = None
    n: str | None = None
    c: str | None = None
    attempt_fact_columns: tuple[tuple[str, str], ...] = ()

    def column(self, role: str) -> str | None:
        """The column with a role, or None."""
        return self.columns().get(role)

    def columns(self) -> dict[str, str]:
        """Map each role to its column. Roles without a column are left out."""
        columns = vars(self) | dict(self.attempt_fact_columns)
        return {role: columns[role] for role in ROLES if columns.get(role) is not None}


def assign_roles(
    place: str,
    columns: Mapping[str, set[str]],
    overrides: Mapping[str, str],
    attempt_roles: Sequence[str] = (),
    scores_only: bool = False,
    by: Sequence[str] = (),
) -> ColumnRoles:
    """Find the column of each role from the usual column names and from --field.

    columns : maps each column to the kinds of its values (bool, number, text, list, record, null).
    overrides : maps roles to the columns that the user named for the roles.
    attempt_roles : facts about attempts that the command needs in addition to outcomes, for example
        score, answer, solution, attempt or line.
    scores_only : whether scores are used instead of outcomes.
    by : the columns that --by names. passk uses such a column for another role only if no other
        column can have this role.
    Errors: DataError at `place` if a required role has no possible column, or has several possible
    columns.
    """
    for role, column in overrides.items():
        absent = (
            part
            for part, _ in amount_addends(role, column, columns)
            if not find_column_and_keys(part, columns)
        )
        for name in (
            part
            for absent_column in absent
            for part in combined_columns(absent_column)
            if not find_column_and_keys(part, columns)
        ):
            if name == COLUMN_NAME_AS_MODEL:
                raise FileWithoutResultsError(
                    place,
                    f"{COLUMN_NAME_AS_MODEL} needs several outcome columns, but there is only one"
                    f" outcome column",
                    name="no-such-column",
                    settles=[SuggestedFix({"--field": {"outcome": Placeholder("A,B")}},
                    "names one column per model")],
                )  # fmt: skip
            remedy = did_you_mean_or_list(name, columns, _columns_text(columns))
            raise FileWithoutResultsError(
                place, f"no column {name!r}", remedy, name="no-such-column"
            )
    choices, counts = _possible_columns_by_role(
        place, columns, overrides, attempt_roles, scores_only, by
    )
    for role in ("task",) if counts else ("task", "outcome"):
        if not choices[role]:
            problem = f"no column has a usual name for the {role}"
            raise FileWithoutResultsError(
                place, problem, _columns_text(columns), name=f"no-{role}-column",
                settles=[_column_fix(role)],
            )  # fmt: skip
    for role, names in choices.items():
        if len(names) > 1:
            problem = f"{len(names)} columns could be the {role}: {', '.join(names)}"
            settles = [SuggestedFix({"--field": {role: name}}) for name in names]
            raise DataError(place, problem, name="ambiguous-column", settles=settles)
    by_role = {role: names[0] for role, names in choices.items() if names}
    outcome = by_role.get("outcome", "")
    lists = find_column_and_keys(outcome, columns) is not None and is_list_column(outcome, columns)
    shape = "counts" if counts else "lists" if lists else "attempts"
    if lists:
        by_role.pop("attempt", None)
    if attempt_roles:
        _require_attempt_fact_columns(place, by_role, attempt_roles, shape, columns)
    of_attempts = tuple((role, by_role.pop(role)) for role in ATTEMPT_FACT_ROLES if role in by_role)
    separate = [pair for pair in of_attempts if pair[1] != outcome]
    if by_role.get("model") == COLUMN_NAME_AS_MODEL and separate:
        role, column = separate[0]
        problem = f"{column!r} contains one {role} for outcomes of several models"
        raise DataError(place, problem, "write one row per model and task", name="ambiguous-column")
    for role, column in of_attempts if lists else ():
        (part, _), *further = amount_addends(role, column, columns)
        if role in (*AMOUNT_UNITS, TRUTH_ROLE) and (further or not is_list_column(part, columns)):
            problem = f"{column!r} contains one {role} for a list of outcomes"
            list_fix = SuggestedFix(
                {"--field": {role: Placeholder("COLUMN")}},
                "names a list with one value per attempt",
            )
            raise DataError(place, problem, name="ambiguous-column", settles=[list_fix])
    return ColumnRoles(shape, **by_role, attempt_fact_columns=of_attempts)


def _possible_columns_by_role(
    place: str,
    columns: Mapping[str, set[str]],
    overrides: Mapping[str, str],
    attempt_roles: Sequence[str],
    scores_only: bool,
    by: Sequence[str],
) -> tuple[dict[str, list[str]], bool]:
    """Map each role to its possible columns, and check whether the table contains counts.

    The likeliest column of a role comes first.
    """
    choices: dict[str, list[str]] = {}
    for role in ROLES:
        if role in attempt_roles or role not in ATTEMPT_FACT_ROLES:
            # If a column such as sample_id is the only possible task, it is not the attempt.
            task = choices["task"] if role == "attempt" else []
            used_columns = {*task} if len(task) == 1 else set[str]()
            choices[role] = _possible_columns_of_role(role, columns, overrides, used_columns, by)
    if "score" in choices:
        # If a table has a score but no outcome column, the score is also the outcome.
        choices["score"] = choices["score"] or [*choices["outcome"]]
        if "outcome" not in overrides:
            other_outcomes = [c for c in choices["outcome"] if c not in choices["score"]]
            choices["outcome"] = (
                [*choices["score"]] if scores_only or not other_outcomes else other_outcomes
            )
    if "tokens" in choices and not choices["tokens"]:
        halves = (
            _possible_columns_of_role(role, columns, overrides, (), ())
            for role in ("tokens_in", "tokens_out")
        )
        choices["tokens"] = [f"{into}+{out}" for into, out in product(*halves)]
    if "model" not in overrides:
        choices["model"] = _model_columns_except_objects(place, choices["model"], columns)
    if "c" not in overrides:
        choices["c"] = [c for c in choices["c"] if columns[c] <= {"number", "text", "null"}]
    if choices["n"] and choices["c"] and "outcome" not in overrides:
        if not {"n", "c"} <= overrides.keys():
            _refuse_counts_with_outcome(place, choices)
        return choices | {"outcome": [], "attempt": []}, True
    if "score" in overrides and not choices["outcome"]:
        choices["outcome"] = [overrides["score"]]
    outcomes = _outcomes_by_likelihood(choices["outcome"], columns)
    if "attempt" not in overrides:
        # A nested object cannot be an attempt number.
        choices["attempt"] = [c for c in choices["attempt"] if "record" not in columns[c]]
    # Columns of numbers come first, because columns of strings may contain names.
    choices["attempt"].sort(key=lambda name: "text" in columns.get(name, set()))
    return choices | {"n": [], "c": [], "outcome": outcomes}, False


def _possible_columns_of_role(
    role: str,
    columns: Mapping[str, set[str]],
    overrides: Mapping[str, str],
    used_columns: Container[str],
    by: Sequence[str],
) -> list[str]:
    """The column that the user named for a role, or else all columns with a usual name of the role.

    used_columns : columns that already have another role.
    """
    if role in overrides:
        return [overrides[role]]
    naming = {*_IDENTIFYING_ROLES, TRUTH_ROLE}
    named_columns = {
        column for other_role, column in overrides.items() if naming & {role, other_role}
    }
    # A column in which all values are null cannot be the model.
    empty = {c for c, kinds in columns.items() if kinds == {"null"}} if role == "model" else set()
    usual = usual_columns(
        role, [c for c in columns if not (c in named_columns or c in used_columns or c in empty)]
    )
    if role in AMOUNT_UNITS:
        usual = [column for column in usual if "record" not in columns[column]]
    return [column for column in usual if column not in by] or usual


def _model_columns_except_objects(
    place: str, choices: Sequence[str], columns: Mapping[str, set[str]]
) -> list[str]:
    name_columns = [column for column in choices if "record" not in columns[column]]
    objects = [column for column in choices if normalized_column_name(column).startswith("model")]
    if objects and not name_columns:
        problem = f"{objects[0]!r} is an object and not the name of a model"
        key = SuggestedFix(
            {"--field": {"model": Placeholder(f"{objects[0]}.KEY")}}, "names its key"
        )
        raise DataError(place, problem, name="no-model-column", settles=[key])
    return name_columns


def _refuse_counts_with_outcome(place: str, choices: Mapping[str, list[str]]) -> None:
    pair = {"n": choices["n"][0], "c": choices["c"][0]}
    sizes = choices["n"] + choices["c"]
    for outcome in (column for column in choices["outcome"] if column not in sizes):
        problem = f"the table contains counts ({', '.join(pair.values())}) and outcomes ({outcome})"
        settles = [SuggestedFix({"--field": fields}) for fields in ({"outcome": outcome}, pair)]
        raise DataError(place, problem, name="ambiguous-column", settles=settles)


def _outcomes_by_likelihood(choices: Sequence[str], columns: Mapping[str, set[str]]) -> list[str]:
    """Sort the possible outcome columns, with columns of true and false first.

    Nested objects are excluded if any other column is possible.
    """
    if columns.keys() >= _HUMAN_EVAL_MARKER_COLUMNS and set(choices) == {"passed", "result"}:
        return ["passed"]
    plain = [c for c in choices if columns.get(c, set()) - {"null"} != {"record"}]
    return sorted(plain or choices, key=lambda name: "bool" not in columns.get(name, set()))


def _require_attempt_fact_columns(
    place: str,
    by_role: Mapping[str, str],
    attempt_roles: Sequence[str],
    shape: str,
    columns: Mapping[str, set[str]],
) -> None:
    for role in attempt_roles:
        if shape == "counts":
            facts = _PLURAL_BY_ATTEMPT_FACT.get(role, role + "s")
            remedy = f"{facts} need a row (or a list entry) per attempt"
            raise DataError(place, CONTAINS_COUNTS_PROBLEM, remedy, name="no-attempts")
        if role in ("line", TRUTH_ROLE, "tokens_cached") or role in by_role:
            continue
        if role != "attempt":
            derived = _derived_columns(columns)
            lists = [c for c, kinds in columns.items() if "list" in kinds and role in AMOUNT_UNITS]
            lists = [column for column in lists if column not in derived]
            # A column of answers can be the solution, because solutions are compared as strings.
            answer_names = ROLES["answer"].names_by_likelihood[0] if role == "solution" else ()
            answer_columns = [
                column for column in columns if normalized_column_name(column) in answer_names
            ]
            entries = [Placeholder(f"{column}{EACH_ENTRY_KEY}.KEY") for column in lists[:1]]
            settles = [_column_fix(role, *answer_columns[:1])]
            settles += [
                SuggestedFix({"--field": {role: e}}, "adds up the entries of a list")
                for e in entries
            ]
            problem, remedy = f"no {role} column", _columns_text(columns)
            raise DataError(place, problem, remedy, name="no-role-column", settles=settles)
        times = [c for c in columns if re.search(r"time|date|created|started|finished", c.lower())]
        problem = "no column with a usual name for the attempt's number or time"
        column_fix = _column_fix("attempt", *times[:1])
        in_lines = SuggestedFix({"--order-from-lines": True}, "uses the order of lines", "order")
        if shape == "lists":
            problem = "the data does not show whether lists are in the order of the attempts"
            column_fix = replace(
                column_fix, effect="names a list of the attempts' numbers or times"
            )
            in_lines = replace(in_lines, effect="uses the order of lists")
        raise DataError(
            place, problem, _columns_text(columns), name="unordered-attempts",
            settles=[column_fix, in_lines],
        )  # fmt: skip


def _column_fix(role: str, column: str = Placeholder("COLUMN")) -> SuggestedFix:
    return SuggestedFix({"--field": {role: column}}, "names it")


def find_column_and_keys(
    column: str, columns: Mapping[str, set[str]]
) -> tuple[str, list[str]] | None:
    """Find a column or a nested field. Return (column, keys inside the column), or None.

    The key "[]" means every entry of a list, for example in "a.b[].c". This key is optional: "a.b"
    also works if a is a list.

    >>> (find_column_and_keys("a.b[].c", {"a": {"record"}}),
    ...  find_column_and_keys("a.b", {"a": {"list"}}), find_column_and_keys("b", {}))
    (('a', ['b', '[]', 'c']), ('a', ['[]', 'b']), None)
    >>> find_column_and_keys("scores[name=v1.2].value", {"scores": {"list"}})
    ('scores', ['[name=v1.2]', 'value'])
    """
    if column in columns:
        return column, []
    parts = _path_keys(column)
    for cut in range(len(parts) - 1, 0, -1):
        base, keys = ".".join(parts[:cut]), parts[cut:]
        if base in columns:
            is_list = "list" in columns[base] and index_of_first_list_key(keys) == len(keys)
            return base, [EACH_ENTRY_KEY, *keys] if is_list else keys
    return None


def is_list_column(column: str, columns: Mapping[str, set[str]]) -> bool:
    """Whether a column or a nested field contains a list with one value per attempt."""
    base, keys = find_column_and_keys(column, columns) or (column, [])
    return EACH_ENTRY_KEY in keys or ("list" in columns[base] and not keys)


def combined_columns(column: str, columns: Container[str] = ()) -> list[str]:
    """The columns that a value of --field combines, such as "year,day", "given==gold" or "old|new".

    columns : the columns of the data. A name that is itself a column is not divided.

    >>> (combined_columns("year,day"), combined_columns("year,day", ["year,day"]),
    ...  combined_columns("given==gold"))
    (['year', 'day'], ['year,day'], ['given', 'gold'])
    >>> (combined_columns("compiles and not slow"), combined_columns("scores[name=a,b].value"),
    ...  combined_columns("@value:a,b"))
    (['compiles', 'slow'], ['scores[name=a,b].value'], ['@value:a,b'])
    """
    if column in columns or column.startswith(FIXED_VALUE_PREFIX):
        return [column]
    return [part.removeprefix(NOT) for part in split_at_column_operators(column)]


def split_at_column_operators(column: str) -> list[str]:
    """Split the value of --field into columns, and keep the word "not". Text in brackets is not
    divided.

    >>> split_at_column_operators("given==gold,a")
    ['given', 'gold', 'a']
    >>> split_at_column_operators("compiles and not slow")
    ['compiles', 'not slow']
    """
    return _COLUMN_OPERATOR_PATTERN.split(column)


def first_key(column: str) -> str:
    """The first key of the path of a nested field.

    >>> first_key("a.b"), first_key("scores[name=v1.2].value"), first_key("a[].b")
    ('a', 'scores', 'a')
    """
    return _path_keys(column)[0]


def _path_keys(column: str) -> list[str]:
    return _PATH_SEPARATOR_DOT_PATTERN.split(_LIST_KEY_START_PATTERN.sub(".", column))


def index_of_first_list_key(keys: Sequence[str]) -> int:
    """The index of the first key that selects list entries, or the number of keys if no key selects
    list entries."""
    into = (
        at
        for at, key in enumerate(keys)
        if key == EACH_ENTRY_KEY or NAMED_ENTRY_PATTERN.fullmatch(key)
    )
    return next(into, len(keys))


def amount_addends(role: str, column: str, columns: Container[str] = ()) -> list[tuple[str, str]]:
    """The columns that add up to a cost or another amount, as pairs (column, SQL).

    The SQL converts a number to the unit of the role. The unit of a column is the text after a
    colon, or otherwise the last unit in the column name. If the role is not an amount, the result
    contains only the column itself.

    >>> amount_addends("cost", "agent_cost+judge_cents"), amount_addends("duration", "meta.wallMs")
    ([('agent_cost', ''), ('judge_cents', ' / 100')], [('meta.wallMs', ' / 1000')])
    >>> amount_addends("duration", "latency:ms"), amount_addends("task", "a+b")
    ([('latency', ' / 1000')], [('a+b', '')])
    """
    if role not in AMOUNT_UNITS:
        return [(column, "")]
    units, parts = AMOUNT_UNITS[role][1], []
    for part in [column] if column in columns else map(str.strip, column.split("+")):
        name, _, unit = part.rpartition(":")
        if name and unit in units and column not in columns:
            parts.append((name, units[unit]))
        else:
            words = normalized_column_name(part.rpartition(".")[2].strip()).split("_")
            parts.append((part, next((units[w] for w in reversed(words) if w in units), "")))
    return parts


def columns_named_for_roles(fields: Mapping[str, str]) -> list[str]:
    """The columns that the user named for roles, including the parts of joined columns."""
    sums_by_role = (
        amount_addends(role, column) for role, column in fields.items() if role in AMOUNT_UNITS
    )
    sums = [part for of in sums_by_role for part, _ in of]
    return [*sums, *(part for c in fields.values() for part in (c, *combined_columns(c)))]


class ComputedColumn(NamedTuple):
    """A column that passk computes from other columns.

    parts : the columns from which passk computes the column.
    meaning_of_each_part : what each part is: "a part" of a text, "an attempt", "a model", "an
        answer" (which passk compares with the second part), "the one there is" (one of several
        alternatives, of which only one has a value), "all" (a flag that must pass), "the opposite"
        (a negated flag), "a place" (a column that divides the rows into lists), or "a value" (no
        parts, but a fixed value).
    value_kinds : the kinds of the computed values.
    build_verdict_sql : a function that converts SQL for an outcome to SQL for its verdict.
    """

    parts: list[str]
    meaning_of_each_part: str
    value_kinds: set[str]
    build_verdict_sql: Callable[[str], str] | None = None


# With "model=@column", the name of the model is the name of the outcome column.
COLUMN_NAME_AS_MODEL = "@column"
# A list with a word in FAILED_LIST_WORDS in its name contains only failed tasks.
FAILED_LIST_WORDS = frozenset("failed failures errors incorrect wrong missed".split())
# A list with a word in SUMMARY_LIST_WORDS in its key contains summaries, for example with one
# record per model.
SUMMARY_LIST_WORDS = frozenset("models leaderboard summary summaries aggregate aggregates".split())
# With "task=@line", the task is the line number of a row in its file.
LINE_NUMBER_AS_TASK = "@line"
# With "task=@position", the task is the position of a row among the rows of one run of a model.
POSITION_AS_TASK = "@position"
# With "task=@value:libero", all rows belong to the task "libero".
FIXED_VALUE_PREFIX = "@value:"


def joined_columns(
    fields: Mapping[str, str],
    columns: Mapping[str, set[str]],
    judged: Callable[[str], str],
    within: Sequence[str] = (),
) -> dict[str, ComputedColumn]:
    """Map the name of each joined column, such as "year,day" or "given==gold", to its parts.

    judged : a function that converts SQL for an outcome to SQL for its verdict.
    within : the columns that divide the rows into lists. "@position" starts at 1 in each list.
    """
    columns_by_name: dict[str, ComputedColumn] = {}
    for role, column in fields.items():
        of = (
            combined_columns(column, columns)
            if role in _IDENTIFYING_ROLES or role == "outcome"
            else []
        )
        if column.startswith(FIXED_VALUE_PREFIX) and role in _IDENTIFYING_ROLES:
            columns_by_name[column] = ComputedColumn([], "a value", {"text"})
        if column == POSITION_AS_TASK and column not in columns:
            separators = [*within]
            for name in ("model", "attempt"):
                usual = [
                    c
                    for c in usual_columns(name, columns)
                    if ROLES[name].rank_by_name[normalized_column_name(c)] == 0
                ]
                separators += [fields[name]] if name in fields else usual
            separators = [c for c in dict.fromkeys(separators) if find_column_and_keys(c, columns)]
            columns_by_name[column] = ComputedColumn(separators, "a place", {"number"})
        terms = split_at_column_operators(column) if role == "outcome" else []
        negated = {c for c in terms if c.startswith(NOT) and c not in columns}
        if column not in columns and (negated or (terms and ALL in column)):
            if all(find_column_and_keys(part, columns) for part in of):
                for name in negated:
                    columns_by_name[name] = ComputedColumn(
                        [name.removeprefix(NOT)], "the opposite", {"bool"}
                    )
                if ALL in column:
                    columns_by_name[column] = ComputedColumn(terms, "all", {"bool"}, judged)
            continue
        if not (len(of) > 1 and all(find_column_and_keys(part, columns) for part in of)):
            continue
        if role != "outcome":
            columns_by_name[column] = ComputedColumn(of, "a part", {"text"})
            continue
        several = _COMMA_PATTERN.split(column)
        if ALTERNATIVE_COLUMNS_OPERATOR in column and not (
            EQUAL_COLUMNS_OPERATOR in column or len(several) > 1
        ):
            kinds = {kind for part in of for kind in columns.get(part, {"text"})}
            columns_by_name[column] = ComputedColumn(of, "the one there is", kinds)
            continue
        columns_by_name |= {
            e: ComputedColumn(combined_columns(e), "an answer", {"text"})
            for e in several
            if EQUAL_COLUMNS_OPERATOR in e
        }
        if len(several) > 1:
            columns_by_name[column] = ComputedColumn(several, "an attempt", {"list"})
    outcome = fields.get("outcome", "")
    if (
        fields.get("model") == COLUMN_NAME_AS_MODEL
        and outcome in columns_by_name
        and "," in outcome
    ):
        of = columns_by_name[outcome].parts
        kinds = {kind for part in of for kind in columns.get(part, {"text"})}
        columns_by_name |= {
            outcome: ComputedColumn(of, "a model", kinds),
            COLUMN_NAME_AS_MODEL: ComputedColumn([], "a part", {"text"}),
        }
    if LINE_NUMBER_AS_TASK in fields.values() and LINE_NUMBER_AS_TASK not in columns:
        columns_by_name[LINE_NUMBER_AS_TASK] = ComputedColumn([], "a part", {"number"})
    return columns_by_name


def without_absent_identifying_fields(
    fields: Mapping[str, str], columns: Mapping[str, set[str]]
) -> dict[str, str]:
    """Remove the fields task, attempt and model if they name columns that do not exist.

    Files that are read together may have different columns. A field is removed only if the file
    contains another column with a usual name of the role.

    >>> fields = {"task": "case", "model": "agent,llm"}
    >>> without_absent_identifying_fields(fields, {"task": {"text"}, "llm": {"text"}})
    {'model': 'agent,llm'}
    """
    spellings = {normalized_column_name(column) for column in columns}
    return {
        role: column
        for role, column in fields.items()
        if role not in _IDENTIFYING_ROLES
        or any(find_column_and_keys(part, columns) for part in (column, *combined_columns(column)))
        or spellings.isdisjoint(ROLES[role].names_by_likelihood[0])
    }


def absent_identifying_columns(
    fields: Mapping[str, str], columns: Mapping[str, set[str]]
) -> list[str]:
    """The columns that the user named for the task, attempt or model, but that do not exist."""
    naming_columns = (column for role, column in fields.items() if role in _IDENTIFYING_ROLES)
    with_parts = (
        c for column in naming_columns for c in (column, *combined_columns(column, columns))
    )
    return [column for column in with_parts if not find_column_and_keys(column, columns)]


def agreement_sql(left: str, right: str) -> str:
    """SQL that returns 'true' if two answers agree, and NULL if an answer is missing.

    Numbers are compared by value. A letter and a number agree if the number is the position of the
    letter in the alphabet, counted from 0. The comparison of strings ignores case, outer spaces and
    a final full stop. A list with one entry is compared like its entry.
    """
    only = r"""^\s*\[\s*["'']?([^\[\]"'',]*)["'']?\s*\]\s*$"""
    left, right = (f"regexp_replace({text}, '{only}', '\\1')" for text in (left, right))
    numbers = " = ".join(f"TRY_CAST({text} AS DOUBLE)" for text in (left, right))
    places = (
        f"CASE WHEN regexp_full_match({letter}, '[A-Za-z]') THEN ascii(upper({letter})) - 65 END"
        f" = TRY_CAST({number} AS DOUBLE)"
        for letter, number in ((left, right), (right, left))
    )
    texts = " = ".join(f"rtrim(lower(trim({text})), '.')" for text in (left, right))
    return f"(coalesce({numbers}, {', '.join(places)}, {texts}))::VARCHAR"


def outcome_verdict_sql(
    outcome: str,
    threshold: float | None,
    *,
    passes: Sequence[str] = (),
    fails: Sequence[str] = (),
    graded: bool = False,
    strict: bool = False,
) -> str:
    """SQL for the verdict on an outcome string: 1 (pass), 0 (failure), NULL (missing) or −1
    (unknown).

    passes, fails : words that pass and words that fail. If only `passes` is given, every other word
        fails, and so does a number without a threshold. If both are given, other words are unknown.
        If only `fails` is given, passk also uses the words that it knows.
    graded : whether the verdict is 3 for a number other than 0 and 1, if there is no threshold.
    strict : whether passk also uses the words that it knows if `passes` is given. Other words
        are then unknown.
    """
    only = bool(passes) and not strict
    # The SQL function trim removes only spaces, so tabs and line breaks first become spaces.
    word = f"lower(trim(translate({outcome}, chr(9) || chr(10) || chr(13), '   ')))"
    number = f"TRY_CAST({outcome} AS DOUBLE)"
    usual = ""
    if threshold is None:
        if not (passes or fails):
            usual = "".join(
                f" WHEN {' OR '.join(f'{outcome} = {word!r}' for word in words)} THEN {verdict}"
                for words, verdict in ((("1", "true", "True"), 1), (("0", "false", "False"), 0))
            )
        numeric = f"WHEN {number} = 1 THEN 1 WHEN {number} = 0 THEN 0"
        numeric += f" WHEN isfinite({number}) THEN 3" if graded else ""
        numeric = "" if only else numeric
    else:
        usual = f" WHEN {outcome} = '{REACHED}' THEN 1 WHEN {outcome} = '{BELOW}' THEN 0"
        bar = reaches_threshold_sql(number, threshold)
        numeric = f"WHEN {bar} THEN 1 WHEN {number} IS NOT NULL THEN 0"
    missing = f"{outcome} IS NULL OR {word} IN {MISSING_OUTCOME_WORDS} OR isnan({number})"
    words = f"WHEN {word} IN {PASS_WORDS} THEN 1 WHEN {word} IN {FAIL_WORDS} THEN 0"
    words = "" if only else words
    unknown_verdict = 0 if only and not fails else -1
    named_cases = "".join(
        f" WHEN {word} IN ({', '.join(map(_lowercase_word_sql, option_words))}) THEN {verdict}"
        for option_words, verdict in ((passes, 1), (fails, 0))
        if option_words
    )
    cases = f"CASE{usual}{named_cases} WHEN {missing} THEN NULL {words} {numeric}"
    return f"{cases} ELSE {unknown_verdict} END"


def _lowercase_word_sql(word: str) -> str:
    """Quote a word for SQL, in lower case and without outer spaces."""
    return "'" + word.strip().lower().replace("'", "''") + "'"


def amount_sql(text: str, unit: str) -> str:
    """SQL that converts a string to an amount in the unit of its role. A missing amount is NULL.

    Strings that are not numbers become minus infinity, which later raises an error. The SQL is
    valid in Spark.
    """
    number = f"TRY_CAST(trim(LEADING ' $' FROM {text}) AS DOUBLE)"
    missing = f"{text} IS NULL OR lower(trim({text})) IN {MISSING_OUTCOME_WORDS} OR isnan({number})"
    return f"CASE WHEN {missing} THEN NULL ELSE coalesce({number}, '-inf'::DOUBLE){unit} END"


def reaches_threshold_sql(number: str, threshold: float) -> str:
    """SQL that is true if a number is at least the threshold, up to a rounding error."""
    return f"{number} >= '{threshold - THRESHOLD_SLACK!r}'::DOUBLE"


_CAMEL_CASE_BOUNDARY_PATTERN = re.compile("(?<=[a-z0-9])(?=[A-Z])")
# passk uses only the last _NORMALIZED_LAST_CHARACTER_COUNT characters of a column name, because a
# longer key is text and not a name.
_NORMALIZED_LAST_CHARACTER_COUNT = 200


def normalized_column_name(column: str) -> str:
    """Rewrite the name of a column in lower case with underscores, like the names in ROLES.

    >>> [normalized_column_name(name) for name in ("Row Number", "instanceId", "task-id")]
    ['row_number', 'instance_id', 'task_id']
    """
    return _snake_case(column[-_NORMALIZED_LAST_CHARACTER_COUNT:])


@lru_cache(maxsize=4096)
def _snake_case(column: str) -> str:
    return _CAMEL_CASE_BOUNDARY_PATTERN.sub("_", column).lower().replace("-", "_").replace(" ", "_")


@lru_cache(maxsize=8192)
def normalized_last_key(column: str) -> str:
    """The last key in the path of a column, in lower case with underscores.

    >>> normalized_last_key("config.promptVersion")
    'prompt_version'
    """
    return normalized_column_name(column.rpartition(".")[2])


def parent_path(column: str) -> str:
    """The path of a column without its last key, or "" for a top-level column.

    >>> parent_path("config.promptVersion"), parent_path("task")
    ('config', '')
    """
    return column.rpartition(".")[0]


@lru_cache(maxsize=8192)
def column_name_words(column: str) -> set[str]:
    """The words in the last key of a column's path.

    >>> sorted(column_name_words("meta.startedAt"))
    ['at', 'started']
    """
    return {word for word in re.split(r"[\W_]+", normalized_last_key(column)) if word}


def usual_columns(role: str, columns: Iterable[str]) -> list[str]:
    """Return the columns with a usual name for a role. If there are no such columns, return the
    columns with a generic name for the role."""
    columns = list(columns)
    feedback = [
        column
        for column in columns
        if role == "outcome" and column.startswith(LANGSMITH_FEEDBACK_PREFIX)
    ]
    if feedback or (role == "outcome" and {*columns} >= _LANGSMITH_MARKER_COLUMNS):
        # In LangSmith tables, the status only shows that the run ended, so the status is not the
        # outcome.
        usual = {*ROLES[role].names_by_likelihood[0]} - {"status"}
        return [column for column in columns if normalized_column_name(column) in usual] + feedback
    ranks = {
        column: ROLES[role].rank_by_name.get(normalized_column_name(column)) for column in columns
    }
    best = min((rank for rank in ranks.values() if rank is not None), default=None)
    return [column for column, rank in ranks.items() if rank is not None and rank == best]


@lru_cache(maxsize=8192)
def role_name_strength(role: str, path: str) -> float:
    """How strongly the name of a column suggests a role, from 0 (not at all) to 3 (a usual name).

    >>> (role_name_strength("task", "task_id"), role_name_strength("task", "doc.id"),
    ...  role_name_strength("outcome", "is_ok"))
    (3.0, 2.5, 1.2)
    >>> role_name_strength("model", "judged_model"), role_name_strength("model", "system_prompt")
    (1.6, 0.0)
    """
    *before, last = path.replace(EACH_ENTRY_KEY, "").split(".")
    name, kind = normalized_column_name(last), NAME_WORDS_BY_ROLE[role]
    rank = ROLES[role].rank_by_name.get(name)
    if rank == 0:
        return 3.0
    if name in ("id", "name", "key", "slug") and before and column_name_words(before[-1]) & kind:
        return 2.5
    if rank is not None:
        return 1.7
    if role == "model" and name.rpartition("_")[2] in _MODEL_ATTRIBUTE_WORDS:
        return 0.0
    if any(name.endswith(f"_{usual_name}") for usual_name in ROLES[role].names_by_likelihood[0]):
        return 1.6
    return 1.2 if column_name_words(last) & kind else 0.0


def _derived_columns(columns: Mapping[str, set[str]]) -> set[str]:
    several = {
        name
        for name in columns
        if all(part != name and part in columns for part in combined_columns(name))
    }
    constants = {name for name in columns if name.startswith(FIXED_VALUE_PREFIX)}
    return (
        several
        | constants
        | ({COLUMN_NAME_AS_MODEL, LINE_NUMBER_AS_TASK, POSITION_AS_TASK} & columns.keys())
    )


def _columns_text(columns: Mapping[str, set[str]]) -> str:
    derived = _derived_columns(columns)
    file_columns = [name for name in columns if name not in derived]
    names = [truncated_text(name, 40) for name in file_columns[:12]]
    text = ", ".join(names) + (", …" if len(file_columns) > 12 else "")
    nested = [c for c, kinds in columns.items() if "record" in kinds]
    hint = f"; write {nested[0]}.KEY for a field inside {nested[0]}" if nested else ""
    return f"the columns are {text}{hint}" if columns else "there are no columns"
