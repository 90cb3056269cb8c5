"""What must hold for every turn, checked from outside: answered, kept, in its own conversation, small enough.

Knows requests, replies and what the server shows of a conversation; it sends nothing itself. Also finds
orphans: tool calls without results, and results without calls.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evals.window_serving import Reply
from evals.window_traffic import Step, Talker
from holdfast.messages import Message

Kind = Literal[
    "error", "unanswered", "lost message", "wrong conversation", "above the window", "into the reserve"
]
KINDS: tuple[Kind, ...] = (
    "error", "unanswered", "lost message", "wrong conversation", "above the window", "into the reserve",
)  # fmt: skip

# A conversation as the server shows it: rows with id, role, content.
Path = Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Kind
    chat: str
    turn: int
    note: str


@dataclass
class Watch:
    """Hears every turn, and at the end looks whether everything that was said is still there."""

    window: int
    room: int
    faults: list[Fault] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)
    largest: int = 0
    main: int = 0
    side: int = 0
    _homes: dict[str, str] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    _kept: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def conversations(self) -> set[str]:
        return set(self._owners)

    def count_faults(self, kind: Kind) -> int:
        return sum(fault.kind == kind for fault in self.faults)

    def hear(self, step: Step, reply: Reply, path: Path = ()) -> None:
        """One turn: `path` is the conversation as it stands afterwards."""
        self.labels[step.label] += 1
        chat = step.chat or "side request"
        self.main += step.chat is not None
        self.side += step.chat is None
        self._measure(chat, reply)
        if reply.error:
            self._blame("error", chat, f"{step.label}: {reply.status} {reply.error}")
            return
        if step.chat is None:
            if reply.conversation:
                self._blame(
                    "wrong conversation", chat, f"{step.label} was taken for a turn of a conversation"
                )
            return
        if not reply.answered:
            self._blame("unanswered", chat, f"{step.label}: finish {reply.finish!r}, text {reply.text!r}")
        self._place(step.chat, reply.conversation)
        self._keep(step, reply, path)

    def finish(
        self, talkers: Sequence[Talker], show: Callable[[str], Path], fetch: Callable[[str, str], str | None]
    ) -> None:
        """Nothing that was ever kept is gone, and every chat reads as its client has it.

        `show` gives a conversation as it stands; `fetch` the text of one message on any branch, None if it is
        not there.
        """
        paths = {conversation: show(conversation) for conversation in self._owners}
        for (conversation, name), text in self._kept.items():
            now = next((row["content"] for row in paths[conversation] if row["id"] == name), None)
            if now is None:
                now = fetch(conversation, name)
            if now != text:
                self._blame(
                    "lost message", self._owners[conversation], f"{name} is gone or changed: {text[:80]!r}"
                )
        for talker in talkers:
            if home := self._homes.get(talker.name):
                self._compare(talker, paths[home])

    def _compare(self, talker: Talker, path: Path) -> None:
        shown = [(row["role"], _solid(row["content"])) for row in path]
        # A question may have been kept in the dress it first came in; an answer without words is none.
        seen = [(role, _solid(text)) for role, text in talker.seen]
        at = 0
        for role, text in seen:
            while at < len(shown) and not (shown[at][0] == role and text in shown[at][1]):
                at += 1
            if at == len(shown):
                self._blame(
                    "lost message", talker.name, f"the client's {role} message is not shown: {text[:80]!r}"
                )
                return
            at += 1

    def _measure(self, chat: str, reply: Reply) -> None:
        prompt = reply.prompt or 0
        self.largest = max(self.largest, prompt)
        if prompt > self.window:
            self._blame("above the window", chat, f"{prompt} tokens")
        if prompt > self.room:
            self._blame("into the reserve", chat, f"{prompt} tokens, {self.room} allowed")

    def _place(self, chat: str, conversation: str) -> None:
        if not conversation:
            self._blame("wrong conversation", chat, "no conversation was named")
            return
        home = self._homes.setdefault(chat, conversation)
        owner = self._owners.setdefault(conversation, chat)
        if home != conversation or owner != chat:
            self._blame("wrong conversation", chat, f"in {conversation} of {owner}, before in {home}")

    def _keep(self, step: Step, reply: Reply, path: Path) -> None:
        """The newest messages and the answer are the end of the conversation, word for word."""
        rows = [(message["role"], message["content"] or "") for message in step.new]
        if reply.answered:
            rows.append(("assistant", reply.text))
        end = path[-len(rows) :]
        for (role, text), row in zip(rows, end, strict=False):
            self._kept[reply.conversation, row["id"]] = row["content"]
            if row["role"] != role or _solid(row["content"]) != _solid(text):
                self._blame(
                    "lost message", step.chat or "", f"{step.label}: {role} {text[:60]!r} is not at the end"
                )
        if len(end) < len(rows):
            self._blame(
                "lost message", step.chat or "", f"{step.label}: only {len(end)} of {len(rows)} were kept"
            )

    def _blame(self, kind: Kind, chat: str, note: str) -> None:
        self.faults.append(Fault(kind, chat, self.main, note))


def _solid(text: str) -> str:
    return "".join(text.split())


def orphans(messages: Sequence[Message]) -> list[str]:
    """Calls that no result follows before the talk goes on, and results that no open call waits for."""
    results: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            for result in message.tool_results:
                if result.call_id in waiting:
                    waiting.remove(result.call_id)
                else:
                    results.append(f"result without a call: {result.call_id}")
            continue
        results += [f"call without a result: {name}" for name in waiting]
        waiting = [call.id for call in message.tool_calls]
    # Calls at the very end are a wish that is still to be carried out; a request never ends with one.
    return [*results, *(f"call without a result: {name}" for name in waiting)]
