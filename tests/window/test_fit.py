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


def after(made, *messages):
    """The draft of the next request."""
    draft = made.view.draft
    items = items_of([*(item.message for item in draft.items), *messages])
    seen = frozenset(one.item.id for one in made.view.shown)
    return replace(draft, items=items, decisions=made.view.decisions, seen=seen, fired=made.fired)


def changed(made):
    """The names of messages that are shown shortened."""
    return {one.item.id for one in made.view.shown if one.rules}


def rules_of(made):
    return [proposal.rule for proposal in made.view.proposals]


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
    made = fit(draft)
    assert [(batch.level, batch.strategy) for batch in made.batches] == [(2, "relevance")]
    assert rules_of(made) == ["relevance"]
    assert changed(made) == set(), "there is no level that shortens"
    assert made.view.history < View(draft).history - 0.1 * made.view.thresholds.full
    assert made.level == 2


def test_level_two_alone_waits_for_threshold_and_history_growth(only_leaving_out):
    short = draft_of(only_leaving_out, *many(2), user("And lakes?"))
    assert 0 < View(short).history < View(short).thresholds.leave_out
    assert fit(short).batches == ()
    made = fit(draft_of(only_leaving_out, *many(5), user("And lakes?")))
    assert fit(after(made, answer("Lakes too."), user("And ponds?"))).batches == ()
    grown = fit(after(made, answer("Lakes too. " * 400), *many(2), user("And ponds?")))
    assert [batch.level for batch in grown.batches] == [2]


def test_after_a_refusal_shortening_begins_although_the_preset_has_none(only_leaving_out):
    draft = draft_of(only_leaving_out, *many(2), user("And lakes?"))
    made = fit(draft, at_least=2)
    assert "long" in rules_of(made)
    assert made.total.high < View(draft).total.high


def test_arasul_shortens_old_text_however_empty_the_window_is():
    draft = draft_of(preset_named("arasul"), *many(2), user("And lakes?"), window=32_768)
    made = fit(draft, every_turn=True)
    assert made.view.history < 0.1 * made.view.thresholds.full
    assert [(batch.level, batch.strategy) for batch in made.batches] == [(1, "prune")]
    assert changed(made) == {"m_1"}, "the answer that is replied to, and the question, stay whole"
    assert fit(draft).batches == (), "without it there is no level that would"


def test_arasul_shortens_again_on_the_next_turn_what_has_become_old():
    arasul = preset_named("arasul")
    made = fit(draft_of(arasul, user("Read"), *used("a", "one " * 400), window=32_768), every_turn=True)
    assert changed(made) == set()
    cut = []
    for name in "bcde":
        made = fit(after(made, *used(name, f"{name} " * 900)), every_turn=True)
        cut.append(len(changed(made)))
    assert cut == [0, 1, 2, 3], "one more on every turn; the last two results stay whole"
    assert all(batch.tokens_after < batch.tokens_before for batch in made.batches)


def test_arasul_leaves_what_is_short_as_it_is():
    talk = [message for at in range(6) for message in (user(f"Question {at}?"), answer(f"Answer {at}."))]
    made = fit(draft_of(preset_named("arasul"), *talk, user("And?")), every_turn=True)
    assert made.batches == ()
    assert len(made.messages) == 13


def test_arasul_reaches_last_resort_when_short_texts_are_too_many():
    talk = [message for at in range(90) for message in (user(f"Q{at} " * 20), answer(f"A{at} " * 20))]
    made = fit(draft_of(preset_named("arasul"), *talk, user("And?")), every_turn=True)
    assert [batch.level for batch in made.batches] == [LAST]
    assert made.view.fits
    assert made.messages[-1].text == "And?"
