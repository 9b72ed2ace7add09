"""Find the files that arguments name. An argument is a path, a glob, a directory, an address,
`label=path`, or `-` for standard input.
"""

from __future__ import annotations

import codecs
import glob
import io
import os
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from errno import EACCES
from pathlib import Path
from typing import IO, Any

from passk_cli.errors import (
    DataError,
    ParameterError,
    missing_file_error,
    no_such_model_error,
    similar_files,
)
from passk_cli.files.sources import remote
from passk_cli.files.sources.source import (
    BYTE_ORDER_MARK,
    DATA_FORMAT_SUFFIXES,
    HEAD_BYTES,
    READABLE_COMPRESSION_SUFFIXES,
    Source,
    detect_compression,
    detect_encoding,
    first_bytes,
    open_bytes,
    refuse_binary,
    require_complete_zstd,
    require_limited_nesting,
    require_usual_unpacked_size,
    without_suffixes,
)
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.suggestions import did_you_mean, nearest_names, pattern_for_names_with_word
from passk_cli.text import decode_file_name, public_url

# Rows that come from Python have the name ROWS. If rows from Python contain no model, their model
# has the name UNNAMED.
ROWS, UNNAMED = "<rows>", "model"
# _COMPRESSION_SUFFIXES lists the suffixes of packed files. _COMPRESSION_SUFFIXES also includes
# unsupported compression formats, so that passk reports an error for such files.
_COMPRESSION_SUFFIXES = (*READABLE_COMPRESSION_SUFFIXES, ".bz2", ".xz", ".lz4")
_RESULT_SUFFIXES = tuple(
    suffix + packed for suffix in DATA_FORMAT_SUFFIXES for packed in _COMPRESSION_SUFFIXES
)
_RESULT_SUFFIXES += (".zip", ".tar", ".tar.gz", ".tgz")
_LATIN1_HANDLER = "as-latin-1"


def sources_of_arguments(
    arguments: Sequence[str | os.PathLike[str]],
    spool: Path,
    skipped_hidden_files: list[str] | None = None,
) -> list[Source]:
    """Find the files that the arguments name, in the given order. The files of a directory or glob
    are sorted.

    arguments : paths, globs, directories (in which passk searches for result files), addresses
        (https://…), `label=path`, or at most one `-` for standard input.
    spool : an empty folder for copies of files that passk cannot read directly, for example
        standard input or a file with a byte order mark.
    skipped_hidden_files : a list to which this function adds the result files that passk skips
        because they are in hidden folders.
    Errors: ParameterError if stdin or a file is given twice. DataError for a missing file.
    """
    files: list[tuple[str, str, str | None, bool]] = []
    addresses: dict[str, str] = {}
    for argument in [os.fspath(argument) for argument in arguments]:
        label, path = split_label(argument)
        is_address = "://" in path and remote.is_remote(path)
        if is_address and remote.is_cluster_only(path):
            raise remote.cluster_only_error(path)
        if path == "-":
            if any(name == "<stdin>" for _, name, _, _ in files):
                problem = "standard input (-) can be read only once, but it is given twice"
                raise ParameterError(problem, name="usage")
            copy = _copy_stream(sys.stdin.buffer, spool / "stdin", "<stdin>")
            files.append((copy, "<stdin>", label, True))
            continue
        is_explicit = (
            remote.file_addresses_and_whether_named(path)[1]
            if is_address
            else not os.path.isdir(path)
        )
        for place, file in enumerate(_expand_path(path, skipped_hidden_files)):
            if not is_address:
                copy = _seekable_path(file, spool, f"{len(files)}.{place}")
                files.append((copy, decode_file_name(file), label, is_explicit))
                continue
            # passk adds a number to addresses that differ only in a secret part, because the secret
            # part is not displayed.
            name = display_name = public_url(file)
            while addresses.setdefault(display_name, file) != file:
                display_name = f"{name}?{len(addresses) + 1}"
            files.append((remote.fetch(file, spool), display_name, label, is_explicit))
    paths_so_far: set[str] = set()
    for path, name, _, _ in files:
        real = os.path.realpath(path)
        if real in paths_so_far:
            raise repeated_file_error(name)
        paths_so_far.add(real)
    return [_make_source(*file, place, spool) for place, file in enumerate(files)]


def repeated_file_error(name: str) -> ParameterError:
    """The error if two arguments name the same file."""
    problem = f"{name} is given twice, so its attempts would be counted twice"
    return ParameterError(problem, name="usage")


def resolved_file_paths(arguments: Sequence[str]) -> set[str]:
    """The addresses or paths of the files that the arguments name, with links resolved. This
    function does not read the files."""
    paths = (path for argument in arguments for path in _expand_path(split_label(argument)[1]))
    return set(map(_resolved_path, paths))


def _resolved_path(path: str) -> str:
    if path.lower().startswith("file://"):
        return os.path.realpath(path[len("file://") :])
    return path if remote.is_remote(path) else os.path.realpath(path)


def is_outside_folder(argument: str, folder: str) -> bool:
    """Whether an argument names a file outside a folder.

    If the argument is a folder or a glob, each file in it is checked. Links are resolved. In an
    argument like HISTORY:last1, the part before ":" is also checked. This function does not open
    files.

    folder : the folder, or "" for the current folder.

    >>> is_outside_folder("runs/a.csv", ""), is_outside_folder("old=../a.csv", "")
    (False, True)
    >>> is_outside_folder("https://example.org/a", "")
    True
    """
    _, path = split_label(argument)
    if path == "-":
        return False
    if "\0" in path:
        # The operating system refuses a path with a NUL character.
        return True
    top = os.path.realpath(folder or ".")

    def is_outside(place: str) -> bool:
        return os.path.commonpath([top, os.path.realpath(place)]) != top

    places = [path, *(path[:at] for at, sign in enumerate(path) if sign == ":")]
    if remote.is_remote(path) or any(map(is_outside, places)):
        return True
    try:
        return any(map(is_outside, _expand_path(path)))
    except DataError:
        return False


def paths_in_data(data: Any) -> list[str]:
    """The paths in the data, or [] if the data does not consist of files.

    >>> (paths_in_data("a.csv"), paths_in_data(["a.csv", Path("b.csv")]),
    ...  paths_in_data([{"task": "a"}]))
    (['a.csv'], ['a.csv', 'b.csv'], [])
    """
    several = data if isinstance(data, list | tuple) else [data]
    return [os.fspath(item) for item in several if isinstance(item, str | os.PathLike)]


def is_read_once(data: Any) -> bool:
    """Whether data can be read only once, because it is standard input or a stream of unknown
    length.

    >>> is_read_once("-"), is_read_once(["a.csv", "b=-"]), is_read_once("a.csv")
    (True, True, False)
    """
    if isinstance(data, list | tuple):
        return any(map(is_read_once, data))
    if isinstance(data, Mapping):
        return any(map(is_read_once, data.values()))
    if isinstance(data, str):
        return data == "-" or data.endswith("=-")
    return hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__len__")


def arguments_without_file(arguments: Sequence[str], argument: str) -> list[str]:
    """Remove a file from the arguments. A folder or glob that contains the file is replaced by the
    other files in it."""
    real = resolved_file_paths([argument])
    remaining: list[str] = []
    for candidate in arguments:
        label, path = split_label(candidate)
        paths = _expand_path(path)
        other_paths = [p for p in paths if _resolved_path(p) not in real]
        if len(other_paths) == len(paths):
            remaining.append(candidate)
        else:
            remaining += other_paths if label is None else [f"{label}={p}" for p in other_paths]
    return remaining


def is_existing_data_argument(argument: str) -> bool:
    """Whether an argument is `-`, an address, an existing file or folder, or a glob of result
    files.

    A glob must match a file with a suffix like .csv or .jsonl, because a pattern like `m*` may also
    match model names.
    """
    paths = [argument, *argument.split("=", 1)[1:]]
    return any(
        p == "-"
        or os.path.exists(p)
        or remote.is_remote(p)
        or (glob.has_magic(p) and any(map(has_result_suffix, glob.iglob(p))))
        for p in paths
    )


def base_name(argument: str) -> str:
    """The name of the file in an argument, without the label and the folders."""
    return os.path.basename(_path_without_secrets(split_label(argument)[1]).rstrip("/"))


def distinguishing_name(argument: str, rivals: Sequence[str]) -> str:
    """A short name for a run: the label of the argument, or an end of the path. The end is as short
    as possible, but no path in `rivals` has the same end.

    >>> distinguishing_name("old=a/x.csv", []), distinguishing_name("a/x.csv", ["b/y.csv"])
    ('old', 'x.csv')
    >>> distinguishing_name("a/x.csv", ["b/x.csv"])
    'a/x.csv'
    """
    label, path = split_label(argument)
    if label is not None:
        return label
    parts = Path(_path_without_secrets(path)).parts
    paths = [Path(_path_without_secrets(split_label(rival)[1])).parts for rival in rivals]
    for size in range(1, len(parts) + 1):
        if all(rival[-size:] != parts[-size:] for rival in paths):
            return "/".join(parts[-size:])
    return path


def model_names(sources: Sequence[Source]) -> dict[str, str]:
    """Map the path of each file to a model name, for files without a model column. The model name
    is the label or the file name.

    If several files have the same name, the model names of these files also contain the folders
    that differ. If all files have the same name, for example "results", the model names contain
    only these folders.
    """
    times = Counter(s.stem for s in sources if s.label is None)
    plain = {s.name: None for s in sources if s.label is None and times[s.stem] > 1}
    common = (
        os.path.commonpath([os.path.dirname(os.path.abspath(p)) for p in plain]) if plain else ""
    )
    folders = {os.path.dirname(os.path.abspath(path)) for path in plain}
    has_one_file_name = len(times) == 1 and len(folders) == len(plain)
    names = {}
    for source in sources:
        if source.label is not None:
            names[source.path] = source.label
        elif source.name in plain:
            below = os.path.relpath(os.path.abspath(source.name), common)
            folder = os.path.dirname(below) if has_one_file_name else ""
            names[source.path] = folder or without_suffixes(below)
        else:
            in_memory = {"<stdin>": "stdin", ROWS: UNNAMED}
            stem = source.stem if source.frame is None else UNNAMED
            names[source.path] = in_memory.get(source.name, stem)
    return names


def _path_without_secrets(path: str) -> str:
    return public_url(path) if remote.is_remote(path) else path


def split_label(argument: str) -> tuple[str | None, str]:
    """Split an argument label=path into label and path. The label is None if the argument has no
    label."""
    if "=" not in argument or remote.is_remote(argument) or os.path.exists(argument):
        return None, argument
    label, path = argument.split("=", 1)
    if not label:
        raise ParameterError(f"{argument!r} has no label before '='; write label=path")
    return decode_file_name(label), path


def _expand_path(path: str, skipped_hidden_files: list[str] | None = None) -> list[str]:
    if path == "-":
        return []
    if "://" in path and remote.is_remote(path):
        return (
            [path]
            if remote.is_cluster_only(path)
            else remote.file_addresses_and_whether_named(path)[0]
        )
    if os.path.isdir(path):
        inside, above = _result_files(path), f"{Path(path)}/"
        # Hidden folders are skipped, because they often contain copies that editors make.
        visible = [p for p in inside if "/." not in f"/{os.path.dirname(p.removeprefix(above))}"]
        if not visible:
            more = f"; {inside[0]} is in a hidden folder: name it to read it" if inside else ""
            remedy = f"passk looks for {', '.join(DATA_FORMAT_SUFFIXES)}{more}"
            problem = "the directory contains no result files"
            raise DataError(path, problem, remedy, name="no-results")
        if skipped_hidden_files is not None:
            skipped_hidden_files += map(decode_file_name, sorted({*inside} - {*visible}))
        return visible
    if os.path.exists(path):
        return [path]
    if glob.has_magic(path):
        _require_readable_folders(path)
        matches = sorted(filter(os.path.isfile, _glob_paths(path)))
        if not matches:
            remedy = "check the pattern, its quotes and the folder"
            raise DataError(path, "no file matches the pattern", remedy, name="no-such-file")
        return matches
    try:
        os.stat(path)
    except PermissionError as error:
        raise _unreadable_error(path, error) from None
    except (OSError, ValueError):
        # The operating system refuses a path with a NUL character.
        pass
    raise missing_file_error(path)


def missing_baseline_error(
    option: str, name: str, models: Sequence[str]
) -> DataError | ParameterError:
    """The error for a baseline that is neither a file nor a model of the data."""
    if has_result_suffix(name):
        return missing_file_error(name)
    path, _, runs = name.partition(":")
    if runs and os.path.exists(path):
        problem = f"`passk gate` reads the last runs of a history ({path}:last1)"
        problem += ", not a run by its name"
    else:
        problem = "no such file, and no such model"
        similar = similar_files(name)
        if (
            not similar
            or pattern_for_names_with_word(name, models)[1]
            or nearest_names(name, models)
        ):
            return no_such_model_error(OptionWithValue(option, name), problem, name, models, option)
        problem += f"; {did_you_mean(similar)}"
    return ParameterError(OptionWithValue(option, name), problem, name="no-such-model")


def has_result_suffix(name: str) -> bool:
    """Whether a file name has a suffix of result files, such as .jsonl or .csv.gz."""
    return name.endswith(_RESULT_SUFFIXES)


def _result_files(folder: str) -> list[str]:
    """The result files in a folder and its subfolders, sorted.

    Broken links are included, so that passk reports an error when it opens them.
    Errors: DataError for a folder that cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise _unreadable_error(str(error.filename), error)

    # The class Path normalises "." and "a//b". passk creates one Path per folder and not per file,
    # because Path is slow.
    paths = (
        name if inside == "." else os.path.join(inside, name)
        for inner, _, names in os.walk(folder, onerror=refuse)
        for inside in (str(Path(inner)),)
        for name in names
        if has_result_suffix(name)
    )
    return sorted(path for path in paths if os.path.isfile(path) or not os.path.exists(path))


def _glob_paths(pattern: str) -> list[str]:
    """The paths that match a glob. The pattern ** does not enter hidden folders. It also does not
    follow links, because links may form a cycle."""
    if "**" not in Path(pattern).parts:
        return glob.glob(pattern)
    before, _, after = pattern.partition("**")
    matches: list[str] = []
    for folder in glob.glob(before) if before else ["."]:
        for path, folders, _ in os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = "" if path == "." else glob.escape(path)
            matches += _glob_paths(os.path.join(inside, after.strip(os.sep) or "*"))
    return [*dict.fromkeys(map(os.path.normpath, matches))]


def _require_readable_folders(pattern: str) -> None:
    """Raise DataError for an unreadable folder in a pattern. Python's glob skips such a folder
    without an error."""
    path = Path(pattern)
    for folders, inside in zip(path.parents, reversed(path.parts), strict=False):
        if not glob.has_magic(str(folders / inside)):
            return
        for folder in _glob_paths(str(folders)):
            if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
                raise _unreadable_error(folder, PermissionError(EACCES, os.strerror(EACCES)))


def _unreadable_error(path: str, error: OSError) -> DataError:
    denied = isinstance(error, PermissionError)
    remedy = "check its permissions" if denied else "check that it exists"
    return DataError(
        path, f"this path cannot be read ({error.strerror})", remedy, name="unreadable-file"
    )


def _seekable_path(path: str, spool: Path, copy: str) -> str:
    """The path of a file, or the path of a copy if the file is a pipe.

    Errors: DataError for a device or a system file, because reading such a file may never end.
    """
    problem, remedy = "this is a device, not a file", "give a file, a pipe or -"
    try:
        status = os.stat(path)
        if status.st_size and stat.S_ISREG(status.st_mode):
            return path
        if stat.S_ISFIFO(status.st_mode):
            with open(path, "rb") as pipe:
                return _copy_stream(pipe, spool / copy, path)
        if stat.S_ISREG(status.st_mode):
            # Files in /proc have the size 0, and reading from some files in /proc blocks forever.
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
                try:
                    empty = file.read(1) == b""
                except BlockingIOError:
                    empty = False
            if empty:
                return path
            problem = "this is a system file without a size"
            remedy = "copy its content to a file and give that file"
    except OSError as error:
        if error.filename is None:
            raise
        raise _unreadable_error(path, error) from None
    raise DataError(decode_file_name(path), problem, remedy, name="unreadable-file")


def _decode_as_latin1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_LATIN1_HANDLER, _decode_as_latin1)


def _copy_stream(stream: IO[bytes], copy: Path, name: str) -> str:
    """Copy a stream to a file, because passk reads data twice (first the columns, then the rows).

    Errors: FileWithoutResultsError for data that cannot be results, for example from /dev/zero.
    DataError if the stream would fill the disk.
    """
    room, size = shutil.disk_usage(copy.parent).free // 2, 0
    with open(copy, "wb") as file:
        while block := stream.read(1 << 20):
            packed = block.startswith((b"PAR1", b"PK")) or detect_compression(block) != "none"
            if not size and not packed:
                refuse_binary(name, block[:HEAD_BYTES])
            size += file.write(block)
            if size > room:
                problem = f"the stream contains more than {room:,} bytes, half of the free space"
                problem += " for temporary files"
                remedy = "write the data to a file and give that file"
                raise DataError(name, problem, remedy, name="no-room")
    return str(copy)


def _make_source(
    path: str, name: str, label: str | None, is_explicit: bool, place: int, spool: Path
) -> Source:
    try:
        with open(path, "rb") as file:
            start = file.read(HEAD_BYTES)
    except OSError as error:
        raise _unreadable_error(name, error) from None
    literal, packing = os.path.abspath(path), detect_compression(start)
    # DuckDB needs a link for names that contain *, ? or [, or are not UTF-8.
    if glob.has_magic(literal) or decode_file_name(literal) != literal:
        link = spool / f"{place}.link"
        link.symlink_to(literal)
        literal = str(link)
    # For data from a pipe or another machine, the local path is only the path of a copy, so passk
    # does not show the local path.
    is_local = Path(path).parent != spool and not ("://" in name and remote.is_remote(name))
    origin = os.path.abspath(path) if is_local else ""
    source = Source(literal, name, label, packing, place, is_explicit, original_local_path=origin)
    if packing == "zstd":
        require_complete_zstd(source)
    if packing != "none":
        start = first_bytes(source)
    opening = first_character(start)
    if packing == "gzip" and opening != "{":
        # The size of JSON lines is not limited, because Python reads only the beginning of a file
        # of JSON lines.
        require_usual_unpacked_size(source)
    if opening in ("{", "["):
        require_limited_nesting(name, start)
    encoding = "" if opening in ("PK", "PAR1") else detect_encoding(start)
    if not (encoding or start.startswith(BYTE_ORDER_MARK)):
        return replace(source, first_character=opening)
    copy = spool / str(place)
    with open_bytes(source) as packed, open(copy, "wb") as plain:
        if encoding:
            text = io.TextIOWrapper(packed, encoding, errors=_LATIN1_HANDLER, newline="")
            opening = text.read(1)
            plain.write(opening.encode())
            while block := text.read(1 << 20):
                plain.write(block.encode())
        else:
            packed.read(len(BYTE_ORDER_MARK))
            shutil.copyfileobj(packed, plain, 1 << 20)
    source = replace(source, path=str(copy), compression="none", first_character=opening)
    return replace(source, original_encoding=encoding)


def first_character(start: bytes) -> str:
    """The first character of a file after any spaces. The result is "PK" for a zip archive, and
    "PAR1" for a Parquet file."""
    for magic in (b"PK", b"PAR1"):
        if start.startswith(magic):
            return magic.decode()
    return start.removeprefix(BYTE_ORDER_MARK).lstrip()[:1].decode(errors="replace")
