"""Whatever the scripts of the pages say has words in both languages."""

import re
from importlib.resources import files

import pytest

from holdfast.i18n import speak
from holdfast.server.pages.site import static_version
from holdfast.server.pages.words import describe_names, find_messages, names_of, translate_script
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


def test_a_script_is_served_in_the_language_of_its_url():
    script = """_("Reload", { n }); pgettext("state of an answer", "Thinking");
    ngettext("1 token", "{n} tokens", { n }); const text = "Reload"; row._("Reload"); _("Never said.");"""
    assert translate_script(script, "en") == script
    assert (
        translate_script(script, "de")
        == """_("Neu laden", { n }); pgettext("state of an answer", "Denkt nach");
    ngettext("1 Token", "{n} Token", { n }); const text = "Reload"; row._("Reload"); _("Never said.");"""
    )
    assert static_version("en") != static_version("de")


def test_pages_can_say_all_that_a_window_names(language):
    assert names_of("chat").keys() < names_of("context").keys()
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
            assert describe_names(kind).get(name) == text(name), f"{kind} {name}"
