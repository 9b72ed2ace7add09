"""One corrupted file per format: the error names the place, the problem and what to do."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from passk_cli import DataError, read
from tests.conftest import Write
from tests.files.formats.cells import DATA

Corrupt = Callable[[str], str]


def replace_text(old: str, new: str) -> Corrupt:
    def corrupt(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return corrupt


def cut(text: str) -> str:
    return text[: len(text) * 2 // 3 - 7]


CASES: list[tuple[str, Corrupt, dict[str, object], str]] = [
    ("bigcodebench/*.json", replace_text('"status": "fail"', '"status": "maybe"'), {},
     r'x: eval.BigCodeBench/0\[2\]: "outcome" is "maybe"; expected true/false'),
    ("bigcodebench/*.json", cut, {}, r"x:\d+: the \w+ is not JSON \(.*\); check whether"),
    ("deepeval/.latest_test*.json", replace_text('"success": true, "metrics',
    '"success": 2, "metrics'), {},
     r'x: testCases\[1\]: "outcome" is 2'),
    ("deepeval/.latest_test*.json", cut, {}, r"x:1: the \w+ is not JSON"),
    ("evalplus/new*.json", replace_text('"base_status": "pass"', '"base_status": 7'), {
    "outcome": "base"},
     r'x: eval.HumanEval/2\[0\]: "outcome" is 7'),
    ("evalplus/old*.json", replace_text('"timed out"', '"late"'), {"outcome": "base"},
     r'"outcome" is "late"'),
    ("evalplus/new*.json", cut, {"outcome": "base"}, r"x:1: the \w+ is not JSON"),
    ("evalscope/**/*.jsonl", replace_text('{"acc": 1.0}', '{"acc": "good"}'), {},
     r'x: line 1: "outcome" is "good"'),
    ("every_eval_ever/*.jsonl", replace_text('"is_correct": true', '"is_correct": "so"'), {},
     r'x: line 1: "outcome" is "so"'),
    ("every_eval_ever/*.jsonl", cut, {}, r"x:\d+: the \w+ is not JSON .*; skip_bad=True leaves"),
    ("helm/*/per_instance_stats.json", cut, {"outcome": "exact_match"}, r"x:1: .* not JSON"),
    ("human_eval/*.jsonl", replace_text('"passed": true', '"passed": "x"'), {},
     r'x: line 4: "outcome" is "x"'),
    ("livecodebench/*.json", replace_text("true", '"jo"'), {}, r'x: record \d: "outcome" is "jo"'),
    ("livecodebench/stub-1/*code*.json", replace_text("true", '"jo"'), {},
     r'x: problem 0\[0\]: "outcome" is "jo"'),
    ("livecodebench/stub-1/*code*.json", cut, {}, r"x:\d+: the \w+ is not JSON"),
    ("livecodebench/*.json", cut, {}, r"x:\d+: the \w+ is not JSON"),
    ("lm_eval/org__alpha/samples_sums_2*825284.jsonl",
     replace_text('"exact_match": 0.0}', '"exact_match": "none"}'), {
     "outcome": "exact_match,strict"},
     r'x: line 1: no outcome'),
    ("lm_eval/org__alpha/samples_sums_2*825284.jsonl", cut, {"outcome": "exact_match,strict"},
     r"x:\d+: the \w+ is not JSON"),
    ("math_evaluation/**/*.jsonl", replace_text("[true, true, true]", '"all"'), {},
     r'x: line 1: "outcome" is "all"'),
    ("multipl_e/*/HumanEval_12_*.gz", replace_text('"status": "OK"', '"status": null'), {},
     r'x: results\[\d+\]: no outcome: unscored \(1 attempt in all\)'),
    ("multipl_e/*/HumanEval_12_*.gz", cut, {}, r"x:\d+: the \w+ is not JSON"),
    ("nemo_skills/*/*/gpqa/output-rs0.jsonl", replace_text("true", '"?"'), {},
     r'x: line 1: "outcome" is "\?"'),
    ("openai_evals/*.jsonl", replace_text('"correct": true', '"correct": 0.5'), {"missing": "drop"},
     r'x: line 3: "outcome" is 0.5'),
    ("promptfoo/out.json", cut, {"by": ["prompt"]}, r"x:1: the \w+ is not JSON"),
    ("promptfoo/out.jsonl", replace_text('"success":true', '"success":"most"'),
     {"by": ["prompt"], "missing": "fail"}, r'x: line \d+: "outcome" is "most"'),
    ("hal/*1_UPLOAD.json", cut, {}, r"x:\d+: the \w+ is not JSON"),
    ("harbor/**/*LqcoQJp/result.json", replace_text('"reward": 0.0', '"reward": "zero"'), {},
     r'x: attempt 1: "outcome" is "zero"; expected true/false'),
    ("harbor/**/*LqcoQJp/result.json", replace_text('"reward": 0.0', '"reward": [1]'), {},
     r'"outcome" is "\[1\]"'),
    ("mcpmark/results/*/alpha*/run-1/papers*/meta.json",
     replace_text('"success"', '"success": "done", "was"'), {}, r'"outcome" is "done"'),
    ("mcpmark/merged/*/*.json", replace_text('"success": true', '"success": null'), {},
     r'x: attempt 1: no outcome'),
    ("swe_bench/*run1.json",
     replace_text('"unresolved_ids": [', '"unresolved_ids": ["repo__proj-0",'), {"missing": "fail"},
     r"x: the instance 'repo__proj-0' is both resolved and unresolved; correct the report"),
    ("swe_bench/*run1.json", cut, {}, r"x:\d+: the \w+ is not JSON"),
    ("swe_bench/logs/**/*-4/report.json", replace_text('"resolved": false', '"resolved": 0.5'), {},
     r'x: attempt 1: "outcome" is 0.5'),
    ("swe_bench_pro/c*/*.json", replace_text("false", '"failing?"'), {},
    r'"outcome" is "failing\?"'),
    ("pytest_report/.report.json", cut, {"missing": "drop"}, r"x:\d+: the \w+ is not JSON"),
    ("tau_bench/*.json", replace_text('"reward": 1.0', '"reward": {"total": 1}'), {},
     r'x: attempt \d+: "outcome" is'),
    ("tau_bench/*.json", cut, {}, r"x:\d+: the \w+ is not JSON"),
    ("tau2/airline.json", replace_text('"reward": 1.0', '"reward": "1 of 1"'), {},
     r'x: attempt \d+: "outcome" is "1 of 1"'),
    ("tau2/airline.json", cut, {}, r"x:1: the \w+ is not JSON \(.*\); check whether"),
    ("terminal_bench/*/results.json", replace_text('"is_resolved": true', '"is_resolved": "yup"'),
     {"missing": "fail"}, r'x: attempt \d+: "outcome" is "yup"'),
    ("terminal_bench/*/results.json", cut, {"missing": "fail"}, r"x:\d+: the \w+ is not JSON"),
    ("verifiers/**/results.jsonl", replace_text('"reward": 0.0', '"reward": "low"'), {
    "missing": "fail"},
     r'x: line 2: "outcome" is "low"'),
    ("verifiers/**/results.jsonl", cut, {"missing": "fail"}, r"x:\d+: the \w+ is not JSON"),
    ("verifiers/**/traces.jsonl", replace_text('"score": 1.0', '"score": "full"'), {
    "missing": "fail"},
     r'x: line 1: "outcome" is "full"'),
    ("verl/*.jsonl", replace_text('"acc": true', '"acc": "mostly"'), {},
    r'x: line 1: "outcome" is "mos'),
    ("verl/*.jsonl", cut, {}, r"x:\d+: the \w+ is not JSON"),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("fixture", "corrupt", "options", "message"), CASES)
def test_corrupted_files_are_refused(
    fixture: str, corrupt: Corrupt, options: dict[str, object], message: str, write: Write
) -> None:
    path, *_ = sorted(DATA.glob(fixture))
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    corrupted = write("x", corrupt(text))
    with pytest.raises(DataError, match=message):
        read(corrupted, **options)  # type: ignore[arg-type]
