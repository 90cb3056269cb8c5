"""Presets that do not have every level, and one that shortens on every turn."""

from dataclasses import replace

import pytest

from holdfast.config import Settings
from holdfast.messages import Message, Text, ToolCall, ToolResult
from holdfast.tokens.budget import NEVER
from holdfast.tokens.counter import ExactCounter
from holdfast.window.decisions import LAST
from holdfast.window.fit import fit
from holdfast.window.presets import preset_from, preset_named
from holdfast.window.view import Draft, View
from tests.window.talks import Pennies, items_of


def user(text):
    return Message.of("user", text)


def answer(text):
    return Message.of("assistant", text)


def used(name, text):
    """A tool called and answered."""
    call = ToolCall("read", f'{{"path": "{name}.py"}}', id=name)
    return [Message("assistant", (call,)), Message("tool", (ToolResult((Text(text),), call_id=name),))]


def draft_of(preset, *messages, window=4_096):
    return Draft(items_of(messages), preset.budget(window), ExactCounter(Pennies()))


def after(result, *messages):
    """The draft of the next request."""
    draft = result.view.draft
    items = items_of([*(item.message for item in draft.items), *messages])
    seen = frozenset(entry.item.id for entry in result.view.shown)
    return replace(draft, items=items, decisions=result.view.decisions, seen=seen, fired=result.fired)


def changed(result):
    """The names of messages that are shown shortened."""
    return {item.item.id for item in result.view.shown if item.rules}


def rules_of(result):
    return [proposal.rule for proposal in result.view.proposals]


def many(number):
    """Exchanges with a long answer each, which level 1 would shorten."""
    return [
        message
        for at in range(number)
        for message in (user(f"Question {at} about rivers?"), answer(f"Because {at}. " * 200))
    ]


@pytest.fixture
def only_leaving_out():
    """A preset with level 2 and no level 1, as somebody may set it."""
    return preset_from(Settings(preset="supermemory", level_2=0.65))


def test_level_two_alone_leaves_out_and_shortens_nothing(only_leaving_out):
    draft = draft_of(only_leaving_out, *many(5), user("And lakes?"))
    thresholds = View(draft).thresholds
    assert (thresholds.prune, View(draft).history >= thresholds.leave_out) == (NEVER, True)
    result = fit(draft)
    assert [(batch.level, batch.strategy) for batch in result.batches] == [(2, "relevance")]
    assert rules_of(result) == ["relevance"]
    assert changed(result) == set(), "there is no level that shortens"
    assert result.view.history < View(draft).history - 0.1 * result.view.thresholds.full
    assert result.level == 2


def test_level_two_alone_waits_for_threshold_and_history_growth(only_leaving_out):
    short = draft_of(only_leaving_out, *many(2), user("And lakes?"))
    assert 0 < View(short).history < View(short).thresholds.leave_out
    assert fit(short).batches == ()
    result = fit(draft_of(only_leaving_out, *many(5), user("And lakes?")))
    assert fit(after(result, answer("Lakes too."), user("And ponds?"))).batches == ()
    grown = fit(after(result, answer("Lakes too. " * 400), *many(2), user("And ponds?")))
    assert [batch.level for batch in grown.batches] == [2]


def test_after_a_refusal_shortening_begins_although_the_preset_has_none(only_leaving_out):
    draft = draft_of(only_leaving_out, *many(2), user("And lakes?"))
    result = fit(draft, at_least=2)
    assert "long" in rules_of(result)
    assert result.total.high < View(draft).total.high


def test_arasul_shortens_old_text_however_empty_the_window_is():
    draft = draft_of(preset_named("arasul"), *many(2), user("And lakes?"), window=32_768)
    result = fit(draft, every_turn=True)
    assert result.view.history < 0.1 * result.view.thresholds.full
    assert [(batch.level, batch.strategy) for batch in result.batches] == [(1, "prune")]
    assert changed(result) == {"m_1"}, "the answer that is replied to, and the question, stay whole"
    assert fit(draft).batches == (), "without it there is no level that would"


def test_arasul_shortens_again_on_the_next_turn_what_has_become_old():
    arasul = preset_named("arasul")
    result = fit(draft_of(arasul, user("Read"), *used("a", "one " * 400), window=32_768), every_turn=True)
    assert changed(result) == set()
    cut = []
    for name in "bcde":
        result = fit(after(result, *used(name, f"{name} " * 900)), every_turn=True)
        cut.append(len(changed(result)))
    assert cut == [0, 1, 2, 3], "one more on every turn; the last two results stay whole"
    assert all(batch.tokens_after < batch.tokens_before for batch in result.batches)


def test_arasul_leaves_what_is_short_as_it_is():
    talk = [message for at in range(6) for message in (user(f"Question {at}?"), answer(f"Answer {at}."))]
    result = fit(draft_of(preset_named("arasul"), *talk, user("And?")), every_turn=True)
    assert result.batches == ()
    assert len(result.messages) == 13


def test_arasul_reaches_last_resort_when_short_texts_are_too_many():
    talk = [message for at in range(90) for message in (user(f"Q{at} " * 20), answer(f"A{at} " * 20))]
    result = fit(draft_of(preset_named("arasul"), *talk, user("And?")), every_turn=True)
    assert [batch.level for batch in result.batches] == [LAST]
    assert result.view.fits
    assert result.messages[-1].text == "And?"
