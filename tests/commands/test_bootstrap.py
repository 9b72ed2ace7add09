"""What a bootstrap says of the tasks it leaves out."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Passk


def test_tasks_left_out_of_who_is_best_are_counted(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = [f"{m},t{t},{'hard' if t >= 20 else 'easy'},4,{t % 5}"
            for m, tasks in (("a", 12), ("b", 30)) for t in range(tasks)]  # fmt: skip
    path.write_text("model,task,kind,n,c\n" + "\n".join(rows) + "\n")
    base = ["bootstrap", path, "-m", "pass@1,pass@2", "--resamples", "200"]
    said = "passk: warning: leads at pass@1, pass@2 rests on the 12 tasks that all models have"
    assert f"{said}, of 30\n" in passk(*base).err
    assert f"{said} in easy, of 20\n" in passk(*base, "--by", "kind").err
    # Groups have tasks of their own, of which nothing is left out.
    alone = passk(*base, "--by", "kind", "--model", "b")
    assert "rests on" not in alone.err
