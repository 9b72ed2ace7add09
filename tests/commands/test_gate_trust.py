"""What a file of rules, a map and a list of tasks may name, and what is shown of it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import passk_cli
from docs.rulebook import schema
from passk_cli.commands.gate import COMMAND
from passk_cli.commands.gate.rulebook import (
    _FORBIDDEN_OPTIONS,
    PATH_FIELDS,
    PATH_OR_NAME_FIELDS,
    TASK_LIST_FIELDS,
)
from passk_cli.files.sources.arguments import is_outside_folder
from passk_cli.limits import MOST_TASK_LIST_BYTES
from tests.commands.test_gate_rules import rules
from tests.conftest import Passk

PASSWORDS = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/sbin/nologin\n"
ROWS = "".join(json.dumps({"task": f"t{t}", "passed": True}) + "\n" for t in range(4))
SUITE = '[[suite]]\nname = "s"\n'
RUNS, MIN = 'runs = "run.jsonl"\n', 'min = {"pass@1" = 0.1}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, and one next to it with a run and a file of passwords."""
    inside, outside = tmp_path / "project", tmp_path / "outside"
    for place in (inside, outside):
        place.mkdir()
        (place / "run.jsonl").write_text(ROWS)
    (outside / "passwd").write_text(PASSWORDS)
    monkeypatch.chdir(inside)
    return inside


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a run on a server, and the paths that are requested from it."""
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(ROWS.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/run.jsonl", requested
        http.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "text",
    [
        'runs = "{address}"\n' + MIN,
        'runs = "label={address}"\n' + MIN,
        RUNS + MIN + 'baseline = "{address}"\nno-regression = true\n',
        RUNS + MIN + 'baseline = ["run.jsonl", "{address}"]\n',
        RUNS + MIN + 'truth = "{address}"\n',
        RUNS + MIN + 'truth-from = "{address}"\n',
        RUNS + MIN + 'map = "{address}"\n',
        RUNS + MIN + 'price = "{address}"\n',
        RUNS + MIN + '[trend]\nhistory = "{address}"\n',
        RUNS + MIN + '[[suite]]\nname = "t"\nruns = "{address}"\n' + MIN,
    ],
)
def test_rules_that_nobody_trusts_request_nothing(
    folder: Path, passk: Passk, server: tuple[str, list[str]], text: str
) -> None:
    address, requested = server
    rules(folder, SUITE + text.replace("{address}", address))
    for more in ([], ["--check"], ["--rules", "passk.toml"]):
        result = passk("gate", *more)
        assert (result.code, result.error, result.sentences) == (2, "untrusted-rules", 1), (
            result.err
        )
        assert "is an address; name a file in the folder of the rules file" in result.err
    assert requested == []


def test_rules_that_are_trusted_name_addresses_and_files_anywhere(
    folder: Path, passk: Passk, server: tuple[str, list[str]]
) -> None:
    address, requested = server
    for run in (address, "../outside/run.jsonl", str(folder / "run.jsonl")):
        rules(folder, f'{SUITE}runs = "{run}"\nmust-pass = "t1"\n')
        result = passk("gate")
        assert (result.code, result.error) == (2, "untrusted-rules")
        assert "passk.toml:3: suite s: runs: " in result.err
        assert "passk gate --trust-rules" in result.err
        assert passk("gate", "--trust-rules").code == 0
        with pytest.raises(passk_cli.ParameterError, match="trust_rules=True"):
            passk_cli.gate()
        assert passk_cli.gate(trust_rules=True).passed
    assert requested == ["/run.jsonl"] * 2


@pytest.mark.parametrize("key", ["runs", "baseline", "map", "price", "truth-from", "must-pass",
                                 "only-task", "exclude-task", "truth"])  # fmt: skip
@pytest.mark.parametrize("way", ["absolute", "parent", "link", "linked folder"])
def test_rules_open_no_file_outside_of_their_folder(
    folder: Path, passk: Passk, monkeypatch: pytest.MonkeyPatch, key: str, way: str
) -> None:
    secret = folder.parent / "outside" / "passwd"
    Path("link").symlink_to(secret)
    Path("linked").symlink_to(secret.parent)
    path = {"absolute": str(secret), "parent": "../outside/passwd", "link": "link",
            "linked folder": "linked/passwd"}[way]  # fmt: skip
    text = f'{SUITE}{MIN}{RUNS * (key != "runs")}{key} = "{path}"\n'
    rules(folder, text)
    result = passk("gate")
    assert (result.code, result.error, result.sentences) == (2, "untrusted-rules", 1), result.err
    assert f"{key}: {path} is " in result.err
    assert "bin/bash" not in result.err + result.out


@pytest.mark.parametrize("pattern", ["../outside/*.jsonl", "*/../../outside", "linked/*.jsonl",
                                     "sub", "sub/*", "**/*.jsonl", "m=linked"])  # fmt: skip
def test_folders_and_globs_of_rules_do_not_lead_out(
    folder: Path, passk: Passk, pattern: str
) -> None:
    Path("linked").symlink_to("../outside")
    Path("sub").mkdir()
    Path("sub/x.jsonl").symlink_to("../../outside/run.jsonl")
    rules(folder, f'{SUITE}runs = "{pattern}"\n{MIN}')
    result = passk("gate")
    assert (result.code, result.error) == (2, "untrusted-rules"), result.err
    assert passk("gate", "--trust-rules").code in (0, 2, 3)


def test_a_file_of_rules_elsewhere_names_files_of_its_own_folder_only(
    folder: Path, passk: Passk
) -> None:
    """A name that is a file from the current folder only is not read from there."""
    Path("ci").mkdir()
    Path("ci/run.jsonl").write_text(ROWS)
    Path("names.txt").write_text("t1\n")
    Path("old").mkdir()
    for key in ('must-pass = "names.txt"', 'baseline = "old"', 'only-task = "names.txt"'):
        rules(folder, f"{SUITE}{RUNS}{MIN}{key}\n", "ci/passk.toml")
        result = passk("gate", "--rules", "ci/passk.toml")
        assert (result.code, result.error) == (2, "untrusted-rules"), result.err
    Path("ci/names.txt").write_text("t1\n")
    for key in ('must-pass = "names.txt"', 'only-task = "names.txt"', 'map = "none"'):
        rules(folder, f"{SUITE}{RUNS}{MIN}{key}\n", "ci/passk.toml")
        assert passk("gate", "--rules", "ci/passk.toml").code == 0
    Path("x=").mkdir()
    Path("x=/run.jsonl").symlink_to(folder.parent / "outside" / "run.jsonl")
    assert is_outside_folder("x=/run.jsonl", "")
    assert is_outside_folder(str(folder.parent / "outside"), "")
    assert not is_outside_folder("ci/../run.jsonl", "")


def test_models_and_tasks_may_be_named_like_paths(folder: Path, passk: Passk) -> None:
    rows = [{"model": model, "task": task, "passed": True}
            for model in ("/models/a", "/models/b") for task in ("../t1", "/t2")]  # fmt: skip
    Path("run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rules(folder, f'{SUITE}{RUNS}baseline = "/models/b"\nmust-pass = ["../t1", "/t2"]\n')
    assert passk("gate").code == 0


@pytest.mark.parametrize("key", ["runs", "price", "map", "truth-from", "history"])
def test_no_path_of_rules_is_an_internal_error(folder: Path, passk: Passk, key: str) -> None:
    trend = "[trend]\n" * (key == "history")
    for value in ('"a\\u0000b"', '"x=a\\u0000b"', "[]", '["a\\u0000b"]'):
        rules(folder, f"{SUITE}{MIN}{RUNS * (key != 'runs')}{trend}{key} = {value}\n")
        for more in ([], ["--trust-rules"]):
            result = passk("gate", *more)
            assert (result.code in (0, 2, 3), "internal" in result.err) == (True, False), result.err
    with pytest.raises(passk_cli.DataError, match="no such file"):
        passk_cli.read("a\0b.csv")


def test_every_option_of_rules_that_reads_a_file_is_kept_in_the_folder() -> None:
    expected = {*PATH_FIELDS, *PATH_OR_NAME_FIELDS, *TASK_LIST_FIELDS, *_FORBIDDEN_OPTIONS}
    reading = [
        o.field for o in COMMAND.options() if o.option.file_use or "FILE" in o.option.metavar
    ]
    assert {*reading} <= expected
    assert "trust-rules" not in schema()["properties"]


def test_watched_rules_are_trusted_as_those_of_a_gate(folder: Path, passk: Passk) -> None:
    rules(folder, f'{SUITE}{RUNS}{MIN}baseline = "../outside/run.jsonl"\n')
    words = ["watch", "run.jsonl", "--rules", "passk.toml", "--planned", "4", "--order",
             "completion", "--looks", "x.looks"]  # fmt: skip
    assert passk(*words).error == "untrusted-rules"
    assert passk(*words, "--trust-rules").code in (0, 1)


def test_a_map_names_prices_of_its_own_folder(folder: Path, passk: Passk) -> None:
    (folder.parent / "outside" / "keys.toml").write_text('[session]\ntoken = "secret"\n')
    priced = '["*"]\ninput = 1\noutput = 2\n'
    Path("prices.toml").write_text(priced)
    row = {"case": "t1", "passed": True, "tokens_in": 10, "tokens_out": 10}
    Path("run.jsonl").write_text(json.dumps(row) + "\n")
    for path in ("../outside/keys.toml", str(folder / "prices.toml"), "http://127.0.0.1:9/x"):
        Path("passk.toml").write_text(f'[data]\ntask = "case"\nprice = "{path}"\n')
        result = passk("cost", "run.jsonl")
        assert (result.code, result.error, result.sentences) == (2, "bad-map", 1), result.err
        assert f"passk.toml:3: price: {path} is not in the folder of the map" in result.err
    Path("passk.toml").write_text('[data]\ntask = "case"\nprice = "prices.toml"\n')
    assert passk("cost", "run.jsonl").code == 0


def test_patterns_of_a_map_open_nothing(folder: Path, passk: Passk) -> None:
    pattern = f"{folder.parent}/outside/*"
    Path("passk.toml").write_text(f'[data]\nfiles = "{pattern}"\ntask = "task"\n')
    result = passk("describe", ".")
    assert "outside" not in result.out + result.err


def test_a_project_file_that_is_a_pipe_or_a_device_is_passed_over(
    folder: Path, passk: Passk
) -> None:
    os.mkfifo("pyproject.toml")
    assert passk("gate").error == "no-files"
    os.remove("pyproject.toml")
    os.symlink("/dev/zero", "pyproject.toml")
    assert passk("gate").error == "no-files"


@pytest.mark.parametrize("option", ["--must-pass", "--only-task", "--exclude-task"])
def test_a_list_without_a_task_of_the_data_is_counted_and_not_shown(
    folder: Path, passk: Passk, option: str
) -> None:
    path = folder.parent / "outside" / "passwd"
    result = passk("gate", "run.jsonl", "--min", "pass@1=0.1", option, path, "-f", "json")
    assert result.code in (2, 3)
    text = result.out + result.err
    assert "bin/bash" not in text
    assert "nologin" not in text
    assert "none of the 2 tasks that" in text
    # A list of which a task is there is one, and its first unknown names help to mend it.
    names = Path("names.txt")
    names.write_text("t1\ngone\n")
    result = passk("gate", "run.jsonl", "--min", "pass@1=0.1", option, names)
    assert "gone" in result.err + result.out or option == "--only-task"


def test_a_list_of_tasks_is_signed_by_its_number(passk: Passk) -> None:
    Path("names.txt").write_text("t1\nt2\n")
    result = passk(
        "gate", "run.jsonl", "--must-pass", "names.txt", "--must-pass", "t0", "-f", "json"
    )
    signature = json.loads(result.out)["signature"]
    assert signature["must-pass"] == "t0,names.txt (2 tasks)"


def test_a_list_of_tasks_has_a_limit(folder: Path, passk: Passk) -> None:
    Path("long.txt").write_bytes(b"t1\n" * (MOST_TASK_LIST_BYTES // 3 + 1))
    result = passk("gate", "run.jsonl", "--must-pass", "long.txt")
    assert (result.code, result.error) == (2, "bad-option-value")
    assert "--must-pass long.txt: the file is longer than 10,000,000 bytes" in result.err
    os.mkfifo("pipe")
    for path in ("pipe", "/dev/zero"):
        assert f"the data has no task {path}" in passk("gate", "run.jsonl", "--must-pass", path).out
