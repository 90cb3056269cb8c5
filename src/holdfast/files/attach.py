"""Attach the files a message references: whole if short, else as a digest, or the part that was asked for.

A file that cannot be attached becomes a row with a problem: a message for the person and one line for the
model. Nothing here raises because of a file. All functions read from disk and block, except
`attach_files_async`.
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
from holdfast.files import folders, problems
from holdfast.files.digests import build_digest, find_element, list_elements
from holdfast.files.digests.base import plural
from holdfast.files.documents import DOCUMENT_SECONDS, TooSlow, extract_text
from holdfast.files.folders import GlobMatches, is_pattern, match_files
from holdfast.files.problems import FileProblem
from holdfast.files.references import (
    Reference,
    alternatives_with_colons,
    find_references,
    format_reference,
    format_suffix,
)
from holdfast.files.roots import FileData, FileEntry, Roots, printable

# A file up to this size is attached whole without being asked for.
WHOLE_BYTES = 5 * 1024
# Limits of one message: files, files of one pattern, characters of all files together.
MOST_FILES, MOST_MATCHES, MOST_CHARACTERS = 30, 10, 4_000_000
# Limits of one message: folders that are walked, references that are looked up.
MOST_WALKS, MOST_LOOKUPS = 5, 1_000
# Characters kept of each end of a file that is too large to be read whole.
_END_CHARACTERS = 2_000
# How many element names are suggested when one does not exist.
_SUGGESTIONS = 8
# The text of these cannot be read from their ends, and its length has little to do with the file's size.
_DOCUMENTS = (".pdf", ".docx")
# Neither the store nor a model server accepts NUL and lone surrogates.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_threads = ThreadPoolExecutor(4, "holdfast-files")


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file, a folder or a part of one, as it is attached to a message.

    `path` is the resolved path; `hash` and `size` belong to the file as it was read. `text` is for the window
    and begins with a heading. `digest` may replace it later and is empty if nothing shorter exists. `trouble`
    is the problem for the person. `name` identifies the part of the file however it
    was written; `@` and `reference` attach it again.
    """

    path: str
    mode: str
    text: str
    digest: str = ""
    hash: str = ""
    size: int = 0
    trouble: str = ""
    name: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class FileSource:
    """The text of a file, or of both ends of a large one."""

    entry: FileEntry
    data: FileData
    text: str

    @property
    def name(self) -> str:
        return self.entry.steps[-1]

    @property
    def lines(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")


def attach_files(text: str, roots: Roots) -> list[AttachedFile]:
    """Attach everything a message references, in its order, each file once."""
    # If the pasted text cannot be separated from the person's own words, nothing counts as their own.
    own = text.removesuffix(roots.pasted) if text.endswith(roots.pasted) else ""
    return attach_references(find_references(own), roots)


async def attach_files_async(text: str, roots: Roots) -> list[AttachedFile]:
    """Run `attach_files` in a thread. It has its own pool, so slow documents delay only other attachments."""
    work = partial(copy_context().run, attach_files, text, roots)
    return await asyncio.get_running_loop().run_in_executor(_threads, work)


def attach_references(references: list[Reference], roots: Roots) -> list[AttachedFile]:
    attacher = _Attacher(roots, roots.limits.seconds)
    rows: list[AttachedFile] = []
    left = 0
    for reference in unique_references(references)[:MOST_LOOKUPS]:
        if attacher.is_full:
            left += reference.sure
        else:
            rows += attacher.attach(reference)
    if left:
        error = problems.and_more(left)
        rows.append(AttachedFile("", "", f"[{error.short}]", trouble=error.message))
    whole = {row.path for row in rows if row.mode == "full" and not row.trouble}
    unique: dict[tuple[str, ...], AttachedFile] = {}
    for row in rows:
        # A part is redundant if the whole file is attached.
        if row.path in whole and row.mode in ("summary", "element", "lines") and not row.trouble:
            continue
        unique.setdefault((row.path, row.mode, row.text), row)
    return list(unique.values())


def unique_references(references: list[Reference]) -> list[Reference]:
    return list({replace(reference, start=0, end=0): reference for reference in references}.values())


def load_source(roots: Roots, entry: FileEntry, seconds: float = DOCUMENT_SECONDS) -> FileSource:
    """Read a file and extract its text; a document may take `seconds`. Raises `FileProblem`."""
    document = PurePath(entry.name).suffix.lower() in _DOCUMENTS
    data = roots.read(entry, whole=roots.limits.document if document else None)
    if document and not data.whole:
        raise problems.too_large(entry.name, roots.limits.document)
    try:
        text = _UNSTORABLE.sub("\ufffd", extract_text(entry.steps[-1], data.head, seconds).text)
    except TooSlow:
        raise problems.too_slow(entry.name) from None
    except BadRequest as error:
        raise problems.no_text(entry.name, error) from None
    if data.tail is None:
        return FileSource(entry, data, text)
    head, tail = (
        text[:_END_CHARACTERS].rpartition("\n"),
        decode_fragment(data.tail)[-_END_CHARACTERS:].partition("\n"),
    )
    first, last = head[0] or head[2], tail[2] or tail[0]
    left = data.lines - first.count("\n") - last.count("\n") - 1
    gap = f"[{max(0, left):,} of {plural(data.lines, 'line')} left out; {data.size:,} bytes in all]"
    return FileSource(entry, data, f"{first}\n{gap}\n{last}")


def decode_fragment(data: bytes) -> str:
    """Decode bytes that may begin or end within a character."""
    return _UNSTORABLE.sub("\ufffd", data.decode("utf-8", "replace"))


@dataclass(slots=True)
class _Attacher:
    """Attaches the files of one message and keeps to its limits; each file is read once."""

    roots: Roots
    # Seconds left for documents.
    seconds_left: float
    sources: dict[str, FileSource] = field(default_factory=dict)
    files: int = 0
    characters: int = 0
    walks: int = 0

    @property
    def is_full(self) -> bool:
        return self.files >= MOST_FILES or self.characters > MOST_CHARACTERS

    def attach(self, reference: Reference) -> Iterator[AttachedFile]:
        """Yield what a reference attaches: nothing if it was none after all, several for a pattern."""
        exists = self.roots.exists(reference.path)
        if not exists and (other := next(self.with_existing_file(reference), None)):
            reference, exists = other, True
        name = reference.path
        if is_pattern(name) and not exists:
            self.files += 1
            try:
                self.count_walk(name)
                yield from self.attach_matches(reference, match_files(self.roots, name, MOST_MATCHES))
            except FileProblem as error:
                if reference.sure:
                    yield attach_problem(reference, name, error)
        elif exists or reference.sure:
            yield self.attach_path(reference, name, outright=True)

    def with_existing_file(self, reference: Reference) -> Iterator[Reference]:
        """Yield readings of the reference in which a colon is part of the name of an existing file."""
        return (other for other in alternatives_with_colons(reference) if self.roots.exists(other.path))

    def attach_matches(self, reference: Reference, matches: GlobMatches) -> Iterator[AttachedFile]:
        if not matches.names:
            raise problems.missing(reference.path)
        if matches.gave_up or matches.number > len(matches.names):
            error = problems.too_many(
                reference.path, matches.number, len(matches.names), more=matches.gave_up
            )
            yield attach_problem(reference, reference.path, error, "glob")
        for name in matches.names:
            yield self.attach_path(reference, name, outright=False)

    def attach_path(self, reference: Reference, name: str, *, outright: bool) -> AttachedFile:
        """Attach one path. `outright`: the message names this path itself, not a pattern."""
        self.files += 1
        try:
            full = reference.mode == "full" and outright
            entry = self.roots.find(name, full=full)
            row = (
                self.show_folder(reference, entry)
                if entry.kind == "folder"
                else self.show_file(reference, entry)
            )
        except FileProblem as error:
            return attach_problem(reference, name, error)
        self.characters += len(row.text)
        return row

    def count_walk(self, name: str) -> None:
        """Count a walk through folders, and raise `FileProblem` after too many: walks are slow."""
        self.walks += 1
        if self.walks > MOST_WALKS:
            raise problems.too_much(name)

    def show_folder(self, reference: Reference, entry: FileEntry) -> AttachedFile:
        if reference.mode in ("element", "lines"):
            raise problems.is_folder(entry.name)
        if reference.mode == "search":
            return self.show_search(reference, entry)
        self.count_walk(entry.name)
        mode = "list" if reference.mode == "list" else "tree"
        listing = (folders.list_folder if mode == "list" else folders.render_tree)(self.roots, entry)
        heading = f"[folder {self.display_name(entry)}, {mode}: {listing.about}]"
        return self.attach_listing(reference, entry, mode, heading, listing)

    def show_search(self, reference: Reference, entry: FileEntry) -> AttachedFile:
        if not reference.what:
            raise problems.no_word(entry.name)
        self.count_walk(entry.name)
        listing = folders.search_files(self.roots, entry, reference.what)
        heading = f'[search in {self.display_name(entry)} for "{printable(reference.what)}": {listing.about}]'
        return self.attach_listing(reference, entry, "search", heading, listing)

    def attach_listing(
        self, reference: Reference, entry: FileEntry, mode: str, heading: str, listing: folders.FolderListing
    ) -> AttachedFile:
        text = "\n".join(line for line in (heading, listing.text, listing.left_out) if line)
        return self.build_row(reference, entry, mode, text, heading if listing.text else "")

    def show_file(self, reference: Reference, entry: FileEntry) -> AttachedFile:
        if reference.mode in ("list", "tree"):
            raise problems.is_file(entry.name)
        if reference.mode == "search":
            return self.show_search(reference, entry)
        source = self.load(entry)
        if reference.mode == "lines":
            return self.show_lines(reference, source)
        if reference.mode == "element":
            return self.show_element(reference, source)
        return self.show_whole_or_digest(reference, source)

    def load(self, entry: FileEntry) -> FileSource:
        source = self.sources.get(entry.path)
        if source is None:
            began = time.monotonic()
            try:
                source = self.sources[entry.path] = load_source(
                    self.roots, entry, min(DOCUMENT_SECONDS, self.seconds_left)
                )
            finally:
                self.seconds_left -= time.monotonic() - began
        return source

    def show_lines(self, reference: Reference, source: FileSource) -> AttachedFile:
        if not reference.first:
            raise problems.which_lines(source.entry.name)
        first, last, total = reference.first, reference.last, source.lines
        if source.data.whole:
            text = "\n".join(source.text.split("\n")[first - 1 : last or None])
        else:
            data = self.roots.read_lines(source.entry, first, last)
            text, total = decode_fragment(data.head), data.lines
        if first > total:
            raise problems.so_few_lines(source.entry.name, total)
        label = f"lines {first:,} to {min(last or total, total):,} of {total:,}"
        return self.attach_part(reference, source, "lines", label, text.rstrip("\n"))

    def show_element(self, reference: Reference, source: FileSource) -> AttachedFile:
        span = find_element(source.name, source.text, reference.what)
        if span is None:
            names = list_elements(source.name, source.text)
            near = difflib.get_close_matches(reference.what, names, n=_SUGGESTIONS, cutoff=0.5)
            raise problems.no_element(source.entry.name, reference.what, near or names[:_SUGGESTIONS])
        label = f"{printable(reference.what)}, lines {span.first:,} to {span.last:,} of {source.lines:,}"
        return self.attach_part(reference, source, "element", label, span.text)

    def show_whole_or_digest(self, reference: Reference, source: FileSource) -> AttachedFile:
        if not source.data.whole:
            label = f"beginning and end of {plural(source.data.lines, 'line')}"
            row = self.attach_text(reference, source, "summary", label, source.text)
            if reference.mode != "full":
                return row
            problem = problems.only_ends(source.entry.name, source.data.size)
            return replace(row, trouble=problem.message)
        if reference.mode == "full" or (not reference.mode and len(source.text.encode()) <= WHOLE_BYTES):
            return self.attach_part(reference, source, "full", describe_whole(source), source.text)
        digest = build_digest(source.name, source.text).text
        if len(digest) >= len(source.text):
            return self.attach_part(reference, source, "full", describe_whole(source), source.text)
        return self.attach_text(
            reference, source, "summary", f"digest of {plural(source.lines, 'line')}", digest
        )

    def attach_part(
        self, reference: Reference, source: FileSource, mode: str, label: str, body: str
    ) -> AttachedFile:
        """Attach a file or a part of it verbatim, with the digest that may replace it later."""
        row = self.attach_text(reference, source, mode, label, body)
        digest = build_digest(source.name, body).text
        shorter = f"[file {self.display_name(source.entry)}, digest of {label}]\n{digest}"
        return replace(row, digest=shorter) if len(shorter) < len(row.text) else row

    def attach_text(
        self, reference: Reference, source: FileSource, mode: str, label: str, body: str
    ) -> AttachedFile:
        text = f"[file {self.display_name(source.entry)}, {label}]\n{body}"
        row = self.build_row(reference, source.entry, mode, text)
        return replace(row, hash=source.data.hash, size=source.data.size)

    def build_row(
        self, reference: Reference, entry: FileEntry, mode: str, text: str, digest: str = ""
    ) -> AttachedFile:
        part = mode in ("element", "lines", "search", "list")
        name = f"{self.display_name(entry)}{format_suffix(reference) if part else ''}"
        path = _UNSTORABLE.sub("\ufffd", entry.path)
        return AttachedFile(path, mode, text, digest, name=name, reference=format_reference(path, reference))

    def display_name(self, entry: FileEntry) -> str:
        """Return the name for headings, relative to the base folder."""
        return printable(entry.name_from(self.roots.base))


def describe_whole(source: FileSource) -> str:
    return f"whole, {plural(source.lines, 'line')}"


def attach_problem(reference: Reference, name: str, error: FileProblem, mode: str = "") -> AttachedFile:
    text = f"[{printable(name)}: {printable(error.short)}]"
    return AttachedFile(name, mode or reference.mode, text, "", "", 0, error.message, name=name)
