"""Every fixture is recognised as exactly one format, whatever its name and however late its
keys."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passk_cli.files.formats import FORMATS, recognise_format
from passk_cli.files.formats.format import file_with_detected_structure
from passk_cli.files.sources.arguments import sources_of_arguments
from tests.conftest import Write
from tests.files.formats.cells import DATA

# Format → globs of its fixtures below tests/data.
FIXTURES: dict[str, tuple[str, ...]] = {
    "aider": ("aider/**/.aider.results.json",),
    "bfcl-scores": ("refused/BFCL_*.json",),
    "bigcode-generations": ("refused/generations.json",),
    "bigcodebench": ("bigcodebench/*.json",),
    "braintrust": ("braintrust/*.json",),
    "cruxeval": ("cruxeval/*.json.gz",),
    "deepeval": ("deepeval/.latest_*.json",),
    "docker-agent": ("docker_agent/*.json",),
    "evalplus": ("evalplus/*.json",),
    "evalport": ("evalport/*.json",),
    "google-adk": ("google_adk/*.json",),
    "hal": ("hal/*.json",),
    "harbor": ("harbor/**/result.json",),
    "mcpmark": ("mcpmark/**/meta.json", "mcpmark/merged/*/*.json"),
    "swe-bench": ("swe_bench/*.json",),
    "swe-bench-instance": ("swe_bench/logs/**/report.json",),
    "swe-bench-pro": ("swe_bench_pro/*/*.json",),
    "tau-bench": ("tau_bench/*.json",),
    "tau2": ("tau2/*.json", "tau2/*/results.json", "tau2/*/simulations/*.json"),
    "tau2-submission": ("refused/submission.json",),
    "terminal-bench": ("terminal_bench/*/results.json", "terminal_bench/*/*/*/results.json"),
    "verifiers": ("verifiers/**/results.jsonl",),
    "verifiers-traces": ("verifiers/**/traces.jsonl",),
    "verl": ("verl/*.jsonl",),
    "evalscope": ("evalscope/**/*.jsonl",),
    "every-eval-ever": ("every_eval_ever/*.jsonl",),
    "helm": ("helm/*/per_instance_stats.json",),
    "inspect": ("inspect/**/*.eval", "inspect/*.json"),
    "human-eval": ("human_eval/*.jsonl",),
    "langfuse": ("langfuse/*.json",),
    "lighteval": ("lighteval/**/*.parquet",),
    "livecodebench": ("livecodebench/*.json", "livecodebench/*/*.json"),
    "lm-eval-results": ("lm_eval/**/results_*.json",),
    "lm-eval": ("lm_eval/**/*.jsonl",),
    "math-evaluation": ("math_evaluation/**/*.jsonl",),
    "multipl-e": ("multipl_e/**/*.json.gz",),
    "nemo-evaluator": ("nemo_evaluator/**/[rtv]*.jsonl", "nemo_evaluator/**/eval-*.json"),
    "nemo-skills": ("nemo_skills/**/*.jsonl",),
    "openai-evals": ("openai_evals/*.jsonl",),
    "opik": ("opik/*.json",),
    "opencompass": ("opencompass/*/results/*/*.json",),
    "phoenix": ("phoenix/*.json",),
    "pydantic-evals": ("pydantic_evals/*.json",),
    "pytest-json-report": ("pytest_report/.report.json",),
    "promptfoo": ("promptfoo/out.*",),
    "skill-evals": ("skill_evals/**/*.json",),
    "weave": ("weave/*.jsonl",),
}
FILES = [
    (name, path)
    for name, globs in FIXTURES.items()
    for pattern in globs
    for path in sorted(DATA.glob(pattern))
]
# human-eval's lines have four keys and no more; generations have no keys at all; all keys of
# SWE-bench Pro are instances.
_NO_PADDING = ("human-eval", "bigcode-generations", "swe-bench-pro")


def formats_of(path: Path, spool: Path) -> list[str]:
    """The format of a file, and all other harness formats that also recognise it."""
    (source,) = sources_of_arguments([str(path)], spool)
    recognised = recognise_format(file_with_detected_structure(source))
    if recognised is None:
        return []
    head, first = recognised
    candidates = (
        candidate
        for candidate in FORMATS.values()
        if candidate is not first and not candidate.is_generic
    )
    return [first.name, *(candidate.name for candidate in candidates if candidate.recognises(head))]


def padded(text: str) -> str:
    """The same JSON with 300 kB of text before all other keys of the first record."""
    padding = {"padding": "x" * 300_000}

    def pad(value: Any) -> Any:
        return [pad(value[0]), *value[1:]] if isinstance(value, list) else {**padding, **value}

    try:
        return json.dumps(pad(json.loads(text)))
    except json.JSONDecodeError:
        first, _, remainder = text.partition("\n")
        return json.dumps(pad(json.loads(first))) + "\n" + remainder


def test_every_fixture_is_listed() -> None:
    globs = list(FIXTURES.values())
    assert all(any(DATA.glob(pattern)) for pattern_list in globs for pattern in pattern_list)
    assert FIXTURES.keys() <= FORMATS.keys()


@pytest.mark.parametrize(("name", "path"), FILES, ids=lambda value: str(value)[-40:])
def test_fixture_is_one_format_by_its_content(
    name: str, path: Path, tmp_path: Path, write: Write
) -> None:
    assert formats_of(path, tmp_path) == [name]
    renamed = write("x.txt", path.read_bytes())
    assert formats_of(renamed, tmp_path) == [name]


def _long() -> Iterator[tuple[str, Path]]:
    """A fixture of each text format, and of each of its shapes."""
    pairs = set()
    for name, path in FILES:
        if (
            path.suffix not in (".eval", ".parquet")
            and name not in _NO_PADDING
            and (name, path.suffixes[-1:] != [".jsonl"]) not in pairs
        ):
            pairs.add((name, path.suffixes[-1:] != [".jsonl"]))
            yield name, path


@pytest.mark.parametrize(("name", "path"), list(_long()), ids=lambda value: str(value)[-40:])
def test_a_format_is_recognised_behind_long_text(
    name: str, path: Path, tmp_path: Path, write: Write
) -> None:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    long = write("long.txt", padded(text))
    assert formats_of(long, tmp_path) == [name]
