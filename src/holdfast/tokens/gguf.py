"""Reads and writes the metadata of GGUF files: header and key-value pairs, without the tensors.

The size of a model does not matter, and every length is checked against the bytes that are there.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError


class VocabularyError(HoldfastError):
    """A vocabulary is broken, incomplete, or of an unknown kind; callers fall back to an estimate."""


Metadata = Mapping[str, Any]

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY, _BOOL = 8, 9, 7
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LENGTH = struct.Struct("<Q")
_HEADER = struct.Struct("<4sIQQ")
# The format allows nested arrays; deeper nesting than this is an attempt to exhaust the stack.
_MAX_DEPTH = 4


def read_metadata(
    path: str | PathLike[str], wanted: Callable[[str], bool] = lambda _key: True
) -> dict[str, Any]:
    """Reads the key-value pairs of a GGUF file; values of keys that are not `wanted` are skipped."""
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _MetadataReader(data).read_pairs(wanted)
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        raise VocabularyError(f"cannot read {Path(path).name}: {error}") from error


def parse_metadata(data: bytes, wanted: Callable[[str], bool] = lambda _key: True) -> dict[str, Any]:
    """Reads the wanted key-value pairs at the start of a GGUF file's bytes."""
    return _MetadataReader(data).read_pairs(wanted)


class _MetadataReader:
    def __init__(self, data: bytes | mmap.mmap) -> None:
        self.data = data
        self.size = len(data)
        self.at = 0

    def read_pairs(self, wanted: Callable[[str], bool]) -> dict[str, Any]:
        magic, version, _tensors, count = self._unpack(_HEADER)
        if magic != _MAGIC:
            raise VocabularyError("not a GGUF file")
        if version not in _VERSIONS:
            raise VocabularyError(f"GGUF version {version} is not known (2 and 3 are)")
        pairs: dict[str, Any] = {}
        for _ in range(count):
            key = self._string()
            (kind,) = self._unpack(struct.Struct("<I"))
            if wanted(key):
                pairs[key] = self._value(kind)
            else:
                self._skip(kind)
        return pairs

    def _unpack(self, form: struct.Struct) -> tuple[Any, ...]:
        start = self._advance(form.size)
        return form.unpack_from(self.data, start)

    def _advance(self, size: int) -> int:
        start = self.at
        if size > self.size - start:
            raise VocabularyError(f"the GGUF file ends early: {size} bytes wanted at {start} of {self.size}")
        self.at = start + size
        return start

    def _string(self) -> str:
        (length,) = self._unpack(_LENGTH)
        start = self._advance(length)
        try:
            return str(self.data[start : self.at], "utf-8")
        except UnicodeDecodeError as error:
            raise VocabularyError(f"a string at byte {start} of the GGUF file is not UTF-8") from error

    def _value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array(depth)
        return self._unpack(struct.Struct("<" + scalar_format(kind)))[0]

    def _array(self, depth: int) -> list[Any]:
        kind, count = self._unpack(struct.Struct("<IQ"))
        if kind in _SCALARS:
            # `_advance` has checked that the array fits into the file, and so into memory.
            start = self._advance(count * struct.calcsize("<" + scalar_format(kind)))
            return list(struct.unpack_from(f"<{count}{scalar_format(kind)}", self.data, start))
        if depth >= _MAX_DEPTH:
            raise VocabularyError("arrays are nested too deeply in the GGUF file")
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _skip(self, kind: int, depth: int = 0) -> None:
        if kind == _STRING:
            (length,) = self._unpack(_LENGTH)
            self._advance(length)
        elif kind == _ARRAY:
            inner, count = self._unpack(struct.Struct("<IQ"))
            if inner in _SCALARS:
                self._advance(count * struct.calcsize("<" + scalar_format(inner)))
                return
            if depth >= _MAX_DEPTH:
                raise VocabularyError("arrays are nested too deeply in the GGUF file")
            for _ in range(count):
                self._skip(inner, depth + 1)
        else:
            self._advance(struct.calcsize("<" + scalar_format(kind)))


def scalar_format(kind: int) -> str:
    try:
        return _SCALARS[kind]
    except KeyError:
        raise VocabularyError(f"the GGUF file has a value of unknown type {kind}") from None


def encode_metadata(metadata: Metadata, tensors: int = 0) -> bytes:
    """Returns header and pairs as GGUF 3. Types follow Python's: str, bool, int, float (32 bit), lists."""
    parts = [_HEADER.pack(_MAGIC, _VERSIONS[-1], tensors, len(metadata))]
    for key, value in metadata.items():
        kind, body = encode_value(value)
        parts += [encode_string(key), struct.pack("<I", kind), body]
    return b"".join(parts)


def encode_value(value: Any) -> tuple[int, bytes]:
    match value:
        case bool():
            return _BOOL, struct.pack("<?", value)
        case str():
            return _STRING, encode_string(value)
        case int():
            return (4, struct.pack("<I", value)) if 0 <= value < 2**32 else (11, struct.pack("<q", value))
        case float():
            return 6, struct.pack("<f", value)
        case list() | tuple():
            kind, body = encode_items(value)
            return _ARRAY, struct.pack("<IQ", kind, len(value)) + body
    raise TypeError(f"GGUF has no type for {type(value).__name__}")


def encode_items(values: list[Any] | tuple[Any, ...]) -> tuple[int, bytes]:
    if all(isinstance(value, str) for value in values):
        return _STRING, b"".join(encode_string(value) for value in values)
    if all(isinstance(value, int) for value in values):
        return 5, struct.pack(f"<{len(values)}i", *values)
    return 6, struct.pack(f"<{len(values)}f", *values)


def encode_string(text: str) -> bytes:
    raw = text.encode()
    return _LENGTH.pack(len(raw)) + raw
