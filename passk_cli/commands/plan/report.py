"""The report of a plan, from assumed success rates or from a pilot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from passk_cli.commands.plan.aims import Aims
from passk_cli.commands.plan.caveats import caveats
from passk_cli.commands.plan.designs import Designs, with_usual
from passk_cli.commands.plan.outlook import Outlook, alike, correlation_words
from passk_cli.commands.plan.pilot import pilot_outlooks
from passk_cli.commands.plan.plots import plots
from passk_cli.commands.plan.sentences import plan_answer
from passk_cli.commands.plan.tables import tables
from passk_cli.inference.design import Assumed, BetaRates
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.metrics.registry import Metric
from passk_cli.report.model import Report
from passk_cli.report.words import span
from passk_cli.study.fact import tidy
from passk_cli.study.notes import reading_notes
from passk_cli.study.signature import short_names, stated
from passk_cli.study.study import Study
from passk_cli.version import __version__


def assumed_report(metrics: Sequence[Metric], rates: BetaRates, aims: Aims) -> Report:
    """The plan for a model, and a second one like it, with these success rates."""
    outlooks = [alike(metric, Assumed(metric, rates), aims.correlation) for metric in metrics]
    start = f"success rates Beta with mean {rates.mean:g} and spread {rates.spread:g}"
    designs = Designs(outlooks, with_usual(aims, outlooks), start)
    signature = {
        "passk": __version__, "metrics": short_names(metrics), "mean": rates.mean,
        "spread": rates.spread, **_decisions(designs),
    }  # fmt: skip
    return Report(
        tables=tables(designs),
        data=tidy(designs.facts, (), NEW_TASKS),
        context=" · ".join(_caption(designs)),
        messages=tuple(caveats(designs)),
        signature=stated(signature),
        draw=partial(plots, designs),
        answer=plan_answer(designs, split=aims.budget is not None),
    )


def pilot_report(study: Study, aims: Aims) -> Report:
    """The plan for the model and the pair of models that vary most in a pilot.

    Errors: ParameterError when the pilot says nothing about any metric.
    """
    outlooks, notes = pilot_outlooks(study, aims.correlation)
    several = len(study.counts.series) > 1
    designs = Designs(outlooks, with_usual(aims, outlooks), _start(outlooks), several)
    return replace(study, metrics=tuple(outlook.metric for outlook in outlooks)).report(
        designs.facts,
        tables(designs),
        context=_caption(designs),
        messages=(*reading_notes(study.counts), *study.reading, *notes, *caveats(designs)),
        plots=partial(plots, designs),
        interval=None,
        answer=plan_answer(designs, split=aims.budget is not None),
        **_decisions(designs),
    )


def _start(outlooks: Sequence[Outlook]) -> str:
    """The size of a pilot, and what is like its model."""
    pilots = [outlook.pilot for outlook in outlooks if outlook.pilot is not None]
    tasks, n = [len(pilot.n) for pilot in pilots], np.concatenate([pilot.n for pilot in pilots])
    attempts = span(int(n.min()), int(n.max()))
    start = f"pilot of {span(min(tasks), max(tasks))} tasks"
    start += f", {attempts} attempt{'s' * (attempts != '1')} each"
    if (like := pilots[0].rates) is not None:
        start += f"; {outlooks[0].name} is like --mean {like.mean:.4g} --spread {like.spread:.4g}"
    return start


def _caption(designs: Designs) -> tuple[str, ...]:
    level, power, cluster = designs.aims.level, designs.aims.power, designs.aims.cluster
    return (
        designs.start,
        "expected, true spread: mean and standard deviation of true values over tasks",
        "a metric's column: standard error" + f", clustered by {cluster}" * bool(cluster),
        f"width of {100 * level:g} % confidence intervals for new tasks (guard)",
        "detects: smallest difference of two models that a two-sided paired test at"
        f" {100 * (1 - level):.3g} % detects with power {power:g}",
        "in all: attempts of one model",
        "–: not computable",
    )


def _decisions(designs: Designs) -> dict[str, object]:
    """Entries of the signature."""
    aims = designs.aims
    return {
        "level": aims.level,
        "power": aims.power,
        "difference": aims.detect,
        "correlation": correlation_words(designs.outlooks),
        "budget": aims.spend,
        "max_tasks": aims.most_tasks,
        "cluster": aims.cluster,
        "cost": aims.cost_per_attempt,
    }
