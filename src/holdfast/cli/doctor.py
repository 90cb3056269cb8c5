"""`holdfast doctor`, `config` and `jobs`: what is used, what is wrong and how to fix it, latest requests."""

import asyncio
import http.client
import json
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from holdfast import __version__
from holdfast.cli.shared import JsonOption, console, format_time, load, print_json, print_table
from holdfast.config import Settings
from holdfast.errors import ConfigError, EmbedderError, HoldfastError, StoreError
from holdfast.i18n import gettext as _
from holdfast.i18n import lazy, pgettext, translate

if TYPE_CHECKING:
    from holdfast.memory.embedder_choice import ChosenEmbedder
    from holdfast.store import JobRecord, Store
    from holdfast.upstreams.base import Provider
    from holdfast.upstreams.routing import Upstreams, UpstreamState


# Below this, some weeks of conversations or a model would not fit.
_MIN_FREE_BYTES = 1_000_000_000
# Of a damaged database, this many problems are shown.
_MAX_PROBLEMS = 3
# Pending notes are counted up to this number.
_MAX_COUNTED = 1_000
_QMD_FALLBACK = lazy(
    "Until it answers, our own search does; `holdfast memory reindex` has it read the notes again."
)
# The patience and room for what listens at our address.
_ASK_SECONDS = 5.0
_LARGEST_ANSWER = 100_000
# The sentence an embedder is tested with.
_TEST_SENTENCE = "The gateway runs on the machine in the cellar."


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `remedy` says what to do, if anything."""

    state: Literal["ok", "info", "note", "bad"]
    about: str
    found: str
    remedy: str = ""


def doctor(context: typer.Context, as_json: JsonOption = False) -> None:
    """Look at everything Holdfast needs; exit code 1 if something is wrong."""
    settings = load(context).settings
    checks = [
        *check_machine(settings),
        *check_preset(settings),
        *check_store(settings),
        *asyncio.run(check_models(settings)),
    ]
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        for check in checks:
            print_check(check)
    if any(check.state == "bad" for check in checks):
        raise typer.Exit(1)


def print_check(check: Check) -> None:
    marks = {"ok": ("✓", "green"), "info": ("·", ""), "note": ("!", "yellow"), "bad": ("✗", "red")}
    finding = f": {translate(check.found)}"
    console.print(Text.assemble(marks[check.state], " ", (check.about, "bold"), finding))
    if check.remedy:
        console.print(f"  → {translate(check.remedy)}")


def check_machine(settings: Settings) -> Iterator[Check]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Check("ok", "Holdfast", f"{__version__} (Python {python})")
    existing = next(place for place in (settings.home, *settings.home.parents) if place.exists())
    free = shutil.disk_usage(existing).free
    room = _("{free:.0f} GB free").format(free=free / 1e9)
    yield Check(
        "ok" if free > _MIN_FREE_BYTES else "note",
        _("data folder"),
        f"{settings.home} ({room})",
        "" if free > _MIN_FREE_BYTES else _("Make room, or move it with HOLDFAST_HOME."),
    )
    yield check_address(settings)


def check_address(settings: Settings) -> Check:
    """Report whether the address is free, Holdfast's own already, or another program's."""
    about, address = _("address"), f"{settings.host}:{settings.port}"
    try:
        socket.create_connection((settings.host, settings.port), timeout=1).close()
    except OSError:
        return Check("ok", about, _("{address} is free").format(address=address))
    if is_holdfast(address):
        return Check("ok", about, _("Holdfast is running on {address}").format(address=address))
    remedy = _("End that program, or choose another port with --port.")
    return Check("note", about, _("{address} is in use by another program").format(address=address), remedy)


def is_holdfast(address: str) -> bool:
    """Ask what listens at an address whether it is a Holdfast."""
    connection = http.client.HTTPConnection(address, timeout=_ASK_SECONDS)
    with suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/health")
        answer = json.loads(connection.getresponse().read(_LARGEST_ANSWER))
        return isinstance(answer, dict) and answer.get("name") == "holdfast"
    return False


def check_preset(settings: Settings) -> Iterator[Check]:
    """Report levels that contradict each other or that no request reaches; with them, nothing starts."""
    from holdfast.window.presets import preset_from

    try:
        preset_from(settings)
    except ConfigError as error:
        yield Check("bad", _("levels"), error.message, error.hint)


def check_store(settings: Settings) -> Iterator[Check]:
    from sqlalchemy import make_url

    from holdfast.store import open_store

    yield from check_restore(settings)
    about = _("database")
    try:
        problems = list(check_database(settings))
        yield from problems
        if problems:
            # Opening it would create one, and nobody would see again what is wrong.
            return
        shown = make_url(settings.store).render_as_string(hide_password=True)
        with open_store(settings.store) as store:
            read_only = store.database.is_read_only
            if read_only:
                remedy = _(
                    "It can be read, and not be written to: see that you may write to it and its folder, or"
                    " copy the folder and use --home."
                )
                yield Check("bad", about, shown, remedy)
            else:
                yield Check("ok", about, shown)
            notes = check_notes(settings, store)
            yield notes
            # If notes are unreachable or nothing can be written, the checks of memory would report the same.
            if notes.state != "bad" and not read_only:
                yield from check_memory(settings, store)
    except HoldfastError as error:
        yield Check("bad", about, error.message, error.hint)


def check_database(settings: Settings) -> Iterator[Check]:
    """Report a database file that is damaged, or that is not there although there are notes."""
    from holdfast.memory.folder import build_workspace
    from holdfast.store.sqlite_file import describe_way_back, version_of
    from holdfast.transfer.salvage import describe_missing, find_damage
    from holdfast.transfer.staging import DataFolder

    places, missing = DataFolder(settings.home, settings.store), ""
    if places.database is not None:
        # What is no database at all needs another remedy than a damaged one.
        version_of(places.database)
    # Notes that cannot be reached are reported by the check of notes.
    with suppress(HoldfastError):
        missing = describe_missing(places, build_workspace(settings))
    if missing:
        yield Check("note", _("database"), missing)
    elif places.database is not None and places.database.exists():
        for problem in find_damage(places.database)[:_MAX_PROBLEMS]:
            remedy = describe_way_back(places.database, salvage=True)
            yield Check("bad", _("database"), problem, remedy)


def check_restore(settings: Settings) -> Iterator[Check]:
    """Report a restore that was interrupted and has to be finished."""
    from holdfast.transfer.backup import is_pending
    from holdfast.transfer.staging import DataFolder

    if is_pending(DataFolder(settings.home, settings.store)):
        state = _("a restore broke off")
        yield Check("note", _("backup"), state, "holdfast backup finish")


def check_notes(settings: Settings, store: "Store") -> Check:
    """Check where notes are stored, whether that is reachable, and whether writes are pending."""
    from holdfast.memory.base import MEMORY_TOPIC, SUMMARY_TOPIC
    from holdfast.memory.folder import build_workspace, is_bucket, notes_location

    waiting = [
        item for item in store.outbox.pending(_MAX_COUNTED) if item.topic in (MEMORY_TOPIC, SUMMARY_TOPIC)
    ]
    trouble = next((item.error for item in reversed(waiting) if item.error), "")
    number = f"{len(waiting)}{'+' if len(waiting) >= _MAX_COUNTED else ''}"
    state = notes_location(settings)
    if waiting:
        state += _(" ({number} still to be written)").format(number=number)
    if not settings.memory:
        state += _(" (memory is switched off)")
    about = _("notes")
    if store.database.on_server and not is_bucket(state):
        state += _("; every server on this database needs the same folder")
    try:
        build_workspace(settings).entries()
    except HoldfastError as error:
        return Check("bad", about, f"{state}: {translate(error.message)}", error.hint)
    if not trouble:
        return Check("ok", about, state)
    remedy = _("Mend it: they are kept in the database until then, and tried again every minute.")
    return Check("note", about, f"{state}: {trouble}", remedy)


def check_memory(settings: Settings, store: "Store") -> Iterator[Check]:
    """Check the embedder and vector backends, and how far the index is behind the notes."""
    from holdfast.messages import Scope
    from holdfast.wiring import build_remembering

    parts = build_remembering(settings, store)
    try:
        yield check_embedder(parts.embedder)
        if (engine := parts.meaning.engine(ask=True)) and engine["location"]:
            yield check_vectors(engine)
        if (batches := parts.meaning.batches()) is not None:
            yield check_batches(batches)
        if parts.qmd is not None:
            yield check_qmd(parts.qmd.state())
        # A time limit of zero: changes are counted, nothing is read.
        fresh, waiting = parts.index.refresh(Scope(), 0.0), parts.meaning.waiting()
    finally:
        parts.close()
    summary = _("{files} files").format(files=fresh.files)
    if fresh.stale:
        summary += _(", {stale} changed since").format(stale=fresh.stale)
    if waiting:
        summary += _(", {waiting} vectors to be made").format(waiting=waiting)
    for path, reason in fresh.skipped.items():
        summary += f"; {path}: {reason}"
    behind = _("Searching catches up by itself; `holdfast memory reindex` does it at once.")
    state: Literal["ok", "note"] = "note" if fresh.skipped else "ok"
    yield Check(state, "Index", summary, behind if fresh.stale or waiting else "")


def check_qmd(state: dict[str, Any]) -> Check:
    """Check whether QMD is installed, has indexed the notes, and answered when last asked."""
    if not state["found"]:
        return Check(
            "note",
            "QMD",
            _("there is no program {command}").format(command=state["command"]),
            _(
                "Install it (`npm install -g @tobilu/qmd`) or name it in qmd_command. Until then our own"
                " search answers."
            ),
        )
    label = " ".join(filter(None, (state["command"], state["version"], state["mode"])))
    number = state["collections"]
    summary = _("{label}, {number} collections").format(label=label, number=number)
    trouble = state["trouble"] or state["because"]
    if trouble:
        return Check("note", "QMD", f"{summary}: {trouble}", translate(_QMD_FALLBACK))
    models = _(" (fetches models by itself when it first makes vectors or answers)")
    return Check("ok", "QMD", summary + ("" if state["mode"] == "search" else models))


def check_embedder(chosen: "ChosenEmbedder") -> Check:
    """Embed a sentence; report the dimensions and how long it took, start-up included."""
    about = _("embedder")
    if chosen.off:
        return Check("info", about, _("off: only words are compared"))
    until = _("Until then only words are compared.")
    began = time.perf_counter()
    embedder = chosen.current()
    if embedder is None:
        return Check("note", about, chosen.trouble, until)
    try:
        size = embedder.embed([_TEST_SENTENCE]).shape[1]
    except EmbedderError as error:
        return Check("note", about, error.message, f"{translate(error.hint)} {until}".strip())
    seconds = time.perf_counter() - began
    took = _("{size} dimensions, one sentence in {seconds:.1f} s").format(size=size, seconds=seconds)
    return Check("ok", about, f"{embedder.identity}: {took}")


def check_vectors(state: dict[str, Any]) -> Check:
    """Check whether the external vector backend answers and has all vectors."""
    about, summary = _("vectors"), f"{state['wanted']} {state['location']}"
    if state["trouble"]:
        remedy = _("Until then they are compared in process.")
        return Check("note", about, f"{summary}: {state['trouble']}", remedy)
    behind = state["behind"]
    if not behind:
        return Check("ok", about, summary)
    summary += _(": {behind} still to be handed over").format(behind=behind)
    remedy = _("The server does that by itself; `holdfast memory reindex` does it at once.")
    return Check("ok", about, summary, remedy)


def check_batches(state: dict[str, Any]) -> Check:
    """Report the embedding batch jobs that are running, and the last failure."""
    about = _("batch jobs")
    jobs, texts = state["jobs"], state["texts"]
    summary = _("{jobs} under way with {texts} texts").format(jobs=jobs, texts=texts)
    if not state["trouble"]:
        return Check("ok", about, summary)
    remedy = _("Vectors are made the ordinary way for now.")
    return Check("note", about, f"{summary}; {state['trouble']}", remedy)


async def check_models(settings: Settings) -> list[Check]:
    from holdfast.upstreams.model_file import find_model_file
    from holdfast.wiring import build_upstreams, look_around

    discovery = await look_around(settings)
    checks = [Check("info", place, outcome) for place, outcome in discovery.tried]
    weights = find_model_file(settings.models_dir)
    checks.append(
        Check(
            "ok" if weights else "note",
            _("embedded model"),
            str(weights) if weights else _("not fetched"),
            "" if weights else "holdfast models get",
        )
    )
    upstreams = build_upstreams(settings)
    about = _("will be used")
    try:
        if settings.upstreams:
            await upstreams.refresh()
            checks += [check_server(state) for state in upstreams.states()]
        provider = await upstreams.main()
        listed = await provider.models()
        models = [model.name for model in listed]
        checks.append(check_usable(about, f"{provider.name} {provider.location}", ", ".join(models)))
        checks += await check_levels(settings, provider, [model.name for model in listed if model.can_chat])
        checks += suggest_embedder(settings, provider, models)
        if settings.helper_model:
            checks.append(await check_helper_model(settings, upstreams, provider))
    except HoldfastError as error:
        checks.append(Check("bad", about, error.message, error.hint))
    finally:
        await upstreams.aclose()
    return checks


async def check_levels(settings: Settings, server: "Provider", models: Sequence[str]) -> list[Check]:
    """Report levels that no request reaches in the windows of these models, one for each window."""
    from holdfast.store import open_store
    from holdfast.upstreams.models import ModelRegistry
    from holdfast.window.presets import check_reach, preset_from

    checks: dict[int, Check] = {}
    # Levels that hold in no window and a database that cannot be opened are reported by their own checks.
    with suppress(ConfigError, StoreError), open_store(settings.store) as store:
        preset = preset_from(settings)
        async with aclosing(ModelRegistry(store, settings.home / "cache")) as registry:
            for model in models:
                windows = await registry.windows(server, model)
                try:
                    check_reach(preset, windows.used.tokens, thinks=windows.thinks)
                except ConfigError as error:
                    about = _("levels of {model}").format(model=model)
                    checks.setdefault(windows.used.tokens, Check("bad", about, error.message, error.hint))
    return list(checks.values())


def suggest_embedder(settings: Settings, server: "Provider", models: Sequence[str]) -> Iterator[Check]:
    """Suggest a better embedder where the built-in one is used."""
    from holdfast.memory import embedder_choice
    from holdfast.memory.embedder_choice import parse_embedder_location

    if settings.memory and parse_embedder_location(settings.embedder).kind in ("auto", "embedded"):
        address = server.location if server.name == "ollama" else ""
        about = _("a better embedder")
        yield Check(
            "info", about, embedder_choice.describe_gain(), embedder_choice.describe_setup(address, models)
        )


async def check_helper_model(settings: Settings, upstreams: "Upstreams", main: "Provider") -> Check:
    """Check whether a separate summary model would evict the chat model from the server's memory."""
    about, helper = _("helper model"), settings.helper_model
    try:
        server = await upstreams.route(helper)
        await server.describe(helper)
    except HoldfastError as error:
        remedy = _("Get it, or leave helper_model empty.")
        return Check("bad", about, str(error), remedy)
    models = {model.name.removesuffix(":latest"): model for model in await main.models()}
    loaded = [name for name, model in models.items() if model.running_window]
    named = helper.removesuffix(":latest")
    chat = settings.model.removesuffix(":latest") or next(
        (name for name in (*loaded, *models) if name != named), named
    )
    # A server with one model answers to every name, and two servers do not affect each other.
    if server is not main or named not in models or named == chat or {named, chat} <= {*loaded}:
        return Check("ok", about, helper)
    return Check(
        "note",
        about,
        _(
            "{helper} is another model than {chat}: on a server that holds one at a time, every summary"
            " evicts the model that is talked to"
        ).format(helper=helper, chat=chat),
        _("Leave helper_model empty, or let the server hold two (Ollama: OLLAMA_MAX_LOADED_MODELS=2)."),
    )


def check_server(state: "UpstreamState") -> Check:
    """Report the state of one of several model servers."""
    if state.well:
        count = state.models or 0
        summary = _("{count} models").format(count=count)
        return Check("ok", state.name, f"{state.kind} {state.location}: {summary}")
    remedy = _("Until it answers, others that have the model stand in.")
    trouble = state.error or _("no answer yet")
    return Check("note", state.name, f"{state.location}: {trouble}", remedy)


def check_usable(about: str, server: str, names: str) -> Check:
    if names:
        return Check("ok", about, f"{server}: {names}")
    return Check(
        "bad",
        about,
        _("{server} has no models").format(server=server),
        _("Get one: `ollama pull qwen3:4b`, or `holdfast models get`."),
    )


def config(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show every setting, its value and where it came from."""
    rows = load(context).shown()
    if as_json:
        print_json(rows)
        return
    columns = (_("name"), _("value"), _("from"), _("what it is"))
    print_table(columns, [(row["name"], row["value"], row["source"], row["help"]) for row in rows])


def jobs(
    context: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="Only these: queued, running, done, failed or cut.")
    ] = None,
    conversation: Annotated[str | None, typer.Option(help="Only those of this conversation.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the last requests to model servers, newest first."""
    from holdfast.store import open_store
    from holdfast.store.jobs import job_to_json, parse_status

    wanted = None if status is None else parse_status(status)
    with open_store(load(context).settings.store) as store:
        rows = store.jobs.recent(limit, status=wanted, conversation=conversation)
    if as_json:
        print_json([job_to_json(job) for job in rows])
    elif rows:
        columns = (
            _("id"),
            _("since"),
            _("status"),
            _("model"),
            pgettext("column", "tokens"),
            _("first"),
            _("seconds"),
            _("error"),
        )
        print_table(columns, [format_job(job) for job in rows])
    else:
        console.print(_("No requests yet."))


def format_job(job: "JobRecord") -> tuple[Any, ...]:
    names = {
        "queued": _("waits"),
        "running": _("runs"),
        "done": _("done"),
        "failed": _("failed"),
        "cut": _("cut off"),
    }
    read, written = job.usage.prompt, job.usage.completion
    tokens = "" if read is None and written is None else f"{format_count(read)} → {format_count(written)}"
    return (
        job.id,
        format_time(job.queued_at),
        names[job.status],
        job.model,
        tokens,
        format_seconds(job.queued_at, job.first_token_at),
        format_seconds(job.queued_at, job.finished_at),
        job.error,
    )


def format_count(count: int | None) -> str:
    return "?" if count is None else str(count)


def format_seconds(since: float, until: float | None) -> str:
    return "" if until is None else f"{until - since:.1f}"
