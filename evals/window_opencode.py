"""A session in opencode: tool loops with parallel calls, results of every size, titles, a subagent, an undo.

Its own prompt and tools are scaled down: the real ones are larger than a 4k window by themselves.
"""

import json
from dataclasses import dataclass, field
from random import Random

from evals.window_serving import OPENAI, Reply
from evals.window_traffic import ANSWER, MODEL, Chat, Step, Wire, Words

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
