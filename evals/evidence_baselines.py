"""What simple programs would send for a question: the newest messages that fit, and BM25 beside them."""

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from evals.evidence_checks import Score, judge
from evals.evidence_data import Chat, Corpus, Question
from evals.evidence_upstream import Json, count_tokens, request_tokens
from evals.retrieval_data import Doc
from holdfast.text.analyser import terms
from holdfast.tokens.budget import budget_for

NEWEST, RANKED = "newest that fit", "BM25, 40 % of the window"
_SHARE = 0.4
# With less room than this nothing that says anything fits.
_LEAST = 20
_HEADING = "[From earlier in this conversation]"
# As a search engine has it by default for short texts.
_K1, _B = 0.9, 0.4


class Bm25:
    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(terms(text)) for text in texts]
        self._lengths = [counts.total() for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(texts))
        self._having = Counter(term for counts in self._counts for term in counts)

    def rank(self, question: str) -> list[int]:
        """Places of the texts that have a word of the question, the best first."""
        texts = len(self._counts)
        worth = {
            term: math.log(1 + (texts - self._having[term] + 0.5) / (self._having[term] + 0.5))
            for term in set(terms(question))
        }
        scores = [self._score(at, worth) for at in range(texts)]
        return sorted((at for at in range(texts) if scores[at] > 0), key=lambda at: (-scores[at], at))

    def _score(self, at: int, worth: dict[str, float]) -> float:
        counts = self._counts[at]
        norm = _K1 * (1 - _B + _B * self._lengths[at] / self._mean)
        return sum(
            value * counts[term] * (_K1 + 1) / (counts[term] + norm)
            for term, value in worth.items()
            if term in counts
        )


class Baselines:
    """Both for one corpus and window."""

    def __init__(self, corpus: Corpus, window: int) -> None:
        self._corpus = corpus
        self._window = window
        self._docs = {doc.id: doc for doc in corpus.docs}
        self._bm25 = Bm25([doc.text for doc in corpus.docs])

    def judge(self, question: Question) -> Iterator[tuple[str, Score]]:
        for name in (NEWEST, RANKED):
            began = time.perf_counter()
            messages = self._request(question, ranked=name == RANKED)
            took = 1000 * (time.perf_counter() - began)
            tokens = request_tokens(messages)
            yield name, judge(self._corpus.name, question, self._docs, messages, tokens, took)

    def _request(self, question: Question, *, ranked: bool) -> list[Json]:
        chat = self._corpus.chats[-1]
        head = [{"role": "system", "content": chat.system}]
        room = budget_for(self._window).room - request_tokens([*head, {"content": question.text}])
        quotes = list(self._quotes(question, min(room, int(_SHARE * self._window)))) if ranked else []
        added = "\n".join(("", "", _HEADING, *quotes)) if quotes else ""
        recent = [] if question.new_chat else _newest(chat, room - count_tokens(added))
        return [*head, *recent, {"role": "user", "content": question.text + added}]

    def _quotes(self, question: Question, room: int) -> Iterator[str]:
        """The best ones first, and worse ones where better ones do not fit."""
        for at in self._bm25.rank(question.text):
            if room < _LEAST:
                break
            line = _line(self._corpus.docs[at])
            # With the end of the line.
            tokens = count_tokens(line) + 1
            if tokens <= room:
                room -= tokens
                yield line


def _line(doc: Doc) -> str:
    return f"- {', '.join(filter(None, (doc.date, doc.role)))}: {' '.join(doc.text.split())}"


def _newest(chat: Chat, room: int) -> list[Json]:
    """Whole messages from the end, the first of them one of the user's."""
    recent: list[Json] = []
    for role, text in reversed(chat.messages):
        message = {"role": role, "content": text}
        room -= request_tokens([message]) - request_tokens([])
        if room < 0:
            break
        recent.insert(0, message)
    return recent[1:] if recent and recent[0]["role"] == "assistant" else recent
