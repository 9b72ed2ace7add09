"""Report → text: one function per format, and one line each in the registry below.

The only place that rounds (`style.py`) and that writes names for people.  It sees reports, and
nothing of how they were computed.
"""

# Format → the place of its function (report, style) → text: rich is not paid for by a pipe.
FORMATS = {
    "table": "passk_cli.render.terminal:table",
    "plain": "passk_cli.render.plain:plain",
    "markdown": "passk_cli.render.markup:markdown",
    "latex": "passk_cli.render.markup:latex",
    "csv": "passk_cli.render.data:csv_text",
    "tsv": "passk_cli.render.data:tsv_text",
    "json": "passk_cli.render.data:json_text",
    "jsonl": "passk_cli.render.data:jsonl_text",
    "junit": "passk_cli.render.checks:junit",
    "github": "passk_cli.render.checks:github",
    "gitlab": "passk_cli.render.checks:gitlab",
}
# Format → the place of how it says an error that kept a gate from its verdict.
FAILURES = {
    "junit": "passk_cli.render.checks:junit_failure",
    "github": "passk_cli.render.checks:github_failure",
    "gitlab": "passk_cli.render.checks:gitlab_failure",
    "markdown": "passk_cli.render.markup:markdown_failure",
}
# The place of what a runner of GitHub shows beside a step, whatever the formats are.
ANNOTATIONS = "passk_cli.render.checks:github_alarms"
# Those that only say which rules hold, and the suffix of their files.
OF_VERDICTS = ("junit", "github", "gitlab")
SUFFIXES_OF_VERDICTS = {".xml": "junit"}
# What the name of a code-quality report begins with, as GitLab's own analysers call theirs.
CODE_QUALITY = "gl-code-quality"
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown",
    ".tex": "latex", ".txt": "plain",
}  # fmt: skip
