"""Whatever the scripts of the pages say has words in both languages."""

import json
import re
from importlib.resources import files

import pytest

from holdfast.i18n import CONTEXT_END, speak
from holdfast.server.pages.words import describe_names, find_messages, words_of
from holdfast.window import sentences

STATIC = files("holdfast.server.pages") / "static"


@pytest.fixture(params=["en", "de"])
def language(request):
    speak(request.param)
    yield request.param
    speak("en")


def test_sentences_of_a_script_are_found_in_every_form():
    script = """
    _("Plain.", { n });
    el("p", {}, _(
      "In \\"quotes\\"",
    ), pgettext("menu", "Memory"));
    ngettext("1 file", "{n} files", { n }); row._("no"); my_("no"); word("no");
    """
    assert list(find_messages(script)) == [
        ("", "Plain."),
        ("", 'In "quotes"'),
        ("menu", "Memory"),
        ("", "1 file"),
        ("", "{n} files"),
    ]


def test_scripts_translate_literal_sentences_only():
    """What is put together at run time would never be found for translation."""
    scripts = {file.name: file.read_text() for file in STATIC.iterdir() if file.name.endswith(".js")}
    core = scripts.pop("core.js")
    assert "export const ngettext" in core
    for name, text in scripts.items():
        assert not re.findall(r"(?<![\w.$])(?:_|ngettext|pgettext)\((?!\s*\").*", text), name


def test_a_page_gets_the_sentences_of_all_its_scripts():
    assert words_of("chat")["messages"] == {}
    speak("de")
    try:
        chat, login = words_of("chat")["messages"], words_of("login")["messages"]
    finally:
        speak("en")
    # Of its own script, of one that is loaded later, with a context, and of what all pages have.
    assert chat["Connection lost"] == "Verbindung verloren"
    assert chat["Repeat penalty"]
    assert chat[f"state of an answer{CONTEXT_END}Thinking"] == "Denkt nach"
    assert chat["Reload"] == login["Reload"] == "Neu laden"
    assert "Connection lost" not in login
    assert json.dumps(chat)


def test_pages_can_say_all_that_a_window_names(language):
    names = describe_names()
    tables = {
        "rule": (sentences._RULES, sentences.rule),
        "cause": (sentences._CAUSES, sentences.cause),
        "notice": (sentences._NOTICES, sentences.notice),
        "section": (sentences._SECTIONS, sentences.section),
        "mark": (sentences._MARKS, sentences.mark),
        "level": (sentences._LEVELS, sentences.level),
        "way": (sentences._WAYS, sentences.way),
    }
    for kind, (table, text) in tables.items():
        for name in table:
            assert names[kind].get(name) == text(name), f"{kind} {name}"
