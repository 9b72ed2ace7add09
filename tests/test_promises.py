"""Each sentence of SECURITY.md and docs/trust.md that promises something, and its tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

REMOTE = "tests/files/sources/test_remote.py"
FUZZING, FAULTS, NAMES = (
    "tests/test_fuzzing.py",
    "tests/cli/test_faults.py",
    "tests/cli/test_names.py",
)
SAFETY, LIMITS = "tests/test_safety.py", "tests/test_limits.py"
LOAD, TRUST = "tests/files/test_load.py", "tests/commands/test_gate_trust.py"
INSPECT, PROCESS = "tests/files/formats/test_inspect.py", "tests/cli/test_process.py"

# Sentence → file:names of its tests.
SECURITY = {
    "Nothing in a file, a name or an option is evaluated as Python.": [
        f"{SAFETY}:test_data_never_becomes_code",
    ],
    "passk unpickles nothing and starts no process of its own.": [
        f"{SAFETY}:test_data_never_becomes_code",
    ],
    "passk fetches the addresses that you name as files, and none that a result file contains.": [
        f"{REMOTE}:test_a_remote_file_is_read_like_a_local_one",
        f"{REMOTE}:test_addresses_in_a_file_are_not_fetched",
    ],
    "passk follows redirects only to web addresses, and never from https to http.": [
        f"{REMOTE}:test_https_stays_https",
        f"{REMOTE}:test_errors_of_a_server_are_reported",
    ],
    "passk refuses web addresses with a user or a password.": [
        f"{REMOTE}:test_a_password_is_neither_sent_nor_shown",
    ],
    "s3:// and hf:// are read through fsspec.": [
        f"{REMOTE}:test_files_of_a_bucket_are_read_like_local_files"
    ],
    "Messages and reports show addresses without query and user.": [
        f"{LIMITS}:test_no_message_shows_a_password",
        f"{REMOTE}:test_a_file_is_fetched_once_in_a_command",
    ],
    "A rules file can only name files in its own folder and below it.": [
        f"{TRUST}:test_a_file_of_rules_elsewhere_names_files_of_its_own_folder_only",
        f"{TRUST}:test_every_option_of_rules_that_reads_a_file_is_kept_in_the_folder",
    ],
    "passk refuses addresses, absolute paths, and paths and links out of that folder before it"
    " opens anything.": [
        f"{TRUST}:test_rules_that_nobody_trusts_request_nothing",
        f"{TRUST}:test_rules_open_no_file_outside_of_their_folder",
        f"{TRUST}:test_folders_and_globs_of_rules_do_not_lead_out",
    ],
    "--trust-rules allows them.": [
        f"{TRUST}:test_rules_that_are_trusted_name_addresses_and_files_anywhere",
    ],
    "A map can only name prices in its own folder and below it.": [
        f"{TRUST}:test_a_map_names_prices_of_its_own_folder",
    ],
    "A list of tasks must be a regular file of at most 10 MB.": [
        f"{TRUST}:test_a_list_of_tasks_has_a_limit",
    ],
    "If your data have none of its tasks, messages show the number of its lines, but not their"
    " text.": [
        f"{TRUST}:test_a_list_without_a_task_of_the_data_is_counted_and_not_shown",
    ],
    "--where can only use the columns of your files.": [
        f"{SAFETY}:test_a_condition_does_nothing_else",
        "tests/files/test_bad_input.py:test_a_condition_cannot_read_files",
    ],
    "passk refuses COPY, ATTACH, LOAD, PRAGMA, SET, subqueries and table functions.": [
        f"{SAFETY}:test_a_condition_does_nothing_else",
    ],
    "Control characters, line breaks and marks of direction are shown as codes.": [
        f"{NAMES}:test_hostile_names_are_escaped_in_every_output",
        f"{NAMES}:test_errors_quote_names_safely",
        f"{NAMES}:test_errors_quote_data_safely",
    ],
    "Names are escaped in csv, JSON, XML, Markdown, LaTeX, HTML, charts and annotations of"
    " GitHub.": [
        f"{NAMES}:test_hostile_names_are_escaped_in_every_output",
    ],
    "No printed line becomes a command of the GitHub Actions runner.": [
        f"{LIMITS}:test_no_printed_line_is_a_command_of_the_runner",
        f"{LIMITS}:test_data_that_is_printed_has_no_command_of_the_runner",
    ],
    "A report page runs only its own script.": [f"{SAFETY}:test_a_page_runs_only_its_own_script"],
    "--safe-csv puts an apostrophe before strings in csv and tsv that begin with =, +, - or @, also"
    " at full width or after blanks and control characters.": [f"{SAFETY}:test_safe_csv"],
    "Nothing is written under the names of an archive's members.": [
        f"{SAFETY}:test_members_of_an_archive_are_not_written",
    ],
    "passk refuses an archive that unpacks to far more than its size, or that has overlapping"
    " members.": [
        f"{SAFETY}:test_archives_that_unpack_to_more_than_they_hold",
        f"{INSPECT}:test_a_zip_bomb_is_refused_before_it_is_unpacked",
    ],
    "passk refuses packed files with a line of gigabytes and files of nested brackets before they"
    " take memory.": [
        f"{LOAD}:test_a_packed_file_that_unpacks_to_far_more_is_refused",
        f"{LOAD}:test_deep_nesting_needs_little_memory",
        f"{LIMITS}:test_a_packed_file_without_end_takes_little_memory",
    ],
    "passk refuses rules and maps of more than 1 MB, tables of more than 20,000 columns, and more"
    " than 2,000 groups.": [
        f"{LIMITS}:test_rules_and_prices_of_any_text",
        f"{LIMITS}:test_columns_beyond_number",
        f"{LIMITS}:test_answers_that_nobody_reads",
    ],
    "passk refuses packed files that unpack to more than 64 MiB and to more than 100 times their"
    " size.": [
        f"{LIMITS}:test_a_packed_file_without_end_takes_little_memory",
    ],
    "passk refuses small files, or needs at most 500 MB of memory for them.": [
        f"{LIMITS}:test_small_files_take_little_memory",
        f"{LIMITS}:test_answers_that_nobody_reads",
    ],
    "passk does not follow links to folders.": [
        f"{SAFETY}:test_links_in_a_folder",
        "tests/files/sources/test_path_templates.py:"
        "test_a_glob_skips_links_and_hidden_folders",
    ],
    "passk does not read pipes inside a folder, and never reads devices.": [
        f"{SAFETY}:test_links_in_a_folder",
        f"{FAULTS}:test_a_device_is_refused",
    ],
    "If a format reads another file next to a result, it must be a regular file.": [
        "tests/files/formats/test_lists_and_records.py:"
        "test_neighbours_of_a_file_are_opened_only_if_they_are_files",
    ],
    "After a full disk, a signal or kill -9, the output file is the old one or the new one.": [
        f"{FAULTS}:test_a_full_disk_leaves_the_old_output",
        f"{FAULTS}:test_killing_a_write_leaves_a_complete_file",
        f"{PROCESS}:test_a_terminal_that_goes_away_ends_a_process",
    ],
    "passk refuses a file that changes while it is read.": [
        f"{FAULTS}:test_a_file_that_changes_during_reading_is_refused",
    ],
    "Damaged files are refused, or read as Python's own parsers read them.": [
        f"{FUZZING}:test_mutated_files",
        f"{FUZZING}:test_what_was_once_read_wrongly",
    ],
}  # fmt: skip
PAGE = {
    "A second program computes every metric of random data in exact fractions.": [
        "tests/test_reference.py:test_every_metric_is_compared",
    ],
    "passk and the second program agree to 10⁻¹².": [
        "tests/test_reference.py:test_tool_and_reference_agree"
    ],
    "passk refuses damaged files with a one-sentence error, or reads them as Python's own parsers"
    " do.": [
        f"{FUZZING}:test_mutated_files",
    ],
    "No value of an option causes an internal error.": [f"{FUZZING}:test_absurd_options"],
    "passk accepts the commands and calls that it prints as remedies, exactly as printed.": [
        "tests/test_remedies.py:test_every_remedy_is_accepted_as_it_is_printed",
        "tests/test_remedies.py:test_every_remedy_is_brought_about",
    ],
    "passk refuses small files that would need a lot of work, or reads them with little memory.": [
        f"{LIMITS}:test_answers_that_nobody_reads",
        f"{LIMITS}:test_small_files_take_little_memory",
    ],
    "After a full disk or kill -9, the output file is either the complete old file or the complete"
    " new file.": [
        f"{FAULTS}:test_a_full_disk_leaves_the_old_output",
        f"{FAULTS}:test_killing_a_write_leaves_a_complete_file",
    ],
    "After Ctrl-C, passk leaves no temporary files behind.": [
        f"{PROCESS}:test_ctrl_c_stops_reading",
        f"{PROCESS}:test_ctrl_c_stops_computing",
    ],
    "Names with line breaks, terminal commands or markup stay names in every text format.": [
        f"{NAMES}:test_hostile_names_are_escaped_in_every_output",
    ],
    "The order of rows, the number of files, compression, threads, hash seed, locale and time zone"
    " do not change the output.": [
        "tests/test_determinism.py:test_order_of_rows_files_and_packing",
        "tests/test_determinism.py:test_threads_hash_seed_locale_and_time_zone",
    ],
    "passk works with the lowest allowed version of every dependency.": [
        "tests/test_lowest.py:test_commands_run_with_the_lowest_versions",
    ],
}  # fmt: skip


def promises(text: str) -> list[str]:
    """The sentences of a list, without the marks of Markdown and the words that open an item.

    >>> promises("- **A.** `x` is y.\\n  It is z.\\n- **All of `w` is v.** So it is.")
    ['x is y.', 'It is z.', 'All of w is v.', 'So it is.']
    """
    sentences = []
    for item in re.split(r"^- ", text, flags=re.M)[1:]:
        bold, remainder = re.match(
            r"\*\*(.*?)\*\*\s*(.*)", item.partition("\n\n")[0], re.S
        ).groups()  # type: ignore[union-attr]
        # What opens an item is a promise if it has a verb.
        verb = re.search(r" (is|are|sees|stays|stay|runs) ", bold)
        of_item = f"{bold} {remainder}" if verb and not remainder.startswith(bold) else remainder
        plain = " ".join(of_item.replace("`", "").split())
        sentences += re.split(r"(?<=\.) (?=[A-Z]|passk|--|s3)", plain)
    return sentences


def test_every_promise_has_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    promised = text[text.index("## What is promised") : text.index("## What is not promised")]
    assert promises(promised) == [*SECURITY]


def test_the_page_on_trust_is_short_and_each_sentence_has_its_tests() -> None:
    text = (ROOT / "docs" / "trust.md").read_text()
    assert promises(text) == [*PAGE]
    assert len(text.split()) <= 200


@pytest.mark.parametrize("sentence", [*SECURITY, *PAGE])
def test_the_tests_of_a_promise_exist(sentence: str) -> None:
    for place in {**SECURITY, **PAGE}[sentence]:
        file, name = place.split(":")
        assert name in _tests(ROOT / file), place


def _tests(path: Path) -> set[str]:
    """The names of the tests in a file."""
    nodes = ast.parse(path.read_text()).body
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
