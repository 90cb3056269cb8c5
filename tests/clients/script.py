"""How the modules here write down what a client sends: requests on the wire, each with the answer it gets.

A `Script` collects the requests of one client. It knows the wire formats as clients write them, and nothing
of how Holdfast reads them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.recordings import Line
from holdfast.messages import Message, Part, Text, Thinking, ToolCall
from holdfast.protocols import anthropic, ollama, openai_chat, openai_responses

DIALECTS = {
    "/api/chat": ollama,
    "/v1/chat/completions": openai_chat,
    "/v1/responses": openai_responses,
    "/v1/messages": anthropic,
}

Wire = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """One request of a client, and what the model says to it; no answer means that the server refuses."""

    path: str
    headers: Mapping[str, str]
    body: Wire
    answer: Message | None
    # The conversation it is part of; None for a side request.
    chat: str | None
    # The person edited something or wants an answer once more: a fork is of their making.
    by_hand: bool = False


@dataclass(frozen=True)
class Client:
    """The traffic of one client, and the conversations that a person sees in it, as they end."""

    name: str
    traffic: tuple[Sent, ...]
    conversations: Mapping[str, Sequence[str]]


@dataclass
class Script:
    """Collects what a client sends. `fields` and `headers` go with every request."""

    path: str
    headers: dict[str, str] = field(default_factory=dict)
    fields: Wire = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)

    def ask(
        self,
        chat: str | None,
        messages: Sequence[Wire],
        answer: Message | str | None,
        *,
        by_hand: bool = False,
        headers: Mapping[str, str] | None = None,
        path: str = "",
        **fields: Any,
    ) -> None:
        where = path or self.path
        name = "input" if where == "/v1/responses" else "messages"
        # Through JSON and back: what was sent does not change when the list it came from grows.
        body = json.loads(json.dumps({"model": "local", name: list(messages), **self.fields, **fields}))
        message = Message.of("assistant", answer) if isinstance(answer, str) else answer
        self.sent.append(Sent(where, {**self.headers, **(headers or {})}, body, message, chat, by_hand))

    def aside(self, messages: Sequence[Wire], answer: str, **rest: Any) -> None:
        """A side request: a title, tags, a summary."""
        self.ask(None, messages, answer, **rest)


def system(text: str) -> Wire:
    return {"role": "system", "content": text}


def user(text: str) -> Wire:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: Wire) -> Wire:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def tool(call: str, text: str) -> Wire:
    return {"role": "tool", "tool_call_id": call, "content": text}


def call(call_id: str, name: str, **arguments: Any) -> Wire:
    """A tool call as OpenAI's clients send it back."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def calling(text: str, *calls: Wire, thinking: str = "") -> Message:
    """An answer with tool calls, as the model gave it."""
    parts: list[Part] = [Thinking(thinking)] if thinking else []
    parts += [Text(text)] if text else []
    parts += [ToolCall(call["function"]["name"], call["function"]["arguments"], call["id"]) for call in calls]
    return Message("assistant", tuple(parts))


def lines_of(client: Client) -> list[Line]:
    """The traffic in the form that `evals` replays."""
    return [
        Line(
            file=client.name,
            number=number,
            kind="side" if sent.chat is None else "main",
            label="regenerated or edited" if sent.by_hand else "",
            truths=frozenset({f"{client.name}: {sent.chat or '-'}"}),
            headers=sent.headers,
            request=DIALECTS[sent.path].parse_request(sent.body),
            answer=sent.answer,
            continues="previous_response_id" in sent.body,
        )
        for number, sent in enumerate(client.traffic, 1)
    ]
