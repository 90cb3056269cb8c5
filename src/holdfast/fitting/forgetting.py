"""A memory that was forgotten or corrected leaves every window that quotes it, or is told there as it is now.

Its old words stay nowhere: the decisions that brought them in are rewritten, and so are the reports that show
them. Knows the store; what a memory is and where it stands in files is known in `memory`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.memory.base import News
from holdfast.memory.scopes import hears_of, visible
from holdfast.messages import JsonObject, Scope
from holdfast.research.finding import Finding
from holdfast.store import Decision, Store
from holdfast.window.decisions import Add, Proposal

# How a line begins: with a date, unless somebody wrote it by hand.
_BEGINS = re.compile(r"- \d{4}-\d\d-\d\d: ")
# A correction may be so many characters longer than what it corrects; search finds the rest.
_MORE = 200


class Forgetting:
    """To be told what became of memories."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, news: Sequence[News]) -> None:
        if self._store.decisions.quoting({one.memory for one in news}):
            self._store.atomically(self._rewrite, news)

    def _rewrite(self, news: Sequence[News]) -> None:
        scopes: dict[str, Scope] = {}
        for made in self._store.decisions.quoting({one.memory for one in news}):
            if made.conversation not in scopes:
                scopes[made.conversation] = self._store.log.get(made.conversation).scope
            ours = {one.memory: one.text for one in news if hears_of(scopes[made.conversation], one.folder)}
            data = retold(made.data, ours)
            if data != made.data:
                self._decide(made, data)

    def _decide(self, made: Decision, data: JsonObject) -> None:
        old, new = made.data["text"], data["text"]
        tokens = made.tokens_after * len(new) // max(1, len(old))
        self._store.decisions.rewrite(made.id, data=data, tokens_after=tokens)
        # Nothing hangs on this one: it tells when and why the window changed.
        self._store.decisions.record(
            made.lane,
            made.conversation,
            kind="replace",
            rule="forgotten",
            messages=made.messages,
            tokens_before=made.tokens_after,
            tokens_after=tokens,
            reason="a memory was forgotten or corrected",
            data={"instead": {}},
        )
        lane = self._store.lanes.get(made.lane)
        if lane is not None:
            self._store.lanes.retell(lane.id, reworded(lane.report, {old: new}))


class FindingGone:
    """To be told of findings that were forgotten: neither their sources nor their notes stay in a window."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, finding: Finding) -> None:
        self._store.atomically(self._rewrite, {finding.id, *finding.merged})

    def _rewrite(self, names: set[str]) -> None:
        for made in self._store.decisions.quoting(names):
            gone = {made.data["text"]: "", made.data.get("short", ""): ""}
            self._store.decisions.rewrite(
                made.id, data={**made.data, "text": "", "short": ""}, tokens_after=0
            )
            for other in self._store.decisions.of(made.lane):
                instead = other.data.get("instead", {})
                if instead.get(made.id):
                    gone[instead[made.id]] = ""
                    data = {**other.data, "instead": {**instead, made.id: ""}}
                    self._store.decisions.rewrite(other.id, data=data, tokens_after=other.tokens_after)
            lane = self._store.lanes.get(made.lane)
            if lane is not None:
                self._store.lanes.retell(lane.id, reworded(lane.report, gone))


def standing(store: Store, conversation: str, proposal: Proposal) -> Proposal:
    """A decision that is about to be kept, without what was forgotten since it was proposed."""
    if not isinstance(proposal, Add) or not proposal.memories:
        return proposal
    names = proposal.memories
    scope = store.log.get(conversation).scope
    gone = {name for one in visible(scope) for name in store.recollections.buried(one, names)}
    if not gone:
        return proposal
    data = retold(proposal.data, dict.fromkeys(gone, ""))
    return replace(proposal, text=data["text"], memories=tuple(data["memories"]))


def rewritten(store: Store, decisions: Sequence[Decision]) -> dict[str, str]:
    """The texts of decisions that quote something else by now than when they were read, and what it is."""
    known = {one.id: one.data["text"] for one in decisions if "memories" in one.data}
    now = {one.id: one.data["text"] for one in store.decisions.named([*known])}
    return {text: now[name] for name, text in known.items() if now.get(name, text) != text}


def retold(data: JsonObject, now: Mapping[str, str]) -> JsonObject:
    """What a decision that quotes memories holds, with the words these have now; without those with none."""
    heading, *lines = data["text"].split("\n")
    told = {
        name: _corrected(line, now[name]) if name in now else line
        for name, line in zip(data["memories"], lines, strict=False)
    }
    left = {name: line for name, line in told.items() if line}
    text = "\n".join((heading, *left.values())) if left else ""
    return {**data, "text": text, "memories": [*left]}


def reworded(report: JsonObject, texts: Mapping[str, str]) -> dict[str, Any]:
    """A report that shows other texts in the place of some; none where nothing is left of one."""
    shown = [
        {**row, "added": _added(row["added"], texts)} if "added" in row else row
        for row in report.get("messages", ())
    ]
    return {**report, "messages": shown} if shown else {**report}


def _added(rows: Collection[JsonObject], texts: Mapping[str, str]) -> list[JsonObject]:
    new = [{**row, "text": texts.get(row["text"], row["text"])} for row in rows]
    return [row for row in new if row["text"]]


def _corrected(line: str, text: str) -> str:
    """The line with the words as they are now; none where they need much more room than there was."""
    begins = _BEGINS.match(line)
    new = f"{begins[0] if begins else '- '}{' '.join(text.split())}" if text else ""
    return new if len(new) <= len(line) + _MORE else ""
