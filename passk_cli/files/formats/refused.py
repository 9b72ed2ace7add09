"""Files that look like results and cannot be: each is refused with the reason.

Sources: github.com/bigcode-project/bigcode-evaluation-harness (Apache-2.0), main.py: generations
are lists of programs.  github.com/ShishirPatil/gorilla (Apache-2.0),
berkeley-function-call-leaderboard/bfcl_eval/eval_checker: a line of counts, then the failures.
github.com/sierra-research/tau2-bench (MIT), src/tau2/scripts/leaderboard/submission.py: pass^k of
each domain.
github.com/EleutherAI/lm-evaluation-harness (MIT), lm_eval/loggers/evaluation_tracker.py: averages;
before 0.4 with one config for all benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from passk_cli.errors import NoResults
from passk_cli.files.formats.format import Contents, File, Format


def _refused(
    name: str, why: str, source: str, recognises: Callable[[File], bool], problem: str, remedy: str
) -> Format:
    def table(file: File) -> Contents:
        raise NoResults(file.source.name, problem, remedy)

    return Format(name, f"refused: {why}", source, recognises, table)


REFUSED = (
    _refused(
        "bfcl-scores", "the passes have no ids",
        "github.com/ShishirPatil/gorilla: berkeley-function-call-leaderboard/bfcl_eval",
        lambda file: file.has("accuracy", "correct_count", "total_count"),
        "a score file of BFCL lists the failures alone: the tasks that passed have no ids",
        "take all ids from BFCL's result files and give a table of task and outcome",
    ),
    _refused(
        "bigcode-generations", "generations without outcomes",
        "github.com/bigcode-project/bigcode-evaluation-harness: main.py",
        lambda file: file.form == "array" and bool(re.match(r'\s*\[\s*\[\s*"', file.text)),
        "lists of generated texts, without their outcomes",
        "give a file that says which of them pass, such as the output of EvalPlus",
    ),
    _refused(
        "tau2-submission", "pass^k of each domain, without tasks",
        "github.com/sierra-research/tau2-bench: src/tau2/scripts/leaderboard/submission.py",
        lambda file: file.has("model_name", "results", "submission_date")
        and any(re.fullmatch(r"results\.\w+\.pass_1", key) for key in file.keys),
        "a submission to the leaderboard of τ²-bench: pass^k of each domain, without its tasks",
        "give the files of its trajectories",
    ),
    _refused(
        "lm-eval-results", "averages of benchmarks, without outcomes of tasks",
        "github.com/EleutherAI/lm-evaluation-harness: lm_eval/loggers/evaluation_tracker.py",
        lambda file: file.form == "object" and file.has("results", "versions")
        and (file.has("configs", "n-shot") or file.has("config.model", "config.num_fewshot")),
        "results of lm-eval are averages of benchmarks: no task has an outcome",
        "evaluate with --log_samples and give the folder, or its samples_*.jsonl",
    ),
)  # fmt: skip
