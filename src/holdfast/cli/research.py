"""`holdfast research`: find something out, and look at what was found before.

`ask` gathers sources and has the model answer with them; the others need no model server.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast.cli.found import (
    ModeName,
    address_of,
    age_of,
    finding_json,
    print_finding,
    print_findings,
    print_sources,
    reader_here,
)
from holdfast.cli.kept import Json
from holdfast.cli.output import complain, console, load, print_json, write
from holdfast.cli.project import Project, scope_here
from holdfast.cli.remembered import WhoseOption, agree, progress, remembering, scope_for
from holdfast.cli.talk import GoesOn, Model, Talk, clean, model_for, piped_in
from holdfast.config import Settings
from holdfast.errors import BadRequest
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.research.finding import Mode, ResearchSource
    from holdfast.research.library import Research, ResearchAnswer

app = typer.Typer(help="What was found for a question, kept while it holds.", no_args_is_help=True)

FindingId = Annotated[str, typer.Argument(metavar="ID", help="Its id, as `research list` has it.")]
ModeOption = Annotated[ModeName, typer.Option("--mode", help="How many sources: quick 3, deep 7.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Look it up anew, whatever is known.")]


@contextmanager
def researching(settings: Settings) -> Iterator["Research"]:
    from holdfast.wiring import build_research

    with remembering(settings) as parts:
        yield build_research(settings, parts, reader_here())


@app.command()
def ask(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What is to be found out.")],
    source: Annotated[
        list[str] | None,
        typer.Option("--source", "-s", help="A page or file to read, instead of searching; several times."),
    ] = None,
    mode: ModeOption = ModeName.quick,
    fresh: Fresh = False,
    model: Model = None,
    conversation: GoesOn = None,
    project: Project = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole answer as JSON, not streamed.")] = False,
) -> None:
    """Find something out: sources are gathered, unless they are known, and the model answers with them."""
    question = clean(" ".join(words))
    settings, scope = load(context, model=model).settings, scope_here(project)

    async def run() -> None:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            talk = Talk(engine, await model_for(engine, settings.model), scope, conversation=conversation)
            answered = await gathered(talk, settings, question, mode.value, source or (), fresh=fresh)
            async with aclosing(talk.say(question, answered.finding.id)) as chunks:
                async for chunk in chunks:
                    if not as_json:
                        write(chunk.text)
            if as_json:
                told = finding_json(answered.finding, time.time(), texts=False)
                said = {
                    "conversation": talk.conversation,
                    "model": talk.model,
                    "answer": talk.answer.message.text,
                }
                print_json({**said, "finding": told, "reused": answered.reused})
            else:
                write("\n\n")
                print_sources(answered.finding, time.time())

    asyncio.run(run())


async def gathered(
    talk: Talk,
    settings: Settings,
    question: str,
    mode: "Mode" = "quick",
    sources: Sequence[str] = (),
    *,
    fresh: bool = False,
) -> "ResearchAnswer":
    """What there is for a question, gathered now unless it is known; says how that went."""
    from holdfast.wiring import build_research

    assert talk.engine.remembering is not None
    research = build_research(settings, talk.engine.remembering, reader_here())
    with progress() as bar:
        answered = await research.answer(
            talk.scope,
            question,
            mode,
            addresses=[address_of(one) for one in sources],
            fresh=fresh,
            tell=lambda done, total, _: bar(say("Sources", "Quellen"), done, total),
        )
    _tell_of(answered)
    return answered


def _tell_of(answered: "ResearchAnswer") -> None:
    """Beside the answer: from when it is, if it was known, and which sources could not be read."""
    if answered.reused:
        age = age_of(answered.age)
        complain(
            say(
                f"Known already, found {age} ago; --fresh looks it up anew.",
                f"Schon bekannt, gefunden vor {age}; --fresh sucht neu.",
            )
        )
    for source in answered.finding.sources:
        if source.trouble and not answered.reused:
            complain(say(f"Left out: {source.url}: ", f"Ausgelassen: {source.url}: ") + source.trouble)


@app.command()
def add(
    context: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question that the sources answer.")
    ],
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SOURCE", help="Pages, files, or - for a pipe.")
    ] = None,
    mode: ModeOption = ModeName.quick,
    whose: WhoseOption = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Keep pages, files or piped text as what was found for a question."""
    settings, scope = load(context).settings, scope_for(whose, project)
    named = list(sources or ["-"])
    with researching(settings) as research:
        found = asyncio.run(_read(research, clean(question), mode.value, named))
        made = research.add(scope, clean(question), found, mode.value)
        if as_json:
            print_json(finding_json(made, research.clock(), texts=False))
            return
        console.print(Text(say(f"Kept: {made.id}", f"Behalten: {made.id}")))
        for one in made.sources:
            if one.trouble:
                complain(say(f"Left out: {one.url}: ", f"Ausgelassen: {one.url}: ") + one.trouble)


async def _read(
    research: "Research", question: str, mode: "Mode", named: list[str]
) -> list["ResearchSource"]:
    from holdfast.research.finding import ResearchSource

    elsewhere = [address_of(one) for one in named if one != "-"]
    found: list[ResearchSource] = []
    if "-" in named:
        piped = piped_in()
        if not piped.strip():
            raise BadRequest(
                say("There is no text to keep.", "Es gibt keinen Text zu behalten."),
                hint=say(
                    "Name pages or files, or pipe a text in.",
                    "Seiten oder Dateien nennen, oder einen Text hineinleiten.",
                ),
            )
        found.append(ResearchSource("", say("Piped text", "Übergebener Text"), piped, research.clock()))
    if elsewhere:
        with progress() as bar:
            found += await research.gather(
                question,
                mode,
                elsewhere,
                lambda done, total, _: bar(say("Sources", "Quellen"), done, total),
            )
    return found


@app.command("list")
def list_(
    context: typer.Context,
    text: Annotated[str, typer.Option(help="Only those that speak of this.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    offset: Annotated[int, typer.Option(min=0, help="How many of the newest to pass over.")] = 0,
    whose: WhoseOption = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List what was found, newest first."""
    settings, scope = load(context).settings, scope_for(whose, project)
    troubles: list[str] = []
    with researching(settings) as research:
        found = research.search(scope, text, own=whose is not None, troubles=troubles)
        page, now = found[offset : offset + limit], research.clock()
    if as_json:
        listed = [finding_json(one, now, texts=False) for one in page]
        print_json({"findings": listed, "total": len(found), "troubles": troubles})
        return
    print_findings(page, now, offset, len(found))
    for trouble in troubles:
        complain(trouble)


@app.command()
def show(
    context: typer.Context,
    finding: FindingId,
    texts: Annotated[bool, typer.Option("--texts", help="The texts of its sources too.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show a finding: question, summary, sources, and how long it holds."""
    settings, scope = load(context).settings, scope_here(project)
    with researching(settings) as research:
        found, now = research.get(scope, finding), research.clock()
    if as_json:
        print_json(finding_json(found, now, texts=texts))
    else:
        print_finding(found, now, texts=texts)


@app.command()
def forget(
    context: typer.Context,
    finding: FindingId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Forget a finding for good, with the texts of its sources."""
    settings, scope = load(context).settings, scope_here(project)
    with researching(settings) as research:
        found = research.get(scope, finding)
        if not yes:
            write(f"{found.question}\n")
            agree(
                say("Forget it for good?", "Endgültig vergessen?"),
                say(
                    f"{found.id} was not forgotten: nobody is here to be asked.",
                    f"{found.id} wurde nicht vergessen: niemand ist da, der gefragt werden kann.",
                ),
            )
        research.forget(scope, found.id)
        if as_json:
            print_json({"forgotten": finding_json(found, research.clock(), texts=False)})
        else:
            console.print(Text(say(f"Forgotten: {found.id}", f"Vergessen: {found.id}")))


@app.command()
def prune(context: typer.Context, project: Project = None, as_json: Json = False) -> None:
    """Take away what is out of date for a month, and make one of findings that are alike."""
    settings, scope = load(context).settings, scope_here(project)
    with researching(settings) as research:
        pruned = research.prune(research.clock(), scope)
    if as_json:
        print_json(
            {"removed": list(pruned.removed), "merged": list(pruned.merged), "left": list(pruned.left)}
        )
        return
    removed, merged = len(pruned.removed), len(pruned.merged)
    console.print(
        say(
            f"{removed} removed, {merged} became part of others.",
            f"{removed} entfernt, {merged} in andere aufgenommen.",
        )
    )
