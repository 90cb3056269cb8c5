"""How much of a long chat a real llama.cpp finds in its prefix cache, and what two usual ways would cost.

The chat goes through Holdfast with recalled text on every third turn. Beside it the end of the same chat
goes straight to llama.cpp from a client that keeps its memories in the system prompt, and from one that
leaves the memories where they were said; both trim the oldest messages until the rest fits.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from evals.window_rows import Row, none_of, progress
from evals.window_serving import MODEL, OPENAI, Door, Reply, serving
from evals.window_traffic import Wire, Words
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary

PART = "cache"
WINDOWS = (2048, 8192)
_TARGET = 90.0
_SEED = 7
_ANSWER = 40
_SYSTEM = "You are a harbour master with a good memory. Answer in one or two sentences."
_RECALLED_EVERY = 3
# What the template writes around a message, and the room that a careful client leaves for its answer.
_AROUND, _LEFT = 6, 64
_OFF = {"X-Holdfast": "off"}


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn of the chat: what was asked, what was recalled for it, and what was answered."""

    question: str
    recalled: str
    answer: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What a turn cost. `batch` says that a level shortened the conversation before it; `prefix` as told."""

    prompt: int
    cached: int
    batch: bool = False
    prefix: str = ""

    @property
    def lost(self) -> bool:
        """Whether the request before was no longer the beginning of this one, as Holdfast tells it."""
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


def through_holdfast(door: Door, turns: int, case: str) -> Chat:
    words = Words(Random(_SEED))
    chat = Chat([], [])
    history: list[Wire] = [{"role": "system", "content": _SYSTEM}]
    batches = 0
    for turn in range(turns):
        question = words.question()
        recalled = words.prose(48) if turn % _RECALLED_EVERY == 0 else ""
        history.append({"role": "user", "content": question})
        reply = door.chat(OPENAI, _body(history, _ANSWER, recalled))
        if reply.error:
            chat.errors += 1
            chat.overflows += "context" in reply.error
            progress(f"  {case}, turn {turn + 1}: {reply.error}")
            history.pop()
            continue
        history.append({"role": "assistant", "content": reply.text})
        chat.said.append(Exchange(question, recalled, reply.text))
        now = door.batches(reply.conversation)
        chat.measured.append(_measured(reply, batch=now > batches))
        if now > batches or turn % 10 == 9 or chat.measured[-1].lost:
            latest = chat.measured[-1]
            progress(f"  {case}, turn {turn + 1}: {latest}, level {reply.level or '–'}")
        batches = now
    return chat


def _body(messages: Sequence[Wire], answer: int, recalled: str = "") -> Wire:
    body: Wire = {
        "model": MODEL,
        "messages": list(messages),
        "stream": False,
        "max_tokens": answer,
        "temperature": 0,
    }
    return {**body, "metadata": {"context": recalled}} if recalled else body


def _measured(reply: Reply, *, batch: bool = False) -> Measured:
    return Measured(reply.prompt or 0, reply.cached or 0, batch, reply.prefix)


Request = Callable[[Sequence[Exchange], int], list[Wire]]


class Trimming:
    """A client that leaves out the oldest exchanges until the rest fits, on every turn."""

    def __init__(self, weights: Path, window: int) -> None:
        self._tokenizer = Tokenizer(Vocabulary.from_gguf(weights))
        self._window = window

    def memories_in_system(self, said: Sequence[Exchange], turn: int) -> list[Wire]:
        recalled = next((said[at].recalled for at in range(turn, -1, -1) if said[at].recalled), "")
        return self._fitted(
            f"{_SYSTEM}\n\nWhat you remember:\n{recalled}", said, turn, lambda one: one.question
        )

    def memories_where_said(self, said: Sequence[Exchange], turn: int) -> list[Wire]:
        return self._fitted(_SYSTEM, said, turn, lambda one: f"{one.question}\n\n{one.recalled}".rstrip())

    def _fitted(
        self, system: str, said: Sequence[Exchange], turn: int, asked: Callable[[Exchange], str]
    ) -> list[Wire]:
        head = {"role": "system", "content": system}
        kept: list[Wire] = [{"role": "user", "content": asked(said[turn])}]
        left = self._window - _LEFT - self._tokens(head) - self._tokens(kept[0])
        for one in reversed(said[:turn]):
            exchange = [{"role": "user", "content": asked(one)}, {"role": "assistant", "content": one.answer}]
            left -= sum(map(self._tokens, exchange))
            if left < 0:
                break
            kept = exchange + kept
        return [head, *kept]

    def _tokens(self, message: Wire) -> int:
        return self._tokenizer.count(message["content"]) + _AROUND


def straight(door: Door, said: Sequence[Exchange], request: Request, last: int, case: str) -> list[Measured]:
    """The last turns, sent to llama.cpp as this client would; the one before them fills the cache.

    Its answers of these turns take the place of those that Holdfast got: they are in the cache as well.
    """
    measured, own = [], list(said)
    for turn in range(max(0, len(said) - last - 1), len(said)):
        reply = door.chat(OPENAI, _body(request(own, turn), _ANSWER), _OFF)
        if reply.error:
            progress(f"  {case}, turn {turn + 1}: {reply.error}")
            continue
        own[turn] = replace(own[turn], answer=reply.text)
        measured.append(_measured(reply))
        progress(f"  {case}, turn {turn + 1}: {measured[-1]}")
    return measured[1:]


def rows(turns: int, compared: int, weights: Path) -> Iterator[Row]:
    for window in WINDOWS:
        case = f"{window:,}"
        progress(f"{PART}: {turns} turns through Holdfast, a window of {case}")
        with tempfile.TemporaryDirectory() as folder:
            with serving(Path(folder), embedded_window=str(window)) as door:
                chat = through_holdfast(door, turns, case)
            yield from _through_rows(chat, case, compared)
        for name, last in _compared(chat.said, compared, weights, window).items():
            yield Row(PART, f"{name}, last {len(last)} turns", case, share(last), "%")


def _through_rows(chat: Chat, case: str, compared: int) -> Iterator[Row]:
    calm = [turn for turn in chat.measured if not turn.batch]
    batches = len(chat.measured) - len(calm)
    reached = share(calm)
    turns = f"of {len(chat.said) + chat.errors} turns"
    yield none_of(PART, "overflow errors", case, chat.overflows, turns)
    yield none_of(PART, "other errors", case, chat.errors - chat.overflows, turns)
    yield Row(
        PART,
        "from the cache between level changes",
        case,
        reached,
        "%",
        f"at least {_TARGET:.0f} %",
        reached >= _TARGET,
    )
    yield Row(PART, "from the cache, all turns", case, share(chat.measured), "%")
    yield Row(PART, f"from the cache, last {compared} turns", case, share(chat.measured[-compared:]), "%")
    yield Row(PART, "turns with a level change", case, batches, turns)
    lost = sum(turn.lost for turn in calm)
    yield Row(PART, "prefix lost without a level change", case, lost, turns)
    yield Row(PART, "prompt at the end", case, chat.measured[-1].prompt if chat.measured else 0, "tokens")


def _compared(
    said: Sequence[Exchange], compared: int, weights: Path, window: int
) -> dict[str, list[Measured]]:
    client = Trimming(weights, window)
    found: dict[str, list[Measured]] = {}
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
            found[name] = straight(door, said, request, compared, name)
    return found
