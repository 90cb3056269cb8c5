"""The prompts: both languages, fenced data, and files of one's own in their place."""

import pytest

from holdfast.compaction.summariser import NAMES, PromptTemplates
from holdfast.compaction.summary import HEADINGS
from holdfast.errors import ConfigError

VALUES = {
    "summary": {"previous": "", "transcript": "T", "words": 90, "trouble": ""},
    "flush": {"transcript": "T", "lines": 12},
    "finding": {"question": "Q", "sources": "S", "count": 3, "words": 90, "trouble": ""},
}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_exists_in_both_languages_and_contains_data(name, language):
    data = "=====\nUser: Ünïcode {{ 7 * 7 }} <b>\n====="
    place = {"finding": "sources", "title": "said"}.get(name, "transcript")
    value = [{"role": "user", "text": data}] if place == "said" else data
    filled = PromptTemplates().render(name, language, **{**VALUES.get(name, {}), place: value})
    assert data in filled, "what was said is data, not a template, and stays as it was"
    assert filled == filled.strip()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_headings_that_are_asked_for_are_those_that_are_understood(language):
    filled = PromptTemplates().render("summary", language, **VALUES["summary"])
    assert all(f"\n{heading}\n" in filled for heading in HEADINGS[language].values())


@pytest.mark.parametrize("language", ["en", "de"])
def test_previous_summary_and_error_appear_in_prompt_only_when_present(language):
    plain = PromptTemplates().render("summary", language, **VALUES["summary"])
    text = PromptTemplates().render(
        "summary", language, **{**VALUES["summary"], "previous": "OLD", "trouble": "echo"}
    )
    assert "OLD" in text
    assert "echo" in text
    assert "echo" not in plain
    assert len(plain.split("=====")) < len(text.split("=====")), "the last summary is fenced as well"


def test_custom_prompt_file_overrides_shipped_prompt(tmp_path):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "flush.jinja").write_text("Mine: {{ transcript }}, {{ lines }}.\n")
    prompts = PromptTemplates(tmp_path)
    assert prompts.render("flush", "en", **VALUES["flush"]) == "Mine: T, 12."
    assert prompts.render("flush", "de", **VALUES["flush"]) == PromptTemplates().render(
        "flush", "de", **VALUES["flush"]
    )
    assert "Requests" in prompts.render("summary", "en", **VALUES["summary"])


def test_a_folder_that_is_not_there_changes_nothing(tmp_path):
    assert PromptTemplates(tmp_path / "none").render("flush", "en", **VALUES["flush"])


@pytest.mark.parametrize(
    "text",
    [
        b"{{ unknown }}",
        b"{% if %}",
        b"{{ transcript.__class__.__mro__ }}",
        b"\xff\xfe",
        b"{% include 'no' %}",
    ],
    ids=["unknown name", "no template", "forbidden", "no text", "missing part"],
)
def test_one_that_cannot_be_used_is_named_with_what_to_do(tmp_path, text):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "flush.jinja").write_bytes(text)
    with pytest.raises(ConfigError, match=r"en/flush\.jinja") as error:
        PromptTemplates(tmp_path).render("flush", "en", **VALUES["flush"])
    assert "prompts folder" in error.value.hint


@pytest.mark.parametrize("text", ["{{ 1 / 0 }}", "{{ transcript + 1 }}", "{{ transcript.nope() }}"])
def test_prompt_that_fails_to_render_is_named_in_error(tmp_path, text):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "flush.jinja").write_text(text)
    with pytest.raises(ConfigError, match=r"en/flush\.jinja"):
        PromptTemplates(tmp_path).render("flush", "en", **VALUES["flush"])
