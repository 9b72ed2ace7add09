"""Small tables that mislead their reader, and similar tables that do not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, product
from typing import Any

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A table that misleads.

    name : the name of the finding.  rows : the table.  options : the options of the call.
    certain : whether the finding stops the reading with a question.
    """

    name: str
    rows: Rows
    options: Mapping[str, Any] = field(default_factory=dict)
    certain: bool = True


def attempts(
    tasks: int = 12,
    per_task: int = 6,
    draws: int = 1,
    rate: float = 0.5,
    **more: Callable[..., Any],
) -> Rows:
    """Attempts at tasks of different difficulty; `more` are columns by (task, attempt, passed)."""
    draw = random.Random(draws)
    difficulty = [draw.betavariate(2 * rate, 2 - 2 * rate) for _ in range(tasks)]
    rows = []
    for task, attempt in product(range(tasks), range(per_task)):
        passed = draw.random() < difficulty[task]
        extra_values = {name: of(task, attempt, passed) for name, of in more.items()}
        rows.append({"task": f"t{task}", **extra_values, "passed": passed})
    return rows


def after_loss(rows: Rows, share: float, seed: int = 3) -> Rows:
    """The rows that remain if a share is lost."""
    draw = random.Random(seed)
    return [row for row in rows if draw.random() >= share]


def renamed(rows: Rows, **names: str) -> Rows:
    """The rows with columns of other names."""
    return [{names.get(column, column): value for column, value in row.items()} for row in rows]


def with_broken_failures(rows: Rows, **ended: Any) -> Rows:
    """The rows with every seventh failing, and other values of columns there."""
    return [row | ({"passed": False, **ended} if i % 7 == 6 else {}) for i, row in enumerate(rows)]


def arms(values: tuple[str, ...], times: tuple[int, ...]) -> Callable[[int, int, bool], str]:
    """A column of arms: the attempts of a task have each value that many times."""
    order = [value for value, often in zip(values, times, strict=True) for _ in range(often)]
    return lambda task, attempt, passed: order[attempt % len(order)]


AB = arms(("control", "treatment"), (3, 3))
_draw = random.Random(5)
_serial = count()


def _numbered_in_each_subject(sizes: tuple[int, ...] = (13, 30, 20)) -> Rows:
    draw = random.Random(2)
    return [
        {"subject": ("law", "biology", "music")[s], "number": i, "passed": draw.random() < 0.6}
        for s, size in enumerate(sizes)
        for i in range(size)
    ]


def _steps(part: str, step: str, per_step: int, *, all_steps: bool = False) -> Rows:
    """Rows of steps. The last step passes at random, or every step does."""
    draw = random.Random(3)
    return [
        {
            "task": f"t{t}",
            part: a,
            step: s,
            "passed": draw.random() < 0.5 and (all_steps or s == last),
        }
        for t, a in product(range(15), range(per_step))
        for last in [draw.randrange(1, 5)]
        for s in range(last + 1)
    ]


MISLEADING: dict[str, Case] = {
    # Settings that were pooled.
    "two arms": Case("pooled-settings", attempts(arm=AB)),
    "two arms, unlisted": Case("pooled-settings", attempts(flavour=AB)),
    "an arm with a comma in its name": Case("pooled-settings", attempts(**{"temp, C": AB})),
    "three arms": Case(
        "pooled-settings", attempts(zork=arms(("a", "b", "c"), (2, 2, 2)))
    ),
    "arms 1 : 4": Case("pooled-settings", attempts(per_task=5, zork=arms(("a", "b"), (1, 4)))),
    "arms with attempts lost": Case(
        "pooled-settings", after_loss(attempts(40, 8, zork=arms(("a", "b"), (4, 4))), 0.05)
    ),
    "arm on half of the tasks": Case(
        "pooled-settings",
        [
            row
            for row in attempts(40, 4, zork=lambda t, a, p: "ab"[a // 2])
            if row["zork"] == "a" or int(row["task"][1:]) % 2
        ],
    ),
    "temperature": Case(
        "pooled-settings", attempts(temperature=lambda t, a, p: (0.2, 0.8)[a % 2])
    ),
    "numbers of an arm": Case(
        "pooled-settings", attempts(budget=lambda t, a, p: (1000, 4000)[a // 3])
    ),
    "versions with a point": Case(
        "pooled-settings", attempts(per_task=5, zork=lambda t, a, p: 1.0 if a < 3 else 1.1)
    ),
    "versions with a point, of numbered attempts": Case(
        "pooled-settings",
        attempts(
            per_task=2, attempt=lambda t, a, p: a, model_version=lambda t, a, p: ("3.5", "3.7")[a]
        ),
    ),
    "numbered attempts of two arms": Case(
        "pooled-settings", attempts(attempt=lambda t, a, p: a, zork=AB)
    ),
    "numbers start again under each arm": Case(
        "pooled-settings", attempts(attempt=lambda t, a, p: a % 3, zork=AB)
    ),
    "models under an unlisted name": Case(
        "pooled-settings", attempts(vendor_brain=arms(("gpt-x", "llama-y"), (3, 3)))
    ),
    "nested setting": Case(
        "pooled-settings", attempts(config=lambda t, a, p: {"style": "ab"[a % 2], "x": 1})
    ),
    "arms in blocks of the file": Case(
        "pooled-settings", sorted(attempts(zork=AB), key=lambda row: str(row["zork"]))
    ),
    "a setting by its name": Case(
        "pooled-settings",
        attempts(20, 4, provider=lambda t, a, p: _draw.choice("abc")),
        certain=False,
    ),
    "a setting on some rows": Case(
        "pooled-settings",
        [
            {k: v for k, v in row.items() if k != "zork" or v == "treatment"}
            for row in attempts(zork=AB)
        ],
    ),
    "an arm of a model": Case(
        "pooled-settings",
        [
            {"model": model, **row}
            for model in ("m1", "m2")
            for row in attempts(draws=ord(model[1]), zork=AB)
        ],
    ),
    "versions of what is called": Case(
        "pooled-settings", attempts(per_task=2, api_version=lambda t, a, p: ("v1", "v2")[a])
    ),
    "examinees called evaluators": Case(
        "pooled-settings",
        attempts(per_task=2, evaluator=lambda t, a, p: ("gpt", "claude")[a],
                 predicted=lambda t, a, p: "A" if p else "BCD"[a]),
    ),
    "runs of days": Case(
        "unread-column", attempts(30, 6, date=lambda t, a, p: f"2026-01-0{a + 1}")
    ),
    "days of several attempts": Case(
        "pooled-settings", attempts(30, 6, zork=lambda t, a, p: f"2026-07-0{1 + a // 2}T9Z")
    ),
    "more arms than the root of the rows": Case(
        "pooled-settings", attempts(20, 30, zork=lambda t, a, p: f"arm {chr(a + 65)}")
    ),
    "questions of two benchmarks": Case(
        "unread-column", attempts(2, 30, instance=lambda t, a, p: a)
    ),
    "questions of a benchmark": Case("unread-column", attempts(1, 30, zork=lambda t, a, p: a + 1)),
    "questions of unequal benchmarks": Case(
        "unread-column", renamed(_numbered_in_each_subject(), subject="task", number="zork")
    ),
    "questions by an index": Case(
        "unread-column", attempts(20, 10, idx_q=lambda t, a, p: a)
    ),
    # Verdicts and flags.
    "scorers": Case("pooled-settings", attempts(scorer=arms(("exact", "model"), (3, 3)))),
    "judges of answers": Case(
        "pooled-settings",
        attempts(per_task=2, grader=lambda t, a, p: ("gpt", "claude")[a],
                 predicted=lambda t, a, p: "ABCD"[t % 4]),
    ),
    "judges": Case(
        "pooled-settings",
        attempts(per_task=4, judge_model=lambda t, a, p: ("gpt", "claude")[a % 2]),
    ),
    "superseded attempts": Case(
        "pooled-settings", attempts(per_task=4, superseded=lambda t, a, p: a == 0)
    ),
    "selected candidates": Case(
        "unread-column",
        attempts(per_task=4, candidate=lambda t, a, p: a, selected=lambda t, a, p: a == t % 4),
    ),
    # Steps of attempts.
    "steps of episodes": Case("pooled-settings", _steps("episode", "step", 3)),
    "steps of tasks": Case("unread-column", _steps("none", "step_id", 1)),
    "turns of attempts": Case("restarting-tasks", _steps("attempt", "turn", 2, all_steps=True)),
    "retries of samples": Case("restarting-tasks", _steps("sample", "retry", 2)),
    "checkpoints": Case(
        "pooled-settings", attempts(20, 3, step=lambda t, a, p: 1000 * (a + 1))
    ),
    # These columns are not grades.
    "a success beside an attack": Case(
        "ambiguous-success",
        renamed(attempts(30, 1, attack_type=lambda t, a, p: "ab"[t % 2]), passed="success"),
    ),
    "a success of 1 beside an attack": Case(
        "ambiguous-success",
        [{"task": f"t{i}", "attack_type": "x", "success": int(i % 3 == 0)} for i in range(12)],
    ),
    # Errors of the harness.
    "rate limits that fail": Case(
        "errors-as-failures",
        with_broken_failures(attempts(30, 3, attempt=lambda t, a, p: a),
        error="RateLimitError: 429"),
        certain=False,
    ),
    "rate limits among failures of tests": Case(
        "errors-as-failures",
        with_broken_failures(
            attempts(30, 3, error=lambda t, a, p: None if p else "AssertionError: 1 != 2"),
            error="openai.APIConnectionError",
        ),
        certain=False,
    ),
    "a bill that nobody paid, of all attempts": Case(
        "errors-as-failures",
        [row | {"passed": False, "error": "Error code: 400 - credit balance is too low"}
         for row in attempts(30, 1)],
        certain=False,
    ),
    "timeouts by a word": Case(
        "errors-as-failures",
        with_broken_failures(attempts(30, 3, exit_status=lambda t, a, p: "completed"),
        exit_status="timeout"),
        certain=False,
    ),
    "errors in place of answers": Case(
        "errors-as-failures",
        with_broken_failures(
            attempts(30, 3, response=lambda t, a, p: f"{t}.{a}: no error"),
            response="[ERROR: call failed after 3 attempts]",
        ),
        certain=False,
    ),
    "timeouts in a record of each attempt": Case(
        "errors-as-failures",
        with_broken_failures(
            attempts(30, 3, end=lambda t, a, p: {"exit status": "it's done"}),
            end={"exit status": "timeout"},
        ),
        certain=False,
    ),
    "rate limits two records down": Case(
        "errors-as-failures",
        with_broken_failures(
            attempts(30, 3, run=lambda t, a, p: {"result": {"error": None, "text": f"{t}{a}"}}),
            run={"result": {"error": "RateLimitError: 429", "text": ""}},
        ),
        certain=False,
    ),
    "rate limits in the record of an error": Case(
        "errors-as-failures",
        with_broken_failures(
            attempts(30, 3, run=lambda t, a, p: {"result": {"error": None, "text": f"{t}{a}"}}),
            run={"result": {"error": {"type": "RateLimitError"}, "text": ""}},
        ),
        certain=False,
    ),
    "timeouts under an unlisted name": Case(
        "errors-as-failures",
        with_broken_failures(attempts(30, 3, zork=lambda t, a, p: "done"),
        zork="Timeout after 600 s"),
        certain=False,
    ),
    "verdicts joined twice": Case(
        "two-verdicts", attempts(**{"passed.1": lambda t, a, p: p if a else not p})
    ),
    "the first try beside the last": Case(
        "two-verdicts",
        renamed(
            attempts(per_task=1, first_try_correct=lambda t, a, p: p and t % 2 == 0),
            passed="solved"
        ),
    ),
    "an expected verdict": Case(
        "expected-verdicts",
        [
            {"task": f"t{t}", "expected": word, "result": ("pass", "fail")[t % 3 % 2]}
            for t, word in enumerate(("pass", "fail") * 10)
        ],
    ),
    # The task is not the task.
    "questions of a category": Case(
        "coarse-tasks",
        [
            {"task": part, "question": f"What is {i} + {i}?", "passed": i % 3 > 0}
            for i, part in enumerate(("algebra", "geometry") * 15)
        ],
    ),
    "gold answers differ": Case(
        "coarse-tasks",
        [
            {"task": f"t{i % 6}", "gold": "ABCD"[i % 4], "idx": i // 6, "passed": i % 3 > 0}
            for i in range(30)
        ],
    ),
    "ids of a subject": Case(
        "coarse-tasks",
        [
            {"task": row["subject"], "idx": i, "passed": row["passed"]}
            for i, row in enumerate(_numbered_in_each_subject())
        ],
    ),
    "ids start again": Case("restarting-tasks", renamed(_numbered_in_each_subject(),
    number="task")),
    "ids start again, unlisted": Case(
        "restarting-tasks", renamed(_numbered_in_each_subject(), number="task", subject="zork")
    ),
    "answers beside a success of the call": Case(
        "always-success",
        [
            {"task": row["task"], "success": True, "answer": "yn"[row["passed"]], "expected": "n"}
            for row in attempts(30, 1)
        ],
    ),
    # A row is not one attempt.
    "rows with a weight": Case(
        "weighted-rows",
        [
            {"task": f"t{t}", "passed": passed, "count": 1 + (t * 3 + passed) % 7}
            for t in range(12)
            for passed in (True, False)
        ],
    ),
    "tasks with a weight": Case(
        "weighted-rows",
        [{"task": f"t{t}", "weight": 1 + t % 3, "passed": t % 4 > 0} for t in range(12)],
    ),
    "rates beside n": Case(
        "rates-of-several",
        [{"task": f"t{t}", "accuracy": t % 2, "num_samples": 5} for t in range(12)],
    ),
    "scores out of": Case(
        "partial-scores",
        [{"task": f"t{t}", "score": t % 2, "max_score": 3} for t in range(12)],
    ),
    "totals of models": Case(
        "unlikely-tasks",
        [{"name": name, "correct": 40 + i, "total": 60}
         for i, name in enumerate(("gpt-4o", "claude-3-opus", "llama-3-70b", "openai/o3-mini"))],
    ),
    "models as names": Case(
        "unlikely-tasks",
        [{"name": name, "item": i, "passed": i % 3 > 0}
         for name in ("gpt-4o", "Claude 3", "qwen2.5-coder") for i in range(8)],
    ),
    "a row of sums": Case(
        "summary-rows",
        [*attempts(per_task=1), {"task": "Overall", "passed": True}],
    ),
    "a macro average": Case(
        "summary-rows", [*attempts(per_task=1), {"task": "macro avg", "passed": True}]
    ),
    # The same attempt twice.
    "records that come again": Case(
        "repeated-records",
        [
            *(rows := attempts(response=lambda t, a, p: f"answer {t} {a}")),
            *rows[:20],
        ],
    ),
    "a run pasted twice": Case(
        "repeated-records", 2 * attempts(24, 1, run_id=lambda t, a, p: "r1"), certain=False
    ),
    "attempts pasted twice": Case("repeated-records", 2 * attempts(24, 5), certain=False),
    "attempts of two models pasted twice": Case(
        "repeated-records",
        2 * [{"model": m, **row} for i, m in enumerate("ab") for row in attempts(24, 2, draws=i)],
        certain=False,
    ),
    "uploaded twice, with times": Case(
        "repeated-records",
        2 * attempts(finished_at=lambda t, a, p: f"2026-01-{t + 1:02d}T10:{a:02d}:00"),
    ),
    "ids of runs as tasks": Case(
        "rows-as-tasks",
        [{"run_id": f"r{i}", "problem": f"p{i % 6}", "passed": i % 4 > 0} for i in range(30)],
        {"fields": {"task": "run_id"}},
        certain=False,
    ),
    "ids of rows beside a question": Case(
        "rows-as-tasks",
        [
            {"id": i, "question": row["task"], "attempt": i % 5, "passed": row["passed"]}
            for i, row in enumerate(attempts(40, 5))
        ],
        certain=False,
    ),
    "ids of rows beside a long prompt": Case(
        "rows-as-tasks",
        [
            {"id": i, "prompt": f"{row['task']}: " + 30 * "why? ", "passed": row["passed"]}
            for i, row in enumerate(attempts(10, 4))
        ],
        certain=False,
    ),
    "answers from a cache": Case(
        "cached-attempts", attempts(per_task=3, cached=lambda t, a, p: a > 0), certain=False
    ),
    # These columns are a second verdict and a count.
    "a status beside a verdict": Case(
        "two-verdicts",
        [{"task": row["task"], "status": "success", "correctness": int(row["passed"])}
         for row in attempts()],
    ),
    "a success beside labels": Case(
        "two-verdicts",
        [{"task": row["task"], "success": True, "label": ("fail", "pass")[row["passed"]]}
         for row in attempts()],
    ),
    "a reward beside a verdict": Case(
        "two-verdicts",
        [{"task": row["task"], "reward": 1.0, "verified": row["passed"]} for row in attempts()],
    ),
    "a grade that no threshold explains": Case(
        "two-verdicts", attempts(final_score=lambda t, a, p: (t + a) % 5)
    ),
    "a status that never fails": Case(
        "always-success",
        [{"task": row["task"], "status": "ok"} for row in attempts()],
    ),
    "tests that are counted": Case(
        "counted-tests",
        [{"task": f"t{t}", "passed": t % 2, "failed": t % 3 % 2, "total": t % 2 + t % 3 % 2}
         for t in range(12)],
    ),
    "tests that passed of a total": Case(
        "counted-tests",
        [{"task": f"t{t}", "tests_passed": t % 4 + 1, "tests_total": 4} for t in range(12)],
    ),
    "arms that share the tasks out": Case(
        "pooled-arms",
        [{"task": f"t{t}", "scaffold": "abc"[t % 3], "passed": t % 4 == 0} for t in range(60)],
        certain=False,
    ),
    "prompts by their hash": Case(
        "pooled-settings", attempts(8, 3, prompt_hash=lambda t, a, p: ("a1", "b7")[a == 2])
    ),
    "errors as predictions": Case(
        "errors-as-failures",
        with_broken_failures(attempts(30, 3, predicted=lambda t, a, p: f"{t}.{a}"),
        predicted="[ERROR]"),
        certain=False,
    ),
    "answers that the judge could not parse": Case(
        "errors-as-failures",
        with_broken_failures(attempts(30, 3, parse_error=lambda t, a, p: False), parse_error=True),
        certain=False,
    ),
    # Names that mean one thing.
    "tasks with an invisible character": Case(
        "similar-tasks",
        [{**row, "task": row["task"] + "\u200b" * (i % 2)} for i, row in enumerate(attempts())],
        certain=False,
    ),
    "tasks in two spellings": Case(
        "similar-tasks",
        [
            *attempts(per_task=2),
            *({**row, "task": row["task"].upper()} for row in attempts(per_task=2)[:6]),
        ],
        certain=False,
    ),
    "tasks with ./": Case(
        "similar-tasks",
        [
            *attempts(per_task=2),
            *({**row, "task": f"./{row['task']}"} for row in attempts(per_task=2)[:6]),
        ],
        certain=False,
    ),
}  # fmt: skip


def honest(seed: int = 1) -> Iterator[tuple[str, Rows]]:
    """Tables that are what they look like, with columns that may look like something else."""
    draw = random.Random(seed)

    def any_of(*values: Any) -> Callable[..., Any]:
        return lambda t, a, p: draw.choice(values)

    yield "plain", attempts()
    yield "numbered", attempts(attempt=lambda t, a, p: a)
    yield "unequal n", after_loss(attempts(30, 8), 0.3, seed)
    yield (
        "lost attempts of numbers",
        after_loss(attempts(30, 8, attempt=lambda t, a, p: a), 0.2, seed),
    )
    yield "stop reason", attempts(30, 6, stop_reason=any_of("stop", "length", "tool"))
    yield (
        "how it ended",
        attempts(30, 6, ended_as=lambda t, a, p: "ok" if p else draw.choice(["x", "y"])),
    )
    yield (
        "exit code",
        attempts(30, 6, exit_code=lambda t, a, p: 0 if p else draw.choice([1, 2, 137])),
    )
    yield "turns", attempts(30, 6, steps=lambda t, a, p: draw.randint(2, 20))
    yield "many turns of hard tasks", attempts(30, 6, steps=lambda t, a, p: t + draw.randint(0, 3))
    yield "category", attempts(30, 6, category=lambda t, a, p: "xyz"[t % 3])
    yield "difficulty", attempts(30, 6, difficulty=lambda t, a, p: ("easy", "hard")[t % 2])
    yield "question", attempts(30, 6, question=lambda t, a, p: f"What is {t}?")
    yield "gold", attempts(30, 6, gold=lambda t, a, p: "ABCD"[t % 4])
    yield "predicted", attempts(30, 6, predicted=lambda t, a, p: "A" if p else draw.choice("BCD"))
    yield "drafts", attempts(30, 1, rejected_first_draft=any_of(True, False))
    yield (
        "a success of all",
        [{"task": f"t{t}", "success": True, "error": draw.choice(["", None])} for t in range(30)],
    )
    yield "seeds", attempts(30, 6, seed=lambda t, a, p: 40 + a)
    yield "run1", attempts(30, 6, run=lambda t, a, p: f"run{a + 1}")
    yield "dates", attempts(30, 6, date=lambda t, a, p: f"2026-01-0{draw.randint(1, 6)}")
    yield "a date of each task", attempts(30, 6, date=lambda t, a, p: f"2026-01-{t + 1:02d}")
    yield "days of runs", attempts(30, 6, day=lambda t, a, p: ("mon", "tue")[a // 3])
    yield "hosts", attempts(30, 6, host=lambda t, a, p: f"node{(t + a) % 3}")
    yield "hosts in turn", attempts(30, 6, hostname=lambda t, a, p: "ab"[a % 2])
    yield "workers", attempts(30, 6, worker=any_of(0, 1, 2, 3))
    yield "shards", attempts(30, 6, shard=lambda t, a, p: t % 4)
    yield "shards of attempts", attempts(30, 6, shard=lambda t, a, p: a % 2)
    yield "sessions", attempts(30, 6, session=lambda t, a, p: (t * 6 + a) // 50)
    yield "batches", attempts(30, 6, batch=lambda t, a, p: a // 2)
    yield "latency", attempts(30, 6, latency_ms=lambda t, a, p: draw.randint(100, 900))
    yield "cost", attempts(30, 6, cost=lambda t, a, p: round(draw.random(), 4))
    yield "temperature of all", attempts(30, 6, temperature=lambda t, a, p: 0.7)
    yield "model of all", attempts(30, 6, model=lambda t, a, p: "m")
    yield (
        "two models",
        [{"model": m, **row} for i, m in enumerate("ab") for row in attempts(30, 6, draws=i)],
    )
    yield (
        "judged",
        attempts(30, 6, judge_by_harness_pass_rule=lambda t, a, p: draw.choice([1, 2, 3, 4, 5])),
    )
    yield "confidence", attempts(30, 6, confidence=any_of("low", "mid", "high"))
    yield "answer", attempts(30, 6, answer=lambda t, a, p: "right" if p else draw.choice("abc"))
    yield "error", attempts(30, 6, error=lambda t, a, p: None if p else draw.choice(["E1", "E2"]))
    yield (
        "failed tests",
        attempts(
            30,
            6,
            error=lambda t, a, p: (
                None
                if p
                else draw.choice(
                    [
                        "AssertionError: expected 429, got 200",
                        "AssertionError: Connection refused",
                        "TimeoutError",
                        "ConnectionError",
                        "test_timeout failed",
                    ]
                )
            ),
        ),
    )
    yield (
        "a result with its reason",
        attempts(
            30,
            6,
            end_reason=lambda t, a, p: (
                "passed" if p else draw.choice(["failed", "timed out", "wrong"])
            ),
        ),
    )
    yield "errors that were overcome", attempts(30, 6, error=any_of(None, "RateLimitError: 429"))
    yield "timeouts of all kinds", attempts(30, 6, end_status=any_of("ok", "timeout"))
    yield (
        "answers that are not valid",
        attempts(30, 6, valid=lambda t, a, p: p or draw.random() < 0.5),
    )
    yield (
        "limits of the model",
        attempts(
            30, 6, stop_reason=lambda t, a, p: "stop" if p else draw.choice(["stop", "max_turns"])
        ),
    )
    yield "turns taken", attempts(30, 6, turn=lambda t, a, p: draw.randint(1, 4))
    yield "a hop of each task", attempts(40, 4, hop=lambda t, a, p: t % 3 + 1)
    yield "retries", attempts(30, 6, retries=lambda t, a, p: draw.choice([0, 0, 0, 1, 2]))
    yield "truncated", attempts(30, 6, truncated=any_of(True, False, False, False))
    yield "cached, none", attempts(30, 6, cached=lambda t, a, p: False)
    yield "uuid", attempts(30, 6, uuid=lambda t, a, p: f"{t:03d}{a:03d}{draw.random()}")
    yield "times", attempts(30, 6, created_at=lambda t, a, p: 1_700_000_000 + 97 * t + 13 * a)
    yield "response", attempts(30, 6, response=lambda t, a, p: f"text {draw.random()}")
    yield "tokens", attempts(30, 6, completion_tokens=lambda t, a, p: draw.randint(10, 400))
    yield "language of a task", attempts(30, 6, language=lambda t, a, p: ("py", "js")[t % 2])
    yield "prompt of a task", attempts(30, 6, prompt=lambda t, a, p: f"Solve {t}")
    yield "few tasks", attempts(4, 5, note=any_of("x", "y"))
    yield "three tasks", attempts(3, 3, flag=any_of(True, False))
    yield "one attempt each", attempts(40, 1, kind=any_of("a", "b"))
    yield "all pass", [{**row, "passed": True} for row in attempts(20, 4, kind=any_of("a", "b"))]
    yield "all fail", [{**row, "passed": False} for row in attempts(20, 4, kind=any_of("a", "b"))]
    yield "sorted by outcome", sorted(attempts(20, 4), key=lambda row: row["passed"])
    yield "resumed", attempts(30, 6, part=lambda t, a, p: 0 if 6 * t + a < 100 else 1)
    yield "resumed by attempts", attempts(30, 6, session_id=lambda t, a, p: a // 4)
    yield "repeats by chance", attempts(10, 20)
    yield (
        "a title of each task, all pass",
        [{**row, "passed": True} for row in attempts(10, 3, title=lambda t, a, p: f"Title {t}")],
    )
    yield "batches named by a time", attempts(30, 6, started=lambda t, a, p: f"2026-07-05T1{a}Z")
    yield "batches of a time", attempts(30, 6, ts=lambda t, a, p: 1_700_000_000 + a // 2)
    yield (
        "a stamp under any name",
        attempts(30, 6, zork=lambda t, a, p: f"2026-07-05T1{a // 2}Z"),
    )
    yield "numbers up to those of attempts", attempts(2, 30, zork=any_of(*range(30)))
    yield "counts", [{"task": f"t{t}", "n": 10, "c": t % 11} for t in range(20)]
    yield "counts, unequal", [{"task": f"t{t}", "n": 5 + t % 3, "c": t % 5} for t in range(20)]
    yield "lists", [{"task": f"t{t}", "results": [t % 2 == 0, True]} for t in range(20)]
    yield "score 0 and 1", renamed(attempts(20, 4), passed="score")
    yield (
        "reward",
        renamed(
            [{**row, "passed": float(row["passed"])} for row in attempts(20, 4)], passed="reward"
        ),
    )
    yield "max score of 1", renamed(attempts(20, 4, max_score=lambda t, a, p: 1), passed="score")
    yield "tasks that are numbers", [{**row, "task": int(row["task"][1:])} for row in attempts()]
    yield "tasks of two cases", [{**row, "task": f"T{row['task'][1:]}"} for row in attempts()]
    yield "a task called test", [*attempts(), {"task": "test", "passed": True}]
    yield (
        "all of many models",
        [{"model": f"m{i}", **row} for i in range(12) for row in attempts(15, 3, draws=i)],
    )
    yield "random labels of ten", attempts(30, 10, label_x=lambda t, a, p: draw.randint(0, 9))
    yield "rare label", attempts(60, 6, kind=lambda t, a, p: "b" if draw.random() < 0.03 else "a")
    yield (
        "label by task's difficulty",
        attempts(30, 8, path=lambda t, a, p: "x" if draw.random() < t / 30 else "y"),
    )
    yield "position", attempts(30, 6, position=lambda t, a, p: 6 * t + a)
    yield (
        "label of one model among others",
        [{"model": f"m{i}", **row} for i in range(2) for row in attempts(5, 10, draws=i)]
        + [{"model": "m", **row} for row in attempts(4, 6, kind=any_of("a", "b", "c"))],
    )
    yield "seconds in halves", attempts(30, 6, waited=any_of(0.5, 1.0, 1.5, 2.0, 2.5))
    yield "tenths", attempts(30, 6, certainty=lambda t, a, p: round(draw.random(), 1))
    yield (
        "a second score in quarters",
        attempts(30, 6, style=lambda t, a, p: draw.choice([0.5, 0.75, 1.0] if p else [0.0, 0.25])),
    )
    yield "half a point for a try", attempts(30, 4, credit=lambda t, a, p: 1.0 if p else 0.5)
    yield "a number of few attempts", attempts(5, 4, loss=lambda t, a, p: round(draw.random(), 1))
    yield "a number of each task", attempts(30, 6, weight_x=lambda t, a, p: t % 4 + 0.5)
    yield (
        "the same at each attempt",
        [row for _ in range(4) for row in attempts(20, 1, kind=lambda t, a, p: "a")],
    )
    yield (
        "questions of few prompts",
        [{"id": i, "prompt": f"Solve {i % 3}.", "passed": i % 7 > 2} for i in range(60)],
    )
    yield (
        "questions about texts",
        [
            {"id": i, "input": f"Text {i // 5}", "question": f"Why {i}?", "passed": i % 7 > 2}
            for i in range(60)
        ],
    )
