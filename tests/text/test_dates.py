"""Times that people speak of are read, and mean days of the past where a question asks for them."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.dates import DAY_SHIFT, HEADED, dates_in, headed_by, mark_day, periods_in
from holdfast.text.questions import read_question, split_question

# A Wednesday.
TODAY = date(2026, 11, 18)


def spans(text: str, today: date = TODAY) -> list[tuple[str, str]]:
    periods, _ = periods_in(text, today)
    return [
        (date.fromordinal(period.first).isoformat(), date.fromordinal(period.last).isoformat())
        for period in periods
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did we decide yesterday?", "2026-11-17", "2026-11-17"),
        ("Was haben wir vorgestern beschlossen?", "2026-11-16", "2026-11-16"),
        ("What did I say the day before yesterday?", "2026-11-16", "2026-11-16"),
        ("Wer kam letzten Dienstag?", "2026-11-17", "2026-11-17"),
        ("Who came on Friday?", "2026-11-13", "2026-11-13"),
        ("Who came last Friday?", "2026-11-13", "2026-11-13"),
        ("Wo waren wir letztes Wochenende?", "2026-11-14", "2026-11-15"),
        ("What did I plant two weeks ago?", "2026-11-01", "2026-11-07"),
        ("Was habe ich vor einer Woche gepflanzt?", "2026-11-08", "2026-11-14"),
        ("What broke three days ago?", "2026-11-15", "2026-11-15"),
        ("Was ging vor drei Monaten kaputt?", "2026-08-05", "2026-09-04"),
        ("Was war letzte Woche los?", "2026-11-09", "2026-11-15"),
        ("What did it cost last month?", "2026-10-01", "2026-10-31"),
        ("Wohin fuhren wir letztes Jahr?", "2025-01-01", "2025-12-31"),
        ("What did we buy last May?", "2026-05-01", "2026-05-31"),
        ("Was kauften wir im Dezember?", "2025-12-01", "2025-12-31"),
        ("What happened in March 2023?", "2023-03-01", "2023-03-31"),
        ("Was war am 3. Mai?", "2026-05-03", "2026-05-03"),
        ("What was on the 24th of December?", "2025-12-24", "2025-12-24"),
        ("Wohin ging es im Sommer?", "2026-06-01", "2026-08-31"),
        ("Where did we go last winter?", "2025-12-01", "2026-02-28"),
        ("Where were we in the summer of 2024?", "2024-06-01", "2024-08-31"),
    ],
)
def test_a_question_speaks_of_a_time(text, first, last):
    assert spans(text) == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "What time do I wake up on Tuesdays?",
        "You may go now.",
        "Wie heißt mein Hund?",
        "What about the 31st of February?",
        "Version 10.2.3",
    ],
)
def test_what_is_no_time_is_none(text):
    assert spans(text) == []


def test_relative_day_words_are_not_search_terms_but_dates_are():
    yesterday = read_question("Was haben wir vorgestern beschlossen?", today=TODAY)
    assert "vorgest" not in " ".join(yesterday.terms)
    assert yesterday.terms
    assert "2023" in read_question("What did we decide in March 2023?", today=TODAY).terms


def test_text_containing_internal_markers_is_read_normally():
    periods, rest = periods_in("\x007\x00 in March 2023", TODAY)
    assert (len(periods), rest) == (1, " 7  in March 2023")


def test_split_question_parts_share_period_of_whole_question():
    question = read_question("What did Ann buy yesterday, and who drove the car?", today=TODAY)
    first, second = split_question(question, today=TODAY)
    assert first.periods == second.periods == question.periods


def test_a_question_that_begins_with_its_date_is_asked_then():
    question = read_question("[2023/05/10 (Wed) 14:00] What did I do yesterday?", today=TODAY)
    assert date(2023, 5, 9).toordinal() in {period.first for period in question.periods}


def test_date_without_year_may_mean_other_years():
    (may,), _ = periods_in("Was war im Mai?", TODAY)
    (dated,), _ = periods_in("Was war im Mai 2025?", TODAY)
    assert (may.yearly, dated.yearly) == (True, False)


@pytest.mark.parametrize(
    ("text", "day", "heads"),
    [
        ("[1:56 pm on 8 May, 2023] Hello!", date(2023, 5, 8), True),
        ("[2023/04/10 (Mon) 17:50] Hello!", date(2023, 4, 10), True),
        ("Montag, 8. Mai 2023: Hallo!", date(2023, 5, 8), True),
        ("3.5.2023: Treffen", date(2023, 5, 3), True),
        ("March 15, 2024\nHello!", date(2024, 3, 15), True),
        ("Wir treffen uns am 3. Mai in Kiel.", date(2026, 5, 3), False),
        ("The meeting on May 5th went well.", date(2026, 5, 5), False),
    ],
)
def test_a_text_names_a_day_or_is_headed_by_it(text, day, heads):
    mark = mark_day(text, datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp())
    assert (date.fromordinal(mark >> DAY_SHIFT), bool(mark & HEADED)) == (day, heads)
    assert headed_by(text) == (day if heads else None)


@pytest.mark.parametrize("text", ["", "no day", "[31 February 2023] Hello!", "room 5, may be"])
def test_a_text_without_a_day_has_no_mark(text):
    assert mark_day(text, 0.0) == 0


@given(
    st.text(alphabet="0123456789./- [](),mMaiyMärz2023 ago vor\x00"),
    st.dates(date(2, 1, 1), date(9997, 1, 1)),
)
def test_periods_are_ordered_and_remaining_text_is_readable(text, today):
    periods, rest = periods_in(text, today)
    assert all(period.first <= period.last for period in periods)
    assert len(rest) <= len(text) + 1
    dates_in(text, today)
    mark_day(text, 0.0)
