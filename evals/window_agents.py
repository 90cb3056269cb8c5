"""Real agent transcripts, replayed turn by turn through the fitter, without a model.

Every request that would have gone out is counted by the real tokenizer as the template would write it, and
looked through for tool calls without results and results without calls.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from evals.window_checks import orphans
from evals.window_fitting import Built, product
from evals.window_rows import Row, none_of, progress
from holdfast.messages import Message, Scope, canonical
from holdfast.protocols import openai_chat
from holdfast.store import Compaction, NewMessage, open_store
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary

PART = "agents"
WINDOWS = (8192, 16384)
# By so many characters the newest message is known again.
_BEGINNING = 40
DATA = Path(__file__).parents[2] / "shared" / "data" / "agent"


@dataclass(frozen=True, slots=True)
class Transcript:
    name: str
    messages: tuple[Message, ...]

    @property
    def system(self) -> tuple[Message, ...]:
        return tuple(message for message in self.messages if message.role == "system")

    def turns(self) -> Iterator[list[Message]]:
        """What is new in each request: an answer and what came after it."""
        new: list[Message] = []
        for message in self.messages:
            if message.role == "assistant" and new and new[-1].role != "assistant":
                yield new
                new = []
            if message.role != "system":
                new.append(message)


def transcripts(folder: Path) -> list[Transcript]:
    """The runs of an airline's agent, each alone and all as one long day, and a history of coding chats."""
    runs = json.loads((folder / "tau-airline-30.json").read_text(encoding="utf-8"))
    tolds = [_flatten(run["traj"]) for run in runs]
    alone = [Transcript("airline, each run", messages) for messages in tolds]
    system = [message for message in tolds[0] if message.role == "system"]
    day = [message for message in chain.from_iterable(tolds) if message.role != "system"]
    coding = _aider((folder / "aider-history.md").read_text(encoding="utf-8"))
    return [
        *alone,
        Transcript("airline, one long day", (*system, *day)),
        Transcript("aider, one chat", coding),
    ]


def _flatten(messages: Sequence[dict[str, object]]) -> tuple[Message, ...]:
    return openai_chat.parse_request({"model": "m", "messages": list(messages)}).messages


def _aider(text: str) -> tuple[Message, ...]:
    """Lines with `####` are the person's, quoted ones the program's; all others are the model's."""
    results: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        mine = line.startswith(("####", ">", "# aider chat started"))
        role = "user" if mine else "assistant"
        if not mine and not line.strip() and results and results[-1][0] == "user":
            continue
        if not results or results[-1][0] != role:
            results.append((role, []))
        results[-1][1].append(line.removeprefix("#### ") if mine else line)
    texts = ((role, "\n".join(lines).strip()) for role, lines in results)
    return tuple(
        Message.of("user" if role == "user" else "assistant", content) for role, content in texts if content
    )


def render_prompt(messages: Sequence[Message]) -> str:
    """The prompt as ChatML, which is how SmolLM2 and many others read it."""
    pieces = []
    for message in messages:
        calls = "".join(
            f"\n<tool_call>\n{canonical({'name': call.name, 'arguments': call.arguments})}\n</tool_call>"
            for call in message.tool_calls
        )
        pieces.append(f"<|im_start|>{message.role}\n{message.text}{calls}<|im_end|>\n")
    return "".join([*pieces, "<|im_start|>assistant\n"])


@dataclass
class Tally:
    """What became of the requests of some transcripts in one window."""

    requests: int = 0
    overflows: int = 0
    orphans: int = 0
    without_newest: int = 0
    kept: int = 0
    whole: int = 0
    saved: Counter[int] = field(default_factory=Counter)
    fired: Counter[int] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def hear(self, built: Built, newest: Message, tokens: int, whole: int) -> None:
        """One request of `tokens`, which would have had `whole` with nothing shortened or left out."""
        self.requests += 1
        self.kept += tokens
        self.whole += whole
        if tokens > built.room:
            self.overflows += 1
            self.notes.append(f"{tokens} tokens, {built.room} allowed")
        lone = orphans(built.messages)
        self.orphans += len(lone)
        self.notes += lone
        # Its end may be gone where it is too large, and more may stand behind it; its beginning is there.
        last = built.messages[-1]
        same = last.role == newest.role and last.text.startswith(newest.text[:_BEGINNING])
        self.without_newest += not same

    def read(self, record: Iterable[Compaction]) -> None:
        """What each level did, by the product's own record."""
        for done in record:
            self.fired[done.level] += 1
            self.saved[done.level] += done.tokens_before - done.tokens_after


def replay(transcript: Transcript, window: int, weights: Path, tokenizer: Tokenizer, tally: Tally) -> None:
    """The transcript as a conversation in a store of its own, fitted before each of the model's answers."""
    whole = tokenizer.count(render_prompt(transcript.system), special=True)
    nothing = tokenizer.count(render_prompt(()), special=True)
    with open_store("sqlite://") as store, product(store, weights, window) as fitting:
        conversation = store.log.create(Scope()).id
        head: str | None = None
        for new in transcript.turns():
            messages = [NewMessage(message) for message in new]
            head = store.log.append(conversation, messages, parent=head, expect=head)[-1].id
            whole += tokenizer.count(render_prompt(new), special=True) - nothing
            built = fitting.build(conversation, transcript.system)
            fitting.settle(conversation)
            store.texts.catch_up()
            tally.hear(built, new[-1], tokenizer.count(render_prompt(built.messages), special=True), whole)
        tally.read(store.compactions.of(conversation))


def rows(weights: Path, *, quick: bool = False) -> Iterator[Row]:
    if not (DATA / "tau-airline-30.json").exists():
        progress(f"{PART}: no transcripts in {DATA}: nothing to measure")
        return
    tokenizer = Tokenizer(Vocabulary.from_gguf(weights))
    results = transcripts(DATA)
    for window in WINDOWS:
        tallies: dict[str, Tally] = {}
        for transcript in results[:5] if quick else results:
            replay(transcript, window, weights, tokenizer, tallies.setdefault(transcript.name, Tally()))
        for name, tally in tallies.items():
            progress(f"{PART}: {name}, {window:,}: {tally.requests} requests, {tally.notes[:5]}")
            yield from _rows(f"{name}, {window:,}", tally)


def _rows(case: str, tally: Tally) -> Iterator[Row]:
    requests = f"of {tally.requests} requests"
    yield none_of(PART, "overflows", case, tally.overflows, requests)
    yield none_of(PART, "orphans", case, tally.orphans, requests)
    yield none_of(PART, "without the newest message", case, tally.without_newest, requests)
    yield Row(PART, "tokens kept", case, 100 * tally.kept / max(1, tally.whole), f"% of {tally.whole:,}")
    for level, saved in sorted(tally.saved.items()):
        yield Row(PART, f"tokens saved by level {level}", case, saved, f"in {tally.fired[level]} batches")
