"""The body of an answer, read with a limit that holds for what was unpacked, too.

Packed data is unpacked here and no further than the limit: a few thousand bytes can stand for gigabytes.
"""

import zlib
from collections.abc import AsyncIterator

from holdfast.errors import FetchFailed
from holdfast.i18n import say

# What is asked for; other ways to pack are refused.
ENCODINGS = "gzip, deflate"

_GZIP, _ZLIB, _BARE = 31, 15, -15


async def read_body(pieces: AsyncIterator[bytes], encoding: str, limit: int) -> bytes:
    """All of it, unpacked; FetchFailed if it is more than `limit` bytes, or cannot be unpacked."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        unpacker = None
    elif encoding in ("gzip", "x-gzip", "deflate"):
        unpacker = _Unpacker(bare=encoding == "deflate")
    else:
        raise FetchFailed(
            say(
                f"it is packed in a way that was not asked for ({encoding[:40]})",
                f"sie ist auf nicht erbetene Weise gepackt ({encoding[:40]})",
            )
        )
    body = bytearray()
    received = 0
    async for piece in pieces:
        received += len(piece)
        room = limit - len(body)
        body += piece if unpacker is None else unpacker.unpack(piece, room)
        # Packed data may be endless and stand for nothing.
        if len(body) > limit or received > limit:
            raise too_large_error(limit)
    if unpacker is not None and not unpacker.complete:
        raise broken_off_error()
    return bytes(body)


def too_large_error(limit: int) -> FetchFailed:
    size = f"{limit / 1_000_000:g} MB"
    return FetchFailed(say(f"it is larger than {size}", f"sie ist größer als {size}"))


def broken_off_error() -> FetchFailed:
    return FetchFailed(say("it broke off in the middle", "sie brach mittendrin ab"))


class _Unpacker:
    """`bare`: "deflate" means zlib's format by the book, and the bare one with some servers."""

    def __init__(self, *, bare: bool) -> None:
        self._bits = _ZLIB if bare else _GZIP
        self._may_be_bare = bare
        self._stream = zlib.decompressobj(self._bits)
        self._begun = False

    @property
    def complete(self) -> bool:
        return self._stream.eof or not self._begun

    def unpack(self, data: bytes, room: int) -> bytes:
        """What `data` stands for, at most one byte more than there is room for."""
        unpacked = b""
        while data and len(unpacked) <= room:
            if self._stream.eof:
                # Packed in several parts; after the last one, anything else is of no interest.
                if not data.startswith(b"\x1f\x8b"):
                    break
                self._stream = zlib.decompressobj(self._bits)
            self._begun = True
            unpacked += self._next(data, room - len(unpacked) + 1)
            data = self._stream.unused_data
        return unpacked

    def _next(self, data: bytes, most: int) -> bytes:
        try:
            unpacked = self._stream.decompress(data, most)
        except zlib.error:
            if not self._may_be_bare:
                raise FetchFailed(
                    say(
                        "what was sent packed cannot be unpacked",
                        "was gepackt kam, lässt sich nicht entpacken",
                    )
                ) from None
            self._may_be_bare = False
            self._bits = _BARE
            self._stream = zlib.decompressobj(_BARE)
            return self._next(data, most)
        self._may_be_bare = False
        return unpacked
