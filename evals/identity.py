"""How well requests of real clients are put into their conversations: `python -m evals.identity`.

Replays recorded traffic through the product's own path and compares with what it really was. A main request
counts as *right* when it is recognised as one and
- the first of its conversation begins a new conversation, and
- every later one goes into the conversation that the one before it went into.
A *wrong merge* is a request put into a conversation that began with another one's words, a *wrong split* one
that left its own. Branches, regenerated answers and models side by side are the same conversation. A *fork
nobody made* is a request that leaves an answered message behind, although nobody edited or repeated anything.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from evals.recordings import DATA, Line, files, interleave, read
from holdfast.conversations import Placement, SideRequestCache, anchor, locate, read_hints
from holdfast.messages import Scope
from holdfast.store import NewMessage, Store, open_store

_ON_PURPOSE = re.compile(r"regenerat|edit|branch|again|side by side|continue response|repeat", re.IGNORECASE)
_IDS = re.compile(r"chat-id|session|thread|turn-metadata")


@dataclass(slots=True)
class Score:
    client: str
    main: int = 0
    right: int = 0
    side: int = 0
    recognised: int = 0
    merges: int = 0
    splits: int = 0
    forks: int = 0
    # What went wrong, for whoever wants to mend it.
    notes: list[str] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        for name in ("main", "right", "side", "recognised", "merges", "splits", "forks"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.notes += other.notes


class Replay:
    """One store, and the requests sent through it one after the other, as the engine does it."""

    def __init__(self, store: Store, scope: Scope | None = None) -> None:
        self.store = store
        self.scope = scope or Scope()
        self.asides = SideRequestCache()
        self._clock = count(1.0)
        self._jobs: dict[str, str] = {}

    def send(self, line: Line) -> tuple[Placement, str | None]:
        """Place one request and keep it and its answer; gives the conversation it went into."""
        request = line.request
        hints = read_hints(line.headers, request)
        if line.continues:
            # The recorded id is another server's; ours is that of the job that answered before.
            earlier = next((self._jobs[truth] for truth in line.truths if truth in self._jobs), "")
            hints = replace(hints, previous=f"resp_{earlier}")
        placement = locate(self.store, self.scope, request, hints, self.asides)
        if placement.kind == "main":
            return placement, self._keep(line, placement)
        if line.answer is not None:
            self.asides.add(
                self.scope, placement.side, line.answer, sender=hints.sender, conversation=placement.beside
            )
        return placement, None

    def _keep(self, line: Line, placement: Placement) -> str:
        log, now = self.store.log, next(self._clock)
        conversation, head = placement.conversation, placement.head
        if conversation is None:
            conversation = log.create(
                self.scope, client=placement.client, external_id=placement.external_id, now=now
            ).id
        parent = placement.parent
        if placement.new:
            parent = log.append(conversation, placement.new, parent=parent, expect=head, now=now)[-1].id
        elif parent != head:
            log.set_head(conversation, parent, expect=head, now=now)
        job = self.store.jobs.start(
            self.scope, conversation=conversation, model=line.request.model, now=now
        ).id
        self._jobs |= dict.fromkeys(line.truths, job)
        if line.answer is not None:
            answer = NewMessage(line.answer, anchor(line.answer), line.request.model, "stop", job)
            log.append(conversation, [answer], parent=parent, expect=parent, now=now)
        return conversation


class Judge:
    """Compares where requests went with where they belong."""

    def __init__(self) -> None:
        self._home: dict[str, str] = {}
        self._owner: dict[str, frozenset[str]] = {}
        self.scores: dict[str, Score] = {}

    def hear(self, line: Line, placement: Placement, conversation: str | None) -> None:
        score = self.scores.setdefault(line.file, Score(line.file))
        if line.place == "side":
            score.side += 1
            score.recognised += placement.kind == "side"
            if placement.kind != "side":
                score.notes.append(f"{line.file}:{line.number} {line.kind} taken for a main request")
            return
        score.main += 1
        verdict = self._verdict(line, conversation)
        score.right += verdict == "right"
        score.merges += verdict == "wrong merge"
        score.splits += verdict == "wrong split"
        if verdict != "right":
            score.notes.append(f"{line.file}:{line.number} {line.label}: {verdict} ({placement.reason})")
        if placement.forks and not _ON_PURPOSE.search(line.label):
            score.forks += 1
            score.notes.append(f"{line.file}:{line.number} {line.label}: fork ({placement.reason})")

    def _verdict(self, line: Line, conversation: str | None) -> str:
        if conversation is None:
            return "taken for a side request"
        owner = self._owner.setdefault(conversation, line.truths)
        if not owner & line.truths:
            return "wrong merge"
        # Where a line could belong to two conversations, the next line of one of them settles it.
        self._owner[conversation] = owner & line.truths
        homes = {self._home[truth] for truth in line.truths if truth in self._home}
        if len(line.truths) == 1:
            self._home[next(iter(line.truths))] = conversation
        return "right" if not homes or conversation in homes else "wrong split"


def replay(lines: Iterable[Line]) -> dict[str, Score]:
    """Send the lines through an empty store; gives a score for each file they are from."""
    judge = Judge()
    with open_store("sqlite://") as store:
        through = Replay(store)
        for line in lines:
            judge.hear(line, *through.send(line))
    return judge.scores


def without_ids(lines: Iterable[Line]) -> list[Line]:
    """The same requests from clients that are not told to send their ids."""
    return [
        replace(
            line,
            headers={name: value for name, value in line.headers.items() if not _IDS.search(name)},
            request=replace(line.request, extra={}),
        )
        for line in lines
    ]


def measure(folder: Path) -> dict[str, list[Score]]:
    recordings = [read(path) for path in files(folder)]
    each = [score for lines in recordings for score in replay(lines).values()]
    mixed, bare = Score("all at once"), Score("without ids")
    for score in replay(interleave(recordings)).values():
        mixed.add(score)
    for lines in recordings:
        for score in replay(without_ids(lines)).values():
            bare.add(score)
    return {"clients": each, "together": [mixed, bare]}


def table(scores: Sequence[Score]) -> str:
    rows = ["| client | main | right | side | recognised | wrong merges | wrong splits | forks nobody made |"]
    rows.append("|---|---|---|---|---|---|---|---|")
    for score in scores:
        right, seen = _share(score.right, score.main), _share(score.recognised, score.side)
        numbers = f"{score.merges} | {score.splits} | {score.forks}"
        rows.append(f"| {score.client} | {score.main} | {right} | {score.side} | {seen} | {numbers} |")
    return "\n".join(rows)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.identity", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with recorded traffic (*.jsonl)")
    parser.add_argument("--json", action="store_true", help="numbers and notes as JSON")
    parser.add_argument("--notes", action="store_true", help="list every request that went wrong")
    chosen = parser.parse_args(arguments)
    if not files(chosen.data):
        print(f"No recorded traffic in {chosen.data}: nothing to measure.", file=sys.stderr)
        return 0
    results = measure(chosen.data)
    if chosen.json:
        numbers: dict[str, Any] = {
            name: [asdict(score) for score in scores] for name, scores in results.items()
        }
        print(json.dumps(numbers, ensure_ascii=False, indent=2))
        return 0
    print(table(results["clients"]), table(results["together"]), sep="\n\n")
    if chosen.notes:
        print(
            "", *(note for scores in results.values() for score in scores for note in score.notes), sep="\n- "
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
