"""Shortening keeps its limit whatever comes in, and keeps what is worth most."""

import json
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.tokens.tokenizer import Tokenizer
from holdfast.window.shorten import cut_middle, fences, marker, shorten, shorten_result, tail_start
from tests.tokens.small import byte_level, vocabulary

TOKENIZER = Tokenizer(vocabulary(byte_level()))


def by_length(text):
    return len(text) // 4


def by_words(text):
    return len(text.split())


def by_bytes(text):
    return len(text.encode("utf-8", "surrogatepass"))


def by_vocabulary(text):
    # Vocabularies have no tokens for half a character; servers are sent a replacement.
    return TOKENIZER.count(text.encode("utf-8", "replace").decode())


COUNTS = (by_length, by_words, by_bytes, by_vocabulary)
ALL = (shorten, shorten_result, cut_middle)

PIECES = st.sampled_from(
    [
        *(
            "\n",
            "\n\n",
            "```",
            "```python\n",
            "\n```\n",
            "~~~\n",
            "    ```\n",
            "````\n",
            "\n- ",
            "| a | b |\n",
        ),
        *(
            "A sentence. ",
            "word ",
            "Error: no such file\n",
            "x" * 300,
            "  ",
            "\r\n",
            "{",
            "}",
            '["a", 1]',
            ",",
        ),
        *(
            "e\u0301",
            "👩\u200d👩\u200d👧",
            "🇩🇪",
            "\ud83d",
            "\ude00",
            "漢字。",
            "ä",
            "\x00",
            "\u2028",
        ),
    ]
)
LONG = st.lists(PIECES, min_size=20, max_size=40).map("".join)
TEXTS = st.one_of(st.text(), LONG, LONG.map(lambda text: f"{text}{marker(7)}{text}"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=8), inner, max_size=12),
    max_leaves=60,
)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("function", ALL)
@given(text=TEXTS, limit=st.integers(24, 300))
@example(text="\n" * 19 + "[1000]", limit=24)
@settings(deadline=None)
def test_shortening_respects_limit_and_is_idempotent(function, count, text, limit):
    short = function(text, limit, count)
    assert count(short) <= limit
    assert function(short, limit, count) == short
    assert function(text, limit, count) == short
    if count(text) <= limit:
        assert short == text
    else:
        # JSON that fits without the space around it is whole.
        assert "[shortened" in short or json.loads(short) == json.loads(text)


@pytest.mark.parametrize("function", ALL)
@given(text=TEXTS, limit=st.integers(0, 23))
@settings(deadline=None)
def test_limit_smaller_than_marker_is_still_respected(function, text, limit):
    assert by_bytes(function(text, limit, by_bytes)) <= limit


@given(LONG, st.integers(40, 300))
@settings(deadline=None)
def test_a_fence_stays_whole_or_goes_whole(text, limit):
    short = shorten(text, limit, by_bytes)
    if short == text:
        return
    head, _, tail = short.partition("[shortened: ")
    start, end = len(head.rstrip()), len(text) - len(tail.partition("]")[2].lstrip())
    assert text.startswith(head.rstrip())
    for opens, closes in fences(text):
        # What a fence ends with may be white space that a cut takes along.
        assert start <= opens or start >= len(text[:closes].rstrip())
        assert end <= opens + len(text[opens:]) - len(text[opens:].lstrip()) or end >= closes


@given(JSON, st.integers(24, 300), st.sampled_from([None, 2]))
@settings(deadline=None)
def test_json_stays_json_of_the_same_kind(value, limit, indent):
    text = json.dumps([value, {"more": "x" * 2_000}], indent=indent, ensure_ascii=False)
    short = shorten_result(text, limit, by_length)
    assert by_length(short) <= limit
    json.loads(short)


@given(
    st.lists(st.sampled_from(["e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "한"]), min_size=5, max_size=9)
)
@settings(deadline=None)
def test_what_a_person_sees_as_one_character_is_not_split(characters):
    # A run of nothing but flags is looked at only so far back.
    characters = [*characters, "한"] * 200
    text = "".join(characters)
    head, rest = cut_middle(text, 100, by_length).split(" [")
    borders = set(accumulate(map(len, characters), initial=0))
    assert len(head) in borders
    assert len(text) - len(rest.partition("] ")[2]) in borders


def test_half_a_surrogate_pair_is_not_left_over():
    text = "\ud83d\ude00" * 500
    head, rest = cut_middle(text, 100, by_length).split(" [")
    assert len(head) % 2 == 0
    assert len(rest.partition("] ")[2]) % 2 == 0


def test_the_marker_is_neutral_and_says_how_much_went():
    assert marker(2310) == "[shortened: 2,310 tokens]"
    text = "\n".join(f"This is line {number}." for number in range(200))
    head, rest = shorten(text, 100, by_words).split("\n[shortened: ")
    number, tail = rest.split(" tokens]\n")
    assert int(number.replace(",", "")) == by_words(text) - by_words(head) - by_words(tail)


def test_about_three_fifths_are_head_and_two_fifths_tail():
    text = "\n".join(f"Line {number} says a few words." for number in range(500))
    head, tail = shorten(text, 400, by_length).split("\n[shortened")
    assert 0.5 < len(head) / (len(head) + len(tail)) < 0.7
    assert head.startswith("Line 0 ")
    assert tail.endswith("Line 499 says a few words.")


@pytest.mark.parametrize(
    ("text", "head", "tail"),
    [
        ("First words. More of it.\n\n" * 40, "More of it.\n", "\nFirst"),
        ("First words. More of it.\n" * 40, "More of it.\n", "\nFirst"),
        ("First words. More of it. " * 40, ". ", " "),
        ("word " * 200, "word ", " word"),
    ],
)
def test_cuts_are_at_the_best_border_there_is(text, head, tail):
    short = shorten(text, 60, by_length)
    before, _, after = short.partition("[shortened")
    assert before.endswith(head)
    assert after.partition("]")[2].startswith(tail)


def test_room_a_large_fence_leaves_goes_to_the_text_around_it():
    fence = "```python\n" + "x = 1\n" * 500 + "```\n"
    short = shorten(f"Before it.\n\n{fence}\n" + "After it. " * 100, 100, by_length)
    assert "x = 1" not in short
    assert short.startswith("Before it.\n[shortened: ")
    assert by_length(short) > 80
    small = "```\ny = 2\n```\n"
    assert small in shorten(f"{small}\n" + "After it. " * 100, 100, by_length)


def test_tail_starting_at_fence_keeps_whole_block():
    text = "word " * 100 + "\n```\na\n\nb\n```\n"
    fence = text.index("```")
    assert tail_start(text, fence, fences(text)) == fence
    assert tail_start(text, fence + 1, fences(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n```\nb\n```\nc", ["```\nb\n```\n"]),
        ("~~~ text\n```\n~~~\n", ["~~~ text\n```\n~~~\n"]),
        ("````\n```\nb\n```\n````", ["````\n```\nb\n```\n````"]),
        ("```markdown\n```python\nb\n```\n```\nc", ["```markdown\n```python\nb\n```\n```\n"]),
        ("```\na\n```python\nb\n```\nc", ["```\na\n```python\nb\n```\n"]),
        ("  - item\n    ```sh\n    ls\n    ```\nend", ["    ```sh\n    ls\n    ```\n"]),
        ("a\n```\nnever closed\n\nb", ["```\nnever closed\n\nb"]),
        ("```inline``` is no fence\nb", []),
    ],
)
def test_fences_of_every_kind_are_seen(text, found):
    assert [text[start:end] for start, end in fences(text)] == found


def test_shortened_log_keeps_errors_with_context_and_last_line():
    lines = [f"12:00:{number % 60:02} step {number} is fine" for number in range(2_000)]
    lines[900] = "ConnectionError: no route to host"
    lines[-1] = "exit code 1"
    short = shorten_result("\n".join(lines), 120, by_length)
    assert "\n".join(lines[899:902]) in short
    assert short.startswith(lines[0])
    assert short.endswith("\nexit code 1")


def test_no_errors_is_not_an_error():
    lines = [f"step {number}" for number in range(2_000)]
    lines[900] = "0 errors, 0 failed"
    assert "0 errors" not in shorten_result("\n".join(lines), 60, by_length)


def test_shortened_json_keeps_keys_list_ends_numbers_and_error_strings():
    log = "\n".join(["ok"] * 500 + ["Fehler: Platte voll"] + ["ok"] * 500)
    value = f'{{"status": 1.10, "log": {json.dumps(log)}, "rows": {json.dumps(list(range(1000)))}}}'
    short = shorten_result(value, 100, by_length)
    read = json.loads(short)
    assert list(read) == ["status", "log", "rows"]
    assert '"status": 1.10' in short
    assert "Fehler: Platte voll" in read["log"]
    assert (read["rows"][0], read["rows"][-1]) == (0, 999)
    assert any(isinstance(item, str) and item.startswith("[shortened: ") for item in read["rows"])


def test_lines_of_data_keep_their_head_and_tail():
    rows = ["name,amount", *(f"row {number},{number}" for number in range(1_000))]
    short = shorten_result("\n".join(rows), 60, by_length).split("\n")
    assert short[0] == "name,amount"
    assert short[-1] == "row 999,999"


def test_output_that_is_one_fence_is_shortened_inside_it():
    inside = json.dumps({"rows": list(range(1000))})
    short = shorten_result(f"```json\n{inside}\n```", 60, by_length)
    opening, middle, closing = short.split("\n")
    assert (opening, closing) == ("```json", "```")
    assert json.loads(middle)["rows"][0] == 0


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize(
    "piece", ["x", "word ", "a line\n", "[", '{"a":', "```\n", "error\n", "\u0301", "🇩🇪"]
)
def test_a_large_text_is_counted_a_few_times_only(function, piece):
    calls = []

    def count(text):
        calls.append(len(text))
        return by_length(text)

    assert by_length(function(piece * 300_000, 500, count)) <= 500
    assert len(calls) < 60
    assert sum(calls) < 4 * len(piece) * 300_000


def test_the_mark_of_a_cut_has_the_language_of_the_text():
    german = "Das ist ein langer Satz, der nicht in das Fenster passt, und noch einer. " * 60
    assert "[gekürzt: " in shorten(german, 60, by_words)
    assert " Token]" in shorten(german, 60, by_words)
    assert "[shortened: " in shorten("This is a long sentence that does not fit into it. " * 60, 60, by_words)
