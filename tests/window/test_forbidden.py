"""What a person forbids is in every later window, word for word, however long the talk goes on."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.messages import Message
from holdfast.tokens.budget import budget_for
from holdfast.tokens.counter import ExactCounter
from holdfast.window.fit import fit
from holdfast.window.rules import decisions_in, forbidden_in, rules_in
from holdfast.window.summarise import border, propose_summary
from holdfast.window.view import Draft
from tests.window.talks import Pennies, items_of

FORBIDDEN = (
    "Do not use webpack.",
    "Please don't push to main.",
    "Don't touch packages/legacy.",
    "Avoid axios.",
    "Fass legacy.ts nicht an.",
    "Keine neuen Abhängigkeiten.",
    "Bumping stripe failed with ERR_REQUIRE_ESM, do not try that again.",
)


def marked(messages, results):
    return {
        f"m_{at}": list(text)
        for at, message in enumerate(messages)
        if message.role == "user" and (text := results(message.text))
    }


def sent(result):
    return "\n".join(message.text for message in result.messages)


@settings(deadline=None, max_examples=8)
@given(
    places=st.lists(st.integers(0, 30), min_size=len(FORBIDDEN), max_size=len(FORBIDDEN)),
    window=st.sampled_from([2_048, 4_096, 8_192]),
    summarises=st.integers(5, 40),
    filler=st.integers(5, 60),
)
def test_a_prohibition_is_in_every_later_window(places, window, summarises, filler):
    messages, decisions, fired = [], (), {}
    for turn in range(40):
        texts = [text for place, text in zip(places, FORBIDDEN, strict=True) if place == turn]
        for text in texts:
            messages += [Message.of("user", text), Message.of("assistant", "Understood.")]
        messages.append(Message.of("user", f"Step {turn}: " + "we talk of other things " * filler))
        rules = marked(messages, rules_in)
        draft = Draft(
            items_of(messages),
            budget_for(window),
            ExactCounter(Pennies()),
            decisions=decisions,
            rules=rules,
            agreed=marked(messages, decisions_in),
            forbidden=marked(messages, forbidden_in),
            fired=fired,
        )
        result = fit(draft)
        for place, text in zip(places, FORBIDDEN, strict=True):
            assert place > turn or text in sent(result)
        decisions, fired = result.view.decisions, result.fired
        if turn % summarises == summarises - 1 and (place := border(result.view)) is not None:
            # A model that keeps nothing at all.
            decisions = (
                *decisions,
                propose_summary(result.view, place, "They talked.", "s_1", "it was time"),
            )
        messages.append(Message.of("assistant", "Done. " * 10))


def test_what_is_forbidden_stands_under_a_heading_of_its_own():
    messages = [Message.of("user", FORBIDDEN[0]), Message.of("assistant", "Fine. " * 50)]
    for _ in range(6):
        messages += [Message.of("user", "Go on. " * 40), Message.of("assistant", "Done. " * 40)]
    messages.append(Message.of("user", "And now?"))
    draft = Draft(items_of(messages), budget_for(4_096), ExactCounter(Pennies()))
    draft = replace(draft, forbidden=marked(messages, forbidden_in))
    view = fit(draft).view
    place = border(view)
    assert place is not None
    decided = (*view.decisions, propose_summary(view, place, "They talked.", "s_1", "it was time"))
    result = fit(replace(draft, decisions=decided))
    assert f"Must not, as said earlier in this conversation:\n- {FORBIDDEN[0]}" in result.messages[0].text


def test_many_rules_do_not_push_out_what_is_forbidden():
    messages = [Message.of("user", FORBIDDEN[0]), Message.of("assistant", "Fine.")]
    for number in range(60):
        messages += [
            Message.of("user", f"From now on always name file number {number} first. " + "word " * 30),
            Message.of("assistant", "Done. " * 20),
        ]
    messages.append(Message.of("user", "And now?"))
    draft = Draft(items_of(messages), budget_for(4_096), ExactCounter(Pennies()))
    draft = replace(draft, rules=marked(messages, rules_in), forbidden=marked(messages, forbidden_in))
    assert FORBIDDEN[0] in sent(fit(draft))


def test_what_is_not_tried_again_comes_with_what_failed():
    tried = "Gestern haben wir den Assistenten ausprobiert, nach 1.312 Kunden abgebrochen."
    assert forbidden_in(f"{tried} Den nehmen wir nicht nochmal.") == (
        f"{tried} Den nehmen wir nicht nochmal.",
    )
    tried = "Redis als Zwischenspeicher haben wir ausprobiert, die Kiste ist in die Knie gegangen."
    assert forbidden_in(f"{tried} Das lassen wir.") == (f"{tried} Das lassen wir.",)
