"""To be deleted with the last command that is not on the study."""

from passk_cli.report.words import first_few, plural
from passk_cli.study.notes import reading_notes

__all__ = ["first_few", "plural", "reading_notes"]
