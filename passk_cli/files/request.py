"""A request contains the options for reading files, which are the same in every command."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar

from passk_cli.errors import DataError, ParameterError, unknown_model_or_task_error
from passk_cli.files.roles import (
    ALL,
    AMOUNT_UNITS,
    ATTEMPT_FACT_ROLES,
    EQUAL_COLUMNS_OPERATOR,
    ROLES,
    THRESHOLD_SLACK,
    TRUTH_ROLE,
    ColumnRoles,
    ComputedColumn,
    assign_roles,
    combined_columns,
    joined_columns,
    outcome_verdict_sql,
    usual_columns,
)
from passk_cli.files.sources.path_templates import PathTemplate
from passk_cli.limits import MOST_TASK_LIST_BYTES
from passk_cli.option import Option, options_by_field, split_at_commas
from passk_cli.outcomes.model_selection import select_models
from passk_cli.suggested_fix import (
    OptionWithValue,
    Placeholder,
    SuggestedFix,
    combine_option_values,
)
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import decode_file_name

# The names in RESERVED_OUTPUT_COLUMNS cannot be used in --by, because passk writes columns with
# these names to most outputs.
RESERVED_OUTPUT_COLUMNS = frozenset(
    "model against metric k estimate se low high level interval population tasks n_min n_max note"
    " bias best value resample difference p verdict threshold".split()
)
# MISSING_CHOICES contains the choices of --missing. With --missing bounds, a missing outcome can be
# a pass or a failure.
MISSING_CHOICES = (*_, BOUNDS) = ("error", "fail", "drop", "bounds")
# passk suggests the fixes in MISSING_FIXES if a metric does not support --missing bounds.
MISSING_FIXES = (
    SuggestedFix({"--missing": "fail"}, "counts missing outcomes as failures"),
    SuggestedFix({"--missing": "drop"}, "leaves them out"),
)
# passk suggests MORE_LABELS_FIX if there are no labels or too few labels.
MORE_LABELS_FIX = SuggestedFix({"--list": Placeholder("FILE")}, "writes attempts to label", "judge")
# passk suggests the fixes in MISSING_COST_FIXES if some attempts have no cost.
MISSING_COST_FIXES = (
    SuggestedFix({"--missing-cost": BOUNDS}, "gives ranges", "cost"),
    SuggestedFix({"--missing-cost": "drop"}, "uses only the attempts with a cost"),
)
# MISSING_COST_CHOICES contains the choices of --missing-cost. With --missing-cost bounds, a missing
# cost can be any amount.
MISSING_COST_CHOICES = ("error", "drop", "mean", BOUNDS)
# The choice KEEP_MISSING leaves an outcome or a cost missing, for example in a converted table.
KEEP_MISSING = "keep"
# SPECIFICATION_BY_TABLE_FORMAT maps the format of a table to the specification of the format.
SPECIFICATION_BY_TABLE_FORMAT = {
    "jsonl": "jsonlines.org",
    "json": "RFC 8259: an array of records, or records one after another",
    "csv": "RFC 4180; also with semicolons and bars",
    "tsv": "RFC 4180, with tabs",
    "parquet": "parquet.apache.org",
}
DUPLICATES_CHOICES = ("error", "first", "last", "keep")
NORMALISE_CHOICES = ("none", "space", "python")
ATTEMPT_FACTS = (*ATTEMPT_FACT_ROLES, "attempt", "line")


def parse_column_by_role(value: Any) -> Mapping[str, str]:
    """Parse --field, and map each role to a column. The value is a list such as ["task=id"], or a
    mapping. Errors: ParameterError for an invalid value."""
    if isinstance(value, Mapping):
        value = [
            f"{role}={','.join(column) if isinstance(column, list | tuple) else column}"
            for role, column in value.items()
        ]
    fields: dict[str, str] = {}
    for text in value:
        role, equals, column = text.partition("=")
        if equals and column and role not in ROLES:
            raise ParameterError(
                OptionWithValue("--field", text),
                f"there is no role {role!r}; {did_you_mean_or_list(role, ROLES)}",
            )
        if not equals or not column:
            raise ParameterError(
                OptionWithValue("--field", text),
                f"write ROLE=COLUMN, with one of the roles {', '.join(ROLES)}",
            )
        if EQUAL_COLUMNS_OPERATOR in column and any(
            len(combined_columns(part)) != 2 for part in column.split(",")
        ):
            raise ParameterError(
                OptionWithValue("--field", text),
                "to compare two columns, write for example outcome=answer==target",
            )
        if len(
            {
                *(
                    first_columns := [
                        part.partition(EQUAL_COLUMNS_OPERATOR)[0] for part in column.split(",")
                    ]
                )
            }
        ) < len(first_columns):
            raise ParameterError(OptionWithValue("--field", text), "the same column is named twice")
        if role in fields:
            raise ParameterError(
                OptionWithValue("--field", role),
                f"the role has two columns ({fields[role]}, {column}); name only one",
                name="contradicting-options",
            )  # fmt: skip
        fields[role] = column
    return fields


def parse_canonical_name_by_alias(value: Any) -> Mapping[str, str]:
    """Parse --alias, and map each name in the data to the name that passk uses. The value is a list
    such as ["new=old"], or a mapping.

    >>> parse_canonical_name_by_alias(["agent-v2=agent-v1"])
    {'agent-v2': 'agent-v1'}
    """
    pairs = value.items() if isinstance(value, Mapping) else [t.partition("=")[::2] for t in value]
    aliases: dict[str, str] = {}
    for name, canonical in pairs:
        if not name or not canonical or name == canonical:
            raise ParameterError(
                OptionWithValue("--alias", f"{name}={canonical}"),
                "write NEW=OLD with two model names",
            )
        if aliases.setdefault(name, canonical) != canonical:
            raise ParameterError(
                OptionWithValue("--alias", name),
                f"the name is an alias of two models, {aliases[name]} and {canonical}; choose one",
                name="contradicting-options",
            )  # fmt: skip
    return aliases


class TaskNameFromFileLine(str):
    """A task name that was read from a line of a file.

    file : the path of the file. If the data contains no task of the file, an error names the file
        and not the tasks, because the user may have given the wrong file.
    """

    __slots__ = ("file",)
    file: str

    @classmethod
    def from_line(cls, line: str, file: str) -> TaskNameFromFileLine:
        """Create the task name from a line of a file."""
        name = cls(line.strip())
        name.file = file
        return name


def name_count_by_unmatched_task_list(
    names: Iterable[str], absent: Collection[str]
) -> dict[str, int]:
    """Map the path of each file of task names to the number of names. Files are included only if
    the data contains none of the names."""
    names_by_file: dict[str, list[str]] = {}
    for name in names:
        if isinstance(name, TaskNameFromFileLine):
            names_by_file.setdefault(name.file, []).append(name)
    return {
        file: len(file_names)
        for file, file_names in names_by_file.items()
        if absent and {*file_names} <= {*absent}
    }


def require_existing_names(
    names: Sequence[tuple[str, str]], similar: Mapping[tuple[str, str], str]
) -> None:
    """Raise an error for the first name that the data does not contain.

    names : pairs of an option and the name of a model or task.
    similar : maps each pair to a hint about similar names, or to "" if the name exists.
    """
    absent = [pair for pair in names if similar.get(pair)]
    if not absent:
        return
    option, name = absent[0]
    lists = name_count_by_unmatched_task_list(
        *([name for o, name in pairs if o == option] for pairs in (names, absent))
    )
    if not isinstance(name, TaskNameFromFileLine) or name.file not in lists:
        raise unknown_model_or_task_error(option, name, similar[option, name])
    problem = f"the data contains none of the {lists[name.file]:,} tasks that the file lists"
    raise ParameterError(
        OptionWithValue(option, name.file), f"{problem}; write one task name per line",
        name="no-such-task",
    )  # fmt: skip


def parse_tasks(option: str, value: Any) -> tuple[str, ...]:
    """Parse task names, from strings like "a,b" or from files with one name per line.

    Errors: ParameterError if a file cannot be read, is too long or contains no name.
    """
    names: list[str] = []
    for text in value:
        if not os.path.isfile(text):
            names += split_at_commas(text)
            continue
        try:
            with open(text, "rb") as file:
                content = file.read(MOST_TASK_LIST_BYTES + 1)
            lines = content[:MOST_TASK_LIST_BYTES].decode("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise ParameterError(
                OptionWithValue(option, text), "this is not a text file; write one task per line"
            ) from None
        if len(content) > MOST_TASK_LIST_BYTES:
            problem = (
                f"the file is longer than {MOST_TASK_LIST_BYTES:,} bytes; write one task per line"
            )
            raise ParameterError(OptionWithValue(option, text), problem)
        tasks = [TaskNameFromFileLine.from_line(line, text) for line in lines if line.strip()]
        if not tasks:
            raise ParameterError(
                OptionWithValue(option, text), "the file contains no task; write one task per line"
            )
        names += tasks
    if not names:
        raise ValueError
    return tuple(dict.fromkeys(names))


def parse_thresholds(value: Any) -> tuple[float, ...]:
    """Parse thresholds, from numbers or strings like "0.2,0.5", and sort them.

    Errors: ParameterError for a value that is not a number, and for 0,5 or 7,5, which probably
    contain a decimal comma.
    """
    text = ",".join(map(str, value))
    comma = re.fullmatch("([0-9]+),([0-9]+)", text) if len(value) == 1 else None
    if comma and (comma[1] == "0" or int(comma[1]) > int(comma[2])):
        problem = "two thresholds, or a decimal comma?"
        remedy = f"write {comma[1]}.{comma[2]}, or {comma[1]}.0,{comma[2]}.0 for two thresholds"
        raise ParameterError(OptionWithValue("--threshold", text), f"{problem} {remedy}")
    try:
        numbers = {float(part) for part in text.split(",")}
    except ValueError:
        numbers = {math.nan}
    if any(math.isnan(number) for number in numbers):
        raise ParameterError(
            OptionWithValue("--threshold", text),
            "write one number or several numbers, for example 0.2,0.5,0.8",
        )
    return tuple(sorted(numbers))


def parse_outcome_words(value: Sequence[str]) -> tuple[str, ...]:
    """Parse the words of --passes or --fails. Raise ValueError if there are no words."""
    words = split_at_commas(value)
    if not words:
        raise ValueError
    return words


def join_where_conditions(value: Any) -> str:
    """Join several conditions with AND into one expression."""
    if not all(isinstance(condition, str) for condition in value):
        raise ParameterError(
            OptionWithValue("--where"),
            "the value is a boolean mask; write the condition as text, or filter the data frame",
        )
    return (
        " AND ".join(f"({condition})" for condition in value) if len(value) > 1 else "".join(value)
    )


def matches_pattern(model: str, pattern: str) -> bool:
    """Whether the name of a model equals or matches a pattern.

    >>> matches_pattern("gpt-4", "gpt-*"), matches_pattern("m[1]", "m[1]")
    (True, True)
    >>> matches_pattern("GPT-4", "gpt-*")
    False
    """
    return model == pattern or fnmatchcase(model, pattern)


@dataclass(frozen=True, eq=False)
class Conversion:
    """The options for a table of attempts that passk writes.

    file : the path of the table.
    file_format : "csv", "jsonl" or "parquet".
    extra_columns : columns of the data that are written in addition to the usual columns.
    are_outcomes_labels : whether the outcomes are labels, which passk later joins to the attempts.
    includes_amounts : whether the table contains the costs, tokens, durations and turns from the
        files.
    """

    file: str
    file_format: str
    extra_columns: tuple[str, ...] = ()
    are_outcomes_labels: bool = False
    includes_amounts: bool = False


@dataclass(frozen=True, eq=False)
class Request:
    """The options for reading attempts from files.

    cluster : the column that groups related tasks.
    attempts : the facts about attempts that the command needs in addition to outcomes. A fact is
        "score", "answer", "solution", "cost" or another amount, "attempt" (a number or time that
        orders the attempts), or "line" (the order of attempts in the files).
    scores_only : whether the command uses only scores, and no passes or failures.
    normalise : the form in which solutions are compared: "none" (unchanged), "space" or "python".
    similarity : the minimum share of common shingles (sequences of 3 tokens). Two solutions with at
        least this share count as one. None means that solutions must be equal.
    conversion : the table to which passk writes the attempts, or None.
    supports_missing_bounds : whether the command supports --missing bounds. passk then computes
        each estimate once with missing outcomes as failures and once with missing outcomes as
        passes.
    uses_attempt_order : whether the command uses the order of attempts, if the files contain it.
    needs_independence_sample : whether passk keeps a sample of the rows, to test whether attempts
        are independent.
    score_for_missing_as_failure : the score of a missing outcome that counts as a failure. None
        means a score of 0, and any score below 0 is then an error.
    labelling_seed : the seed for the random order of attempts to label, or None if no order is
        needed.
    suitable_counts_check : a function that raises an error if a command cannot use the counts.
        passk does not suggest fixes for which the function raises an error.
    given_options : the fields that the user set, which take precedence over a map.
    is_mapped : whether a map defines the columns, so that all columns that the map names must
        exist.
    """

    title: ClassVar[str] = "Input"
    # fmt: off
    fields: Annotated[Mapping[str, str], Option(
        "--field", "ROLE=COLUMN", "Column of a role, such as task=id or outcome=passed.",
        parse=parse_column_by_role,
        detail="The roles are task, outcome, attempt, model, n, c, score, answer, solution, truth,"
        " cost, tokens_in, tokens_out, tokens, duration, turns, minutes and date. If the outcome"
        " is a judge's verdict, the column truth contains labels of some attempts. The cost is in"
        " dollars, and the duration is in seconds. The column minutes contains the time that a"
        " human expert needs for the task. The column date contains the release date of the model."
        " A dot names a nested field: a.b. If a is a list, a.b is the field b of every entry of"
        " the list. The brackets in a.b[].c mean that b is a list. A comma combines columns, for"
        " example task=year,day. outcome=run1,run2 names one column per attempt. With"
        " model=@column, outcome=A,B names one column per model. With outcome=given==gold, an"
        " attempt passes if two columns agree. passk compares numbers by value. If one column"
        " contains a letter and the other column contains a number, passk uses the position of the"
        " letter in the alphabet, starting at 0. passk ignores case and a final full stop when it"
        " compares texts. outcome=old|new uses the column old or new, whichever has a value in the"
        " row. scores[name=correct].value is the value of the list entry with this name."
        " task=@position uses the position in a list as the task. task=@value:TEXT uses TEXT as"
        " the task of all rows. passk adds up amounts over lists (cost=iterations[].cost_usd) and"
        " over columns (cost=agent_cost+user_cost). passk takes the unit of an amount from the"
        " name of the column, or from the text after a colon, for example cost_cents, wallMs or"
        " duration=latency:ms. Repeatable.",
    )] = field(default_factory=dict)
    map: Annotated[Any, Option(
        "--map", "FILE", "A TOML file that defines what the columns of your files mean.",
        file_use="read",
        detail="The tables [data] or [[data]] of the file contain one key per role or option, for"
        " example task = \"case\". Without --map, passk reads passk.toml next to the data. Options"
        " on the command line take precedence over a map. `passk describe FILE --init passk.toml`"
        " writes a map.",
    )] = None
    all_of: Annotated[tuple[str, ...], Option(
        "--all", "COLUMN[,COLUMN…]", "Columns that must all pass for an attempt to pass.",
        parse=split_at_commas,
        detail="\"not COLUMN\" means that the column must not pass: --all compiles,tests_ok,\"not"
        " slow\".",
    )] = ()
    truth: Annotated[Any, Option(
        "--truth", "FILE|OUTCOME", "Labels of some attempts, if the outcome is a judge's verdict.",
        file_use="read",
        detail="The column truth of FILE (or the column in --field truth=COLUMN) shows whether an"
        " attempt really passes. passk matches the labels with your results by model, task and"
        " attempt. Instead of a file, you can name the outcome of a second scorer in the same"
        " files. If a column of your result file contains the labels, use --field truth=COLUMN"
        " without --truth. An empty value means that the attempt has no label. passk corrects the"
        " estimates with the labels.",
    )] = None
    truth_from: Annotated[Any, Option(
        "--truth-from", "FILE", "Labels of other models or tasks, for pass@1 only.",
        file_use="read",
        only_in_full_help=True,
        detail="FILE has the columns outcome and truth. passk assumes that the judge has the same"
        " error rates in FILE and in your result files.",
    )] = None
    threshold: Annotated[tuple[float, ...], Option(
        "--threshold", "X[,X…]", "A score of at least X passes.", parse=parse_thresholds,
        detail="With several thresholds, passk prints every estimate once per threshold.",
    )] = ()
    passes: Annotated[tuple[str, ...], Option(
        "--passes", "WORD[,WORD…]", "Outcome words that count as passes.",
        parse=parse_outcome_words,
        detail="For example, use --passes not_misled, or use --passes false if true is bad. Every"
        " other word counts as a failure, unless you use --fails.",
    )] = ()
    fails: Annotated[tuple[str, ...], Option(
        "--fails", "WORD[,WORD…]", "Outcome words that count as failures.",
        parse=parse_outcome_words,
        detail="If you use both --passes and --fails, a word that neither option"
        " names is an error.",
    )] = ()
    missing: Annotated[str, Option(
        "--missing", help="How to count a missing outcome.", choices=MISSING_CHOICES,
        detail="With bounds, passk counts each missing outcome once as a failure and once as a"
        " pass, so every estimate becomes a range.",
    )] = "error"
    missing_cost: Annotated[str, Option(
        "--missing-cost", help="How to count a missing cost.", choices=MISSING_COST_CHOICES,
        detail="--missing-cost also applies to tokens, durations and turns. passk never counts a"
        " missing cost as 0. With drop, passk uses only the outcome of an attempt without a cost."
        " With mean, the attempt gets the mean cost of the model's other attempts at the task."
        " With bounds, the cost may be any amount, and every estimate becomes a range.",
    )] = "error"
    price: Annotated[Mapping[str, Any], Option(
        "--price", "FILE", "TOML file with token prices, to compute costs.",
        parse="passk_cli.files.attempts.prices:parse_prices", file_use="read",
        detail="The file has one table per model or pattern of models, with prices in dollars per"
        " million tokens. For example, the table ['gpt-5*'] contains input = 1.25, output = 10"
        " and, for cached input, cached = 0.125. passk computes costs from tokens_in and"
        " tokens_out, even if the files contain costs.",
    )] = field(default_factory=dict)
    duplicates: Annotated[str, Option(
        "--duplicates", help="What to do with a repeated attempt.", choices=DUPLICATES_CHOICES,
        detail="An attempt is repeated if another row has the same model, task and attempt number.",
    )] = "error"
    skip_bad: Annotated[bool, Option(
        "--skip-bad", help="Skip lines that are not records, and count them.",
    )] = False
    by: Annotated[tuple[str, ...], Option(
        "--by", "COLUMN", "Split each model by a column.", parse=split_at_commas,
        detail="Repeatable.",
    )] = ()
    pool: Annotated[tuple[str, ...], Option(
        "--pool", "COLUMN", "Pool attempts even if they differ in this column.",
        parse=split_at_commas,
        detail="Without --pool, passk warns you that it pools attempts with different settings, or"
        " stops and asks you. Repeatable.",
    )] = ()
    where: Annotated[str, Option(
        "--where", "EXPRESSION", "Keep the rows that satisfy a condition.",
        parse=join_where_conditions, is_repeatable=True,
        detail="Write a DuckDB expression, such as \"difficulty = 'hard'\". If you repeat the"
        " option, a row must satisfy all conditions.",
    )] = ""
    models: Annotated[tuple[str, ...], Option(
        "--model", "NAME", "Keep matching models, such as 'gpt-*'.", is_model_name=True,
        detail="The character * stands for any text, ? for one character, and [ab] for a or b."
        " Repeatable.",
    )] = ()
    exclude_models: Annotated[tuple[str, ...], Option(
        "--exclude-model", "NAME", "Leave out matching models.", is_model_name=True,
        detail="Write a name or a pattern, as for --model. Repeatable.",
    )] = ()
    alias: Annotated[Mapping[str, str], Option(
        "--alias", "NEW=OLD", "Count model NEW as model OLD.",
        parse=parse_canonical_name_by_alias, is_model_name=True,
        detail="Use --alias for a model that was renamed, or that two tools spell differently."
        " passk renames models before it applies other options, also in baselines and histories."
        " Repeatable.",
    )] = field(default_factory=dict)
    exclude_tasks: Annotated[tuple[str, ...], Option(
        "--exclude-task", "TASKS|FILE", "Leave tasks out, for example contaminated tasks.",
        parse=partial(parse_tasks, "--exclude-task"),
        detail="Give names separated by commas (a,b), or a file with one name per line and no"
        " comments. passk also leaves the excluded tasks out of baselines and histories."
        " Repeatable.",
    )] = ()
    only_tasks: Annotated[tuple[str, ...], Option(
        "--only-task", "TASKS|FILE", "Keep only these tasks.",
        parse=partial(parse_tasks, "--only-task"),
        detail="Write TASKS or FILE as for --exclude-task. Repeatable.",
    )] = ()
    outcome: Annotated[str | None, Option(
        "--outcome", "NAME", "Which outcome to read, if files contain several outcomes.",
        detail="`only` reads the only outcome of each file, whatever its name is.",
    )] = None
    format: Annotated[str | None, Option(
        "--from", "NAME", "Read the files in this format (see passk formats).",
        choices="passk_cli.files.formats:FORMAT_NAMES",
    )] = None
    records: Annotated[str | None, Option(
        "--records", "KEY", "Key of the records in a JSON document or line.",
        detail="A dot names a nested key: a.b. The key must contain a list of records, or a"
        " mapping from tasks to records. A name in braces stands for every key, and the keys"
        " become a column, for example results.{model}.",
    )] = None
    path: Annotated[str | None, Option(
        "--path", "TEMPLATE", "Columns to read from paths, such as '{model}/{task}.json'.",
        detail="The template must match the end of each path, such as"
        " '{model}/{task}/run-{attempt}.json'.",
    )] = None
    # fmt: on
    cluster: str | None = None
    attempts: tuple[str, ...] = ()
    scores_only: bool = False
    normalise: str = "none"
    similarity: float | None = None
    conversion: Conversion | None = None
    supports_missing_bounds: bool = True
    uses_attempt_order: bool = False
    needs_independence_sample: bool = False
    score_for_missing_as_failure: float | None = None
    labelling_seed: int | None = None
    suitable_counts_check: Callable[[Any], None] | None = field(default=None, repr=False)
    given_options: frozenset[str] = frozenset()
    is_mapped: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.map, str | os.PathLike | Mapping | list | tuple | None):
            type_name = f"<{type(self.map).__name__}>"
            problem = "a map is a TOML file or a mapping"
            raise ParameterError(OptionWithValue("--map", type_name), problem, name="bad-map")
        if self.all_of:
            all_outcome = ALL.join(self.all_of)
            other_outcome = self.outcome or self.fields.get("outcome", all_outcome)
            if other_outcome != all_outcome:
                raise ParameterError(
                    OptionWithValue("--all", ",".join(self.all_of)),
                    f"another option sets the outcome to {other_outcome}; use only one of these"
                    " options",
                    name="contradicting-options", settles=[SuggestedFix({"--all": None})],
                )  # fmt: skip
            object.__setattr__(self, "fields", {**self.fields, "outcome": all_outcome})
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise ParameterError(
                OptionWithValue("--similarity", f"{self.similarity:g}"),
                "the similarity must be above 0 and at most 1",
            )
        models = (*self.models, *self.exclude_models)
        for text in (*self.fields.values(), *self.by, self.where, *models, self.cluster or ""):
            if decode_file_name(text) != text:
                raise ParameterError(
                    f"{decode_file_name(text)}: this name is not valid UTF-8; all names in the data"
                    " must be UTF-8"
                )
        _ = self.template
        labels, outcome = self.label_column, self.named_column_by_role.get("outcome", "")
        if labels and labels in combined_columns(outcome):
            raise ParameterError(
                OptionWithValue("--field", f"outcome={outcome}"),
                f"{labels} contains the labels, which correct outcomes, so it cannot be the"
                " outcome",
                name="contradicting-options",
                settles=[
                    SuggestedFix(
                        {"--field": {"outcome": Placeholder("COLUMN")}}, "names the judge's outcome"
                    )
                ],
            )
        reserved = [column for column in self.by if column in RESERVED_OUTPUT_COLUMNS]
        if reserved:
            raise ParameterError(
                OptionWithValue("--by", reserved[0]),
                "the output already has a column with this name; rename the column in the data",
                name="reserved-column",
            )

    @property
    def required_attempt_facts(self) -> tuple[str, ...]:
        """The facts about attempts that files must contain. With --price, files must contain tokens
        instead of costs."""
        if not self.price or "cost" not in self.attempts:
            return self.attempts
        other_roles = (role for role in self.attempts if role != "cost")
        return tuple(dict.fromkeys((*other_roles, "tokens_in", "tokens_out", "tokens_cached")))

    @property
    def used_attempt_facts(self) -> tuple[str, ...]:
        """The facts about attempts that passk reads, including amounts for a converted table."""
        amounts = (
            AMOUNT_UNITS if self.conversion is not None and self.conversion.includes_amounts else ()
        )
        return tuple(dict.fromkeys((*self.required_attempt_facts, *amounts)))

    def assign_roles(
        self, place: str, kinds: Mapping[str, set[str]], fields: Mapping[str, str]
    ) -> ColumnRoles:
        """Find the column of each role in a file, including the amounts for a converted table.

        kinds : maps each column to the kinds of its values.
        fields : maps roles to the columns that the user named for the roles.
        Errors: DataError at `place` if a required role has no possible column or has several
        possible columns.
        """
        required, by = self.required_attempt_facts, self.by
        kept_roles = [
            role
            for role in self.used_attempt_facts
            if role not in required
            and (role in fields or len([c for c in usual_columns(role, kinds) if c not in by]) == 1)
        ]
        if kept_roles:
            try:
                return assign_roles(
                    place,
                    kinds,
                    fields,
                    (*required, *kept_roles),
                    self.are_scores_left_unjudged,
                    by,
                )
            except DataError:
                pass  # The costs are left out, for example because a list of outcomes has one cost.
        return assign_roles(place, kinds, fields, required, self.are_scores_left_unjudged, by)

    def adapted_for_reading(self) -> Request:
        """The request for reading the files. The request includes the labels if passk uses labels.

        If there are several thresholds, passk first reads only the scores, and later compares the
        scores with the thresholds.

        Errors: ParameterError if the facts about attempts that the command needs do not allow
        --missing bounds or several thresholds.
        """
        request = self
        if self.has_correcting_labels and TRUTH_ROLE not in self.attempts:
            request = replace(self, attempts=(*self.attempts, TRUTH_ROLE))
        if request.missing == BOUNDS:
            request._require_bounds_possible()
        return request._for_reading_only_scores() if len(request.threshold) > 1 else request

    def _for_reading_only_scores(self) -> Request:
        lowest, threshold = self.score_for_missing_as_failure or 0.0, self.threshold[0]
        if self.missing == "fail" and lowest >= threshold - THRESHOLD_SLACK:
            raise ParameterError(
                OptionWithValue("--missing", "fail"),
                f"a failed attempt gets the score {lowest:g}, which passes at the threshold"
                f" {threshold:g}; choose higher thresholds", name="contradicting-options",
                settles=[SuggestedFix({"--missing": "drop"}, "leaves missing outcomes out")],
            )  # fmt: skip
        if {*self.attempts} - {"score"}:
            raise ParameterError(
                "several thresholds are possible only for metrics of passes or scores; choose one"
                " threshold",
                name="contradicting-options",
            )
        return replace(self, threshold=(math.inf,), attempts=("score",))

    def _require_bounds_possible(self) -> None:
        problem = ""
        other_roles = [role for role in self.attempts if role not in AMOUNT_UNITS]
        if len(self.threshold) > 1:
            problem = "a missing score passes every threshold or none; give one threshold"
        elif other_roles or self.scores_only:
            role = next(iter(other_roles), "score")
            fact = {TRUTH_ROLE: "label"} | dict.fromkeys(("attempt", "line"), "place in the order")
            problem = f"a missing attempt could pass or fail, but its {fact.get(role, role)} is"
            problem += " unknown"
            problem += "; use metrics of passes, for example pass@k and pass^k" * (
                not self.has_correcting_labels
            )
        if problem:
            place = OptionWithValue("--missing", BOUNDS)
            raise ParameterError(place, problem, name="no-bounds", settles=MISSING_FIXES)

    @property
    def label_column(self) -> str:
        """The name of the column or outcome that contains the labels, or "" if there is none."""
        label_column = self.fields.get(TRUTH_ROLE, "") if self.truth is None else self.truth
        return label_column if isinstance(label_column, str) else ""

    @property
    def has_correcting_labels(self) -> bool:
        """Whether labels correct the verdicts of a judge."""
        return self.truth is not None or (TRUTH_ROLE in self.fields and self.truth_from is None)

    @property
    def joins_labels(self) -> bool:
        """Whether passk joins attempts to labels. If so, each attempt needs a number or name."""
        of_labels = self.conversion is not None and self.conversion.are_outcomes_labels
        return of_labels or self.truth is not None or self.labelling_seed is not None

    def with_additional_model(self, model: str | None) -> Request:
        """A copy of the request that also keeps the given model."""
        if not self.models or model is None or self.keeps_model(model):
            return self
        return replace(self, models=(*self.models, glob.escape(model)))

    def with_all_models(self) -> Request:
        """A copy of the request without --model and --exclude-model."""
        return replace(self, models=(), exclude_models=())

    def keeps_model(self, model: str) -> bool:
        """Whether the request keeps a model.

        >>> Request(models=("gpt-*",), exclude_models=("gpt-4",)).keeps_model("gpt-5")
        True
        """
        is_selected = not self.models or any(
            matches_pattern(model, pattern) for pattern in self.models
        )
        return is_selected and not any(
            matches_pattern(model, pattern) for pattern in self.exclude_models
        )

    def canonical_model_name(self, name: str) -> str:
        """The name that --alias gives to a model."""
        return self.alias.get(name, name)

    @property
    def named_column_by_role(self) -> dict[str, str]:
        """Map each role to the column that --field or --outcome names for the role."""
        outcome = {} if self.outcome is None else {"outcome": self.outcome}
        return {**self.fields, **outcome}

    @property
    def named_models_and_tasks(self) -> set[tuple[str, str]]:
        """The pairs (option, name) for all models and tasks that options name. The data must
        contain these names."""
        return {
            *(("--alias", name) for name in self.alias),
            *(("--exclude-task", name) for name in self.exclude_tasks),
            *(("--only-task", name) for name in self.only_tasks),
        }

    def with_fix(self, settle: SuggestedFix) -> Request:
        """Add the options of a suggested fix to the request. Remove options with the value None.

        >>> Request(by=("x",)).with_fix(SuggestedFix({"--by": ("y",),
        ...     "--field": {"task": "case"}})).by
        ('x', 'y')
        """
        changes = {
            name: option.default
            if value is None
            else combine_option_values(name, getattr(self, name), value)
            for name, option in options_by_field(Request).items()
            if option.option.name in settle.options
            for value in [settle.options[option.option.name]]
        }
        return replace(self, **changes)

    def with_existing_model_names_escaped(self, models: Sequence[str]) -> Request:
        """A copy of the request in which existing model names with brackets, such as "gpt-4[1]",
        are not treated as patterns.

        Errors: ParameterError if a name in --model or --exclude-model matches no model, or if no
        model is left.

        >>> request = Request(models=("gpt-4[1]", "gpt-*"))
        >>> request.with_existing_model_names_escaped(["gpt-4[1]", "gpt-41"]).models
        ('gpt-4[[]1]', 'gpt-*')
        """
        names = {name: glob.escape(name) for name in models}
        kept_models, excluded = (
            tuple(names.get(pattern, pattern) for pattern in patterns)
            for patterns in (self.models, self.exclude_models)
        )
        exact = self
        if (kept_models, excluded) != (self.models, self.exclude_models):
            exact = replace(self, models=kept_models, exclude_models=excluded)
        select_models(models, self.models, self.exclude_models, ("--model", "--exclude-model"))
        return exact

    @cached_property
    def template(self) -> PathTemplate | None:
        """The template of --path, or None if --path is not used. Raise ParameterError for an
        invalid template."""
        return None if self.path is None else PathTemplate(self.path)

    @property
    def copied_columns(self) -> tuple[str, ...]:
        """The columns that passk copies from the data to a converted table, if they exist."""
        return (
            ()
            if self.conversion is None
            else ("suite", "run", "reason", *self.conversion.extra_columns)
        )

    def joined_columns(self, columns: Mapping[str, set[str]]) -> dict[str, ComputedColumn]:
        """Map each joined column to its parts, as `roles.joined_columns` does."""
        # If there are several outcome columns, a word is a verdict only if an option such as
        # --passes names the word.
        judged = partial(
            outcome_verdict_sql,
            threshold=self.passing_score,
            passes=self.passes,
            fails=self.fails,
            strict=True,
        )
        within = (*self.by, *re.findall(r"\{(\w+)\}", self.records or ""))
        return joined_columns(self.named_column_by_role, columns, judged, within)

    @property
    def are_scores_left_unjudged(self) -> bool:
        """Whether passk reads the scores without comparing the scores with a threshold."""
        return self.passing_score == math.inf

    @property
    def passing_score(self) -> float | None:
        """The minimum score of a pass, or None without --threshold. The score is infinite if passk
        reads scores without comparing them with a threshold."""
        if self.scores_only and not self.threshold:
            return math.inf
        return self.threshold[0] if self.threshold else None
