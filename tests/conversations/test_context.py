"""Texts that come with a question are taken out of the request; what is none of ours stays in it."""

import pytest

from holdfast.conversations.hints import split_context
from holdfast.errors import BadRequest
from holdfast.messages import ChatRequest, Message


def taken(extra):
    """The texts, and what is left for the server."""
    texts, request = split_context(ChatRequest("m", (Message.of("user", "Who?"),), extra=extra))
    return texts, request.extra


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a page", ("a page",)),
        (["one", "two"], ("one", "two")),
        ({"text": "t", "title": "T", "url": "u"}, ("T, u\nt",)),
        ([{"text": "t", "source": 7}, "", "  "], ("t",)),
        (None, ()),
        ([], ()),
        ("", ()),
        (["", " \n"], ()),
        ([{"text": ""}], ()),
    ],
)
def test_it_is_found_in_both_dialects_and_never_sent_on(value, texts):
    assert taken({"openai": {"metadata": {"context": value, "user": "u"}, "seed": 1}}) == (
        texts,
        {"openai": {"metadata": {"user": "u"}, "seed": 1}},
    )
    assert taken({"openai": {"metadata": {"context": value}}}) == (texts, {"openai": {}})
    assert taken({"ollama": {"context": value, "keep_alive": 5}}) == (texts, {"ollama": {"keep_alive": 5}})


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"ollama": {"context": [1, 2, 3]}},
        {"openai": {"metadata": {"user": "u"}}},
        {"openai": {"metadata": None}},
    ],
)
def test_what_is_not_ours_stays_as_it_is(extra):
    request = ChatRequest("m", (), extra=extra)
    assert split_context(request) == ((), request)


@pytest.mark.parametrize("value", [5, True, {}, ["a", 5], {"text": 5}, [["a"]], [None]])
def test_what_is_no_text_is_refused_by_its_name(value):
    with pytest.raises(BadRequest, match=r"^metadata\.context"):
        taken({"openai": {"metadata": {"context": value}}})
    with pytest.raises(BadRequest, match=r"^context"):
        taken({"ollama": {"context": value}})


def test_what_openclaw_says_of_itself_is_context_and_no_message():
    state = Message.of(
        "user", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nIdle.\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
    )
    question = Message.of("user", "Who?")
    texts, request = split_context(ChatRequest("m", (question, state)))
    assert (texts, request.messages) == (("Idle.",), (question,))
    alone = ChatRequest("m", (state,))
    assert split_context(alone) == ((), alone)
