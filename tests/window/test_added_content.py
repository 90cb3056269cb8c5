"""What stands beside the words of a talk and how it leaves: research, quotes, pictures and files."""

from base64 import b64encode
from dataclasses import replace

import pytest

from holdfast.messages import File, Image, Message, Text, ToolCall, ToolResult
from holdfast.tokens.budget import budget_for
from holdfast.tokens.counter import ExactCounter
from holdfast.window.additions import SOURCE_TOKENS, drop_evidence
from holdfast.window.decisions import LAST, Add
from holdfast.window.fit import fit
from holdfast.window.levels import RESULT
from holdfast.window.view import Draft, View
from tests.window.talks import Pennies, items_of

PENNIES = Pennies()
PICTURE = Image(data="R0lGODlh")
PAPER = File("plan.pdf", b64encode(b"%PDF-1.7").decode(), "application/pdf")
GONE = "[attachment left out]"


def talk(*messages, window=4_096, **more):
    return Draft(items_of(messages), budget_for(window), ExactCounter(PENNIES), **more)


def user(text):
    return Message.of("user", text)


def answer(text):
    return Message.of("assistant", text)


def used(name, *parts):
    """A tool called and answered, with whatever it brought along."""
    call = ToolCall("look", f'{{"at": "{name}"}}', id=name)
    return [Message("assistant", (call,)), Message("tool", (ToolResult(parts, call_id=name),))]


def added(section, message, text, name):
    rule = "context" if section == "research" else section
    return Add(rule, (message,), 0, PENNIES.count(text), section, text, id=name)


def facts(about, number):
    return f"First, {about}. " + f"More of {about}. " * number + f"Lastly, {about}."


def after(result, *messages):
    """The draft of the next request."""
    draft = result.view.draft
    items = items_of([*(item.message for item in draft.items), *messages])
    seen = frozenset(entry.item.id for entry in result.view.shown)
    return replace(draft, items=items, decisions=result.view.decisions, seen=seen, fired=result.fired)


def shown(result):
    return {item.item.id: item for item in result.view.shown}


def rules_of(result):
    return [proposal.rule for proposal in result.view.proposals]


@pytest.fixture
def researched():
    """Four questions with what was found for each: much, little, much, and much for the newest."""
    sizes = {"rivers": 300, "lakes": 5, "towns": 300, "hills": 60}
    messages = [item for about in sizes for item in (user(f"Tell me of {about}"), answer("They are old."))]
    addeds = tuple(
        added("research", f"m_{2 * at}", facts(about, size), f"d_{about}")
        for at, (about, size) in enumerate(sizes.items())
    )
    return replace(talk(*messages[:-1]), decisions=addeds)


def test_research_of_earlier_questions_is_noted_down_and_no_longer_quoted(researched):
    result = fit(researched)
    assert rules_of(result) == ["research"]
    (replaced,) = result.view.proposals
    assert replaced.messages == ("m_0", "m_4")
    for name, about in (("m_0", "rivers"), ("m_4", "towns")):
        (left,) = shown(result)[name].additions
        assert PENNIES.count(left.text) <= SOURCE_TOKENS
        assert left.text.startswith(f"First, {about}.")
        assert "[shortened: " in left.text
        assert shown(result)[name].message.text == f"Tell me of {about}\n\n{left.text}"
    assert replaced.tokens_before > 2_000
    assert replaced.tokens_after <= 2 * SOURCE_TOKENS


def test_newest_research_and_short_research_stay_unchanged(researched):
    result = fit(researched)
    assert shown(result)["m_2"].message.text.endswith(facts("lakes", 5))
    assert shown(result)["m_6"].message.text.endswith(facts("hills", 60))


def test_research_that_was_noted_down_stays_so_byte_for_byte(researched):
    result = fit(researched)
    again = fit(after(result, answer("They are old."), user("Thanks")))
    assert again.view.proposals == ()
    assert again.messages[: len(result.messages)] == result.messages


def test_quotes_of_earlier_questions_leave_in_batch_and_newest_stays(researched):
    quotes = [added("recalled", name, f"[Quote] for {name}", f"d_{name}") for name in ("m_0", "m_6")]
    result = fit(researched, quotes)
    assert "recalled_old" in rules_of(result)
    assert "[Quote]" not in shown(result)["m_0"].message.text
    assert shown(result)["m_6"].message.text.endswith("[Quote] for m_6")


def test_evidence_of_earlier_questions_is_dropped_in_one_decision():
    messages = [item for at in range(3) for item in (user(f"Question {at}"), answer("Yes."))][:-1]
    quotes = tuple(added("recalled", f"m_{2 * at}", f"[Quote {at}]", f"d_{at}") for at in range(3))
    view = View(replace(talk(*messages), decisions=quotes))
    (leaving,) = drop_evidence(view)
    assert (leaving.kind, leaving.rule) == ("replace", "recalled_full")
    assert leaving.messages == ("m_0", "m_2")
    after_it = [shown.message.text for shown in view.having(leaving).shown[::2]]
    assert after_it == ["Question 0", "Question 1", "Question 2\n\n[Quote 2]"]
    assert leaving.tokens_before == sum(PENNIES.count(f"[Quote {at}]") for at in range(2))
    assert drop_evidence(View(talk(*messages))) == []
    assert drop_evidence(view.having(leaving)) == []


def test_evidence_counts_as_no_history_and_moves_no_threshold():
    plain = View(talk(user("Old"), answer("Yes."), user("New")))
    quotes = [added("recalled", name, "quoted " * 200, f"d_{name}") for name in ("m_0", "m_2")]
    lent = plain.having(*quotes)
    assert lent.total.high >= plain.total.high + 400
    # But for the empty lines before them.
    assert lent.history == pytest.approx(plain.history, abs=2)
    assert lent.thresholds.leave_out == pytest.approx(plain.thresholds.leave_out, abs=2)


@pytest.fixture
def pictured():
    """Old results: a picture beside a long text, beside a short one, alone, a paper; and then two more."""
    return talk(
        user("Look around"),
        *used("long", Text("pixel " * 900), PICTURE),
        *used("short", Text("A harbour."), PICTURE),
        *used("alone", PICTURE),
        *used("paper", Text("The plan."), PAPER),
        *used("words", Text("Nothing there.")),
        answer("I looked. " * 300),
        user("And again"),
        *used("newer", Text("A bridge."), PICTURE),
        *used("newest", Text("A ferry."), PAPER),
        answer("There it is."),
        user("Which one was it?"),
        window=12_288,
    )


def test_pictures_and_files_leave_with_old_results(pictured):
    output = fit(pictured)
    results = {result.call_id: result for message in output.messages for result in message.tool_results}
    assert results.keys() == {"long", "short", "alone", "paper", "words", "newer", "newest"}
    for name in ("long", "short", "alone", "paper"):
        assert [type(part) for part in results[name].parts] == [Text], name
        assert results[name].text.endswith(GONE)
    assert results["short"].text == f"A harbour.{GONE}", "what is short is said in full"
    assert results["alone"].text == GONE
    assert results["long"].text.startswith("pixel")
    assert PENNIES.count(results["long"].text.removesuffix(GONE)) <= RESULT
    assert results["words"].text == "Nothing there."


def test_pictures_and_files_in_the_last_two_results_stay(pictured):
    output = fit(pictured)
    results = {result.call_id: result for message in output.messages for result in message.tool_results}
    assert results["newer"].parts == (Text("A bridge."), PICTURE)
    assert results["newest"].parts == (Text("A ferry."), PAPER)


def test_attachments_dropped_from_old_results_stay_dropped(pictured):
    result = fit(pictured)
    again = fit(after(result, answer("The ferry."), user("Sure?")), at_least=1)
    assert "tool_result" not in rules_of(again)
    assert again.messages[: len(result.messages)] == result.messages


def test_a_pinned_result_keeps_its_picture(pictured):
    result = fit(replace(pictured, pins=frozenset({"m_4"})))
    assert shown(result)["m_4"].message.tool_results[0].parts == (Text("A harbour."), PICTURE)


def brought(question, *, recalled, research, window=2_048):
    """A first question with quotes and sources behind it, made to fit."""
    draft = talk(user(question), window=window)
    proposals = [
        added("research", "m_0", facts("rivers", research), "d_found"),
        added("recalled", "m_0", "[Quote] " + "said before " * recalled, "d_quote"),
    ]
    return fit(draft, proposals)


def test_in_the_end_quotes_go_before_anything_found_is_cut():
    snippets = brought("What now? " + "word " * 600, recalled=100, research=120)
    text = snippets.messages[-1].text
    assert snippets.level == LAST
    assert snippets.view.fits
    assert text.startswith("What now? word")
    assert "[Quote]" not in text
    assert text.endswith(facts("rivers", 120)), "with the quotes gone it fits as it is"


def test_last_resort_cuts_findings_and_keeps_whole_question():
    question = "What now? " + "word " * 600 + "End?"
    snippets = brought(question, recalled=100, research=3_000)
    text = snippets.messages[-1].text
    assert text.startswith(f"{question}\n\nFirst, rivers.")
    assert "[Quote]" not in text
    assert "[shortened: " in text
    assert text.endswith("Lastly, rivers.")
    assert 0.95 * snippets.view.room <= snippets.total.high <= snippets.view.room
    assert {proposal.rule for proposal in snippets.view.proposals[2:]} == {"last"}


def test_last_resort_drops_findings_entirely_before_cutting_question():
    question = "What now? " + "word " * 1_136 + "End?"
    alone = View(talk(user(question), window=2_048))
    assert 0 <= alone.room - alone.total.high < 32, "beside it there is room, but not for anything of use"
    snippets = brought(question, recalled=100, research=3_000)
    assert snippets.messages[-1].text == question
    assert snippets.view.fits


def test_last_resort_drops_history_before_findings_of_question():
    old = [message for at in range(12) for message in (user(f"Q{at} " * 80), answer(f"A{at} " * 80))]
    draft = talk(*old, user("And rivers?"), window=2_048)
    result = fit(draft, [added("research", "m_24", facts("rivers", 200), "d_found")], levels=False)
    assert result.messages[-1].text == f"And rivers?\n\n{facts('rivers', 200)}"
    assert "m_0" in result.view.rendered.out
