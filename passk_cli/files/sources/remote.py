"""Fetch files from other machines. passk fetches each file completely and then reads the copy.

Python's standard library fetches web addresses. The package fsspec fetches s3:// and hf://
addresses, and finds the credentials. No other module of passk uses the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from passk_cli.activity import report_activity
from passk_cli.cleanup import disk_full_error, temporary_folder
from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.files.sources.source import DATA_FORMAT_SUFFIXES, READABLE_COMPRESSION_SUFFIXES
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import public_url
from passk_cli.version import __version__

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

_ADDRESS_PATTERN = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_WEB_SCHEMES = ("http", "https")
_FETCHED_SCHEMES = (*_WEB_SCHEMES, "s3", "hf")
# passk stops a download after TIMEOUT seconds without data.
TIMEOUT = 60
_BLOCK, _LARGE_BLOCK = 1 << 20, 1 << 23
INSTALL_COMMAND = "pip install fsspec s3fs huggingface-hub"
_TRY_AGAIN = "try again, or fetch the file with another program and give the copy"
_PUBLIC_REMEDY = "check that the file is public"
# passk accepts the content encodings in _ACCEPTED_CONTENT_ENCODINGS from a server, because passk
# can unpack them.
_ACCEPTED_CONTENT_ENCODINGS = ("identity", "gzip", "x-gzip", "zstd")
_HTML_STARTS = (b"<!doctype html", b"<html")


class NotFetchedError(DataError):
    """The error for a file that could not be fetched from its address."""

    name = "not-fetched"


@dataclass
class _DownloadCache:
    """The files that a command has fetched, and the addresses that it has listed.

    exit_stack : the context that deletes the temporary folder when it ends.
    """

    exit_stack: ExitStack
    folder: Path | None = None
    path_by_address: dict[str, Path] = field(default_factory=dict)
    listing_by_address: dict[str, tuple[list[str], bool]] = field(default_factory=dict)


_current_download_cache: ContextVar[_DownloadCache | None] = ContextVar("downloads", default=None)


def is_remote(path: str) -> bool:
    """Whether a path is an address such as https://… or s3://….

    >>> is_remote("https://example.org/a.csv"), is_remote("s3a://bucket/a.csv"), is_remote("a.csv")
    (True, True, False)
    """
    return _ADDRESS_PATTERN.match(path) is not None


def scheme_of(address: str) -> str:
    """The scheme of an address: the part before ://, in lower case."""
    return address.split("://")[0].lower()


def is_cluster_only(path: str) -> bool:
    """Whether a path is an address that a Spark cluster can read but passk cannot fetch.

    >>> is_cluster_only("hdfs://host/a.csv"), is_cluster_only("s3://bucket/a.csv")
    (True, False)
    """
    return is_remote(path) and scheme_of(path) not in _FETCHED_SCHEMES


def cluster_only_error(address: str) -> DataError:
    """The error for an address that only a Spark cluster can read."""
    scheme, name = scheme_of(address), public_url(address)
    remedies = {"s3a": f"write s3{name[3:]}", "file": f"write {name[7:]}"}
    options: dict[str, Any] = {"--counts": True, "--engine": "spark", "--map": "passk.toml"}
    options["-o"] = "counts.parquet"
    spark = SuggestedFix(options, "counts on a cluster", "convert")
    problem, remedy = f"only a cluster can read {scheme}://", "copy the file to this machine"
    return NotFetchedError(name, problem, remedies.get(scheme, remedy), settles=[spark])


@contextmanager
def share_downloads() -> Iterator[None]:
    """A context in which each file is fetched only once. When the context ends, it deletes the
    copies."""
    if _current_download_cache.get() is not None:
        yield
        return
    with ExitStack() as opened:
        token = _current_download_cache.set(_DownloadCache(opened))
        try:
            yield
        finally:
            _current_download_cache.reset(token)


def fetch(address: str, spool: Path) -> str:
    """Fetch a file unless there is a local copy. Return the path of the copy.

    spool : the folder for the copy, which is used only outside of a `share_downloads` context.
    Errors: DataError if the file does not exist or if the download is not complete. ParameterError
        if a package is not installed.
    """
    downloads = _current_download_cache.get()
    if downloads is None:
        return str(_fetch_to_file(address, spool / f"fetched-{len(list(spool.iterdir()))}"))
    if downloads.folder is None:
        downloads.folder = downloads.exit_stack.enter_context(temporary_folder("passk-"))
    if address not in downloads.path_by_address:
        downloads.path_by_address[address] = _fetch_to_file(
            address, downloads.folder / str(len(downloads.path_by_address))
        )
    return str(downloads.path_by_address[address])


def file_addresses_and_whether_named(address: str) -> tuple[list[str], bool]:
    """Return the addresses of the files that an address names. The second result is False if the
    address is a folder, and True otherwise.

    An s3:// or hf:// address may be a pattern, or a folder in which passk looks for result files.
    Errors: like `fetch`.
    """
    if scheme_of(address) in _WEB_SCHEMES:
        return [address], True
    downloads = _current_download_cache.get()
    if downloads is None:
        return _list_addresses_and_whether_named(address)
    if address not in downloads.listing_by_address:
        downloads.listing_by_address[address] = _list_addresses_and_whether_named(address)
    return downloads.listing_by_address[address]


def _list_addresses_and_whether_named(address: str) -> tuple[list[str], bool]:
    with _translate_fetch_errors(address):
        system, path = _file_system_and_path(address)
        if has_magic(path):
            matches = sorted(match for match in system.glob(path) if system.isfile(match))
            if not matches:
                remedy = "check the pattern and its quotes"
                problem = "no file matches the pattern"
                raise DataError(address, problem, remedy, name="no-such-file")
            return [str(system.unstrip_protocol(match)) for match in matches], True
        if system.isfile(path):
            return [address], True
        ends = tuple(
            suffix + packed
            for suffix in DATA_FORMAT_SUFFIXES
            for packed in READABLE_COMPRESSION_SUFFIXES
        )
        inside = sorted(name for name in system.find(path) if name.endswith(ends))
        if not inside:
            problem = "no such file, and no result files below it"
            remedy = f"passk looks for {', '.join(DATA_FORMAT_SUFFIXES)}"
            raise DataError(address, problem, remedy, name="no-such-file")
        return [str(system.unstrip_protocol(name)) for name in inside], False


def _fetch_to_file(address: str, copy: Path) -> Path:
    """Fetch a file. Raise DataError if the disk is too small or the connection ends early."""
    import shutil

    name, size = public_url(address), 0
    room = shutil.disk_usage(copy.parent).free // 2
    problem = f"the file has more than {room:,} bytes, half of the free space for temporary files"
    large = DataError(name, problem, "set TMPDIR to a folder with more room", name="no-room")
    with (
        report_activity(lambda: f"fetching {name} ({size / 1e6:,.0f} MB)"),
        _translate_fetch_errors(name),
        _open_remote_with_expected_size(address) as (stream, expected),
        open(copy, "wb") as file,
    ):
        if (expected or 0) > room:
            raise large
        while block := stream.read(_BLOCK):
            size += file.write(block)
            if size > room:
                raise large
    if expected is not None and size != expected:
        problem = f"the file ends after {size:,} of {expected:,} bytes"
        raise NotFetchedError(name, problem, _TRY_AGAIN)
    with open(copy, "rb") as file:
        if file.read(256).lstrip().lower().startswith(_HTML_STARTS):
            problem = "the address leads to a page of HTML, not to a file"
            remedy = "give the address of the raw file"
            raise NotFetchedError(name, problem, remedy)
    return copy


@contextmanager
def _open_remote_with_expected_size(address: str) -> Iterator[tuple[IO[bytes], int | None]]:
    if scheme_of(address) not in _WEB_SCHEMES:
        system, path = _file_system_and_path(address)
        expected = system.info(path).get("size")
        with system.open(path, "rb", block_size=_LARGE_BLOCK) as stream:
            yield stream, expected
        return
    from http import HTTPStatus
    from urllib.parse import quote, urlsplit
    from urllib.request import Request as Ask

    if "@" in urlsplit(address).netloc:
        problem = "passk does not send the user and the password in an address"
        remedy = "fetch the file with curl -O and give the copy"
        raise NotFetchedError(public_url(address), problem, remedy)
    # Characters that an address must not contain are quoted, unless they are already quoted.
    url = quote(address.split("#")[0], safe="%/:?[]@!$&'()*+,;=~-._")
    ask = Ask(url, headers={"User-Agent": f"passk/{__version__}"})
    with _restricted_web_opener().open(ask, timeout=TIMEOUT) as answer:
        if answer.status != HTTPStatus.OK:
            # For example, the HTTP status 206 means that the server sends only a part of the file.
            problem = f"the server answers {answer.status} {answer.reason}, not the complete file"
            raise NotFetchedError(public_url(address), problem, _TRY_AGAIN)
        packing = answer.headers.get("Content-Encoding", "identity").lower()
        if packing not in _ACCEPTED_CONTENT_ENCODINGS:
            remedy = "fetch the file with curl --compressed -O and give the copy"
            problem = f"the server compresses the file with {packing}"
            raise NotFetchedError(public_url(address), problem, remedy)
        length = answer.headers.get("Content-Length")
        yield answer, int(length) if length is not None and length.isdecimal() else None


def _restricted_web_opener() -> OpenerDirector:
    """An opener that refuses local files, ftp, and redirects from https to http."""
    from urllib import request

    class Redirects(request.HTTPRedirectHandler):
        def redirect_request(self, req: Any, *arguments: Any) -> Any:
            target = arguments[-1]
            secure = target.lower().startswith("https:")
            if req.full_url.lower().startswith("https:") and not secure:
                problem = "the address redirects from https to an address without encryption"
                remedy = "give the second address directly"
                raise NotFetchedError(public_url(req.full_url), problem, remedy)
            return super().redirect_request(req, *arguments)

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, Redirects,
        request.HTTPDefaultErrorHandler, request.HTTPErrorProcessor, request.UnknownHandler,
    ):  # fmt: skip
        opener.add_handler(handler())
    return opener


def _file_system_and_path(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path of the address in this file system.

    Errors: ParameterError if a package for this kind of address is not installed.
    """
    scheme = scheme_of(address)
    try:
        import fsspec

        system = fsspec.filesystem(scheme)
    except ImportError:
        problem = f"{scheme}:// needs further packages; install them with {INSTALL_COMMAND}"
        problem = f"{public_url(address)}: {problem}"
        raise ParameterError(problem, name="missing-package") from None
    return system, system._strip_protocol(address)


@contextmanager
def _translate_fetch_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (PasskError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise _fetch_error(name, error) from None


def _fetch_error(name: str, error: Exception) -> Exception:
    from http.client import HTTPException, IncompleteRead
    from urllib.error import HTTPError, URLError

    if isinstance(error, HTTPError):
        remedies = {
            401: _PUBLIC_REMEDY,
            403: _PUBLIC_REMEDY,
            404: "check the address",
            410: "check the address",
        }
        remedy = remedies.get(error.code, _TRY_AGAIN)
        problem = f"the server answers {error.code} {error.reason}".strip()
        return NotFetchedError(name, problem, remedy)
    if isinstance(error, URLError):
        error = error.reason if isinstance(error.reason, Exception) else ValueError(error.reason)
    if isinstance(error, IncompleteRead):
        problem = "the connection ended before the file was complete"
        return NotFetchedError(name, problem, _TRY_AGAIN)
    if isinstance(error, TimeoutError):
        problem = f"the server did not answer for {TIMEOUT} seconds"
        return NotFetchedError(name, problem, _TRY_AGAIN)
    if isinstance(error, FileNotFoundError):
        return DataError(name, "no such file", "check the address", name="no-such-file")
    if isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
        return NotFetchedError(name, "access is denied", "check the credentials")
    full = disk_full_error(error, "temporary files") if isinstance(error, OSError) else None
    if full is not None:
        return full
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    reason = reason.split("\n")[0] or type(error).__name__
    wrong = isinstance(error, HTTPException | ValueError)
    where = "the address" if wrong else "the address and the network"
    return NotFetchedError(name, f"the file cannot be fetched ({reason})", f"check {where}")
