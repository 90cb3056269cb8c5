"""Random conversations of every shape a client can send, and the means to look at a window of them."""

from hypothesis import strategies as st

from holdfast.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from holdfast.tokens.counter import EstimatingCounter, ExactCounter
from holdfast.window.items import Item

RULES = ("Never push to main.", "Nenne nie den Namen des Kunden.", "Always answer in short sentences.")
WORDS = (
    "the parser", "reads config.yaml", "Müller fragt", "die Datenbank", "42 ms", "error: missing", "naïve 🙂",
    "def f(x):", "\n\n", "release 1.2.3", "zwischen", "日本語", "okay",
)  # fmt: skip

short = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
# A size is drawn and not a text: long texts would only make the search slow.
sizes = st.integers(50, 400) | st.just(5_000)
long = st.tuples(st.sampled_from(WORDS), sizes).map(lambda pair: f"{pair[0]} " * pair[1])
fenced = long.map(lambda text: f"Look:\n```python\n{text}\n```\nThat was it.")
texts = st.one_of(short, short, short, long, fenced)
# What models say to themselves in the text of an answer, closed or cut off.
THOUGHT = "SECRET-THOUGHT"
aloud = st.just("") | st.tuples(
    st.sampled_from([("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")]), texts
).map(lambda pair: f"{pair[0][0]}{THOUGHT} {pair[1]}\n{THOUGHT}{pair[0][1]}\n\n")
pictures = st.lists(st.just(Image(data="aGk=")), max_size=3)


class Pennies:
    """A tokenizer of the simplest kind: four characters are a token."""

    def count(self, text):
        return (len(text) + 3) // 4


def gauges():
    return st.sampled_from([ExactCounter(Pennies()), EstimatingCounter("qwen3")])


@st.composite
def rounds(draw, orphans=False):
    """An answer that calls tools, and their results, in any order, perhaps not all of them."""
    number = draw(st.integers(1, 4))
    named = draw(st.booleans())
    calls = [
        ToolCall("read", f'{{"path": "file{at}.py"}}', id=f"call_{draw(st.uuids())}" if named else "")
        for at in range(number)
    ]
    text = (Text(draw(aloud) + draw(short)),) if draw(st.booleans()) else ()
    thought = (Thinking(draw(short)),) if draw(st.booleans()) else ()
    results = [
        Message("tool", (ToolResult((Text(draw(texts)),), call_id=call.id, name=call.name),))
        for call in calls
    ]
    if orphans and draw(st.booleans()):
        results = results[: draw(st.integers(0, len(results)))]
    if orphans and draw(st.booleans()):
        results.append(Message("tool", (ToolResult((Text("lost"),), call_id="call_nowhere", name="x"),)))
    return [Message("assistant", (*thought, *text, *calls)), *results]


@st.composite
def exchanges(draw, orphans=False):
    asked = draw(texts)
    if draw(st.integers(0, 9)) == 0:
        asked = f"{asked}\n{draw(st.sampled_from(RULES))}"
    question = Message("user", (Text(asked), *draw(pictures)) if draw(st.booleans()) else (Text(asked),))
    messages = [question]
    for _ in range(draw(st.integers(0, 3))):
        messages += draw(rounds(orphans=orphans))
    thought = (Thinking(draw(short)),) if draw(st.booleans()) else ()
    messages.append(Message("assistant", (*thought, Text(draw(aloud) + (draw(texts) or "Yes.")))))
    return messages


@st.composite
def talks(draw, most=12, orphans=False):
    """A conversation that waits for an answer: to a question, or to the results of tools."""
    messages = [
        message
        for exchange in draw(st.lists(exchanges(orphans=orphans), max_size=most))
        for message in exchange
    ]
    messages.append(Message.of("user", draw(texts) or "And now?"))
    if draw(st.booleans()):
        messages += draw(rounds())
    return items_of(messages)


def items_of(messages):
    return tuple(
        Item(f"m_{at}", message, depth=at, at=1_760_000_000.0 + at) for at, message in enumerate(messages)
    )


def orphans_of(messages):
    """Calls without a result and results without a call, as a strict server would find them."""
    results, open_calls = [], []
    for message in messages:
        if message.tool_results:
            for result in message.tool_results:
                match = next(
                    (call for call in open_calls if (call.id or result.call_id) == result.call_id), None
                ) or (open_calls[0] if open_calls and not open_calls[0].id else None)
                if match is None:
                    results.append(result)
                else:
                    open_calls.remove(match)
        else:
            results += open_calls
            open_calls = list(message.tool_calls)
    return results + open_calls
