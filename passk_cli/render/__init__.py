"""Writes a report as text: a table for a terminal, Markdown, LaTeX, CSV, JSON, JUnit and more.

Only this folder rounds numbers (in `style.py`).  It does not depend on how a report was computed.
"""

# Each value is the "module:name" of the function that writes a report in a format.
WRITER_BY_FORMAT = {
    "table": "passk_cli.render.terminal:terminal_text",
    "plain": "passk_cli.render.plain:plain",
    "markdown": "passk_cli.render.markup:markdown",
    "latex": "passk_cli.render.markup:latex",
    "csv": "passk_cli.render.csv_json:csv_text",
    "tsv": "passk_cli.render.csv_json:tsv_text",
    "json": "passk_cli.render.csv_json:json_text",
    "jsonl": "passk_cli.render.csv_json:jsonl_text",
    "junit": "passk_cli.render.verdict_formats:junit",
    "github": "passk_cli.render.verdict_formats:github",
    "gitlab": "passk_cli.render.verdict_formats:gitlab",
}
# Each value is the "module:name" of the function that writes an error instead of a gate's verdict.
ERROR_WRITER_BY_FORMAT = {
    "junit": "passk_cli.render.verdict_formats:junit_error",
    "github": "passk_cli.render.verdict_formats:github_error",
    "gitlab": "passk_cli.render.verdict_formats:gitlab_error",
    "markdown": "passk_cli.render.markup:markdown_error",
}
# This function ("module:name") writes GitHub annotations, whatever the output format is.
GITHUB_ANNOTATION_WRITER = "passk_cli.render.verdict_formats:github_errors_and_warnings"
# Outputs in the formats of VERDICT_FORMATS contain only the verdicts of a gate.
VERDICT_FORMATS = ("junit", "github", "gitlab")
VERDICT_FORMAT_BY_SUFFIX = {".xml": "junit"}
# A JSON file is written as a GitLab code-quality report if its name begins with this text.
CODE_QUALITY_FILE_NAME_START = "gl-code-quality"
FORMAT_BY_SUFFIX = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown",
    ".tex": "latex", ".txt": "plain",
}  # fmt: skip
