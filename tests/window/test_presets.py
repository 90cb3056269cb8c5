"""Presets carry their seeds' numbers, and every one of them works in a small window too."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.config import PRESETS, Settings, load
from holdfast.errors import ConfigError
from holdfast.i18n import speak
from holdfast.tokens.budget import NEVER, Levels
from holdfast.window.presets import preset_from, preset_named

WINDOWS = st.integers(512, 2_000_000)
NAMES = st.sampled_from(PRESETS)


def thresholds(name, window, fixed=0):
    return preset_named(name).budget(window).thresholds(fixed)


def test_balanced_is_what_the_design_says():
    preset = preset_named("balanced")
    assert preset.levels == Levels(0.50, 0.65, 0.70, 0.80)
    assert (preset.shares_of, preset.cooldown_seconds, preset.cooldown_messages) == ("history", 30, 2)
    assert thresholds("balanced", 8_192, fixed=1_144).prune == 1_875


def test_arasul_has_single_level_at_seventy_percent_and_prunes_every_turn():
    preset = preset_named("arasul")
    assert preset.prune_every_turn
    steps = thresholds("arasul", 8_192, fixed=1_000)
    assert steps.summarise == int(0.70 * (8_192 - 2_048)) - 1_000
    assert (steps.prune, steps.leave_out, steps.ahead) == (NEVER, NEVER, NEVER)


def test_supermemory_summarises_at_eighty_percent_of_the_whole_window():
    steps = thresholds("supermemory", 128_000, fixed=2_000)
    assert steps.summarise == min(102_400 - 2_000, steps.full)
    roomy = preset_from(Settings(preset="supermemory", recall_share=0.05)).budget(128_000)
    assert roomy.thresholds(2_000).summarise == 102_400 - 2_000
    assert preset_named("supermemory").cooldown_seconds == 30


@pytest.mark.parametrize(("window", "floor"), [(200_000, 50_000), (32_768, 16_384), (8_192, 4_096)])
def test_the_floor_of_supermemory_is_fifty_thousand_or_half_the_window(window, floor):
    preset = preset_from(Settings(preset="supermemory", level_3=0.01))
    assert preset.budget(window).thresholds(0).summarise == floor


def test_openclaw_keeps_twenty_thousand_free_and_begins_four_thousand_before():
    budget = preset_named("openclaw").budget(200_000)
    assert budget.reserve == 20_000
    steps = budget.thresholds(fixed=5_000)
    assert steps.summarise == steps.full == 175_000 - budget.for_evidence(5_000)
    assert steps.ahead == pytest.approx(steps.summarise - 4_000, abs=1)


def test_the_reserve_of_openclaw_leaves_a_small_window_its_room():
    budget = preset_named("openclaw").budget(8_192)
    assert budget.reserve == 2_048
    assert 0 < budget.thresholds(0).ahead < budget.thresholds(0).summarise == 6_144 - 1_536


def test_ollama_prompt_measures_the_whole_window_and_does_nothing_ahead():
    steps = thresholds("ollama-prompt", 10_000, fixed=1_000)
    assert (steps.prune, steps.leave_out, steps.ahead) == (4_000, min(5_500, steps.full), NEVER)
    # 80 % of the window is more than the room beside the reserve: what is full is full.
    assert steps.summarise == min(7_000, steps.full)


@given(NAMES, WINDOWS, st.integers(0, 3_000_000), st.booleans())
@settings(deadline=None)
def test_every_preset_works_in_every_window(name, window, fixed, thinks):
    budget = preset_named(name).budget(window, thinks=thinks)
    steps = budget.thresholds(fixed)
    assert 0 < budget.reserve <= window // 2
    assert budget.history >= 0
    value = [step for step in (steps.prune, steps.leave_out, steps.ahead, steps.summarise) if step != NEVER]
    assert value == sorted(value)
    assert value[0] >= 0
    assert steps.summarise <= steps.full


@given(st.integers(0, 10_000_000), WINDOWS)
@settings(deadline=None)
def test_configured_reserve_is_capped_at_half_the_window(reserve, window):
    budget = preset_from(Settings(reserve=reserve)).budget(window)
    if reserve:
        assert budget.reserve == min(reserve, window // 2)
    assert budget.history >= 0


def test_each_threshold_can_be_set_alone():
    preset = preset_from(Settings(preset="ollama-prompt", level_3_ahead=0.7, level_1=0.4))
    assert preset.levels == Levels(0.4, 0.65, 0.7, 0.8)
    assert preset.shares_of == "window"
    assert preset_from(Settings()) == preset_named("balanced")


def test_a_margin_gives_way_to_a_threshold_that_is_set():
    preset = preset_from(Settings(preset="openclaw", level_3_ahead=0.5))
    assert preset.budget(200_000).thresholds(0).ahead == 90_000


def test_the_share_of_evidence_can_be_set():
    budget = preset_from(Settings(recall_share=0.4)).budget(4_096)
    assert budget.recalled == int(0.4 * budget.room)
    assert preset_from(Settings(recall_share=0.0)).budget(4_096).thresholds(100).full == budget.room - 100


def test_levels_that_do_not_rise_are_refused_with_the_next_step():
    with pytest.raises(ConfigError, match=r"level_2 is 65%, but level_1 is 90%.*Set level_2 to at least 90%"):
        preset_from(Settings(level_1=0.9))
    with pytest.raises(ConfigError, match=r"level_3 is 60%, but level_3_ahead is 70%"):
        preset_from(Settings(level_3=0.6))


def test_a_level_beyond_the_room_of_a_request_is_refused():
    with pytest.raises(ConfigError, match=r"level_3 is 90% of the window.*87\.5%.*at most 87%"):
        preset_from(Settings(preset="supermemory", level_3=0.9))
    assert preset_from(Settings(preset="supermemory", level_3=0.9, reserve=3_000)).levels.summarise == 0.9
    assert preset_from(Settings(level_3=0.9)).levels.summarise == 0.9


def test_an_unknown_preset_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match="step-by-step"):
        preset_named("fast")


@pytest.mark.parametrize(
    ("written", "share"), [("0.65", 0.65), ("65%", 0.65), (" 65 % ", 0.65), ("1", 1.0), ("", None)]
)
def test_a_share_may_be_written_as_a_number_or_in_percent(tmp_path, written, share):
    environ = {"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_LEVEL_3": written}
    assert load(environ=environ).settings.level_3 == share


@pytest.mark.parametrize("written", ["65", "0", "-1", "120%", "half", "nan"])
def test_a_share_that_is_none_is_refused_with_an_example(tmp_path, written):
    with pytest.raises(ConfigError, match=r"0\.65 or 65%"):
        load(environ={"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_LEVEL_1": written})


def test_a_share_in_the_file_may_be_a_bare_number(tmp_path):
    (tmp_path / "holdfast.toml").write_text('level_1 = 0.4\npreset = "ollama-prompt"\nreserve = 500\n')
    settings = load(environ={"HOLDFAST_HOME": str(tmp_path)}).settings
    assert (settings.level_1, settings.preset, settings.reserve) == (0.4, "step-by-step", 500)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_describes_itself_in_both_languages(name):
    preset = preset_named(name)
    speak("en")
    description = preset.description
    speak("de")
    try:
        assert preset.description != description
    finally:
        speak("en")
