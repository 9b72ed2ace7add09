"""The file formats of evaluation harnesses: one module per harness, and the table FORMATS.

A `Format` recognises files by their content and reads each attempt as a `Row`. Formats do not count
attempts and do not use SQL. The module `format` contains the code that all formats share.
"""

from __future__ import annotations

from collections.abc import Collection

from passk_cli.files.formats import generic
from passk_cli.files.formats.aider import AIDER
from passk_cli.files.formats.braintrust import BRAINTRUST
from passk_cli.files.formats.cruxeval import CRUXEVAL
from passk_cli.files.formats.deepeval import DEEPEVAL
from passk_cli.files.formats.docker_agent import DOCKER_AGENT
from passk_cli.files.formats.evalplus import EVALPLUS
from passk_cli.files.formats.evalport import EVALPORT_FORMAT
from passk_cli.files.formats.evalscope import EVALSCOPE
from passk_cli.files.formats.every_eval_ever import EVERY_EVAL_EVER
from passk_cli.files.formats.format import Example, File, Format
from passk_cli.files.formats.google_adk import GOOGLE_ADK
from passk_cli.files.formats.hal import HAL
from passk_cli.files.formats.harbor import HARBOR
from passk_cli.files.formats.helm import HELM
from passk_cli.files.formats.inspect import INSPECT
from passk_cli.files.formats.lighteval import LIGHTEVAL
from passk_cli.files.formats.livecodebench import LIVECODEBENCH
from passk_cli.files.formats.lm_eval import LM_EVAL
from passk_cli.files.formats.math_evaluation import MATH_EVALUATION_FORMAT
from passk_cli.files.formats.mcpmark import MCPMARK
from passk_cli.files.formats.multipl_e import MULTIPL_E
from passk_cli.files.formats.nemo_evaluator import NEMO_EVALUATOR
from passk_cli.files.formats.nemo_skills import NEMO_SKILLS_FORMAT
from passk_cli.files.formats.openai_evals import OPENAI_EVALS
from passk_cli.files.formats.opencompass import OPENCOMPASS
from passk_cli.files.formats.phoenix import PHOENIX
from passk_cli.files.formats.promptfoo import PROMPTFOO
from passk_cli.files.formats.pydantic_evals import PYDANTIC_EVALS_FORMAT
from passk_cli.files.formats.pytest_report import PYTEST_REPORT_FORMAT
from passk_cli.files.formats.refused_formats import REFUSED_FORMATS
from passk_cli.files.formats.skill_evals import SKILL_EVALS
from passk_cli.files.formats.swe_bench import SWE_BENCH, SWE_BENCH_INSTANCE, SWE_BENCH_PRO
from passk_cli.files.formats.tau_bench import TAU2, TAU_BENCH
from passk_cli.files.formats.terminal_bench import TERMINAL_BENCH
from passk_cli.files.formats.toml_formats import mapped_formats
from passk_cli.files.formats.verifiers import VERIFIERS, VERIFIERS_TRACES
from passk_cli.files.formats.verl import VERL
from passk_cli.files.formats.weave import WEAVE
from passk_cli.files.request import SPECIFICATION_BY_TABLE_FORMAT
from passk_cli.files.roles import LINE_NUMBER_AS_TASK

# Generic formats come last, because passk tries generic formats only if no format of a harness
# matches.
FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        INSPECT, AIDER, CRUXEVAL, DEEPEVAL, EVALPLUS, EVALSCOPE, EVERY_EVAL_EVER,
        HELM, LIGHTEVAL, LIVECODEBENCH, LM_EVAL, MATH_EVALUATION_FORMAT, MULTIPL_E,
        NEMO_EVALUATOR, NEMO_SKILLS_FORMAT, OPENAI_EVALS, OPENCOMPASS, PHOENIX, PROMPTFOO,
        PYTEST_REPORT_FORMAT,
        SKILL_EVALS, *REFUSED_FORMATS, HARBOR, TERMINAL_BENCH, TAU_BENCH, TAU2, MCPMARK, SWE_BENCH,
        SWE_BENCH_INSTANCE, SWE_BENCH_PRO, VERIFIERS, VERIFIERS_TRACES, VERL, HAL,
        PYDANTIC_EVALS_FORMAT, BRAINTRUST, WEAVE, GOOGLE_ADK, DOCKER_AGENT, EVALPORT_FORMAT,
        *mapped_formats(), *generic.FORMATS,
    )
}  # fmt: skip
TABLE_EXAMPLES: dict[str, Example] = {
    "jsonl": Example(
        ("RESULTS.jsonl",),
        """\
{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true}
{"task": "a", "model": "gpt-5.5", "attempt": 2, "passed": false}
{"task": "b", "model": "gpt-5.5", "attempt": 1, "passed": true}
{"task": "b", "model": "gpt-5.5", "attempt": 2, "passed": true}
""",
    ),
    "json": Example(
        ("RESULTS.json",),
        """\
[{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true},
 {"task": "a", "model": "gpt-5.5", "attempt": 2, "passed": false}]
""",
    ),
    "csv": Example(
        ("RESULTS.csv",),
        """\
task,model,attempt,passed
a,gpt-5.5,1,1
a,gpt-5.5,2,0
b,gpt-5.5,1,1
b,gpt-5.5,2,1
""",
    ),
    "tsv": Example(("RESULTS.tsv",), "task\tmodel\tn\tc\na\tgpt-5.5\t10\t4\nb\tgpt-5.5\t10\t9\n"),
    "parquet": Example(
        ("RESULTS.parquet",),
        """\
{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true}
{"task": "a", "model": "gpt-5.5", "attempt": 2, "passed": false}
""",
    ),
}
# FORMAT_NAMES contains the values that --from accepts.
FORMAT_NAMES = (*FORMATS, *SPECIFICATION_BY_TABLE_FORMAT)


def recognise_format(file: File) -> tuple[File, Format] | None:
    """Recognise the format of a file by its content. passk reads no more of the file than
    necessary.

    The result is None if the file matches no format.
    """
    form, file_seen = _first_matching_format(file, generic=False), file
    if form is None:
        file_seen = file.with_longer_start()
        form = _first_matching_format(file_seen, generic=False) if file_seen is not file else None
        form = form or _first_matching_format(file_seen, generic=True)
    return None if form is None else (file_seen, form)


def _first_matching_format(file: File, *, generic: bool) -> Format | None:
    candidates = (form for form in FORMATS.values() if form.is_generic == generic)
    return next((form for form in candidates if form.recognises(file)), None)


def format_of_short_document(file: File) -> Format | None:
    """The format of a short JSON document, which is an array of records or a single record."""
    if file.short_document is None:
        return None
    return (
        generic.LONG_ARRAY_OF_RECORDS_FORMAT
        if file.structure == "array"
        else generic.SINGLE_RECORD_FORMAT
    )


def format_required_by_options(
    file: File, records: str | None, columns: Collection[str]
) -> Format | None:
    """The format for `--records` or for a column of line numbers, or None if neither is requested.

    records : the key under which a document contains its records.
    columns : the columns that have a role.
    """
    if records is not None:
        return generic.nested_records_format(records, columns)
    if LINE_NUMBER_AS_TASK in columns and file.structure == "lines":
        return generic.LINE_NUMBER_AS_TASK_FORMAT
    return None
