"""Are doctored submissions found, and do honest submissions pass without a remark?

Run: nice python benchmarks/integrity.py [--boards 200]
Writes the tables of benchmarks/integrity.md.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from measure import keep, table
from numpy.typing import NDArray
from scipy.special import expit

from passk_cli.inference.integrity import FLAG_LEVEL, closest_partners
from passk_cli.outcomes.counts import Counts
from passk_cli.study.integrity import Submission, submission_boards

Bools = NDArray[np.bool_]
# Standard deviation of the effect that the models of a family share at a task, in log odds.
FAMILIES = {"none": 0.0, "moderate": 0.5, "strong": 1.0}
TASKS = 150
COPY, LEAKED, LOSING, RETRYING, ORIGINAL = 29, 28, 27, 26, 3


def outcomes(rng: np.random.Generator, models: int, attempts: int, family: float) -> Bools:
    """(models, tasks, attempts) of honest models in five families."""
    ability, difficulty = rng.normal(0, 0.6, models), rng.normal(0, 1.6, TASKS)
    shared = rng.normal(0, family, (5, TASKS))[rng.integers(0, 5, models)]
    logits = ability[:, None] + difficulty + shared + rng.normal(0, 0.8, (models, TASKS))
    return rng.random((models, TASKS, attempts)) < expit(logits)[..., None]


def submissions(passed: Bools, mask: Bools) -> list[Submission]:
    """The rows of the table."""
    n, c = mask.sum(axis=2), (passed & mask).sum(axis=2)
    model, task = np.nonzero(n)
    counts = Counts.from_columns(
        [(f"m{m:02}",) for m in model], [f"t{t:03}" for t in task], n[model, task], c[model, task]
    )
    return submission_boards(counts, None)[0].submissions


def honest(number: int) -> list[list[object]]:
    """Boards with a flagged model."""
    rows: list[list[object]] = []
    sizes = [(30, 4, name) for name in FAMILIES]
    sizes += [(30, 1, "moderate"), (30, 8, "moderate"), (5, 4, "moderate"), (12, 4, "moderate")]
    for models, attempts, family in sizes:
        flagged = Counter[str]()
        for seed in range(number):
            rng = np.random.default_rng([seed, models, attempts, int(10 * FAMILIES[family])])
            passed = outcomes(rng, models, attempts, FAMILIES[family])
            records = submissions(passed, np.ones(passed.shape, dtype=bool))
            names = {
                n
                for submission in records
                for n, f in submission.remarks_by_name.items()
                if f.is_remarkable
            }
            flagged.update([*names, *["any"] * bool(names)])
        kinds = [flagged[name] for name in ("agreement", "certain tasks", "any")]
        rows.append([family, models, attempts, number, *kinds])
    return rows


def doctored(number: int) -> list[list[object]]:
    """Boards of 30 with four doctored submissions, and how many are found and come first."""
    rows: list[list[object]] = []
    for family, spread in FAMILIES.items():
        hits, false_alarms, first = Counter[int](), 0, 0
        for seed in range(number):
            rng = np.random.default_rng([1000 + seed, int(10 * spread)])
            passed = outcomes(rng, 30, 4, spread)
            mask = np.ones(passed.shape, dtype=bool)
            changed = rng.random(passed.shape[1:]) < 0.06
            passed[COPY] = np.where(changed, ~passed[ORIGINAL], passed[ORIGINAL])
            passed[LEAKED, rng.random(TASKS) < 0.5] = True
            mask[LOSING] = passed[LOSING] | (rng.random(passed.shape[1:]) < 0.5)
            mask[RETRYING, :, 1:] = ~np.logical_or.accumulate(passed[RETRYING], axis=1)[:, :-1]
            table_of = submissions(passed, mask)
            remarked = {
                int(submission.series[0][1:]) for submission in table_of if submission.remarks
            }
            hits.update(remarked)
            four = {COPY, LEAKED, LOSING, RETRYING}
            false_alarms += bool(remarked - four - {ORIGINAL})
            first += {int(submission.series[0][1:]) for submission in table_of[:4]} == four
        kinds = [hits[place] for place in (COPY, LEAKED, LOSING, RETRYING)]
        rows.append([family, number, *kinds, first, false_alarms])
    return rows


def copies(number: int) -> list[list[object]]:
    """The number of boards of 27 models with a detected copy (with changed outcomes), and with
    another pair."""
    rows: list[list[object]] = []
    for changed in (0.0, 0.03, 0.06, 0.1):
        row: list[object] = [f"{100 * changed:g} %"]
        for spread in FAMILIES.values():
            hits = false_alarms = 0
            for seed in range(number):
                rng = np.random.default_rng([2000 + seed, int(10 * spread), int(100 * changed)])
                passed = outcomes(rng, 27, 4, spread)
                flips = rng.random(passed.shape[1:]) < changed
                passed[26] = np.where(flips, ~passed[ORIGINAL], passed[ORIGINAL])
                c = passed.sum(axis=2)
                flagged = np.flatnonzero(closest_partners(np.full(c.shape, 4), c).p < FLAG_LEVEL)
                hits += 26 in flagged
                false_alarms += bool(set(flagged.tolist()) - {26, ORIGINAL})
            row += [hits, false_alarms]
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=200)
    number = parser.parse_args().boards
    head = ("families", "models", "attempts", "boards", "agreement", "rates of 0 or 1", "any")
    keep("honest", table(head, honest(number)), "integrity.md")
    head = ("families", "boards", "copy, 6 % changed", "half of the tasks leaked",
            "half of the failures lost", "retried until a pass", "these four first",
            "another model remarked")  # fmt: skip
    keep("doctored", table(head, doctored(number // 2)), "integrity.md")
    head = ("outcomes changed", *(f"{part}{name} families" for name in FAMILIES
                                  for part in ("found, ", "another pair, ")))  # fmt: skip
    keep("copies", table(head, copies(number // 2)), "integrity.md")


if __name__ == "__main__":
    main()
