"""The catalogue: every message and error that is declared, and no name that is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from passk_cli.commands.diagnostic_lookup import all_messages
from passk_cli.diagnostic import ERROR, NOTE, WARNING
from passk_cli.errors import DataError, FileWithoutResultsError, ParameterError, PasskError
from tests.conftest import package_nodes

ERRORS = {"DataError", "FileWithoutResultsError", "ParameterError", "PasskError"}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Each call of a plain name in the package, with that name, and of `error.with_changes`."""
    for _, node in package_nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "with_changes":
            yield "with_changes", node


def names_of_kinds() -> Iterator[str]:
    """The name that a class of errors in the package gives all of its own."""
    for _, kind in package_nodes():
        if isinstance(kind, ast.ClassDef) and {ast.unparse(base) for base in kind.bases} & ERRORS:
            for line in kind.body:
                match line:
                    case ast.Assign([ast.Name("name")], ast.Constant(str(name))):
                        yield name


def test_every_declared_message_is_in_the_catalogue() -> None:
    declared = {
        node.args[0].value
        for names, node in calls()
        if names == "DiagnosticType" and isinstance(node.args[0], ast.Constant)
    }
    assert len(declared) > 100
    assert declared - all_messages().keys() == set()


def test_every_name_of_an_error_is_declared() -> None:
    names = {
        keyword.value.value
        for called, node in calls()
        for keyword in node.keywords
        if called in {*ERRORS, "with_changes"}
        and keyword.arg == "name"
        and isinstance(keyword.value, ast.Constant)
    }
    names |= {
        node.args[0].value
        for called, node in calls()
        if called == "raise_parameter_error_if_any" and isinstance(node.args[0], ast.Constant)
    }
    names |= {
        error.name for error in (DataError, FileWithoutResultsError, ParameterError, PasskError)
    }
    names |= set(names_of_kinds())
    families = {name for name, message in all_messages().items() if message.severity == ERROR}
    # Names with a part that only the call knows: the role of a column that is not recognised, what
    # an option of models or tasks names.
    composed = {"no-task-column", "no-outcome-column", "no-such-model", "no-such-task"}
    assert names | composed == families


def test_messages_have_names_words_and_a_meaning() -> None:
    for name, message in all_messages().items():
        assert re.fullmatch("[a-z]+(?:-[a-z]+)*", name), name
        assert message.severity in (NOTE, WARNING, ERROR), name
        assert message.meaning.endswith("."), name
        assert not message.template.endswith("."), name
