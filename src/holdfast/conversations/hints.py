"""Reads what a request says beside its messages: sender, chat id, and context texts sent along.

A table of the names that clients use. An id of another tool is only a hint that the messages must confirm;
only our own header names a conversation outright. Context (`metadata.context` in OpenAI's protocol, `context`
in Ollama's chat) is a text, a list of texts, or a list of objects with a `text` and its origin; OpenClaw
sends it as a last message, and never again. It is not logged.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.errors import BadRequest
from holdfast.i18n import lazy
from holdfast.messages import ChatRequest

# Names a conversation outright: this one is ours.
CONVERSATION_HEADER = "x-holdfast-conversation"
# Names a finding, ours as well.
RESEARCH_HEADER = "x-holdfast-research"
# The setting of a conversation that names a finding for its next message.
RESEARCH_SETTING = "research"

# Headers by which tools name a chat or a session, with the name we know the tool's ids by. The first that is
# there is taken. A chat id stands for one chat and all its branches; a session may hold several histories.
_CHATS = {
    "x-openwebui-chat-id": "open-webui",
    "x-librechat-conversation-id": "librechat",
    "x-conversation-id": "conversation",
    "x-chat-id": "chat",
}
_SESSIONS = {
    "x-session-id": "session",
    "x-claude-code-session-id": "claude-code",
    "thread-id": "codex",
    "session-id": "session",
    "x-session-affinity": "session",
    "session_id": "session",
    "conversation_id": "session",
    "x-thread-id": "thread",
}
# Ids that stand for "a chat that is not saved": all of a browser's temporary chats share one.
_SHARED = ("local", "temporary")
# Who sits in front of the client, where one key serves several people.
_PEOPLE = ("x-openwebui-user-id", "x-librechat-user-id")
# The names in a user agent, without versions: an update does not make another client.
_AGENT_NAME = re.compile(r"[A-Za-z][A-Za-z_-]+")
# A client's own word for what it is doing; this much of codex's says which requests are compactions.
_TURN_METADATA = "x-codex-turn-metadata"


@dataclass(frozen=True, slots=True)
class Hints:
    """What headers and metadata say. Fields are empty strings where they say nothing."""

    # The conversation, named in our own terms: an id of ours, or one the client chose for us.
    explicit: str = ""
    # The id of the chat in the client's own terms, with the tool's name in front.
    external_id: str = ""
    # Whether that id stands for one chat, and not for a session with several histories in it.
    one_chat: bool = False
    client: str = ""
    person: str = ""
    # The answer of ours that the request continues without repeating what went before.
    previous: str = ""
    # The client's own name for this kind of request.
    kind: str = ""
    # The finding whose sources belong to the question.
    research: str = ""

    @property
    def sender(self) -> str:
        """Client and person in one string, as stored with the conversation."""
        return f"{self.client}#{self.person}" if self.person else self.client


def read_hints(headers: Mapping[str, str], request: ChatRequest) -> Hints:
    """Collect what the headers (names in lower case) and the body's metadata say about the conversation."""
    external_id, one_chat = read_external_id(headers, request)
    return Hints(
        explicit=headers.get(CONVERSATION_HEADER, "").strip() or read_metadata(request, "conversation_id"),
        external_id=external_id,
        one_chat=one_chat,
        client=" ".join(_AGENT_NAME.findall(headers.get("user-agent", ""))[:2]),
        person=next((headers[name] for name in _PEOPLE if headers.get(name)), ""),
        previous=read_field(request, "previous_response_id"),
        kind=read_kind(headers),
        research=headers.get(RESEARCH_HEADER, "").strip() or read_metadata(request, "research_id"),
    )


def read_person(sender: str) -> str:
    """Return the person in a stored `Hints.sender`; empty if nobody was named."""
    return sender.partition("#")[2]


def read_external_id(headers: Mapping[str, str], request: ChatRequest) -> tuple[str, bool]:
    for names, one_chat in ((_CHATS, True), (_SESSIONS, False)):
        for name, tool in names.items():
            value = headers.get(name, "").strip()
            if value and value.partition(":")[0] not in _SHARED:
                return f"{tool}:{value}", one_chat
    session = read_metadata(request, "session_id") or read_field(request, "prompt_cache_key")
    return (f"session:{session}", False) if session else ("", False)


def read_metadata(request: ChatRequest, name: str) -> str:
    """Return a value of the metadata, which protocols keep without interpreting it."""
    for fields in request.extra.values():
        metadata = fields.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get(name), str):
            return str(metadata[name]).strip()
    return ""


def read_field(request: ChatRequest, name: str) -> str:
    values = (fields.get(name) for fields in request.extra.values())
    return next((value for value in values if isinstance(value, str)), "")


def read_kind(headers: Mapping[str, str]) -> str:
    try:
        metadata = json.loads(headers.get(_TURN_METADATA, "") or "{}")
    except ValueError:
        return ""
    kind = metadata.get("request_kind") if isinstance(metadata, dict) else None
    return kind if isinstance(kind, str) else ""


_ORIGIN = ("title", "source", "url")
# A message that is nothing but a program's own state, as OpenClaw sends it behind each question.
_OWN_STATE = re.compile(r"<<<BEGIN_(\w+_INTERNAL_CONTEXT)>>>(.*)<<<END_\1>>>", re.DOTALL)


def split_context(request: ChatRequest) -> tuple[tuple[str, ...], ChatRequest]:
    """Return the context texts and the request without them, so that they are not sent upstream twice."""
    texts: list[str] = []
    extra: dict[str, Mapping[str, Any]] = {}
    for dialect, fields in request.extra.items():
        left = dict(fields)
        metadata = left.get("metadata")
        if isinstance(metadata, Mapping) and "context" in metadata:
            texts += read_texts(metadata["context"], "metadata.context")
            left["metadata"] = {name: value for name, value in metadata.items() if name != "context"}
            if not left["metadata"]:
                del left["metadata"]
        if "context" in left and not _is_state(left["context"]):
            texts += read_texts(left.pop("context"), "context")
        extra[dialect] = left
    messages = list(request.messages)
    while (
        len(messages) > 1
        and messages[-1].role == "user"
        and (state := _OWN_STATE.fullmatch(messages[-1].text))
    ):
        texts.append(state[2].strip())
        messages.pop()
    if len(messages) < len(request.messages):
        request = request.with_messages(messages)
    return tuple(texts), request if extra == request.extra else replace(request, extra=extra)


def _is_state(value: Any) -> bool:
    """Whether this is Ollama's own `context`: a list of numbers, the state of a model."""
    return isinstance(value, list) and bool(value) and all(isinstance(number, int) for number in value)


def read_texts(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    texts = [read_text(item) for item in (value if isinstance(value, list) else [value])]
    if any(text is None for text in texts):
        raise BadRequest(
            lazy("{where} must be a text, a list of texts, or a list of objects with a text", where=where),
            param=where,
        )
    return [text for text in texts if text and text.strip()]


def read_text(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and isinstance(item.get("text"), str):
        origin = [str(item[name]) for name in _ORIGIN if isinstance(item.get(name), str) and item[name]]
        return "\n".join((", ".join(origin), item["text"])) if origin else str(item["text"])
    return None
