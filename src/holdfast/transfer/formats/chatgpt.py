"""ChatGPT's export: conversations.json alone, in a folder, or in the zip as it came; with the pictures in it.

Each conversation is a table of nodes that name their parents, so edited questions and repeated answers are
branches. What a node says is read in `chatgpt_nodes`. Knows no store.
"""

import base64
import json
import mimetypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from holdfast.errors import BadRequest
from holdfast.language import say
from holdfast.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult, canonical
from holdfast.transfer.imports import (
    LARGEST_PICTURE,
    Files,
    Item,
    Saying,
    Skipped,
    Source,
    Talk,
    Trouble,
    Turn,
    Unreadable,
    elements,
    hung_on,
    paired,
    parents_first,
    parsed,
    plain,
    seconds,
    tail,
    text_of,
)

Picture = Callable[[str], Image | None]

# Text between these signs points at sources that are not in the export.
_CITATION = re.compile("\ue200[^\ue201]{0,200}\ue201|【[^】]{0,80}†[^】]{0,80}】")
# How the list of memories reads that a model is shown: "1. [2024-05-06]. User likes tea."
_REMEMBERED = re.compile(r"^[^\S\n]*\d+\.\s*\[(\d{4}-\d{2}-\d{2})\]\.?\s*(\S.*)$", re.MULTILINE)
_MEMORY_TOOL = "bio"
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})


class Nodes:
    """`turns` in order; `broken` are nodes that lost their parent, `troubles` parts that cannot be read."""

    def __init__(self, mapping: Mapping[str, Any], began: float, picture: Picture) -> None:
        self.broken: list[str] = []
        self.troubles: list[str] = []
        self.remembered: list[tuple[str, float]] = []
        self._picture = picture
        nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
        parents = {key: plain(node.get("parent")) or None for key, node in nodes.items()}
        self._order = parents_first(parents, self.broken)
        self._said = {key: _message_of(node) for key, node in nodes.items()}
        self._times: dict[str, float] = {}
        for key, parent in self._order.items():
            before = began if parent is None else self._times[parent]
            self._times[key] = seconds(self._said[key].get("create_time"), before)
        self.turns = self._read()

    def nearest(self, key: str) -> str | None:
        """The turn at a node, or the last one before it."""
        kept = {turn.key for turn in self.turns}
        at: str | None = key if key in self._order else None
        while at is not None and at not in kept:
            at = self._order[at]
        return at

    def _read(self) -> tuple[Turn, ...]:
        calls = self._calls()
        found: dict[str, Message] = {}
        thinking: dict[str, tuple[Thinking, ...]] = {}
        for key, parent in self._order.items():
            said = self._said[key]
            before = thinking.get(parent or "", ()) if parent not in found else ()
            if _kind(said) in _THINKING:
                thinking[key] = (*before, *_thoughts(said))
                continue
            message = self._message(key, calls)
            if message is None:
                thinking[key] = before
            elif message.role == "assistant":
                found[key] = Message("assistant", (*before, *message.parts))
            else:
                found[key] = message
        turns = (
            Turn(key, parent, found[key], self._times[key], _model(self._said[key]))
            for key, parent in hung_on(self._order, found).items()
        )
        return paired(turns)

    def _calls(self) -> dict[str, str]:
        """For each result the node of its call: the message to a tool that it comes right after."""
        return {
            key: parent
            for key, parent in self._order.items()
            if parent is not None and _role(self._said[key]) == "tool" and _recipient(self._said[parent])
        }

    def _message(self, key: str, calls: Mapping[str, str]) -> Message | None:
        said = self._said[key]
        self._learn(said, self._times[key])
        role, kind = _role(said), _kind(said)
        if _is_hidden(said) or kind in _INSTRUCTIONS:
            return None
        parts = tuple(self._parts(said))
        words = "".join(part.text for part in parts if isinstance(part, Text))
        match role:
            case "user" if parts:
                return Message("user", parts)
            case "assistant" if (tool := _recipient(said)) and words:
                return Message("assistant", (ToolCall(tool, _arguments(words), key),))
            case "assistant" if parts:
                return Message("assistant", parts)
            case "tool" if parts:
                kept = tuple(part for part in parts if isinstance(part, Text | Image))
                name = plain(_table(said.get("author")).get("name"))
                return Message("tool", (ToolResult(kept, calls.get(key, ""), name),))
        return None

    def _learn(self, said: Mapping[str, Any], at: float) -> None:
        """What ChatGPT wrote down about its person stands in the messages to its memory."""
        content = _content(said)
        if _role(said) == "assistant" and _recipient(said) == _MEMORY_TOOL:
            words = "".join(plain(part) for part in _list(content.get("parts")) if isinstance(part, str))
            self.remembered += [(line.strip(), at) for line in words.splitlines() if line.strip()]
        told = plain(content.get("model_set_context"))
        self.remembered += [(text.rstrip(), seconds(day, at)) for day, text in _REMEMBERED.findall(told)]

    def _parts(self, said: Mapping[str, Any]) -> Iterator[Part]:
        content = _content(said)
        match _kind(said):
            case "code" | "execution_output" | "computer_output" | "system_error":
                yield from _texts(content.get("text"))
            case "tether_quote":
                yield from _texts(" ".join(filter(None, map(plain, map(content.get, ("title", "url"))))))
                yield from _texts(content.get("text"))
            case "tether_browsing_display":
                yield from _texts(content.get("result") or content.get("summary"))
            case _:
                for part in _list(content.get("parts")) or [content.get("text")]:
                    yield from self._part(part)
        for file in map(_table, _list(_table(said.get("metadata")).get("attachments"))):
            kind = plain(file.get("mime_type") or file.get("mimeType"))
            if plain(file.get("name")) and not kind.startswith("image/"):
                yield Text(f"\n[{plain(file['name'])}]")

    def _part(self, part: Any) -> Iterator[Part]:
        if not isinstance(part, dict):
            yield from _texts(part)
        elif part.get("asset_pointer") and "image" in plain(part.get("content_type")):
            pointer = plain(part["asset_pointer"])
            picture = None
            try:
                picture = self._picture(pointer)
            except Unreadable as error:
                self.troubles.append(f"{pointer}: {error}")
            yield picture or Text(f"[{say('picture', 'Bild')}: {pointer.rpartition('/')[2]}]")
        else:
            yield from _texts(part.get("text"))


def _message_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return _table(node.get("message"))


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _kind(said: Mapping[str, Any]) -> str:
    return plain(_content(said).get("content_type"))


def _content(said: Mapping[str, Any]) -> Mapping[str, Any]:
    return _table(said.get("content"))


def _role(said: Mapping[str, Any]) -> str:
    return plain(_table(said.get("author")).get("role"))


def _model(said: Mapping[str, Any]) -> str:
    return plain(_table(said.get("metadata")).get("model_slug"))


def _recipient(said: Mapping[str, Any]) -> str:
    """The tool that a message is for; empty for one that people see."""
    told = plain(said.get("recipient"))
    return "" if told in ("", "all") or _role(said) != "assistant" else told


def _is_hidden(said: Mapping[str, Any]) -> bool:
    metadata = _table(said.get("metadata"))
    return metadata.get("is_visually_hidden_from_conversation") is True or _role(said) == "system"


def _texts(value: Any) -> Iterator[Text]:
    text = _CITATION.sub("", plain(value))
    if text.strip():
        yield Text(text)


def _thoughts(said: Mapping[str, Any]) -> Iterator[Thinking]:
    content = _content(said)
    for one in _list(content.get("thoughts")):
        told = [plain(_table(one).get(name)) for name in ("summary", "content")]
        if any(told):
            yield Thinking("\n".join(filter(None, told)))
    if plain(content.get("content")):
        yield Thinking(plain(content["content"]))


def _arguments(words: str) -> str:
    """Servers want a table in JSON; what is code and no table is put into one."""
    with suppress(ValueError, RecursionError):
        if isinstance(json.loads(words), dict):
            return words
    return canonical({"input": words})


KIND = "chatgpt"

# Large exports come in several files.
_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")
_MEMORIES = re.compile(r"(?:saved_)?memor(?:y|ies)\.json")
_BEGINNING = 4_096


def looks_like(path: Path) -> bool:
    if path.suffix.lower() == ".json" and path.is_file():
        with path.open("rb") as opened:
            return b'"mapping"' in opened.read(_BEGINNING)
    if not path.is_dir() and path.suffix.lower() != ".zip":
        return False
    with closing(Files(path)) as files:
        return any(_CONVERSATIONS.fullmatch(tail(name)) for name in files.names())


def read(paths: Sequence[Path]) -> Source:
    path = paths[0]
    files = Files(path)
    names = files.names()
    found = [name for name in names if _CONVERSATIONS.fullmatch(tail(name))]
    if not found and path.suffix.lower() == ".json" and path.is_file():
        found = names
    if not found:
        files.close()
        raise BadRequest(
            say(f"There is no conversations.json in {path}.", f"In {path} ist keine conversations.json."),
            hint=say(
                "Name the zip that OpenAI sent, the folder it was unpacked to, or that file.",
                "Das Zip von OpenAI nennen, den entpackten Ordner, oder diese Datei.",
            ),
        )
    return Source(KIND, _items(files, names, found), sum(_roughly(files, name) for name in found))


def _roughly(files: Files, name: str) -> int:
    """How many conversations there are, seen without reading them: each has one such table."""
    try:
        return files.read(name).count(b'"mapping"')
    except Unreadable:
        return 0


def _items(files: Files, names: Sequence[str], found: Sequence[str]) -> Iterator[Item]:
    with closing(files):
        pictures = _Pictures(files, names)
        for name in found:
            try:
                for number, value in enumerate(elements(text_of(files.read(name))), 1):
                    yield from conversation(f"{name}, {number}", value, pictures.of)
            except Unreadable as error:
                yield Trouble(name, str(error))
        for name in names:
            if _MEMORIES.fullmatch(tail(name)):
                yield from _memories(files, name)


def conversation(place: str, value: Any, picture: Picture) -> Iterator[Item]:
    """What one entry of the export comes to, whatever is in it."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        yield Trouble(place, say("it has no table of messages", "ohne Tabelle der Nachrichten"))
        return
    key = plain(value.get("conversation_id") or value.get("id"))
    title = " ".join(plain(value.get("title")).split())
    place = f"{place} ({title})" if title else place
    if not key:
        yield Trouble(place, say("it has no id", "ohne Id"))
        return
    began = seconds(value.get("create_time"))
    nodes = Nodes(value["mapping"], began, picture)
    for one in nodes.broken:
        yield Trouble(
            f"{place}, {one}",
            say(
                "what it follows is not there, or follows it: it begins a branch of its own",
                "worauf es folgt, fehlt oder folgt ihm: beginnt einen eigenen Zweig",
            ),
        )
    for trouble in nodes.troubles:
        yield Trouble(place, trouble)
    turns = nodes.turns
    if turns:
        head = nodes.nearest(plain(value.get("current_node"))) or turns[-1].key
        last = seconds(value.get("update_time"), turns[-1].at)
        yield Talk(key, title, turns, head, began or turns[0].at, max(last, began))
    else:
        yield Skipped(place, say("there are no words in it", "ohne Worte"))
    for text, at in nodes.remembered:
        yield Saying(text, "fact", at, key if turns else "")


def _memories(files: Files, name: str) -> Iterator[Item]:
    try:
        value = parsed(text_of(files.read(name)))
    except Unreadable as error:
        yield Trouble(name, str(error))
        return
    listed = value.get("memories") if isinstance(value, dict) else value
    for number, one in enumerate(listed if isinstance(listed, list) else (), 1):
        entry: Mapping[str, Any] = one if isinstance(one, dict) else {"content": one}
        text = plain(entry.get("content") or entry.get("text") or entry.get("memory"))
        if text.strip():
            at = seconds(entry.get("updated_at"), seconds(entry.get("created_at")))
            yield Saying(text.strip(), "fact", at)
        else:
            yield Trouble(f"{name}, {number}", say("there are no words in it", "ohne Worte"))


class _Pictures:
    """The pictures that came with an export, by the ids that messages call them."""

    def __init__(self, files: Files, names: Sequence[str]) -> None:
        self._files = files
        self._names = [name for name in names if (mimetypes.guess_type(name)[0] or "").startswith("image/")]

    def of(self, pointer: str) -> Image | None:
        name = pointer.rpartition("/")[2]
        found = next((one for one in self._names if name and tail(one).startswith(name)), None)
        if found is None:
            return None
        content = self._files.read(found, LARGEST_PICTURE)
        kind = mimetypes.guess_type(found)[0] or "image/png"
        return Image(data=base64.b64encode(content).decode(), media_type=kind)
