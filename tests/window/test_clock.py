"""A clock that ticked is told from a prompt that changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.window.additions import same_but_for_time, time_changes

TICKS = [
    ("Current time: 10:42 AM", "Current time: 9:05 PM"),
    ("Today is Sunday, November 15, 2026.", "Today is Monday, November 16, 2026."),
    ("Today is the 1st of May 2026.", "Today is the 22nd of June 2026."),
    ("now=2026-11-15T10:42:07.123+01:00;", "now=2026-11-15T10:43:07Z;"),
    ("CURRENT_DATETIME: 2026-11-15 10:42", "CURRENT_DATETIME: 2026-11-16 00:01"),
    ("Heute ist Sonntag, der 15.11.2026, 14:05 Uhr.", "Heute ist Montag, der 16.11.2026, 9:07 Uhr."),
    ("Es ist der 15. November 2026, 14 Uhr.", "Es ist der 3. März 2027, 9 Uhr."),
    ("So, 15.11. um 14:05", "Mo, 16.11. um 14:06"),
    ("Date: 11/15/2026, 10:42:07 AM", "Date: 11/16/2026, 9:42:07 PM"),
    ("Unix timestamp: 1763180000", "Unix timestamp: 1763180061"),
    ("time_ms=1763180000123", "time_ms=1763180999456"),
    ("Sun Nov 15 05:32:38 UTC 2026", "Fri Jan 1 06:00:00 UTC 2027"),
    ("It is 10:42 CET (UTC+1, Europe/Berlin)", "It is 10:42 CEST (UTC+2, Europe/Berlin)"),
    ("Zeitzone: Mitteleuropäische Normalzeit", "Zeitzone: Mitteleuropäische Sommerzeit"),
    ("Meeting at 7 pm on Fri", "Meeting at 11 am on Sat"),
    ("Stand: Nov. 2026, KW 46", "Stand: Dez. 2026, KW 49"),
]
CHANGES = [
    ("The price is 10.42", "The price is 10.43"),
    ("Order 1763180000", "Order 1763180061"),
    ("Host 10.11.20.26", "Host 10.11.20.27"),
    ("Version 1.2.2026.3", "Version 1.2.2026.4"),
    ("Python 3.11", "Python 3.12"),
    ("uptime 3:05:22", "uptime 3:06:22"),
    ("Elapsed: 10:42", "Elapsed: 10:43"),
    ("Laufzeit 0:42 min", "Laufzeit 0:43 min"),
    ("80 % used", "81 % used"),
    ("You have 12 memories", "You have 13 memories"),
    ("- likes tea\n10:42", "- likes coffee\n10:43"),
    ("10:42", "10:43\nAnd a new line"),
    ("unix time: 1763180000", "epoch now: 1763180000"),
    ("the 3rd attempt", "the 4th attempt"),
    ("Ratio 3:2", "Ratio 3:1"),
]


@pytest.mark.parametrize(("before", "now"), TICKS)
def test_only_the_time_is_another(before, now):
    assert same_but_for_time(before, now)
    assert same_but_for_time(now, before)
    assert time_changes(before, now) == now


@pytest.mark.parametrize(("before", "now"), CHANGES)
def test_more_than_the_time_is_another(before, now):
    assert not same_but_for_time(before, now)
    assert not same_but_for_time(now, before)


def test_changed_time_lines_are_listed_once_in_order():
    before = "You help.\n  Time: 10:42\nBe kind.\nDate: 2026-11-15\nTime: 10:42\nNever lie."
    now = "You help.\n  Time: 10:43\nBe kind.\nDate: 2026-11-16\nTime: 10:43\nNever lie."
    assert same_but_for_time(before, now)
    assert time_changes(before, now) == "Time: 10:43\nDate: 2026-11-16"


def test_long_changed_line_is_reduced_to_sentence_with_time():
    rest = "You are a helpful assistant who answers briefly and to the point. " * 5
    before, now = f"{rest}It is 10:42 now. {rest}", f"{rest}It is 10:43 now. {rest}"
    assert time_changes(before, now) == "It is 10:43 now."


@given(st.text())
@settings(deadline=None)
def test_identical_texts_have_no_time_changes(text):
    assert same_but_for_time(text, text)
    assert time_changes(text, text) == ""


@given(st.text(), st.sampled_from(["tea", "coffee", "x1", "42 %"]), st.text())
@settings(deadline=None)
def test_another_word_is_another_text(before, word, after):
    assert not same_but_for_time(f"{before} {after}", f"{before} {word} {after}")


@given(st.sampled_from(TICKS), st.text("abc .\n-"), st.text("abc .\n-"))
@settings(deadline=None)
def test_a_tick_is_found_in_any_surroundings(tick, before, after):
    was, now = (f"{before} {moment} {after}" for moment in tick)
    assert same_but_for_time(was, now)
    assert tick[1] in time_changes(was, now)


@pytest.mark.parametrize("piece", ["time", "unix-", "1", "10:4", "2026-1", "uptime ", "Nov ", "a,", "+01:"])
def test_a_long_line_of_near_times_is_looked_at_once(piece):
    line = piece * 20_000
    assert not same_but_for_time(line, f"{line} and more")
