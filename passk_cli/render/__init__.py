"""Report → text: one function per format, each with a line in the registry below.

Only this folder rounds numbers (`style.py`) and writes names for people.  It reads reports, and it
does not depend on how they were computed.
"""

# Format → the place of its function (report, style) → text.  Pipes do not need to import rich.
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
# Format → the place of the function that writes an error which kept a gate from its verdict.
FAILURES = {
    "junit": "passk_cli.render.checks:junit_error",
    "github": "passk_cli.render.checks:github_error",
    "gitlab": "passk_cli.render.checks:gitlab_error",
    "markdown": "passk_cli.render.markup:markdown_error",
}
# The place of the function for annotations, which GitHub shows next to a step for every format.
ANNOTATIONS = "passk_cli.render.checks:github_warnings"
# Formats that contain only verdicts, and the suffix of their files.
OF_VERDICTS = ("junit", "github", "gitlab")
SUFFIXES_OF_VERDICTS = {".xml": "junit"}
# The beginning of the names of code-quality reports, as in GitLab's own analysers.
CODE_QUALITY = "gl-code-quality"
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown",
    ".tex": "latex", ".txt": "plain",
}  # fmt: skip
