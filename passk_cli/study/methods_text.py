"""Writes the methods text of a report, which describes for a paper how passk computed the results.
The file `references.bib` contains the references that the sentences of the methods text cite.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from passk_cli.arrays import group_pairs
from passk_cli.errors import ParameterError
from passk_cli.inference.compatible_rates import allowed_log_likelihood_drop
from passk_cli.inference.intervals import FIELLER, METHODS
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.metrics.registry import FAMILIES, parse_metric
from passk_cli.report.data_types import MethodsText, Reference
from passk_cli.report.phrases import count_range, number_range, plural
from passk_cli.study.metric_selection import judge_labels_of_each_series
from passk_cli.study.significance_options import (
    BH,
    BONFERRONI,
    HOLM,
    MIN_P,
    PRIMARY,
    TESTS,
    UNADJUSTED,
)
from passk_cli.text import join_names
from passk_cli.version import __version__

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.study.confidence import Confidence
    from passk_cli.study.result import Result

ADJUSTMENT_DESCRIPTIONS: dict[str, tuple[str, str]] = {
    MIN_P: ("the single-step min-P method, intervals included", "westfall1993"),
    BONFERRONI: ("Bonferroni's method, intervals included", ""),
    HOLM: ("Holm's method", "holm1979"),
    BH: ("the method of Benjamini and Hochberg", "benjamini1995"),
    UNADJUSTED: ("", ""),
}
# _MISSING_OUTCOME_TREATMENTS maps each value of --missing to a phrase about the treatment of
# missing outcomes.
_MISSING_OUTCOME_TREATMENTS = {
    "fail": "count as failures",
    "drop": "are left out",
    "bounds": "are counted once as failures and once as passes, and results contain both cases",
}
_SOFTWARE_REFERENCE_KEY = "passk"


def describe_methods(
    counts: Counts, confidence: Confidence, facts: Sequence[Result], entries: Mapping[str, object]
) -> MethodsText:
    """Sentences about how passk computed the results, with citations such as "[@key; @key]"."""
    resamples, seed = entries.get("resamples"), entries.get("seed")
    draws = "" if resamples is None else f", {plural(int(str(resamples)), 'draw')}, seed {seed}"
    sentences = (
        _extrapolation_sentences(counts, entries) or _estimates_sentence(counts, facts),
        _missing_outcomes_sentence(counts),
        _labels_sentence(counts),
        _intervals_sentence(confidence, facts, entries),
        _tests_sentence(entries, facts),
        f"Computed by passk {__version__}{draws}{_citation(_SOFTWARE_REFERENCE_KEY)}.",
    )  # fmt: skip
    text = " ".join(filter(None, sentences))
    keys = dict.fromkeys(re.findall(r"@([a-z]+\d{4}|passk)\b(?=[;\]])", text))
    return MethodsText(text, {key: references()[key] for key in keys})


def descriptions_of_intervals() -> dict[str, tuple[str, str]]:
    """A dict that maps the name of each interval method to its description and its references."""
    ratio = ("Fieller's limits of a ratio of means", "fieller1954")
    return {n: (method.description, method.citation_keys) for n, method in METHODS.items()} | {
        FIELLER: ratio
    }


def descriptions_of_tests() -> dict[str, tuple[str, str]]:
    """A dict that maps the name of each significance test to its description and its references."""
    ratio = ("Fieller's test of equal ratios of means", "fieller1954")
    return {n: (test.words, test.cites) for n, test in TESTS.items()} | {FIELLER: ratio}


@cache
def references() -> dict[str, Reference]:
    """A dict that maps the key of each reference in `references.bib` to the reference."""
    text = files("passk_cli.study").joinpath("references.bib").read_text(encoding="utf-8")
    entries = {re.match(r"@\w+\{(\w+)", entry)[1]: entry.strip()  # type: ignore[index]
               for entry in re.split(r"(?m)^(?=@)", text) if entry.strip()}  # fmt: skip
    entries[_SOFTWARE_REFERENCE_KEY] = (
        "@software{passk,\n  author = {{The passk authors}},\n"
        "  title = {passk: pass@k and pass\\^{}k with confidence intervals},\n"
        f"  year = {{2026}}, version = {{{__version__}}}\n}}"
    )
    return {key: Reference(_reference_label(entry), entry) for key, entry in entries.items()}


def _reference_label(entry: str) -> str:
    author, year = (re.search(rf"{field} = \{{(.*?)\}},?\s", entry) for field in ("author", "year"))
    assert author is not None
    assert year is not None
    names = [name.split(",")[0].strip("{}") for name in author[1].split(" and ")]
    authors = names[0] + " et al." * (len(names) > 2 or names[-1] == "others")
    return (
        f"{authors if len(names) != 2 or names[-1] == 'others' else ' and '.join(names)} {year[1]}"
    )


def _citation(keys: str) -> str:
    return f" [{'; '.join(f'@{key}' for key in dict.fromkeys(keys.split()))}]" if keys else ""


def _sizes_text(counts: Counts) -> tuple[str, str]:
    tasks = [len(counts.n[counts.slice_of_series(s)]) for s in range(len(counts.series))]
    attempts = count_range(counts.n.tolist(), "attempt")
    return f"{number_range(min(tasks), max(tasks))} tasks", f"{attempts} per task"


def _estimates_sentence(counts: Counts, facts: Sequence[Result]) -> str:
    ks: dict[str, list[str]] = {}
    ratios, (tasks, attempts) = "", _sizes_text(counts)
    for name in dict.fromkeys(fact.name for fact in facts):
        with suppress(ParameterError):
            metric = parse_metric(name)
            if metric.definition.is_known_only_as_range:
                drop = allowed_log_likelihood_drop(
                    next(f.level for f in facts if f.name == name) or 0.95
                )
                ratios += (
                    f" {name} is the share of tasks with a true success rate of at least"
                    f" {metric.k_and_share_name_suffix}, from {tasks} and {attempts}. The range of"
                    f" {name}"
                    " is over all distributions of tasks' success rates with a log likelihood at"
                    f" most {drop:.2f} below the maximum"
                    f"{_citation(metric.definition.citation_keys)}."
                )
            elif metric.definition.is_ratio_of_means:
                ratios += (
                    f" {name} is the mean {metric.definition.required_attempt_data} of an attempt"
                    f" divided by pass@1, from {tasks} and {attempts}."
                )
            else:
                ks.setdefault(metric.family, []).append(metric.k_and_share_name_suffix)
    if not ks:
        return ratios.strip()
    names: list[str] = []
    for family, arguments in ks.items():
        curve = len(arguments) > 3 and FAMILIES[family].has_k
        ends = f"{family}k (k from {arguments[0]} to {arguments[-1]})"
        names += [ends] if curve else [family + argument for argument in arguments]
    cited = _citation(" ".join(FAMILIES[family].citation_keys for family in ks))
    means = "is the mean" if len(names) == 1 else "are means"
    of_means = (
        f"{join_names(names)} {means} over {tasks} of unbiased estimates from {attempts}{cited}."
    )
    return of_means + ratios


def _missing_outcomes_sentence(counts: Counts) -> str:
    facts = counts.read_facts
    if not facts.missing_outcome_count:
        return ""
    treatment = _MISSING_OUTCOME_TREATMENTS[facts.missing_policy]
    return f"{plural(facts.missing_outcome_count, 'missing outcome')} {treatment}."


def _labels_sentence(counts: Counts) -> str:
    if rates := counts.read_facts.judge_error_counts:
        (passed, false), (failed, true) = rates
        return (
            "Outcomes are a judge's verdicts, corrected by its error rates about other attempts"
            f" ({passed} false passes among {plural(false, 'failing attempt')}, {failed} false"
            f" failures among {plural(true, 'passing attempt')}){_citation('rogan1978')}."
        )
    partial = [labels for labels in judge_labels_of_each_series(counts) if not labels.is_complete]
    if not partial:
        return ""
    number = sum(int(labels.label_counts.sum()) for labels in partial)
    by_task = sum(labels.min_labels_per_labelled_task > 0 for labels in partial)
    designs = [
        "labels of attempts by post-strata of the verdict and the majority of its task"
        f"{_citation('robins1994')}",
        "labels of tasks by prediction-powered inference with the task as unit"
        f"{_citation('angelopoulos2023')}",
    ]
    descriptions = [
        words
        for words, present in zip(designs, (by_task < len(partial), by_task > 0), strict=True)
        if present
    ]
    corrections = f"{plural(number, 'label')}: {join_names(descriptions)}"
    return f"Outcomes are a judge's verdicts, corrected by {corrections}."


def _extrapolation_sentences(counts: Counts, entries: Mapping[str, object]) -> str:
    metric = str(entries.get("extrapolate") or "")
    if not metric:
        return ""
    from passk_cli.inference.extrapolation import MAX_RANGE_WIDTH
    from passk_cli.inference.rate_models import PRIOR_DESCRIPTION

    tasks, attempts = _sizes_text(counts)
    drop = allowed_log_likelihood_drop(float(str(entries["level"])))
    clusters = (
        f" The log likelihood is divided by the mean size of a task's cluster by {cluster}."
        if (cluster := entries.get("cluster"))
        else ""
    )
    line = (
        f" The log-logit line is the least-squares line of logit({metric}) in log k"
        f"{_citation('brown2024')}."
        if entries.get("fit")
        else ""
    )
    return (
        f"{metric} at k = {entries.get('to')} is predicted from {attempts} at {tasks}. Ranges are"
        " over all distributions of tasks' success rates with a log likelihood at most"
        f" {drop:.2f} below the maximum{_citation('kiefer1956')}."
        f" Estimates, given if the range is at most {MAX_RANGE_WIDTH} wide, are means over"
        f" {PRIOR_DESCRIPTION}."
        f"{clusters}{line}"
    )


def _intervals_sentence(
    confidence: Confidence, facts: Sequence[Result], entries: Mapping[str, object]
) -> str:
    sampled = confidence.population == NEW_TASKS
    about = "the tasks as a sample of a larger population" if sampled else "these tasks as fixed"
    if confidence.cluster and sampled:
        about += f", in clusters by {confidence.cluster}"
    methods = descriptions_of_intervals()
    with_limits = [
        fact for fact in facts if fact.estimate.low is not None and fact.method in methods
    ]
    by_method = group_pairs(dict.fromkeys((fact.method, fact.name) for fact in with_limits))
    level = f"{100 * confidence.level:g} %"
    if confidence.method == "none":
        return f"Standard errors take {about}{_citation('miller2024')}."
    by = join_names([
        methods[method][0] + f" for {join_names(names)}" * (len(by_method) > 1)
        + _citation(methods[method][1])
        for method, names in by_method.items()
    ])  # fmt: skip
    clause = f" are made by {by} and" if by_method else ""
    if entries.get("band") == "simultaneous":
        level += f", simultaneous over all k{_citation('davison1997')}"
    return f"Confidence intervals ({level}){clause} take {about}."


def _tests_sentence(entries: Mapping[str, object], facts: Sequence[Result]) -> str:
    test_words = descriptions_of_tests()
    names = [name for name in str(entries.get("test") or "").split(", ") if name in test_words]
    if not names:
        return ""
    words = join_names([test_words[name][0] + _citation(test_words[name][1]) for name in names])
    text = f"Models are compared on the tasks they share, paired by task, by {words}"
    adjustment, keys = ADJUSTMENT_DESCRIPTIONS.get(str(entries.get("adjust")), ("", ""))
    number = str(entries.get("tests") or "").rpartition("/")[2]
    if adjustment and number not in ("", "1"):
        tests_by_metric = Counter(fact.name for fact in facts if fact.p_adjusted is not None)
        of_each = f" of each of {len(tests_by_metric)} metrics ({tests_by_metric.total()} in all)"
        separately = entries.get("family") == PRIMARY and len(tests_by_metric) > 1
        text += (
            f"; p-values are adjusted for {number} tests{of_each * separately} by"
            f" {adjustment}{_citation(keys)}"
        )
    if margin := entries.get("margin"):
        text += (
            f"; equivalence within ±{margin} by two one-sided tests{_citation('schuirmann1987')}"
        )
    return text + "."
