"""How a window is shared out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadRequest
from holdfast.tokens.budget import NEVER, Levels, budget_for

WINDOWS = st.integers(512, 2_000_000)


@pytest.mark.parametrize(
    ("window", "reserve", "profile", "beginning", "summary", "research", "recalled"),
    [
        (4_096, 1_024, 100, 200, 300, 700, 0.30),
        (8_192, 2_048, 200, 400, 600, 1_500, 0.25),
        (16_384, 3_072, 200, 600, 600, 4_000, 0.20),
        (32_768, 4_096, 200, 1_200, 1_200, 8_000, 0.20),
    ],
)
def test_the_table_of_the_design_comes_out_as_it_stands(
    window, reserve, profile, beginning, summary, research, recalled
):
    budget = budget_for(window)
    assert (budget.reserve, budget.profile, budget.beginning) == (reserve, profile, beginning)
    assert (budget.summary, budget.research) == (summary, research)
    assert budget.recalled == int(recalled * (window - reserve))
    assert budget.history == window - reserve - profile - beginning - summary - research - budget.recalled


@given(WINDOWS, st.booleans())
def test_sections_are_never_negative_and_add_up_to_the_window(window, thinks):
    budget = budget_for(window, thinks=thinks)
    sections = (
        budget.reserve,
        budget.profile,
        budget.beginning,
        budget.recalled,
        budget.summary,
        budget.research,
        budget.history,
    )
    assert min(sections) >= 0
    assert sum(sections) == window
    assert budget.history >= window // 8


@given(WINDOWS)
def test_memory_stays_under_its_share(window):
    memory = budget_for(window).memory
    assert memory <= 0.15 * window
    if window <= 16_384:
        assert memory <= 1_400


@given(st.integers(512, 4_095))
def test_below_the_table_memory_is_split_one_to_two_to_three(window):
    budget = budget_for(window)
    assert (budget.beginning, budget.summary) == (2 * budget.profile, 3 * budget.profile)
    assert 0.15 * window - 6 < budget.memory <= 0.15 * window


@given(WINDOWS, st.integers(0, 100_000), st.booleans())
def test_a_larger_window_never_has_a_smaller_section(window, more, thinks):
    small, large = budget_for(window, thinks=thinks), budget_for(window + more, thinks=thinks)
    for section in ("reserve", "profile", "beginning", "recalled", "summary", "research"):
        assert getattr(small, section) <= getattr(large, section)


@given(WINDOWS)
def test_thinking_gets_a_larger_reserve_but_at_most_a_third(window):
    plain, thinking = budget_for(window).reserve, budget_for(window, thinks=True).reserve
    assert plain < thinking <= max(plain, window // 3)


@given(WINDOWS, st.integers(0, 3_000_000))
def test_levels_rise_within_what_history_can_have(window, fixed):
    steps = budget_for(window).thresholds(fixed)
    assert 0 <= steps.prune <= steps.leave_out <= steps.ahead <= steps.summarise <= steps.full
    budget = budget_for(window)
    left = max(0, budget.room - fixed)
    assert steps.full == left - budget.for_evidence(fixed)
    assert 0 <= budget.for_evidence(fixed) <= 0.3 * left


def test_levels_are_the_shares_of_the_design_unless_others_are_given():
    steps = budget_for(8_192).thresholds(fixed=1_144)
    assert steps.full == 3_750, "a quarter of what is left is held free for evidence"
    assert (steps.prune, steps.leave_out, steps.ahead, steps.summarise) == (1_875, 2_437, 2_625, 3_000)
    assert budget_for(8_192, levels=Levels(prune=0.1)).thresholds(1_144).prune == 375


def test_requested_answer_length_is_granted_as_far_as_it_fits():
    budget = budget_for(4_096)
    assert budget.for_answer(4_000) == 96
    assert budget.for_answer(1_000, asked=500) == 500
    assert budget.for_answer(4_000, asked=500) == 96
    assert budget.for_answer(5_000, asked=500) == 0


@pytest.mark.parametrize("window", [-1, 0, 511])
def test_a_window_that_holds_no_conversation_is_refused(window):
    with pytest.raises(BadRequest, match="holds no conversation"):
        budget_for(window)


@given(WINDOWS, st.integers(0, 3_000_000), st.sampled_from(["history", "room", "window"]))
def test_missing_levels_never_trigger_and_others_trigger_when_full(window, fixed, shares_of):
    levels = Levels(prune=None, ahead=None)
    steps = replace(budget_for(window, levels=levels), shares_of=shares_of).thresholds(fixed)
    assert (steps.prune, steps.ahead) == (NEVER, NEVER)
    assert 0 <= steps.leave_out <= steps.summarise <= steps.full


def test_shares_of_the_whole_window_count_the_fixed_cost():
    budget = budget_for(8_192)
    of_window = replace(budget, shares_of="window").thresholds(fixed=1_000)
    assert of_window.prune == 4_096 - 1_000
    assert of_window.leave_out == of_window.full < 5_324 - 1_000, "what is full is full"
    of_room = replace(budget, shares_of="room").thresholds(fixed=1_000)
    assert of_room.prune == 3_072 - 1_000
    assert replace(budget, shares_of="window").thresholds(fixed=5_000).prune == 0


def test_below_its_floor_a_request_is_not_summarised():
    budget = replace(budget_for(8_192), floor=6_000)
    steps = budget.thresholds(fixed=1_000)
    assert steps.summarise == steps.full
    assert steps.ahead == steps.full - int(0.1 * budget.room)
    assert steps.prune == budget_for(8_192).thresholds(fixed=1_000).prune
