"""The measurement finds what it looks for: what is planted and lost is told as lost, and only that."""

import asyncio
from dataclasses import replace
from random import Random

import pytest

from evals.compaction_baseline import plain, scripted
from evals.compaction_chats import Exchange, Planted, Planter, generated, planted_in
from evals.compaction_checks import Course, Covered, covered, kept_in, unlike
from evals.compaction_kept import Tally
from evals.compaction_replay import Counting, Setting, replay
from evals.compaction_scripts import PLAIN, SCRIPTS, asks_on_the_side, good, useless, vague
from evals.compaction_speed import compacted, made
from evals.compaction_waiting import Measured, judged
from evals.compaction_words import VOCABULARIES
from holdfast.compaction.summariser import find_problem
from holdfast.compaction.summary_model import PromptTemplates
from holdfast.compaction.transcript import fence
from holdfast.messages import Message
from holdfast.store import SummaryRecord

LANGUAGES = ("en", "de")


@pytest.fixture(scope="module")
def counting(weights):
    return Counting(weights)


def count(text):
    return len(text) // 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_seed_gives_the_same_chat_and_another_one_another(language):
    assert generated(language, 1, 30) == generated(language, 1, 30)
    assert generated(language, 1, 30) != generated(language, 2, 30)


@pytest.mark.parametrize("language", LANGUAGES)
def test_planted_facts_appear_once_and_questions_do_not_reveal_them(language):
    chat = generated(language, 3, 120)
    said = "\n".join(
        message.text for exchange in chat.exchanges for message in (*exchange.asked, exchange.answer)
    )
    planted = [one for exchange in chat.exchanges for one in exchange.planted]
    assert {one.kind for one in planted} == {"value", "rule", "decision"}
    assert {one.by for one in planted} == {"user", "assistant"}
    for one in planted:
        assert said.count(one.value) == 1
        assert one.value in one.said
        assert one.kind != "value" or (one.question and one.value not in one.question)
    assert sum(one.kind == "rule" for one in planted) == 10


def test_planted_things_are_about_something_of_their_own():
    chat = generated("en", 1, 200)
    questions = [one.question for exchange in chat.exchanges for one in exchange.planted if one.question]
    assert len(set(questions)) == len(questions)


def test_a_real_chat_keeps_its_words_and_gets_something_planted():
    exchange = Exchange((Message.of("user", "Hello."),), Message.of("assistant", "Hi."))
    chat = planted_in("x", "en", [exchange] * 20, 1)
    assert all(one.asked[-1].text.startswith("Hello.") for one in chat.exchanges)
    assert all(one.answer == exchange.answer for one in chat.exchanges)
    for one in chat.exchanges:
        assert all(planted.said in one.asked[-1].text for planted in one.planted)
    assert sum(len(one.planted) for one in chat.exchanges) > 10


def test_there_is_something_of_every_sort_to_plant():
    for language in LANGUAGES:
        planter = Planter(language, Random(1))
        sorts = {planter.value().sort for _ in range(28)}
        assert sorts == {template.kind for template in VOCABULARIES[language].templates}


def summary(name, previous, *covers):
    return SummaryRecord(name, "t", previous, covers[-1], 0, covers, {}, 0, "", "", 0.0)


PATH = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("chain", "found"),
    [
        ([], Covered()),
        ([summary("1", None, "a", "b"), summary("2", "1", "c")], Covered()),
        ([summary("1", None, "a"), summary("2", "1", "c")], Covered(lost=1)),
        ([summary("1", None, "a", "b"), summary("2", "1", "b", "c")], Covered(twice=1, out_of_order=1)),
        ([summary("1", None, "b", "a", "c")], Covered(out_of_order=1)),
        ([summary("1", None, "a", "b"), summary("2", None, "c")], Covered(broken=1)),
    ],
)
def test_faults_in_a_chain_of_summaries_are_found(chain, found):
    assert covered(chain, PATH) == found


def test_messages_that_are_not_in_the_log_as_said_are_found():
    said = [("user", "a"), ("assistant", "b")]
    assert unlike(said, said) == 0
    assert unlike(said, said[:1]) == 1
    assert unlike(said, [("user", "a"), ("assistant", "B")]) == 1


PLANTED = (
    Planted("value", "ABC-12345", "The order is ABC-12345.", "Which order?"),
    Planted("value", "E4711", "It says E4711.", "Which error?"),
    Planted("rule", "Never push.", "Never push."),
)


def test_facts_present_in_text_are_kept_and_others_lost():
    kept = kept_in("Order ABC-12345. never push.", PLANTED, 3, 40)
    assert [one.value for one in kept.window] == ["ABC-12345"]
    assert [one.value for one in kept.lost] == ["E4711"]
    assert (kept.rules, len(kept.rules_lost)) == ((), 1)


def test_a_loss_is_told_in_the_table():
    kept = kept_in("ABC-12345 E4711 Never push.", PLANTED, 10, 100)
    course = Course(turns=4, kept=[kept], sizes=[(1000, 100)])
    worse = kept_in("ABC-12345", PLANTED, 10, 300)
    less = replace(course, kept=[worse], above=1, covered=Covered(twice=2))
    rows = {row.what: row for row in _rows(course)}
    assert all(row.met is not False for row in rows.values())
    rows = {row.what: row for row in _rows(less)}
    assert (rows["values kept"].value, rows["values kept"].met) == (50.0, False)
    assert rows["rules word for word"].met is False
    assert rows["turns above the level-3 mark"].met is False
    assert rows["messages lost, covered twice or out of order"].value == 2
    assert rows["tokens after / before"].met is True
    assert rows["the same with rules and decisions"].met is False


def _rows(course):
    tally = Tally()
    tally.add(course, ())
    return tally.rows("generated", "x", (10,))


def _prompt(language, chat):
    text = "\n\n".join(
        f"{speaker}: {message.text}"
        for exchange in chat.exchanges
        for speaker, message in (("User", exchange.asked[0]), ("Assistant", exchange.answer))
    )
    filled = PromptTemplates().render(
        "summary", language, previous="", transcript=fence(text), words=200, trouble=""
    )
    return filled, text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("script", [good, vague])
def test_scripts_that_are_of_use_pass_the_check(language, script):
    prompt, text = _prompt(language, generated(language, 1, 8))
    assert asks_on_the_side(prompt)
    assert find_problem(script(prompt), text, language, finish="stop", room=2000, count=count) == ""


def test_the_good_script_keeps_numbers_and_the_vague_one_does_not():
    chat = generated("en", 1, 8)
    prompt, _ = _prompt("en", chat)
    values = [one for exchange in chat.exchanges for one in exchange.planted if one.kind == "value"]
    assert len(kept_in(good(prompt), values, 1, 0).window) > len(values) // 2
    assert kept_in(vague(prompt), values, 1, 0).window == ()


def test_the_useless_script_never_passes_the_check():
    prompt, text = _prompt("en", generated("en", 1, 8))
    for _ in range(8):
        assert find_problem(useless(prompt), text, "en", finish="stop", room=2000, count=count)


def test_the_plain_way_asks_in_a_way_the_scripts_know():
    assert asks_on_the_side(PLAIN.format(text="User: hello"))
    assert not asks_on_the_side("What is ===== in Markdown?")


def test_rereading_more_than_the_turn_misses_the_target():
    usual = [Measured(100, 100, 90, False), Measured(200, 95, 90, False)]
    fine, bad = Measured(300, 100, 90, True), Measured(300, 300, 90, True)
    for last, met in ((fine, True), (bad, False)):
        rows = [row for row in judged("x", [*usual, last]) if row.target]
        assert [row.met for row in rows] == [met]


@pytest.mark.parametrize("script", ["good", "no model"])
def test_a_small_replay_loses_nothing(script, counting):
    chat = generated("en", 1, 60)
    setting = Setting(counting, SCRIPTS[script], marks=(1, 2), window=4096)
    course = asyncio.run(replay(chat, setting))
    assert [kept.compactions for kept in course.kept] == [1, 2]
    assert all(kept.values and not kept.lost for kept in course.kept)
    assert course.covered == Covered()
    assert (course.unlike, course.above, course.overflows) == (0, 0, 0)


def test_plain_baseline_loses_facts_the_model_omits(counting):
    setting = Setting(counting, vague, marks=(1, 2), window=4096)
    found = asyncio.run(plain(generated("en", 1, 60), setting, scripted(setting)))
    assert [kept.compactions for kept in found] == [1, 2]
    assert all(len(kept.lost) > len(kept.window) for kept in found)


def test_the_path_without_a_model_is_timed(counting):
    chat = generated("en", 1, 10)
    messages = [message for exchange in chat.exchanges for message in (*exchange.asked, exchange.answer)]
    assert asyncio.run(made(messages, counting)).processor > 0
    assert asyncio.run(compacted(messages, counting)).processor > 0
