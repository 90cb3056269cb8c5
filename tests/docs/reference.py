"""Writes docs/reference/ and docs/clients.md from the program itself: settings, routes, commands, clients.

`make reference` runs it; a test compares. Knows how the tables look, nothing of what stands in them.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from holdfast.config import Settings, group_of, load, shown_value
from holdfast.i18n import in_language, speak
from tests.docs.clients import clients

FOLDER = Path(__file__).parents[2] / "docs" / "reference"

_GROUPS = {
    "window": "The window · Das Fenster",
    "servers": "Model servers · Modellserver",
    "memory": "Memory · Erinnerungen",
    "research": "Research and files · Recherche und Dateien",
    "access": "Access · Zugang",
    "data": "Data · Daten",
    "other": "Other · Weiteres",
}
_KINDS = {bool: "yes or no", int: "whole number", float: "number", type(None): "share", str: "text"}
# What people look for first, first.
_TAGS = (
    "Conversations", "Memory", "Notes", "Research", "Files", "Models", "Tokens", "Events", "Jobs", "Settings",
    "Keys", "Access", "Server", "Ollama", "OpenAI", "Anthropic",
)  # fmt: skip
# Routes that speak somebody else's protocol are described where that protocol is.
_THEIRS = {
    "POST /api/chat": "A chat in Ollama's shape, streamed or whole.",
    "POST /api/generate": "A prompt in Ollama's shape; `context` goes on with an earlier answer.",
    "GET /api/tags": "The models of all servers, in Ollama's shape.",
    "GET /api/ps": "What runs on all servers, in Ollama's shape.",
    "POST /api/show": "What is known of a model, in Ollama's shape.",
    "POST /api/embed": "Vectors for texts, in Ollama's shape.",
    "POST /v1/chat/completions": "A chat in OpenAI's shape, streamed or whole.",
    "GET /v1/models": "The models of all servers, in OpenAI's shape.",
    "GET /v1/models/{name}": "One model, in OpenAI's shape.",
    "POST /v1/embeddings": "Vectors for texts, in OpenAI's shape.",
    "POST /v1/responses": "An answer in OpenAI's newer shape, by the history or `previous_response_id`.",
    "GET /v1/responses/{name}": "An answer as the log has it.",
    "DELETE /v1/responses/{name}": "Refused: an answer is part of its conversation.",
    "POST /v1/completions": "A prompt that is continued, in OpenAI's older shape; nothing of it is kept.",
    "POST /v1/messages": "Messages in Anthropic's shape, streamed or whole.",
    "GET /api/models/installed": "Every model with its windows: trained, running, recommended and used.",
    "POST /api/tokenize": "The tokens of a text, and how they were counted.",
    "POST /api/detokenize": "The text of tokens.",
    "PATCH /api/chats/{conversation}": "Change its title, or switch it or its memory off and on.",
    "DELETE /api/chats/{conversation}/messages/{message}/pin": "Let a pinned message go like any other.",
    "GET /api/jobs/{name}": "One job.",
}


_SETTINGS = """\
Each can stand in `holdfast.toml` in the data folder, on the page `/settings`, or in the environment as
`HOLDFAST_NAME`; the later wins ([where a value comes from](../settings.md#where-a-value-comes-from)).
`holdfast config` shows what is in force. The second sentence is the first in German."""
_REST = """\
Made from `/openapi.json`, which every running server has. Errors have a status, `error`, and where there is
one a `hint`; who may call what is told in [Who may come in](../access.md). `X-Holdfast-Project` and
`X-Holdfast-Kind: group` name the project or group; without them it is `default`."""
_COMMANDS = """\
Made from the commands themselves; `holdfast COMMAND --help` says the same. How to use them:
[The command line](../command-line.md)."""


def settings() -> str:
    rows: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for item in fields(Settings):
        choices = item.metadata["choices"]
        kind = " · ".join(f"`{choice}`" for choice in choices) or _KINDS.get(type(item.default), "path")
        default = shown_value(item.name, item.default)
        shown = "" if default in ("", None) else f"`{_plain(default)}`"
        secret = ", secret" if item.metadata["secret"] else ""
        about = item.metadata["help"]
        text = f"{about}<br>*{in_language(about, 'de')}*"
        rows[group_of(item.name)].append(f"| `{item.name}` | {shown} | {kind}{secret} | {_cell(text)} |")
    parts = [
        "# Every setting",
        _SETTINGS,
    ]
    for group, title in _GROUPS.items():
        head = "| setting | default | kind | what it is for |\n|---|---|---|---|\n"
        parts += [f"## {title}", head + "\n".join(rows[group])]
    return _page(parts)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def rest() -> str:
    schema = _openapi()
    groups: dict[str, list[str]] = {tag: [] for tag in _TAGS}
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            tag = route.get("tags", ["Server"])[0]
            groups.setdefault(tag, []).append(_route(f"{method.upper()} {path}", route, schema))
    parts = [
        "# REST",
        _REST,
    ]
    for tag, routes in groups.items():
        if routes:
            parts += [f"## {tag}", *routes]
    return _page(parts)


def _openapi() -> Mapping[str, Any]:
    from holdfast.server.app import create_app
    from holdfast.wiring import build_engine

    with tempfile.TemporaryDirectory() as folder:
        settings = load({"home": folder}, {}).settings
        engine = build_engine(settings)
        try:
            return create_app(engine, settings).openapi()
        finally:
            engine.store.close()


def _route(name: str, route: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    description = route.get("description") or _THEIRS.get(name, "")
    lines = [f"### `{name}`", _paragraphs(description)]
    rows = [_parameter(parameter) for parameter in route.get("parameters", ())]
    rows += list(_body(route, schema))
    if rows:
        lines.append("| field | where | what |\n|---|---|---|\n" + "\n".join(rows))
    lines.append("Answers " + ", ".join(_answer(*response) for response in route["responses"].items()) + ".")
    return "\n\n".join(line for line in lines if line)


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _parameter(item: Mapping[str, Any]) -> str:
    where = {"path": "in the path", "query": "query", "header": "header"}[item["in"]]
    return f"| `{item['name']}` | {where} | {_cell(_kind(item['schema']) + _default(item['schema']))} |"


def _body(route: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    for media, content in route.get("requestBody", {}).get("content", {}).items():
        form = content.get("schema", {})
        if "$ref" not in form:
            yield f"| | body | {media} |"
            continue
        model = schema["components"]["schemas"][form["$ref"].rsplit("/", 1)[1]]
        for name, field in model.get("properties", {}).items():
            needed = "body, needed" if name in model.get("required", ()) else "body"
            yield f"| `{name}` | {needed} | {_cell(_kind(field) + _default(field))} |"


def _kind(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[1].lower()
    if "anyOf" in field:
        return " or ".join(_kind(item) for item in field["anyOf"] if item.get("type") != "null")
    if "enum" in field:
        return ", ".join(f"`{entry}`" for entry in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}"
    least, most = field.get("minimum"), field.get("maximum")
    limits = f", {least} to {most}" if least is not None and most is not None else ""
    return str(field.get("type", "anything")) + limits


def _default(field: Mapping[str, Any]) -> str:
    default = field.get("default")
    return "" if default in (None, "", [], {}) else f"; `{_plain(default)}` if left out"


def _answer(status: str, answer: Mapping[str, Any]) -> str:
    if status == "422":
        return "400 for what cannot be understood"
    media = ", ".join(answer.get("content", {}))
    return f"{status} ({media})" if media else status


def commands() -> str:
    import typer

    from holdfast.cli import app

    root = typer.main.get_command(app)
    parts = [
        "# Every command",
        _COMMANDS,
        *_command(root, "holdfast", 2),
    ]
    return _page(parts)


def _command(command: Any, name: str, depth: int) -> Iterator[str]:
    context = command.context_class(command, info_name=name)
    yield f"{'#' * min(depth, 4)} `{name}`"
    yield _help(command)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"`{name} {usage}`"
    rows = [_option(param) for param in command.params if not getattr(param, "hidden", False)]
    if rows := [row for row in rows if row]:
        yield "| argument or option | what it is for |\n|---|---|\n" + "\n".join(rows)
    # Asked for as a call of it would: some are loaded only then.
    for child in getattr(command, "commands", {}):
        item = command.resolve_command(context, [child])[1]
        if not item.hidden:
            yield from _command(item, f"{name} {child}", depth + 1)


def _help(command: Any) -> str:
    """The help as Markdown; what is set off as examples stays as it was typed."""
    text = (command.help or "") + "\n\n" + (getattr(command, "epilog", None) or "")
    record = []
    for part in text.replace("\b", "").split("\n\n"):
        lines = part.strip("\n").splitlines()
        if any("holdfast " in line for line in lines) and len(lines) + len(record) > 1:
            record.append("```text\n" + "\n".join(line.strip() for line in lines) + "\n```")
        else:
            record.append(" ".join(line.strip() for line in lines))
    return "\n\n".join(item for item in record if item)


def _option(item: Any) -> str:
    if item.name in ("help", "install_completion", "show_completion"):
        return ""
    if item.param_type_name == "argument":
        name = item.metavar or item.name.upper()
    else:
        names = ", ".join([*item.opts, *item.secondary_opts])
        value = item.metavar or max(item.opts, key=len).strip("-").upper()
        name = names if item.is_flag else f"{names} {value}"
    return f"| `{_cell(name)}` | {_cell(item.help or '')} |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _page(parts: list[str]) -> str:
    note = "<!-- Written by `make reference`; what is changed here by hand is lost. -->"
    return "\n\n".join([note, *(part for part in parts if part)]) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": settings,
    "rest.md": rest,
    "commands.md": commands,
    "../clients.md": clients,
}


def main() -> None:
    speak("en")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
        sys.stdout.write(f"docs/reference/{name}\n")


if __name__ == "__main__":
    main()
