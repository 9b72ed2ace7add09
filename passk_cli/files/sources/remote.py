"""Files on other machines: passk fetches each address completely and then reads the copy.

Python's own library fetches web addresses. fsspec fetches s3:// and hf://, with the credentials
that its file systems find.  No other part of passk uses the network.
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
from passk_cli.files.sources.source import PACKED, SUFFIXES
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import public_address
from passk_cli.version import __version__

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_WEB = ("http", "https")
_FETCHED = (*_WEB, "s3", "hf")
# Seconds without any data after which passk gives up.
TIMEOUT = 60
_BLOCK, _LARGE_BLOCK = 1 << 20, 1 << 23
INSTALL = "pip install fsspec s3fs huggingface-hub"
_TRY_AGAIN = "try again, or fetch it with another program and give the file"
_OPEN = "check that it is public"
# Encodings in which a server may send a file; reading recognises them.
_ENCODINGS = ("identity", "gzip", "x-gzip", "zstd")
_PAGE = (b"<!doctype html", b"<html")


class NotFetchedError(DataError):
    """An address whose file could not be fetched."""

    name = "not-fetched"


@dataclass
class _Downloads:
    """The files that a command has fetched, and the addresses that it has listed.

    opened : the context of the temporary folder.
    """

    opened: ExitStack
    folder: Path | None = None
    files: dict[str, Path] = field(default_factory=dict)
    lists: dict[str, tuple[list[str], bool]] = field(default_factory=dict)


_downloads: ContextVar[_Downloads | None] = ContextVar("downloads", default=None)


def is_remote(path: str) -> bool:
    """Whether this is an address, not a path.

    >>> is_remote("https://example.org/a.csv"), is_remote("s3a://bucket/a.csv"), is_remote("a.csv")
    (True, True, False)
    """
    return _ADDRESS.match(path) is not None


def scheme_of(address: str) -> str:
    """The scheme of an address: the part before ://, in lower case."""
    return address.split("://")[0].lower()


def is_cluster_only(path: str) -> bool:
    """Whether this is an address that passk cannot fetch and only a cluster reads.

    >>> is_cluster_only("hdfs://host/a.csv"), is_cluster_only("s3://bucket/a.csv")
    (True, False)
    """
    return is_remote(path) and scheme_of(path) not in _FETCHED


def cluster_only_error(address: str) -> DataError:
    """The error for an address that only a cluster reads."""
    scheme, name = scheme_of(address), public_address(address)
    remedies = {"s3a": f"write s3{name[3:]}", "file": f"write {name[7:]}"}
    options: dict[str, Any] = {"--counts": True, "--engine": "spark", "--map": "passk.toml"}
    options["-o"] = "counts.parquet"
    spark = SuggestedFix(options, "counts on a cluster", "convert")
    return NotFetchedError(
        name, f"only a cluster reads {scheme}://", remedies.get(scheme, "copy the file here"),
        settles=[spark],
    )  # fmt: skip


@contextmanager
def fetched_once() -> Iterator[None]:
    """A context in which every file is fetched only once; the copies are deleted at its end."""
    if _downloads.get() is not None:
        yield
        return
    with ExitStack() as opened:
        token = _downloads.set(_Downloads(opened))
        try:
            yield
        finally:
            _downloads.reset(token)


def fetch(address: str, spool: Path) -> str:
    """The path of a local copy of a file, which is fetched unless a copy exists.

    spool : a folder for the copy, outside of `fetched_once`.
    Errors: DataError if the file does not exist or does not arrive completely; ParameterError for a
    package that is not installed.
    """
    downloads = _downloads.get()
    if downloads is None:
        return str(_fetch(address, spool / f"fetched-{len(list(spool.iterdir()))}"))
    if downloads.folder is None:
        downloads.folder = downloads.opened.enter_context(temporary_folder("passk-"))
    if address not in downloads.files:
        downloads.files[address] = _fetch(address, downloads.folder / str(len(downloads.files)))
    return str(downloads.files[address])


def addresses_of(address: str) -> tuple[list[str], bool]:
    """The addresses of files that an address refers to, and whether it names files rather than a
    folder.

    An s3:// or hf:// address may be a pattern, or a folder, which is searched for result files.
    Errors: those of `fetch`.
    """
    if scheme_of(address) in _WEB:
        return [address], True
    downloads = _downloads.get()
    if downloads is None:
        return _list_addresses(address)
    if address not in downloads.lists:
        downloads.lists[address] = _list_addresses(address)
    return downloads.lists[address]


def _list_addresses(address: str) -> tuple[list[str], bool]:
    with _fetch_errors(address):
        system, path = _file_system(address)
        if has_magic(path):
            matches = sorted(match for match in system.glob(path) if system.isfile(match))
            if not matches:
                remedy = "check the pattern and its quotes"
                raise DataError(address, "no file matches", remedy, name="no-such-file")
            return [str(system.unstrip_protocol(match)) for match in matches], True
        if system.isfile(path):
            return [address], True
        ends = tuple(suffix + packed for suffix in SUFFIXES for packed in PACKED)
        inside = sorted(name for name in system.find(path) if name.endswith(ends))
        if not inside:
            problem = "no such file, and no result files below it"
            looked = f"looked for {', '.join(SUFFIXES)}"
            raise DataError(address, problem, looked, name="no-such-file")
        return [str(system.unstrip_protocol(name)) for name in inside], False


def _fetch(address: str, copy: Path) -> Path:
    """Fetch a file; DataError if it would fill the disk, or ends too early."""
    import shutil

    name, size = public_address(address), 0
    room = shutil.disk_usage(copy.parent).free // 2
    large = DataError(
        name,
        f"more than {room:,} bytes, half of the free space for temporary files",
        "set TMPDIR to a folder with more room",
        name="no-room",
    )
    with (
        report_activity(lambda: f"fetching {name} ({size / 1e6:,.0f} MB)"),
        _fetch_errors(name),
        _open_remote(address) as (stream, expected),
        open(copy, "wb") as file,
    ):
        if (expected or 0) > room:
            raise large
        while block := stream.read(_BLOCK):
            size += file.write(block)
            if size > room:
                raise large
    if expected is not None and size != expected:
        raise NotFetchedError(name, f"ends after {size:,} of {expected:,} bytes", _TRY_AGAIN)
    with open(copy, "rb") as file:
        if file.read(256).lstrip().lower().startswith(_PAGE):
            problem, remedy = (
                "the address leads to a page of HTML, not to a file",
                "give the address of the raw file",
            )
            raise NotFetchedError(name, problem, remedy)
    return copy


@contextmanager
def _open_remote(address: str) -> Iterator[tuple[IO[bytes], int | None]]:
    """The bytes of a file as a stream, and their number if it is known."""
    if scheme_of(address) not in _WEB:
        system, path = _file_system(address)
        expected = system.info(path).get("size")
        with system.open(path, "rb", block_size=_LARGE_BLOCK) as stream:
            yield stream, expected
        return
    from http import HTTPStatus
    from urllib.parse import quote, urlsplit
    from urllib.request import Request as Ask

    if "@" in urlsplit(address).netloc:
        problem = "passk does not send the user and the password in an address"
        raise NotFetchedError(
            public_address(address), problem, "fetch it with curl -O and give the file"
        )
    # Quoted characters stay quoted, and characters that an address must not contain are quoted.
    url = quote(address.split("#")[0], safe="%/:?[]@!$&'()*+,;=~-._")
    ask = Ask(url, headers={"User-Agent": f"passk/{__version__}"})
    with _web_opener().open(ask, timeout=TIMEOUT) as answer:
        if answer.status != HTTPStatus.OK:
            # 206 is only a part of the file, and its Content-Length is the length of that part.
            problem = f"{answer.status} {answer.reason}, which is not the whole file"
            raise NotFetchedError(public_address(address), problem, _TRY_AGAIN)
        packing = answer.headers.get("Content-Encoding", "identity").lower()
        if packing not in _ENCODINGS:
            remedy = "fetch it with curl --compressed -O and give the file"
            raise NotFetchedError(
                public_address(address), f"the server compresses it with {packing}", remedy
            )
        length = answer.headers.get("Content-Length")
        yield answer, int(length) if length is not None and length.isdecimal() else None


def _web_opener() -> OpenerDirector:
    """An opener for web addresses only: no files, no ftp, and no redirect from https to http."""
    from urllib import request

    class Redirects(request.HTTPRedirectHandler):
        def redirect_request(self, req: Any, *arguments: Any) -> Any:
            target = arguments[-1]
            secure = target.lower().startswith("https:")
            if req.full_url.lower().startswith("https:") and not secure:
                problem = "it redirects from https to an address without encryption"
                raise NotFetchedError(
                    public_address(req.full_url), problem, "give that address itself"
                )
            return super().redirect_request(req, *arguments)

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, Redirects,
        request.HTTPDefaultErrorHandler, request.HTTPErrorProcessor, request.UnknownHandler,
    ):  # fmt: skip
        opener.add_handler(handler())
    return opener


def _file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it; ParameterError if its package is
    missing."""
    scheme = scheme_of(address)
    try:
        import fsspec

        system = fsspec.filesystem(scheme)
    except ImportError:
        raise ParameterError(
            f"{public_address(address)}: {scheme}:// needs further packages;"
            f" install them with {INSTALL}",
            name="missing-package",
        ) from None
    return system, system._strip_protocol(address)


@contextmanager
def _fetch_errors(name: str) -> Iterator[None]:
    """A context that turns any error of a library about a file into a DataError."""
    try:
        yield
    except (PasskError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise _fetch_error(name, error) from None


def _fetch_error(name: str, error: Exception) -> Exception:
    """The error for an address, with its remedy."""
    from http.client import HTTPException, IncompleteRead
    from urllib.error import HTTPError, URLError

    if isinstance(error, HTTPError):
        remedies = {401: _OPEN, 403: _OPEN, 404: "check the address", 410: "check the address"}
        remedy = remedies.get(error.code, _TRY_AGAIN)
        return NotFetchedError(name, f"{error.code} {error.reason}".strip(), remedy)
    if isinstance(error, URLError):
        error = error.reason if isinstance(error.reason, Exception) else ValueError(error.reason)
    if isinstance(error, IncompleteRead):
        return NotFetchedError(name, "the connection ended before the file", _TRY_AGAIN)
    if isinstance(error, TimeoutError):
        return NotFetchedError(name, f"no answer for {TIMEOUT} seconds", _TRY_AGAIN)
    if isinstance(error, FileNotFoundError):
        return DataError(name, "no such file", "check the address", name="no-such-file")
    if isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
        return NotFetchedError(name, "no access", "check the credentials")
    if (
        isinstance(error, OSError)
        and (full := disk_full_error(error, "temporary files")) is not None
    ):
        return full
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    reason = reason.split("\n")[0] or type(error).__name__
    wrong = isinstance(error, HTTPException | ValueError)
    where = "the address" if wrong else "the address and the network"
    return NotFetchedError(name, f"cannot be fetched ({reason})", f"check {where}")
