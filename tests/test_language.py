"""What we say inside an answer is marked as ours, and can be taken out again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.i18n import banner, without_banners

OURS = banner("the server read only part of it")


@pytest.mark.parametrize(
    ("answer", "alone"),
    [
        (f"{OURS}\n\nThe answer.", "The answer."),
        (f"The answer.\n\n{OURS}", "The answer."),
        (f"Half of it.\n\n{OURS}\n\nThe rest.", "Half of it.\n\nThe rest."),
        (f"{OURS}\n\n", ""),
        (f"{OURS}{OURS}", ""),
        ("Brackets ⟦like these⟧ stay.\n", "Brackets ⟦like these⟧ stay.\n"),
        ("⟦Holdfast: never closed", "⟦Holdfast: never closed"),
    ],
)
def test_the_answer_is_left_alone(answer, alone):
    assert without_banners(answer) == alone


@given(st.text())
def test_whatever_a_banner_says_it_is_taken_out_whole(text):
    assert without_banners(f"Before.\n\n{banner(text)}") == "Before."
