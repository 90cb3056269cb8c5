"""The window that is really there, and where each figure comes from."""

import pytest

from holdfast.upstreams.base import ModelInfo
from holdfast.upstreams.windows import Figure, ModelFacts, parse_parameters, resolve_windows


def model(name="some:1b", **facts):
    return ModelInfo(name, **facts)


def test_what_was_set_wins_over_all_and_the_recommendation_comes_last():
    known = model(parameter_size="7B", trained_window=100_000, running_window=5_000, default_num_ctx=6_000)
    memory = ModelFacts(num_ctx=4_000, settled=Figure(9_000, "the client"))
    assert resolve_windows(known, memory, asked=7_000).used == Figure(4_000, "set by you")
    assert resolve_windows(known, ModelFacts(settled=memory.settled), asked=7_000).used == Figure(
        9_000, "the client"
    )
    assert resolve_windows(known, asked=7_000).used == Figure(7_000, "the client")
    assert resolve_windows(known).used == Figure(5_000, "the running server")
    assert resolve_windows(model(default_num_ctx=6_000)).used == Figure(6_000, "the Modelfile")
    assert resolve_windows(model(parameter_size="7B")).used == Figure(8_192, "usual for 7B parameters")
    assert resolve_windows(model()).used.tokens == 4_096


def test_no_window_is_larger_than_the_model_was_trained_for():
    used = resolve_windows(model(trained_window=2_048), asked=32_768).used
    assert used.tokens == 2_048
    assert "trained for no more" in used.source


def test_fixed_server_window_wins_unless_user_sets_smaller():
    running = model(running_window=4_096, trained_window=32_768)
    assert resolve_windows(running, asked=8_192, fixed=True).used == Figure(4_096, "the running server")
    assert resolve_windows(running, ModelFacts(num_ctx=8_192), fixed=True).used.tokens == 4_096
    assert resolve_windows(running, ModelFacts(num_ctx=2_048), fixed=True).used == Figure(2_048, "set by you")
    assert resolve_windows(model(parameter_size="7B"), fixed=True).used.tokens == 8_192


@pytest.mark.parametrize(
    ("name", "trained", "recommended"),
    [
        ("qwen3:14b", 32_768, 16_384),
        ("library/llama3.1:8b", 131_072, 8_192),
        ("Mistral:7b", 32_768, 8_192),
        ("gemma2:9b", 8_192, 8_192),
        ("deepseek-coder:6.7b", 16_384, 8_192),
    ],
)
def test_known_families_have_their_rows(name, trained, recommended):
    windows = resolve_windows(model(name))
    assert windows.trained.tokens == trained
    assert windows.recommended.tokens == recommended
    assert resolve_windows(model(name), ModelFacts(recommended=9_000)).recommended == Figure(
        9_000, "set by you"
    )


@pytest.mark.parametrize(
    ("size", "tokens"), [("9.0B", 8_192), ("14.8B", 16_384), ("8x7B", 32_768), ("135M", 8_192)]
)
def test_the_recommendation_follows_the_size(size, tokens):
    assert resolve_windows(model(parameter_size=size)).recommended.tokens == tokens


@pytest.mark.parametrize("nonsense", [0, -1, 10**12, "8192", True, 1.5, [8192]])
def test_nonsense_is_warned_of_and_the_next_best_is_taken(nonsense):
    windows = resolve_windows(model(trained_window=nonsense, running_window=nonsense, parameter_size="7B"))
    assert windows.used.tokens == 8_192
    assert windows.trained is None
    assert len(windows.warnings) == 2


@pytest.mark.parametrize(
    ("text", "number"), [("7.6B", 7.6e9), ("135M", 135e6), ("8x7B", 56e9), ("", None), ("big", None)]
)
def test_sizes_are_read(text, number):
    assert parse_parameters(text) == number


@pytest.mark.parametrize("small", [1, 128, 256, 511])
def test_unusably_small_window_is_ignored_from_every_source(small):
    named = model(parameter_size="7B", trained_window=small, running_window=small, default_num_ctx=small)
    windows = resolve_windows(named, ModelFacts(settled=Figure(small, "the client")), asked=small)
    assert windows.used == Figure(8_192, "usual for 7B parameters")
    assert len(windows.warnings) == 4
    assert resolve_windows(model(), asked=512).used == Figure(512, "the client")


def test_a_server_that_runs_with_less_and_decides_itself_is_believed():
    assert resolve_windows(model(running_window=256), fixed=True).used == Figure(256, "the running server")
