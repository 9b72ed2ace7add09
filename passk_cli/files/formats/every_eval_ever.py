"""Instance-level records of Every Eval Ever, versions 0.2 and 0.3, with one JSON record per line.

Source: github.com/evaleval/every_eval_ever (MIT), instance_level_eval.schema.json.  A record has
model_id, evaluation_name, sample_id and evaluation {score, is_correct}.  If a sample was judged in
several ways, it has one record per evaluation_result_id. passk offers these records as outcomes and
does not count them as attempts.  If a record has the key metadata.epoch, the value of this key is
the attempt number.

The function `record_from_columns_sql` writes such records. Their key `input` is empty, because
passk does not know the text of the samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from passk_cli.files.database import quote_name, quote_text
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    build_usage_amount_reader,
    finite_number,
    value_at_key_path,
)
from passk_cli.files.roles import AMOUNT_UNITS

_OUTCOME_NAME_IF_SINGLE = "is_correct"
_TOKEN_KEY_BY_ROLE = {
    "tokens_in": "input_tokens",
    "tokens_out": "output_tokens",
    "tokens": "total_tokens",
}
_COLUMNS_IN_SCHEMA = tuple(
    "model suite task run attempt outcome score reason answer solution".split()
)
_usage_amount_reader = build_usage_amount_reader(
    tokens_in="token_usage.input_tokens", tokens_out="token_usage.output_tokens",
    tokens="token_usage.total_tokens", tokens_cached="token_usage.input_tokens_cache_read",
    latency_ms="performance.latency_ms", turns="evaluation.num_turns",
)  # fmt: skip


def _contents(file: File) -> Contents:
    runs: dict[str, None] = {}
    results: dict[str, None] = {}
    for _, record in file.numbered_records():
        runs[str(record.get("evaluation_id"))] = None
        results[str(record.get("evaluation_result_id"))] = None
    outcomes = tuple(results) if len(results) > 1 else (_OUTCOME_NAME_IF_SINGLE,)
    facts, several = {"run": next(iter(runs))} if len(runs) == 1 else {}, len(runs) > 1

    def rows(request: RowRequest) -> Iterator[Row]:
        """The attempts in the file. If the file contains several runs, the name of each attempt
        begins with the name of its run."""
        times: Counter[tuple[str, ...]] = Counter()
        for line, record in file.numbered_records(request):
            if request.outcome not in (
                _OUTCOME_NAME_IF_SINGLE,
                str(record.get("evaluation_result_id")),
            ):
                continue
            ids = ("evaluation_id", "evaluation_name", "sample_id")
            key = tuple(str(record.get(name)) for name in ids)
            epoch = value_at_key_path(record, "metadata", "epoch")
            attempt = times[key] if epoch is None else epoch
            # Values in the metadata of a record are strings, even if the values are numbers.
            attempt = int(attempt) if isinstance(attempt, str) and attempt.isdecimal() else attempt
            times[key] += 1
            yield Row(
                record.get("sample_id"),
                value_at_key_path(record, "evaluation", "is_correct"),
                finite_number(value_at_key_path(record, "evaluation", "score")),
                f"{key[0]} {attempt}" if several else attempt,
                model=record.get("model_id"),
                suite=record.get("evaluation_name"),
                answer=value_at_key_path(record, "answer_attribution", -1, "extracted_value"),
                solution=value_at_key_path(record, "output", "raw", 0),
                place=f"line {line}",
                record=record,
            )

    return Contents(rows, outcomes, facts)


def _usage_amounts(record: Any) -> dict[str, object]:
    """The numbers of tokens, milliseconds and turns in a record, and further amounts, for example
    costs, that `passk convert` wrote to the metadata."""
    carried = {name: value_at_key_path(record, "metadata", name) for name in sorted(AMOUNT_UNITS)}
    usage = _usage_amount_reader(record).items()
    return carried | {name: amount for name, amount in usage if amount is not None}


def record_from_columns_sql(columns: Sequence[str]) -> str:
    """SQL that builds a record of version 0.3 from the columns of a table of attempts.

    The suite becomes evaluation_name, which is "unnamed" if there is no suite. A column for which
    the schema has no field becomes a string in the metadata.
    """
    answer, solution = (
        quote_name(name) if name in columns else "NULL::VARCHAR" for name in ("answer", "solution")
    )
    usage = ", ".join(
        f"{key}: {c}::BIGINT"
        for c, key in _TOKEN_KEY_BY_ROLE.items()
        if {*_TOKEN_KEY_BY_ROLE} <= {*columns}
    )
    placed = {*_COLUMNS_IN_SCHEMA, *(_TOKEN_KEY_BY_ROLE if usage else ()), "duration"}
    metadata = {"epoch": "attempt", **{c: quote_name(c) for c in columns if c not in placed}}
    pairs = ", ".join(f"{quote_text(name)}, {sql}::VARCHAR" for name, sql in metadata.items())
    evaluation = "coalesce(suite, 'unnamed')"
    fields = {
        "schema_version": "'0.3.0'",
        "evaluation_id": f"concat_ws('/', {evaluation}, model, run)",
        "model_id": "model",
        "evaluation_name": evaluation,
        "sample_id": "CASE WHEN starts_with(task, suite || '/') THEN task[len(suite) + 2:]"
        " ELSE task END",
        "interaction_type": "'single_turn'",
        "input": "{'raw': '', 'reference': []::VARCHAR[]}",
        "output": f"{{'raw': list_filter([{solution}], lambda text: text IS NOT NULL)}}",
        "answer_attribution": f"list_filter([{{'turn_idx': 0, 'source': 'output.raw',"
        f" 'extracted_value': {answer}, 'extraction_method': 'custom', 'is_terminal': true}}],"
        " lambda one: one.extracted_value IS NOT NULL)",
        "evaluation": "{'score': coalesce(score, outcome::DOUBLE), 'is_correct': outcome}",
        **({"token_usage": f"{{{usage}}}"} if usage else {}),
        **({"performance": "{'latency_ms': duration * 1000}"} if "duration" in columns else {}),
        "error": "reason",
        "metadata": f"json_merge_patch('{{}}', json_object({pairs}))",
    }
    return ", ".join(f"{sql} AS {name}" for name, sql in fields.items())


EVERY_EVAL_EVER = Format(
    "every-eval-ever",
    "a record with evaluation.is_correct true",
    "github.com/evaleval/every_eval_ever: instance_level_eval.schema.json",
    lambda file: file.has_keys("sample_id", "model_id", "evaluation_name", "evaluation.is_correct"),
    _contents,
    # A file with aggregated results may have the same name as the file with attempts, so passk must
    # not read the aggregated results as attempts.
    lambda file: (f"{file.name.removesuffix('.jsonl').removesuffix('_samples')}.json",),
    _usage_amounts,
    example=Example(
        ("BENCHMARK/ORGANISATION/MODEL/ID.jsonl",),
        """\
{"model_id": "org/m", "evaluation_name": "sums", "sample_id": "1", "evaluation": {"is_correct": true}}
{"model_id": "org/m", "evaluation_name": "sums", "sample_id": "2", "evaluation": {"is_correct": false}}
""",  # noqa: E501
        arguments="BENCHMARK",
    ),
)
