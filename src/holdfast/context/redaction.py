"""A memory that was forgotten or corrected leaves every window that quotes it, or is told there as it is now.

Its old words stay nowhere: the decisions that brought them in are rewritten, and so are the reports that show
them. Knows the store; what a memory is and where it stands in files is known in `memory`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdfast.memory.base import MemoryNews
from holdfast.memory.scopes import can_recall_from, visible
from holdfast.messages import JsonObject, Scope
from holdfast.research.finding import Finding
from holdfast.store import Decision, Store
from holdfast.window.decisions import Add, Proposal

# How a line begins: with a date, unless somebody wrote it by hand.
_BEGINS = re.compile(r"- \d{4}-\d\d-\d\d: ")
# A correction may be so many characters longer than what it corrects; search finds the rest.
_MORE = 200


class WindowRedactor:
    """To be told what became of memories."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, news: Sequence[MemoryNews]) -> None:
        if self._store.decisions.quoting({change.memory for change in news}):
            self._store.atomically(self._rewrite, news)

    def _rewrite(self, news: Sequence[MemoryNews]) -> None:
        scopes: dict[str, Scope] = {}
        for decision in self._store.decisions.quoting({change.memory for change in news}):
            if decision.conversation not in scopes:
                scopes[decision.conversation] = self._store.log.get(decision.conversation).scope
            ours = {
                change.memory: change.text
                for change in news
                if can_recall_from(scopes[decision.conversation], change.folder)
            }
            data = reword_memories(decision.data, ours)
            if data != decision.data:
                self._decide(decision, data)

    def _decide(self, decision: Decision, data: JsonObject) -> None:
        old, new = decision.data["text"], data["text"]
        tokens = decision.tokens_after * len(new) // max(1, len(old))
        self._store.decisions.rewrite(decision.id, data=data, tokens_after=tokens)
        # Nothing hangs on this one: it tells when and why the window changed.
        self._store.decisions.record(
            decision.lane,
            decision.conversation,
            kind="replace",
            rule="forgotten",
            messages=decision.messages,
            tokens_before=decision.tokens_after,
            tokens_after=tokens,
            reason="a memory was forgotten or corrected",
            data={"instead": {}},
        )
        lane = self._store.lanes.get(decision.lane)
        if lane is not None:
            self._store.lanes.replace_report(lane.id, reword_report(lane.report, {old: new}))


class FindingGone:
    """To be told of findings that were forgotten: neither their sources nor their notes stay in a window."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, finding: Finding) -> None:
        self._store.atomically(self._rewrite, {finding.id, *finding.merged})

    def _rewrite(self, names: set[str]) -> None:
        for decision in self._store.decisions.quoting(names):
            gone = {decision.data["text"]: "", decision.data.get("short", ""): ""}
            self._store.decisions.rewrite(
                decision.id, data={**decision.data, "text": "", "short": ""}, tokens_after=0
            )
            for other in self._store.decisions.of(decision.lane):
                instead = other.data.get("instead", {})
                if instead.get(decision.id):
                    gone[instead[decision.id]] = ""
                    data = {**other.data, "instead": {**instead, decision.id: ""}}
                    self._store.decisions.rewrite(other.id, data=data, tokens_after=other.tokens_after)
            lane = self._store.lanes.get(decision.lane)
            if lane is not None:
                self._store.lanes.replace_report(lane.id, reword_report(lane.report, gone))


def without_buried(store: Store, conversation: str, proposal: Proposal) -> Proposal:
    """A decision that is about to be kept, without what was forgotten since it was proposed."""
    if not isinstance(proposal, Add) or not proposal.memories:
        return proposal
    names = proposal.memories
    scope = store.log.get(conversation).scope
    gone = {
        name
        for visible_scope in visible(scope)
        for name in store.recollections.find_forgotten(visible_scope, names)
    }
    if not gone:
        return proposal
    data = reword_memories(proposal.data, dict.fromkeys(gone, ""))
    return replace(proposal, text=data["text"], memories=tuple(data["memories"]))


def current_texts(store: Store, decisions: Sequence[Decision]) -> dict[str, str]:
    """The texts of decisions that quote something else by now than when they were read, and what it is."""
    known = {decision.id: decision.data["text"] for decision in decisions if "memories" in decision.data}
    now = {decision.id: decision.data["text"] for decision in store.decisions.get_many([*known])}
    return {text: now[name] for name, text in known.items() if now.get(name, text) != text}


def reword_memories(data: JsonObject, now: Mapping[str, str]) -> JsonObject:
    """What a decision that quotes memories holds, with the words these have now; without those with none."""
    heading, *lines = data["text"].split("\n")
    lines_by_memory = {
        name: _correct_line(line, now[name]) if name in now else line
        for name, line in zip(data["memories"], lines, strict=False)
    }
    left = {name: line for name, line in lines_by_memory.items() if line}
    text = "\n".join((heading, *left.values())) if left else ""
    return {**data, "text": text, "memories": [*left]}


def reword_report(report: JsonObject, texts: Mapping[str, str]) -> dict[str, Any]:
    """A report that shows other texts in the place of some; none where nothing is left of one."""
    shown = [
        {**row, "added": _added_rows(row["added"], texts)} if "added" in row else row
        for row in report.get("messages", ())
    ]
    return {**report, "messages": shown} if shown else {**report}


def _added_rows(rows: Collection[JsonObject], texts: Mapping[str, str]) -> list[JsonObject]:
    new = [{**row, "text": texts.get(row["text"], row["text"])} for row in rows]
    return [row for row in new if row["text"]]


def _correct_line(line: str, text: str) -> str:
    """The line with the words as they are now; none where they need much more room than there was."""
    begins = _BEGINS.match(line)
    new = f"{begins[0] if begins else '- '}{' '.join(text.split())}" if text else ""
    return new if len(new) <= len(line) + _MORE else ""
