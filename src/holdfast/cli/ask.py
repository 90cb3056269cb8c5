"""`holdfast ask`: ask one question, interactively or from a script.

Standard output carries the answer alone; notices go to the error stream, and the exit code says whether the
answer is complete.
"""

import asyncio
from contextlib import aclosing
from typing import Annotated, Any

import typer

from holdfast.cli.options import ProjectOption, current_scope
from holdfast.cli.output import load, print_error, print_json, write
from holdfast.cli.session import (
    ChatSession,
    ConversationOption,
    ModelOption,
    SystemOption,
    choose_model,
    read_stdin,
)
from holdfast.errors import BadRequest, CutOff
from holdfast.i18n import gettext as _

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

    async def run() -> bool:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            name = await choose_model(engine, settings.model)
            session = ChatSession(engine, name, current_scope(project), system, conversation, piped)
            return await print_answer(session, question, as_json=as_json, quiet=quiet)

    if not asyncio.run(run()):
        raise typer.Exit(_EXIT_INCOMPLETE)


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
