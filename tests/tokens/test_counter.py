"""Counting messages and requests: what is counted, what has a flat cost, and what is remembered."""

import base64
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.messages import (
    ChatRequest,
    File,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.tokens.calibration import Calibration
from holdfast.tokens.counter import IMAGE_TOKENS, Count, EstimatingCounter, ExactCounter
from holdfast.tokens.tokenizer import Tokenizer
from holdfast.tokens.vocabulary import Vocabulary
from holdfast.upstreams.embedded import EmbeddedProvider


class Words:
    """A tokenizer for which a word is a token; it says how often it was asked."""

    def __init__(self):
        self.asked = 0

    def count(self, text):
        self.asked += 1
        return len(text.split())


@pytest.fixture
def words():
    return Words()


@pytest.fixture
def counter(words):
    return ExactCounter(words)


def text_of(counter, *parts, role="user", thinking=False):
    """The tokens of the parts alone."""
    empty = counter.count_message(Message(role, ()))
    return counter.count_message(Message(role, parts), thinking=thinking).tokens - empty.tokens


def test_exact_text_has_no_interval_and_no_template(counter):
    assert counter.count_text("one two three") == Count(3, 3, 3, "exact", "the model's vocabulary")


def test_a_servers_own_count_is_a_count_too():
    assert Count.from_server(17, "llama.cpp") == Count(17, 17, 17, "served", "llama.cpp")


def test_a_message_costs_its_text_and_its_frame(counter):
    assert text_of(counter, Text("one two"), Text("three")) == 3
    assert counter.count_message(Message.of("user", "")).tokens == 5


def test_thinking_counts_only_where_it_is_sent(counter):
    assert text_of(counter, Thinking("hm hm hm"), Text("yes"), role="assistant") == 1
    assert text_of(counter, Thinking("hm hm hm"), Text("yes"), role="assistant", thinking=True) == 4


def test_thinking_before_the_newest_question_is_not_in_the_request(counter):
    thought = Message("assistant", (Thinking("hm hm hm"), Text("yes")))
    question = Message.of("user", "well")
    earlier = counter.request_features(ChatRequest("m", (question, thought, question)))
    in_the_loop = counter.request_features(ChatRequest("m", (question, thought)))
    assert earlier.text == 3
    assert in_the_loop.text == 5


def test_tool_calls_count_name_and_arguments_and_results_count_text(counter):
    call = ToolCall("look_up", '{"word": "tide"}', "call_1")
    result = ToolResult((Text("high at noon"),), call_id="call_1")
    request = ChatRequest("m", (Message("assistant", (call,)), Message("tool", (result,))))
    parts = counter.request_features(request)
    assert (parts.text, parts.tool_text) == (3, 3)
    assert parts.calls == 2


def test_an_image_has_a_flat_cost_whatever_its_size(counter):
    small, large = Image(data="AAAA"), Image(data="A" * 4_000_000)
    assert text_of(counter, small) == text_of(counter, large) == IMAGE_TOKENS == 768
    assert text_of(counter, ToolResult((small,))) >= IMAGE_TOKENS
    assert text_of(ExactCounter(Words(), image_tokens=256), small) == 256


def test_text_file_counts_as_text_and_other_files_have_flat_cost(counter):
    data = base64.b64encode(b"one two three").decode()
    assert text_of(counter, File("a.txt", data, "text/plain")) == 4
    assert text_of(counter, File("a.txt", "no base64!", "text/plain")) == 3
    assert text_of(counter, File("a.pdf", data * 100_000, "application/pdf")) == IMAGE_TOKENS
    assert text_of(counter, File("a.pdf", file_id="file-1")) == 1


def test_unknown_parts_count_as_json_unless_they_carry_media(counter):
    assert text_of(counter, Opaque("openai", {"type": "refusal", "refusal": "no I will not"})) == 4
    assert text_of(counter, Opaque("openai", {"type": "input_audio", "data": "A" * 100_000})) == IMAGE_TOKENS


def test_tools_and_a_missing_system_message_are_part_of_the_request(counter):
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    plain = ChatRequest("m", (Message.of("system", "be brief"), Message.of("user", "hi")))
    with_tool = ChatRequest("m", plain.messages, tools=(tool,))
    assert counter.count_request(with_tool).tokens > counter.count_request(plain).tokens + 50
    assert not counter.request_features(plain).unprompted
    assert counter.request_features(ChatRequest("m", plain.messages[1:])).unprompted


def test_a_message_seen_before_is_not_counted_again(counter, words):
    message = Message.of("user", "the same words")
    first = counter.count_message(message)
    assert counter.count_message(Message.of("user", "the same words")) == first
    assert words.asked == 1


def test_the_memory_of_messages_is_bounded(counter, words):
    for number in range(5_000):
        counter.count_message(Message.of("user", str(number)))
    assert len(counter._cache) == 4_096
    counter.count_message(Message.of("user", "4999"))
    assert words.asked == 5_000
    counter.count_message(Message.of("user", "0"))
    assert words.asked == 5_001


def test_what_was_learned_changes_counts_of_messages_already_seen():
    counter = EstimatingCounter("llama3")
    request = ChatRequest("m", (Message.of("user", "How long is the coast of Norway? " * 40),))
    before, parts = counter.count_request(request), counter.request_features(request)
    for _ in range(20):
        counter.calibration = counter.calibration.learn(parts, round(before.tokens * 1.3))
    assert counter.count_request(request).tokens == pytest.approx(before.tokens * 1.3, rel=0.02)
    assert counter.count_text("How long is the coast?").method == "estimate"


MESSAGES = st.lists(
    st.builds(
        Message.of,
        st.sampled_from(["system", "user", "assistant"]),
        st.text(st.characters(exclude_categories=()), max_size=300),
    ),
    max_size=8,
)


@given(MESSAGES, st.sampled_from(["llama3", "gemma2", "who-knows"]))
def test_counts_of_requests_are_positive_ordered_and_the_same_again(messages, model):
    counter = EstimatingCounter(model)
    request = ChatRequest(model, tuple(messages))
    count = counter.count_request(request)
    assert 0 < count.low <= count.tokens <= count.high
    assert counter.count_request(request) == count == EstimatingCounter(model).count_request(request)


@given(MESSAGES, st.text(max_size=300))
def test_one_message_more_never_makes_a_request_cheaper(messages, text):
    counter = ExactCounter(Words())
    shorter = ChatRequest("m", (Message.of("system", "x"), *messages))
    longer = ChatRequest("m", (*shorter.messages, Message.of("user", text)))
    assert counter.count_request(shorter).tokens < counter.count_request(longer).tokens


@pytest.mark.real
@pytest.mark.anyio
async def test_after_twenty_answers_requests_are_counted_as_llamacpp_counts_them(weights, tmp_path):
    counters = (
        (ExactCounter(Tokenizer(Vocabulary.from_gguf(weights)), Calibration.fresh("exact", "smollm")), 0.01),
        (EstimatingCounter("smollm"), 0.05),
    )
    random = Random(11)
    requests = [chat(random) for _ in range(32)]
    server = EmbeddedProvider(weights, log=tmp_path / "llama.log", ctx=1024)
    try:
        reported = [await server.count(request) for request in requests]
    finally:
        await server.aclose()
    for counter, target in counters:
        for request, true in zip(requests[:20], reported, strict=False):
            counter.calibration = counter.calibration.learn(counter.request_features(request), true)
        errors = []
        for request, true in zip(requests[20:], reported[20:], strict=True):
            count = counter.count_request(request)
            assert count.low <= true <= count.high
            errors.append(abs(count.tokens - true) / true)
        assert sum(errors) / len(errors) < target


SENTENCES = (
    "The harbour was empty when the ferry came in, and nobody waited on the pier.",
    "Please check whether the index was rebuilt after the last change of the schema.",
    "def total(rows):\n    return sum(row.price for row in rows if row.price)\n",
    '{"id": 4711, "name": "harbour", "open": true, "depth": 12.5}',
    "Der Fährmann wartete, bis das Wasser wieder stieg.",
)
TOOL = {
    "type": "function",
    "function": {
        "name": "tide",
        "description": "When the water is high.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}


def chat(random):
    def random_sentence():
        return " ".join(random.choices(SENTENCES, k=random.randint(1, 12)))

    messages = [Message.of("system", random_sentence())] if random.random() < 0.5 else []
    tools = random.random() < 0.4
    for _ in range(random.randint(1, 6)):
        messages.append(Message.of("user", random_sentence()))
        if tools and random.random() < 0.5:
            arguments = json.dumps({"place": random.choice(["Bergen", "Kiel"])})
            messages.append(Message("assistant", (ToolCall("tide", arguments, "call_1"),), form="null"))
            messages.append(Message("tool", (ToolResult((Text(random_sentence()),), call_id="call_1"),)))
        messages.append(Message.of("assistant", random_sentence()))
    messages.append(Message.of("user", random_sentence()))
    return ChatRequest("embedded", tuple(messages), tools=(TOOL,) if tools else ())
