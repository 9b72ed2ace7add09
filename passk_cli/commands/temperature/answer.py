"""Which temperature is best at which k, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from passk_cli.commands.temperature.rivals import Verdict, heat
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Cell, Estimate, Sentence
from passk_cli.report.words import first_few, listed, plural, series_name
from passk_cli.study.values import Series

# Differences closer to zero are rounding: the two means are equal.
_EQUAL = 1e-12
# So many groups of metrics, and exceptions, are named; more stand in the table.
_NAMED = 3


@dataclass(frozen=True)
class _Favourites:
    """Metrics, next to each other, at which every model has the same best temperatures.

    best : model → temperatures with the highest mean: one, or several that are equal.
    """

    metrics: tuple[Metric, ...]
    best: dict[Series, tuple[str, ...]]

    @property
    def choices(self) -> dict[tuple[str, ...], list[Series]]:
        """Best temperatures → whose they are, those of most models first."""
        models: dict[tuple[str, ...], list[Series]] = {}
        for model, best in self.best.items():
            models.setdefault(best, []).append(model)
        return dict(sorted(models.items(), key=lambda choice: -len(choice[1])))


def answer(
    verdicts: Sequence[Verdict], metrics: Sequence[Metric], without: Sequence[str]
) -> tuple[Sentence, ...]:
    """The best temperature at each k, of all models at once, and which leads are significant.

    without : names of models that have no best temperature.
    """
    stretches = _stretches(verdicts, metrics)
    models = list(dict.fromkeys(v.rivals.model for v in verdicts))
    if all(len(s.choices) == 1 and len(s.best) == len(models) for s in stretches):
        words = _alike(stretches, verdicts, len(models))
    else:
        words = _different(stretches, len(models), plain=_plain(verdicts))
    none = f"; no best temperature for {first_few(without)}" if without else ""
    return ((*words, f"{_significance(verdicts, models)}{none}."),)


def _stretches(verdicts: Sequence[Verdict], metrics: Sequence[Metric]) -> list[_Favourites]:
    stretches: list[_Favourites] = []
    for metric in metrics:
        there = [v for v in verdicts if v.rivals.metric == metric]
        best = {v.rivals.model: _highest(v) for v in there}
        if not best:
            continue
        if stretches and stretches[-1].best == best:
            stretches[-1] = _Favourites((*stretches[-1].metrics, metric), best)
        else:
            stretches.append(_Favourites((metric,), best))
    return stretches


def _highest(v: Verdict) -> tuple[str, ...]:
    differences = ((heat(c.second), c.difference) for c in v.against)
    equal = [other for other, d in differences if d is not None and abs(d) < _EQUAL]
    return tuple(sorted((heat(v.rivals.best), *equal), key=float))


def _alike(stretches: Sequence[_Favourites], verdicts: Sequence[Verdict], models: int) -> Sentence:
    """ "T 0.2 is best at k = 1 and T 0.8 at k = 5 and 10 for all 4 models"."""
    words: list[Cell] = []
    numbers = models == 1 and all(len(stretch.metrics) == 1 for stretch in stretches)
    plain = _plain(verdicts)
    verbs = ["", *(_verb(best) for stretch in stretches for best in stretch.choices)]
    for i, stretch in enumerate(stretches):
        [best] = stretch.choices
        verb = verbs[i + 1] if verbs[i + 1] != verbs[i] else ""
        between = "" if i == 0 else " and " if i == len(stretches) - 1 else ", "
        words.append(f"{between}T {listed(best)}{verb} {_at(stretch.metrics, plain)}")
        # Of one model at few metrics there is room for the numbers.
        if numbers and len(stretches) < _NAMED and len(best) == 1:
            [metric] = stretch.metrics
            [v] = [v for v in verdicts if v.rivals.metric == metric]
            lead = v.against[0]
            value = Estimate(lead.difference, signed=True, share=metric.unit == "share")
            words += [" (", value, f" against T {heat(lead.second)})"]
    return (*words, f" for {_all(models)}") if models > 1 else tuple(words)


def _verb(best: Sequence[str]) -> str:
    return " is best" if len(best) == 1 else " have the same, highest mean"


def _different(stretches: Sequence[_Favourites], models: int, *, plain: bool) -> Sentence:
    """ "At k = 1, T 0.2 is best for all 4 models; at k = 10, T 0.8 for a and b, T 0.2 for c"."""
    parts = []
    for stretch in stretches[:_NAMED]:
        choices = [
            f"T {listed(best)}{' (equal)' * (len(best) > 1)} for {_models(whose, models)}"
            for best, whose in stretch.choices.items()
        ]
        parts.append(f"{_at(stretch.metrics, plain)}: {', '.join(choices)}")
    rest = sum(len(stretch.metrics) for stretch in stretches[_NAMED:])
    more = f"; {plural(rest, 'more metric')} in the table" if rest else ""
    return (f"Best temperature {'; '.join(parts)}{more}",)


def _models(names: Sequence[Series], models: int) -> str:
    if len(names) == models > 1:
        return _all(models)
    if len(names) > _NAMED:
        return f"{len(names)} models"
    return listed([series_name(name) for name in names])


def _all(models: int) -> str:
    return "both models" if models == 2 else f"all {models} models"


def _plain(verdicts: Sequence[Verdict]) -> bool:
    """Whether all metrics are pass@k, so that k names them."""
    return all(v.rivals.metric.family == "pass@" for v in verdicts)


def _at(metrics: Sequence[Metric], plain: bool) -> str:
    """ "at k = 1 and 10", or the metrics by name."""
    if plain:
        return f"at k = {listed([str(metric.k) for metric in metrics])}"
    return f"at {listed([metric.name for metric in metrics])}"


def _significance(verdicts: Sequence[Verdict], models: Sequence[Series]) -> str:
    """Which of these leads are significant over all other temperatures."""
    leads = [v for v in verdicts if len(_highest(v)) == 1]
    tied, count = [v for v in leads if v.alike], len(leads)
    if not leads:
        return ""
    if not tied:
        whole = {1: "the lead is", 2: "both leads are"}.get(count, f"all {count} leads are")
        return f"; {whole} significant"
    if len(tied) == count:
        none = {1: "the lead is not", 2: "neither lead is"}.get(count, f"none of {count} leads is")
        return f"; {none} significant"
    exceptions = []
    for model in models:
        metrics = [v.rivals.metric for v in tied if v.rivals.model == model]
        if metrics:
            name = f"{series_name(model)} " if len(models) > 1 else ""
            exceptions.append(f"{name}{_at(metrics, _plain(verdicts))}")
    few = f" (not {listed(exceptions)})" if len(exceptions) <= _NAMED else ""
    verb = "is" if count - len(tied) == 1 else "are"
    return f"; {count - len(tied)} of {count} leads {verb} significant{few}"
