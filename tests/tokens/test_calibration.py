"""Learning from what servers report: quickly, from the honest ones only, and kept as a value."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens.calibration import Calibration, PromptFeatures, is_truncated
from holdfast.tokens.estimate import Estimate

PARTS = st.builds(
    PromptFeatures,
    text=st.integers(0, 100_000),
    messages=st.integers(1, 200),
    tool_text=st.integers(0, 20_000),
    calls=st.integers(0, 50),
    tools=st.integers(0, 50),
    unprompted=st.booleans(),
    images=st.integers(0, 10_000),
    doubt=st.floats(0, 30_000),
)


class Server:
    """Counts as a server would: some factor for the text, and a template of its own."""

    def __init__(self, *, scale=1.0, noise=0.0, seed=3):
        self.random = Random(seed)
        self.scale, self.noise = scale, noise

    def request(self):
        draw = self.random.randint
        tools = draw(1, 6) if draw(0, 2) == 0 else 0
        text = draw(20, 6_000)
        parts = PromptFeatures(
            text=text,
            messages=draw(1, 20),
            tool_text=tools * draw(60, 120),
            calls=draw(0, 4) if tools else 0,
            tools=tools,
            unprompted=draw(0, 1) == 0,
            doubt=0.3 * text,
        )
        around = 4 * parts.messages + 9 * parts.calls + 7 * parts.tools + (115 if tools else 0)
        around += 31 * parts.unprompted + 3
        written = self.scale * (parts.text + 1.1 * parts.tool_text)
        return parts, round(written * (1 + self.random.gauss(0, self.noise)) + around)


def taught(method, server, answers=20):
    learned = Calibration.fresh(method)
    for _ in range(answers):
        learned = learned.learn(*server.request())
    return learned


def mean_error(learned, server, requests=100):
    asked = [server.request() for _ in range(requests)]
    return sum(abs(learned.estimate(parts).tokens - true) / true for parts, true in asked) / requests


def test_twenty_answers_teach_an_exact_counter_the_template():
    server = Server()
    before = mean_error(Calibration.fresh("exact"), server)
    assert mean_error(taught("exact", server), server) < 0.01 < before


def test_twenty_answers_teach_an_estimate_how_far_it_is_off():
    server = Server(scale=1.17, noise=0.02)
    before = mean_error(Calibration.fresh("estimate"), server)
    assert mean_error(taught("estimate", server), server) < 0.03 < before


def test_a_few_strange_answers_do_no_harm():
    server = Server(scale=1.1, noise=0.02)
    learned = Calibration.fresh("estimate")
    for number in range(30):
        parts, true = server.request()
        learned = learned.learn(parts, int(true * 0.65) if number % 10 == 0 else true)
    assert mean_error(learned, server) < 0.04


def test_many_chats_without_tools_do_not_make_it_forget_tools():
    server = Server()
    learned = taught("exact", server, 60)
    for _ in range(300):
        parts, true = server.request()
        if not parts.tools:
            learned = learned.learn(parts, true)
    assert mean_error(learned, server) < 0.01
    assert len(learned.samples) <= 48


def test_template_without_tools_is_learned_and_costs_are_never_negative():
    server, learned = Server(), Calibration.fresh("exact")
    for _ in range(30):
        parts, _ = server.request()
        learned = learned.learn(parts, parts.text + 5 * parts.messages + 3)
    asked = PromptFeatures(text=1_000, messages=4, tool_text=900, tools=9, calls=3)
    assert learned.estimate(asked).tokens == pytest.approx(1_023, rel=0.01)
    assert min(learned.costs) > -1e-6


def test_the_interval_narrows_and_still_holds():
    server = Server(scale=1.1, noise=0.02)
    fresh, learned = Calibration.fresh("estimate"), taught("estimate", server)
    for parts, true in [server.request() for _ in range(200)]:
        wide, narrow = fresh.estimate(parts), learned.estimate(parts)
        assert narrow.high - narrow.low < wide.high - wide.low
        assert narrow.low <= true <= narrow.high


@pytest.mark.parametrize("reported", [0, -5, 400, 900_000])
def test_what_cannot_be_is_not_learned(reported):
    fresh = Calibration.fresh("estimate")
    assert fresh.learn(PromptFeatures(text=4_000, messages=5), reported) is fresh


def test_exact_counts_are_not_unlearned_by_a_prompt_that_was_cut():
    fresh = Calibration.fresh("exact")
    assert fresh.learn(PromptFeatures(text=4_000, messages=5), 3_500) is fresh


@pytest.mark.parametrize("reported", [2_050, 2_049, 4_096])
def test_ollamas_cut_prompts_are_not_learned(reported):
    fresh = Calibration.fresh("estimate")
    parts = PromptFeatures(text=4_080, messages=5, doubt=900.0)
    assert fresh.learn(parts, reported, num_ctx=4_096) is fresh
    assert fresh.learn(parts, 3_900, num_ctx=4_096) is not fresh


@pytest.mark.parametrize(
    ("expected", "reported", "cut"),
    [
        (Estimate(9_000, 8_000, 10_000), 2_050, True),  # Ollama keeps four tokens and the end
        (Estimate(9_000, 8_000, 10_000), 2_051, True),
        (Estimate(9_000, 8_000, 10_000), 4_096, True),  # or exactly the window
        (Estimate(4_200, 3_000, 5_000), 2_050, True),  # far below what it must have been, whatever the length
        (Estimate(4_200, 2_000, 5_000), 2_050, True),  # the signature, and it may have been too long
        (Estimate(2_060, 1_900, 2_200), 2_050, False),  # just a prompt of that length
        (Estimate(3_000, 2_400, 3_600), 2_900, False),
        (Estimate(3_000, 2_800, 3_200), 1_000, True),  # messages dropped from the front
        (Estimate(3_000, 2_800, 3_200), 0, False),  # a server that says nothing
    ],
)
def test_a_cut_prompt_is_told_from_a_short_one(expected, reported, cut):
    assert is_truncated(expected, reported, num_ctx=4_096) is cut


def test_the_signature_depends_on_how_many_tokens_are_kept():
    expected = Estimate(9_000, 2_000, 10_000)
    assert is_truncated(expected, 2_098, 4_096, num_keep=100)
    assert not is_truncated(expected, 2_098, 4_096)


@given(PARTS, st.sampled_from(["exact", "estimate"]), st.integers(-10, 500_000))
def test_expectations_are_sane_whatever_was_learned(parts, method, reported):
    learned = Calibration.fresh(method).learn(parts, reported)
    expected = learned.estimate(parts)
    assert 1 <= expected.low <= expected.tokens <= expected.high


def test_it_survives_being_stored():
    server = Server(scale=1.1, noise=0.02)
    learned = taught("estimate", server)
    again = Calibration.from_json("estimate", "", learned.to_json())
    parts, _ = server.request()
    assert again.estimate(parts) == learned.estimate(parts)


def test_what_an_estimate_learned_is_not_used_for_exact_counts():
    stored = taught("estimate", Server(scale=1.3)).to_json()
    assert Calibration.from_json("exact", "", stored) == Calibration.fresh("exact")


@given(
    st.one_of(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["method", "answers"]), inner),
        ).map(json.dumps),
        st.lists(st.lists(st.floats() | st.integers(-10, 10**12), min_size=9, max_size=9)).map(
            lambda answers: json.dumps({"method": "estimate", "answers": answers})
        ),
    )
)
def test_garbage_from_the_store_is_left_out(stored):
    learned = Calibration.from_json("estimate", "llama3", stored)
    expected = learned.estimate(PromptFeatures(text=1_000, messages=3))
    assert 1 <= expected.low <= expected.tokens <= expected.high


def test_text_that_is_no_json_at_all_is_a_fresh_start():
    for stored in ("", "null", "[]", "{", "[" * 100_000, '{"method":"estimate","answers":7}'):
        assert Calibration.from_json("estimate", "", stored) == Calibration.fresh("estimate")
