"""Keeps QMD's home up with the notes: collections, `qmd update`, `qmd embed`; and asks it questions.

What it knows of itself is in a small file in that home, which every process of ours on this machine reads. It
knows neither scopes nor hits.
"""

import json
import logging
import re
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.memory.searching.qmd.command import QmdCommand, QmdFailed
from holdfast.memory.searching.qmd.options import OUR_PREFIX, QmdOptions
from holdfast.memory.searching.qmd.results import QmdHit, parse_results
from holdfast.memory.searching.qmd.shelves import QmdCollection

log = logging.getLogger("holdfast.memory")

_STATE_FILE = "state.json"
_LISTED = re.compile(r"\(qmd://([A-Za-z0-9_-]+)/\)")
_VERSION = re.compile(r"\b(\d+)\.(\d+)[.\d]*")
# Older ones look into one collection at a time, and would leave out the others without a word.
_OLDEST_VERSION = 2
# Questions at a time: each loads its models anew.
_AT_ONCE = 2
# A line that begins so is an order to QMD and no question.
_TYPED = re.compile(r"^\s*(lex|vec|hyde|expand|intent)\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QmdState:
    """What QMD has read, and who answered the last question and why it was not QMD."""

    version: str = ""
    collections: dict[str, list[str]] = field(default_factory=dict)
    updated_at: float = 0.0
    embedded_at: float = 0.0
    # The last time it was tried, whatever came of it.
    embedding_at: float = 0.0
    trouble: str = ""
    answered_by: str = ""
    because: str = ""

    def has(self, collection: QmdCollection) -> bool:
        """Whether QMD has this collection, as it is meant now."""
        return self.collections.get(collection.name) == _fingerprint(collection)


class QmdProcess:
    def __init__(self, options: QmdOptions, clock: Callable[[], float] = time.time) -> None:
        self.options = options
        self.command = QmdCommand(options.command, options.home)
        self._clock = clock
        self._asking = threading.BoundedSemaphore(_AT_ONCE)
        self._syncing = threading.Lock()
        self._noting = threading.Lock()

    def close(self) -> None:
        self.command.close()

    @property
    def state(self) -> QmdState:
        """As the last process left it. A file that cannot be read is as good as none: QMD reads again."""
        try:
            told = json.loads((self.options.home / _STATE_FILE).read_text(encoding="utf-8"))
            return QmdState(**told)
        except (OSError, ValueError, TypeError):
            return QmdState()

    def ask(self, question: str, names: Sequence[str], limit: int) -> list[QmdHit]:
        """What QMD finds in these collections; QmdFailed where it finds anything elsewhere."""
        options = self.options
        chosen = [part for name in names for part in ("-c", name)]
        one_line = _TYPED.sub(r"\1 ", " ".join(question.split()))
        args = [options.mode, "--index", "index", "--json", "-n", str(limit), *chosen, "--", one_line]
        began = time.monotonic()
        if not self._asking.acquire(timeout=options.timeout):
            raise QmdFailed("QMD is busy with other questions.", lasting=False)
        try:
            output = self.command.run(args, options.timeout - (time.monotonic() - began))
        finally:
            self._asking.release()
        found = parse_results(output)
        if not {one.collection for one in found} <= set(names):
            raise QmdFailed("QMD answered from collections that it was not asked about.")
        return found

    def answered(self, by: str, because: str) -> None:
        """Keeps who answered, when that is another than the last time."""
        state = self.state
        if (state.answered_by, state.because) != (by, because):
            self._note(answered_by=by, because=because)

    def sync(
        self,
        wanted: Sequence[QmdCollection],
        stop: Callable[[], bool] = lambda: False,
        *,
        embed: bool = False,
    ) -> str:
        """Bring QMD up to date, and its vectors where they are due or are to be made; what went wrong.

        One does it at a time.
        """
        if not self._syncing.acquire(blocking=False):
            return ""
        try:
            trouble = self._sync(wanted, stop, embed)
        except QmdFailed as error:
            if stop():
                # Nothing is wrong: somebody came, and it is done later.
                return ""
            trouble = str(error)
        finally:
            self._syncing.release()
        if trouble != self.state.trouble:
            self._note(trouble=trouble)
        return trouble

    def _sync(self, wanted: Sequence[QmdCollection], stop: Callable[[], bool], embed: bool) -> str:
        options = self.options
        self._check_version(stop)
        missing = self._collect(wanted, stop)
        began = self._clock()
        self._run(["update"], options.update_timeout, stop)
        self._note(updated_at=began)
        due = began - self.state.embedding_at >= options.embed_interval
        if options.mode != "search" and (due or embed):
            self._embed(began, stop)
        return f"These folders are not there: {', '.join(missing)}." if missing else ""

    def _embed(self, began: float, stop: Callable[[], bool]) -> None:
        try:
            self._run(["embed"], self.options.update_timeout, stop)
        except QmdFailed:
            if not stop():
                # Without its models it would try for minutes, again and again.
                self._note(embedding_at=began)
            raise
        self._note(embedded_at=began, embedding_at=began)

    def _check_version(self, stop: Callable[[], bool]) -> None:
        told = self._run(["--version"], self.options.command_timeout, stop).strip()
        number = _VERSION.search(told)
        if number is None or int(number[1]) < _OLDEST_VERSION:
            raise QmdFailed(
                f"{told[:60] or 'This program'} is not QMD {_OLDEST_VERSION} or newer.",
                hint="Bring it up to date: `npm install -g @tobilu/qmd`.",
            )
        if number[0] != self.state.version:
            self._note(version=number[0])

    def _collect(self, wanted: Sequence[QmdCollection], stop: Callable[[], bool]) -> list[str]:
        """Make QMD's collections those that are wanted, keeping each step; the folders that are not there."""
        seconds = self.options.command_timeout
        there = set(_LISTED.findall(self._run(["collection", "list"], seconds, stop)))
        known = {name: told for name, told in self.state.collections.items() if name in there}
        asked = {one.name: one for one in wanted if one.root.is_dir()}
        for name in sorted(there):
            ours = name in known or name in asked or name.startswith(OUR_PREFIX)
            # What a person added by hand stays; nobody is shown anything of it.
            if ours and (name not in asked or known.get(name) != _fingerprint(asked[name])):
                self._run(["collection", "remove", name], seconds, stop)
                known.pop(name, None)
                self._note(collections=dict(known))
        for name, one in asked.items():
            if name not in known:
                added = ["collection", "add", str(one.root), "--name", name, "--mask", one.mask]
                self._run(added, self.options.update_timeout, stop)
                known[name] = _fingerprint(one)
                self._note(collections=dict(known))
        if known != self.state.collections:
            self._note(collections=known)
        return [str(one.root) for one in wanted if not one.root.is_dir() and not one.notes]

    def _run(self, args: Sequence[str], seconds: float, stop: Callable[[], bool]) -> str:
        # By its name, lest an index of a folder above takes its place.
        named = args if args[0].startswith("-") else [*args, "--index", "index"]
        return self.command.run(named, seconds, stop=stop)

    def _note(self, **changes: Any) -> None:
        """Keeps what has changed, whole or not at all; a disk that is full costs no answer."""
        home = self.options.home
        with self._noting:
            text = json.dumps(asdict(replace(self.state, **changes)), ensure_ascii=False, indent=1)
            try:
                home.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile("w", dir=home, delete=False, encoding="utf-8") as file:
                    file.write(text)
                Path(file.name).replace(home / _STATE_FILE)
            except OSError as error:
                log.warning("%s cannot be written: %s", home / _STATE_FILE, error.strerror)


def _fingerprint(collection: QmdCollection) -> list[str]:
    return [str(collection.root), collection.mask]
