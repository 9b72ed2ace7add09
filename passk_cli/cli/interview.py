"""Asks you at a terminal which columns contain the task, the outcome and the settings."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from passk_cli.cli.output import output_option_groups
from passk_cli.commands.command import load_command
from passk_cli.files.map_draft import MapDraft, require_new_file, write_map
from passk_cli.files.request import Request
from passk_cli.files.roles import POSITION_AS_TASK, combined_columns, first_key
from passk_cli.option import fill_options, split_at_commas
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import first_few

if TYPE_CHECKING:
    from rich.console import Console

# _QUESTION_BY_ROLE maps the role of a column to the question that passk asks about the role.
_QUESTION_BY_ROLE = {
    "task": "Which column contains the task?",
    "outcome": "Which column contains the outcome of an attempt (pass or fail)?",
    "passes": "What passes?",
    "setting": "Which column is a setting that splits the results of a model?",
}
_MAX_LISTED_CHOICES = 12


def can_ask(values: Mapping[str, Any]) -> bool:
    """Whether passk may ask questions.

    passk asks questions only in a terminal, and never with --no-input.
    """
    return not values["no_input"] and sys.stdin.isatty() and sys.stdout.isatty()


def ask_and_write_map(files: Sequence[str], values: Mapping[str, Any]) -> str:
    """Ask for the roles of columns, write the answers to a file, and return the path of this file.

    If you cancel the questions, passk writes no file, and the result is "".
    """
    from rich.console import Console

    require_new_file(str(values["init"]))
    console = Console(highlight=False)
    draft = MapDraft.from_data([*files], fill_options(Request, values))
    try:
        for role in _QUESTION_BY_ROLE:
            if role in draft.open_questions or (
                role == "setting" and draft.candidates_of_likeliest_list.get("setting")
            ):
                _ask_about_role(console, draft, role)
    except (KeyboardInterrupt, EOFError):
        # The process ends 0.3 seconds after Ctrl-C, and printing a message with rich would take
        # longer.
        print("\npassk: no map is written", flush=True)
        return ""
    path = str(values["init"])
    write_map(path, draft.toml_text(path))
    console.print(f"{path} is written. With it, passk reads:\n", markup=False)
    return path


def switch_argv_to_estimate(files: Sequence[str], path: str) -> dict[str, Any]:
    """Set the command line to `passk estimate FILE --map PATH`, and return the values of all
    options of this command."""
    sys.argv[1:] = ["estimate", *files, "--map", path]
    declaration = load_command("estimate")
    edge = (option for _, options in output_option_groups(declaration) for option in options)
    options = [*declaration.options(), *edge]
    unset: dict[str, Any] = {}
    unset |= {
        o.field: False if o.base_type is bool else [] if o.repeatable else None for o in options
    }
    return {**unset, "map": path}


def _ask_about_role(console: Console, draft: MapDraft, role: str) -> None:
    from rich.prompt import Prompt

    choices = [*_fix_choices_for_role(draft, role)]
    optional = role == "setting"
    console.print(f"\n{_QUESTION_BY_ROLE[role]}", style="bold", markup=False)
    for number, (option, note) in enumerate(choices[:_MAX_LISTED_CHOICES], 1):
        console.print(f"  {number}  {_fix_values_text(option)}  {note}", markup=False)
    if len(choices) > _MAX_LISTED_CHOICES:
        console.print(
            f"     and {len(choices) - _MAX_LISTED_CHOICES:,} more, by name", markup=False
        )
    hint = "Number, or words that mean pass" if role == "passes" else "Number, or a column name"
    hint += ", or Enter for none" * optional
    while True:
        reply = Prompt.ask(hint, console=console, default="", show_default=False).strip()
        if not reply and optional:
            return
        if reply.isdecimal() and 0 < int(reply) <= len(choices):
            draft.choices[role] = choices[int(reply) - 1][0]
            return
        fix = _fix_of_reply(draft, role, reply) if reply else None
        if fix is not None:
            draft.choices[role] = fix
            return
        names = [*draft.candidates_of_likeliest_list.summary_by_column]
        question = did_you_mean_or_list(reply, names, f"the columns are {first_few(names)}")
        if role == "passes" and draft.outcome_candidate:
            question = (
                f"the data has no outcome {reply}; its outcomes are"
                f" {draft.outcome_candidate.values_summary}"
            )
        console.print(f"  {question}", markup=False)


def _fix_choices_for_role(draft: MapDraft, role: str) -> Iterator[tuple[SuggestedFix, str]]:
    if role == "passes":
        outcome = draft.outcome_candidate
        yield from ((way, way.effect) for way in (outcome.pass_definitions if outcome else ()))
        return
    for name in (role, *["counts"] * (role == "outcome")):
        yield from (
            (candidate.option, candidate.values_summary)
            for candidate in draft.candidates_of_likeliest_list.get(name, ())
        )
    if role == "outcome" and draft.require_all_flags_fix:
        yield draft.require_all_flags_fix, "all of these words mean pass"
    if role == "task" and not draft.candidates_of_likeliest_list.get("task"):
        yield (
            SuggestedFix({"--field": {"task": POSITION_AS_TASK}}),
            "the position of a record in its list",
        )


def _fix_of_reply(draft: MapDraft, role: str, reply: str) -> SuggestedFix | None:
    if role == "passes":
        try:
            return SuggestedFix(
                {"--threshold": str(float(reply))}, f"scores of {reply} or more pass"
            )
        except ValueError:
            tally = (
                draft.outcome_candidate.values_summary.lower() if draft.outcome_candidate else ""
            )
            occurs = all(
                word.lower() in re.split(r"\W*[,×]?\s", tally) for word in split_at_commas(reply)
            )
            return (
                SuggestedFix({"--passes": split_at_commas(reply)}, f"{reply} passes")
                if occurs
                else None
            )
    columns = {
        first_key(column) for column in draft.candidates_of_likeliest_list.summary_by_column
    } | {*draft.candidates_of_likeliest_list.summary_by_column}
    if not all({part, first_key(part)} & columns for part in combined_columns(reply)):
        return None
    return SuggestedFix({"--by": (reply,)} if role == "setting" else {"--field": {role: reply}})


def _fix_values_text(option: SuggestedFix) -> str:
    values = [v for value in option.options.values()
              for v in (value.values() if isinstance(value, Mapping) else [value])]  # fmt: skip
    return ", ".join(", ".join(v) if isinstance(v, tuple) else str(v) for v in values)
