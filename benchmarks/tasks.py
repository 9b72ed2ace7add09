"""How often `passk tasks` errs, which flips are chance, and whether wrong keys are found.

    python benchmarks/tasks.py classes         error rates of the classes
    python benchmarks/tasks.py flips           expected flips and false changes, simulated
    python benchmarks/tasks.py halves FOLDER   the same on real attempts split into two halves
    python benchmarks/tasks.py suspects        false finds and size on simulated models
    python benchmarks/tasks.py keys FOLDER     wrong keys planted in CRUXEval
    python benchmarks/tasks.py speed           134 models × 500 tasks

FOLDER holds CRUXEval's evaluation_results/*_input.json (github.com/crux-eval).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measure import in_turn, keep, machine, table
from scipy.stats import binom

from passk_cli.commands.tasks.item_rest_correlations import item_rest_correlations
from passk_cli.inference.adjust import benjamini_hochberg
from passk_cli.inference.binomial_rate import rate_limits
from passk_cli.outcomes.counts import Counts
from passk_cli.study.flips import Flips, NamedSeries, compute_flips_of_pairs

FILE = "tasks.md"
HERE = Path(__file__).parent
FAMILIES = {"Beta(.3, .5)": (0.3, 0.5), "Beta(2, 2)": (2.0, 2.0), "Beta(5, .5)": (5.0, 0.5)}


def percent(share: float, of: int = 0) -> str:
    """A share as a percentage, with its Monte-Carlo error on request."""
    error = f" ± {100 * np.sqrt(max(share * (1 - share), 1e-12) / of):.2f}" if of else ""
    return f"{100 * share:.2f}{error}"


def share_of_some(wrong: np.ndarray) -> str:
    """The share among some tasks, if there are enough of them."""
    return percent(float(wrong.mean())) if len(wrong) > 50 else "–"


def classes() -> None:
    """Statements about tasks: wrong in the worst case, and simulated."""
    rows = []
    rng = np.random.default_rng(1)
    grid = np.linspace(0.0005, 0.9995, 1999)
    for n in (3, 5, 10, 100):
        c = np.arange(n + 1)
        low, high = rate_limits(n, c)
        law = binom.pmf(c, n, grid[:, None])
        always = np.where(grid < low[n] - 1e-12, law[:, n], 0).max()
        wrong = ((low > grid[:, None]) | (high < grid[:, None])) * law
        for name, shape in FAMILIES.items():
            p = rng.beta(*shape, 200_000)
            passes = rng.binomial(n, p)
            full, zero = passes == n, passes == 0
            missed = (low[passes] > p) | (high[passes] < p)
            rows.append([
                n, name, percent(always), percent(wrong.sum(axis=1).max()),
                percent(missed.mean(), len(p)),
                share_of_some(missed[full]), share_of_some(missed[zero]),
                share_of_some(p[full] < 0.95),
                share_of_some(p[zero] > 0.05),
            ])  # fmt: skip
    head = [
        "attempts", "tasks' rates", "always/never wrong, worst rate %",
        "any limit wrong, worst rate %", "limits of all tasks: wrong %", "of the always so far",
        "of the never so far", "before: always read as ≥ 0.95, wrong %",
        "before: never read as ≤ 0.05, wrong %",
    ]  # fmt: skip
    keep("classes", "200,000 tasks a row; worst rate: exact\n\n" + table(head, rows), FILE)


def of_pair(n: int, c: np.ndarray, base: int, c_base: np.ndarray) -> Flips:
    """Flips of two models at the same tasks."""
    tasks = [f"t{i:05d}" for i in range(len(c))]
    counts = Counts.from_columns(
        [("new",)] * len(c) + [("old",)] * len(c), tasks * 2,
        np.repeat([n, base], len(c)), np.concatenate([c, c_base]),
    )  # fmt: skip
    (flips,) = compute_flips_of_pairs(
        [(NamedSeries(counts, 0, "new"), NamedSeries(counts, 1, "old"))]
    )
    return flips


def flips() -> None:
    """No change: flips and expected ones.  A tenth changed: how many listed are false."""
    runs, tasks, rows, false_rows = 400, 200, [], []
    rng = np.random.default_rng(2)
    for n in (2, 4, 10):
        for name, shape in FAMILIES.items():
            flip_numbers, expected, inside, beyond, listings = [], [], 0, 0, 0
            for _ in range(runs):
                p = rng.beta(*shape, tasks)
                pair = of_pair(n, rng.binomial(n, p), n, rng.binomial(n, p))
                low, high = pair.chance_flip_range
                flip_numbers.append(pair.flip_count)
                expected.append(pair.expected_multi_attempt_flips)
                inside += low <= pair.flip_count <= high
                beyond += pair.p_of_at_least_as_many_flips <= 0.05
                listings += bool((pair.verdicts != 0).any())
            error = np.std(np.subtract(flip_numbers, expected)) / np.sqrt(runs)
            rows.append([n, name, f"{np.mean(flip_numbers):.2f}", f"{np.mean(expected):.2f}",
                         f"{error:.2f}", percent(inside / runs), percent(beyond / runs),
                         percent(listings / runs)])  # fmt: skip
            false_rows.append([n, name, *false_changes(rng, n, shape, runs, tasks)])
    head = ["attempts each", "tasks' rates", "flips", "expected", "error of their difference",
            "95 % range holds %", "P ≤ 0.05 %", "any change listed %"]  # fmt: skip
    text = f"{runs} pairs of runs a row, {tasks} tasks, nothing changed\n\n" + table(head, rows)
    keep("flips", text, FILE)
    head = ["attempts each", "tasks' rates", "listed", "of them false %", "changed tasks found %",
            "before: flips that are false %", "before: p ≤ 0.05 unadjusted, false %"]  # fmt: skip
    text = f"a tenth of {tasks} tasks changed to another rate, {runs} pairs of runs a row"
    keep("changes", f"{text}\n\n" + table(head, false_rows), FILE)


def false_changes(
    rng: np.random.Generator, n: int, shape: tuple[float, float], runs: int, tasks: int
) -> list[str]:
    """Shares of false entries in the list if a tenth of the tasks changed."""
    shares, naive, single, detections, listings = [], [], [], 0, 0
    for _ in range(runs):
        p = rng.beta(*shape, tasks)
        new = p.copy()
        changed = np.arange(tasks) < tasks // 10
        new[changed] = 1 - np.round(p[changed])
        pair = of_pair(n, rng.binomial(n, new), n, rng.binomial(n, p))
        changes, flipped = pair.verdicts != 0, pair.signs != 0
        shares.append((changes & ~changed).sum() / max(changes.sum(), 1))
        naive.append((flipped & ~changed).sum() / max(flipped.sum(), 1))
        unadjusted = pair.p <= 0.05
        single.append((unadjusted & ~changed).sum() / max(unadjusted.sum(), 1))
        detections += int((changes & changed).sum())
        listings += int(changes.sum())
    return [f"{listings / runs:.1f}", percent(float(np.mean(shares))),
            percent(detections / (runs * (tasks // 10))), percent(float(np.mean(naive))),
            percent(float(np.mean(single)))]  # fmt: skip


def generations(folder: Path) -> Iterator[tuple[str, list[str], np.ndarray, dict[str, list[str]]]]:
    """Name, tasks, (tasks × attempts) outcomes and texts of each file with ten attempts."""
    for path in sorted(folder.glob("*_input.json")):
        document = json.loads(path.read_text())
        scored = document["raw_scored_generations"]
        tasks = sorted(scored)
        if {len(scored[task]) for task in tasks} == {10}:
            passed = np.array([scored[task] for task in tasks], dtype=np.int64)
            yield path.stem.removesuffix("_input"), tasks, passed, document["raw_generations"]


def halves(folder: Path) -> None:
    """Real attempts split into two halves: no rate changed, so every listed change is false."""
    rows = []
    rng = np.random.default_rng(3)
    for name, passed in (*trials(), *((n, p) for n, _, p, _ in generations(folder))):
        size = passed.shape[1]
        half = size // 2
        numbers, expected, inside, listings = [], [], 0, 0
        for _ in range(40):
            # Which attempts are the first half is drawn for each task.
            order = rng.permuted(np.tile(np.arange(size), (len(passed), 1)), axis=1)
            mixed = np.take_along_axis(passed, order, axis=1)
            comparison = split(mixed, half)
            low, high = comparison.chance_flip_range
            numbers.append(comparison.flip_count)
            expected.append(comparison.expected_multi_attempt_flips)
            inside += low <= comparison.flip_count <= high
            listings += int((comparison.verdicts != 0).sum())
        in_order = split(passed, half)
        rows.append([name, len(passed), half, f"{np.mean(numbers):.1f}", f"{np.mean(expected):.1f}",
                     percent(inside / 40), listings / 40, in_order.flip_count,
                     int((in_order.verdicts != 0).sum())])  # fmt: skip
    head = ["model", "tasks", "attempts each", "flips, halves drawn", "expected",
            "95 % range holds %", "listed as changed", "flips, halves in order",
            "listed, in order"]  # fmt: skip
    keep("halves", "40 drawn splits a row\n\n" + table(head, rows), FILE)


def trials() -> Iterator[tuple[str, np.ndarray]]:
    """The sample of τ-bench: tasks × trials."""
    import csv

    with (HERE.parent / "sample_data" / "tau_airline.csv").open() as file:
        rows = list(csv.DictReader(file))
    tasks = sorted({row["task_id"] for row in rows})
    passed = np.zeros((len(tasks), 4), dtype=np.int64)
    for row in rows:
        passed[tasks.index(row["task_id"]), int(row["trial"])] = float(row["reward"]) > 0.5
    yield "tau-bench gpt-4o", passed


def split(passed: np.ndarray, half: int) -> Flips:
    """The attempts from `half` on against those before."""
    old, new = passed[:, :half], passed[:, half : 2 * half]
    return of_pair(half, new.sum(axis=1), half, old.sum(axis=1))


def models(rng: np.random.Generator, count: int, tasks: int) -> np.ndarray:
    """Rates of one attempt each (models × tasks): better models pass every task more often."""
    ability, difficulty = rng.normal(0, 1, count), rng.normal(0, 1.5, tasks)
    chance = 1 / (1 + np.exp(difficulty - ability[:, None]))
    return (rng.random((count, tasks)) < chance).astype(float)


def suspects() -> None:
    """Clean data: suspects listed.  Tasks without any relation to ability: size of the test."""
    rows = []
    rng = np.random.default_rng(4)
    for count in (5, 7, 8, 12, 20, 50, 134):
        runs = 60
        flags, planted, lost, below = 0, 0, 0, np.zeros(3)
        unrelated = 0
        for _ in range(runs):
            rates = models(rng, count, 200)
            flags += int((adjusted(rates) <= 0.05).sum())
            # 60 tasks have nothing to do with ability, at any level of difficulty.
            rates[:, :60] = rng.random((count, 60)) < rng.uniform(0.02, 0.98, 60)
            p = item_rest_correlations(rates).p[:60]
            p = p[~np.isnan(p)]
            unrelated += len(p)
            below += [(p <= alpha).sum() for alpha in (0.05, 0.01, 0.001)]
            # Four keys are wrong: what failed passes.
            rates = models(rng, count, 200)
            rates[:, :4] = 1 - rates[:, :4]
            flagged = adjusted(rates) <= 0.05
            planted += int(flagged[:4].sum())
            lost += int(flagged[4:].sum())
        rows.append([count, f"{flags / runs:.2f}", *(percent(b / unrelated) for b in below),
                     percent(planted / (4 * runs)), f"{lost / runs:.2f}"])  # fmt: skip
    head = ["models", "clean: listed of 200", "unrelated: p ≤ 5 % %", "p ≤ 1 % %", "p ≤ 0.1 % %",
            "4 wrong keys: found %", "others listed"]  # fmt: skip
    keep("suspects", "200 tasks, one attempt each, 60 sets a row\n\n" + table(head, rows), FILE)


def adjusted(rates: np.ndarray) -> np.ndarray:
    """Adjusted p of each task; 1 without one."""
    return np.nan_to_num(benjamini_hochberg(item_rest_correlations(rates).p), nan=1.0)


def keys(folder: Path) -> None:
    """Wrong keys in CRUXEval: outcomes of some tasks inverted, or judged by a wrong answer."""
    files = list(generations(folder))
    rng = np.random.default_rng(5)
    rows = []
    sets = {
        "temperature 0.2": [f for f in files if "temp0.2" in f[0]],
        "both temperatures": files,
    }
    for name, indices in sets.items():
        rates = np.stack([passed.mean(axis=1) for _, _, passed, _ in indices])
        tasks = indices[0][1]
        clean = adjusted(rates) <= 0.05
        rows.append([name, len(indices), "none", 0, "–", "–", "–", int(clean.sum())])
        for kind in ("inverted", "a wrong answer"):
            for many in (5, 20, 40):
                hits, top, unsolved, false = 0.0, 0.0, 0.0, 0.0
                runs = 20
                for _ in range(runs):
                    # A wrong key can be found only if some attempts passed or failed.
                    mixed = np.flatnonzero((rates.mean(axis=0) > 0.1) & (rates.mean(axis=0) < 0.9))
                    wrong = rng.choice(mixed, many, replace=False)
                    spoilt = rates.copy()
                    for task in wrong:
                        spoilt[:, task] = (
                            1 - rates[:, task]
                            if kind == "inverted"
                            else other_key(indices, tasks[task], task)
                        )
                    items = item_rest_correlations(spoilt)
                    flagged = np.nan_to_num(benjamini_hochberg(items.p), nan=1.0) <= 0.05
                    lowest = np.argsort(np.nan_to_num(items.p, nan=2.0), kind="stable")[: 2 * many]
                    hits += flagged[wrong].mean() / runs
                    top += np.isin(wrong, lowest).mean() / runs
                    unsolved += (spoilt[:, wrong].max(axis=0) == 0).mean() / runs
                    false_flags = np.setdiff1d(np.flatnonzero(flagged), wrong)
                    false += len(false_flags) / runs
                rows.append([name, len(indices), kind, many, percent(hits), percent(top),
                             percent(unsolved), f"{false:.2f}"])  # fmt: skip
    head = ["files", "models", "wrong keys", "how many", "significant %",
            "among the twice as many lowest p %", "nobody solves %", "others listed"]  # fmt: skip
    keep("keys", "800 tasks, 20 draws of tasks a row\n\n" + table(head, rows), FILE)


def other_key(indices: list[tuple], name: str, task: int) -> np.ndarray:
    """Pass rates at a task whose key is the commonest wrong answer of the weaker half."""
    index = name.removeprefix("sample_")
    strength = [passed.mean() for _, _, passed, _ in indices]
    weak = np.argsort(strength)[: max(1, len(indices) // 2)]
    wrong: dict[str, int] = {}
    for i in weak.tolist():
        _, _, passed, texts = indices[i]
        for ok, text in zip(passed[task], texts.get(name, texts.get(index, [])), strict=False):
            if not ok:
                wrong[text.strip()] = wrong.get(text.strip(), 0) + 1
    if not wrong:
        return np.zeros(len(indices))
    key = max(sorted(wrong), key=wrong.__getitem__)
    return np.array([
        np.mean([text.strip() == key for text in texts.get(name, texts.get(index, [""]))])
        for _, _, _, texts in indices
    ])  # fmt: skip


def speed() -> None:
    """134 models × 500 tasks × 4 attempts, every view."""
    rng = np.random.default_rng(6)
    chance = 1 / (1 + np.exp(rng.normal(0, 2, 500) - np.linspace(-2, 2, 134)[:, None]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.csv"
        with path.open("w") as file:
            file.write("model,task,attempt,passed\n")
            for attempt in range(4):
                passed = rng.random(chance.shape) < chance
                for i, t in np.ndindex(*chance.shape):
                    file.write(f"m{i:03d},t{t:03d},{attempt},{int(passed[i, t])}\n")
        base = [sys.executable, "-m", "passk_cli", "tasks", str(path), "-q"]
        views = {
            "tasks": [], "-f csv": ["-f", "csv"], "--always 0.95": ["--always", "0.95"],
            "--against m000": ["--against", "m000"], "--suspects": ["--suspects"],
            "--matrix -f csv": ["--matrix", "-f", "csv"],
            "--chart heat.svg": ["--chart", f"{folder}/heat.svg"],
        }  # fmt: skip
        runs = in_turn({name: [*base, *more] for name, more in views.items()}, 3)
    rows = [[name, f"{measurement.seconds:.2f}", f"{measurement.cpu:.2f}",
    f"{measurement.mebibytes:.0f}"]
            for name, measurement in runs.items()]  # fmt: skip
    text = table(["view", "wall s", "CPU s", "peak MiB"], rows)
    keep("speed", f"{machine()}; medians of 3\n\n{text}", FILE)


if __name__ == "__main__":
    name, *arguments = sys.argv[1:] or ["classes"]
    globals()[name](*map(Path, arguments))
