"""To be deleted with the last command that is not on the study."""

from passk_cli.report.words import span
from passk_cli.study.signature import short_names, signature

__all__ = ["short_names", "signature", "span"]
