"""Connects a client and takes it back: plans the change of each file, writes it, keeps what was there before.

What is kept is in `clients/NAME` of the data folder: the earlier bytes of each file, and a record of what was
written where. A trial sends one request the way the client would; nothing of it is kept.
"""

import base64
import difflib
import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx

from holdfast.clients.base import Client, ConfigChange, Each, Endpoint, Entry, Format, Places, Protocol, Step
from holdfast.clients.documents import apply_entries, read_earlier, revert_entries
from holdfast.config import replace_config
from holdfast.errors import (
    ConfigError,
    Conflict,
    HoldfastError,
    NotFound,
    Unreachable,
    UpstreamError,
    explain_os_error,
)
from holdfast.i18n import lazy
from holdfast.upstreams.base import ModelInfo

_RECORD = "connection.json"
ConnectionState = Literal["connected", "changed", "not connected"]


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file before and after; None means that it is not there."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """Return the difference as a unified diff."""
        return diff_bytes(self.path, self.before, self.after)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What was done to a file: its earlier bytes, the digest of what was written, what can be taken out."""

    path: Path
    format: Format
    volatile: bool
    before: bytes | None
    digest: str
    entries: tuple[Entry, ...]
    earlier: tuple[tuple[int, Any], ...]


@dataclass(frozen=True, slots=True)
class ConnectionPlan:
    """The edits of all files of a client, and the records that undo them."""

    client: Client
    edits: tuple[FileEdit, ...]
    records: tuple[FileRecord, ...] = field(default=(), repr=False)

    @property
    def changes(self) -> bool:
        return any(edit.changes for edit in self.edits)


class Connections:
    """The clients that were connected from this data folder."""

    def __init__(self, data_folder: Path) -> None:
        self._folder = data_folder / "clients"

    def plan(self, client: Client, endpoint: Endpoint, places: Places) -> ConnectionPlan:
        """Return what connecting a client would change; files that cannot be edited raise an error."""
        known = {record.path: record for record in self.records(client)}
        edits, records = [], []
        for change in client.changes(endpoint, places):
            edit, record = _plan_file(change, known.pop(change.path, None))
            edits.append(edit)
            records.append(record)
        # Files that an earlier run wrote elsewhere stay undoable.
        return ConnectionPlan(client, tuple(edits), (*records, *known.values()))

    def connect(self, plan: ConnectionPlan) -> None:
        """Write all files; what was there is kept first, so that an interruption can be undone, too."""
        self._save(plan.client, plan.records)
        for edit in plan.edits:
            if edit.changes:
                _write(edit.path, edit.after)

    def plan_undo(self, client: Client, *, force: bool = False) -> ConnectionPlan:
        """Return what taking a client back would change.

        Raise `Conflict` with the difference if somebody has changed a file meanwhile, unless forced.
        """
        records = self.records(client)
        if not records:
            raise NotFound(
                lazy("{client} was not connected from here.", client=client.title),
                hint=lazy("`holdfast connect --list` shows what is."),
            )
        edits, conflicts = [], []
        for record in records:
            now = _read(record.path)
            same = _digest(now) == record.digest or now == record.before
            if record.volatile and now is not None and not same:
                edits.append(FileEdit(record.path, now, _take_out(record, now)))
            elif same or force:
                edits.append(FileEdit(record.path, now, record.before))
            else:
                conflicts.append(diff_bytes(record.path, _written(record), now))
        if conflicts:
            raise Conflict(
                lazy("Changed since it was connected:\n{difference}", difference="\n".join(conflicts)),
                hint=lazy(
                    "Add --force to put back what was there before; what is there now is kept in {folder}.",
                    folder=str(self._folder / client.name),
                ),
            )
        return ConnectionPlan(client, tuple(edits), records)

    def undo(self, plan: ConnectionPlan) -> None:
        """Write the earlier files. What others wrote meanwhile is kept as a copy; the record goes last."""
        folder = self._folder / plan.client.name
        for edit, record in zip(plan.edits, plan.records, strict=True):
            if edit.before is not None and _digest(edit.before) != record.digest and not record.volatile:
                (folder / f"{edit.path.name}.replaced").write_bytes(edit.before)
            if edit.changes:
                _write(edit.path, edit.after)
        (folder / _RECORD).unlink()
        if not any(folder.iterdir()):
            folder.rmdir()

    def state(self, client: Client) -> ConnectionState:
        records = self.records(client)
        if not records:
            return "not connected"
        return "connected" if all(_holds(record) for record in records) else "changed"

    def records(self, client: Client) -> tuple[FileRecord, ...]:
        path = self._folder / client.name / _RECORD
        try:
            return tuple(_load_record(row) for row in json.loads(path.read_bytes())["files"])
        except FileNotFoundError:
            return ()
        except (ValueError, KeyError, TypeError):
            raise ConfigError(
                lazy("The record of what was written cannot be read: {path}", path=str(path)),
                hint=lazy("The earlier files are in it as base64; move it away to connect anew."),
            ) from None

    def _save(self, client: Client, records: Sequence[FileRecord]) -> None:
        folder = self._folder / client.name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        rows = {"client": client.name, "files": [_dump_record(record) for record in records]}
        _write(folder / _RECORD, json.dumps(rows, ensure_ascii=False, indent=2).encode(), private=True)


def is_installed(client: Client, places: Places) -> tuple[str, Path | None]:
    """Return the program that was found on the path, and the configuration that shows that it is used."""
    path = places.variables.get("PATH")
    program = next((at for name in client.programs if (at := shutil.which(name, path=path))), "")
    return program, next((sign for sign in client.signs(places) if sign.exists()), None)


def diff_bytes(path: Path, before: bytes | None, after: bytes | None) -> str:
    old, new = ((content or b"").decode("utf-8", "replace").splitlines() for content in (before, after))
    names = ["/dev/null" if content is None else str(path) for content in (before, after)]
    return "\n".join(difflib.unified_diff(old, new, names[0], names[1], lineterm=""))


def _plan_file(change: ConfigChange, known: FileRecord | None) -> tuple[FileEdit, FileRecord]:
    """Return the edit of a file and its record.

    A file that is connected already keeps its first backup; if somebody edited it since, our entries are
    taken out of what it is now, and that is what an undo brings back.
    """
    now = _read(change.path)
    base = now
    if known is not None and now is not None:
        base = known.before if _digest(now) == known.digest else _take_out(known, now)
    text = _decode(change.path, base)
    try:
        after = apply_entries(text, change.format, change.entries).encode()
        earlier = tuple(read_earlier(text, change.format, change.entries))
        present = "" if now is None else _decode(change.path, now)
        # The same entries in a file that was edited since: what is there stays as it is, order included.
        if now is not None and apply_entries(present, change.format, change.entries) == present:
            after = now
    except ConfigError as error:
        raise _cannot_edit(change.path, error) from None
    record = FileRecord(
        change.path, change.format, change.volatile, base, _digest(after), change.entries, earlier
    )
    return FileEdit(change.path, now, after), record


def _take_out(record: FileRecord, now: bytes) -> bytes | None:
    """Return a file as it is now without our entries; None if it was made for them and nothing is left."""
    try:
        text = revert_entries(_decode(record.path, now), record.format, record.entries, record.earlier)
    except ConfigError as error:
        raise _cannot_edit(record.path, error) from None
    if record.before is None and text.strip() in ("", "{}", "[]"):
        return None
    return text.encode()


def _written(record: FileRecord) -> bytes:
    return apply_entries(_decode(record.path, record.before), record.format, record.entries).encode()


def _holds(record: FileRecord) -> bool:
    """Return whether all our entries are in a file as we wrote them."""
    now = _read(record.path)
    if now is None:
        return False
    try:
        return apply_entries(_decode(record.path, now), record.format, record.entries).encode() == now
    except HoldfastError:
        return False


def _cannot_edit(path: Path, error: ConfigError) -> ConfigError:
    return ConfigError(
        lazy("{path} cannot be edited. {reason}", path=str(path), reason=str(error)),
        hint=lazy(
            "Nothing was changed. Mend the file, or write the entries by hand as docs/clients.md has them."
        ),
    )


def _decode(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError:
        raise _cannot_edit(path, ConfigError(lazy("It is not UTF-8."))) from None


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            lazy("{path} cannot be read: {reason}.", path=str(path), reason=explain_os_error(error))
        ) from None


def _write(path: Path, content: bytes | None, *, private: bool = False) -> None:
    """Replace a file in one step, through a link to where it leads; with None, delete it."""
    path = path.resolve()
    try:
        if content is None:
            path.unlink(missing_ok=True)
            return
        mode = 0o600 if private or not path.exists() else path.stat().st_mode & 0o777
        replace_config(path, content, mode)
    except OSError as error:
        raise ConfigError(
            lazy("{path} cannot be written: {reason}.", path=str(path), reason=explain_os_error(error)),
            hint=lazy("`holdfast connect NAME --undo` puts back what was written before that."),
        ) from None


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _dump_record(record: FileRecord) -> dict[str, Any]:
    before = None if record.before is None else base64.b64encode(record.before).decode()
    return {
        "path": str(record.path),
        "format": record.format,
        "volatile": record.volatile,
        "before": before,
        "digest": record.digest,
        "entries": [[_dump_path(entry.path), entry.value, entry.if_missing] for entry in record.entries],
        "earlier": [list(pair) for pair in record.earlier],
    }


def _load_record(row: dict[str, Any]) -> FileRecord:
    return FileRecord(
        Path(row["path"]),
        row["format"],
        row["volatile"],
        None if row["before"] is None else base64.b64decode(row["before"]),
        row["digest"],
        tuple(Entry(_load_path(path), value, missing) for path, value, missing in row["entries"]),
        tuple((depth, value) for depth, value in row["earlier"]),
    )


def _dump_path(path: Iterable[Step]) -> list[Any]:
    return [step if isinstance(step, str) else [step.key, step.name] for step in path]


def _load_path(path: Iterable[Any]) -> tuple[Step, ...]:
    return tuple(step if isinstance(step, str) else Each(*step) for step in path)


# A model may have to be loaded first.
_LIMIT_SECONDS = 300.0
_QUESTION = "Say only: connected"
_MAX_TOKENS = 32


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The answer to the request, and how long it took."""

    path: str
    model: str
    answer: str
    seconds: float


def list_chat_models(endpoint_url: str, key: str) -> tuple[str, ...]:
    """Return the models that can be talked with, in Holdfast's order; raise an error if nothing answers."""
    try:
        answer = httpx.get(f"{endpoint_url}/api/tags", headers=_key_headers(key), timeout=30.0)
        answer.raise_for_status()
        listed = answer.json()["models"]
    except httpx.HTTPStatusError as error:
        raise _refusal(endpoint_url, error.response) from None
    except (httpx.HTTPError, ValueError, KeyError):
        raise Unreachable(
            lazy("No Holdfast answers at {url}.", url=endpoint_url),
            hint=lazy("Start it with `holdfast serve`, or say where it is with --url."),
        ) from None
    models = (
        ModelInfo(
            row["name"],
            family=(row.get("details") or {}).get("family") or "",
            capabilities=tuple(row.get("capabilities") or ()),
        )
        for row in listed
    )
    return tuple(model.name for model in models if model.can_chat)


def prove(endpoint: Endpoint, protocol: Protocol) -> RoundTrip:
    """Ask one question in the client's protocol, streamed; raise an error if no answer comes."""
    path, body, headers = _request(endpoint, protocol)
    headers |= {**_key_headers(endpoint.key), **endpoint.headers}
    began, words, conversation = time.perf_counter(), [], ""
    try:
        with httpx.stream(
            "POST", endpoint.url + path, json=body, headers=headers, timeout=_LIMIT_SECONDS
        ) as answer:
            if answer.is_error:
                answer.read()
                raise _refusal(endpoint.url, answer)
            conversation = answer.headers.get("X-Holdfast-Conversation", "")
            words = [_read_words(event, protocol) for event in _read_events(answer)]
        if conversation:
            httpx.delete(f"{endpoint.url}/api/chats/{conversation}", headers=headers, timeout=30.0)
    except httpx.HTTPError as error:
        raise Unreachable(
            lazy("No answer came from {url}: {reason}", url=endpoint.url + path, reason=str(error)),
            hint=lazy("`holdfast doctor` looks at the model server."),
        ) from None
    return RoundTrip(path, endpoint.model, "".join(words).strip(), time.perf_counter() - began)


def _key_headers(key: str) -> dict[str, str]:
    return {} if key == "none" else {"Authorization": f"Bearer {key}"}


def _request(endpoint: Endpoint, protocol: Protocol) -> tuple[str, dict[str, Any], dict[str, str]]:
    message = {"role": "user", "content": _QUESTION}
    common: dict[str, Any] = {"model": endpoint.model, "stream": True}
    match protocol:
        case "chat":
            body = {**common, "messages": [message], "max_tokens": _MAX_TOKENS}
            return "/v1/chat/completions", body, {}
        case "responses":
            item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": _QUESTION}]}
            body = {**common, "input": [item], "store": False, "max_output_tokens": _MAX_TOKENS}
            return "/v1/responses", body, {}
        case "messages":
            body = {**common, "messages": [message], "max_tokens": _MAX_TOKENS}
            return "/v1/messages", body, {"anthropic-version": "2023-06-01"}
        case "ollama":
            return "/api/chat", {**common, "messages": [message]}, {}


def _read_events(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in answer.iter_lines():
        text = line.removeprefix("data:").strip()
        if text.startswith("{"):
            yield json.loads(text)


def _read_words(event: dict[str, Any], protocol: Protocol) -> str:
    """Return the text of an event; thinking counts, as it shows that the model answers."""
    match protocol:
        case "chat":
            delta = event["choices"][0].get("delta", {}) if event.get("choices") else {}
            return str(delta.get("content") or delta.get("reasoning_content") or "")
        case "responses":
            return str(event["delta"]) if str(event.get("type", "")).endswith("text.delta") else ""
        case "messages":
            delta = event.get("delta") or {}
            return str(delta.get("text") or delta.get("thinking") or "")
        case "ollama":
            message = event.get("message") or {}
            return str(message.get("content") or message.get("thinking") or "")


def _refusal(url: str, answer: httpx.Response) -> UpstreamError:
    return UpstreamError(
        lazy(
            "{url} answered {status}: {text}",
            url=url,
            status=str(answer.status_code),
            text=answer.text[:300],
        ),
        status=answer.status_code,
    )
