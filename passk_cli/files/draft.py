"""Draft of a map: what is certain is written, what is open is listed with its candidates.

A role that is open is written as `outcome = ""`, which nothing is read with, and below it every
candidate as a comment with its tally, to be put in its place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passk_cli.cleanup import atomic_write, temporary_folder
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.database import ours
from passk_cli.files.export import require_folder
from passk_cli.files.mapping import TABLE, folders_of
from passk_cli.files.reading.asking import likely_places
from passk_cli.files.reading.candidates import Candidate, Candidates, find_candidates
from passk_cli.files.request import Request
from passk_cli.files.roles import words
from passk_cli.files.sources.memory import sources_of
from passk_cli.files.sources.source import Source
from passk_cli.files.vocabulary import BAD_WORDS
from passk_cli.suggested_fix import OptionValue, SuggestedFix
from passk_cli.text import plural

# Where a comment begins on a line.
_WIDE = 40
# Flags that may all have to pass.
_FLAGS = range(2, 7)
# Roles that say which attempts passed.
_VERDICTS = ("outcome", "counts")


@dataclass
class Draft:
    """A map of some files before it is written.

    name : of the data, for its first line.  files : patterns of the files' names.
    places : the candidates at each place with records, the most likely place first.
    chosen : role, or "passes", → what a person chose, in place of what is certain.
    """

    name: str
    files: Sequence[str]
    places: Sequence[Candidates]
    chosen: dict[str, SuggestedFix] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Any, request: Request) -> Draft:
        """The draft for files, rows or a frame.

        Errors: DataError if there is nothing to map: a harness's files, or no outcomes.
        """
        with temporary_folder("passk-") as folder:
            sources = sources_of(data, folder)
            places = find_candidates(ours(), sources, request)
        name = sources[0].name
        if not places:
            problem = "passk knows this format, or it contains no records"
            raise DataError(name, problem, "it needs no map", name="no-results")
        if not any(places[0].get(role) for role in _VERDICTS):
            problem = "no column says whether an attempt passed"
            raise DataError(name, problem, "a map needs one", name="no-outcome-column")
        ends = {"".join(_suffixes(source)) for source in sources}
        several = [f"*{end}" for end in sorted(ends)] if len(sources) > 1 else []
        own = [Path(name).name] if sources[0].origin else []
        place = next(folders_of(data), name) if several else name
        return cls(place or name, several or own, places)

    @property
    def found(self) -> Candidates:
        """The candidates at the most likely place."""
        return self.places[0]

    def choice(self, role: str) -> SuggestedFix | None:
        """The options of a role that is certain or was chosen; None if it is open."""
        if role in self.chosen:
            return self.chosen[role]
        if len(likely_places(self.places)) > 1:
            return None
        models = self.found.get("model", ())
        settings = [setting.column for setting in self.found.get("setting", ())]
        if role == "model":
            # A setting named after a model may be the model, too.
            one = len(models) == 1 and not any("model" in words(column) for column in settings)
            return models[0].option if one and self.choice("task") else None
        certain = self.found.certain(role)
        # What names models may name tasks of a summary, and a setting may be no task.
        other = {model.column for model in models} | {*settings} if role == "task" else ()
        return None if certain is None or certain.column in other else certain.option

    @property
    def outcome(self) -> Candidate | None:
        """The outcome, or the counts, that is certain or was chosen."""
        for role in _VERDICTS:
            if option := self.choice(role):
                every = (c for r in _VERDICTS for c in self.found.get(r, ()))
                own = (candidate for candidate in every if candidate.option == option)
                return next(own, Candidate(role, "", option, ""))
        return None

    @property
    def all_of(self) -> SuggestedFix | None:
        """The option by which all flags have to pass; None if there are not several."""
        found = self.found.get("outcome", ())
        flags = [c.column for c in found if not c.passing or is_bad(c.column)]
        every = tuple(f"not {column}" if is_bad(column) else column for column in flags)
        return SuggestedFix({"--all": every}, "all of these pass") if len(every) in _FLAGS else None

    @property
    def open(self) -> list[str]:
        """The questions that are open: "task", "outcome", "passes"."""
        outcome = self.outcome
        asked = [] if self.choice("task") else ["task"]
        asked += [] if outcome else ["outcome"]
        passes = outcome is not None and outcome.passing and "passes" not in self.chosen
        return [*asked, *["passes"] * bool(passes)]

    def text(self, path: str) -> str:
        """The map as TOML.  path : where it is written, for its first line."""
        outcome = self.outcome
        lines = [f"# What the columns of {_line(self.name)} mean. Check each line, then run:"]
        lines += [f"# passk estimate {_line(self.name)} --map {_line(path)}", f"[{TABLE}]"]
        lines += [f"files = {_toml(list(self.files))}"] * bool(self.files)
        for at, place in enumerate(self.places[:4]):
            if place.records:
                lines += _keys({"--records": place.records}, plural(place.rows, "record"), at > 0)
        lines += self._role("task", "task" in self.open)
        if outcome is None:
            lines += ['outcome = ""  # choose one']
        for role in _VERDICTS:
            own = outcome is not None and outcome.role == role
            lines += self._role(role, False) if own or outcome is None else []
        if outcome is None and self.all_of:
            lines += _keys(self.all_of.options, self.all_of.why, comment=True)
        if outcome is not None and outcome.passing:
            chosen = self.chosen.get("passes")
            lines += _keys(chosen.options, chosen.why) if chosen else ['passes = ""  # choose one']
            lines += [] if chosen else [
                line for way in outcome.passing for line in _keys(way.options, way.why, True)
            ]  # fmt: skip
        if outcome is not None and outcome.missing:
            note = f"{plural(outcome.missing, 'attempt')} without an outcome"
            for way, does in (("fail", "failed"), ("drop", "left out")):
                lines += _keys({"--missing": way}, f"{note}: {does}", comment=True)
        for role in ("model", "setting"):
            lines += self._role(role, False)
        return "\n".join(lines) + "\n"

    def _role(self, role: str, is_open: bool) -> Iterator[str]:
        """The lines of a role: what is chosen, or open, and the other candidates as comments."""
        option = self.choice(role)
        if is_open:
            yield f'{role} = ""  # choose one'
        every = self.found.get(role, ())
        if option is not None and option not in [c.option for c in every]:
            yield from _keys(option.options, "")
        for candidate in sorted(every, key=lambda c: c.option != option):
            chosen = candidate.option == option
            yield from _keys(candidate.option.options, candidate.tally, not chosen)
            if not chosen and role == "outcome":
                for way in candidate.passing:
                    yield from _keys(way.options, f"{candidate.column}: {way.why}", comment=True)


def _suffixes(source: Source) -> Sequence[str]:
    """The suffix of a file, and of what is packed in it: a name may have further dots."""
    return Path(source.name).suffixes[-1 - (source.packing != "none") :]


def is_bad(column: str) -> bool:
    """Whether true in a column means something bad."""
    return not BAD_WORDS.isdisjoint(words(column))


def _keys(options: Mapping[str, Any], note: str, comment: bool = False) -> Iterator[str]:
    """Options as lines of a table, with a note behind them."""
    fields = options.get("--field", {})
    others = {flag.lstrip("-"): value for flag, value in options.items() if flag != "--field"}
    for key, value in {**fields, **others}.items():
        text = f"{'# ' * comment}{key} = {_toml(value)}"
        yield f"{text.ljust(_WIDE)}  # {_line(note)}" if note else text


def _toml(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(text: str) -> str:
    """A text as a part of a comment."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def require_new(path: str) -> None:
    """ParameterError if the file exists: a map that a person edited is never overwritten."""
    if os.path.lexists(path):
        raise _exists(path)


def write_new(path: str, text: str) -> None:
    """Write a map, whole or not at all.  Errors: ParameterError if the file exists."""
    require_folder(Path(path))
    try:
        with atomic_write(Path(path), new=True) as file:
            file.write_text(text, encoding="utf-8")
    except FileExistsError:
        raise _exists(path) from None


def _exists(path: str) -> ParameterError:
    problem = "the file exists, and a map is never overwritten; name another file"
    return ParameterError(OptionValue("--init", path), problem, name="bad-output")
