"""Runs of `docker agent eval`: evals/results/NAME.json.

Source: github.com/docker/docker-agent (Apache-2.0), pkg/evaluation/save.go and eval.go,
pkg/session/session.go, read at 219e8ce: {name, summary: {total_evals}, sessions: [{title,
eval_result: {passed, error, checks: {size, tool_calls, relevance}}}]}.  The field `passed` is the
verdict of all checks, and passk offers each check as an outcome as well.  In docker agent, the
option `--repeat` adds " #2" to the titles of second attempts.  An evaluation that ended with an
error has no outcome. An evaluation without a session appears only in the summary.
"""

from __future__ import annotations

import re

from passk_cli.files.formats.format import (
    INCOMPLETE_RUN_WARNING,
    Contents,
    Example,
    File,
    Format,
    JudgedAttempts,
    JudgementByScorer,
    contents_by_scorer,
    finite_number,
    nested_value,
)

_PASSED_KEY = "passed"
_REPEATED_TITLE_PATTERN = re.compile(r"(.*) #(\d+)", re.S)


def _contents(file: File) -> Contents:
    document = file.document("sessions")
    titles = [str(nested_value(session, "title")) for session in file.records("sessions")]
    repeats = [_REPEATED_TITLE_PATTERN.fullmatch(title) for title in titles]

    def sessions() -> JudgedAttempts:
        for place, session in enumerate(file.records("sessions")):
            result, repeat = nested_value(session, "eval_result"), repeats[place]
            checks = nested_value(result, "checks")
            judgements: JudgementByScorer = {_PASSED_KEY: (nested_value(result, _PASSED_KEY), None)}
            for name, check in (checks if isinstance(checks, dict) else {}).items():
                judgements[name] = (
                    nested_value(check, _PASSED_KEY),
                    finite_number(nested_value(check, "score")),
                )
            about = {
                # The title of a task may end with " #2" although docker agent did not repeat the
                # task.
                "task": repeat[1] if repeat and all(repeats) else titles[place],
                "attempt": repeat[2] if repeat and all(repeats) else None,
                "reason": "error" if nested_value(result, "error") else "",
                "place": f"sessions[{place}]",
                "record": session,
            }
            yield judgements, about

    listed_attempts, attempts = nested_value(document, "summary", "total_evals"), len(titles)
    short = isinstance(listed_attempts, int) and listed_attempts > attempts
    messages = [INCOMPLETE_RUN_WARNING(listed=listed_attempts, held=attempts)] if short else []
    facts = {"run": document.get("name")}
    return contents_by_scorer(sessions, _PASSED_KEY, facts, messages)


DOCKER_AGENT = Format(
    "docker-agent",
    "a session in which no check fails; an error is not an outcome. --outcome selects one check",
    "github.com/docker/docker-agent: pkg/evaluation/save.go, eval.go",
    lambda file: file.has_keys("sessions[].title", "sessions[].eval_result"),
    _contents,
    read_usage_amounts=lambda session: {
        "cost": nested_value(session, "eval_result", "cost"),
        "tokens_out": nested_value(session, "eval_result", "output_tokens"),
    },
    extra_cost_sources="the model that judges relevance",
    example=Example(
        ("evals/results/NAME.json",),
        """\
{"name": "happy-panda-1234", "summary": {"total_evals": 2}, "sessions": [
   {"title": "Sum #1", "eval_result": {"passed": true, "checks": {"size": {"passed": true}}}},
   {"title": "Sum #2", "eval_result": {"passed": false, "checks": {"size": {"passed": false}}}}]}
""",
    ),
)
