"""What a person pasted is told from what they typed, by the shape of its lines."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.window.rules import stretches, typed_text

LOG = "\n".join(
    f"2026-02-11 01:0{at}:07 INFO box {at}: 217 pages, ok" if at != 4 else "feeder jammed, see above"
    for at in range(9)
)
TABLE = "\n".join(f"F-{at:04};orders;{2009 + at};cabinet {at // 4}" for at in range(12))
ROWS = "\n".join(f"box {at}, layer 2: frames, {1998 + at}, {at} folders, dry" for at in range(9))
DATA = json.dumps(
    [{"day": f"2026-04-0{at}", "early": "Aylin", "price": 0.19} for at in range(1, 9)], indent=1
)
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: no such box'
MAIL = "From: Anna Brandt\nSubject: Keys\n\nThe key is with Okafor."


@pytest.mark.parametrize("pasted", [LOG, TABLE, ROWS, DATA, TRACE, MAIL, "```sh\nmake all\n```", "> quoted"])
@pytest.mark.parametrize("said", ["Here is what came in:", "Das steht darin, siehst du etwas Seltsames?"])
def test_words_before_a_paste_are_all_that_was_typed(said, pasted):
    # Brackets alone on a line say nothing, whoever typed them.
    assert typed_text(f"{said}\n{pasted}").strip("\n[] ") == said


def test_words_after_a_paste_were_typed_too():
    assert typed_text(f"Look:\n{ROWS}\n\nWhich box is damp?").split("\n") == [
        "Look:",
        "",
        "Which box is damp?",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "One line, with the number 4711 and the file plan_v3.xlsx.",
        "Three things:\n- the port is 8080\n- the host is db1\n- the user is anna",
        "Milk\nBread\nButter\nEggs\nSalt\nSugar\nFlour\nTea\nRice\nOil",
        "This was wrapped by an editor, as people\nwho write long mails do, over and over,\n" * 8,
        "Der Umzug ist am 21. März.\n\nBudget: 4.800 Euro\nRaum: 0.14\nHilfe: Jonas",
        "",
    ],
)
def test_what_people_type_stays_theirs(text):
    assert typed_text(text) == text


@settings(max_examples=40)
@given(st.lists(st.sampled_from([LOG, ROWS, TRACE, "<a>x</a>", "~~~\ncode", "Hello.", "", "\r", "> x"])))
def test_every_letter_is_in_one_stretch_and_they_take_turns(pieces):
    text = "\n".join(pieces)
    results = list(stretches(text))
    assert "".join(text[start:end] for start, end, _ in results) == text
    assert all(item[1] == other[0] and item[2] != other[2] for item, other in pairwise(results))
