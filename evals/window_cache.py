"""How much of a long chat a real llama.cpp finds in its prefix cache, and what two usual ways would cost.

In the chat every third turn asks about something that was told before, so that evidence is brought back.
Beside it the end of the same chat goes straight to llama.cpp from a client that keeps what was brought back
in the system prompt, and from one that leaves it where it was said; both trim the oldest messages until the
rest fits. Without a model, a server that counts shared prefixes takes the place of llama.cpp; with a thin one
(`window_tiny`) llama.cpp is real and quick, and its answers are noise.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evals.evidence_upstream import MODEL as COUNTING
from evals.window_rows import Row, none_of, progress
from evals.window_serving import MODEL, OPENAI, Door, Reply, llamacpp, serving
from evals.window_talk import CountingUpstream, read_talk
from evals.window_tiny import write_tiny
from evals.window_traffic import MODEL as THIN
from evals.window_traffic import Wire
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary

PART = "cache"
WINDOWS = (4096, 8192)
_TARGET = 85.0
_ANSWER = 24
_SYSTEM = "You are a kind friend with a good memory. Answer in one or two sentences."
# What the template writes around a message, and the room that a careful client leaves for its answer.
_AROUND, _LEFT = 6, 64
_OFF = {"X-Holdfast": "off"}

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn of the chat: what was asked, what was recalled for it, and what was answered."""

    question: str
    recalled: str
    answer: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What a turn cost. `prefix` is as Holdfast tells it, `old` the tokens of evidence for earlier turns."""

    prompt: int
    cached: int
    prefix: str = ""
    old: int = 0

    @property
    def lost(self) -> bool:
        """Whether the request before was no longer the beginning of this one."""
        return self.prefix not in ("", "kept", "first")


def share(turns: Sequence[Measured]) -> float:
    """Percent of the prompt tokens that came from the cache."""
    prompt = sum(turn.prompt for turn in turns)
    return 100 * sum(turn.cached for turn in turns) / prompt if prompt else 0.0


@dataclass
class Chat:
    """The chat as it went through Holdfast."""

    said: list[Exchange]
    measured: list[Measured]
    errors: int = 0
    overflows: int = 0


def through_holdfast(door: Door, text: Iterable[str], model: str, count: Count, case: str) -> Chat:
    chat = Chat([], [])
    history: list[Wire] = [{"role": "system", "content": _SYSTEM}]
    for turn, question in enumerate(text):
        history.append({"role": "user", "content": question})
        reply = door.chat(OPENAI, _body(history, model))
        if reply.error:
            chat.errors += 1
            chat.overflows += "context" in reply.error
            progress(f"  {case}, turn {turn + 1}: {reply.error}")
            history.pop()
            continue
        history.append({"role": "assistant", "content": reply.text})
        *earlier, newest = _evidence(door, reply.conversation)
        chat.said.append(Exchange(question, newest, reply.text))
        chat.measured.append(_measure(reply, count("\n".join(earlier))))
        progress(f"  {case}, turn {turn + 1}: {chat.measured[-1]}")
    return chat


def _evidence(door: Door, conversation: str) -> list[str]:
    """What was brought back and stands behind each question in the window, the newest last."""
    report = door.get(f"/api/chats/{conversation}/window")
    return [
        "\n".join(each["text"] for each in row.get("added", ()) if each["section"] == "recalled")
        for row in report["messages"]
        if row["role"] == "user"
    ]


def _body(messages: Sequence[Wire], model: str = MODEL) -> Wire:
    return {
        "model": model,
        "messages": list(messages),
        "stream": False,
        "max_tokens": _ANSWER,
        "temperature": 0,
    }


def _measure(reply: Reply, old: int = 0) -> Measured:
    return Measured(reply.prompt or 0, reply.cached or 0, reply.prefix, old)


Request = Callable[[Sequence[Exchange], int], list[Wire]]


class TrimmingClient:
    """A client that leaves out the oldest exchanges until the rest fits, on every turn."""

    def __init__(self, weights: Path, window: int) -> None:
        self._tokenizer = Tokenizer(Vocabulary.from_gguf(weights))
        self._window = window

    def memories_in_system(self, exchanges: Sequence[Exchange], turn: int) -> list[Wire]:
        recalled = next((exchanges[at].recalled for at in range(turn, -1, -1) if exchanges[at].recalled), "")
        return self._fit(
            f"{_SYSTEM}\n\nWhat you remember:\n{recalled}", exchanges, turn, lambda item: item.question
        )

    def memories_where_said(self, exchanges: Sequence[Exchange], turn: int) -> list[Wire]:
        return self._fit(
            _SYSTEM, exchanges, turn, lambda item: f"{item.question}\n\n{item.recalled}".rstrip()
        )

    def _fit(
        self, system: str, exchanges: Sequence[Exchange], turn: int, asked: Callable[[Exchange], str]
    ) -> list[Wire]:
        head = {"role": "system", "content": system}
        record: list[Wire] = [{"role": "user", "content": asked(exchanges[turn])}]
        left = self._window - _LEFT - self._tokens(head) - self._tokens(record[0])
        for item in reversed(exchanges[:turn]):
            exchange = [
                {"role": "user", "content": asked(item)},
                {"role": "assistant", "content": item.answer},
            ]
            left -= sum(map(self._tokens, exchange))
            if left < 0:
                break
            record = exchange + record
        return [head, *record]

    def _tokens(self, message: Wire) -> int:
        return self._tokenizer.count(message["content"]) + _AROUND


def straight(
    door: Door, exchanges: Sequence[Exchange], request: Request, last: int, case: str
) -> list[Measured]:
    """The last turns, sent to llama.cpp as this client would; the one before them fills the cache.

    Its answers of these turns take the place of those that Holdfast got: they are in the cache as well.
    """
    measured, own = [], list(exchanges)
    for turn in range(max(0, len(exchanges) - last - 1), len(exchanges)):
        reply = door.chat(OPENAI, _body(request(own, turn)), _OFF)
        if reply.error:
            progress(f"  {case}, turn {turn + 1}: {reply.error}")
            continue
        own[turn] = replace(own[turn], answer=reply.text)
        measured.append(_measure(reply))
        progress(f"  {case}, turn {turn + 1}: {measured[-1]}")
    return measured[1:]


def rows(
    turns: int,
    compared: int,
    weights: Path,
    talk: Path,
    windows: Sequence[int] = WINDOWS,
    server: str = "",
) -> Iterator[Row]:
    """With a `counted` or `thin` server nothing is compared with it."""
    for window in windows:
        case = f"{window:,}, {server}" if server else f"{window:,}"
        progress(f"{PART}: {turns} turns through Holdfast, a window of {case}")
        chat = _converse(read_talk(talk, turns), window, weights, server, case)
        yield from _through_rows(chat, case)
        if server:
            continue
        yield Row(PART, f"from the cache, last {compared} turns", case, share(chat.measured[-compared:]), "%")
        for name, last in _compare(chat.said, compared, weights, window).items():
            yield Row(PART, f"{name}, last {len(last)} turns", case, share(last), "%")


def _converse(text: Iterable[str], window: int, weights: Path, server: str, case: str) -> Chat:
    """The chat before a server that counts, a llama.cpp with a thin model, or one with SmolLM2."""
    count = Tokenizer(Vocabulary.from_gguf(weights)).count
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if server == "counted":
            with (
                CountingUpstream(window, weights, _ANSWER) as upstream,
                serving(folder, upstream.url) as door,
            ):
                return through_holdfast(door, text, COUNTING, count, case)
        if server == "thin":
            tiny = write_tiny(weights, folder / "tiny.gguf", window)
            with (
                llamacpp(tiny, folder / "llamacpp", window) as (url, _),
                serving(folder / "home", url) as door,
            ):
                return through_holdfast(door, text, THIN, count, case)
        with serving(folder, embedded_window=str(window)) as door:
            return through_holdfast(door, text, MODEL, count, case)


def _through_rows(chat: Chat, case: str) -> Iterator[Row]:
    turns = f"of {len(chat.said) + chat.errors} turns"
    prompt = sum(turn.prompt for turn in chat.measured) or 1
    yield none_of(PART, "overflow errors", case, chat.overflows, turns)
    yield none_of(PART, "other errors", case, chat.errors - chat.overflows, turns)
    reached = share(chat.measured)
    promise = f"at least {_TARGET:.0f} %"
    yield Row(PART, "from the cache, all turns", case, reached, "%", promise, reached >= _TARGET)
    causes: dict[str, list[Measured]] = defaultdict(list)
    for turn in chat.measured:
        causes[turn.prefix].append(turn)
    for cause, each in sorted(causes.items()):
        read = 100 * sum(turn.prompt - turn.cached for turn in each) / prompt
        yield Row(PART, f"prefix: {cause}", case, len(each), turns)
        yield Row(PART, f"read anew there, of all prompt tokens: {cause}", case, read, "%")
    old = 100 * sum(turn.old for turn in chat.measured) / prompt
    yield Row(PART, "evidence for earlier questions, of all prompt tokens", case, old, "%")
    yield Row(PART, "prompt, mean", case, round(prompt / max(1, len(chat.measured))), "tokens")


def _compare(
    exchanges: Sequence[Exchange], compared: int, weights: Path, window: int
) -> dict[str, list[Measured]]:
    client = TrimmingClient(weights, window)
    results: dict[str, list[Measured]] = {}
    ways: dict[str, Request] = {
        "memories in the system prompt": client.memories_in_system,
        "plain trimming": client.memories_where_said,
    }
    for name, request in ways.items():
        progress(f"{PART}: {name}, a window of {window:,}")
        with (
            tempfile.TemporaryDirectory() as folder,
            serving(Path(folder), embedded_window=str(window)) as door,
        ):
            results[name] = straight(door, exchanges, request, compared, name)
    return results
