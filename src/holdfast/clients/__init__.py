"""Clients that can be connected: what is known of each, in one table; how their configuration is edited.

`docs/clients.md` is written from the table. Nothing here asks a server but the trial in `connection`.
"""

from holdfast.clients.base import Client
from holdfast.clients.catalogue import (
    AIDER,
    CLAUDE_CODE,
    CLINE,
    CODEX,
    CONTINUE,
    LIBRECHAT,
    LLM,
    OPEN_WEBUI,
    OPENCLAW,
    OPENCODE,
    VSCODE,
    ZED,
)
from holdfast.errors import BadRequest
from holdfast.i18n import lazy

CLIENTS: tuple[Client, ...] = (
    OPENCODE, CLAUDE_CODE, CODEX, AIDER, CONTINUE, CLINE, OPEN_WEBUI, LIBRECHAT, LLM, OPENCLAW, ZED, VSCODE,
)  # fmt: skip


def find_client(name: str) -> Client:
    """Return the client of this name; its title in any spelling and the name of its program will do."""
    wanted = _plain(name)
    for client in CLIENTS:
        if wanted in map(_plain, (client.name, client.title, *client.programs)):
            return client
    names = ", ".join(client.name for client in CLIENTS)
    raise BadRequest(
        lazy("There is no client {name}.", name=name), hint=lazy("There are: {names}.", names=names)
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
