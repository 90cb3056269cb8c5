"""A brief for the start of a session: what is forbidden, failed, open and decided in a project.

It is made of the project's memories and of its last conversations, without a model, within a share of the
window. What the person ordered or forbade comes first and word for word.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from holdfast.compaction.extraction import extract
from holdfast.compaction.extractive import Cues, extract_summary, find_tool_effects, list_failures
from holdfast.compaction.summary import Summary, shorten_line
from holdfast.compaction.transcript import clean_items
from holdfast.i18n import gettext as _
from holdfast.memory.base import Kind, Memory
from holdfast.memory.library import Catalogue
from holdfast.memory.private import redact
from holdfast.memory.scopes import day, place_memory
from holdfast.messages import Scope
from holdfast.store import ConversationRecord, Store
from holdfast.text.analyser import language_of, terms
from holdfast.text.statements import statements_in
from holdfast.tokens.budget import budget_for, largest_fitting
from holdfast.tokens.estimate import UNKNOWN, estimate
from holdfast.window.items import Item

SectionName = Literal["forbidden", "rules", "failed", "open", "decided", "known"]
SECTIONS: tuple[SectionName, ...] = get_args(SectionName)
Count = Callable[[str], int]

# Files of rules that agents read, in the order in which they are looked for.
RULE_FILES = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".github/copilot-instructions.md",
    "CONVENTIONS.md",
)
RULE_FOLDERS = (".cursor/rules", ".clinerules")
# A memory that `holdfast init` took from one of them names it at its end.
_FROM_RULES = re.compile(
    rf" \((?:{'|'.join(map(re.escape, RULE_FILES))}|(?:{'|'.join(map(re.escape, RULE_FOLDERS))})/[^()]+)\)\Z"
)
# The window for which a brief is made if nobody says how large it is.
USUAL_WINDOW = 32_768
# Conversations that are looked at, and messages of each that no summary covers.
_CONVERSATIONS, _MESSAGES = 5, 60
# Conversations whose open points may still be open.
_STILL_OPEN = 2
# Tokens of the summary that is made of a conversation which has none.
_SUMMARY_TOKENS = 600
# Characters of a line that is no rule; rules are never cut.
_LONGEST_LINE = 240
# Lines of a section other than rules.
_MOST_LINES = 12
# Two lines that share so many terms say the same.
_SAME = 0.8


@dataclass(frozen=True, slots=True)
class BriefLine:
    """A line and where it comes from: the id of a memory or of a conversation."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Brief:
    """The lines of each section, most needed first, and the title and day of the last conversation."""

    project: str
    sections: Mapping[SectionName, tuple[BriefLine, ...]]
    last: str = ""

    def __bool__(self) -> bool:
        return any(self.sections.values())

    def render(self) -> str:
        """Return the brief as Markdown; empty if there is nothing to say."""
        if not self:
            return ""
        lines = [_("# What is known in {project}").format(project=self.project)]
        for name in SECTIONS:
            if self.sections[name]:
                lines += ["", f"## {_headings()[name]}", *(f"- {line.text}" for line in self.sections[name])]
        if self.last:
            lines += ["", _("Last conversation: {last}").format(last=self.last)]
        return "\n".join(lines) + "\n"

    def fit(self, tokens: int, count: Count) -> "Brief":
        """Return as much of the brief as fits: lines leave from the end, rules last."""
        places = [(name, place) for name in SECTIONS for place in range(len(self.sections[name]))]
        # Section by section for what binds, then one line of each in turn, so that each has a say.
        binding = [place for place in places if place[0] in ("forbidden", "rules")]
        others = sorted((place for place in places if place not in binding), key=lambda place: place[1])
        order = [*binding, *others]

        def first(number: int) -> Brief:
            wanted = set(order[:number])
            kept = {
                name: tuple(line for place, line in enumerate(lines) if (name, place) in wanted)
                for name, lines in self.sections.items()
            }
            return replace(self, sections=kept)

        return first(largest_fitting(len(order), lambda number: count(first(number).render()) <= tokens))

    def to_json(self, count: Count) -> dict[str, Any]:
        text = self.render()
        sections: dict[str, Any] = {name: [asdict(line) for line in self.sections[name]] for name in SECTIONS}
        return {
            "project": self.project,
            **sections,
            "last": self.last or None,
            "text": text,
            "tokens": count(text) if text else 0,
        }


def _headings() -> dict[SectionName, str]:
    return {
        "forbidden": _("Must not"),
        "rules": _("Rules"),
        "failed": _("Failed before"),
        "open": _("Open"),
        "decided": _("Decided"),
        "known": _("Known"),
    }


def estimate_tokens(text: str) -> int:
    return estimate(text, UNKNOWN).tokens


def build_brief(
    store: Store,
    catalogue: Catalogue,
    scope: Scope,
    *,
    window: int = USUAL_WINDOW,
    count: Count = estimate_tokens,
) -> Brief:
    """Return the brief of a scope within its share of a window: that of the beginning and the summary."""
    budget = budget_for(window)
    lines: dict[SectionName, list[BriefLine]] = {name: [] for name in SECTIONS}
    for memory in _list_memories(catalogue, scope):
        if name := section_of(memory.kind, memory.text, own=memory.scope == scope):
            lines[name].append(BriefLine(" ".join(memory.text.split()), memory.id))
    last = ""
    for number, row in enumerate(store.log.recent(scope, _CONVERSATIONS)):
        if row.off or not row.memory or row.head is None:
            continue
        last = last or f"{redact(row.title)} ({day(row.updated_at)}, {row.id})"
        for name, text in _lines_of_conversation(store, row, count):
            if name != "open" or number < _STILL_OPEN:
                lines[name].append(BriefLine(text, row.id))
    brief = Brief(scope.project, {name: tuple(_distinct(name, lines[name])) for name in SECTIONS}, last)
    return brief.fit(budget.beginning + budget.summary, count)


def _list_memories(catalogue: Catalogue, scope: Scope) -> Iterator[Memory]:
    """Yield what holds, the project's own before the person's, the most useful first."""
    useful = [memory for memory in catalogue.list_useful(scope) if memory.active]
    yield from sorted(useful, key=lambda memory: memory.scope != scope)


def section_of(kind: Kind, text: str, *, own: bool = True) -> SectionName | None:
    """Return where a text stands in a brief; of what is not the project's `own`, only what binds does."""
    stated = {statement.kind for statement in statements_in((text,))}
    if "prohibition" in stated:
        return "forbidden"
    if kind == "preference" or "rule" in stated:
        return "rules"
    if not own:
        return None
    if _FROM_RULES.search(text):
        return "rules"
    if "failure" in stated or Cues.of(text).tells_failure:
        return "failed"
    return "decided" if kind == "decision" else "known"


def _lines_of_conversation(
    store: Store, row: ConversationRecord, count: Count
) -> Iterator[tuple[SectionName, str]]:
    """Yield what a conversation leaves for the next one: its summary, with what came after it."""
    assert row.head is not None
    latest = store.summaries.latest(row.head)
    tail = store.log.tail(row.head, _MESSAGES)
    if latest is not None:
        tail = [stored for stored in tail if stored.depth > latest.depth]
    items = clean_items([Item(stored.id, stored.message, stored.depth, stored.created_at) for stored in tail])
    previous = Summary.from_json(latest.body["summary"]) if latest else None
    summary = previous or Summary()
    if items:
        language = language_of(" ".join(item.message.text for item in items[-4:])) or summary.language
        summary = extract_summary(items, previous, language, count, _SUMMARY_TOKENS)
    failures = {f"{effect.label}: {effect.error}" for effect in list_failures(find_tool_effects(items))}
    for line in summary.must_not:
        name = section_of("decision", line)
        yield (name if name in ("rules", "failed") else "forbidden"), redact(line)
    for line in summary.open:
        is_failure = line in failures or Cues.of(line).tells_failure
        yield ("failed" if is_failure else "open"), redact(line)
    # What was said since the summary has not been taken into memory yet.
    for memory in extract(items):
        owner, kind = place_memory(row.scope, memory.kind, memory.text)
        if name := section_of(kind, memory.text, own=owner == row.scope):
            yield name, redact(memory.text)


def _distinct(name: SectionName, lines: Sequence[BriefLine]) -> Iterator[BriefLine]:
    """Yield the lines, each thing once; of other sections than rules a few, each of a readable length."""
    binding = name in ("forbidden", "rules")
    seen: list[set[str]] = []
    for line in lines:
        words = set(terms(line.text))
        if any(len(words & other) >= _SAME * max(1, min(len(words), len(other))) for other in seen):
            continue
        seen.append(words)
        if binding:
            yield line
        elif len(seen) <= _MOST_LINES:
            yield replace(line, text=shorten_line(line.text, _LONGEST_LINE))
