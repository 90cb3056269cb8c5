"""Whatever reads what others wrote takes as long as the text is, and no more: no text can stop the server.

Every pattern is run over texts made against it, every function over texts that people and attackers send.
What grows faster than its text fails; how fast a machine is does not matter (see `pathological`).
"""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from types import ModuleType

import pytest

import holdfast
from holdfast.compaction.flush import parse_memory_lines
from holdfast.compaction.ledger_reading import find_commands, find_error_lines, read_text
from holdfast.compaction.requests import read_memory_requests
from holdfast.compaction.summary import list_sections
from holdfast.conversations.alignment import remove_blocks, strip_whitespace
from holdfast.conversations.side_requests import classify_side_request, find_summaries
from holdfast.files.digests import build_digest
from holdfast.files.references import find_references
from holdfast.i18n import without_banners
from holdfast.memory.index import split_chunks
from holdfast.memory.items import read_memories
from holdfast.memory.private import redact, redact_file
from holdfast.memory.tidy import content_words, supersedes
from holdfast.messages import ChatRequest, Message, Scope
from holdfast.research.finding import estimate_volatility
from holdfast.research.matching import parse_question
from holdfast.server.pages.markdown import render_html
from holdfast.text.analyser import language_of, sentences, telling, terms
from holdfast.text.dates import dates_in
from holdfast.text.patterns import Late
from holdfast.text.questions import asks, read_question, split_question, traits_of
from holdfast.transfer.formats.markdown import split
from holdfast.window.additions import same_but_for_time
from holdfast.window.rules import decisions_in, own_sentences, rules_in, stretches
from holdfast.window.shorten import fences, json_writer, unwrap_fence
from tests.pathological import COMMON, Hostile, hostile_to, slow_text

pytestmark = pytest.mark.slow

_AT_THE_START = frozenset(("match", "fullmatch"))
# Patterns in tables, by where they stand, and how those who go through the table use them.
_IN_TABLES = {
    "holdfast.compaction.english.": "match",
    "holdfast.compaction.german.": "match",
    "holdfast.compaction.statements.": "match",
    "holdfast.files.digests.code.": "match",
    "holdfast.projects._CONTEXT_MESSAGES": "fullmatch",
}
# These see one sentence of a person, or one line of a source: some hundred characters at most. That they see
# no longer ones is tested below, through `rules_in`, `read_memory_requests` and `build_digest`.
_SHORT = (
    "holdfast.compaction.requests.", "holdfast.files.digests.code.", "holdfast.text.lang.",
    "holdfast.text.statements.",
)  # fmt: skip


@cache
def modules() -> tuple[ModuleType, ...]:
    names = [module.name for module in pkgutil.walk_packages(holdfast.__path__, "holdfast.")]
    return tuple(
        importlib.import_module(name)
        for name in names
        if not name.endswith(".__main__") and ".migrations." not in name and name != "holdfast.text.patterns"
    )


def _inside(value: object, place: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns in a value: itself, or what it holds."""
    if isinstance(value, Late):
        yield place, value.compiled
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield place, value
    elif depth > 4:
        return
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _inside(inner, f"{place}[{key!r}]", depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for number, inner in enumerate(value):
            yield from _inside(inner, f"{place}[{number}]", depth + 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _inside(getattr(value, field.name, None), f"{place}.{field.name}", depth + 1)


def _uses() -> dict[tuple[str, int], set[str]]:
    """By which methods a pattern is used, where it is used under its own name."""
    uses: dict[tuple[str, int], set[str]] = {}
    for module in modules():
        tree = ast.parse(inspect.getsource(module))
        methods = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            value = getattr(module, node.id, None) if isinstance(node, ast.Name) else None
            if isinstance(value, Late | re.Pattern) and isinstance(node.ctx, ast.Load):
                uses.setdefault((value.pattern, value.flags), set()).add(methods.get(id(node), "search"))
    return uses


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Every pattern of ours once: where it stands, itself, and the worst that is done with it."""
    uses, rows = _uses(), {}
    for module in modules():
        for name, value in vars(module).items():
            for place, pattern in _inside(value, f"{module.__name__}.{name}"):
                rows.setdefault((pattern.pattern, pattern.flags), (place, pattern))
    return tuple((place, pattern, _use(place, uses.get(key))) for key, (place, pattern) in rows.items())


def _use(place: str, methods: set[str] | None) -> str:
    if place.endswith(".unless"):
        return "fullmatch"
    for table, use in _IN_TABLES.items():
        if place.startswith(table):
            return use
    return (
        "search"
        if methods is None or methods - _AT_THE_START
        else "match"
        if "match" in methods
        else "fullmatch"
    )


def _work(pattern: re.Pattern[str], use: str) -> Callable[[str], object]:
    if use == "search":
        # As `search`, `sub`, `split` and `findall` go through a text.
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return getattr(pattern, use)


# Reading all modules takes seconds, so one worker does it for both.
@pytest.mark.xdist_group("linear")
def test_every_pattern_is_found():
    places = {place for place, _, _ in patterns()}
    assert len(places) > 600
    assert {"holdfast.i18n._BANNER", "holdfast.window.rules._END"} <= places
    assert any(place.startswith("holdfast.compaction.ledger_patterns.TABLE[") for place in places)


@pytest.mark.xdist_group("linear")
def test_no_pattern_takes_longer_than_its_text_is_worth():
    slow = {
        place: report
        for place, pattern, use in patterns()
        if not place.startswith(_SHORT) and (report := slow_text(_work(pattern, use), hostile_to(pattern)))
    }
    assert slow == {}


@pytest.mark.parametrize("text", [r"\s+$", r"(a+)+b", r"<[^>]*>", r"^\s*x", r"\w+@\w+"])
def test_a_slow_pattern_would_be_noticed(text):
    pattern = re.compile(text, re.MULTILINE)
    # A verdict needs looks that agree; on a busy machine they do not always.
    assert any(slow_text(_work(pattern, "search"), hostile_to(pattern)) for _ in range(5))


def _request(text: str) -> ChatRequest:
    return ChatRequest("m", (Message("system", text), Message("user", text)))


READERS: dict[str, Callable[[str], object]] = {
    "asked": lambda text: parse_question(text, date(2026, 2, 24)),
    "asks": asks,
    "read_question": read_question,
    "split_question": lambda text: split_question(read_question(text)),
    "traits_of": traits_of,
    "chunks": split_chunks,
    "commands_in": lambda text: list(find_commands(text)),
    "dates_in": lambda text: dates_in(text, date(2026, 2, 24)),
    "decisions_in": decisions_in,
    "digest_of a page": lambda text: build_digest("a.md", text),
    "digest_of a source": lambda text: build_digest("a.kt", text),
    "error_lines": lambda text: list(find_error_lines(text)),
    "fences": fences,
    "html_of": render_html,
    "language_of": language_of,
    "memories_in": lambda text: read_memories(text, Scope(), by_hand=True),
    "own_sentences": lambda text: list(own_sentences(text)),
    "parse_lines": parse_memory_lines,
    "redacted": redact,
    "redacted_file": redact_file,
    "references_in": find_references,
    "remembered": read_memory_requests,
    "rules_in": rules_in,
    "said": content_words,
    "said_in": read_text,
    "same_but_for_time": lambda text: same_but_for_time(text, text + "1"),
    "sections_in": list_sections,
    "sentences": sentences,
    "side_of": lambda text: classify_side_request(_request(text)),
    "solid": strip_whitespace,
    "split": lambda text: list(split("a.md", text)),
    "standing_in": lambda text: find_summaries(_request(text).messages),
    "stretches": lambda text: list(stretches(text)),
    "supersedes": lambda text: supersedes(text, text + "1"),
    "telling": telling,
    "terms": terms,
    "unwrapped": unwrap_fence,
    "volatility_of": estimate_volatility,
    "without_banners": without_banners,
    "without_blocks": lambda text: remove_blocks(text, ("context", "file")),
    "written_json": lambda text: json_writer(text, str),
}
# What comes in masses, and words that make readers look closer.
TEXTS = [
    *(Hostile("", unit) for unit in COMMON),
    *(
        Hostile("", unit)
        for unit in (
            "⟦Holdfast: ", "never ", "I want you to ", "user: ", "my name is A", "@file ", "<tag>", "```\n",
            "- [ ] ", "password: ", "eyJ-", "[a](", "[a]: ", "![a](b) ", "**a", "a|", "a|b\n", "- a\n",
            "from a to ", "2026-02-24 ", "10:00 ", "http://", "a_", "*a ", "<!-- ", "&amp", "`a", "\\",
            "~~~", "> > ", "~a", "&#",
            "$a", "$$", "$$a\n", "\\(", "\\[", "\\[a\n", "[^a]", "[^a]: b\n", "www.a", "https://a) ",
            "- [ ] a\n", "<think>", "</think>", "<think>\n",
        )
    ),
    Hostile("> ", "a ", "\0"),
    Hostile('"', " ", "\0"),
    Hostile("⟦Holdfast: ", "\n", "x"),
    Hostile("```\n", " ", "\0"),
    Hostile("I never ", "A", "?"),
    Hostile("$$\n", "a\n"),
    Hostile("https://", ")"),
    Hostile("[^a]: b\n\n", "[^a]"),
]  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_no_reader_takes_longer_than_its_text_is_worth(name):
    assert slow_text(READERS[name], TEXTS) is None
