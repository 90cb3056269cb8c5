"""A newer value replaces the older, the same in other words is the same, and look-alikes stay apart."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory.base import Memory
from holdfast.memory.tidy import judge
from holdfast.messages import Scope
from holdfast.text.slots import compare, gives_new_value, join_context, values_in
from tests.text.pairs import APART, REPLACES, SAME, UNSURE, pairs


def verdict(old, new, likeness=0.0):
    known = Memory("m_1", "fact", old, Scope(), valid_from=100.0)
    fresh = Memory("m_2", "fact", new, Scope(), valid_from=200.0)
    return judge(fresh, [known], lambda text, others: [likeness] * len(others)).action


@pytest.mark.parametrize(("old", "new"), pairs(REPLACES))
def test_a_newer_value_replaces_the_older(old, new):
    assert verdict(old, new, 0.4) == "supersede"


@pytest.mark.parametrize(("old", "new"), pairs(REPLACES))
def test_an_older_value_that_is_read_later_changes_nothing(old, new):
    known = Memory("m_1", "fact", new, Scope(), valid_from=200.0)
    late = judge(Memory("m_2", "fact", old, Scope(), valid_from=100.0), [known])
    assert (late.action, late.others) in (("outdated", (known,)), ("update", (known,)), ("add", ()))
    assert compare(new, old) != "replaces" or late.action != "add"


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
        (
            "Der Eintritt kostet 14 Euro.",
            "Der Verein hat gekürzt, wir haben jetzt nur noch 3.650 Euro.",
            False,
        ),
        (
            "Geld haben wir insgesamt 4.200 Euro.",
            "Der Verein hat gekürzt, wir haben nur noch 3.650 Euro.",
            True,
        ),
        ("The tickets cost 14 euros.", "The fund cut us, we now only have 3,650 euros.", False),
        ("We have 4,200 euros in total.", "The fund cut us, we now only have 3,650 euros.", True),
        ("Schreib bitte einen Text, so drei Sätze.", "Den zweiten Satz spielen wir mit 56 Schlägen.", False),
        ("Die Generalprobe ist am 19. März.", "Ich hasse den Februar, im Probenraum tropft es.", False),
        ("Es geht um Brahms mit Klavier.", "Wir haben uns jetzt fürs Klavier entschieden.", False),
        ("Ich könnte den Tenor auf den Mond schießen.", "Wir haben jetzt nur noch 7 Tenöre.", False),
    ],
)
def test_a_number_may_be_a_name_or_a_value(old, new, newer):
    assert gives_new_value(new, old) is newer


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Konzert ist am 21. März um 18 Uhr.",
            ["Am 21. ist da schon eine Hochzeit.", "Wir weichen auf den 28. März aus."],
        ),
        (
            "The fair is on 21 March at 6 pm.",
            ["There is a wedding on the 21st.", "We have to move to 28 March."],
        ),
        (
            "Die Altistin heißt Frauke Tjaden.",
            ["Frauke hat abgesagt.", "Für sie springt Marit Oevermann ein."],
        ),
        ("The alto is called Freda Tyler.", ["Freda has cancelled.", "Maud Overton steps in for her."]),
        (
            "Die Ziegel kosten 8.400 Euro.",
            ["Die Ziegel kosten 8.400 Euro.", "Quatsch, 9.200 Euro, ich hab mich vertan."],
        ),
    ],
)
def test_a_change_is_understood_with_the_sentence_before_it(old, new):
    *_, joined = join_context(new)
    assert joined == " ".join(new)
    assert compare(joined, old) == "replaces"


@pytest.mark.parametrize("text", ["Das Budget ist jetzt 45.000 Euro.", "We now deploy on Mondays.", "Hello."])
def test_a_change_that_says_of_what_needs_no_context(text):
    assert join_context(["It rains.", text]) == ["It rains.", text]


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
        ("£3,600", {"number money": {"3600"}}),
        ("am 3. November", {"date": {"11-3"}}),
        ("on November 3", {"date": {"11-3"}}),
        ("donnerstags", {"weekday": {"3"}}),
        ("on Thursdays", {"weekday": {"3"}}),
        ("32 Gigabyte", {"number gb": {"32"}}),
    ],
)
def test_a_value_is_the_same_however_it_is_spelled(text, values):
    assert {kind: set(results) for kind, results in values_in(text).items()} == values


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We can spend 8,500 euros on all of it.", "It's only 7,200 instead of the 8,500 after all."),
        ("Die Umleitungen stehen in der Karte, das sind 418.", "Quatsch, nicht 418, es sind 481."),
        ("We'll print 300 copies.", "Make it 450 copies instead of 300."),
        ("Umschalten wollen wir am 15. Januar.", "Der 15. Januar ist vom Tisch, es wird der 2. Februar."),
        ("Schreib nie mehr als fünf Sätze.", "Das mit den fünf Sätzen war zu streng, acht sind auch okay."),
        ("Das Skript heißt tools/umbau.py.", "Das Skript heißt jetzt tools/import.py."),
    ],
)
def test_a_change_that_names_the_former_value_replaces_it(old, new):
    assert compare(new, old) == "replaces"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Versand kostet bei uns 4,90 Euro.", "Die Deichmischung kostet ab jetzt 8,90 Euro."),
        ("The lamp costs 25 pounds.", "The chair costs 20 pounds now instead of 25."),
        ("Umschalten wollen wir an einem Freitag im Januar.", "Unser Laden hat Mittwoch bis Samstag auf."),
    ],
)
def test_prices_and_days_of_other_things_replace_nothing(old, new):
    assert compare(new, old) in ("apart", "maybe")
    assert not gives_new_value(new, old, old)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_can_be_compared(new, old):
    assert compare(new, old) in ("same", "replaces", "maybe", "apart")
