"""Read the members of a zip file, even if the members are packed with zstd. Python's zipfile module
has supported zstd only since Python 3.14."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from functools import cached_property
from typing import Any

from passk_cli.errors import DataError
from passk_cli.files.sources.source import Source, import_zstd_module, object_with_unique_keys

# passk refuses a file in an archive if the file is larger than MAX_BYTES, or larger than MAX_RATIO
# times its packed size. passk does not check the ratio of files with fewer than _HARMLESS_BYTES
# bytes. For comparison, a summary file of 10⁶ attempts is a tenth as large as MAX_BYTES.
MAX_BYTES, MAX_RATIO, _HARMLESS_BYTES = 1 << 31, 1000, 1 << 24
_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_ENCRYPTED_FLAG_BIT = 1
_LOCAL_FILE_HEADER_STRUCT = struct.Struct("<4s22xHH")


class ZipArchive:
    """The members of a zip file. Reading a member does not write it to the disk.

    Errors: DataError if the file is not a zip, or if a member cannot be unpacked.
    Source: PKWARE's APPNOTE 6.3.10 describes the zip format in sections 4.3.7, 4.3.12 and 4.4.5.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def _members(self) -> dict[str, zipfile.ZipInfo]:
        try:
            with zipfile.ZipFile(self._source.path) as file:
                members = {member.filename: member for member in file.infolist()}
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            problem = f"the file is not a complete zip archive ({error})"
            remedy = "check whether the file is cut off"
            raise DataError(self._source.name, problem, remedy, name="damaged-file") from None
        packed = sum(member.compress_size for member in members.values())
        if packed > os.path.getsize(self._source.path):
            raise _suspicious_error(self._source.name, "members of the archive overlap")
        size = sum(member.file_size for member in members.values())
        if size > MAX_BYTES:
            self._require_usual_unpacking_ratio(self._source.name, size, packed)
        return members

    @property
    def names(self) -> tuple[str, ...]:
        """The distinct names of the members, in the order of the archive."""
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        """The unpacked bytes of the last member that has the given name.

        Errors: KeyError if no member has this name. DataError if the member cannot be unpacked.
        """
        member = self._members[name]
        data = self._read_compressed_data(member)
        try:
            # One extra byte is read to detect a member that is longer than its stated size.
            if member.compress_type == _DEFLATED:
                unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
                data = unpacker.decompress(data, member.file_size + 1)
            elif member.compress_type == _ZSTD:
                with import_zstd_module().open(io.BytesIO(data)) as file:
                    data = file.read(member.file_size + 1)
            elif member.compress_type != _STORED:
                problem = f"packed by method {member.compress_type}, which passk cannot unpack"
                raise self._damaged_error(name, problem)
        except (EOFError, zlib.error, import_zstd_module().ZstdError) as error:
            raise self._damaged_error(name, str(error)) from None
        if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
            raise self._damaged_error(name, "its checksum is wrong")
        return data

    def read_json(self, name: str) -> Any:
        """The JSON value of a member, or None if no member has this name."""
        if name not in self._members:
            return None
        try:
            return json.loads(self.read(name), object_pairs_hook=object_with_unique_keys)
        except (ValueError, RecursionError) as error:
            raise self._damaged_error(name, f"it is not JSON: {error}") from None

    def _require_usual_unpacking_ratio(self, place: str, size: int, packed: int) -> None:
        if size > _HARMLESS_BYTES and size > MAX_RATIO * max(packed, 1):
            raise _suspicious_error(place, f"{packed:,} packed bytes unpack to {size:,} bytes")

    def _read_compressed_data(self, member: zipfile.ZipInfo) -> bytes:
        place = f"{self._source.name}: {member.filename}"
        self._require_usual_unpacking_ratio(place, member.file_size, member.compress_size)
        if member.file_size > MAX_BYTES:
            size = member.file_size
            problem = f"the member unpacks to {size:,} bytes; the limit is {MAX_BYTES:,}"
            raise _suspicious_error(place, problem)
        if member.flag_bits & _ENCRYPTED_FLAG_BIT:
            raise self._damaged_error(member.filename, "it needs a password")
        with open(self._source.path, "rb") as file:
            file.seek(member.header_offset)
            header = file.read(_LOCAL_FILE_HEADER_STRUCT.size)
            if len(header) < _LOCAL_FILE_HEADER_STRUCT.size or header[:4] != b"PK\3\4":
                problem = "the archive states a wrong position for it"
                raise self._damaged_error(member.filename, problem)
            _, name, extra = _LOCAL_FILE_HEADER_STRUCT.unpack(header)
            file.seek(name + extra, 1)
            return file.read(member.compress_size)

    def _damaged_error(self, name: str, problem: str) -> DataError:
        place, remedy = f"{self._source.name}: {name}", "the file may be damaged: copy it again"
        problem = f"the member cannot be read ({problem})"
        return DataError(place, problem, remedy, name="damaged-file")


def _suspicious_error(place: str, problem: str) -> DataError:
    return DataError(place, problem, "check the source of the archive", name="suspicious-archive")
