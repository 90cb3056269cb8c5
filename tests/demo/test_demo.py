"""The demonstration as people start it: it holds what it shows, and says so when something is missing."""

import asyncio
import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from holdfast.cli import app
from holdfast.cli.demo import make_pacer, show_live
from holdfast.demo.performance import (
    AnswerEvent,
    DemoScript,
    EndEvent,
    LevelEvent,
    MemoryEvent,
    Origin,
    Player,
    RecallEvent,
    ScriptLine,
    TurnEvent,
    find_answer,
    load_script,
    perform,
)
from holdfast.errors import UpstreamError
from holdfast.i18n import speak
from holdfast.messages import ChatRequest, Message

pytestmark = pytest.mark.slow

_BY_NAME = {
    "turn": TurnEvent,
    "level": LevelEvent,
    "memory": MemoryEvent,
    "recall": RecallEvent,
    "answer": AnswerEvent,
    "end": EndEvent,
}


def demo(*words):
    environment = {"HOLDFAST_EMBEDDER": "off", "HOLDFAST_LANGUAGE": "en"}
    return CliRunner().invoke(app, ["demo", "--fast", *words], env=environment)


@pytest.fixture(scope="module")
def english():
    """One run for all tests that look at what it says to programs."""
    result = demo("--json")
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def of(events, name):
    return [event for event in events if event["event"] == name]


def test_every_request_of_120_turns_fits_the_window_less_its_reserve(english):
    turns, (end,) = of(english, "turn"), of(english, "end")
    assert [turn["turn"] for turn in turns] == list(range(1, 121))
    assert all(turn["tokens"] <= turn["room"] == 6_144 for turn in turns)
    assert end["largest"] <= 6_144, "by the model's own count, too"
    assert end["said"] > 2 * end["room"], "without Holdfast it would not have fitted"
    assert end["sent"] < end["resent"] / 2
    assert 120 < end["cut"] < end["messages"] == 240


def test_every_part_of_the_engine_is_seen_at_work(english):
    levels, memories = of(english, "level"), of(english, "memory")
    assert {level["level"] for level in levels} >= {1, 3}
    assert all(level["after"] < level["before"] for level in levels)
    assert {level["way"] for level in levels if level["level"] == 3} == {"extractive"}
    assert {memory["kind"] for memory in memories} >= {"fact", "decision", "preference"}
    assert any(origin["place"] == "log" for recall in of(english, "recall") for origin in recall["origins"])


def test_early_facts_are_recalled_at_end_with_their_source(english):
    answers = of(english, "answer")
    assert all(answer["right"] for answer in answers)
    file, rule, decision = (answer["answer"] for answer in answers[-4:-1])
    assert "cellar_inventory_2019_v3.xlsx" in file
    assert rule == "Never throw away a folder before Mr. Petersen has signed for it."
    assert decision.startswith("We decided to rent the scanner")
    places = {answer["origin"]["place"] for answer in answers}
    assert places >= {"rule", "decision", "memory"}, "none of it stands in the window as it was said"
    assert "window" not in places


def test_a_new_conversation_knows_it_from_a_line_of_a_note(english):
    last = of(english, "answer")[-1]
    assert last["turn"] == 0
    assert last["origin"]["place"] == "memory"
    path, _, line = last["origin"]["note"].rpartition(":")
    assert path == "default/MEMORY.md"
    assert int(line) > 0


def test_nothing_is_left_behind(english):
    (end,) = of(english, "end")
    assert not Path(end["home"]).exists()


def test_languages_have_equal_turns_with_questions_at_same_positions():
    talks = [load_script("en"), load_script("de")]
    assert {len(talk.lines) for talk in talks} == {120}
    asked, gefragt = ([bool(line.sought) for line in talk.lines] for talk in talks)
    assert asked == gefragt
    assert all(bool(line.answer) != bool(line.sought) for talk in talks for line in talk.lines)


def perform_all(talk, home):
    async def all_of_it():
        return [happening async for happening in perform(talk, home, "off")]

    return asyncio.run(all_of_it())


def test_unknown_fact_is_not_recalled_and_demo_fails(tmp_path):
    """As it would be had the store forgotten it."""
    lines = (
        ScriptLine("The key is under the blue pot.", "Good to know."),
        ScriptLine("What is the name of our dog?", sought="Bello"),
        ScriptLine("Under which pot is the key?", sought="under the blue pot"),
    )
    talk = DemoScript("en", "You help.", lines, ScriptLine("Where did we go last year?", sought="Sweden"))
    *_, end = happenings = perform_all(talk, tmp_path)
    dog, key, holiday = (item for item in happenings if isinstance(item, AnswerEvent))
    assert "I do not know" in dog.answer
    assert (dog.right, dog.origin) == (False, Origin("nowhere"))
    assert (key.right, key.origin) == (True, Origin("window", turn=1))
    assert not holiday.right
    assert (end.right, end.asked, end.well) == (1, 3, False)


def request(*texts):
    talk = [Message.of(("user", "assistant")[at % 2], text) for at, text in enumerate(texts)]
    return ChatRequest("scripted", (Message.of("system", "You help."), *talk))


def test_the_model_answers_only_from_the_request_it_is_sent():
    question = "What was the number of Okafor?"
    player = Player(DemoScript("en", "You help.", (ScriptLine("Hello!", "Hi."),), ScriptLine("")))
    assert player.answer(request("Hello!")) == "Hi."
    assert "do not know" in player.answer(request("Hello!", "Hi.", question))
    brought = (
        f"{question}\n\n[From earlier in this conversation]\n- 2026-01-02, user: Okafor has the number 77."
    )
    assert player.answer(request("Hello!", "Hi.", brought)) == "Okafor has the number 77."
    assert find_answer(request("Is the number of Okafor 77?", "Maybe.", question)) is None, (
        "a question is no answer"
    )


def test_the_model_declines_what_holdfast_asks_it_on_the_side():
    player = Player(DemoScript("en", "You help.", (), ScriptLine("")))
    asked = ChatRequest("scripted", (Message.of("user", "Summarise this: …"),))
    assert isinstance(player.answer(asked), UpstreamError)


TURNED = TurnEvent(7, 120, "A question?", "An answer.", 1, 900, 6_144, 8_192, 4_000, {"history": 900})
HAPPENED = (
    TURNED,
    LevelEvent(7, 3, 38, 2_700, 373, "extractive"),
    MemoryEvent(7, "added", "fact", "The lease ends."),
    RecallEvent(7, "[From earlier]\n- 2026-01-02, user: It was blue.", (Origin("log", 3),)),
    AnswerEvent(7, "Which colour?", "It was blue.", True, Origin("log", 3)),
    EndEvent(120, 9, 8_192, 6_144, 9, 9, 9, {1: 2}, 1, 1, 2, 1, 240, 10, 1.0, "/nowhere"),
)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            ("turn 7 of 120", "summarised: 38 messages, 2,700 → 373", "brought back (turn 3): It was blue."),
        ),
        ("de", ("Zug 7 von 120", "zusammengefasst: 38 Nachrichten, 2.700 → 373", "geholt (Zug 3)")),
    ],
)
def test_terminal_demo_draws_meter_events_and_result(language, expected):
    speak(language)
    screen = StringIO()
    console = Console(file=screen, force_terminal=True, width=120, color_system=None)
    with show_live(console, keep=False) as show:
        for happening in HAPPENED:
            show(happening)
    drawn = screen.getvalue()
    assert all(text in drawn for text in (*expected, "The lease ends.", "█", "holdfast serve"))
    assert ("Not everything was remembered." if language == "en" else "Nicht alles wurde behalten.") in drawn


def test_whoever_watches_has_time_to_but_not_for_ever(english):
    """Whatever the engine takes for it, the pauses end in time."""
    now = 0.0
    rest = make_pacer(lambda: now)
    pauses = []
    for event in english:
        happening = _BY_NAME[event.pop("event")]
        event.pop("well", None)
        pauses.append(rest(happening(**event)))
        now += pauses[-1] + 0.05
    assert 30 < sum(pauses) <= 70
    now = 71.0
    assert rest(TURNED) == 0.0
