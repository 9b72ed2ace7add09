"""The Python API, which consists of `read` and of one function per command.

The function of a command has the same options and results as the command.  `read` returns `Counts`,
and the function of a command returns `Findings`.  In the messages of these functions, options have
the form of Python keywords.
"""

from __future__ import annotations

import inspect
import os
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Annotated, Any, Literal, get_args

from passk_cli.commands import COMMANDS
from passk_cli.commands.command import Command, load_command, option_suggestion
from passk_cli.commands.message_filter import MessageOptions
from passk_cli.commands.runner import (
    CommandRunner,
    ReadCountsFunction,
    command_report,
    require_known_names,
)
from passk_cli.diagnostic import WARNING, Diagnostic
from passk_cli.errors import DataError, ParameterError, PasskWarning
from passk_cli.files.load import load
from passk_cli.files.request import ATTEMPT_FACTS, NORMALISE_CHOICES, Request
from passk_cli.files.sources.arguments import is_read_once
from passk_cli.files.sources.remote import share_downloads
from passk_cli.option import (
    ANY_DATA_OPTION_TYPE,
    DeclaredOption,
    Option,
    fill_options,
    options_by_field,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.python.findings import FRAME_LIBRARIES, PYTHON_STYLE, Findings, Verdict
from passk_cli.python.python_calls import (
    DeclaredOptionsByName,
    UserPythonCall,
    call_from_command,
    quote_names_with_commas,
    text_for_python,
    translate_errors_to_python,
    with_python_fixes,
)
from passk_cli.render.style import sentence_text
from passk_cli.suggested_fix import python_literal
from passk_cli.suggestions import did_you_mean, did_you_mean_or_list, nearest_names

# Options in _POSITIONAL_OPTIONS can also be positional arguments after the data, for example
# `estimate(data, "pass@10")`.
_POSITIONAL_OPTIONS = ("metrics", "k")
DATA_HELP = (
    "paths (globs, directories, URLs, label=path), rows (a list of dicts), columns (a dict of"
    " lists), a pandas or polars DataFrame, a dict of DataFrames by model, an Arrow or DuckDB"
    " table, or Counts from `read`."
)

# _PYTHON_HINT_BY_OUTPUT_OPTION maps each output option of the command line to its equivalent in
# Python.
_PYTHON_HINT_BY_OUTPUT_OPTION = {
    **dict.fromkeys(("chart", "chart_theme", "chart_size"), "its result has .chart(…)"),
    **dict.fromkeys(("output", "digits", "percent", "stacked"), "its result has .save(…)"),
    "full": "its result has .tables",
    "methods": "its result has .methods",
    "verbose": "its result has .signature",
}
FRAME_AS_HELP = (
    f"frame_as : Library of the result's DataFrames. One of {', '.join(FRAME_LIBRARIES)}."
)


@dataclass(frozen=True)
class ReadOptions(Request):
    """The options of `read`, and further options for reading that only commands set."""

    cluster: Annotated[str | None, Option("--cluster", "COLUMN")] = None
    attempts: Annotated[
        tuple[str, ...], Option("--attempts", choices=ATTEMPT_FACTS, is_repeatable=True)
    ] = ()
    normalise: Annotated[str, Option("--normalise", choices=NORMALISE_CHOICES)] = "none"
    similarity: Annotated[float | None, Option("--similarity", "X")] = None


def read(
    data: Any,
    *,
    fields: Mapping[str, str] | None = None,
    map: Any = None,
    all_of: str | Sequence[str] = (),
    outcome: str | None = None,
    truth: Any = None,
    truth_from: Any = None,
    threshold: float | Sequence[float] | None = None,
    missing: str = "error",
    missing_cost: str = "error",
    price: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None = None,
    duplicates: str = "error",
    skip_bad: bool = False,
    by: str | Sequence[str] = (),
    pool: str | Sequence[str] = (),
    passes: str | Sequence[str] = (),
    fails: str | Sequence[str] = (),
    where: str | Sequence[str] = "",
    models: str | Sequence[str] = (),
    exclude_models: str | Sequence[str] = (),
    alias: Mapping[str, str] | None = None,
    exclude_tasks: str | Sequence[str] = (),
    only_tasks: str | Sequence[str] = (),
    cluster: str | None = None,
    format: str | None = None,
    records: str | None = None,
    path: str | None = None,
    attempts: str | Sequence[str] = (),
    normalise: str = "none",
    similarity: float | None = None,
) -> Counts:
    """Read the counts of attempts and passes per model and task from result files or a table.

    data : a path, a list of paths (globs, directories, URLs, "label=path", "-"), rows (a list of
        dicts), columns (a dict of lists), a pandas or polars DataFrame, a pyarrow table or another
        object with Arrow data, a DuckDB relation, or a dict with one of these objects per model.
        The data contains one row per attempt, one list of outcomes per task, or one pair of counts
        per task.
    fields : dict that maps a role (task, outcome, attempt, model, n, c) to a column, for columns
        that passk does not recognise.
    map : the roles of the columns, as a TOML file, or as a dict such as {"task": "case", "outcome":
        "verdict"}.  If you pass a map, passk ignores the file passk.toml next to the data.
    all_of : columns that contain outcomes.  An attempt passes if its outcomes in all of these
        columns pass.
    outcome : the name of the outcome, if the files of a harness contain several outcomes.
    truth : labels of some attempts, if the outcome is a judge's verdict.  `truth` is the name of
        another outcome, or a file or table of labels.  In such a table, passk finds the label of an
        attempt by model, task and attempt.  If a column of the data contains the labels, use
        fields={"truth": …}.
    truth_from : labelled results of other models or tasks, which passk uses to correct pass@1.
    threshold : a numeric outcome other than 0 and 1 passes if it is at least threshold − 1e-9.
        With math.inf, no attempt passes, which is useful if you need only metrics of scores
        (best@k, worst@k, mean).  With several thresholds, passk computes every number once per
        threshold.
    missing : the treatment of null outcomes: "error", "fail", "drop", or "bounds".  With
        missing="bounds", every number is a range that contains the numbers for all possible values
        of the null outcomes.
    missing_cost : the treatment of an attempt without a cost (or tokens, duration, turns), if a
        metric needs costs: "error", "drop" (leave only the cost out), "mean" (use the mean cost of
        attempts at the same task), or "bounds" (keep NaN).
    price : dollars per million tokens for each model or pattern, like {"gpt-5*": {"input": 1.25,
        "output": 10, "cached": 0.125}}, or a TOML file with these tables.  With prices, passk
        computes costs from tokens, even if the data contains costs.
    duplicates : the treatment of rows with the same model, task and attempt: "error", "first",
        "last" or "keep".
    skip_bad : whether to skip lines that are not records, and report how many lines were skipped.
    by : columns that split the results of each model, for example temperature.
    pool : columns in which attempts may differ, because you want to pool these attempts.
    passes, fails : outcome words that count as passes, and outcome words that count as failures.
    where : a condition in DuckDB SQL, which selects rows.
    models : models to keep, by name or by a pattern like "gpt-*".
    exclude_models : models to leave out.
    alias : dict that maps the name of a model in the data to the name that replaces it.
    exclude_tasks : tasks to leave out, by name or by a file of names.
    only_tasks : tasks to keep.
    cluster : the column that contains groups of related tasks.
    format : the file format, if passk should not detect it.
    records : the key of the records in a JSON document.
    path : a pattern that reads columns from the end of each path, like
        "{model}/{task}/run-{attempt}.json".
    attempts : data of single attempts that metrics need: "score" (best@k, worst@k, mean), "answer"
        (maj@k), "solution" (distinct@k), "attempt" (order of attempts, for first@k), "cost"
        (dollars), "tokens_in", "tokens_out", "tokens", "duration" (seconds), "turns".
    normalise : how to compare solutions: as text ("none"), as text with single spaces ("space"), or
        as Python code, ignoring comments, docstrings and layout ("python").
    similarity : a share above 0 and at most 1.  Two solutions count as the same solution if at
        least this share of all sequences of three tokens occurs in both solutions.

    Errors: ParameterError for an option that is not valid, and DataError (`place: problem; remedy`)
        for data that passk cannot use.

    >>> counts = read([{"task": "a", "passed": True}, {"task": "a", "passed": False}])
    >>> counts
    <Counts: 1 model, 1 task, 2 attempts, 1 passed>
    >>> counts.n.tolist(), counts.c.tolist()
    ([2], [1])
    """
    arguments = {name: value for name, value in locals().items() if name != "data"}
    usual = inspect.signature(read).parameters
    non_defaults = {
        name: value for name, value in arguments.items() if value is not usual[name].default
    }
    call = UserPythonCall("read", data, non_defaults)
    with translate_errors_to_python(options_by_field(ReadOptions), call):
        full_names = {
            name: quote_names_with_commas(name, value) for name, value in arguments.items()
        }
        request = fill_options(ReadOptions, full_names | {"where": where or None})
        request = replace(request, given_options=frozenset(non_defaults))
        counts = load(data, request)
        require_known_names(request.named_models_and_tasks, [counts])
    for message in counts.read_facts.messages:
        if message.severity == WARNING and message.fixes:
            text = sentence_text(
                with_python_fixes(message, options_by_field(ReadOptions), call).pieces(),
                PYTHON_STYLE,
            )
            warnings.warn(PasskWarning(text, message.name), stacklevel=2)
    return counts if is_read_once(data) else replace(counts, reread=_reread_function(data, request))


def _reread_function(data: Any, request: Request) -> Callable[[Request], Counts]:
    def counts(new_request: Request) -> Counts:
        attempts = tuple(dict.fromkeys((*request.attempts, *new_request.attempts)))
        by = tuple(dict.fromkeys((*request.by, *new_request.by)))
        merged = replace(
            request,
            attempts=attempts,
            by=by,
            uses_attempt_order=request.uses_attempt_order or new_request.uses_attempt_order,
        )
        return load(data, merged)

    return counts


def make_python_function(name: str) -> Callable[..., Findings]:
    """The Python function of a command, with a signature and a docstring that are made from the
    command's declaration."""
    declaration = load_command(name)
    options = _declared_options_by_field(name)
    flags = [field for field, option in options.items() if option.option.is_positional]
    first = flags or [field for field in _POSITIONAL_OPTIONS if field in options][:1]

    def call(data: Any = None, *positional: Any, **keywords: Any) -> Findings:
        positional_names = ("data", *first)
        if declaration.file_requirement == "none":
            positional = positional if data is None else (data, *positional)
            positional_names, data = positional_names[1:], None
        if len(positional) > len(first):
            raise TypeError(
                f"{name}() takes only {' and '.join(positional_names)} by position; pass all"
                " other options as keywords"
            )
        keywords = dict(zip(first, positional, strict=False)) | keywords
        python_call = UserPythonCall(name, data, dict(keywords))
        frame_as = keywords.pop("frame_as", FRAME_LIBRARIES[0])
        unknown = [field for field in keywords if field not in options]
        if unknown:
            raise _unknown_option_error(name, unknown[0], keywords[unknown[0]])
        keywords = {
            field: quote_names_with_commas(field, value) for field, value in keywords.items()
        }
        with translate_errors_to_python(options, python_call):
            if frame_as not in FRAME_LIBRARIES:
                raise ParameterError(
                    f'frame_as="{frame_as}": {did_you_mean_or_list(frame_as, FRAME_LIBRARIES)}'
                )
            if find_spec(frame_as) is None:
                raise ParameterError(
                    f'frame_as="{frame_as}": {frame_as} is not installed; pip install {frame_as}'
                )
            findings = replace(
                _run_python_call(declaration, python_call, keywords), frame_as=frame_as
            )
        for message in findings.report.warnings:
            # With stacklevel=2, the warning points to the line of the user's code that called
            # passk.
            words = PasskWarning(sentence_text(message.pieces(), PYTHON_STYLE), message.name)
            warnings.warn(words, stacklevel=2)
        return findings

    call.__name__ = call.__qualname__ = name
    call.__doc__ = _docstring(declaration, options)
    call.__signature__ = _python_signature(declaration, first)  # type: ignore[attr-defined]
    return call


def _declared_options_by_field(command: str) -> DeclaredOptionsByName:
    return {option.field: option for option in load_command(command).options()}


def _unknown_option_error(name: str, word: str, value: Any) -> TypeError:
    """The TypeError for an unknown option of a Python function, with a suggestion of a known
    option."""
    options = _declared_options_by_field(name)
    flags = {
        option.option.name.strip("-").replace("-", "_"): option.field for option in options.values()
    }
    reason = _PYTHON_HINT_BY_OUTPUT_OPTION.get(word) or text_for_python(
        option_suggestion(name, word, value, _declared_options_by_field), options
    )
    if word in flags and word not in load_command(name).absent_option_reasons:
        reason = did_you_mean([flags[word]])
    similar = [] if reason else nearest_names(word, _PYTHON_HINT_BY_OUTPUT_OPTION, 1)
    reason = reason or (
        _PYTHON_HINT_BY_OUTPUT_OPTION[similar[0]]
        if similar
        else f"help(passk_cli.{name}) lists them"
    )
    return TypeError(f"{name}() has no option {word!r}; {reason}")


def _run_python_call(
    declaration: Command, call: UserPythonCall, arguments: Mapping[str, Any]
) -> Findings:
    data = call.data
    if isinstance(data, Counts):
        for field in (*options_by_field(Request), "cluster"):
            if arguments.get(field) is not None:
                raise ParameterError(
                    f"these counts were already read; leave {field}= out, or pass this option to"
                    " read(…)",
                    name="contradicting-options",
                )
        arguments = {**arguments, "cluster": data.cluster}
    question, shared = declaration.runner_class.parse_options(
        arguments, data, requires_data=declaration.file_requirement == "needed"
    )
    message_filter, options = (
        fill_options(MessageOptions, arguments),
        _declared_options_by_field(call.name),
    )

    def words(message: Diagnostic) -> str:
        return sentence_text(with_python_fixes(message, options, call).pieces(), PYTHON_STYLE)

    numeric: set[str] = set()
    with share_downloads():
        read = _make_counts_reader(data, question, numeric)
        report = command_report(
            question, shared, read, lambda message: message_filter.filter_report(message, words)
        )
    messages = tuple(with_python_fixes(message, options, call) for message in report.messages)
    spelled = replace(
        report,
        messages=messages,
        make_methods_text=report.make_methods_text if declaration.has_methods_text else None,
    )
    kind = Verdict if declaration.gives_verdict else Findings
    return kind(spelled, frozenset(numeric))


def _make_counts_reader(
    data: Any, question: CommandRunner, numeric: set[str]
) -> ReadCountsFunction:
    """A function that reads the data that a command needs.

    numeric : a set to which the function adds the `by=` columns that contain numbers.
    """

    def read(request: Request, source: Any = None) -> Counts:
        counts = source_counts(request, source)
        numeric.update(counts.numeric_group_names)
        return counts

    def source_counts(request: Request, source: Any) -> Counts:
        source_data = data if source is None else source
        if not isinstance(source_data, Counts):
            if isinstance(data, Counts) and data.group_names:
                split = ", ".join(data.group_names)
                raise ParameterError(
                    f"these counts are split by {split}; read the other data with read(…), too",
                    name="contradicting-options",
                )
            return load(source_data, request, tolerant=question.tolerates_invalid_data)
        roles = {*request.attempts, *["attempt"] * request.uses_attempt_order}
        lacking = [column for column in request.by if column not in source_data.group_names]
        if (
            source_data.reread
            and question.rereads_if_columns_missing
            and (lacking or roles - source_data.attempts.keys())
        ):
            return source_data.reread(request)
        if lacking:
            raise DataError(
                "Counts",
                f"no column {lacking[0]!r}",
                f"read the data again with read(…, by={lacking[:1]})",
                name="no-such-column",
            )
        return source_data

    return read


def _python_signature(declaration: Command, first: Sequence[str]) -> inspect.Signature:
    keyword_only, either = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    default_data = inspect.Parameter.empty if declaration.file_requirement == "needed" else None
    data = inspect.Parameter("data", either, default=default_data, annotation=Any)
    parameters = [] if declaration.file_requirement == "none" else [data]
    options = sorted(declaration.options(), key=lambda option: option.field not in first)
    for option in options:
        place = either if option.field in first else keyword_only
        default = None if option.default in ("", {}) else option.default
        hint = _python_type_of_option(option)
        hint = hint if default is not None or hint is Any else hint | None
        parameters.append(inspect.Parameter(option.field, place, default=default, annotation=hint))
    frames: Any = Literal[FRAME_LIBRARIES]
    parameters.append(
        inspect.Parameter("frame_as", keyword_only, default=FRAME_LIBRARIES[0], annotation=frames)
    )
    answers = Verdict if declaration.gives_verdict else Findings
    return inspect.Signature(parameters, return_annotation=answers)


def _python_type_of_option(declared: DeclaredOption) -> Any:
    option, kind, base = declared.option, declared.annotation, declared.base_type
    if kind is ANY_DATA_OPTION_TYPE or base in (bool, int, float):
        return kind
    if option.choices:
        single: Any = Literal[option.allowed_values]
    elif option.file_use:
        single = str | os.PathLike[str]
    elif base is tuple and get_args(kind)[0] in (int, float):
        single = get_args(kind)[0] | str
    else:
        single = str | float if option.parse and not option.is_repeatable and base is str else str
    if not declared.repeatable:
        return kind if base is tuple else single
    several = single | Iterable[single]
    mapped = base is Mapping or "=" in option.value_placeholder
    return Mapping[str, Any] | several if mapped else several


def _docstring(declaration: Command, options: DeclaredOptionsByName) -> str:
    first, *more = (text_for_python(text, options) for text in declaration.help_paragraphs)
    paragraphs = [first, *(f"\n{text}" for text in more), ""]
    lines = [] if declaration.file_requirement == "none" else [f"data : {DATA_HELP}"]
    for field, (_, option, kind, _, base, _) in options.items():
        help = text_for_python(f"{option.help} {option.detail_with_choices}".rstrip(), options)
        if base is Mapping:
            help = re.sub(
                r"(?<=such as )\w+=\w+( or \w+=\w+)*", _dict_literal_text_of_pairs, help, count=1
            )
        stop = "" if help.endswith((".", "?")) else "."
        values = (
            f"  One of {', '.join(option.allowed_values)}."
            if option.choices and "{choices}" not in option.detail
            else ""
        )
        data = "  Any kind of data that `data` accepts." if kind is ANY_DATA_OPTION_TYPE else ""
        lines.append(f"{field} : {help}{stop}{values}{data}")
    lines += [
        FRAME_AS_HELP,
        "",
        "Returns Findings.  Errors: ParameterError, DataError.  Warnings: PasskWarning.",
    ]
    wrapped = [
        textwrap.fill(line, 96, subsequent_indent="    ", break_on_hyphens=False) for line in lines
    ]
    examples = (
        f"\n{note}\n{call_from_command(line, options)}" for note, line in declaration.examples
    )
    return "\n".join([*paragraphs, *wrapped, *examples])


def _dict_literal_text_of_pairs(pairs: re.Match[str]) -> str:
    return str(python_literal(dict(pair.split("=") for pair in pairs[0].split(" or ")), ""))


def __getattr__(name: str) -> Any:
    """The Python function of a command, which is made when the function is first used."""
    if name not in COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = make_python_function(name)
    return globals()[name]
