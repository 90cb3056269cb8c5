"""What the nodes of one ChatGPT conversation say, as turns in order; and what it had remembered in it.

Hidden messages and instructions are left out; thinking belongs to the answer after it; a tool's call and its
result are a pair. Pure, but for the pictures, which somebody else fetches.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from holdfast.language import say
from holdfast.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult, canonical
from holdfast.transfer.reading import Unreadable, plain, seconds
from holdfast.transfer.sources import Turn
from holdfast.transfer.trees import hung_on, paired, parents_first

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
