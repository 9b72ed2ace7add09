"""Formats that passk recognises and refuses, because their files do not contain attempts.

BigCode's harness writes lists of generated programs without outcomes. Source:
github.com/bigcode-project/bigcode-evaluation-harness (Apache-2.0), main.py.  BFCL writes a line
with counts, followed by only the failed tasks. Source: github.com/ShishirPatil/gorilla
(Apache-2.0), berkeley-function-call-leaderboard/bfcl_eval/eval_checker.  Submissions to the
leaderboard of τ²-bench contain pass^k per domain. Source: github.com/sierra-research/tau2-bench
(MIT), src/tau2/scripts/leaderboard/submission.py.  The results files of lm-eval contain averages.
Source: github.com/EleutherAI/lm-evaluation-harness (MIT), lm_eval/loggers/evaluation_tracker.py.
In results files from before version 0.4, all benchmarks share one config.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from passk_cli.errors import FileWithoutResultsError
from passk_cli.files.formats.format import Contents, Example, File, Format


def _refused_format(
    name: str,
    why: str,
    source: str,
    recognises: Callable[[File], bool],
    problem: str,
    remedy: str,
    example: Example,
) -> Format:
    def contents(file: File) -> Contents:
        raise FileWithoutResultsError(file.source.name, problem, remedy)

    return Format(name, f"refused: {why}", source, recognises, contents, example=example)


REFUSED_FORMATS = (
    _refused_format(
        "bfcl-scores",
        "the file does not list the ids of tasks that passed",
        "github.com/ShishirPatil/gorilla: berkeley-function-call-leaderboard/bfcl_eval",
        lambda file: file.has_keys("accuracy", "correct_count", "total_count"),
        "a score file of BFCL lists only the failures, so it lacks the ids of tasks that passed",
        "take all ids from BFCL's result files and give a table of task and outcome",
        Example(
            ("score/MODEL/BFCL_v3_simple_score.json",),
            """\
{"accuracy": 0.75, "correct_count": 3, "total_count": 4}
{"id": "simple_2", "valid": false, "error": ["Wrong function name."]}
""",
            alternative="take all ids from BFCL's result files and give a table of task and"
            " outcome",
        ),
    ),
    _refused_format(
        "bigcode-generations",
        "the file contains generated texts without outcomes",
        "github.com/bigcode-project/bigcode-evaluation-harness: main.py",
        lambda file: (
            file.structure == "array" and bool(re.match(r'\s*\[\s*\[\s*"', file.start_text))
        ),
        "the file contains generated texts without outcomes",
        "give a file with outcomes, for example the output of EvalPlus",
        Example(
            ("generations.json",),
            """\
[["def one():\\n    return 1"], ["def two():\\n    return 2"]]
""",
            alternative="give a file with outcomes, for example the output of EvalPlus",
        ),
    ),
    _refused_format(
        "tau2-submission",
        "the file contains pass^k per domain, without tasks",
        "github.com/sierra-research/tau2-bench: src/tau2/scripts/leaderboard/submission.py",
        lambda file: (
            file.has_keys("model_name", "results", "submission_date")
            and any(re.fullmatch(r"results\.\w+\.pass_1", key) for key in file.keys)
        ),
        "the file is a submission to τ²-bench's leaderboard, with pass^k per domain and no tasks",
        "give the files of its trajectories",
        Example(
            ("submissions/MODEL/submission.json",),
            """\
{"model_name": "gpt-5.5", "submission_date": "2026-01-15",
 "results": {"retail": {"pass_1": 78.5, "pass_2": 72.1}}}
""",
            alternative="give the files of its trajectories",
        ),
    ),
    _refused_format(
        "lm-eval-results",
        "the file contains averages of benchmarks, without outcomes of tasks",
        "github.com/EleutherAI/lm-evaluation-harness: lm_eval/loggers/evaluation_tracker.py",
        lambda file: (
            file.structure == "object"
            and file.has_keys("results", "versions")
            and (
                file.has_keys("configs", "n-shot")
                or file.has_keys("config.model", "config.num_fewshot")
            )
        ),
        "the results of lm-eval are averages of benchmarks, without outcomes of tasks",
        "evaluate with --log_samples and give the folder, or its samples_*.jsonl",
        Example(
            ("OUTPUT/MODEL/results_TIME.json",),
            """\
{"results": {"gsm8k": {"alias": "gsm8k", "exact_match,strict-match": 0.75}},
 "configs": {"gsm8k": {"task": "gsm8k"}}, "versions": {"gsm8k": 3}, "n-shot": {"gsm8k": 5}}
""",
            alternative="evaluate with --log_samples and give the folder, or its samples_*.jsonl",
        ),
    ),
)
