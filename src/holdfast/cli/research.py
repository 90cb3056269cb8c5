"""`holdfast research`: research a question, and manage earlier findings.

`ask` gathers sources and lets the model answer with them; the other commands need no model server.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.ask import ChatSession, ConversationOption, ModelOption, choose_model, clean, read_stdin
from holdfast.cli.files import current_roots
from holdfast.cli.shared import (
    JsonOption,
    ProjectOption,
    WhoseOption,
    YesOption,
    ask_consent,
    console,
    current_scope,
    format_time,
    load,
    narrow_scope,
    open_memory,
    print_error,
    print_json,
    print_table,
    show_progress_bar,
    write,
)
from holdfast.config import Settings
from holdfast.errors import BadRequest, TooLarge
from holdfast.i18n import gettext as _

if TYPE_CHECKING:
    from holdfast.research.finding import Finding, Mode, ResearchSource
    from holdfast.research.gather import ReadLocal
    from holdfast.research.library import Research, ResearchAnswer


class ResearchMode(StrEnum):
    quick = "quick"
    deep = "deep"


app = typer.Typer(help="What was found for a question, kept while it holds.", no_args_is_help=True)

FindingId = Annotated[str, typer.Argument(metavar="ID", help="Its id, as `research list` has it.")]
ModeOption = Annotated[ResearchMode, typer.Option("--mode", help="How many sources: quick 3, deep 7.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Look it up again, even if it is known.")]

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@contextmanager
def open_research(settings: Settings) -> Iterator["Research"]:
    from holdfast.wiring import build_research

    with open_memory(settings) as parts:
        yield build_research(settings, parts, make_local_reader())


@app.command()
def ask(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="QUESTION", help="What is to be found out.")],
    source: Annotated[
        list[str] | None,
        typer.Option("--source", "-s", help="A page or file to read, instead of searching; several times."),
    ] = None,
    mode: ModeOption = ResearchMode.quick,
    fresh: FreshOption = False,
    model: ModelOption = None,
    conversation: ConversationOption = None,
    project: ProjectOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole answer as JSON, not streamed.")] = False,
) -> None:
    """Find something out: sources are gathered, unless they are known, and the model answers with them."""
    question = clean(" ".join(words))
    settings, scope = load(context, model=model).settings, current_scope(project)

    async def run() -> None:
        from holdfast.wiring import running_engine

        async with running_engine(settings) as engine:
            session = ChatSession(
                engine, await choose_model(engine, settings.model), scope, conversation=conversation
            )
            answered = await gather_sources(
                session, settings, question, mode.value, source or (), fresh=fresh
            )
            async with aclosing(session.send(question, answered.finding.id)) as chunks:
                async for chunk in chunks:
                    if not as_json:
                        write(chunk.text)
            if as_json:
                finding = serialize_finding(answered.finding, time.time(), texts=False)
                answer = {
                    "conversation": session.conversation,
                    "model": session.model,
                    "answer": session.answer.message.text,
                }
                print_json({**answer, "finding": finding, "reused": answered.reused})
            else:
                write("\n\n")
                print_sources(answered.finding, time.time())

    asyncio.run(run())


async def gather_sources(
    session: ChatSession,
    settings: Settings,
    question: str,
    mode: "Mode" = "quick",
    sources: Sequence[str] = (),
    *,
    fresh: bool = False,
) -> "ResearchAnswer":
    """Return the finding for a question, gathering sources unless there is a current one; print notes."""
    from holdfast.wiring import build_research

    assert session.engine.remembering is not None
    research = build_research(settings, session.engine.remembering, make_local_reader())
    with show_progress_bar() as bar:
        answered = await research.answer(
            session.scope,
            question,
            mode,
            addresses=[resolve_address(source) for source in sources],
            fresh=fresh,
            tell=lambda done, total, _unused: bar(_("Sources"), done, total),
        )
    print_gathering_notes(answered)
    return answered


def print_gathering_notes(answered: "ResearchAnswer") -> None:
    """Print the age of a reused finding, or the sources that could not be read."""
    if answered.reused:
        age = format_age(answered.age)
        print_error(_("Known already, found {age} ago; --fresh looks it up again.").format(age=age))
    for source in answered.finding.sources:
        if source.trouble and not answered.reused:
            print_error(_("Left out: {url}: ").format(url=source.url) + source.trouble)


@app.command()
def add(
    context: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question that the sources answer.")
    ],
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SOURCE", help="Pages, files, or - for a pipe.")
    ] = None,
    mode: ModeOption = ResearchMode.quick,
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep pages, files or piped text as what was found for a question."""
    settings, scope = load(context).settings, narrow_scope(whose, project)
    named = list(sources or ["-"])
    with open_research(settings) as research:
        texts = asyncio.run(read_sources(research, clean(question), mode.value, named))
        finding = research.add(scope, clean(question), texts, mode.value)
        if as_json:
            print_json(serialize_finding(finding, research.clock(), texts=False))
            return
        console.print(_("Kept: {id}").format(id=finding.id))
        for source in finding.sources:
            if source.trouble:
                print_error(_("Left out: {url}: ").format(url=source.url) + source.trouble)


async def read_sources(
    research: "Research", question: str, mode: "Mode", named: list[str]
) -> list["ResearchSource"]:
    from holdfast.research.finding import ResearchSource

    elsewhere = [resolve_address(name) for name in named if name != "-"]
    texts: list[ResearchSource] = []
    if "-" in named:
        piped = read_stdin()
        if not piped.strip():
            raise BadRequest(
                _("There is no text to keep."), hint=_("Name pages or files, or pipe a text in.")
            )
        texts.append(ResearchSource("", _("Piped text"), piped, research.clock()))
    if elsewhere:
        with show_progress_bar() as bar:
            texts += await research.gather(
                question, mode, elsewhere, lambda done, total, _unused: bar(_("Sources"), done, total)
            )
    return texts


@app.command("list")
def list_(
    context: typer.Context,
    text: Annotated[str, typer.Option(help="Only those that speak of this.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    offset: Annotated[int, typer.Option(min=0, help="How many of the newest to pass over.")] = 0,
    whose: WhoseOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what was found, newest first."""
    settings, scope = load(context).settings, narrow_scope(whose, project)
    troubles: list[str] = []
    with open_research(settings) as research:
        findings = research.search(scope, text, own=whose is not None, troubles=troubles)
        page, now = findings[offset : offset + limit], research.clock()
    if as_json:
        listed = [serialize_finding(finding, now, texts=False) for finding in page]
        print_json({"findings": listed, "total": len(findings), "troubles": troubles})
        return
    print_findings(page, now, offset, len(findings))
    for trouble in troubles:
        print_error(trouble)


@app.command()
def show(
    context: typer.Context,
    finding: FindingId,
    texts: Annotated[bool, typer.Option("--texts", help="The texts of its sources too.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a finding: question, summary, sources, and how long it holds."""
    settings, scope = load(context).settings, current_scope(project)
    with open_research(settings) as research:
        stored, now = research.get(scope, finding), research.clock()
    if as_json:
        print_json(serialize_finding(stored, now, texts=texts))
    else:
        print_finding(stored, now, texts=texts)


@app.command()
def forget(
    context: typer.Context,
    finding: FindingId,
    yes: YesOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget a finding for good, with the texts of its sources."""
    settings, scope = load(context).settings, current_scope(project)
    with open_research(settings) as research:
        stored = research.get(scope, finding)
        if not yes:
            write(f"{stored.question}\n")
            ask_consent(
                _("Forget it for good?"),
                _("{id} was not forgotten: there is no terminal on which to confirm it.").format(
                    id=stored.id
                ),
            )
        research.forget(scope, stored.id)
        if as_json:
            print_json({"forgotten": serialize_finding(stored, research.clock(), texts=False)})
        else:
            console.print(_("Forgotten: {id}").format(id=stored.id))


@app.command()
def prune(context: typer.Context, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Take away what is out of date for a month, and make one of findings that are alike."""
    settings, scope = load(context).settings, current_scope(project)
    with open_research(settings) as research:
        pruned = research.prune(research.clock(), scope)
    if as_json:
        print_json(
            {"removed": list(pruned.removed), "merged": list(pruned.merged), "left": list(pruned.left)}
        )
        return
    removed, merged = len(pruned.removed), len(pruned.merged)
    console.print(
        _("{removed} removed, {merged} became part of others.").format(removed=removed, merged=merged)
    )


def make_local_reader() -> "ReadLocal":
    """Return a function that reads files relative to the current folder, except those with secrets."""

    def read(name: str) -> tuple[str, bytes]:
        roots = current_roots()
        file = roots.find(name)
        data = roots.read(file, whole=roots.limits.document)
        if not data.whole:
            raise TooLarge(
                _("{name} has more than {document:,} bytes.").format(
                    name=name, document=roots.limits.document
                ),
                hint=_("Name the part of it that matters."),
            )
        return PurePath(file.path).name, data.head

    return read


def resolve_address(named: str) -> str:
    """Return a URL as it is and a file as an absolute path, which holds in every folder."""
    if named.lower().startswith(("http://", "https://")):
        return named
    return str(Path(named).expanduser().absolute())


def serialize_finding(finding: "Finding", now: float, *, texts: bool) -> dict[str, Any]:
    from holdfast.research.repository import path_of_note

    return {**finding.to_json(now, whole=texts), "path": str(path_of_note(finding))}


def print_findings(page: Sequence["Finding"], now: float, offset: int, total: int) -> None:
    if not total:
        console.print(_("Nothing was found out here yet. `holdfast research ask QUESTION` begins."))
        return
    columns = (_("id"), _("found"), _("holds until"), _("question"), _("sources"))
    print_table(
        columns,
        [
            (
                finding.id,
                format_time(finding.created_at),
                format_expiry(finding, now),
                finding.question,
                ", ".join(finding.names),
            )
            for finding in page
        ],
    )
    last = offset + len(page)
    more = _(" · more with --offset {last}").format(last=last) if last < total else ""
    first = min(offset + 1, last)
    position = _("{first}–{last} of ").format(first=first, last=last) + f"{total}{more}"
    console.print(position, style="dim")


def print_finding(finding: "Finding", now: float, *, texts: bool) -> None:
    from holdfast.research.repository import path_of_note

    write(f"{finding.question}\n\n{finding.summary}\n\n")
    by = {"model": _("a model"), "text": _("the sources' own words"), "person": _("you")}
    rows = [
        ("id", finding.id),
        (_("found"), format_time(finding.created_at)),
        (_("holds until"), format_expiry(finding, now)),
        (_("mode"), finding.mode),
        (_("summary by"), by.get(finding.summary_by, "")),
        (_("asked in"), finding.conversation),
        (_("took in"), ", ".join(finding.merged)),
        (_("file"), str(path_of_note(finding))),
    ]
    for name, value in rows:
        if value:
            console.print(f"  {name}: {value}", style="dim")
    write("\n")
    print_sources(finding, now)
    for number, source in finding.usable_with_numbers if texts else ():
        write(f"\n[{number}] {source.title or source.name}\n\n{source.text}\n")


def print_sources(finding: "Finding", now: float) -> None:
    """Print the sources with their age, or why they could not be read."""
    for number, source in enumerate(finding.sources, 1):
        age = _("{now} ago").format(now=format_age(now - source.at))
        line = " · ".join(filter(None, (source.title, source.url, source.trouble or age)))
        console.print(f"[{number}] {line}", style="dim")


def format_age(seconds: float) -> str:
    """Format an age in the largest fitting unit."""
    if seconds < _HOUR:
        minutes = round(seconds / _MINUTE)
        return _("{minutes} min").format(minutes=minutes)
    if seconds < 2 * _DAY:
        hours = round(seconds / _HOUR)
        return _("{hours} h").format(hours=hours)
    days = round(seconds / _DAY)
    return _("{days} days").format(days=days)


def format_expiry(finding: "Finding", now: float) -> str:
    if finding.is_expired(now):
        return _("expired")
    return format_time(finding.expires_at) if finding.expires_at else _("for good")
