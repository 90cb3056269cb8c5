"""A newer value replaces the older, the same in other words is the same, and look-alikes stay apart."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory.base import Memory
from holdfast.memory.tidy import judge
from holdfast.messages import Scope
from holdfast.text.slots import compare, gives_new_value, values_in
from tests.text.pairs import APART, REPLACES, SAME, UNSURE, pairs


def verdict(old, new, likeness=0.0):
    known = Memory("m_1", "fact", old, Scope(), valid_from=100.0)
    fresh = Memory("m_2", "fact", new, Scope(), valid_from=200.0)
    return judge(fresh, [known], lambda text, others: [likeness] * len(others)).action


@pytest.mark.parametrize(("old", "new"), pairs(REPLACES))
def test_a_newer_value_replaces_the_older(old, new):
    assert verdict(old, new, 0.4) == "supersede"


@pytest.mark.parametrize(("old", "new"), pairs(SAME))
def test_the_same_in_other_words_is_there_once(old, new):
    # What says more takes the place of what says less.
    assert verdict(old, new, 0.6) in ("update", "supersede")


@pytest.mark.parametrize(("old", "new"), pairs(APART))
def test_look_alikes_stay_apart_however_alike_they_are(old, new):
    assert verdict(old, new, 0.8) == "add"


@pytest.mark.parametrize(
    ("old", "new", "newer"),
    [
        ("The boiler in house 3 was checked on Monday.", "The boiler in house 12 was checked today.", False),
        ("House 3 has an old roof.", "House 12 has a new roof.", False),
        ("Die Miete in Wohnung 4 beträgt 800 Euro.", "Die Miete in Wohnung 7 beträgt 900 Euro.", False),
        ("Die Miete in Wohnung 4 beträgt 800 Euro.", "Die Miete in Wohnung 4 beträgt 900 Euro.", True),
        ("The meeting is in room 3.", "The meeting is now in room 5.", True),
        ("Es kommen 8 Gäste.", "Es kommen 12 Gäste.", True),
    ],
)
def test_a_number_may_be_a_name_or_a_value(old, new, newer):
    assert gives_new_value(new, old) is newer


@pytest.mark.parametrize(("old", "new"), pairs(UNSURE))
def test_what_is_not_sure_replaces_nothing_and_names_its_rival(old, new):
    known = Memory("m_1", "fact", old, Scope(), valid_from=100.0)
    results = judge(Memory("m_2", "fact", new, Scope(), valid_from=200.0), [known])
    assert (results.action, results.rival) == ("add", known)


def test_three_days_one_after_the_other_leave_the_last_one():
    text = [
        "We deploy on Thursdays.",
        "We deploy on Tuesdays now.",
        "We no longer deploy on Tuesdays, we deploy on Mondays.",
    ]
    for old, new in pairwise(text):
        assert verdict(old, new) == "supersede"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("um halb acht", {"time": {"7:30"}}),
        ("at half past seven", {"time": {"7:30"}}),
        ("14.500 Euro", {"number money": {"14500"}}),
        ("14,500 euros", {"number money": {"14500"}}),
        ("am 3. November", {"date": {"11-3"}}),
        ("on November 3", {"date": {"11-3"}}),
        ("donnerstags", {"weekday": {"3"}}),
        ("on Thursdays", {"weekday": {"3"}}),
        ("32 Gigabyte", {"number gb": {"32"}}),
    ],
)
def test_a_value_is_the_same_however_it_is_spelled(text, values):
    assert {kind: set(results) for kind, results in values_in(text).items()} == values


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_can_be_compared(new, old):
    assert compare(new, old) in ("same", "replaces", "maybe", "apart")
