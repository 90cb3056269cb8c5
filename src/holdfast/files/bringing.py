"""What a message points at, brought in: whole while it is short, otherwise as a digest or the part asked for.

Trouble is a result like any other, told to the person and named to the model in one line; nothing here fails.
Reads from disk and waits for it. Knows neither conversations nor windows.
"""

import asyncio
import difflib
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath

from holdfast.errors import BadRequest
from holdfast.files import folders, trouble
from holdfast.files.digests import digest_of, element, elements
from holdfast.files.digests.values import plural
from holdfast.files.globs import Matches, files_like, is_pattern
from holdfast.files.opening import Data
from holdfast.files.reading import SECONDS, TooSlow
from holdfast.files.references import Reference, references_in, suffix_of, with_colons, written
from holdfast.files.roots import Found, Roots, plain
from holdfast.files.texts import text_of
from holdfast.files.trouble import Trouble

# A file up to so many bytes is brought whole without being asked for.
WHOLE = 5 * 1024
# So many files of one message, and of one pattern; and so many characters of all together.
MOST, OF_PATTERN, CHARACTERS = 30, 10, 4_000_000
# So often a message has a folder looked through, and so many words of it are looked up at all.
WALKS, LOOKUPS = 5, 1_000
# Of each end of a file too large to be read whole, so many characters.
_ENDS = 2_000
# Names that are told when one was not found.
_NAMES = 8
# Their text has little to do with their size, and is not to be had from their ends.
_DOCUMENTS = (".pdf", ".docx")
# What neither a store nor a model server takes: a zero, and half of a pair that makes a character.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_threads = ThreadPoolExecutor(4, "holdfast-files")


@dataclass(frozen=True, slots=True)
class Brought:
    """`path` is where a file really is; `hash` and `size` are of the file as it was read.

    `text` is for the window, its first line a heading. `digest` is what may take its place later, empty where
    there is nothing shorter. `trouble` is for the person, in English and German. `name` is one for the same
    part of the same file, however it was written, and with `@` before `reference` it is brought again.
    """

    path: str
    mode: str
    text: str
    digest: str = ""
    hash: str = ""
    size: int = 0
    trouble: str = ""
    trouble_de: str = ""
    name: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A file's words: all of them, or of a large one what its ends have."""

    found: Found
    data: Data
    text: str

    @property
    def name(self) -> str:
        return self.found.steps[-1]

    @property
    def lines(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")


def bring(text: str, roots: Roots) -> list[Brought]:
    """Everything a message points at, in its order, each file once."""
    # Where what was pasted cannot be told from the person's own words, nothing is taken for theirs.
    own = text.removesuffix(roots.pasted) if text.endswith(roots.pasted) else ""
    return brought(references_in(own), roots)


async def brought_from(text: str, roots: Roots) -> list[Brought]:
    """The same for those who cannot block. Who waits for documents keeps only others with files waiting."""
    work = partial(copy_context().run, bring, text, roots)
    return await asyncio.get_running_loop().run_in_executor(_threads, work)


def brought(references: list[Reference], roots: Roots) -> list[Brought]:
    bringing = _Bringing(roots, roots.limits.seconds)
    rows: list[Brought] = []
    left = 0
    for reference in _distinct(references)[:LOOKUPS]:
        if bringing.is_full:
            left += reference.sure
        else:
            rows += bringing.all(reference)
    if left:
        error = trouble.and_more(left)
        rows.append(Brought("", "", f"[{error.short}]", trouble=error.message, trouble_de=error.german))
    whole = {row.path for row in rows if row.mode == "full" and not row.trouble}
    kept: dict[tuple[str, ...], Brought] = {}
    for row in rows:
        # What is there as a whole need not be there in part.
        if row.path in whole and row.mode in ("summary", "element", "lines") and not row.trouble:
            continue
        kept.setdefault((row.path, row.mode, row.text), row)
    return list(kept.values())


def _distinct(references: list[Reference]) -> list[Reference]:
    return list({replace(one, start=0, end=0): one for one in references}.values())


def source_of(roots: Roots, found: Found, seconds: float = SECONDS) -> Source:
    """A file read once and put into words, a document within so many seconds."""
    document = PurePath(found.name).suffix.lower() in _DOCUMENTS
    data = roots.read(found, whole=roots.limits.document if document else None)
    if document and not data.whole:
        raise trouble.too_large(found.name, roots.limits.document)
    try:
        text = _UNSTORABLE.sub("\ufffd", text_of(found.steps[-1], data.head, seconds).text)
    except TooSlow:
        raise trouble.too_slow(found.name) from None
    except BadRequest as error:
        raise trouble.no_text(found.name, error) from None
    if data.tail is None:
        return Source(found, data, text)
    head, tail = text[:_ENDS].rpartition("\n"), _decoded(data.tail)[-_ENDS:].partition("\n")
    first, last = head[0] or head[2], tail[2] or tail[0]
    left = data.lines - first.count("\n") - last.count("\n") - 1
    gap = f"[{max(0, left):,} of {plural(data.lines, 'line')} left out; {data.size:,} bytes in all]"
    return Source(found, data, f"{first}\n{gap}\n{last}")


def _decoded(data: bytes) -> str:
    """A piece out of the middle of a text."""
    return _UNSTORABLE.sub("\ufffd", data.decode("utf-8", "replace"))


@dataclass(slots=True)
class _Bringing:
    """One message's files: each is read once, however often it is named."""

    roots: Roots
    # Seconds that are left for documents.
    patience: float
    read: dict[str, Source] = field(default_factory=dict)
    number: int = 0
    characters: int = 0
    walks: int = 0

    @property
    def is_full(self) -> bool:
        return self.number >= MOST or self.characters > CHARACTERS

    def all(self, reference: Reference) -> Iterator[Brought]:
        """What one reference becomes: nothing if it is none after all, several if it is a pattern."""
        there = self.roots.exists(reference.path)
        if not there and (other := next(self._meant(reference), None)):
            reference, there = other, True
        name = reference.path
        if is_pattern(name) and not there:
            self.number += 1
            try:
                self._walk(name)
                yield from self._pattern(reference, files_like(self.roots, name, OF_PATTERN))
            except Trouble as error:
                if reference.sure:
                    yield _troubled(reference, name, error)
        elif there or reference.sure:
            yield self._one(reference, name, outright=True)

    def _meant(self, reference: Reference) -> Iterator[Reference]:
        """A colon may be part of a file's name; then it is there with it."""
        return (other for other in with_colons(reference) if self.roots.exists(other.path))

    def _pattern(self, reference: Reference, found: Matches) -> Iterator[Brought]:
        if not found.names:
            raise trouble.missing(reference.path)
        if found.gave_up or found.number > len(found.names):
            error = trouble.too_many(reference.path, found.number, len(found.names), more=found.gave_up)
            yield _troubled(reference, reference.path, error, "glob")
        for name in found.names:
            yield self._one(reference, name, outright=False)

    def _one(self, reference: Reference, name: str, *, outright: bool) -> Brought:
        """`outright`: its very name was said."""
        self.number += 1
        try:
            full = reference.mode == "full" and outright
            found = self.roots.find(name, full=full)
            row = self._folder(reference, found) if found.kind == "folder" else self._file(reference, found)
        except Trouble as error:
            return _troubled(reference, name, error)
        self.characters += len(row.text)
        return row

    def _walk(self, name: str) -> None:
        """Counts that folders are looked through, which takes its time."""
        self.walks += 1
        if self.walks > WALKS:
            raise trouble.too_much(name)

    def _folder(self, reference: Reference, found: Found) -> Brought:
        if reference.mode in ("element", "lines"):
            raise trouble.is_folder(found.name)
        if reference.mode == "search":
            return self._searched(reference, found)
        self._walk(found.name)
        mode = "list" if reference.mode == "list" else "tree"
        shown = (folders.listed if mode == "list" else folders.tree)(self.roots, found)
        heading = f"[folder {self._called(found)}, {mode}: {shown.about}]"
        return self._shown(reference, found, mode, heading, shown)

    def _searched(self, reference: Reference, found: Found) -> Brought:
        if not reference.what:
            raise trouble.no_word(found.name)
        self._walk(found.name)
        shown = folders.search(self.roots, found, reference.what)
        heading = f'[search in {self._called(found)} for "{plain(reference.what)}": {shown.about}]'
        return self._shown(reference, found, "search", heading, shown)

    def _shown(
        self, reference: Reference, found: Found, mode: str, heading: str, shown: folders.Shown
    ) -> Brought:
        text = "\n".join(line for line in (heading, shown.text, shown.left_out) if line)
        return self._made(reference, found, mode, text, heading if shown.text else "")

    def _file(self, reference: Reference, found: Found) -> Brought:
        if reference.mode in ("list", "tree"):
            raise trouble.is_file(found.name)
        if reference.mode == "search":
            return self._searched(reference, found)
        source = self._source(found)
        if reference.mode == "lines":
            return self._lines(reference, source)
        if reference.mode == "element":
            return self._element(reference, source)
        return self._whole_or_digest(reference, source)

    def _source(self, found: Found) -> Source:
        source = self.read.get(found.path)
        if source is None:
            began = time.monotonic()
            try:
                source = self.read[found.path] = source_of(self.roots, found, min(SECONDS, self.patience))
            finally:
                self.patience -= time.monotonic() - began
        return source

    def _lines(self, reference: Reference, source: Source) -> Brought:
        if not reference.first:
            raise trouble.which_lines(source.found.name)
        first, last, total = reference.first, reference.last, source.lines
        if source.data.whole:
            text = "\n".join(source.text.split("\n")[first - 1 : last or None])
        else:
            data = self.roots.read_lines(source.found, first, last)
            text, total = _decoded(data.head), data.lines
        if first > total:
            raise trouble.so_few_lines(source.found.name, total)
        what = f"lines {first:,} to {min(last or total, total):,} of {total:,}"
        return self._part(reference, source, "lines", what, text.rstrip("\n"))

    def _element(self, reference: Reference, source: Source) -> Brought:
        span = element(source.name, source.text, reference.what)
        if span is None:
            names = elements(source.name, source.text)
            near = difflib.get_close_matches(reference.what, names, n=_NAMES, cutoff=0.5)
            raise trouble.no_element(source.found.name, reference.what, near or names[:_NAMES])
        what = f"{plain(reference.what)}, lines {span.first:,} to {span.last:,} of {source.lines:,}"
        return self._part(reference, source, "element", what, span.text)

    def _whole_or_digest(self, reference: Reference, source: Source) -> Brought:
        if not source.data.whole:
            what = f"beginning and end of {plural(source.data.lines, 'line')}"
            row = self._read(reference, source, "summary", what, source.text)
            if reference.mode != "full":
                return row
            told = trouble.only_ends(source.found.name, source.data.size)
            return replace(row, trouble=told.message, trouble_de=told.german)
        if reference.mode == "full" or (not reference.mode and len(source.text.encode()) <= WHOLE):
            return self._part(reference, source, "full", _whole(source), source.text)
        digest = digest_of(source.name, source.text).text
        if len(digest) >= len(source.text):
            return self._part(reference, source, "full", _whole(source), source.text)
        return self._read(reference, source, "summary", f"digest of {plural(source.lines, 'line')}", digest)

    def _part(self, reference: Reference, source: Source, mode: str, what: str, body: str) -> Brought:
        """A file, or a part of it, word for word, and what may stand for it later."""
        row = self._read(reference, source, mode, what, body)
        digest = digest_of(source.name, body).text
        shorter = f"[file {self._called(source.found)}, digest of {what}]\n{digest}"
        return replace(row, digest=shorter) if len(shorter) < len(row.text) else row

    def _read(self, reference: Reference, source: Source, mode: str, what: str, body: str) -> Brought:
        text = f"[file {self._called(source.found)}, {what}]\n{body}"
        row = self._made(reference, source.found, mode, text)
        return replace(row, hash=source.data.hash, size=source.data.size)

    def _made(self, reference: Reference, found: Found, mode: str, text: str, digest: str = "") -> Brought:
        part = mode in ("element", "lines", "search", "list")
        name = f"{self._called(found)}{suffix_of(reference) if part else ''}"
        path = _UNSTORABLE.sub("\ufffd", found.path)
        return Brought(path, mode, text, digest, name=name, reference=written(path, reference))

    def _called(self, found: Found) -> str:
        """A file's name in headings, from the folder one is in."""
        return plain(found.called_from(self.roots.base))


def _whole(source: Source) -> str:
    return f"whole, {plural(source.lines, 'line')}"


def _troubled(reference: Reference, name: str, error: Trouble, mode: str = "") -> Brought:
    text = f"[{plain(name)}: {plain(error.short)}]"
    words = (error.message, error.german)
    return Brought(name, mode or reference.mode, text, "", "", 0, *words, name=name)
