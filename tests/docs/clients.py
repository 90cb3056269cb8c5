"""Writes docs/clients.md from the table of clients; `make reference` runs it with the other pages.

Knows how an entry is shown; what is written into which file comes from the table.
"""

import json
from pathlib import Path

from holdfast.clients import CLIENTS
from holdfast.clients.base import Client, Endpoint, Places
from holdfast.clients.documents import apply_entries

# As on a person's machine: what is shown can be copied.
_ENDPOINT = Endpoint("http://127.0.0.1:11435", ("qwen3:4b",))
_LINUX = Places(Path("/home"), Path("/here"))
_MAC = Places(Path("/home"), Path("/here"), mac=True)

# The page's own sentences; the clients go where the mark is.
_PAGE = Path(__file__).parent / "clients_page.md"
_MARK = "<!-- clients -->"


def clients() -> str:
    """Return the page as it has to be."""
    note = "<!-- Written by `make reference` from the table of clients; changes by hand are lost. -->"
    table = "| client | its own shortening | launch | tried |\n|---|---|---|---|\n"
    table += "\n".join(_row(client) for client in CLIENTS)
    sections = [_section(client) for client in CLIENTS]
    page = _PAGE.read_text(encoding="utf-8")
    entries = "\n\n".join([table, *sections])
    return f"{note}\n\n{page.replace(_MARK, entries)}"


def _row(client: Client) -> str:
    tried = "; ".join(f"{trial.version}, {trial.date}: {trial.what}" for trial in client.trials) or "no"
    anchor = client.title.lower().replace(" ", "-")
    launch = "yes" if client.launch else "no"
    return f"| [{client.title}](#{anchor}) (`{client.name}`) | {client.compaction} | {launch} | {tried} |"


def _section(client: Client) -> str:
    parts = [f"## {client.title}", client.about]
    if client.launch_note:
        parts.append(f"`holdfast launch {client.name}`: {client.launch_note}")
    mac = client.changes(_ENDPOINT, _MAC)
    for change, other in zip(client.changes(_ENDPOINT, _LINUX), mac, strict=True):
        place = _place(change.path)
        if other.path != change.path:
            place += f" (macOS: {_place(other.path)})"
        if change.format == "text":
            parts.append(f"{place} is a file of its own.")
            continue
        text = apply_entries("", change.format, change.entries).rstrip("\n")
        if change.format == "json":
            # Every block is read by a test, and so is this one.
            json.loads(text)
        parts.append(f"{place}:\n\n```{'text' if change.format == 'env' else change.format}\n{text}\n```")
    return "\n\n".join(parts)


def _place(path: Path) -> str:
    return f"`{path.as_posix().replace('/home/', '~/').replace('/here/', '')}`"
