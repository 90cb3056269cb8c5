"""`holdfast ask`: ask one question, interactively or from a script; and the session that all chats here use.

Standard output carries the answer alone; notices go to the error stream, and the exit code says whether the
answer is complete.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.files import current_roots
from holdfast.cli.shared import ProjectOption, current_scope, load, print_error, print_json, write
from holdfast.errors import BadRequest, CutOff, NotFound
from holdfast.i18n import gettext as _
from holdfast.i18n import pick
from holdfast.messages import Answer, ChatRequest, Chunk, Message, Scope

if TYPE_CHECKING:
    from holdfast.turn import Turn, TurnEngine


ModelOption = Annotated[str | None, typer.Option("--model", "-m", help="The model to ask.")]
SystemOption = Annotated[
    str | None, typer.Option("--system", "-s", help="Instructions that stand above the talk.")
]
ConversationOption = Annotated[
    str | None,
    typer.Option("--conversation", "-c", help="Go on with this one: its id, or a clear beginning."),
]


class ChatSession:
    """One conversation with a model. `conversation` is set by the first message, `report` by the last one."""

    def __init__(
        self,
        engine: "TurnEngine",
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
        self._turn: Turn | None = None
        # Piped text was not typed by the user, so its file references are not followed.
        self._files = current_roots(clean(pasted))

    @property
    def report(self) -> Mapping[str, Any]:
        return self._turn.report if self._turn else {}

    async def send(self, text: str, research: str = "") -> AsyncGenerator[Chunk, None]:
        """Yield the answer to `text` in chunks, collected in `answer`; `research` is a finding's id."""
        from holdfast.turn import Ask

        self.answer, self._turn = Answer(), None
        system = [Message.of("system", clean(self._system))] if self._system else []
        request = ChatRequest(self.model, (*system, Message.of("user", clean(text))))
        ask = Ask(request, self.scope, continues=self.conversation, research=research, files=self._files)
        turn = await self.engine.turn(ask)
        # A conversation that is switched off has no id in its turns; keep the one that was given.
        self.conversation, self._turn = turn.conversation or self.conversation, turn
        async with aclosing(turn.chunks) as chunks:
            async for chunk in chunks:
                self.answer.add(chunk)
                yield chunk

    def notices(self) -> list[str]:
        """Return what went wrong with the last message, referenced files included."""
        from holdfast.window import sentences

        files = [row for row in self.report.get("files", ()) if row["trouble"] and row["newest"]]
        # The errors of the files themselves say more than this notice.
        names = [name for name in self.report.get("notices", ()) if not files or name != "files_missing"]
        return [*(pick(row["trouble"]) for row in files), *map(sentences.notice, names)]

    def shortfall(self) -> str:
        """Return why the last answer is missing or incomplete; empty if it is complete."""
        message, finish = self.answer.message, self.answer.finish
        if finish == "length":
            return _("The answer reached its limit and ends in the middle.")
        if finish == "content_filter":
            return _("The model server held the answer back.")
        if not message.text.strip() and not message.tool_calls:
            return _("The model answered nothing.")
        return ""


def clean(text: str) -> str:
    """Replace what is not valid Unicode in text from a terminal or a pipe."""
    return text.encode("utf-8", "replace").decode()


def read_stdin() -> str:
    """Return the text piped into standard input; empty at a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


async def choose_model(engine: "TurnEngine", wanted: str) -> str:
    return clean(wanted) if wanted else await engine.upstreams.usual_model()


# Signs of a pattern for file names.
_GLOB = set("*?[")
# The exit code for a missing or incomplete answer.
_EXIT_INCOMPLETE = 3


def ask(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="The question. Piped text is added to it.")
    ] = None,
    model: ModelOption = None,
    system: SystemOption = None,
    conversation: ConversationOption = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Nothing beside the answer but errors.")
    ] = False,
    project: ProjectOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole answer as JSON, not streamed.")] = False,
) -> None:
    """Ask one question and print the answer."""
    piped = read_stdin().strip()
    question = "\n\n".join(text for text in (" ".join(words or ()), piped) if text)
    if not question.strip():
        raise BadRequest(_("There is no question."), hint='holdfast ask "…"')
    settings = load(context, model=model).settings
    check_files(" ".join(words or ()))

    async def run() -> bool:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            name = await choose_model(engine, settings.model)
            session = ChatSession(engine, name, current_scope(project), system, conversation, piped)
            return await print_answer(session, question, as_json=as_json, quiet=quiet)

    if not asyncio.run(run()):
        raise typer.Exit(_EXIT_INCOMPLETE)


def check_files(typed: str) -> None:
    """Refuse a question that names a file which is not there, before a model is asked about it."""
    from holdfast.files.problems import FileProblem
    from holdfast.files.references import alternatives_with_colons, find_references

    roots = current_roots()
    for reference in find_references(typed):
        paths = [reference.path, *(other.path for other in alternatives_with_colons(reference))]
        if not reference.sure or _GLOB & set(reference.path) or any(map(roots.exists, paths)):
            continue
        try:
            roots.find(reference.path)
        except FileProblem as problem:
            hint = _("Name a file that is there, or leave out the @. The model was not asked.")
            raise NotFound(problem.message, hint=hint) from None


async def print_answer(session: ChatSession, question: str, *, as_json: bool, quiet: bool) -> bool:
    """Stream the answer to standard output; return whether it is complete."""
    trouble = ""
    try:
        async with aclosing(session.send(question)) as chunks:
            async for chunk in chunks:
                if not as_json:
                    write(chunk.text)
    except CutOff as error:
        session.answer.finish, trouble = "cut", str(error)
    trouble = trouble or session.shortfall()
    if as_json:
        print_json(serialize_answer(session, trouble))
    else:
        write("\n")
    for notice in () if quiet else session.notices():
        print_error(notice)
    if trouble:
        print_error(trouble)
    return not trouble


def serialize_answer(session: ChatSession, trouble: str) -> dict[str, Any]:
    message, usage, report = session.answer.message, session.answer.usage, session.report
    return {
        "conversation": session.conversation,
        "model": session.model,
        "answer": message.text,
        "thinking": message.thinking or None,
        "finish": session.answer.finish,
        "trouble": trouble or None,
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "window": {name: report[name] for name in ("window", "tokens", "room", "level")} if report else None,
        "files": list(report.get("files", ())),
        "notices": session.notices(),
    }
