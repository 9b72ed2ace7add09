"""Options of reading, with one meaning in every command, and what commands add."""

from __future__ import annotations

import glob
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.errors import ParameterError
from passk_cli.files.roles import OF_ATTEMPTS
from passk_cli.option import Option, split
from passk_cli.text import decoded

if TYPE_CHECKING:
    from passk_cli.files.paths import Template
    from passk_cli.files.roles import Roles

# Columns of most outputs, which a group must not share its name with.
RESERVED = frozenset(
    "model against metric k estimate se low high level interval population tasks n_min n_max note"
    " bias best value resample difference p verdict threshold".split()
)
# What a missing outcome is; with the last, it may pass or fail, and numbers are ranges.
MISSING = (*_, BOUNDS) = ("error", "fail", "drop", "bounds")
# Tables as they are → where their layout is described.
TABLES = {
    "jsonl": "jsonlines.org",
    "json": "RFC 8259: an array of records, or records one after another",
    "csv": "RFC 4180; also with semicolons and bars",
    "tsv": "RFC 4180, with tabs",
    "parquet": "parquet.apache.org",
}
DUPLICATES = ("error", "first", "last", "keep")
ENGINES = ("duckdb", "spark")
NORMALISE = ("none", "space", "python")
ATTEMPTS = (*OF_ATTEMPTS, "attempt", "line")


def parse_fields(value: Any) -> Mapping[str, str]:
    """Role → column, from ["task=id"] or a mapping."""
    from passk_cli.files.roles import parse_overrides

    pairs = value.items() if isinstance(value, Mapping) else ()
    return parse_overrides([f"{role}={column}" for role, column in pairs] or value)


def parse_thresholds(value: Any) -> tuple[float, ...]:
    """Thresholds from numbers or texts as "0.2,0.5", in order; ParameterError for others."""
    text = ",".join(map(str, value))
    try:
        numbers = {float(part) for part in text.split(",")}
    except ValueError:
        numbers = {math.nan}
    if any(math.isnan(number) for number in numbers):
        raise ParameterError(f"--threshold {text}: write a number, or 0.2,0.5,0.8")
    return tuple(sorted(numbers))


def parse_where(value: Any) -> str:
    """One expression from several that all have to hold."""
    return (
        " AND ".join(f"({condition})" for condition in value) if len(value) > 1 else "".join(value)
    )


def fits(model: str, pattern: str) -> bool:
    """Whether a model has this name, or one that fits the pattern.

    >>> fits("gpt-4", "gpt-*"), fits("m[1]", "m[1]"), fits("GPT-4", "gpt-*")
    (True, True, False)
    """
    return model == pattern or fnmatchcase(model, pattern)


@dataclass(frozen=True, eq=False, repr=False)
class Conversion:
    """The attempts as a table.

    file : what is written.  form : "csv", "jsonl" or "parquet".
    columns : of the data, that are in it besides those that always are.
    """

    file: str
    form: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Request:
    """A request to read attempts.

    cluster : the column that says which tasks belong together.
    attempts : what is to be known of the attempts besides passing: "score", "answer", "solution",
        "attempt" (a number or time that orders them) or "line" (their order in the files).
    scores_only : whether it does not matter which attempts pass, only how they score.
    normalise : what solutions are compared as: "none" (their text), "space" or "python".
    similarity : from what overlap of their shingles on solutions are the same; None: when equal.
    conversion : what the attempts are written to, besides being counted.
    ends : whether a missing outcome can be read as one that passes or fails.
    order : whether the order of the attempts is to be known where the files tell it.
    lowest : the score of a missing outcome that counts as a failure; None: 0, if none is less.
    resume : the folder that keeps the counts of each file for later runs.
    """

    title: ClassVar[str] = "Input"
    fields: Annotated[
        Mapping[str, str],
        Option(
            "--field",
            "ROLE=COLUMN",
            "Column of a role, e.g. task=id, outcome=passed.",
            parse=parse_fields,
            detail="Roles: task, outcome, attempt, model, n, c, score, answer, solution. A dot"
            " names a nested field: a.b. Repeatable.",
        ),
    ] = field(default_factory=dict)
    threshold: Annotated[
        tuple[float, ...],
        Option(
            "--threshold",
            "X[,X…]",
            "A score passes when ≥ X.",
            parse=parse_thresholds,
            detail="With several thresholds, every number is printed for each.",
        ),
    ] = ()
    missing: Annotated[
        str,
        Option(
            "--missing",
            help="A missing outcome.",
            choices=MISSING,
            detail="bounds: each is tried as fail and as pass, and every number becomes a range.",
        ),
    ] = "error"
    duplicates: Annotated[
        str,
        Option(
            "--duplicates",
            help="A repeated attempt",
            choices=DUPLICATES,
            detail="Repeated: model, task and attempt number are those of another row.",
        ),
    ] = "error"
    skip_bad: Annotated[
        bool,
        Option("--skip-bad", help="Skip lines that are not records, and count them."),
    ] = False
    by: Annotated[
        tuple[str, ...],
        Option(
            "--by", "COLUMN", "Split each model by a column.", parse=split, detail="Repeatable."
        ),
    ] = ()
    where: Annotated[
        str,
        Option(
            "--where",
            "EXPRESSION",
            "Keep the rows that satisfy a condition.",
            parse=parse_where,
            several=True,
            detail="A DuckDB expression, e.g. \"difficulty = 'hard'\". Repeatable: all must hold.",
        ),
    ] = ""
    models: Annotated[
        tuple[str, ...],
        Option(
            "--model",
            "NAME",
            "Keep matching models, e.g. 'gpt-*'.",
            of_models=True,
            detail="* stands for any letters, ? for one letter, [ab] for a or b. Repeatable.",
        ),
    ] = ()
    exclude_models: Annotated[
        tuple[str, ...],
        Option(
            "--exclude-model",
            "NAME",
            "Leave matching models out.",
            of_models=True,
            detail="A name or a pattern, like --model. Repeatable.",
        ),
    ] = ()
    outcome: Annotated[
        str | None,
        Option("--outcome", "NAME", "Which outcome to read, where files hold several."),
    ] = None
    format: Annotated[
        str | None,
        Option(
            "--from",
            "NAME",
            "Read the files as this format (passk formats).",
            choices="passk_cli.files.formats:NAMES",
        ),
    ] = None
    records: Annotated[
        str | None,
        Option(
            "--records",
            "KEY",
            "Key of a JSON document that holds its records.",
            detail="A dot names a nested key: a.b.",
        ),
    ] = None
    path: Annotated[
        str | None,
        Option(
            "--path",
            "TEMPLATE",
            "Columns from paths, e.g. '{model}/{task}.json'.",
            detail="The template is matched with the end of each path, e.g."
            " '{model}/{task}/run-{attempt}.json'.",
        ),
    ] = None
    engine: Annotated[
        str,
        Option(
            "--engine",
            help="Where rows are counted.",
            choices=ENGINES,
            detail="duckdb: on this machine; spark: on a cluster, and only counts are returned.",
        ),
    ] = "duckdb"
    spark_master: Annotated[
        str | None,
        Option(
            "--spark-master",
            "URL",
            "Spark's master, e.g. spark://host:7077, sc://host.",
            detail="Without it: the active session, else this machine (local[*]).",
        ),
    ] = None
    cluster: str | None = None
    attempts: tuple[str, ...] = ()
    scores_only: bool = False
    normalise: str = "none"
    similarity: float | None = None
    conversion: Conversion | None = None
    ends: bool = True
    order: bool = False
    lowest: float | None = None
    resume: str | None = None

    def __post_init__(self) -> None:
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise ParameterError(f"--similarity {self.similarity:g}: it lies above 0, at most at 1")
        models = (*self.models, *self.exclude_models)
        for text in (*self.fields.values(), *self.by, self.where, *models, self.cluster or ""):
            if decoded(text) != text:
                raise ParameterError(
                    f"{decoded(text)}: this is not UTF-8, as all names in data are",
                    name="bad-encoding",
                )
        _ = self.template
        if self.spark_master is not None and self.engine != "spark":
            raise ParameterError(
                "--spark-master goes with --engine spark", name="contradicting-options"
            )
        reserved = [column for column in self.by if column in RESERVED]
        if reserved:
            raise ParameterError(
                f"--by {reserved[0]}: the output has a column of that name; rename it in the data",
                name="reserved-column",
            )

    def keeping(self, model: str | None) -> Request:
        """The request with a model among those that are kept, where not all are."""
        if not self.models or model is None or self.keeps(model):
            return self
        return replace(self, models=(*self.models, glob.escape(model)))

    @property
    def patterns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The models to keep, all where there are none, and those to leave out."""
        return self.models, self.exclude_models

    def of_all_models(self) -> Request:
        """The request for all models."""
        return replace(self, models=(), exclude_models=())

    def keeps(self, model: str) -> bool:
        """Whether a model is among those that are to be kept.

        >>> Request(models=("gpt-*",), exclude_models=("gpt-4",)).keeps("gpt-5")
        True
        """
        kept = not self.models or any(fits(model, pattern) for pattern in self.models)
        return kept and not any(fits(model, pattern) for pattern in self.exclude_models)

    def naming(self, models: Sequence[str]) -> Request:
        """The request in which a model's own name with brackets is no pattern.

        >>> Request(models=("gpt-4[1]", "o*")).naming(["gpt-4[1]", "gpt-41"]).models
        ('gpt-4[[]1]', 'o*')
        """
        names = {name: glob.escape(name) for name in models}
        kept, out = (tuple(names.get(p, p) for p in patterns) for patterns in self.patterns)
        return replace(self, models=kept, exclude_models=out)

    def require_models(self, models: Sequence[str]) -> None:
        """ParameterError where a model to keep or to leave out is not there, or none stays."""
        for pattern in (*self.models, *self.exclude_models):
            if not any(fits(model, pattern) for model in models):
                raise ParameterError(
                    f"no model {pattern!r}; there are {', '.join(models)}", name="no-such-model"
                )
        if models and not any(map(self.keeps, models)):
            raise ParameterError(
                f"--exclude-model {', '.join(self.exclude_models)}: no model stays; there are"
                f" {', '.join(models)}",
                name="no-such-model",
            )

    @cached_property
    def template(self) -> Template | None:
        """Which columns stand in paths; ParameterError where it makes no sense."""
        if self.path is None:
            return None
        from passk_cli.files.paths import Template

        return Template(self.path)

    @property
    def suited(self) -> bool:
        """Whether the path names a suite, without which task ids mean nothing."""
        return self.template is not None and "suite" in self.template.names

    def roles_in(self, place: str, kinds: Mapping[str, set[str]]) -> Roles:
        """The roles of a table's columns; in a table --outcome names a column.

        kinds : column → kinds of values seen.  Errors: DataError at `place`.
        """
        from passk_cli.files.roles import ROLES, assign, canonical, refuse_report

        refuse_report(place, kinds)
        fields = self.fields
        if self.outcome is not None:
            if "outcome" in fields:
                raise ParameterError(
                    "--outcome and --field outcome=… are the same; give one",
                    name="contradicting-options",
                )
            fields = {**fields, "outcome": self.outcome}
        in_path = self.template.names if self.template is not None else ()
        fields = {name: name for name in in_path if name in ROLES and name in kinds} | {**fields}
        fields = {**canonical(kinds, judged=self.bar is not None), **fields}
        if self.threshold and "score" in fields and "outcome" not in fields:
            # The score that is judged is the outcome.
            fields = {**fields, "outcome": fields["score"]}
        return assign(place, kinds, fields, self.attempts, self.unjudged, self.by)

    @property
    def carried(self) -> tuple[str, ...]:
        """Columns that are written as they are, if they are there."""
        return (
            () if self.conversion is None else ("suite", "run", "reason", *self.conversion.columns)
        )

    @property
    def unjudged(self) -> bool:
        """Whether reading judges no score, because none is asked for or several thresholds are."""
        return self.bar == math.inf

    @property
    def attempts_of_scores(self) -> tuple[str, ...]:
        """Facts of attempts that several thresholds need: their scores alone."""
        roles = tuple(dict.fromkeys(("score", *self.attempts)))
        if roles != ("score",):
            raise ParameterError(
                "several thresholds go with metrics of passes or scores; choose one",
                name="contradicting-options",
            )
        return roles

    @property
    def bar(self) -> float | None:
        """Smallest score that passes; infinity where that is not asked while reading."""
        if self.scores_only and not self.threshold:
            return math.inf
        return self.threshold[0] if self.threshold else None
