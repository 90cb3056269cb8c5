"""How quotes from the past are written behind a question."""

import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.i18n import speak
from holdfast.messages import Message
from holdfast.window.additions import Quote, format_quotes

MONDAY, TUESDAY = 1_767_607_200.0, 1_767_693_600.0
QUESTION = Message.of("user", "Which colour did we choose?")


def said(at: float, text: str, origin: str = "here", role: str = "user") -> Quote:
    return Quote(origin, at, role, text)


def test_the_quotes_of_a_day_have_its_date_once_above_them():
    quotes = [said(MONDAY, "Green."), said(MONDAY, "Noted.", role="assistant")]
    assert format_quotes(QUESTION, quotes) == (
        "[From earlier in this conversation, 2026-01-05]\n- user: Green.\n- assistant: Noted."
    )


def test_each_of_several_days_with_several_quotes_has_its_own_heading():
    quotes = [said(at, text) for at in (MONDAY, TUESDAY) for text in ("One.", "Two.")]
    assert re.findall(r"\d{4}-\d\d-\d\d", format_quotes(QUESTION, quotes)) == ["2026-01-05", "2026-01-06"]


def test_quotes_of_different_days_each_have_their_date():
    assert format_quotes(QUESTION, [said(MONDAY, "Green."), said(TUESDAY, "Blue.")]) == (
        "[From earlier in this conversation]\n- 2026-01-05, user: Green.\n- 2026-01-06, user: Blue."
    )


def test_each_memory_quote_has_its_own_date():
    quotes = [said(MONDAY, "Green.", "memory", ""), said(MONDAY, "Blue.", "memory", "")]
    assert format_quotes(QUESTION, quotes).count("- 2026-01-05: ") == 2


def test_memories_of_the_day_of_the_question_have_no_date():
    today = [said(TUESDAY, "Green.", "memory", ""), said(TUESDAY, "Blue.", "memory", "")]
    assert "2026" not in format_quotes(QUESTION, today, TUESDAY)
    older = [said(MONDAY, "Red.", "memory", ""), *today]
    assert format_quotes(QUESTION, older, TUESDAY).count("- 2026-01-0") == 3


def test_a_greeting_gets_the_language_of_its_quotes_or_reader():
    german = [said(MONDAY, "Wir haben uns für die grüne Farbe entschieden.", "memory", "")]
    assert format_quotes(Message.of("user", "Hallo!"), german).startswith("Relevante Erinnerungen")
    unclear = [said(MONDAY, "Silke", role="assistant")]
    assert "assistant: Silke" in format_quotes(Message.of("user", "Hallo!"), unclear)
    speak("de")
    assert "Assistent: Silke" in format_quotes(Message.of("user", "Hallo!"), unclear)


@given(st.lists(st.tuples(st.sampled_from(["here", "earlier"]), st.integers(0, 3)), min_size=1, max_size=12))
def test_every_quote_is_read_with_its_own_date(drawn):
    """In the order of time, as recall brings them."""
    quotes = [
        said(MONDAY + day * 86_400, f"text{number}", origin)
        for number, (origin, day) in enumerate(sorted(drawn, key=lambda each: each[1]))
    ]
    heading, dates = "", {}
    for line in format_quotes(QUESTION, quotes).splitlines():
        day = re.search(r"\d{4}-\d\d-\d\d", line)
        heading = (day[0] if day else "") if line.startswith("[") else heading
        if text := re.search(r"text\d+", line):
            dates[text[0]] = day[0] if day else heading
    assert dates == {quote.text: f"2026-01-{5 + int((quote.at - MONDAY) // 86_400):02}" for quote in quotes}
