"""What a chat remembers of what is said in it: told in a line, opened, corrected, forgotten, undone.

Hears of it from the engine and changes it in the library. How lines come in is known elsewhere.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.cli.output import print_dim, write
from holdfast.errors import BadRequest, HoldfastError
from holdfast.i18n import say
from holdfast.messages import Scope, canonical

if TYPE_CHECKING:
    from holdfast.events import Event
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
        self._fresh: dict[str, str] = {}
        # Those of them that may replace an older one.
        self._unsure: set[str] = set()
        self._undo: Callable[[], str] | None = None

    def hear(self, event: "Event", conversation: str | None) -> None:
        data: Any = event.data
        if event.kind != "kept" or data["conversation"] != conversation:
            return
        if data["change"] in _NEW_CHANGES:
            self._fresh[data["id"]] = data["text"]
            if data.get("may_replace"):
                self._unsure.add(data["id"])
        else:
            self._fresh.pop(data["id"], None)

    def tell(self) -> None:
        """A quiet line for each thing that was remembered since the last time."""
        for text in self._each():
            shown = text if len(text) <= _MAX_NOTE else f"{text[:_MAX_NOTE]}…"
            print_dim(say(f"Remembered: {shown} · wrong? /wrong\n", f"Gemerkt: {shown} · falsch? /wrong\n"))
            if self.newest in self._unsure:
                print_dim(
                    say(
                        "This may replace something older: /wrong shows both.\n",
                        "Das ersetzt vielleicht etwas Älteres: /wrong zeigt beides.\n",
                    )
                )

    def catch_up(self) -> list[str]:
        """The texts that were remembered since the last time; `/wrong` is about the last of them."""
        return list(self._each())

    def _each(self) -> Iterator[str]:
        while self._fresh:
            self.newest = next(iter(self._fresh))
            yield self._fresh.pop(self.newest)

    def open(self, library: "Library", scope: Scope) -> None:
        """Show the newest, what it took the place of, and what can be done about it."""
        from holdfast.memory.keeping.succession import history_of, rivals

        for memory in history_of(library, scope, self._named()):
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
        name = self._named()
        former = library.get(scope, name)
        now = library.edit(scope, name, text=text)

        def undo() -> str:
            return library.edit(scope, name, text=former.text).text

        self._undo = undo
        write(say(f"Corrected: {now.text}\n", f"Berichtigt: {now.text}\n"))

    def forget(self, library: "Library", scope: Scope) -> None:
        """Take the newest back; what it took the place of holds again."""
        from holdfast.memory.keeping.exchange import take_in

        wrong, restored = library.take_back(scope, self._named())

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

        newer, replaced = decide(library, scope, self._named(), replaces=replaces)
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

    def _named(self) -> str:
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
