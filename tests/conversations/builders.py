"""Short ways to write down stored and sent messages, for the tests of this package."""

from dataclasses import dataclass, field

from holdfast.conversations import Hints, Placement, SideRequestCache, anchor, locate, read_hints
from holdfast.messages import ChatRequest, Message, Scope, Text, ToolCall, ToolResult
from holdfast.store import NewMessage, Store


def user(text: str) -> Message:
    return Message.of("user", text)


def answer(text: str, *calls: ToolCall) -> Message:
    return Message("assistant", (*((Text(text),) if text else ()), *calls))


def system(text: str) -> Message:
    return Message.of("system", text)


def result(call_id: str, text: str) -> Message:
    return Message("tool", (ToolResult((Text(text),), call_id=call_id),))


@dataclass(frozen=True)
class Row:
    """A stored message, as `align` sees it."""

    message: Message
    model: str = ""
    job: str = ""
    finish: str = ""
    anchor: str | None = None


def rows(*messages: Message) -> list[Row]:
    """Messages as they are kept when every answer was ours."""
    return [Row(message, model="m" if message.role == "assistant" else "") for message in messages]


@dataclass
class Talk:
    """A scope in a store, and requests sent to it as the engine does it."""

    store: Store
    scope: Scope
    asides: SideRequestCache = field(default_factory=SideRequestCache)

    def place(self, *messages: Message, hints: Hints | None = None, stream: bool = True) -> Placement:
        request = ChatRequest("m", messages, stream=stream)
        return locate(self.store, self.scope, request, hints or Hints(), self.asides)

    def say(
        self, *messages: Message, answered: str | Message | None, headers: dict[str, str] | None = None
    ) -> tuple[Placement, str]:
        """Place a request, keep it and its answer; gives the placement and the conversation."""
        hints = read_hints(headers or {}, ChatRequest("m", messages))
        placement = self.place(*messages, hints=hints)
        assert placement.kind == "main", placement.reason
        return placement, self.keep(placement, answered)

    def keep(self, placement: Placement, answered: str | Message | None) -> str:
        log = self.store.log
        conversation, parent = placement.conversation, placement.parent
        if conversation is None:
            conversation = log.create(
                self.scope, client=placement.client, external_id=placement.external_id
            ).id
        if placement.new:
            parent = log.append(conversation, placement.new, parent=parent, expect=placement.head)[-1].id
        elif parent != placement.head:
            log.set_head(conversation, parent, expect=placement.head)
        if answered is not None:
            text = answer(answered) if isinstance(answered, str) else answered
            job = self.store.jobs.start(self.scope, conversation=conversation).id
            new = NewMessage(text, anchor(text), "m", "stop", job)
            log.append(conversation, [new], parent=parent, expect=parent)
        return conversation

    def conversations(self) -> set[str]:
        return {item.id for item in self.store.log.recent(self.scope, 1000)}

    def told(self, conversation: str) -> list[str]:
        """What was said in a conversation, as it ends."""
        head = self.store.log.get(conversation).head
        return [stored.message.text for stored in self.store.log.path(head)]
