"""What the measurement of the cache talks about, and a server that counts what a prefix cache would hold.

The talk is two people's, told by one of them: what they said, without their questions to each other, and
in every third turn a question about something that was told before. The server reads with a real
vocabulary and keeps the last request, as llama.cpp with one slot does; it has no model and is quick.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from evals.compaction_scripts import asks_on_the_side
from evals.evidence_upstream import Json, Upstream, text_of
from evals.retrieval_data import read_docs, read_queries
from evals.window_traffic import Words
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary

_SEED = 7
# So many messages of the talk are told in a turn, and in one of so many turns something is asked.
_TOLD, _ASKED_EVERY = 2, 3
# What a template writes around a message is told from every token by its type.
_END = "end"


def read_talk(folder: Path, turns: int) -> Iterator[str]:
    """What is said in each turn, from the first chat of a folder with `docs.jsonl` and `queries.jsonl`."""
    docs = read_docs(folder)
    docs = [doc for doc in docs if doc.corpus == docs[0].corpus and "?" not in doc.text]
    waiting = [query for query in read_queries(folder) if query.corpus == docs[0].corpus and query.gold]
    random, report, at = Random(_SEED), set[str](), 0
    for turn in range(turns):
        ready = [query for query in waiting if report.issuperset(query.gold)]
        if turn % _ASKED_EVERY == _ASKED_EVERY - 1 and ready:
            query = random.choice(ready)
            waiting.remove(query)
            yield query.question
            continue
        text, at = docs[at : at + _TOLD], at + _TOLD
        if not text:
            return
        report |= {doc.id for doc in text}
        yield "\n".join(f"{doc.role}: {doc.text}" for doc in text)


class CountingUpstream(Upstream):
    """Says how much of each request it had read before. Requests on the side do not take its place."""

    def __init__(self, window: int, weights: Path, answer_tokens: int) -> None:
        super().__init__(window)
        self._tokenizer = Tokenizer(Vocabulary.from_gguf(weights))
        self._words = Words(Random(_SEED))
        self._answer_tokens = answer_tokens
        self._read: list[int | str] = []

    def _chat(self, body: Json) -> tuple[int, Json]:
        messages = body.get("messages") or [{}]
        if len(messages) == 1 and asks_on_the_side(text_of(messages[0])):
            return super()._chat(body)
        tokens = [*(token for each in messages for token in self._tokens(each)), "assistant"]
        self.answer = self._words.prose(self._answer_tokens)
        status, page = super()._chat(body)
        if status == 200:
            answer = page["choices"][0]["message"]
            page["timings"] = {"cache_n": count_shared(self._read, tokens)}
            page["usage"]["prompt_tokens"] = len(tokens)
            self._read = [*tokens, *self._tokens(answer)[1:]]
        return status, page

    def _tokens(self, message: Json) -> list[int | str]:
        return [str(message.get("role")), *self._tokenizer.encode(text_of(message)), _END]


def count_shared(before: Sequence[int | str], now: Sequence[int | str]) -> int:
    """How many tokens of a request a server has read at the beginning of the one before."""
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        shared += 1
    return shared
