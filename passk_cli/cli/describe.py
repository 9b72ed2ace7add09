"""passk describe: what was understood of the files."""

from __future__ import annotations

from passk_cli.cli.options import Reading
from passk_cli.cli.output import Output


def describe(reading: Reading, output: Output) -> None:
    """What was understood of the files, before computing.

    Example: passk describe results.jsonl
    """
    from passk_cli.report.describe import describe_report

    output.check(reading.files)
    output.write(describe_report(reading.counts(tolerant=True)))
