"""Small models decorate the line format in every way there is; what they name is read all the same."""

import asyncio
import re

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.flush import line_grammar, parse_memory_lines, says_none
from holdfast.upstreams.embedded import EmbeddedProcess

ADA = ("fact", "Ada leads the shop.")
REDIS = ("decision", "Redis for the cache - Postgres was too slow")
SHORT = ("preference", "Short answers")
ALL = [ADA, REDIS, SHORT]


DRESSES = {
    "English": "FACT: {}\nDECISION: {}\nPREFERENCE: {}",
    "German": "FAKT: {}\nENTSCHEIDUNG: {}\nPRAEFERENZ: {}",
    "any case, umlauts": "Fakt: {}\nentscheidung: {}\nPRÄFERENZ: {}",
    "bullets": "- FACT: {}\n* DECISION: {}\n• PREFERENCE: {}",
    "numbers": "1. FACT: {}\n2) DECISION: {}\n3. **PREFERENCE:** {}",
    "bold": "**FACT**: {}\n**Decision:** {}\n`PREFERENCE`: {}",
    "a fence and remarks": "Found:\n```text\nFACT: {}\nDECISION: {}\n```\nPREFERENCE: {}\n\nHope this helps!",
    "counted": "Fact 1: {}\nDecision #1: {}\nPreference (1): {}",
    "JSON": '["FACT: {}", "DECISION: {}", "PREFERENCE: {}"]',
    "broken JSON": '["FACT: {}", "DECISION: {}", "PREFERENCE: {}"',
    "JSON in lines": '[\n  "FACT: {}",\n  "DECISION: {}",\n  "PREFERENCE: {}",\n]',
    "JSON objects": '[{{"FACT": "{}"}}, {{"decision": ["{}"]}}, {{"kind": "preference", "text": "{}"}}]',
    "thinking": "<think>FACT: nonsense</think>FACT: {}\nDECISION: {}\nPREFERENCE: {}",
    "one line": "FACT: {} DECISION: {} PREFERENCE: {}",
    "repeats": "FACT: {}\r\nDECISION:   {}  \r\nfact: Ada LEADS the shop\r\nPREFERENCE: {}\r\nNO_MEMORIES",
}


@pytest.mark.parametrize("answer", DRESSES.values(), ids=DRESSES)
def test_every_dress_of_the_format_is_read(answer):
    assert parse_memory_lines(answer.format(*(text for _, text in ALL))) == ALL


@pytest.mark.parametrize(
    "answer",
    [
        "KEINE_MEMORIES", "keine memories.", "NO_MEMORIES", "no memories", "**NO_MEMORIES**",
        "`KEINE_MEMORIES`", "```\nNO_MEMORIES\n```", "<think>hm</think>\nNO_MEMORIES",
        "NO_MEMORIES\n\nFACT: [description]",
    ],
)  # fmt: skip
def test_no_memories_means_none(answer):
    assert says_none(answer)
    assert parse_memory_lines(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "", "   \n", "The user talked about facts.", "FACT", "FACT:", "FACT: ...", "FACT: …", "FACT: <fact>",
        "FAKT: [Beschreibung]", "ENTSCHEIDUNG: [Was] - [Warum]", "DECISION: {decision} - {reason}",
        "FACT: none", "FAKT: keine", "FACT: N/A", "FACT: NO_MEMORIES", "Factory: something else",
        "[1, 2, null]", "{", '{"fact": 7}', "In fact: this is a sentence.",
    ],
)  # fmt: skip
def test_gaps_and_other_talk_are_no_memories(answer):
    assert parse_memory_lines(answer) == []


def test_answer_without_lines_is_distinguished_from_none():
    assert not says_none("I cannot help with that.")
    assert not says_none("FACT: Ada has no memories of it.")


def test_the_examples_of_the_prompt_do_not_come_back_as_memories():
    examples = "- FAKT: Konkrete Information (Name, Zahl)\nFACT: Ada lives in Paris."
    prompt = f"Lines like these:\n{examples}\n\nThe talk:\nAda leads the shop."
    answer = "FAKT: Konkrete Information (Name, Zahl)\nFACT: Ada lives in Paris\nFACT: Ada leads the shop."
    assert parse_memory_lines(answer, prompt) == [ADA]


def test_memories_are_cut_at_word_boundary_and_limited_to_thirty():
    (item,) = parse_memory_lines("FACT: " + "many words " * 100)
    assert len(item[1]) <= 500
    assert item[1].endswith("words…") or item[1].endswith("many…")
    assert len(parse_memory_lines("\n".join(f"FACT: thing number {n}" for n in range(99)))) == 30


@given(
    st.lists(
        st.sampled_from(
            [*"-*`\"'[]{}:,. \n1", "FACT", "FAKT:", "decision:", "Ada leads", "NO_MEMORIES", "<think>"]
        )
    )
)
def test_whatever_comes_is_read_without_complaint(pieces):
    for kind, text in parse_memory_lines(" ".join(pieces)):
        assert kind in ("fact", "decision", "preference")
        assert text == text.strip()
        assert 3 <= len(text) <= 500


@pytest.mark.real
@pytest.mark.parametrize("language", ["de", "en"])
def test_a_real_server_holds_a_model_to_the_format(child, language):
    """Without the grammar this model, asked for a poem, would write one."""
    request = {"prompt": "A poem about the sea:\n", "n_predict": 80, "temperature": 0.0}
    answer = httpx.post(
        f"{child.url}/completion",
        headers={"Authorization": f"Bearer {child.key}"},
        json={**request, "grammar": line_grammar(language)},
        timeout=120,
    ).json()["content"]
    labels = {"de": "FAKT|ENTSCHEIDUNG|PRAEFERENZ", "en": "FACT|DECISION|PREFERENCE"}[language]
    *whole, last = answer.splitlines()
    assert all(re.fullmatch(rf"(?:{labels}): [^<\[{{].{{11,299}}", line) for line in whole)
    # The last line may be cut anywhere, but it begins as the others do.
    assert (
        says_none(answer)
        or re.match(labels, last)
        or any(label.startswith(last) for label in labels.split("|"))
    )


@pytest.fixture(scope="module")
def child(weights, tmp_path_factory):
    log = tmp_path_factory.mktemp("llamacpp") / "child.log"
    started = asyncio.run(EmbeddedProcess.start(weights, ctx=512, threads=1, log=log, seconds=120))
    yield started
    asyncio.run(started.stop())
