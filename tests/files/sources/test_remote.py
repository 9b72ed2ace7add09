"""Files at addresses: they are read like local files, and every failure on the way is an error."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib import request

import pytest

import passk_cli
from passk_cli import DataError, read
from passk_cli.files.sources import remote
from passk_cli.files.sources.remote import file_addresses_and_whether_named, is_remote
from passk_cli.text import public_url
from tests.cli.test_process import Running
from tests.conftest import Passk

# .ci/run tries these cases later.
pytestmark = pytest.mark.long

ROWS = b"".join(
    b'{"task": "t%d", "attempt": %d, "passed": %s}\n' % (t, a, b"true" if t > a else b"false")
    for t in range(6)
    for a in range(3)
)
BODIES: dict[str, bytes] = {
    "/runs/gpt-4_results.jsonl": ROWS,
    "/runs/old.jsonl": ROWS.replace(b"true", b"false", 2),
    "/runs/packed.jsonl.gz": gzip.compress(ROWS),
    "/runs/a b/é.jsonl": ROWS + b"\n",
    "/page": b"  <!DOCTYPE html><html>",
    "/empty.jsonl": b"",
}


class Handler(BaseHTTPRequestHandler):
    """A server of results that can fail in all the ways in which servers fail."""

    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        path = request.unquote(path)  # type: ignore[attr-defined]
        self.requests.append(self.path)
        if path in ("/moved", "/round", "/file"):
            target = {"/moved": "/runs/gpt-4_results.jsonl", "/file": "file:///etc/passwd"}
            self.send_response(302)
            self.send_header("Location", target.get(path, path))
            self.end_headers()
        elif path.startswith("/packed/"):
            self.send_response(200)
            self.send_header("Content-Encoding", path.rpartition("/")[2])
            self.end_headers()
            self.wfile.write(b"\x0b" + ROWS)
        elif path == "/stream":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(ROWS)
        elif path == "/download":
            self.answer(ROWS if query == "id=1" else ROWS.replace(b"true", b"false"))
        elif path in ("/short", "/slow"):
            self.answer(ROWS, length=len(ROWS) + 1000)
            if path == "/slow":
                self.wfile.flush()
                time.sleep(30)
        elif path == "/piece":
            self.send_response(206)
            self.send_header("Content-Range", f"bytes 0-{len(ROWS) // 2 - 1}/{len(ROWS)}")
            self.send_header("Content-Length", str(len(ROWS) // 2))
            self.end_headers()
            self.wfile.write(ROWS[: len(ROWS) // 2])
        elif path == "/parts":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n" % len(ROWS) + ROWS[:50])
        elif path in BODIES:
            self.answer(BODIES[path])
        else:
            self.send_error({"/closed": 403, "/busy": 503}.get(path, 404))

    def answer(self, body: bytes, length: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    protocol_version = "HTTP/1.0"

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    Handler.requests.clear()


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """The same files on this machine."""
    for name, body in BODIES.items():
        (tmp_path / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name[1:]).write_bytes(body)
    return tmp_path


@pytest.mark.parametrize("name", ["gpt-4_results.jsonl", "packed.jsonl.gz", "a b/é.jsonl"])
def test_a_remote_file_is_read_like_a_local_one(
    passk: Passk, server: str, workdir: Path, name: str
) -> None:
    for command in (
        ["estimate"],
        ["describe"],
        ["convert", "--counts"],
        ["estimate", "-f", "json"],
    ):
        local = passk(*command, workdir / "runs" / name)
        from_server = passk(*command, f"{server}/runs/{name}")
        assert (from_server.code, from_server.err) == (0, local.err)
        assert from_server.out.replace(f"{server}/runs", str(workdir / "runs")) == local.out


def test_all_file_arguments_accept_addresses(passk: Passk, server: str, workdir: Path) -> None:
    new, old = f"{server}/runs/gpt-4_results.jsonl", f"{server}/runs/old.jsonl"
    result = passk("gate", new, "--baseline", old, "--max-drop", "pass@1=0.5", "-v")
    assert (result.code, Handler.requests) == (0, ["/runs/gpt-4_results.jsonl", "/runs/old.jsonl"])
    assert "baseline=old.jsonl" in result.out
    # The baseline is not part of the new run. Local and remote files are read together.
    result = passk(
        "compare", new, old, workdir / "runs" / "packed.jsonl.gz", "--baseline", old, "-q"
    )
    assert result.code == 0
    assert "Against old at pass@1: 2 tied; highest: gpt-4" in result.out
    result = passk("tasks", new, "--against", f"was={old}", "-q")
    assert "was" in result.out
    counts = passk_cli.read([f"x={new}", workdir / "runs" / "old.jsonl"])
    assert counts.series == (("old",), ("x",))


def test_a_file_is_fetched_once_in_a_command(passk: Passk, server: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    new, old = f"{server}/runs/gpt-4_results.jsonl?token=secret", f"b={server}/runs/old.jsonl"
    assert passk("report", new, old, "-o", page).code == 0
    assert sorted(Handler.requests) == ["/runs/gpt-4_results.jsonl?token=secret", "/runs/old.jsonl"]
    text = page.read_text()
    assert (f"`passk report {server}/runs/gpt-4_" in text, "secret" in text) == (True, False)


def test_streams_of_unknown_length_and_redirects_are_read(server: str) -> None:
    counts = [passk_cli.read(f"m={server}/{name}") for name in ("stream", "moved")]
    assert [int(counts_of_file.n.sum()) for counts_of_file in counts] == [18, 18]


def test_addresses_in_a_file_are_not_fetched(passk: Passk, server: str, tmp_path: Path) -> None:
    address = f"{server}/runs/gpt-4_results.jsonl"
    row = {"task": address, "model": address, "passed": True, "url": address, "path": address}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    (tmp_path / "b.csv").write_text(f"task,model,passed,file\n{address},{address},1,{address}\n")
    for name in ("a.jsonl", "b.csv"):
        for command in ("estimate", "describe", "tasks"):
            assert passk(command, tmp_path / name).code == 0
    assert Handler.requests == []


def test_addresses_that_differ_in_their_query_are_different_files(server: str) -> None:
    counts = passk_cli.read([f"{server}/download?id=1", f"b={server}/download?id=2"])
    assert counts.series == (("b",), ("download",))
    assert [int(counts.c[counts.slice_of_series(s)].sum()) for s in range(2)] == [0, 12]
    assert "id=" not in repr(counts.read_facts)


WRONG = {
    "/none.jsonl": "the server answers 404 Not Found; check the address",
    "/closed": "the server answers 403 Forbidden; check that the file is public",
    "/busy": "the server answers 503 Service Unavailable; try again, or fetch the file with",
    "/short": f"the file ends after {len(ROWS):,} of {len(ROWS) + 1000:,} bytes; try again",
    "/piece": "the server answers 206 Partial Content, not the complete file; try again",
    "/parts": "the connection ended before the file was complete; try again",
    "/page": "the address leads to a page of HTML, not to a file; give the address of the raw file",
    "/empty.jsonl": "the file is empty; expected JSONL, CSV or Parquet",
    "/round": "the server answers 302 ",
    "/file": "the server answers 302 ",
}


@pytest.mark.parametrize("path", WRONG)
def test_errors_of_a_server_are_reported(passk: Passk, server: str, path: str) -> None:
    result = passk("estimate", server + path + "?token=secret")
    assert (result.code, result.out) == (3, "")
    assert result.message.startswith(f"{server}{path}: {WRONG[path]}")
    assert (result.sentences, "secret" in result.err) == (1, False)


def test_an_unreachable_address_is_reported(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    for address, problem in {
        "http://127.0.0.1:9/x.csv": "the file cannot be fetched (Connection refused); check the",
        "http://127.0.0.1:x/x.csv": "the file cannot be fetched (nonnumeric port: 'x'); check the",
        "https:///x.csv": "the file cannot be fetched (no host given); check the address\n",
    }.items():
        result = passk("estimate", address)
        assert (result.code, result.message.startswith(f"{address}: {problem}")) == (3, True), (
            result
        )
    result = passk("estimate", "ftp://127.0.0.1/x.csv")
    words = "only a cluster can read ftp://; copy the file to this machine\n"
    assert result.err.startswith(f"error[not-fetched]: ftp://127.0.0.1/x.csv: {words}")


def test_addresses_of_a_cluster_are_refused_with_a_remedy(passk: Passk) -> None:
    for address, remedy in {
        "hdfs://host/a.csv": "copy the file to this machine",
        "new=s3a://bucket/a/*.csv": "write s3://bucket/a/*.csv",
        "file:///a.csv": "write /a.csv",
    }.items():
        name = address.removeprefix("new=")
        words = f"{name}: only a cluster can read {name.partition(':')[0]}://; {remedy}"
        for command in ("estimate", "plan"):
            result = passk(command, address)
            assert (result.code, result.sentences) == (3, 1)
            assert result.err.startswith(f"error[not-fetched]: {words}\n")
    with pytest.raises(passk_cli.DataError, match="only a cluster can read hdfs://"):
        passk_cli.estimate("hdfs://host/a.csv")
    result = passk("compare", "hdfs://host/runs/", "--baseline", "hdfs://host/runs/old.csv")
    assert (result.code, result.error) == (3, "not-fetched")


def test_a_silent_server_is_reported(
    passk: Passk, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "TIMEOUT", 0.2)
    result = passk("estimate", f"{server}/slow")
    assert (result.code, result.err.split(": ")[-1][:41]) == (
        3,
        "the server did not answer for 0.2 seconds",
    )


def test_ctrl_c_stops_a_fetch(tmp_path: Path, server: str) -> None:
    with Running(tmp_path, "estimate", [f"{server}/slow"]) as running:
        running.wait_for(lambda: any(running.spool.glob("*/*")))
        running.end(signal.SIGINT)


def test_a_file_larger_than_half_of_the_free_space_is_refused(
    passk: Passk, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=60))
    for path in ("/runs/gpt-4_results.jsonl", "/stream"):
        result = passk("estimate", server + path)
        assert result.code == 3
        assert "more than 30 bytes, half of the free space" in result.err


def test_https_stays_https() -> None:
    (redirects,) = (
        handler for handler in remote._restricted_web_opener().handlers  # type: ignore[attr-defined]
        if isinstance(handler, request.HTTPRedirectHandler)
    )  # fmt: skip
    ask = request.Request("https://example.org/a?token=x")
    for target in ("http://example.org/b", "ftp://example.org/b", "file:///b"):
        with pytest.raises(passk_cli.DataError, match="without encryption") as refusal:
            redirects.redirect_request(ask, None, 302, "", {}, target)  # type: ignore[arg-type]
        assert "token" not in str(refusal.value)
    assert redirects.redirect_request(ask, None, 302, "", {}, "https://b/")  # type: ignore[arg-type]


def test_an_address_that_is_given_twice_is_refused(passk: Passk, server: str) -> None:
    address = f"{server}/runs/old.jsonl"
    result = passk("estimate", address, address)
    assert (result.code, f"{address} is given twice" in result.err) == (2, True)


def test_addresses_are_recognised_and_shown_without_secrets() -> None:
    assert (
        public_url("HTTPS://u:p@h.org:8/a/b.csv?X-Amz-Signature=1#x") == "https://h.org:8/a/b.csv"
    )
    assert public_url("s3://bucket/a?b@c.csv") == "s3://bucket/a?b@c.csv"
    assert [is_remote(a) for a in ("hf://datasets/o/n/a.json", "http:a", "C://a", "x=s3://a")] == [
        True, False, False, False
    ]  # fmt: skip
    assert file_addresses_and_whether_named("https://h.org/*.csv") == (
        ["https://h.org/*.csv"],
        True,
    )


def test_a_bucket_without_its_package_is_reported(
    passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for scheme in ("s3", "hf"):
        result = passk("estimate", f"m={scheme}://bucket/a.jsonl")
        assert (result.code, result.err) == (
            2,
            f"error[missing-package]: {scheme}://bucket/a.jsonl:"
            f" {scheme}:// needs further packages; install them"
            " with pip install fsspec s3fs huggingface-hub\n",
        )


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket in memory that fsspec uses for s3://."""
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, of the extra remote")
    from fsspec.implementations.memory import MemoryFileSystem

    class Bucket(MemoryFileSystem):  # type: ignore[misc]
        protocol = "s3"
        store: ClassVar[dict[str, Any]] = {}
        pseudo_dirs: ClassVar[list[str]] = [""]

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return "/" + path.removeprefix("s3://").strip("/")

        def unstrip_protocol(self, name: str) -> str:
            return "s3:/" + name

    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "s3", Bucket)
    system = fsspec.filesystem("s3", skip_instance_cache=True)
    for name, body in BODIES.items():
        system.pipe(f"s3://bucket{name}", body)
    return system


def test_files_of_a_bucket_are_read_like_local_files(
    passk: Passk, bucket: Any, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("runs/gpt-4_results.jsonl", "runs/*.jsonl", "runs", "runs/**/*.jsonl"):
        local = passk("estimate", workdir / path, "-v")
        from_bucket = passk("estimate", f"s3://bucket/{path}", "-v")
        assert (from_bucket.code, from_bucket.out, from_bucket.err) == (0, local.out, local.err)
    result = passk(
        "compare", "s3://bucket/runs/*.jsonl", "--baseline", "s3://bucket/runs/old.jsonl"
    )
    assert "old.jsonl is the baseline, so it is left out of the new run" in result.err
    for path, problem in {
        "none.jsonl": "no such file, and no result files below it; passk looks for .jsonl",
        "none/*.jsonl": "no file matches the pattern; check the pattern and its quotes",
    }.items():
        result = passk("estimate", f"s3://bucket/{path}")
        assert (result.code, result.error) == (3, "no-such-file")
        assert result.message.startswith(f"s3://bucket/{path}: {problem}")

    def fail(error: Exception) -> Any:
        def open_(*arguments: object, **options: object) -> None:
            raise error

        monkeypatch.setattr(type(bucket), "open", open_)
        result = passk("estimate", "s3://bucket/runs/old.jsonl")
        return result.code, result.message.removeprefix("s3://bucket/runs/old.jsonl: ")

    assert fail(PermissionError("403")) == (3, "access is denied; check the credentials\n")
    assert fail(FileNotFoundError("x")) == (3, "no such file; check the address\n")
    assert fail(RuntimeError("down\nfor now")) == (
        3, "the file cannot be fetched (down); check the address and the network\n"
    )  # fmt: skip


@pytest.mark.parametrize("packing", ["deflate", "br"])
def test_a_response_with_an_unknown_packing_is_refused(server: str, packing: str) -> None:
    place = f"{server}/packed/{packing}"
    with pytest.raises(DataError) as refusal:
        read(place)
    remedy = "fetch the file with curl --compressed -O and give the copy"
    assert str(refusal.value) == f"{place}: the server compresses the file with {packing}; {remedy}"


def test_a_password_is_neither_sent_nor_shown(server: str) -> None:
    place = f"{server}/runs/a.jsonl"
    with pytest.raises(DataError) as refusal:
        read(place.replace("//", "//me:secret@"))
    problem = "passk does not send the user and the password in an address"
    assert (
        str(refusal.value) == f"{place}: {problem}; fetch the file with curl -O and give the copy"
    )
    assert Handler.requests == []
