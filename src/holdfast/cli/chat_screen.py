"""What a chat shows around an answer: a spinner, thinking, notices, timing, and what was remembered.

Colours, the spinner and timings appear on terminals only.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.cli.ask import ChatSession
from holdfast.cli.shared import console, print_dim, print_error, print_warning, write
from holdfast.cli.window import phase_label
from holdfast.errors import BadRequest, HoldfastError
from holdfast.i18n import gettext as _
from holdfast.i18n import localize_number, pgettext
from holdfast.messages import JsonObject, Scope, canonical

if TYPE_CHECKING:
    from rich.progress import Progress

    from holdfast.events import Event, Events
    from holdfast.memory.base import Memory
    from holdfast.memory.library import Library

FORGET, UNDO, REPLACE, BOTH = "forget", "undo", "replace", "both"
# The longest text of a memory in its line.
_MAX_NOTE = 100
_NEW_CHANGES = ("added", "updated")


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_NOTE else f"{text[:_MAX_NOTE]}…"


def _bring_back(memory: JsonObject, library: "Library", scope: Scope) -> str:
    """Add a forgotten memory again as it was, and return its text."""
    from holdfast.memory.exchange import load_memories

    load_memories(library, scope, canonical({"memories": [memory]}))
    return str(memory["text"])


class Notebook:
    """The memories written during one chat; `newest` is the id of the one that `/wrong` refers to."""

    def __init__(self) -> None:
        self.newest = ""
        # Texts of memories not printed yet, by id.
        self._unseen: dict[str, str] = {}
        # Ids of those that may replace an older one.
        self._uncertain: set[str] = set()
        self._undo: Callable[[Library, Scope], str] | None = None
        # Texts of what a message took back, not printed yet; ids of what is being forgotten by a command.
        self._withdrawn: list[str] = []
        self._dropped: set[str] = set()

    def on_event(self, event: "Event", conversation: str | None) -> None:
        data: Any = event.data
        if event.kind != "kept" or data["conversation"] != conversation:
            return
        if data["change"] in _NEW_CHANGES:
            self._unseen[data["id"]] = data["text"]
            if data.get("may_replace"):
                self._uncertain.add(data["id"])
            return
        self._unseen.pop(data["id"], None)
        if data.get("memory") and data["id"] not in self._dropped:
            self._withdrawn.append(data["text"])
            self._undo = partial(_bring_back, data["memory"])

    def expect_drop(self, name: str) -> None:
        """Note that a command forgets this memory, and tells so itself."""
        self._dropped.add(name)

    def print_new(self) -> None:
        """Print a dim line for each memory written, or taken back in a message, since the last call."""
        while self._withdrawn:
            shown = _shorten(self._withdrawn.pop(0))
            print_dim(_("Not remembered any more: {shown} · /wrong undo\n").format(shown=shown))
        for text in self._drain():
            shown = _shorten(text)
            print_dim(_("Remembered: {shown} · wrong? /wrong\n").format(shown=shown))
            if self.newest in self._uncertain:
                print_dim(_("This may replace something older: /wrong shows both.\n"))

    def catch_up(self) -> list[str]:
        """Return the texts of memories written since the last call; the last one becomes `newest`."""
        return list(self._drain())

    def _drain(self) -> Iterator[str]:
        while self._unseen:
            self.newest = next(iter(self._unseen))
            yield self._unseen.pop(self.newest)

    def show(self, library: "Library", scope: Scope) -> None:
        """Print the newest memory, what it replaced, and the commands to change it."""
        for memory in library.history(scope, self._newest_id()):
            write(f"{format_validity(memory)}  {memory.text}\n")
        for newer, older in library.list_rivals(scope):
            if newer.id == self.newest:
                write(
                    _(
                        "Instead of this? {text}\n"
                        "/wrong replace: only the new one holds. /wrong both: both do.\n"
                    ).format(text=older.text)
                )
        write(_("/wrong TEXT corrects it, /wrong forget takes it back, /wrong undo undoes the last one.\n"))

    def correct(self, library: "Library", scope: Scope, text: str) -> None:
        name = self._newest_id()
        former = library.get(scope, name)
        now = library.edit(scope, name, text=text)

        def undo(library: "Library", scope: Scope) -> str:
            return library.edit(scope, name, text=former.text).text

        self._undo = undo
        write(_("Corrected: {text}\n").format(text=now.text))

    def forget(self, library: "Library", scope: Scope) -> None:
        """Delete the newest memory; what it had replaced becomes valid again."""
        self.expect_drop(self._newest_id())
        wrong, restored = library.take_back(scope, self.newest)
        self._undo = partial(_bring_back, wrong.to_json())
        write(_("Forgotten: {text}\n").format(text=wrong.text))
        for memory in restored:
            write(_("Holds again: {text}\n").format(text=memory.text))

    def decide(self, library: "Library", scope: Scope, *, replaces: bool) -> None:
        """Decide whether the newest memory replaces the older one it was compared with."""

        newer, replaced = library.decide(scope, self._newest_id(), replaces=replaces)
        if replaced is not None:
            write(_("Replaced: {text}\n").format(text=replaced.text))
        else:
            write(_("Both hold: {text}\n").format(text=newer.text))

    def undo(self, library: "Library", scope: Scope) -> None:
        """Undo the last correction or deletion."""
        if self._undo is None:
            raise BadRequest(_("There is nothing to undo."))
        try:
            text = self._undo(library, scope)
        except HoldfastError:
            self._undo = None
            raise
        self._undo = None
        write(_("As before: {text}\n").format(text=text))

    def _newest_id(self) -> str:
        if not self.newest:
            raise BadRequest(
                _("Nothing was remembered in this chat yet."), hint=_("/memory lists what is known.")
            )
        return self.newest


def format_validity(memory: "Memory") -> str:
    """Format the days on which a memory was valid, or since when it is."""
    since = format_day(memory.valid_from) if memory.valid_from else "…"
    return (
        f"{since} – {format_day(memory.valid_until)}"
        if memory.superseded_by
        else _("since {since}").format(since=since)
    )


def format_day(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d}"


# From these shares of the window on, the meter changes its colour.
_YELLOW_FROM, _RED_FROM = 0.5, 0.8
_METER_CELLS = 10
# The longest line of a recalled text.
_MAX_RECALLED = 100


class Spinner:
    """A spinner until the first chunk of an answer arrives, with a description of what is going on."""

    def __init__(self, bar: "Progress | None" = None) -> None:
        self._bar = bar
        if bar is not None:
            bar.start()
            self._task = bar.add_task("", total=None)

    def update(self, description: str) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=description)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class ChatScreen:
    """Prints the answers of one session, and what the engine's events say about its conversation."""

    def __init__(self, events: "Events", session: ChatSession) -> None:
        self._session = session
        self._terminal = sys.stdout.isatty()
        self._spinner = Spinner()
        self.notebook = Notebook()
        # Banners of summaries that were not printed yet.
        self._banners: list[str] = []
        events.listeners.append(self._on_event)

    async def answer(self, text: str, research: str = "") -> None:
        """Print the answer to `text` as it is generated, then notices and timing."""
        began, first = time.monotonic(), 0.0
        thought = False
        with self._show_spinner(), self._end_line():
            async with aclosing(self._session.send(text, research)) as chunks:
                async for chunk in chunks:
                    if not (chunk.text or chunk.thinking):
                        continue
                    self._spinner.stop()
                    first = first or time.monotonic()
                    if chunk.thinking and self._terminal:
                        print_dim(chunk.thinking)
                        thought = True
                    if chunk.text:
                        write(f"\n\n{chunk.text}" if thought else chunk.text)
                        thought = False
        took_all, took_writing = time.monotonic() - began, time.monotonic() - (first or began)
        await self._session.engine.background.write_notes()
        self._print_details(took_all, took_writing)

    def print_updates(self) -> None:
        """Print what was summarised and remembered since the last call."""
        if self._terminal:
            self.notebook.print_new()
        for banner in self._banners:
            console.print(f"── {banner} ──", style="italic")
        self.clear_updates()

    def clear_updates(self) -> None:
        """Drop pending summary banners, because they were shown in another way."""
        self._banners.clear()

    @contextmanager
    def _end_line(self) -> Iterator[None]:
        """Stop the spinner and end the line, however the answer ends."""
        try:
            yield
        finally:
            self._spinner.stop()
            write("\n")

    @contextmanager
    def _show_spinner(self) -> Iterator[None]:
        if not self._terminal:
            yield
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
        self._spinner = Spinner(Progress(*columns, console=console, transient=True))
        try:
            yield
        finally:
            self._spinner.stop()

    def _on_event(self, event: "Event") -> None:
        from holdfast.window import sentences

        data = event.data
        self.notebook.on_event(event, self._session.conversation)
        if event.kind != "compaction" or data.get("conversation") != self._session.conversation:
            return
        self._spinner.update(f"{phase_label(data['phase'])} {data['percent']} %")
        if "tokens_before" in data:
            self._banners.append(sentences.banner(data["tokens_before"], data["tokens_after"]))

    def _print_details(self, whole: float, writing: float) -> None:
        """Print what was recalled, notices, and timing of the last answer."""
        self.print_updates()
        for line in list_recalled(self._session.report):
            if self._terminal:
                print_dim(_("recalled: ") + line + "\n")
        for notice in self._session.notices():
            print_warning(notice)
        if shortfall := self._session.shortfall():
            print_warning(shortfall)
        if self._terminal:
            print_dim(format_timing(whole, writing, self._session.answer.usage.completion) + "\n\n")


def list_recalled(report: Mapping[str, Any]) -> list[str]:
    """Return what was recalled for the last question, one shortened line each."""
    newest = (report.get("messages") or [{}])[-1]
    texts = [section["text"] for section in newest.get("added", ()) if section["section"] == "recalled"]
    lines = (line[2:] for text in texts for line in text.splitlines() if line.startswith("- "))
    return [line if len(line) <= _MAX_RECALLED else f"{line[:_MAX_RECALLED]}…" for line in lines]


def format_timing(whole: float, writing: float, tokens: int | None) -> str:
    """Format how long an answer took and how fast it was generated."""
    parts = [f"{whole:.1f} s"]
    if tokens:
        parts.append(f"{tokens} {_('tokens')}")
        if writing > 0:
            parts.append(f"{tokens / writing:.1f} {_('tokens/s')}")
    line = " · ".join(parts)
    return localize_number(line)


def format_meter(report: Mapping[str, Any], model: str) -> tuple[str, str]:
    """Return a colour and a line for how full the window is; only the model before the first question."""
    from holdfast.window import sentences

    if not report:
        return "", model
    share = report["tokens"] / report["window"]
    cells = min(_METER_CELLS, round(share * _METER_CELLS))
    used, window = sentences.number(report["tokens"]), sentences.number(report["window"])
    usage = pgettext("command line", "{used} of {window} tokens").format(used=used, window=window)
    colour = "ansired" if share >= _RED_FROM else "ansiyellow" if share >= _YELLOW_FROM else "ansigreen"
    bar = "█" * cells + "░" * (_METER_CELLS - cells)
    return colour, f"{bar} {usage} · {share:.0%} · {sentences.level(report['level'])} · {model}"


def print_stopped() -> None:
    """Report that Ctrl-C stopped the answer and that its beginning is stored."""
    print_error(_("Stopped; what came so far is kept."))
