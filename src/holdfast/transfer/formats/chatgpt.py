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
from holdfast.i18n import gettext as _
from holdfast.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult, canonical
from holdfast.transfer.imports import (
    LARGEST_PICTURE,
    ImportedConversation,
    ImportedMemory,
    ImportedMessage,
    ImportSource,
    Item,
    SkippedItem,
    SourceFiles,
    Unreadable,
    UnreadableItem,
    clean_text,
    decode_text,
    file_name,
    iter_json_list,
    order_parents_first,
    pair_tool_calls,
    parse_json,
    parse_time,
    reparent,
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
        parents = {key: clean_text(node.get("parent")) or None for key, node in nodes.items()}
        self._order = order_parents_first(parents, self.broken)
        self._said = {key: _message_of(node) for key, node in nodes.items()}
        self._times: dict[str, float] = {}
        for key, parent in self._order.items():
            before = began if parent is None else self._times[parent]
            self._times[key] = parse_time(self._said[key].get("create_time"), before)
        self.turns = self._read()

    def nearest(self, key: str) -> str | None:
        """The turn at a node, or the last one before it."""
        known_keys = {turn.key for turn in self.turns}
        at: str | None = key if key in self._order else None
        while at is not None and at not in known_keys:
            at = self._order[at]
        return at

    def _read(self) -> tuple[ImportedMessage, ...]:
        calls = self._calls()
        messages: dict[str, Message] = {}
        thinking: dict[str, tuple[Thinking, ...]] = {}
        for key, parent in self._order.items():
            node = self._said[key]
            before = thinking.get(parent or "", ()) if parent not in messages else ()
            if _kind(node) in _THINKING:
                thinking[key] = (*before, *_thoughts(node))
                continue
            message = self._message(key, calls)
            if message is None:
                thinking[key] = before
            elif message.role == "assistant":
                messages[key] = Message("assistant", (*before, *message.parts))
            else:
                messages[key] = message
        turns = (
            ImportedMessage(key, parent, messages[key], self._times[key], _model(self._said[key]))
            for key, parent in reparent(self._order, messages).items()
        )
        return pair_tool_calls(turns)

    def _calls(self) -> dict[str, str]:
        """For each result the node of its call: the message to a tool that it comes right after."""
        return {
            key: parent
            for key, parent in self._order.items()
            if parent is not None and _role(self._said[key]) == "tool" and _recipient(self._said[parent])
        }

    def _message(self, key: str, calls: Mapping[str, str]) -> Message | None:
        node = self._said[key]
        self._learn(node, self._times[key])
        role, kind = _role(node), _kind(node)
        if _is_hidden(node) or kind in _INSTRUCTIONS:
            return None
        parts = tuple(self._parts(node))
        words = "".join(part.text for part in parts if isinstance(part, Text))
        match role:
            case "user" if parts:
                return Message("user", parts)
            case "assistant" if (tool := _recipient(node)) and words:
                return Message("assistant", (ToolCall(tool, _arguments(words), key),))
            case "assistant" if parts:
                return Message("assistant", parts)
            case "tool" if parts:
                shown = tuple(part for part in parts if isinstance(part, Text | Image))
                name = clean_text(_table(node.get("author")).get("name"))
                return Message("tool", (ToolResult(shown, calls.get(key, ""), name),))
        return None

    def _learn(self, node: Mapping[str, Any], at: float) -> None:
        """What ChatGPT wrote down about its person stands in the messages to its memory."""
        content = _content(node)
        if _role(node) == "assistant" and _recipient(node) == _MEMORY_TOOL:
            words = "".join(clean_text(part) for part in _list(content.get("parts")) if isinstance(part, str))
            self.remembered += [(line.strip(), at) for line in words.splitlines() if line.strip()]
        memory_text = clean_text(content.get("model_set_context"))
        self.remembered += [
            (text.rstrip(), parse_time(day, at)) for day, text in _REMEMBERED.findall(memory_text)
        ]

    def _parts(self, node: Mapping[str, Any]) -> Iterator[Part]:
        content = _content(node)
        match _kind(node):
            case "code" | "execution_output" | "computer_output" | "system_error":
                yield from _texts(content.get("text"))
            case "tether_quote":
                yield from _texts(" ".join(filter(None, map(clean_text, map(content.get, ("title", "url"))))))
                yield from _texts(content.get("text"))
            case "tether_browsing_display":
                yield from _texts(content.get("result") or content.get("summary"))
            case _:
                for part in _list(content.get("parts")) or [content.get("text")]:
                    yield from self._part(part)
        for file in map(_table, _list(_table(node.get("metadata")).get("attachments"))):
            kind = clean_text(file.get("mime_type") or file.get("mimeType"))
            if clean_text(file.get("name")) and not kind.startswith("image/"):
                yield Text(f"\n[{clean_text(file['name'])}]")

    def _part(self, part: Any) -> Iterator[Part]:
        if not isinstance(part, dict):
            yield from _texts(part)
        elif part.get("asset_pointer") and "image" in clean_text(part.get("content_type")):
            pointer = clean_text(part["asset_pointer"])
            picture = None
            try:
                picture = self._picture(pointer)
            except Unreadable as error:
                self.troubles.append(f"{pointer}: {error}")
            yield picture or Text(f"[{_('picture')}: {pointer.rpartition('/')[2]}]")
        else:
            yield from _texts(part.get("text"))


def _message_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return _table(node.get("message"))


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _kind(node: Mapping[str, Any]) -> str:
    return clean_text(_content(node).get("content_type"))


def _content(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return _table(node.get("content"))


def _role(node: Mapping[str, Any]) -> str:
    return clean_text(_table(node.get("author")).get("role"))


def _model(node: Mapping[str, Any]) -> str:
    return clean_text(_table(node.get("metadata")).get("model_slug"))


def _recipient(node: Mapping[str, Any]) -> str:
    """The tool that a message is for; empty for one that people see."""
    recipient = clean_text(node.get("recipient"))
    return "" if recipient in ("", "all") or _role(node) != "assistant" else recipient


def _is_hidden(node: Mapping[str, Any]) -> bool:
    metadata = _table(node.get("metadata"))
    return metadata.get("is_visually_hidden_from_conversation") is True or _role(node) == "system"


def _texts(value: Any) -> Iterator[Text]:
    text = _CITATION.sub("", clean_text(value))
    if text.strip():
        yield Text(text)


def _thoughts(node: Mapping[str, Any]) -> Iterator[Thinking]:
    content = _content(node)
    for thought in _list(content.get("thoughts")):
        texts = [clean_text(_table(thought).get(name)) for name in ("summary", "content")]
        if any(texts):
            yield Thinking("\n".join(filter(None, texts)))
    if clean_text(content.get("content")):
        yield Thinking(clean_text(content["content"]))


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
    with closing(SourceFiles(path)) as files:
        return any(_CONVERSATIONS.fullmatch(file_name(name)) for name in files.names())


def read(paths: Sequence[Path]) -> ImportSource:
    path = paths[0]
    files = SourceFiles(path)
    names = files.names()
    conversation_files = [name for name in names if _CONVERSATIONS.fullmatch(file_name(name))]
    if not conversation_files and path.suffix.lower() == ".json" and path.is_file():
        conversation_files = names
    if not conversation_files:
        files.close()
        raise BadRequest(
            _("There is no conversations.json in {path}.").format(path=path),
            hint=_("Name the zip that OpenAI sent, the folder it was unpacked to, or that file."),
        )
    return ImportSource(
        KIND,
        _items(files, names, conversation_files),
        sum(_roughly(files, name) for name in conversation_files),
    )


def _roughly(files: SourceFiles, name: str) -> int:
    """How many conversations there are, seen without reading them: each has one such table."""
    try:
        return files.read(name).count(b'"mapping"')
    except Unreadable:
        return 0


def _items(files: SourceFiles, names: Sequence[str], conversation_files: Sequence[str]) -> Iterator[Item]:
    with closing(files):
        pictures = _Pictures(files, names)
        for name in conversation_files:
            try:
                for number, value in enumerate(iter_json_list(decode_text(files.read(name))), 1):
                    yield from conversation(f"{name}, {number}", value, pictures.of)
            except Unreadable as error:
                yield UnreadableItem(name, str(error))
        for name in names:
            if _MEMORIES.fullmatch(file_name(name)):
                yield from _memories(files, name)


def conversation(place: str, value: Any, picture: Picture) -> Iterator[Item]:
    """What one entry of the export comes to, whatever is in it."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        yield UnreadableItem(place, _("it has no table of messages"))
        return
    key = clean_text(value.get("conversation_id") or value.get("id"))
    title = " ".join(clean_text(value.get("title")).split())
    place = f"{place} ({title})" if title else place
    if not key:
        yield UnreadableItem(place, _("it has no id"))
        return
    began = parse_time(value.get("create_time"))
    nodes = Nodes(value["mapping"], began, picture)
    for node_id in nodes.broken:
        yield UnreadableItem(
            f"{place}, {node_id}",
            _("what it follows is not there, or follows it: it begins a branch of its own"),
        )
    for trouble in nodes.troubles:
        yield UnreadableItem(place, trouble)
    turns = nodes.turns
    if turns:
        head = nodes.nearest(clean_text(value.get("current_node"))) or turns[-1].key
        last = parse_time(value.get("update_time"), turns[-1].at)
        yield ImportedConversation(key, title, turns, head, began or turns[0].at, max(last, began))
    else:
        yield SkippedItem(place, _("there are no words in it"))
    for text, at in nodes.remembered:
        yield ImportedMemory(text, "fact", at, key if turns else "")


def _memories(files: SourceFiles, name: str) -> Iterator[Item]:
    try:
        value = parse_json(decode_text(files.read(name)))
    except Unreadable as error:
        yield UnreadableItem(name, str(error))
        return
    listed = value.get("memories") if isinstance(value, dict) else value
    for number, item in enumerate(listed if isinstance(listed, list) else (), 1):
        entry: Mapping[str, Any] = item if isinstance(item, dict) else {"content": item}
        text = clean_text(entry.get("content") or entry.get("text") or entry.get("memory"))
        if text.strip():
            at = parse_time(entry.get("updated_at"), parse_time(entry.get("created_at")))
            yield ImportedMemory(text.strip(), "fact", at)
        else:
            yield UnreadableItem(f"{name}, {number}", _("there are no words in it"))


class _Pictures:
    """The pictures that came with an export, by the ids that messages call them."""

    def __init__(self, files: SourceFiles, names: Sequence[str]) -> None:
        self._files = files
        self._names = [name for name in names if (mimetypes.guess_type(name)[0] or "").startswith("image/")]

    def of(self, pointer: str) -> Image | None:
        name = pointer.rpartition("/")[2]
        member = next(
            (candidate for candidate in self._names if name and file_name(candidate).startswith(name)), None
        )
        if member is None:
            return None
        content = self._files.read(member, LARGEST_PICTURE)
        kind = mimetypes.guess_type(member)[0] or "image/png"
        return Image(data=base64.b64encode(content).decode(), media_type=kind)
