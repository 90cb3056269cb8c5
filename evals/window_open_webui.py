"""A chat in Open WebUI: pages around the newest question, answers wanted again, edits, tasks on the side.

Thinking comes back dropped or re-spaced, white space changes, a clock ticks in the system message. Some chats
send their id, some do not; some speak Ollama's protocol, some OpenAI's.
"""

from dataclasses import dataclass, field
from random import Random

from evals.window_serving import OLLAMA, Reply
from evals.window_traffic import ANSWER, MODEL, Chat, Step, Wire, Words

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
