"""Chats through a real `holdfast serve` process, turn by turn, and then the questions, one by one.

A question about a chat is asked at its end, each time from the same end: the client sends the whole chat with
the question behind it. Others begin a chat of their own.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.evidence_checks import Score, judge
from evals.evidence_data import Chat, Corpus, Question
from evals.evidence_upstream import MODEL, Json, Upstream
from evals.retrieval_data import Doc
from evals.window_rows import progress
from evals.window_serving import OPENAI, Door, serving

_ANSWER = "I will look into that."
# Turns after which whoever waits hears of it.
_OFTEN = 50
# Idle work begins after five seconds: when nothing was asked or done for longer, it is done. Vectors are made
# after twenty seconds; those that do not come for much longer do not come at all.
_QUIET, _STUCK, _LOOK = 8.0, 45.0, 1.0
# In a folder that is kept, once all was told.
_MARK = "evidence.json"


@dataclass(frozen=True, slots=True)
class Setting:
    """`settle` is how many seconds idle work may take at most; chats that were told are kept in `keep`."""

    window: int
    settle: float
    keep: Path | None = None


@dataclass
class Counts:
    """What went wrong, and what was refused as too long by the server."""

    turns: int = 0
    errors: int = 0
    overflows: int = 0


def ask_holdfast(
    corpus: Corpus, questions: Sequence[Question], setting: Setting, counts: Counts
) -> Iterator[Score]:
    docs = {doc.id: doc for doc in corpus.docs}
    keep = setting.keep / f"{corpus.set}-{setting.window}-{corpus.name}" if setting.keep else None
    with (
        # What was learned about counting belongs to its address.
        Upstream(setting.window, _read_mark(keep).get("port", 0)) as upstream,
        tempfile.TemporaryDirectory(prefix="holdfast-evidence-", ignore_cleanup_errors=True) as place,
    ):
        home, missing = Path(place) / "home", 0
        if keep is not None:
            missing = _keep(keep, corpus, setting, upstream, counts)
            # Questions leave no trace in what is kept.
            shutil.copytree(keep, home)
        with serving(home, upstream.url) as door:
            client = _Client(door, upstream, counts)
            if keep is None:
                _tell(client, corpus)
            _settle(door, upstream, setting.settle, missing)
            for question in questions:
                yield client.ask(corpus, question, docs)
        counts.overflows += upstream.refusals


class _Client:
    def __init__(self, door: Door, upstream: Upstream, counts: Counts) -> None:
        self._door = door
        self._upstream = upstream
        self._counts = counts

    def send(self, messages: Sequence[Json], answer: str) -> tuple[str, float]:
        """What went wrong, and how many milliseconds were not the server's."""
        self._upstream.answer = answer
        spent, began = self._upstream.seconds, time.perf_counter()
        reply = self._door.chat(OPENAI, {"model": MODEL, "messages": messages, "stream": False})
        took = time.perf_counter() - began - (self._upstream.seconds - spent)
        error = reply.error or ("" if reply.text == answer else f"another answer: {reply.text[:80]}")
        self._counts.turns += 1
        self._counts.errors += bool(error)
        if error:
            progress(f"  {error}")
        return error, 1000 * took

    def ask(self, corpus: Corpus, question: Question, docs: Mapping[str, Doc]) -> Score:
        chat, before = corpus.chats[-1], len(self._upstream.requests)
        history = () if question.new_chat else chat.messages
        messages = [_system(chat), *_wire(history), {"role": "user", "content": question.text}]
        error, took = self.send(messages, _ANSWER)
        if len(self._upstream.requests) == before:
            return judge(corpus.name, question, docs, (), 0, took, error or "it never reached the model")
        # A request that was refused was made smaller and sent again: the last one counts.
        request = self._upstream.requests[-1]
        return judge(corpus.name, question, docs, request.messages, request.tokens, took, error)


def _keep(path: Path, corpus: Corpus, setting: Setting, upstream: Upstream, counts: Counts) -> int:
    """A data folder in which these chats were told, if it is not there yet. How many vectors it lacks."""
    known = _read_mark(path)
    if known.get("digest") != corpus.digest:
        shutil.rmtree(path, ignore_errors=True)
        with serving(path, upstream.url) as door:
            _tell(_Client(door, upstream, counts), corpus)
            missing = _settle(door, upstream, setting.settle)
        known = {"digest": corpus.digest, "missing": missing, "port": upstream.port}
        (path / _MARK).write_text(json.dumps(known))
    return int(known["missing"])


def _read_mark(kept: Path | None) -> dict[str, Any]:
    """What is known of a data folder that was kept; nothing for one that is not there."""
    mark = kept / _MARK if kept is not None else None
    return dict(json.loads(mark.read_text())) if mark is not None and mark.is_file() else {}


def _tell(client: _Client, corpus: Corpus) -> None:
    turns, total = 0, sum(len(chat.messages) for chat in corpus.chats) // 2
    began = time.perf_counter()
    for chat in corpus.chats:
        sent = [_system(chat)]
        for question, answer in zip(*[iter(_wire(chat.messages))] * 2, strict=True):
            sent.append(question)
            client.send(sent, answer["content"])
            sent.append(answer)
            turns += 1
            if turns % _OFTEN == 0 or turns == total:
                took = time.perf_counter() - began
                progress(f"  {corpus.set} {corpus.name}: {turns:,} of {total:,} turns, {took:.0f} s")


def _settle(door: Door, upstream: Upstream, limit: float, missing: int = 0) -> int:
    """Until summaries are written and vectors made, or nothing happens any more, or the time is up.

    How many texts have no vector then; `missing` are those that had none before.
    """
    now = began = changed = time.monotonic()
    before, waiting = (-1, -1), 0
    while now < began + limit:
        waiting = (door.get("/api/memory/stats").get("vectors") or {}).get("waiting") or 0
        if before != (waiting, upstream.side_requests):
            before, changed = (waiting, upstream.side_requests), now
        if now > changed + (_STUCK if waiting > missing else _QUIET):
            break
        time.sleep(_LOOK)
        now = time.monotonic()
    if waiting > missing:
        progress(f"  after {now - began:.0f} s vectors of {waiting:,} texts are still missing")
    return waiting


def _system(chat: Chat) -> Json:
    return {"role": "system", "content": chat.system}


def _wire(messages: Sequence[tuple[str, str]]) -> list[Json]:
    return [{"role": role, "content": text} for role, text in messages]
