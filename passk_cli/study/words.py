"""The words of reports, as commands know them."""

from passk_cli.report.words import first_few, plural, series_name, span

__all__ = ["first_few", "plural", "series_name", "span"]
