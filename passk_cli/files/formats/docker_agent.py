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
    OutcomeAndScoreByScorer,
    contents_with_scorer_outcomes,
    finite_number,
    value_at_key_path,
)

_PASSED_FLAG_KEY = "passed"
_REPEATED_TITLE_PATTERN = re.compile(r"(.*) #(\d+)", re.S)


def _contents(file: File) -> Contents:
    document = file.document("sessions")
    titles = [str(value_at_key_path(session, "title")) for session in file.records("sessions")]
    repeats = [_REPEATED_TITLE_PATTERN.fullmatch(title) for title in titles]

    def sessions() -> JudgedAttempts:
        for place, session in enumerate(file.records("sessions")):
            result, repeat = value_at_key_path(session, "eval_result"), repeats[place]
            checks = value_at_key_path(result, "checks")
            judgements: OutcomeAndScoreByScorer = {
                _PASSED_FLAG_KEY: (value_at_key_path(result, _PASSED_FLAG_KEY), None)
            }
            for name, check in (checks if isinstance(checks, dict) else {}).items():
                judgements[name] = (
                    value_at_key_path(check, _PASSED_FLAG_KEY),
                    finite_number(value_at_key_path(check, "score")),
                )
            about = {
                # The title of a task may end with " #2" although docker agent did not repeat the
                # task.
                "task": repeat[1] if repeat and all(repeats) else titles[place],
                "attempt": repeat[2] if repeat and all(repeats) else None,
                "reason": "error" if value_at_key_path(result, "error") else "",
                "place": f"sessions[{place}]",
                "record": session,
            }
            yield judgements, about

    listed_attempts, attempts = value_at_key_path(document, "summary", "total_evals"), len(titles)
    short = isinstance(listed_attempts, int) and listed_attempts > attempts
    messages = [INCOMPLETE_RUN_WARNING(listed=listed_attempts, held=attempts)] if short else []
    facts = {"run": document.get("name")}
    return contents_with_scorer_outcomes(sessions, _PASSED_FLAG_KEY, facts, messages)


DOCKER_AGENT = Format(
    "docker-agent",
    "a session in which no check fails; an error is not an outcome. --outcome selects one check",
    "github.com/docker/docker-agent: pkg/evaluation/save.go, eval.go",
    lambda file: file.has_keys("sessions[].title", "sessions[].eval_result"),
    _contents,
    read_usage_amounts=lambda session: {
        "cost": value_at_key_path(session, "eval_result", "cost"),
        "tokens_out": value_at_key_path(session, "eval_result", "output_tokens"),
    },
    cost_causes_besides_model="the model that judges relevance",
    example=Example(
        ("evals/results/NAME.json",),
        """\
{"name": "happy-panda-1234", "summary": {"total_evals": 2}, "sessions": [
   {"title": "Sum #1", "eval_result": {"passed": true, "checks": {"size": {"passed": true}}}},
   {"title": "Sum #2", "eval_result": {"passed": false, "checks": {"size": {"passed": false}}}}]}
""",
    ),
)
