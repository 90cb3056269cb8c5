"""Reading what strangers wrote: files, zips, JSON and times, with a limit on everything.

Nothing of a zip is ever written to a disk, and nothing larger than it may be is read. Knows no format.
"""

import codecs
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from holdfast.errors import BadRequest
from holdfast.language import say

# The history of some years is some hundred megabytes.
LARGEST = 1 << 30
# A picture that is larger was not sent to a model.
LARGEST_PICTURE = 20 << 20
# Text shrinks to a tenth in a zip; what shrinks more was made to.
_SHRUNK = 200
# The year 9000. No source is from then, and a calendar that ends with 9999 has every zone of the time before.
_LATEST = 221_845_392_000.0
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Unreadable(Exception):
    """Why one part of a source cannot be read; the rest may well be."""


class Files:
    """The files of a folder, of a zip, or one file alone, by their paths."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._zip: zipfile.ZipFile | None = None
        if not place.exists():
            raise BadRequest(
                say(f"There is no {place}.", f"{place} gibt es nicht."),
                hint=say("See how it is spelled.", "Die Schreibweise prüfen."),
            )
        if place.is_file() and zipfile.is_zipfile(place):
            try:
                self._zip = zipfile.ZipFile(place)
            except zipfile.BadZipFile as error:
                raise _no_zip(place, error) from error

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()

    def names(self) -> list[str]:
        """The paths of all files, sorted; links and hidden ones are left alone."""
        if self._zip is not None:
            return sorted(info.filename for info in self._zip.infolist() if not info.is_dir())
        if self.place.is_file():
            return [self.place.name]
        return sorted(
            path.relative_to(self.place).as_posix()
            for path in self.place.rglob("*")
            if path.is_file() and not path.is_symlink() and not _is_hidden(path, self.place)
        )

    def left_alone(self) -> Iterator[tuple[str, str]]:
        """What `names` does not name of a folder, with the reason: links, what is hidden, what is no file."""
        for path in sorted(self.place.rglob("*")) if self.place.is_dir() else ():
            name = path.relative_to(self.place).as_posix()
            if path.is_symlink():
                yield name, say("a link", "eine Verknüpfung")
            elif path.is_file() and _is_hidden(path, self.place):
                yield name, say("hidden", "versteckt")
            elif not path.is_file() and not path.is_dir():
                yield name, say("no plain file", "keine gewöhnliche Datei")

    def read(self, name: str, most: int = LARGEST) -> bytes:
        try:
            if self._zip is not None:
                return _from_zip(self._zip, name, most)
            path = self.place if self.place.is_file() else self.place / name
            with path.open("rb") as opened:
                return _at_most(opened, most)
        except OSError as error:
            raise Unreadable(error.strerror or str(error)) from error


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _from_zip(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    info = archive.getinfo(name)
    if info.file_size > most:
        raise Unreadable(_too_large(info.file_size, most))
    if info.file_size > _SHRUNK * max(info.compress_size, 1 << 16):
        raise Unreadable(say("it is packed as no text is", "so gepackt, wie kein Text es ist"))
    try:
        with archive.open(info) as opened:
            return _at_most(opened, most)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # What is encrypted is a RuntimeError to this library.
        raise Unreadable(str(error)) from error


def _at_most(opened: IO[bytes], most: int) -> bytes:
    content = opened.read(most + 1)
    if len(content) > most:
        raise Unreadable(_too_large(len(content), most))
    return content


def _too_large(size: int, most: int) -> str:
    return say(
        f"{size:,} bytes are more than the {most:,} that are read",
        f"{size:,} Bytes sind mehr als die {most:,}, die gelesen werden",
    )


def _no_zip(place: Path, error: Exception) -> BadRequest:
    return BadRequest(
        say(f"{place} is a broken zip: {error}.", f"{place} ist ein kaputtes Zip: {error}."),
        hint=say("Fetch it again.", "Noch einmal holen."),
    )


def text_of(content: bytes) -> str:
    """Text in UTF-8, or in UTF-16 that says so."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(
            say(f"no UTF-8, from byte {error.start:,} on", f"kein UTF-8, ab Byte {error.start:,}")
        ) from error
    if "\0" in text:
        raise Unreadable(say("it is no text", "das ist kein Text"))
    return text


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(say(f"no JSON: {error}", f"kein JSON: {error}")) from error


def elements(text: str) -> Iterator[Any]:
    """The elements of a JSON list one after the other, so that those before a break are not lost with it."""
    decoder = json.JSONDecoder()
    at = _after_space(text, 0)
    if text[at : at + 1] != "[":
        raise Unreadable(say("no list in JSON", "keine Liste in JSON"))
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "]":
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise Unreadable(
                say(f"it breaks off or is broken here: {error}", f"hier abgebrochen oder kaputt: {error}")
            ) from error
        yield value
        at = _after_space(text, at)
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def plain(text: object) -> str:
    """Text as it can be stored: half a character becomes a sign for one; what is no text is empty."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""


def seconds(told: object, otherwise: float = 0.0) -> float:
    """A moment as sources spell it: seconds or milliseconds since 1970, or a date. Without a zone it is
    local time.
    """
    value = 0.0
    with suppress(ValueError, OverflowError, OSError):
        if isinstance(told, int | float) and not isinstance(told, bool):
            value = float(told) / (1000 if told > 1e11 else 1)
        elif isinstance(told, str) and told.strip():
            value = datetime.fromisoformat(told.strip()).timestamp()
    return value if 0 < value < _LATEST else otherwise


def noon_of(day: str) -> float:
    """The middle of a day written as 2026-02-24, where the person is; 0 where it is none."""
    return seconds(f"{day}T12:00")


def dated(path: Path) -> float:
    """When a file was last written."""
    now = datetime.now(UTC).timestamp()
    try:
        return seconds(int(path.stat().st_mtime), now)
    except OSError:
        return now


def tail(name: str) -> str:
    return PurePosixPath(name).name
