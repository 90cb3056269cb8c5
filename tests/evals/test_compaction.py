"""The measurement finds what it looks for: what is planted and lost is told as lost, and only that."""

import asyncio
from dataclasses import replace
from random import Random

import pytest

from evals.compaction_baseline import plain, script_model
from evals.compaction_chats import VOCABULARIES, Exchange, Planted, Planter, generate_chat, plant_in
from evals.compaction_replay import (
    Course,
    Coverage,
    ReplaySettings,
    TokenCounter,
    check_coverage,
    find_planted,
    replay,
    unlike,
)
from evals.compaction_retention import Tally
from evals.compaction_scripts import PLAIN, SCRIPTS, asks_on_the_side, good, useless, vague
from evals.compaction_speed import measure_compaction, measure_plan
from evals.compaction_waiting import Measured, judge
from holdfast.compaction.summariser import PromptTemplates, find_problem
from holdfast.compaction.transcript import fence
from holdfast.messages import Message
from holdfast.store import SummaryRecord

LANGUAGES = ("en", "de")


@pytest.fixture(scope="module")
def counting(weights):
    return TokenCounter(weights)


def count(text):
    return len(text) // 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_seed_gives_the_same_chat_and_another_one_another(language):
    assert generate_chat(language, 1, 30) == generate_chat(language, 1, 30)
    assert generate_chat(language, 1, 30) != generate_chat(language, 2, 30)


@pytest.mark.parametrize("language", LANGUAGES)
def test_planted_facts_appear_once_and_questions_do_not_reveal_them(language):
    chat = generate_chat(language, 3, 120)
    text = "\n".join(
        message.text for exchange in chat.exchanges for message in (*exchange.asked, exchange.answer)
    )
    planted = [entry for exchange in chat.exchanges for entry in exchange.planted]
    assert {value.kind for value in planted} == {"value", "rule", "decision"}
    assert {one.by for one in planted} == {"user", "assistant"}
    for item in planted:
        assert text.count(item.value) == 1
        assert item.value in item.said
        assert item.kind != "value" or (item.question and item.value not in item.question)
    assert sum(one.kind == "rule" for one in planted) == 10


def test_planted_things_are_about_something_of_their_own():
    chat = generate_chat("en", 1, 200)
    questions = [item.question for exchange in chat.exchanges for item in exchange.planted if item.question]
    assert len(set(questions)) == len(questions)


def test_a_real_chat_keeps_its_words_and_gets_something_planted():
    exchange = Exchange((Message.of("user", "Hello."),), Message.of("assistant", "Hi."))
    chat = plant_in("x", "en", [exchange] * 20, 1)
    assert all(entry.asked[-1].text.startswith("Hello.") for entry in chat.exchanges)
    assert all(value.answer == exchange.answer for value in chat.exchanges)
    for item in chat.exchanges:
        assert all(planted.said in item.asked[-1].text for planted in item.planted)
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
        ([], Coverage()),
        ([summary("1", None, "a", "b"), summary("2", "1", "c")], Coverage()),
        ([summary("1", None, "a"), summary("2", "1", "c")], Coverage(lost=1)),
        ([summary("1", None, "a", "b"), summary("2", "1", "b", "c")], Coverage(twice=1, out_of_order=1)),
        ([summary("1", None, "b", "a", "c")], Coverage(out_of_order=1)),
        ([summary("1", None, "a", "b"), summary("2", None, "c")], Coverage(broken=1)),
    ],
)
def test_faults_in_a_chain_of_summaries_are_found(chain, found):
    assert check_coverage(chain, PATH) == found


def test_messages_that_are_not_in_the_log_as_said_are_found():
    text = [("user", "a"), ("assistant", "b")]
    assert unlike(text, text) == 0
    assert unlike(text, text[:1]) == 1
    assert unlike(text, [("user", "a"), ("assistant", "B")]) == 1


PLANTED = (
    Planted("value", "ABC-12345", "The order is ABC-12345.", "Which order?"),
    Planted("value", "E4711", "It says E4711.", "Which error?"),
    Planted("rule", "Never push.", "Never push."),
)


def test_facts_present_in_text_are_kept_and_others_lost():
    record = find_planted("Order ABC-12345. never push.", PLANTED, 3, 40)
    assert [item.value for item in record.window] == ["ABC-12345"]
    assert [entry.value for entry in record.lost] == ["E4711"]
    assert (record.rules, len(record.rules_lost)) == ((), 1)


def test_a_loss_is_told_in_the_table():
    record = find_planted("ABC-12345 E4711 Never push.", PLANTED, 10, 100)
    course = Course(turns=4, retentions=[record], sizes=[(1000, 100)])
    worse = find_planted("ABC-12345", PLANTED, 10, 300)
    less = replace(course, retentions=[worse], above=1, coverage=Coverage(twice=2))
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
    prompt, text = _prompt(language, generate_chat(language, 1, 8))
    assert asks_on_the_side(prompt)
    assert find_problem(script(prompt), text, language, finish="stop", room=2000, count=count) == ""


def test_the_good_script_keeps_numbers_and_the_vague_one_does_not():
    chat = generate_chat("en", 1, 8)
    prompt, _ = _prompt("en", chat)
    values = [item for exchange in chat.exchanges for item in exchange.planted if item.kind == "value"]
    assert len(find_planted(good(prompt), values, 1, 0).window) > len(values) // 2
    assert find_planted(vague(prompt), values, 1, 0).window == ()


def test_the_useless_script_never_passes_the_check():
    prompt, text = _prompt("en", generate_chat("en", 1, 8))
    for _ in range(8):
        assert find_problem(useless(prompt), text, "en", finish="stop", room=2000, count=count)


def test_the_plain_way_asks_in_a_way_the_scripts_know():
    assert asks_on_the_side(PLAIN.format(text="User: hello"))
    assert not asks_on_the_side("What is ===== in Markdown?")


def test_rereading_more_than_the_turn_misses_the_target():
    usual = [Measured(100, 100, 90, False), Measured(200, 95, 90, False)]
    fine, bad = Measured(300, 100, 90, True), Measured(300, 300, 90, True)
    for last, met in ((fine, True), (bad, False)):
        rows = [row for row in judge("x", [*usual, last]) if row.target]
        assert [row.met for row in rows] == [met]


@pytest.mark.parametrize("script", ["good", "no model"])
def test_a_small_replay_loses_nothing(script, counting):
    chat = generate_chat("en", 1, 60)
    setting = ReplaySettings(counting, SCRIPTS[script], marks=(1, 2), window=4096)
    course = asyncio.run(replay(chat, setting))
    assert [record.compactions for record in course.retentions] == [1, 2]
    assert all(rows.values and not rows.lost for rows in course.retentions)
    assert course.coverage == Coverage()
    assert (course.unlike, course.above, course.overflows) == (0, 0, 0)


def test_plain_baseline_loses_facts_the_model_omits(counting):
    setting = ReplaySettings(counting, vague, marks=(1, 2), window=4096)
    result = asyncio.run(plain(generate_chat("en", 1, 60), setting, script_model(setting)))
    assert [record.compactions for record in result] == [1, 2]
    assert all(len(rows.lost) > len(rows.window) for rows in result)


def test_the_path_without_a_model_is_timed(counting):
    chat = generate_chat("en", 1, 10)
    messages = [message for exchange in chat.exchanges for message in (*exchange.asked, exchange.answer)]
    assert asyncio.run(measure_plan(messages, counting)).processor > 0
    assert asyncio.run(measure_compaction(messages, counting)).processor > 0
