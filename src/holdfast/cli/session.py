"""A conversation as the command line has it: what is new is sent, what was said before is in the store.

Shared by `ask`, `chat` and `research ask`. Prints nothing.
"""

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.files import current_roots
from holdfast.i18n import say
from holdfast.messages import Answer, ChatRequest, Chunk, Message, Scope

if TYPE_CHECKING:
    from holdfast.engine import Engine, Facts

ModelOption = Annotated[str | None, typer.Option("--model", "-m", help="The model to ask.")]
SystemOption = Annotated[
    str | None, typer.Option("--system", "-s", help="Instructions that stand above the talk.")
]
ConversationOption = Annotated[
    str | None,
    typer.Option("--conversation", "-c", help="Go on with this one: its id, or a clear beginning."),
]


class ChatSession:
    """`conversation` is known once something was said; `report` tells of the window of the last question."""

    def __init__(
        self,
        engine: "Engine",
        model: str,
        scope: Scope,
        system: str | None = None,
        conversation: str | None = None,
        pasted: str = "",
    ) -> None:
        self.engine = engine
        self.model = model
        self.scope = scope
        self.conversation = conversation
        self.answer = Answer()
        self._system = system
        self._facts: Facts | None = None
        # What a pipe brought was not said by the person: files it points at are not theirs to want.
        self._files = current_roots(clean(pasted))

    @property
    def report(self) -> Mapping[str, Any]:
        return self._facts.report if self._facts else {}

    async def send(self, text: str, research: str = "") -> AsyncGenerator[Chunk, None]:
        """The answer to `text` as it comes, collected in `answer`; `research` names a finding for it."""
        from holdfast.engine import Ask

        self.answer, self._facts = Answer(), None
        system = [Message.of("system", clean(self._system))] if self._system else []
        request = ChatRequest(self.model, (*system, Message.of("user", clean(text))))
        ask = Ask(request, self.scope, continues=self.conversation, research=research, files=self._files)
        turn = await self.engine.turn(ask)
        # One that is switched off has no name in its turns, and is still the one that is talked in.
        self.conversation, self._facts = turn.conversation or self.conversation, turn.facts
        async with aclosing(turn.chunks) as chunks:
            async for chunk in chunks:
                self.answer.add(chunk)
                yield chunk

    def notices(self) -> list[str]:
        """What did not go as it should have with the last question, files that it points at included."""
        from holdfast.window import sentences

        files = [row for row in self.report.get("files", ()) if row["trouble"] and row["newest"]]
        # Each file's own trouble says more.
        names = [name for name in self.report.get("notices", ()) if not files or name != "files_missing"]
        return [*(say(*row["trouble"]) for row in files), *map(sentences.notice, names)]

    def shortfall(self) -> str:
        """Why the last answer is none, or not all of it; empty if it is whole."""
        message, finish = self.answer.message, self.answer.finish
        if finish == "length":
            return say(
                "The answer reached its limit and ends in the middle.",
                "Die Antwort hat ihre Grenze erreicht und endet mittendrin.",
            )
        if finish == "content_filter":
            return say(
                "The model server held the answer back.", "Der Modellserver hat die Antwort verweigert."
            )
        if not message.text.strip() and not message.tool_calls:
            return say("The model answered nothing.", "Das Modell hat nichts geantwortet.")
        return ""


def clean(text: str) -> str:
    """What a terminal or a pipe hands over need not be Unicode."""
    return text.encode("utf-8", "replace").decode()


def read_stdin() -> str:
    """What comes through a pipe, whatever it is; nothing where a person sits."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


async def choose_model(engine: "Engine", wanted: str) -> str:
    return clean(wanted) if wanted else await engine.upstreams.usual_model()
