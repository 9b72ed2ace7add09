"""Reads TOML files that users write, for example rules or prices, and reports mistakes in them."""

from __future__ import annotations

import re
from typing import Any

from passk_cli.errors import ParameterError, missing_file_error
from passk_cli.limits import MOST_NESTED, MOST_TOML, is_nested_deeper_than

# Python's TOML parser needs minutes for keys with many parts, so passk refuses these keys first.
_LONG_KEY_PATTERN = re.compile(rb"(?<![\w\"'-])(?:[\w\"'-]++\s*+\.\s*+){%d}" % MOST_NESTED)


def read_toml(path: str, name: str, remedy: str) -> tuple[str, dict[str, Any]]:
    """The text and the parsed tables of a TOML file.

    name : the name of the error if the file cannot be read.
    remedy : the advice in the error about a file that cannot be read.
    Errors: DataError for a file that does not exist.  ParameterError for a file that cannot be
        read, is not TOML, is too long or nested too deeply, or contains a whole number of more than
        64 bits.  If possible, the error names the line.
    """
    import tomllib

    def refused(problem: str, line: str = "") -> ParameterError:
        return ParameterError(f"{path}{line}: {problem}; {remedy}", name=name)

    try:
        with open(path, "rb") as file:
            content = file.read(MOST_TOML + 1)
    except FileNotFoundError:
        raise missing_file_error(path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refused(f"the file cannot be read ({reason})") from None
    if len(content) > MOST_TOML:
        raise refused(f"this file is longer than {MOST_TOML:,} bytes")
    deep = "the tables of this file are nested too deeply"
    large = "this file contains a whole number of more than 64 bits"
    if _LONG_KEY_PATTERN.search(content):
        raise refused(deep)
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        tables = tomllib.loads(text)
    except UnicodeDecodeError:
        raise refused("this file is not UTF-8 text") from None
    except RecursionError:
        raise refused(deep) from None
    except tomllib.TOMLDecodeError as error:
        words = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        problem, line = (words[1], words[2]) if words else (str(error), None)
        problem = f"this is not TOML: {problem[:1].lower()}{problem[1:]}"
        raise refused(problem, f":{line}" if line else "") from None
    except ValueError:
        # tomllib raises ValueError for numbers with thousands of digits.
        raise refused(large) from None
    if is_nested_deeper_than(tables, MOST_NESTED):
        raise refused(deep)
    if _has_large_integer(tables):
        raise refused(large)
    return text, tables


def _has_large_integer(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_large_integer, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and value.bit_length() > 63
