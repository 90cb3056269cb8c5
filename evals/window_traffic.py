"""What simulated clients share: the requests they send, the words they send them with, and taking turns.

A chat is a generator: it yields a request, is sent the reply, and decides by it what comes next, as a client
with a person in front of it does. Then two clients: Open WebUI and opencode.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from evals.window_serving import OLLAMA, OPENAI, Reply

Wire = dict[str, Any]
# A server with one model answers to every name but the embedded model's, which is Holdfast's own.
MODEL = "smollm2-with-tools"
# An answer's length: enough to be told from others, little enough for hundreds of turns.
ANSWER = 24

_THINGS = (
    "the harbour wall", "the tide table", "a brass sextant", "the night ferry", "the old lighthouse",
    "a storm warning", "the pilot boat", "the fish market", "a broken winch", "the salt store",
    "the north pier", "a rope of hemp", "the engine room", "the customs shed", "a chart of the sound",
    "the signal mast", "the dry dock", "a green buoy",
)  # fmt: skip
_DEEDS = (
    "is repaired in spring", "was painted last week", "needs a new owner", "stands empty in winter",
    "costs too much", "is older than the town", "was moved by the flood", "has to be measured again",
    "is watched by two men",
)  # fmt: skip
_ASKS = (
    "What do you know about", "How would you describe", "Who should look after",
    "When is it best to visit", "Why do people talk about", "What comes next for",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One request. `chat` is None for a side request; `calls` is what the model is to answer with, if set."""

    chat: str | None
    path: str
    headers: Mapping[str, str]
    body: Wire
    label: str = ""
    calls: Sequence[Wire] = ()
    beside: str = ""
    thinking: str = ""

    @property
    def new(self) -> list[Wire]:
        """What stands behind the last answer: the question, or the results of tools."""
        talk = [message for message in self.body["messages"] if message["role"] != "system"]
        behind = [at for at, message in enumerate(talk) if message["role"] == "assistant"]
        return talk[behind[-1] + 1 if behind else 0 :]


Chat = Generator[Step, Reply, None]


class Talker(Protocol):
    """A client with one chat open. `seen` is what the person in front of it sees, as (role, text)."""

    name: str
    seen: list[tuple[str, str]]

    def turns(self, count: int) -> Chat: ...


@dataclass
class Words:
    """Texts of any length that are never twice the same, from one seed."""

    random: Random
    _said: int = field(default=0, init=False)

    def sentence(self) -> str:
        self._said += 1
        thing, deed = self.random.choice(_THINGS), self.random.choice(_DEEDS)
        return f"{thing[0].upper()}{thing[1:]} {deed}, says note {self._said}."

    def question(self) -> str:
        self._said += 1
        asks, thing = self.random.choice(_ASKS), self.random.choice(_THINGS)
        return f"{self.sentence()} {asks} {thing}? (question {self._said})"

    def prose(self, tokens: int) -> str:
        """About so many tokens of sentences."""
        return " ".join(self.sentence() for _ in range(max(1, tokens // 16)))

    def code(self, tokens: int) -> str:
        """About so many tokens of lines as tools print them."""
        self._said += 1
        numbers = range(max(1, tokens // 20))
        return "\n".join(
            f"{at:05d}: def level_{self._said}_{at}(depth): return depth + {self.random.randint(1, 99)}"
            for at in numbers
        )


def take_turns(
    begin: Callable[[int], Talker],
    send: Callable[[Step], Reply],
    random: Random,
    *,
    turns: int,
    at_once: int = 3,
) -> list[Talker]:
    """Several chats, a request from this one and one from that, until `turns` of them were main requests.

    A chat that has come to its end makes room for a new one. Gives all that were begun.
    """
    talkers: list[Talker] = []

    def fresh() -> tuple[Chat, Step]:
        talkers.append(begin(len(talkers)))
        chat = talkers[-1].turns(random.randint(20, 60))
        return chat, next(chat)

    live = [fresh() for _ in range(at_once)]
    done = 0
    while done < turns:
        at = random.randrange(len(live))
        chat, step = live[at]
        reply = send(step)
        done += step.chat is not None
        try:
            live[at] = chat, chat.send(reply)
        except StopIteration:
            live[at] = fresh()
    return talkers


_TASKS = (
    ("Generate a concise title of 3-5 words with an emoji.", '{"title": ""}'),
    ("Generate 1-3 broad tags for the themes of the chat.", '{"tags": []}'),
    ("Suggest 3-5 follow-up questions the user might ask next.", '{"follow_ups": []}'),
)
# What a person does next, and how often.
_ACTS = {"ask": 60, "pages": 14, "paste": 6, "again": 10, "edit": 10}


@dataclass
class OpenWebUI:
    """`window` is only used to send something that is larger than it, once in a while."""

    name: str
    random: Random
    words: Words
    path: str
    ids: bool
    clock: bool
    window: int
    first: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    # What is asked now, pages included; and what was answered last, bare and as it went out.
    _dressed: str = ""
    _last: tuple[str, str] = ("", "")
    _sent: int = 0

    def turns(self, count: int) -> Chat:
        yield from self._ask(self.first or self.words.question())
        for order, shape in _TASKS:
            yield self._aside(order, shape)
        for _ in range(count - 1):
            act = self.random.choices(list(_ACTS), list(_ACTS.values()))[0]
            # Without an id, a first question that is asked again or edited is a new chat to anybody.
            if act in ("again", "edit") and (len(self.seen) < 4 or self.seen[-2][1] != self._last[0]):
                act = "ask"
            yield from getattr(self, f"_{act}")(self.words.question())
            if self.random.random() < 0.2:
                yield self._aside(*_TASKS[-1])

    def _ask(self, question: str, dressed: str = "", label: str = "ask") -> Chat:
        self._dressed = dressed or question
        reply = yield self._step(label)
        self._hear(question, reply)

    def _pages(self, question: str) -> Chat:
        """The newest question inside a template, with what was found; from the next turn on it is bare."""
        tokens = int(self.window * 1.3) if self.random.random() < 0.1 else self.random.randint(200, 900)
        text = "\n".join(f'<source id="{at}">{self.words.prose(tokens // 3)}</source>' for at in (1, 2, 3))
        order = "### Task:\nRespond to the user query using the provided context, with citations like [1].\n"
        yield from self._ask(question, f"{order}\n<context>\n{text}\n</context>\n\n{question}", "pages")

    def _paste(self, question: str) -> Chat:
        tokens = self.window if self.random.random() < 0.15 else self.random.randint(300, 1200)
        yield from self._ask(f"{question}\n\n```\n{self.words.code(tokens)}\n```", label="paste")

    def _again(self, question: str) -> Chat:  # noqa: ARG002
        """The same request once more; the new answer takes the place of the old one."""
        del self.seen[-2:]
        asked, self._dressed = self._last
        reply = yield self._step("again")
        self._hear(asked, reply)

    def _edit(self, question: str) -> Chat:
        """One of the last three questions is put in other words, and what followed it is gone."""
        back = 2 * self.random.randint(1, min(3, len(self.seen) // 2 - 1))
        del self.seen[-back:]
        yield from self._ask(question, label="edit")

    def _hear(self, question: str, reply: Reply) -> None:
        if not reply.error:
            self.seen += [("user", question), ("assistant", reply.text)]
            self._last = question, self._dressed

    def _step(self, label: str) -> Step:
        clock = [
            {
                "role": "system",
                "content": f"You are kind. Now is 09:{self._sent // 60 % 60:02d}:{self._sent % 60:02d}.",
            }
        ]
        history = [{"role": role, "content": self._resent(role, text)} for role, text in self.seen]
        messages = [*(clock if self.clock else []), *history, {"role": "user", "content": self._dressed}]
        thinking = f"They want to know something.\n{self.words.sentence()}" if self._sent % 3 == 0 else ""
        return Step(
            self.name, self.path, self._headers(), self._body(messages, True), label, thinking=thinking
        )

    def _resent(self, role: str, text: str) -> str:
        if role == "user":
            return text
        # Thinking is left where some templates put it, or dropped; white space is never quite the same.
        dress = self.random.choice(("{}", "{}", "{}", "\n{}\n", "<think>\n\n</think>\n\n{}"))
        return dress.format(text.strip())

    def _aside(self, order: str, shape: str) -> Step:
        content = "\n".join(f"{role.upper()}: {text[:300]}" for role, text in self.seen[-2:])
        text = (
            f"### Task:\n{order}\n### Guidelines:\n- Use the chat's language.\n- Answer in JSON.\n"
            f"### Output:\n{shape}\n"
            f"### Chat History:\n<chat_history>\n{content}\n</chat_history>"
        )
        return Step(
            None, self.path, self._headers(), self._body([{"role": "user", "content": text}], False), "task"
        )

    def _headers(self) -> dict[str, str]:
        agent = {"user-agent": "Python/3.11 aiohttp/3.13.2", "x-openwebui-user-id": "u-17"}
        return {**agent, "x-openwebui-chat-id": self.name} if self.ids else agent

    def _body(self, messages: list[Wire], stream: bool) -> Wire:
        self._sent += 1
        body: Wire = {"model": MODEL, "messages": messages, "stream": stream}
        sampling = {"temperature": 0.8, "seed": self._sent}
        if self.path == OLLAMA:
            return {**body, "options": {**sampling, "num_predict": ANSWER}}
        return {**body, **sampling, "max_tokens": ANSWER, "stream_options": {"include_usage": True}}


_PROMPT = (
    "You are opencode, a tool for software engineering. Be short, follow the conventions of the code that is "
    "there, never guess what a file says, and run the tests before you say that you are done.\n<env>\n"
    "Working directory: /project\nPlatform: linux\nToday's date: {date}\n</env>"
)
_TITLER = (
    "You are a title generator. You output ONLY a thread title.\nMake it short, to find this conversation."
)
_TOOLS = {
    "read": ("Read a file.", "filePath"),
    "grep": ("Search in all files.", "pattern"),
    "bash": ("Run a command in a shell.", "command"),
    "edit": ("Change a file.", "filePath"),
    "task": ("Give a task to a subagent.", "prompt"),
}
# How many tokens a result has, and how often; as shares of the window where they are under three.
_SIZES: dict[float, int] = {20: 34, 120: 38, 400: 18, 1200: 5, 1.2: 3, 2.0: 2}


def _tool(name: str, description: str, argument: str) -> Wire:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


@dataclass
class OpenCode:
    name: str
    random: Random
    words: Words
    window: int
    first: str = ""
    parent: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    children: list["OpenCode"] = field(default_factory=list)
    _history: list[Wire] = field(default_factory=list)
    _sent: int = 0

    def turns(self, count: int) -> Chat:
        question = self.first or self.words.question()
        if not self.parent:
            yield self._title(question)
        yield from self._turn(question)
        for _ in range(count - 1):
            act = self.random.random()
            if act < 0.08 and len(self._questions()) > 1:
                self._undo()
            elif act < 0.13 and self._history and self._history[-1]["role"] == "assistant":
                yield from self._again()
                continue
            yield from self._turn(self.words.question())

    def _turn(self, question: str) -> Chat:
        """A question, the tools that the model is to use for it, and the answer."""
        self._history.append({"role": "user", "content": question})
        mark = len(self._history)
        for left in range(self.random.choice((0, 1, 1, 2, 3)), -1, -1):
            calls = self._calls() if left else []
            beside = self.random.choice(("", "Let me look."))
            reply = yield self._step("tools" if calls else "answer", calls, beside)
            if reply.error:
                # The person gives up on it; the question stays where it is.
                del self._history[mark:]
                return
            self._hear(reply)
            for call in reply.calls:
                yield from self._carry_out(call)

    def _again(self) -> Chat:
        """The connection broke before the answer was seen: the same request once more."""
        answer = self._history.pop()
        reply = yield self._step("again")
        self._history.append(answer) if reply.error else self._hear(reply)

    def _undo(self) -> None:
        del self._history[self._questions()[-1] :]

    def _questions(self) -> list[int]:
        return [at for at, message in enumerate(self._history) if message["role"] == "user"]

    def _calls(self) -> list[Wire]:
        """One to three calls at once; a subagent is sent out alone."""
        if not self.parent and self.random.random() < 0.05:
            return [self._call("task", self.words.question())]
        names = self.random.choices(("read", "grep", "bash", "edit"), k=self.random.choice((1, 1, 2, 3)))
        return [self._call(name, f"src/{self.random.choice('abcdef')}.py") for name in names]

    def _call(self, name: str, value: str) -> Wire:
        number = sum(len(message.get("tool_calls", ())) for message in self._history)
        arguments = json.dumps({_TOOLS[name][1]: value})
        identity = f"call_{self.name}_{number}_{self.random.randrange(10**9)}"
        return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}

    def _carry_out(self, call: Wire) -> Chat:
        """What a tool gives back; a subagent has a session of its own, in between."""
        if call["function"]["name"] == "task":
            try:
                task = str(json.loads(call["function"]["arguments"])["prompt"])
            except (ValueError, KeyError, TypeError):
                # A model may call as it likes: the client says that it could not read it.
                text = "invalid arguments"
                self._history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
                return
            child = OpenCode(
                f"{self.name}.{len(self.children)}", self.random, self.words, self.window, task, self.name
            )
            self.children.append(child)
            yield from child.turns(1)
            text = f"Subagent: {self.words.prose(60)}"
        else:
            size = self.random.choices(list(_SIZES), list(_SIZES.values()))[0]
            text = self.words.code(int(size * self.window) if size < 3 else int(size))
        self._history.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    def _hear(self, reply: Reply) -> None:
        if not reply.error:
            calls = {"tool_calls": list(reply.calls)} if reply.calls else {}
            self._history.append({"role": "assistant", "content": reply.text, **calls})
        self.seen = [
            (message["role"], message["content"]) for message in self._history if message["role"] != "system"
        ]

    def _title(self, question: str) -> Step:
        self._sent += 1
        asked = [
            {"role": "user", "content": text}
            for text in ("Generate a title for this conversation:\n", question)
        ]
        return Step(
            None,
            OPENAI,
            self._headers(),
            self._body([{"role": "system", "content": _TITLER}, *asked]),
            "title",
        )

    def _step(self, label: str, calls: list[Wire] | None = None, beside: str = "") -> Step:
        self._sent += 1
        # The date is all the clock there is, and a session may live through midnight.
        system = {"role": "system", "content": _PROMPT.format(date=f"Sun Nov {15 + self._sent // 40}")}
        body = self._body([system, *self._history])
        body |= {"tools": [_tool(name, *rest) for name, rest in _TOOLS.items()], "tool_choice": "auto"}
        return Step(self.name, OPENAI, self._headers(), body, label, calls or (), beside)

    def _headers(self) -> dict[str, str]:
        own = {"user-agent": "opencode/1.18.33 runtime/bun", "x-session-id": self.name}
        return (
            {**own, "x-parent-session-id": self.parent}
            if self.parent
            else {**own, "x-session-affinity": self.name}
        )

    def _body(self, messages: list[Wire]) -> Wire:
        options = {"include_usage": True}
        sampling = {"temperature": 0.8, "seed": self._sent, "max_tokens": ANSWER}
        return {
            "model": MODEL,
            "messages": list(messages),
            "stream": True,
            "stream_options": options,
            **sampling,
        }
