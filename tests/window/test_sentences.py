"""Every name that a report or a decision can have is said in words, in both languages."""

import ast
from pathlib import Path
from typing import get_args

import pytest

import holdfast.window as package
from holdfast.cli.window import FILLS
from holdfast.compaction.summariser import METHODS
from holdfast.i18n import speak
from holdfast.window import report, sentences
from holdfast.window.decisions import LEVEL_OF


@pytest.fixture(params=["en", "de"])
def language(request):
    speak(request.param)
    yield request.param
    speak("en")


def rules_named_in(module: str) -> set[str]:
    """The plain words in a module that are compared with or appended to rules."""
    tree = ast.parse((Path(package.__file__).parent / module).read_text())
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in _ALWAYS}


_ALWAYS = {"thinking", "banner", "orphan"}


def test_every_rule_has_a_sentence(language):
    assert rules_named_in("view.py") == _ALWAYS
    for name in {*LEVEL_OF, *_ALWAYS}:
        assert sentences.rule(name) not in ("", name)


def test_every_cause_of_a_lost_prefix_has_a_sentence(language):
    tree = ast.parse(Path(report.__file__).read_text())
    cause = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "find_cause"
    )
    returned = {
        part.value
        for node in ast.walk(cause)
        if isinstance(node, ast.Return)
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " not in part.value
    }
    assert {"tools", "system", "history"} <= returned
    for name in {*returned, "first", *(f"level {number}" for number in set(LEVEL_OF.values()))}:
        assert sentences.cause(name) not in ("", name)


def test_levels_marks_sections_and_methods_have_names(language):
    for number in set(LEVEL_OF.values()):
        assert "(" in sentences.level(number)
    for name in ("1", "2", "3 ahead", "3"):
        assert sentences.mark(name) != name
    for name in ("exact", "estimate"):
        assert sentences.method(name) != name
    for name in ("in", "out", "elsewhere"):
        assert sentences.state(name) != name


def test_german_is_not_english():
    text = {}
    for language in ("en", "de"):
        speak(language)
        text[language] = [sentences.rule(name) for name in LEVEL_OF] + [sentences.level(2)]
    speak("en")
    assert not set(text["en"]) & set(text["de"])


def test_a_name_nobody_knows_is_said_as_it_is():
    assert sentences.rule("something new") == "something new"
    assert sentences.level(7) == "level 7"


def test_a_banner_has_its_numbers_as_the_language_spells_them(language):
    assert (
        sentences.banner(4821, 482)
        == {
            "en": "Context summarised: 4,821 → 482 tokens, 90 % saved",
            "de": "Kontext zusammengefasst: 4.821 → 482 Token, 90 % gespart",
        }[language]
    )


@pytest.mark.parametrize(
    ("before", "after", "saved"), [(100, 100, 0), (0, 0, 0), (10, 20, 0), (1_000, 1, 99), (10_000, 1, 99)]
)
def test_never_more_is_claimed_to_be_saved_than_was(before, after, saved):
    assert sentences.percent_saved(before, after) == saved


def test_every_way_to_a_summary_and_every_notice_has_a_sentence(language):
    for name in (*METHODS, "reused"):
        assert sentences.way(name) != name
    for name in ("not_searched", "not_kept", "not_smaller"):
        assert sentences.notice(name) != name


def test_every_section_has_a_name_and_a_place_in_the_bar(language):
    for name in get_args(report.SectionName):
        assert sentences.section(name) != ""
        assert name in FILLS
