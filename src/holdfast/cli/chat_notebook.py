"""What a chat remembers of what is said in it: told in a line, opened, corrected, forgotten, undone.

Hears of it from the engine and changes it in the library. How lines come in is known elsewhere.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.cli.output import whisper, write
from holdfast.errors import BadRequest, HoldfastError
from holdfast.language import say
from holdfast.messages import Scope, canonical

if TYPE_CHECKING:
    from holdfast.events import Event
    from holdfast.memory.base import Memory
    from holdfast.memory.keeping.library import Library

FORGET, UNDO = "forget", "undo"
# So much of a memory stands in a line.
_SHOWN = 100
_NEW = ("added", "updated")


class Notebook:
    """The memories of one chat; `newest` is the id of the one that `/wrong` is about."""

    def __init__(self) -> None:
        self.newest = ""
        # Not told yet, by their ids.
        self._fresh: dict[str, str] = {}
        self._undo: Callable[[], str] | None = None

    def hear(self, event: "Event", conversation: str | None) -> None:
        data: Any = event.data
        if event.kind != "kept" or data["conversation"] != conversation:
            return
        if data["change"] in _NEW:
            self._fresh[data["id"]] = data["text"]
        else:
            self._fresh.pop(data["id"], None)

    def tell(self) -> None:
        """A quiet line for each thing that was remembered since the last time."""
        for text in self.catch_up():
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            whisper(say(f"Remembered: {shown} · wrong? /wrong\n", f"Gemerkt: {shown} · falsch? /wrong\n"))

    def catch_up(self) -> list[str]:
        """The texts that were remembered since the last time; `/wrong` is about the last of them."""
        texts: list[str] = []
        while self._fresh:
            self.newest = next(iter(self._fresh))
            texts.append(self._fresh.pop(self.newest))
        return texts

    def open(self, library: "Library", scope: Scope) -> None:
        """Show the newest, what it took the place of, and what can be done about it."""
        from holdfast.memory.keeping.succession import history_of

        for memory in history_of(library, scope, self._named()):
            write(f"{_held(memory)}  {memory.text}\n")
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
        from holdfast.memory.keeping.succession import take_back

        wrong, restored = take_back(library, scope, self._named())

        def undo() -> str:
            take_in(library, scope, canonical({"memories": [wrong.to_json()]}))
            return wrong.text

        self._undo = undo
        write(say(f"Forgotten: {wrong.text}\n", f"Vergessen: {wrong.text}\n"))
        for memory in restored:
            write(say(f"Holds again: {memory.text}\n", f"Gilt wieder: {memory.text}\n"))

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


def _held(memory: "Memory") -> str:
    """The days on which it held, or since when it does."""
    since = _day(memory.valid_from) if memory.valid_from else "…"
    return (
        f"{since} – {_day(memory.valid_until)}"
        if memory.superseded_by
        else say(f"since {since}", f"seit {since}")
    )


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d}"
