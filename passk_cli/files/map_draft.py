"""Draft a map, a TOML file that defines the roles of columns.

If the column for a role is certain, the draft names this column. Otherwise, the draft contains an
empty entry, for example `outcome = ""`, and one comment per candidate column. The user chooses one
of the candidates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passk_cli.cleanup import file_moved_at_end, temporary_folder
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.database import shared_connection
from passk_cli.files.export import require_folder_of_output_file
from passk_cli.files.reading.candidates import Candidate, Candidates, find_candidates
from passk_cli.files.reading.column_choice_errors import likely_record_lists
from passk_cli.files.request import Request
from passk_cli.files.roles import column_name_words
from passk_cli.files.sources.memory import sources_of
from passk_cli.files.sources.source import Source
from passk_cli.files.toml_map import TABLE, map_folders
from passk_cli.files.vocabulary import BAD_EVENT_WORDS
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.text import plural

# Columns with the roles in _VERDICT_ROLES show whether attempts passed.
_VERDICT_ROLES = ("outcome", "counts")


@dataclass
class MapDraft:
    """A draft of a map. The user answers the open questions before passk writes the map.

    data_name : the name of the data, which the first line of the map shows.
    file_patterns : patterns for the names of the files to which the map applies.
    candidates_per_record_list : the candidate columns in each list of records. The likeliest list
        comes first.
    choices : maps a role, or "passes", to the option that the user chose. A choice takes precedence
        over a candidate that is certain.
    """

    data_name: str
    file_patterns: Sequence[str]
    candidates_per_record_list: Sequence[Candidates]
    choices: dict[str, SuggestedFix] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Any, request: Request) -> MapDraft:
        """Draft a map for files, rows or a data frame.

        Errors: DataError if the files need no map, for example because a harness wrote the files,
        or if no column contains outcomes.
        """
        with temporary_folder("passk-") as folder:
            sources = sources_of(data, folder)
            places = find_candidates(shared_connection(), sources, request)
        name = sources[0].name
        if not places:
            problem = "passk knows this format, or the file contains no records"
            raise DataError(name, problem, "this file does not need a map", name="no-results")
        if not any(places[0].get(role) for role in _VERDICT_ROLES):
            problem = "no column shows whether an attempt passed"
            raise DataError(
                name, problem, "a map needs a column with outcomes", name="no-outcome-column"
            )
        ends = {"".join(_file_suffixes(source)) for source in sources}
        several = [f"*{end}" for end in sorted(ends)] if len(sources) > 1 else []
        file_name = [Path(name).name] if sources[0].original_local_path else []
        place = next(map_folders(data), name) if several else name
        return cls(place or name, several or file_name, places)

    @property
    def candidates_of_likeliest_list(self) -> Candidates:
        """The candidate columns in the list that most likely contains the attempts."""
        return self.candidates_per_record_list[0]

    def chosen_options(self, role: str) -> SuggestedFix | None:
        """The options that define a role, or None if the role is neither certain nor chosen by the
        user."""
        if role in self.choices:
            return self.choices[role]
        if len(likely_record_lists(self.candidates_per_record_list)) > 1:
            return None
        models = self.candidates_of_likeliest_list.get("model", ())
        settings = [
            setting.column for setting in self.candidates_of_likeliest_list.get("setting", ())
        ]
        if role == "model":
            # A column with "model" in its name may contain the model even if it looks like a
            # setting.
            is_single_model = len(models) == 1 and not any(
                "model" in column_name_words(column) for column in settings
            )
            return models[0].option if is_single_model and self.chosen_options("task") else None
        certain = self.candidates_of_likeliest_list.certain_candidate(role)
        not_tasks = {model.column for model in models} | {*settings} if role == "task" else ()
        return None if certain is None or certain.column in not_tasks else certain.option

    @property
    def outcome_candidate(self) -> Candidate | None:
        """The column of outcomes or counts, or None if no column is certain or was chosen."""
        for role in _VERDICT_ROLES:
            if option := self.chosen_options(role):
                candidates = (
                    c for r in _VERDICT_ROLES for c in self.candidates_of_likeliest_list.get(r, ())
                )
                matching = (candidate for candidate in candidates if candidate.option == option)
                return next(matching, Candidate(role, "", option, ""))
        return None

    @property
    def require_all_flags_fix(self) -> SuggestedFix | None:
        """The option that requires all flags to pass, or None unless there are 2 to 6 flags."""
        outcomes = self.candidates_of_likeliest_list.get("outcome", ())
        flags = [
            c.column for c in outcomes if not c.pass_definitions or means_bad_if_true(c.column)
        ]
        terms = tuple(f"not {column}" if means_bad_if_true(column) else column for column in flags)
        fix = SuggestedFix({"--all": terms}, "all of these pass")
        return fix if 2 <= len(terms) <= 6 else None

    @property
    def open_questions(self) -> list[str]:
        """The questions that the user must answer: "task", "outcome" or "passes"."""
        outcome = self.outcome_candidate
        questions = [] if self.chosen_options("task") else ["task"]
        questions += [] if outcome else ["outcome"]
        passes = outcome is not None and outcome.pass_definitions and "passes" not in self.choices
        return [*questions, *["passes"] * bool(passes)]

    def toml_text(self, path: str) -> str:
        """Write the map as TOML. The comment at the top contains the path of the map."""
        outcome = self.outcome_candidate
        lines = [
            f"# What the columns of {_printable_single_line(self.data_name)} mean. Check each line,"
            " then run:"
        ]
        lines += [
            f"# passk estimate {_printable_single_line(self.data_name)}"
            f" --map {_printable_single_line(path)}",
            f"[{TABLE}]",
        ]
        lines += [f"files = {_toml_value(list(self.file_patterns))}"] * bool(self.file_patterns)
        for at, place in enumerate(self.candidates_per_record_list[:4]):
            if place.records_key:
                lines += _option_lines(
                    {"--records": place.records_key}, plural(place.row_count, "record"), at > 0
                )
        lines += self._role_lines("task", "task" in self.open_questions)
        if outcome is None:
            lines += ['outcome = ""  # choose one']
        for role in _VERDICT_ROLES:
            is_outcome_role = outcome is not None and outcome.role == role
            lines += self._role_lines(role, False) if is_outcome_role or outcome is None else []
        if outcome is None and self.require_all_flags_fix:
            lines += _option_lines(
                self.require_all_flags_fix.options, self.require_all_flags_fix.effect, comment=True
            )
        if outcome is not None and outcome.pass_definitions:
            passing = self.choices.get("passes")
            lines += (
                _option_lines(passing.options, passing.effect)
                if passing
                else ['passes = ""  # choose one']
            )
            lines += [] if passing else [
                line for way in outcome.pass_definitions for line in _option_lines(way.options,
                    way.effect,
                True)
            ]  # fmt: skip
        if outcome is not None and outcome.missing_count:
            note = f"{plural(outcome.missing_count, 'attempt')} without an outcome"
            for way, does in (("fail", "failed"), ("drop", "left out")):
                lines += _option_lines({"--missing": way}, f"{note}: {does}", comment=True)
        for role in ("model", "setting"):
            lines += self._role_lines(role, False)
        return "\n".join(lines) + "\n"

    def _role_lines(self, role: str, is_open: bool) -> Iterator[str]:
        option = self.chosen_options(role)
        if is_open:
            yield f'{role} = ""  # choose one'
        candidates = self.candidates_of_likeliest_list.get(role, ())
        if option is not None and option not in [c.option for c in candidates]:
            yield from _option_lines(option.options, "")
        for candidate in sorted(candidates, key=lambda c: c.option != option):
            is_chosen = candidate.option == option
            yield from _option_lines(
                candidate.option.options, candidate.values_summary, not is_chosen
            )
            if not is_chosen and role == "outcome":
                for way in candidate.pass_definitions:
                    yield from _option_lines(
                        way.options, f"{candidate.column}: {way.effect}", comment=True
                    )


def _file_suffixes(source: Source) -> Sequence[str]:
    """The suffix of a file, or both suffixes of a compressed file, for example .jsonl.gz."""
    return Path(source.name).suffixes[-1 - (source.compression != "none") :]


def means_bad_if_true(column: str) -> bool:
    """Whether the name of a column suggests that true is a bad result, such as an error."""
    return not BAD_EVENT_WORDS.isdisjoint(column_name_words(column))


def _option_lines(options: Mapping[str, Any], note: str, comment: bool = False) -> Iterator[str]:
    fields = options.get("--field", {})
    other_options = {
        flag.lstrip("-"): value for flag, value in options.items() if flag != "--field"
    }
    for key, value in {**fields, **other_options}.items():
        text = f"{'# ' * comment}{key} = {_toml_value(value)}"
        yield f"{text.ljust(40)}  # {_printable_single_line(note)}" if note else text


def _toml_value(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _printable_single_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def require_new_file(path: str) -> None:
    """Raise ParameterError if the file exists, because passk never overwrites a map."""
    if os.path.lexists(path):
        raise _exists_error(path)


def write_map(path: str, text: str) -> None:
    """Write a map completely or not at all. Raise ParameterError if the file exists."""
    require_folder_of_output_file(Path(path))
    try:
        with file_moved_at_end(Path(path), new=True) as file:
            file.write_text(text, encoding="utf-8")
    except FileExistsError:
        raise _exists_error(path) from None


def _exists_error(path: str) -> ParameterError:
    problem = "the file exists, and passk never overwrites a map; choose another name"
    return ParameterError(OptionWithValue("--init", path), problem, name="bad-output")
