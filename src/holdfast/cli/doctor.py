"""`holdfast doctor`: what was found, what would be used, what is wrong and how to mend it."""

import asyncio
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from holdfast import __version__
from holdfast.cli.output import console, load, print_json
from holdfast.config import Settings
from holdfast.errors import EmbedderError, HoldfastError
from holdfast.i18n import say

if TYPE_CHECKING:
    from holdfast.memory.embedders.choice import ChosenEmbedder
    from holdfast.store import Store
    from holdfast.upstreams.base import Provider
    from holdfast.upstreams.routing import Upstreams, UpstreamState

# Less than this much room, and a conversation of some weeks or a model would not fit.
_ROOM = 1_000_000_000
# More notes than these are not counted.
_MANY = 1_000
_UNTIL_QMD = (
    "Until it answers, our own search does; `holdfast memory reindex` has it read the notes again.",
    "Bis es antwortet, tut es unsere eigene Suche; `holdfast memory reindex` lässt es die Notizen neu lesen.",
)
# What an embedder is tried with.
_SENTENCE = "The gateway runs on the machine in the cellar."


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `remedy` says what to do about it, where there is something to do."""

    state: Literal["ok", "info", "note", "bad"]
    about: str
    found: str
    remedy: str = ""


def doctor(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """Look at everything Holdfast needs; exit code 1 if something is wrong."""
    settings = load(context).settings
    findings = [*_machine(settings), *_store(settings), *asyncio.run(_models(settings))]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            _print(finding)
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)


def _print(finding: Finding) -> None:
    marks = {"ok": "[green]✓[/green]", "info": "·", "note": "[yellow]![/yellow]", "bad": "[red]✗[/red]"}
    console.print(f"{marks[finding.state]} [bold]{finding.about}[/bold]: ", end="")
    console.print(finding.found, markup=False)
    if finding.remedy:
        console.print(f"  → {finding.remedy}", markup=False)


def _machine(settings: Settings) -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "Holdfast", f"{__version__} (Python {python})")
    existing = next(place for place in (settings.home, *settings.home.parents) if place.exists())
    free = shutil.disk_usage(existing).free
    room = say(f"{free / 1e9:.0f} GB free", f"{free / 1e9:.0f} GB frei")
    yield Finding(
        "ok" if free > _ROOM else "note",
        say("data folder", "Datenordner"),
        f"{settings.home} ({room})",
        ""
        if free > _ROOM
        else say(
            "Make room, or move it with HOLDFAST_HOME.", "Platz schaffen oder mit HOLDFAST_HOME verlegen."
        ),
    )
    try:
        socket.create_connection((settings.host, settings.port), timeout=1).close()
        taken = True
    except OSError:
        taken = False
    address = f"{settings.host}:{settings.port}"
    yield Finding(
        "note" if taken else "ok",
        say("address", "Adresse"),
        say(f"{address} is in use", f"{address} ist belegt")
        if taken
        else say(f"{address} is free", f"{address} ist frei"),
        say(
            "If that is not Holdfast itself, choose another with --port.",
            "Falls das nicht Holdfast selbst ist: anderen Port mit --port wählen.",
        )
        if taken
        else "",
    )


def _store(settings: Settings) -> Iterator[Finding]:
    from sqlalchemy import make_url

    from holdfast.store import open_store

    yield from _restore(settings)
    about = say("database", "Datenbank")
    try:
        shown = make_url(settings.store).render_as_string(hide_password=True)
        with open_store(settings.store) as store:
            yield Finding("ok", about, shown)
            notes = _notes(settings, store)
            yield notes
            # Where notes cannot be reached, what else needs them would only say so again.
            if notes.state != "bad":
                yield from _memory(settings, store)
    except HoldfastError as error:
        yield Finding("bad", about, error.message, error.hint)


def _restore(settings: Settings) -> Iterator[Finding]:
    """A restore that broke off and waits for somebody to say what becomes of it."""
    from holdfast.transfer.backup import is_pending
    from holdfast.transfer.staging import DataFolder

    if is_pending(DataFolder(settings.home, settings.store)):
        found = say("a restore broke off", "ein Zurückspielen ist abgebrochen")
        yield Finding("note", say("backup", "Sicherung"), found, "holdfast backup finish")


def _notes(settings: Settings, store: "Store") -> Finding:
    """Where memories are written, whether that can be reached, and whether all that was promised is there."""
    from holdfast.memory.base import MEMORY_TOPIC, SUMMARY_TOPIC
    from holdfast.memory.workspace.choice import is_bucket
    from holdfast.wiring import build_workspace, notes_location

    waiting = [item for item in store.outbox.pending(_MANY) if item.topic in (MEMORY_TOPIC, SUMMARY_TOPIC)]
    trouble = next((item.error for item in reversed(waiting) if item.error), "")
    number = f"{len(waiting)}{'+' if len(waiting) >= _MANY else ''}"
    found = notes_location(settings)
    if waiting:
        found += say(f" ({number} still to be written)", f" ({number} noch zu schreiben)")
    if not settings.memory:
        found += say(" (memory is switched off)", " (Gedächtnis ist ausgeschaltet)")
    about = say("notes", "Notizen")
    if store.database.on_server and not is_bucket(found):
        found += say(
            "; every server on this database needs the same folder",
            "; jeder Server an dieser Datenbank braucht denselben Ordner",
        )
    try:
        build_workspace(settings).entries()
    except HoldfastError as error:
        return Finding("bad", about, f"{found}: {error.message}", error.hint)
    if not trouble:
        return Finding("ok", about, found)
    remedy = say(
        "Mend it: they are kept in the database until then, and tried again every minute.",
        "Beheben: bis dahin bleiben sie in der Datenbank, jede Minute ein neuer Versuch.",
    )
    return Finding("note", about, f"{found}: {trouble}", remedy)


def _memory(settings: Settings, store: "Store") -> Iterator[Finding]:
    """What finds memories by meaning, and how far the index is behind the notes."""
    from holdfast.messages import Scope
    from holdfast.wiring import build_remembering

    parts = build_remembering(settings, store)
    try:
        yield _embedder(parts.embedder)
        if (engine := parts.meaning.engine(ask=True)) and engine["location"]:
            yield _vectors(engine)
        if (batches := parts.meaning.batches()) is not None:
            yield _batches(batches)
        if parts.qmd is not None:
            yield _qmd(parts.qmd.state())
        # The time is up before it begins: nothing is read, and what has changed is only counted.
        fresh, waiting = parts.index.refresh(Scope(), 0.0), parts.meaning.waiting()
    finally:
        parts.close()
    found = say(f"{fresh.files} files", f"{fresh.files} Dateien")
    if fresh.stale:
        found += say(f", {fresh.stale} changed since", f", {fresh.stale} seitdem geändert")
    if waiting:
        found += say(f", {waiting} vectors to be made", f", {waiting} Vektoren zu machen")
    for path, reason in fresh.skipped.items():
        found += f"; {path}: {reason}"
    behind = say(
        "Searching catches up by itself; `holdfast memory reindex` does it at once.",
        "Suchen holt es nach; `holdfast memory reindex` tut es sofort.",
    )
    state: Literal["ok", "note"] = "note" if fresh.skipped else "ok"
    yield Finding(state, "Index", found, behind if fresh.stale or waiting else "")


def _qmd(told: dict[str, Any]) -> Finding:
    """Whether QMD is there, has read the notes, and answered when it was last asked."""
    if not told["found"]:
        return Finding(
            "note",
            "QMD",
            say(f"there is no program {told['command']}", f"es gibt kein Programm {told['command']}"),
            say(
                "Install it (`npm install -g @tobilu/qmd`) or name it in qmd_command. Until then our own"
                " search answers.",
                "Installieren (`npm install -g @tobilu/qmd`) oder in qmd_command nennen. Bis dahin antwortet"
                " unsere eigene Suche.",
            ),
        )
    what = " ".join(filter(None, (told["command"], told["version"], told["mode"])))
    number = told["collections"]
    found = say(f"{what}, {number} collections", f"{what}, {number} Sammlungen")
    trouble = told["trouble"] or told["because"]
    if trouble:
        return Finding("note", "QMD", f"{found}: {trouble}", say(*_UNTIL_QMD))
    models = say(
        " (fetches models by itself when it first makes vectors or answers)",
        " (holt Modelle von selbst, wenn es zum ersten Mal Vektoren macht oder antwortet)",
    )
    return Finding("ok", "QMD", found + ("" if told["mode"] == "search" else models))


def _embedder(chosen: "ChosenEmbedder") -> Finding:
    """Whether a sentence really becomes a vector, and how long that takes, starting included."""
    about = say("embedder", "Embedder")
    if chosen.off:
        return Finding("info", about, say("off: only words are compared", "aus: nur Wörter zählen"))
    until = say("Until then only words are compared.", "Bis dahin zählen nur Wörter.")
    began = time.perf_counter()
    embedder = chosen.current()
    if embedder is None:
        return Finding("note", about, chosen.trouble, until)
    try:
        size = embedder.embed([_SENTENCE]).shape[1]
    except EmbedderError as error:
        return Finding("note", about, error.message, f"{error.hint} {until}".strip())
    seconds = time.perf_counter() - began
    took = say(
        f"{size} dimensions, one sentence in {seconds:.1f} s",
        f"{size} Dimensionen, ein Satz in {seconds:.1f} s",
    )
    return Finding("ok", about, f"{embedder.identity}: {took}")


def _vectors(told: dict[str, Any]) -> Finding:
    """Whether what vectors are left to answers, and has them all."""
    about, found = say("vectors", "Vektoren"), f"{told['wanted']} {told['location']}"
    if told["trouble"]:
        remedy = say("Until then they are compared in process.", "Bis dahin vergleicht sie dieser Prozess.")
        return Finding("note", about, f"{found}: {told['trouble']}", remedy)
    behind = told["behind"]
    if not behind:
        return Finding("ok", about, found)
    found += say(f": {behind} still to be handed over", f": {behind} noch zu übergeben")
    remedy = say(
        "The server does that by itself; `holdfast memory reindex` does it at once.",
        "Der Server tut das von selbst; `holdfast memory reindex` tut es sofort.",
    )
    return Finding("ok", about, found, remedy)


def _batches(told: dict[str, Any]) -> Finding:
    """What a server makes in its own time, and what went wrong with the last of it."""
    about = say("batch jobs", "Batch-Jobs")
    jobs, texts = told["jobs"], told["texts"]
    found = say(f"{jobs} under way with {texts} texts", f"{jobs} unterwegs mit {texts} Texten")
    if not told["trouble"]:
        return Finding("ok", about, found)
    remedy = say("Vectors are made the ordinary way for now.", "Vektoren entstehen vorerst ohne sie.")
    return Finding("note", about, f"{found}; {told['trouble']}", remedy)


async def _models(settings: Settings) -> list[Finding]:
    from holdfast.upstreams.model_file import find_model_file
    from holdfast.wiring import build_upstreams, look_around

    found = await look_around(settings)
    findings = [Finding("info", place, what) for place, what in found.tried]
    weights = find_model_file(settings.models_dir)
    findings.append(
        Finding(
            "ok" if weights else "note",
            say("embedded model", "eingebautes Modell"),
            str(weights) if weights else say("not fetched", "nicht geholt"),
            "" if weights else "holdfast models get",
        )
    )
    upstreams = build_upstreams(settings)
    about = say("will be used", "wird benutzt")
    try:
        if settings.upstreams:
            await upstreams.refresh()
            findings += [_server(state) for state in upstreams.states()]
        provider = await upstreams.main()
        models = [model.name for model in await provider.models()]
        findings.append(_usable(about, f"{provider.name} {provider.location}", ", ".join(models)))
        findings += _better_embedder(settings, provider, models)
        if settings.helper_model:
            findings.append(await _helper(settings, upstreams, provider))
    except HoldfastError as error:
        findings.append(Finding("bad", about, error.message, error.hint))
    finally:
        await upstreams.aclose()
    return findings


def _better_embedder(settings: Settings, server: "Provider", models: Sequence[str]) -> Iterator[Finding]:
    """What somebody gains who takes another embedder than the one inside."""
    from holdfast.memory.embedders import advice
    from holdfast.memory.embedders.locations import located

    if settings.memory and located(settings.embedder).kind in ("auto", "embedded"):
        address = server.location if server.name == "ollama" else ""
        about = say("a better embedder", "ein besserer Embedder")
        yield Finding("info", about, advice.gain(), advice.remedy(address, models))


async def _helper(settings: Settings, upstreams: "Upstreams", main: "Provider") -> Finding:
    """Whether summaries by another model than the one talked to would push that one out of memory."""
    about, helper = say("helper model", "Hilfsmodell"), settings.helper_model
    try:
        server = await upstreams.route(helper)
        await server.describe(helper)
    except HoldfastError as error:
        remedy = say("Get it, or leave helper_model empty.", "Holen oder helper_model leer lassen.")
        return Finding("bad", about, str(error), remedy)
    models = {model.name.removesuffix(":latest"): model for model in await main.models()}
    loaded = [name for name, model in models.items() if model.running_window]
    named = helper.removesuffix(":latest")
    chat = settings.model.removesuffix(":latest") or next(
        (name for name in (*loaded, *models) if name != named), named
    )
    # A server with one model answers to every name, and two servers do not get in each other's way.
    if server is not main or named not in models or named == chat or {named, chat} <= {*loaded}:
        return Finding("ok", about, helper)
    return Finding(
        "note",
        about,
        say(
            f"{helper} is another model than {chat}: on a server that holds one at a time, every summary"
            " evicts the model that is talked to",
            f"{helper} ist ein anderes Modell als {chat}: auf einem Server, der nur eins hält, verdrängt jede"
            " Zusammenfassung das Modell, mit dem gesprochen wird",
        ),
        say(
            "Leave helper_model empty, or let the server hold two (Ollama: OLLAMA_MAX_LOADED_MODELS=2).",
            "helper_model leer lassen, oder der Server hält zwei (Ollama: OLLAMA_MAX_LOADED_MODELS=2).",
        ),
    )


def _server(state: "UpstreamState") -> Finding:
    """One of several model servers."""
    if state.well:
        count = state.models or 0
        found = say(f"{count} models", f"{count} Modelle")
        return Finding("ok", state.name, f"{state.kind} {state.location}: {found}")
    remedy = say(
        "Until it answers, others that have the model stand in.",
        "Bis er antwortet, springen andere ein, die das Modell haben.",
    )
    told = state.error or say("no answer yet", "noch keine Antwort")
    return Finding("note", state.name, f"{state.location}: {told}", remedy)


def _usable(about: str, server: str, names: str) -> Finding:
    if names:
        return Finding("ok", about, f"{server}: {names}")
    return Finding(
        "bad",
        about,
        say(f"{server} has no models", f"{server} hat keine Modelle"),
        say(
            "Get one: `ollama pull qwen3:4b`, or `holdfast models get`.",
            "Eins holen: `ollama pull qwen3:4b` oder `holdfast models get`.",
        ),
    )
