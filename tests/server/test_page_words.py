"""Whatever the scripts of the context, statistics and research pages say has words in both languages."""

import re
from importlib.resources import files

import pytest

from holdfast.i18n import speak
from holdfast.server.pages.words import words_of
from holdfast.window import sentences

STATIC = files("holdfast.server.pages") / "static"
# With what a page's scripts import.
SCRIPTS = {
    "context": ("context", "meter.js", "plots.js", "core.js"),
    "statistics": ("statistics", "plots.js", "core.js"),
    "research": ("research", "core.js"),
}


@pytest.fixture(params=["en", "de"])
def language(request):
    speak(request.param)
    yield request.param
    speak("en")


@pytest.mark.parametrize("page", SCRIPTS)
def test_every_word_that_a_script_asks_for_is_there(page, language):
    words, asked = words_of(page), set[str]()
    for file in STATIC.iterdir():
        if file.name.endswith(".js") and file.name.startswith(SCRIPTS[page]):
            asked |= set(re.findall(r'\bword\(\s*"(\w+)"', file.read_text()))
            # Names that are put together: there is at least one word that begins so.
            for start in re.findall(r"\bword\(\s*`(\w+_)\$\{", file.read_text()):
                assert any(name.startswith(start) for name in words), start
    assert asked
    assert asked <= words.keys(), asked - words.keys()


def test_the_context_page_can_say_all_that_a_window_names(language):
    words = words_of("context")
    tables = {
        "rule": (sentences._RULES, sentences.rule),
        "cause": (sentences._CAUSES, sentences.cause),
        "notice": (sentences._NOTICES, sentences.notice),
        "section": (sentences._SECTIONS, sentences.section),
        "mark": (sentences._MARKS, sentences.mark),
        "level": (sentences._LEVELS, sentences.level),
        "way": (sentences._WAYS, sentences.way),
    }
    for prefix, (table, text) in tables.items():
        for name in table:
            assert words.get(f"{prefix}_{name}") == text(name), f"{prefix}_{name}"
