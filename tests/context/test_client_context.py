"""Texts that a client found for a question: those that bear on it are there, and so is the talk before it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.context.attachments import context_for
from holdfast.messages import Message
from holdfast.tokens.budget import budget_for
from holdfast.tokens.counter import EstimatingCounter
from holdfast.window.items import Item
from holdfast.window.view import Draft, View
from tests.context.engine_client import Client, engine_with, provider, sent

pytestmark = pytest.mark.anyio

THINGS = ("boiler", "fence", "gutter", "cellar", "chimney", "carpet", "window", "lamp", "door", "stove",
          "garden", "garage", "attic", "stairs")  # fmt: skip


def chunk(thing, fact=""):
    """About 2,200 characters, as retrieval cuts them."""
    lines = [f"Paragraph {at} of the handbook tells how to clean the {thing} in spring." for at in range(32)]
    return "\n".join((*lines[:16], fact, *lines[16:]))


def chunks(**facts):
    return [chunk(thing, facts.get(thing, "")) for thing in THINGS]


def given_along(texts):
    return {"openai": {"metadata": {"context": texts}}}


async def test_relevant_chunks_and_last_exchanges_survive_many_chunks(tmp_path):
    server = provider(window=4_096)
    texts = chunks(chimney="The chimney sweep Hansen comes in October, for 84 euros.",
                   stairs="The chimney sweep needs the stairs to be free.")  # fmt: skip
    assert sum(map(len, texts)) > 30_000
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        for at in range(6):
            await client.say(f"Errand {at}: " + "we talked about the house and what it needs. " * 8)
        await client.say("When does the chimney sweep come?", extra=given_along(texts))
        question = sent(server)[-1].text
        assert texts[THINGS.index("chimney")] in question, "a whole chunk"
        assert "needs the stairs to be free" in question
        assert question.index("Hansen") < question.index("stairs to be free"), "in their order"
        assert "boiler" not in question
        left_out = int(re.search(r"\[shortened: ([\d,]+) tokens\]$", question)[1].replace(",", ""))
        assert left_out > 5_000
        assert client.report["notices"] == ["context_cut"]
        before = [message.text for message in sent(server)[:-1] if message.role == "user"]
        assert [text[:10] for text in before[-2:]] == ["Errand 4: ", "Errand 5: "]
        assert client.report["at_most"] <= client.report["room"]


async def test_context_that_fits_is_sent_whole_and_not_repeated(tmp_path):
    server = provider(window=16_384)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        texts = chunks()[:4]
        await client.say("Good morning!")
        await client.say("How is it cleaned?", extra=given_along(texts))
        assert "\n\n".join(texts) in sent(server)[-1].text
        assert client.report["notices"] == []
        first = sent(server)[-1].text
        # An answer wanted once more: the client sends the same question with the same texts.
        client.history.pop()
        await client.send(extra=given_along(texts))
        assert sent(server)[-1].text == first


async def test_earlier_context_keeps_passages_that_answered_its_questions(tmp_path):
    server = provider(window=4_096)
    async with engine_with(server, tmp_path) as engine:
        client = Client(engine)
        for thing in ("lamp", "door", "stove", "attic"):
            fact = f"The {thing} was bought from Marchetti in 1987."
            texts = [chunk(thing, fact), chunk("garden")]
            await client.say(f"Who sold us the {thing}?", extra=given_along(texts))
        first = sent(server)[0].text
        assert first.startswith("Who sold us the lamp?")
        assert "The lamp was bought from Marchetti in 1987." in first
        assert len(first) < 1_000


@settings(deadline=None, max_examples=60)
@given(
    texts=st.lists(st.text("abc def. \nghi", min_size=1, max_size=4_000), min_size=1, max_size=8),
    asked=st.text("abc def", min_size=1, max_size=60),
    window=st.sampled_from([1_024, 4_096, 8_192]),
)
def test_it_never_takes_more_than_its_share_and_keeps_the_order(texts, asked, window):
    texts = [f"{at}: {text}" for at, text in enumerate(texts)]
    question = Item("m_1", Message.of("user", asked))
    view = View(Draft((question,), budget_for(window), EstimatingCounter("small")))
    (result,) = context_for(view, question, texts)
    assert view.text_tokens(result.data["text"]) <= view.room
    assert view.text_tokens(result.data["short"]) <= max(120, view.text_tokens("\n\n".join(texts)) + 20)
    places = [result.data["text"].index(text) for text in texts if text in result.data["text"]]
    assert places == sorted(places)
    assert ("cut" in result.data) == ("[shortened: " in result.data["text"])
