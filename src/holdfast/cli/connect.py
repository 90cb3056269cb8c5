"""`holdfast connect` and `holdfast launch`: clients that talk through Holdfast, for good or for one start."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.shared import (
    JsonOption,
    YesOption,
    ask_consent,
    console,
    load,
    print_error,
    print_json,
    print_table,
    write,
)
from holdfast.config import Settings, default_home, environment
from holdfast.errors import BadRequest, HoldfastError, NotFound
from holdfast.i18n import gettext as _
from holdfast.i18n import translate
from holdfast.projects import project_name

if TYPE_CHECKING:
    from holdfast.clients.base import Client, Endpoint, Places
    from holdfast.clients.connection import ConnectionPlan

# Addresses to listen on that no client can ask.
_ALL_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - replaced, not listened on

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The client, as `--list` has it.")]
UrlOption = Annotated[
    str | None, typer.Option(help="Where Holdfast answers, if not where it is set up here.")
]
KeyOption = Annotated[
    str, typer.Option(help="The key that the client sends; none is needed on this machine.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", "-m", help="The model that the client uses, instead of the first.")
]


def connect(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The client, as `--list` has it.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="Show the clients, and how each stands.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Put everything back as it was, byte for byte.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change and write nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --undo: also if somebody has changed the files since.")
    ] = False,
    model: ModelOption = None,
    project: Annotated[
        str | None, typer.Option(help="The project of all its requests, instead of the folder's.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="The folder of a client that is set up by folder; else this one.")
    ] = None,
    url: UrlOption = None,
    key: KeyOption = "none",
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Connect a client: write its configuration, and prove it with one request. --undo takes it back."""
    from holdfast.clients import find_client
    from holdfast.clients.connection import Connections

    settings = load(context).settings
    places, connections = find_places(folder), Connections(settings.home)
    if list_ or not name:
        if not list_:
            print_error(_("Name one of these, as in `holdfast connect opencode`."))
        list_clients(settings, places, as_json=as_json)
        return
    client = find_client(name)
    if undo:
        plan = connections.plan_undo(client, force=force)
        done = confirm_plan(plan, dry_run=dry_run, yes=yes, as_json=as_json)
        if done:
            connections.undo(plan)
        report(plan, {"undone": done}, as_json=as_json)
        return
    check_installed(client, places)
    endpoint = find_endpoint(settings, url, key, model, project or "")
    plan = connections.plan(client, endpoint, places)
    done = confirm_plan(plan, dry_run=dry_run, yes=yes, as_json=as_json)
    if done:
        connections.connect(plan)
    more = {} if dry_run else prove_connection(client, endpoint, as_json=as_json)
    report(plan, {"connected": done or not plan.changes, **more}, as_json=as_json)


def launch(
    context: typer.Context,
    name: NameArgument,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENTS]", help="Passed on to the client.")
    ] = None,
    model: ModelOption = None,
    project: Annotated[
        str | None, typer.Option(help="The project of all its requests, instead of the folder's.")
    ] = None,
    url: UrlOption = None,
    key: KeyOption = "none",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Start a client connected, without changing any of its files."""
    from holdfast.clients import find_client

    client = find_client(name)
    if client.launch is None:
        raise BadRequest(
            _("{client} cannot be started connected.").format(client=client.title),
            hint=_("Use `holdfast connect {name}`.").format(name=client.name),
        )
    settings, places = load(context).settings, find_places(None)
    if project is None:
        # The folder is known here, which not every client says in its requests.
        project = project_name(Path.cwd())
    endpoint = find_endpoint(settings, url, key, model, "" if project == "default" else project)
    plan = client.launch(endpoint, places)
    if dry_run or as_json:
        print_json({**asdict(plan), "words": [*plan.words, *(arguments or ())]})
        return
    program = shutil.which(plan.words[0])
    if program is None:
        raise not_installed(client)
    raise typer.Exit(run_client(program, plan.words[1:], plan.variables, plan.files, arguments or ()))


def run_client(
    program: str, words: Sequence[str], variables: Any, files: Any, arguments: Sequence[str]
) -> int:
    """Run a client to its end with temporary files and variables; return its exit code."""
    import signal
    import subprocess

    with tempfile.TemporaryDirectory(prefix="holdfast-launch-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        for name, value in variables.items():
            os.putenv(name, value.replace("{folder}", folder))
        command = [program, *(word.replace("{folder}", folder) for word in words), *arguments]
        # Ctrl-C is the client's; we end when it does.
        earlier = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            # The client gets the signal as it would without us.
            child = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            return child.wait()
        finally:
            signal.signal(signal.SIGINT, earlier)


def find_places(folder: Path | None) -> "Places":
    from holdfast.clients.base import Places

    here = (folder or Path.cwd()).expanduser().resolve()
    return Places(Path.home(), here, dict(environment()), mac=sys.platform == "darwin")


def find_endpoint(
    settings: Settings, url: str | None, key: str, model: str | None, project: str
) -> "Endpoint":
    """Return how clients reach Holdfast, with the chosen model first among those that can chat."""
    from holdfast.clients.base import Endpoint
    from holdfast.clients.connection import list_chat_models

    address = url or f"http://{_ALL_ADDRESSES.get(settings.host, settings.host)}:{settings.port}"
    address = address.rstrip("/").removesuffix("/v1")
    models = list_chat_models(address, key)
    if model and model not in models:
        named = [known for known in models if known.removesuffix(":latest") == model]
        if not named:
            raise NotFound(
                _("There is no model {model}.").format(model=model),
                hint=_("There are: {names}.").format(names=", ".join(models)),
            )
        model = named[0]
    if not models:
        raise NotFound(
            _("{url} has no model that can chat.").format(url=address),
            hint=_("Get one: `ollama pull qwen3:4b`, or `holdfast models get`."),
        )
    chosen = model or (settings.model if settings.model in models else models[0])
    ordered = (chosen, *(other for other in models if other != chosen))
    data_folder = "" if settings.home == default_home().expanduser().resolve() else str(settings.home)
    return Endpoint(address, ordered, key, project, find_command(), data_folder)


def find_command() -> tuple[str, ...]:
    """Return how others start this command line: by its name if that is on the path."""
    if shutil.which("holdfast"):
        return ("holdfast",)
    return (sys.executable, "-m", "holdfast")


def check_installed(client: "Client", places: "Places") -> None:
    from holdfast.clients.connection import is_installed

    if is_installed(client, places) == ("", None) and not client.by_folder:
        raise not_installed(client)


def not_installed(client: "Client") -> NotFound:
    return NotFound(
        _("{client} was not found here.").format(client=client.title),
        hint=_("Install it first; `holdfast connect --list` shows what there is."),
    )


def confirm_plan(plan: "ConnectionPlan", *, dry_run: bool, yes: bool, as_json: bool) -> bool:
    """Show the change; return whether it is to be made."""
    if not plan.changes:
        return bool(plan.records) and not dry_run
    if not as_json:
        for edit in plan.edits:
            if edit.changes:
                write(edit.diff() + "\n")
    if dry_run:
        return False
    if not yes:
        ask_consent(_("Write this?"), _("Nothing was written without being asked."))
    return True


def prove_connection(client: "Client", endpoint: "Endpoint", *, as_json: bool) -> dict[str, Any]:
    """Send one request as the client would; say what came back."""
    from holdfast.clients.connection import prove

    try:
        trip = prove(endpoint, client.protocol)
    except HoldfastError as error:
        print_error(_("Written, but the request failed: {error}").format(error=translate(str(error))))
        raise typer.Exit(1) from None
    if not as_json:
        console.print(
            _("{path} with {model} answered in {seconds:.1f} s.").format(
                path=trip.path, model=trip.model, seconds=trip.seconds
            )
        )
    return {"proof": asdict(trip)}


def report(plan: "ConnectionPlan", more: dict[str, Any], *, as_json: bool) -> None:
    rows = [{"path": str(edit.path), "changed": edit.changes, "diff": edit.diff()} for edit in plan.edits]
    if as_json:
        print_json({"client": plan.client.name, "files": rows, **more})
    elif not plan.changes:
        console.print(_("Nothing to change."))
    elif more.get("undone"):
        console.print(_("Everything is as it was before."))
    elif more.get("connected"):
        console.print(
            _("{client} is connected. `holdfast connect {name} --undo` takes it back.").format(
                client=plan.client.title, name=plan.client.name
            )
        )


def list_clients(settings: Settings, places: "Places", *, as_json: bool) -> None:
    from holdfast.clients import CLIENTS
    from holdfast.clients.connection import Connections, is_installed

    connections, rows = Connections(settings.home), []
    for client in CLIENTS:
        program, sign = is_installed(client, places)
        rows.append(
            {
                "name": client.name,
                "title": client.title,
                "program": program or None,
                "configuration": None if sign is None else str(sign),
                "state": connections.state(client),
                "launch": client.launch is not None,
            }
        )
    if as_json:
        print_json(rows)
        return
    words = {
        "connected": _("connected"),
        "changed": _("connected, changed since"),
        "not connected": _("not connected"),
    }
    print_table(
        (_("name"), _("found"), _("state"), "launch"),
        [
            (
                row["name"],
                row["program"] or row["configuration"] or "–",
                words[str(row["state"])],
                _("yes") if row["launch"] else _("no"),
            )
            for row in rows
        ],
    )
