"""What hostile data, archives, folders and conditions cannot do."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
import zipfile
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from passk_cli import DataError, read
from passk_cli.files.sources import archive
from tests.conftest import SAMPLES, Passk, Write, jsonl, package_nodes
from tests.files.formats.test_inspect import archive as archive_of
from tests.files.formats.test_inspect import log_of, sample

TAU = SAMPLES / "tau_airline.csv"
FORMULAS = ["=1+1", "+1", "-m", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0"]
FORMULAS += ["＝1+1", "＠SUM(A1)", " \x01=1", "\u200b-1", "\x7f＋1"]


@pytest.mark.parametrize(
    "where",
    [
        "COPY (SELECT 1) TO '{secret}'",
        "LOAD httpfs",
        "PRAGMA database_list",
        "SET enable_external_access = true",
        "1 IN (SELECT 1 FROM glob('/*'))",
        "EXISTS (FROM read_blob('{secret}'))",
        "EXISTS (FROM parquet_metadata('{secret}'))",
        "true); SET lock_configuration = false; SELECT (1",
        "true); EXPORT DATABASE '{folder}'; SELECT (1",
        "true); ATTACH '{folder}/x.db'; SELECT (1",
        "(WITH x AS MATERIALIZED (SELECT 1) SELECT 1 FROM x) = 1",
        "trial = 1) OR (trial = 2",
        "trial], [trial",
        "*",
        "COLUMNS('trial') = 1",
    ],
)
def test_a_condition_does_nothing_else(
    passk: Passk, tmp_path: Path, write: Write, where: str
) -> None:
    secret = write("secret.txt", "x")
    text = where.format(secret=secret, folder=tmp_path)
    result = passk("estimate", TAU, "--where", text)
    assert (result.code, result.out, result.sentences) == (2, "", 1), result.err
    assert result.err.startswith(f"error[bad-condition]: --where {text}: ")
    assert (secret.read_text(), os.listdir(tmp_path)) == ("x", ["secret.txt"])


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_safe_csv(passk: Passk, tmp_path: Path, form: str) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"model": name, "task": "a", "passed": True} for name in (*FORMULAS, "m-1")]
    path.write_text(jsonl(rows))
    ask = ["compare", path, "--baseline", "m-1", "-k", "1", "-f", form]
    plain, safe = (passk(*ask, *more).out for more in ([], ["--safe-csv"]))
    delimiter = {"csv": ",", "tsv": "\t"}[form]
    table = list(csv.reader(io.StringIO(safe, newline=""), delimiter=delimiter))
    before = list(csv.reader(io.StringIO(plain, newline=""), delimiter=delimiter))
    for row, cells in zip(table, before, strict=True):
        for cell, original in zip(row, cells, strict=True):
            number = original.lstrip("-").replace(".", "").replace("e-", "").isdigit()
            begins = re.match(r"[\t\r\n]|[\s\x00-\x1f\x7f\x85\u200b]*[=+\-@＝＋－＠]", original)
            guard = "'" if begins and not number else ""
            assert cell == guard + original
    assert {row[0] for row in table} >= {f"'{name}" for name in FORMULAS}


@pytest.mark.long
def test_data_never_becomes_code() -> None:
    """The package evaluates no text, unpickles nothing and starts no process; one file fetches."""
    calls = {"eval", "exec", "compile", "__import__", "system", "popen", "Popen", "call"}
    calls |= {"fork", "execv", "spawnv", "posix_spawn"}
    modules = {"pickle", "marshal", "shelve", "subprocess", "dill", "joblib", "yaml", "socket"}
    modules |= {"ctypes", "runpy", "code"}
    network = {"urllib.request", "http.client", "requests"}
    for path, node in package_nodes():
        forbidden = modules if path.name == "remote.py" else modules | network
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            assert name not in calls or owner == "re", (path, node.lineno)
        if isinstance(node, ast.Import):
            assert not forbidden & {alias.name for alias in node.names}, path
        if isinstance(node, ast.ImportFrom):
            assert node.module not in forbidden, path
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False", path


def test_links_in_a_folder(tmp_path: Path) -> None:
    """A link to a folder is not followed, nor are a pipe and a device read; a broken link is an
    error."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    row = '{"task": "a", "passed": true}\n'
    (inside / "a.jsonl").write_text(row)
    (outside / "b.jsonl").write_text(row)
    (inside / "loop").symlink_to(inside)
    (inside / "other").symlink_to(outside)
    (inside / "zero.jsonl").symlink_to("/dev/zero")
    os.mkfifo(inside / "pipe.jsonl")
    assert read(inside).n.tolist() == [1]
    (inside / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"broken\.jsonl: this path cannot be read"):
        read(inside)


def test_archives_that_unpack_to_more_than_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("header.json", "summaries.json", "samples/1.json"):
            file.writestr(name, b"[" + b" " * 100_000 + b"]")
    data = path.read_bytes()
    monkeypatch.setattr(archive, "MAX_BYTES", 200_000)
    monkeypatch.setattr(archive, "_HARMLESS_BYTES", 200_000)
    monkeypatch.setattr(archive, "MAX_RATIO", 100)
    with pytest.raises(
        DataError, match=r"a\.eval: [\d,]+ packed bytes unpack to 300,006 bytes; check the"
    ):
        read(path)
    # Every member is said to hold as much as the whole file.
    parts = data.split(b"PK\1\2")
    size = len(data).to_bytes(4, "little")
    path.write_bytes(parts[0] + b"".join(b"PK\1\2" + p[:16] + size + p[20:] for p in parts[1:]))
    with pytest.raises(DataError, match=r"a\.eval: members of the archive overlap; check the"):
        read(path)


def test_a_page_runs_only_its_own_script(passk: Passk, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    bad = "<script>alert(1)</script>"
    path.write_text(f"model,task,passed\n{bad},a,1\n{bad},b,0\nm,a,1\nm,b,1\n")
    assert passk("report", path, "-o", tmp_path / "page.html").code == 0
    assert passk("estimate", path, "--chart", tmp_path / "chart.html").code == 0
    for name in ("page.html", "chart.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        policy = re.findall('Content-Security-Policy" content="([^"]*)"', text)[0]
        (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
        parts = [script, *re.findall("<style>(.*?)</style>", text, re.DOTALL)]
        parts += re.findall(' style="([^"]*)"', text)
        for part in parts:
            assert b64encode(sha256(part.encode()).digest()).decode() in policy
        assert "unsafe-inline" not in policy


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_column_with_the_name_of_an_internal_one_is_refused(
    passk: Passk, tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"x.{form}"
    frame = pd.DataFrame({"task": ["a"], "passed": [True], "#source": ["x"]})
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        duckdb.sql(f"COPY (FROM frame) TO '{path}' (FORMAT parquet)")
    result = passk("estimate", path)
    assert (result.code, result.err.count("\n")) == (3, 1)
    assert "passk uses the column name '#source'" in result.err


def test_names_of_signs_are_not_spellings_of_each_other(passk: Passk, write: Write) -> None:
    path = write("x.csv", "task,model,passed\na,\\,1\na,]]>,1\na,gpt 5,1\na,GPT-5,0\n")
    (warning,) = [
        line for line in passk("estimate", path).err.splitlines() if "similar-names" in line
    ]
    assert "gpt 5" in warning
    assert "]]>" not in warning


def test_members_of_an_archive_are_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    away = [f"{up}{name}" for up in ("../", "../../", f"{tmp_path}/") for name in ("x.json", "x")]
    log = log_of(sample(1, 1, "C")) | dict.fromkeys(away, b"{}")
    (folder / "log.eval").write_bytes(archive_of(log))
    before = sorted(tmp_path.rglob("*"))
    assert read(folder / "log.eval").n.tolist() == [1]
    assert sorted(tmp_path.rglob("*")) == before
