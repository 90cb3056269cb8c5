"""What a chat shows around an answer: waiting for it, thoughts, what to know about it, how long it took.

Colours, waiting and times are for terminals only. Knows nothing of commands.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from holdfast.cli.output import console, print_dim, print_error, print_warning, write
from holdfast.cli.session import ChatSession
from holdfast.cli.window import phase_label
from holdfast.errors import BadRequest, HoldfastError
from holdfast.i18n import say
from holdfast.messages import Scope, canonical

if TYPE_CHECKING:
    from rich.progress import Progress

    from holdfast.events import Event, Events
    from holdfast.memory.base import Memory
    from holdfast.memory.keeping.library import Library

FORGET, UNDO, REPLACE, BOTH = "forget", "undo", "replace", "both"
# So much of a memory stands in a line.
_MAX_NOTE = 100
_NEW_CHANGES = ("added", "updated")


class Notebook:
    """The memories of one chat; `newest` is the id of the one that `/wrong` is about."""

    def __init__(self) -> None:
        self.newest = ""
        # Not told yet, by their ids.
        self._unseen: dict[str, str] = {}
        # Those of them that may replace an older one.
        self._uncertain: set[str] = set()
        self._undo: Callable[[], str] | None = None

    def on_event(self, event: "Event", conversation: str | None) -> None:
        data: Any = event.data
        if event.kind != "kept" or data["conversation"] != conversation:
            return
        if data["change"] in _NEW_CHANGES:
            self._unseen[data["id"]] = data["text"]
            if data.get("may_replace"):
                self._uncertain.add(data["id"])
        else:
            self._unseen.pop(data["id"], None)

    def print_new(self) -> None:
        """A quiet line for each thing that was remembered since the last time."""
        for text in self._drain():
            shown = text if len(text) <= _MAX_NOTE else f"{text[:_MAX_NOTE]}…"
            print_dim(say(f"Remembered: {shown} · wrong? /wrong\n", f"Gemerkt: {shown} · falsch? /wrong\n"))
            if self.newest in self._uncertain:
                print_dim(
                    say(
                        "This may replace something older: /wrong shows both.\n",
                        "Das ersetzt vielleicht etwas Älteres: /wrong zeigt beides.\n",
                    )
                )

    def catch_up(self) -> list[str]:
        """The texts that were remembered since the last time; `/wrong` is about the last of them."""
        return list(self._drain())

    def _drain(self) -> Iterator[str]:
        while self._unseen:
            self.newest = next(iter(self._unseen))
            yield self._unseen.pop(self.newest)

    def show(self, library: "Library", scope: Scope) -> None:
        """Show the newest, what it took the place of, and what can be done about it."""
        from holdfast.memory.keeping.succession import history_of, rivals

        for memory in history_of(library, scope, self._newest_id()):
            write(f"{format_validity(memory)}  {memory.text}\n")
        for newer, older in rivals(library, scope):
            if newer.id == self.newest:
                write(
                    say(
                        f"Instead of this? {older.text}\n"
                        "/wrong replace: only the new one holds. /wrong both: both do.\n",
                        f"Anstelle von diesem? {older.text}\n"
                        "/wrong replace: nur das Neue gilt. /wrong both: beides gilt.\n",
                    )
                )
        write(
            say(
                "/wrong TEXT corrects it, /wrong forget takes it back, /wrong undo undoes the last one.\n",
                "/wrong TEXT berichtigt es, /wrong forget vergisst es, /wrong undo macht es ungeschehen.\n",
            )
        )

    def correct(self, library: "Library", scope: Scope, text: str) -> None:
        name = self._newest_id()
        former = library.get(scope, name)
        now = library.edit(scope, name, text=text)

        def undo() -> str:
            return library.edit(scope, name, text=former.text).text

        self._undo = undo
        write(say(f"Corrected: {now.text}\n", f"Berichtigt: {now.text}\n"))

    def forget(self, library: "Library", scope: Scope) -> None:
        """Take the newest back; what it took the place of holds again."""
        from holdfast.memory.keeping.exchange import take_in

        wrong, restored = library.take_back(scope, self._newest_id())

        def undo() -> str:
            take_in(library, scope, canonical({"memories": [wrong.to_json()]}))
            return wrong.text

        self._undo = undo
        write(say(f"Forgotten: {wrong.text}\n", f"Vergessen: {wrong.text}\n"))
        for memory in restored:
            write(say(f"Holds again: {memory.text}\n", f"Gilt wieder: {memory.text}\n"))

    def decide(self, library: "Library", scope: Scope, *, replaces: bool) -> None:
        """Say whether the newest takes the place of the older one it was compared with."""
        from holdfast.memory.keeping.succession import decide

        newer, replaced = decide(library, scope, self._newest_id(), replaces=replaces)
        if replaced is not None:
            write(say(f"Replaced: {replaced.text}\n", f"Ersetzt: {replaced.text}\n"))
        else:
            write(say(f"Both hold: {newer.text}\n", f"Beides gilt: {newer.text}\n"))

    def undo(self) -> None:
        """Take back the last correction or forgetting."""
        if self._undo is None:
            raise BadRequest(say("There is nothing to undo.", "Es gibt nichts rückgängig zu machen."))
        try:
            text = self._undo()
        except HoldfastError:
            self._undo = None
            raise
        self._undo = None
        write(say(f"As before: {text}\n", f"Wieder wie zuvor: {text}\n"))

    def _newest_id(self) -> str:
        if not self.newest:
            raise BadRequest(
                say("Nothing was remembered in this chat yet.", "In diesem Chat wurde noch nichts gemerkt."),
                hint=say("/memory lists what is known.", "/memory zählt auf, was bekannt ist."),
            )
        return self.newest


def format_validity(memory: "Memory") -> str:
    """The days on which it held, or since when it does."""
    since = format_day(memory.valid_from) if memory.valid_from else "…"
    return (
        f"{since} – {format_day(memory.valid_until)}"
        if memory.superseded_by
        else say(f"since {since}", f"seit {since}")
    )


def format_day(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d}"


# From these shares of the window on the meter has another colour.
_YELLOW_FROM, _RED_FROM = 0.5, 0.8
_METER_CELLS = 10
# So much of each memory is shown.
_MAX_RECALLED = 100


class Spinner:
    """A sign of life until the first word comes; what is done meanwhile is said in it."""

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
    """Follows what the engine tells of one conversation, to say it where it does not disturb."""

    def __init__(self, events: "Events", session: ChatSession) -> None:
        self._session = session
        self._terminal = sys.stdout.isatty()
        self._spinner = Spinner()
        self.notebook = Notebook()
        # Where the older part became a summary, since something was last said about it.
        self._banners: list[str] = []
        events.listeners.append(self._on_event)

    async def answer(self, text: str, research: str = "") -> None:
        """Prints the answer to `text` as it comes, and what there is to know about it."""
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
        await self._session.engine.afterwards.write_notes()
        self._print_details(took_all, took_writing)

    def print_updates(self) -> None:
        """What was summarised and remembered meanwhile."""
        if self._terminal:
            self.notebook.print_new()
        for banner in self._banners:
            console.print(Text(f"── {banner} ──", style="italic"))
        self.clear_updates()

    def clear_updates(self) -> None:
        """They were told otherwise."""
        self._banners.clear()

    @contextmanager
    def _end_line(self) -> Iterator[None]:
        """Whatever ends an answer, the next line begins at its beginning."""
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
        """What is worth knowing about the answer that is there now."""
        self.print_updates()
        for line in list_recalled(self._session.report):
            if self._terminal:
                print_dim(say("recalled: ", "erinnert: ") + line + "\n")
        for notice in self._session.notices():
            print_warning(notice)
        if shortfall := self._session.shortfall():
            print_warning(shortfall)
        if self._terminal:
            print_dim(format_timing(whole, writing, self._session.answer.usage.completion) + "\n\n")


def list_recalled(report: Mapping[str, Any]) -> list[str]:
    """What was told of earlier for the last question, a line each."""
    newest = (report.get("messages") or [{}])[-1]
    texts = [section["text"] for section in newest.get("added", ()) if section["section"] == "recalled"]
    lines = (line[2:] for text in texts for line in text.splitlines() if line.startswith("- "))
    return [line if len(line) <= _MAX_RECALLED else f"{line[:_MAX_RECALLED]}…" for line in lines]


def format_timing(whole: float, writing: float, tokens: int | None) -> str:
    """How long an answer took, and how fast it was written."""
    parts = [f"{whole:.1f} s"]
    if tokens:
        parts.append(f"{tokens} {say('tokens', 'Token')}")
        if writing > 0:
            parts.append(f"{tokens / writing:.1f} {say('tokens/s', 'Token/s')}")
    line = " · ".join(parts)
    return say(line, line.replace(".", ","))


def format_meter(report: Mapping[str, Any], model: str) -> tuple[str, str]:
    """How full the window is, as a colour and a line; before the first question only the model is known."""
    from holdfast.window import sentences

    if not report:
        return "", model
    share = float(report["utilisation"])
    cells = min(_METER_CELLS, round(share * _METER_CELLS))
    used, room = sentences.number(report["tokens"]), sentences.number(report["room"])
    usage = say(f"{used} of {room} tokens", f"{used} von {room} Token")
    colour = "ansired" if share >= _RED_FROM else "ansiyellow" if share >= _YELLOW_FROM else "ansigreen"
    bar = "█" * cells + "░" * (_METER_CELLS - cells)
    return colour, f"{bar} {usage} · {share:.0%} · {sentences.level(report['level'])} · {model}"


def print_stopped() -> None:
    """After Ctrl-C: what there is stays."""
    print_error(say("Stopped; what came so far is kept.", "Angehalten; was bis dahin kam, ist behalten."))
