"""The intervals of a bootstrap side by side, and the tasks that it leaves out."""

from __future__ import annotations

from pathlib import Path

import passk_cli
from tests.conftest import SAMPLES, Passk
from tests.proposals import commands


def test_tasks_left_out_of_who_is_best_are_counted(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = [f"{m},t{t},{'hard' if t >= 20 else 'easy'},4,{t % 5}"
            for m, tasks in (("a", 12), ("b", 30)) for t in range(tasks)]  # fmt: skip
    path.write_text("model,task,kind,n,c\n" + "\n".join(rows) + "\n")
    base = ["bootstrap", path, "-m", "pass@1,pass@2", "--resamples", "200"]
    sentence = (
        'warning[first-on-shared-tasks]: for pass@1, pass@2, the column "first in resamples" uses'
        " only the 12 tasks of"
    )
    assert f"{sentence} 30 that all models have\n" in passk(*base).err
    assert f"{sentence} 20 that all models have in easy\n" in passk(*base, "--by", "kind").err
    # Groups have tasks of their own, of which nothing is left out.
    single = passk(*base, "--by", "kind", "--model", "b")
    assert "rests on" not in single.err


def test_one_metric_is_shown_and_its_widest_gap_is_named(passk: Passk) -> None:
    tau = [SAMPLES / "tau_airline.csv", "--resamples", "200"]
    result = passk("bootstrap", *tau)
    assert result.out.startswith("The interval method changes a limit of pass@1 by at most 0.0")
    assert [line for line in result.out.splitlines() if line.startswith("pass@")] == ["pass@1"]
    assert "bias" not in result.out
    full = passk("bootstrap", *tau, "--full").out.splitlines()
    titles = ["pass@1", "pass@2", "pass@4", "pass^2", "pass^4"]
    assert [line for line in full if line in titles] == titles
    first = passk("bootstrap", *tau, "-k", "1", "--interval", "bca").out
    assert first.startswith("pass@1 of gpt-4o is 0.420 [")
    assert "all metrics: --full" not in first


def test_scores_without_a_range_have_no_guard() -> None:
    rows = {"task": list("abcdefgh"), "score": [3.0, 1.0, 2.5, 0.0, 4.0, 2.0, 1.5, 3.5]}
    report = passk_cli.bootstrap(rows, "mean", threshold=1).report
    messages = {message.name: message.text for message in report.messages}
    assert messages["methods-without-bounds"].startswith(
        "there is no guard interval of mean, because the"
    )
    assert [column.header for column in report.tables[0].columns][4:] == [
        "bca", "percentile", "t", "from tasks", "from attempts",
    ]  # fmt: skip


def test_of_costs_the_cheapest_is_first() -> None:
    frame = passk_cli.bootstrap(SAMPLES / "costs.csv", "cost").frame
    leads = frame.groupby("model")["leads"].first()
    assert leads.idxmax() == frame.loc[frame["estimate"].idxmin(), "model"]


def test_a_number_of_draws_is_no_file(passk: Passk) -> None:
    data = SAMPLES / "tau_airline.csv"
    for draws, resamples in (("10", "100"), ("2000", "2000")):
        result = passk("bootstrap", data, "--draws", draws)
        assert result.err.startswith(f"error[bad-output]: --draws {draws}: it names a file\n")
        assert [words[2:] for words in commands(result.err)] == [["--resamples", resamples]]
