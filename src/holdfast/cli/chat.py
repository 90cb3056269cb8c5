"""`holdfast ask` and `holdfast chat`: talk to the model, and keep what is said."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.files import roots_here
from holdfast.cli.output import complain, console, load, print_json, write
from holdfast.cli.project import Project, scope_here
from holdfast.errors import BadRequest, HoldfastError
from holdfast.language import say
from holdfast.messages import Answer, ChatRequest, Chunk, Message, Scope

if TYPE_CHECKING:
    from holdfast.engine import Engine, Facts

Model = Annotated[str | None, typer.Option("--model", "-m", help="The model to ask.")]
System = Annotated[str | None, typer.Option("--system", "-s", help="Instructions that stand above the talk.")]
GoesOn = Annotated[
    str | None,
    typer.Option("--conversation", "-c", help="Go on with this one: its id, or a clear beginning."),
]


class Talk:
    """One conversation as the command line has it: the store keeps the history, we send what is new."""

    def __init__(
        self,
        engine: "Engine",
        model: str,
        scope: Scope,
        system: str | None,
        conversation: str | None,
        pasted: str = "",
    ) -> None:
        self._engine = engine
        self._scope = scope
        self._system = system
        self.model = model
        self.conversation = conversation
        self.answer = Answer()
        self.facts: Facts | None = None
        # What a pipe brought was not said by the person: files it points at are not theirs to want.
        self._files = roots_here(clean(pasted))

    async def say(self, text: str) -> AsyncGenerator[Chunk, None]:
        """The answer to `text` as it comes; `self.answer` collects it."""
        from holdfast.engine import Ask

        self.answer = Answer()
        system = [Message.of("system", clean(self._system))] if self._system else []
        request = ChatRequest(self.model, (*system, Message.of("user", clean(text))))
        ask = Ask(request, self._scope, continues=self.conversation, files=self._files)
        turn = await self._engine.turn(ask)
        self.conversation = turn.conversation
        self.facts = turn.facts
        async with aclosing(turn.chunks) as chunks:
            async for chunk in chunks:
                self.answer.add(chunk)
                yield chunk

    def troubles(self) -> list[str]:
        """What was wrong with files that the last question points at."""
        rows = self.facts.report.get("files", ()) if self.facts else ()
        return [say(*row["trouble"]) for row in rows if row["trouble"] and row["newest"]]


def clean(text: str) -> str:
    """What a terminal or a pipe hands over need not be Unicode."""
    return text.encode("utf-8", "replace").decode()


async def model_for(engine: "Engine", wanted: str) -> str:
    if wanted:
        return clean(wanted)
    models = await engine.upstreams.models()
    if not models:
        raise BadRequest(
            "The model server has no models.", hint="Get one first, e.g. `ollama pull qwen3:4b`."
        )
    # One that is in memory answers at once.
    return next((model.name for model in models if model.running_window), models[0].name)


def ask(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(help="The question. Piped text is added to it.")
    ] = None,
    model: Model = None,
    system: System = None,
    conversation: GoesOn = None,
    project: Project = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole answer as JSON, not streamed.")] = False,
) -> None:
    """Ask one question and print the answer.

    Examples: holdfast ask "What is a mutex?"  ·  git diff | holdfast ask "Review this"
    """
    piped = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read().strip()
    question = "\n\n".join(text for text in (" ".join(words or ()), piped) if text)
    if not question:
        raise BadRequest(say("There is no question.", "Es fehlt die Frage."), hint='holdfast ask "…"')
    settings = load(context, model=model).settings

    async def run() -> None:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            name = await model_for(engine, settings.model)
            talk = Talk(engine, name, scope_here(project), system, conversation, piped)
            async with aclosing(talk.say(question)) as chunks:
                async for chunk in chunks:
                    if not as_json:
                        write(chunk.text)
            if as_json:
                print_json(_as_json(talk))
            else:
                write("\n")
                for trouble in talk.troubles():
                    complain(trouble)

    asyncio.run(run())


def _as_json(talk: Talk) -> dict[str, Any]:
    message, usage = talk.answer.message, talk.answer.usage
    return {
        "conversation": talk.conversation,
        "model": talk.model,
        "answer": message.text,
        "thinking": message.thinking or None,
        "finish": talk.answer.finish,
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "files": list(talk.facts.report.get("files", ())) if talk.facts else [],
    }


def chat(
    context: typer.Context,
    model: Model = None,
    system: System = None,
    conversation: GoesOn = None,
    project: Project = None,
) -> None:
    """Talk with a model; the conversation is kept and can be gone on with later."""
    settings = load(context, model=model).settings

    async def run() -> None:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            name = await model_for(engine, settings.model)
            talk = Talk(engine, name, scope_here(project), system, conversation)
            console.print(say(f"{name}. Leave with /quit.", f"{name}. Ende mit /quit."), style="dim")
            while (line := await _typed()) is not None:
                if line:
                    await _print_answer(talk, line)
            if talk.conversation:
                go_on = f"holdfast chat -c {talk.conversation}"
                console.print(say(f"Go on with: {go_on}", f"Weiter mit: {go_on}"), style="dim")

    asyncio.run(run())


async def _typed() -> str | None:
    """A line, read in a thread that nobody waits for: Ctrl-C must not need a return key after it."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        typed = _read_line()
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(hand_over, typed)

    def hand_over(typed: str | None) -> None:
        if not line.done():
            line.set_result(typed)

    Thread(target=read, daemon=True).start()
    return await line


def _read_line() -> str | None:
    """What the person typed; None when there is no more to come."""
    with suppress(ImportError):
        import readline  # noqa: F401  (arrow keys and history for input())
    try:
        line = input("> ").strip()
    except EOFError:
        return None
    return None if line in ("/quit", "/exit", "/bye") else line


async def _print_answer(talk: Talk, line: str) -> None:
    """One turn; trouble with the model ends the turn, not the talk."""
    try:
        async with aclosing(talk.say(line)) as chunks:
            async for chunk in chunks:
                write(chunk.text)
        for trouble in talk.troubles():
            complain(f"\n{trouble}")
    except HoldfastError as error:
        complain(str(error))
    console.print()
