"""The tools about conversations and research: found, read in full, reported on, within the scope."""

import asyncio
from dataclasses import replace

import pytest

from holdfast.mcp.server import build_server
from holdfast.mcp.tools import LONGEST_REPLY, Caller, open_services
from holdfast.messages import Message, Scope
from holdfast.research.finding import ResearchSource
from holdfast.store import NewMessage
from mcp import Client
from tests.mcp.host import Host
from tests.talks import store_talk

TALK = Scope(project="talk")


@pytest.fixture(scope="module")
def chat(settings):
    """A conversation of which a window left something out."""
    return store_talk(settings.home, scope=TALK)


@pytest.fixture(scope="module")
def parts(settings, chat):
    with open_services(settings) as services:
        yield services


@pytest.fixture(scope="module")
def talk(parts):
    return Host(parts, TALK)


def test_what_was_said_is_found_and_read_in_full(talk, chat):
    data = talk.data("conversation_search", query="subject03 part 88")
    hit = data["hits"][0]
    assert hit["conversation"] == chat
    assert "subject03" in hit["matched"]
    assert data["engine"] == "fts5"
    assert data["degraded"][0].startswith("found by words only")
    whole = talk.data("conversation_expand", id=hit["message"])
    assert [message["id"] for message in whole["messages"]] == [hit["message"]]
    assert whole["next"] is None
    text = talk.told("conversation_search", query="subject03 part 88")
    assert hit["message"] in text
    assert "words only" in text
    assert "There is no embedder." in text
    assert "nothing found" in talk.told("conversation_search", query="zeppelin")


def test_private_parts_are_neither_found_nor_read(host, parts):
    text = "The regatta begins at noon. <private>The regatta prize is a golden anchor.</private>"
    row, _ = parts.store.log.begin(host.scope, [NewMessage(Message.of("user", text))], title=text)
    results = host.told("conversation_search", query="When does the regatta begin?")
    assert "regatta begins at noon" in results
    assert "golden" not in results
    assert "golden" not in host.told("conversation_expand", id=row.id)
    hidden = host.call("conversation_search", query="golden anchor")
    assert hidden.structured_content["hits"] == []
    assert "regatta" not in hidden.content[0].text


def test_what_was_said_of_something_else_is_no_hit(host, parts):
    for number in range(60):
        message = NewMessage(Message.of("user", f"The ferry {number} leaves for the island."))
        parts.store.log.begin(host.scope, [message], title="Ferries")
    response = host.call("conversation_search", query="zzz quux island?")
    assert (response.structured_content["hits"], response.structured_content["weak"]) == ([], True)
    assert "fits well" in response.content[0].text
    assert host.data("conversation_search", query="When does the ferry leave for the island?")["hits"]


def test_context_report_lists_decisions_and_access_to_originals(talk, chat):
    report = talk.data("context_report")
    assert report["conversation"] == chat
    assert report["tokens"] <= report["room"] < report["window"]
    assert report["messages"]["out"] > 0
    assert talk.data("context_report", id=chat) == report
    text = talk.told("context_report")
    assert f"{report['tokens']:,} of {report['room']:,} tokens used" in text
    assert "estimated" in text, "how it was counted"
    decision = report["decisions"][-1]
    assert decision["id"] in text
    out = talk.data("conversation_expand", id=decision["id"])
    assert out["total"] == decision["messages"]
    assert "left out" in talk.data("conversation_expand", id=chat)["about"]


def test_long_output_is_paged_with_continuation_hint(talk, chat, parts):
    path = parts.store.log.path(parts.store.log.get(chat).head)
    name = span = f"{path[0].id}..{path[-1].id}"
    texts, pieces = [], 0
    while name:
        part = talk.call("conversation_expand", id=name)
        assert len(part.content[0].text) < LONGEST_REPLY + 500
        texts += part.structured_content["messages"]
        name, pieces = part.structured_content["next"], pieces + 1
    assert pieces > 1
    assert {item["id"] for item in texts} == {entry.id for entry in path}
    for stored in path:
        text = "".join(value["text"] for value in texts if value["id"] == stored.id)
        assert "".join(stored.message.text.split()) in "".join(text.split())
    assert "nothing more" in talk.told("conversation_expand", id=f"{span}+9999999")


def test_the_originals_of_a_summary_are_those_it_stands_for(talk, chat, parts):
    path = parts.store.log.path(parts.store.log.get(chat).head)
    covered = [item.id for item in path[:4]]
    response = parts.store.summaries.put(covers=covered, previous=None, body={"text": "Short."}, tokens=3)
    data = talk.data("conversation_expand", id=response.id)
    assert [message["id"] for message in data["messages"]] == covered
    Host(parts).refused("conversation_expand", "no s_", id=response.id)


def test_conversation_without_omissions_is_read_from_its_end(host, parts):
    messages = [NewMessage(Message.of("user", f"Word {number}")) for number in range(30)]
    row, _ = parts.store.log.begin(host.scope, messages, title="Words")
    data = host.data("conversation_expand", id=row.id)
    assert data["total"] == 20
    assert "Word 29" in data["messages"][-1]["text"]
    host.refused("context_report", "nothing of", "once something was asked", id=row.id)


def test_ids_of_others_are_as_good_as_missing(talk, chat, parts):
    decision = talk.data("context_report")["decisions"][-1]["id"]
    message = talk.data("conversation_search", query="subject03")["hits"][0]["message"]
    for scope in (Scope("anna", "talk"), Scope(), Scope(project="talk", kind="group")):
        other = Host(parts, scope)
        for name in (chat, decision, message, f"{message}..{message}"):
            other.refused("conversation_expand", id=name)
        other.refused("context_report", id=chat)
        other.refused("context_report", "no conversations")
        assert other.data("conversation_search", query="subject03")["hits"] == []


@pytest.mark.parametrize(
    "name", ["", "42", "m_nothing1", "c_nothing1", "d_nothing1", "s_nothing1", "x" * 9_000]
)
def test_what_is_no_id_is_refused_with_the_next_step(talk, name):
    assert len(talk.refused("conversation_expand", id=name)) < 300


def test_a_span_has_its_end_after_its_beginning(talk, chat, parts):
    ids = parts.store.log.path_ids(parts.store.log.get(chat).head)
    assert talk.data("conversation_expand", id=f"{ids[1]}..{ids[3]}")["total"] == 3
    talk.refused("conversation_expand", ids[3], id=f"{ids[3]}..{ids[1]}")


def test_research_is_returned_with_sources_age_and_expiry(host, parts):
    source = ResearchSource("https://www.wetter.com/kassel", "Wetter", "Am Samstag regnet es in Kassel.", 1.0)
    research = parts.research.add(host.scope, "Wie wird das Wetter in Kassel?", [source])
    data = host.data("research_search", query="Wetter in Kassel")
    (hit,) = data["findings"]
    assert (hit["id"], hit["expired"]) == (research.id, False)
    assert hit["sources"][0]["url"] == source.url
    assert "regnet" in host.told("memory_get", path=hit["path"])
    text = host.told("research_search", query="Wetter in Kassel")
    assert "wetter.com" in text
    assert "holds" in text
    assert "Nothing that was found out" in host.told("research_search", query="Schach")
    assert "0 findings" in host.of("anna").told("research_search", query="Wetter in Kassel")


def test_outdated_research_is_told_as_such(host, parts):
    source = ResearchSource("https://example.com", "Prices", "Apples cost two euros.", 1.0)
    research = parts.research.add(host.scope, "What do apples cost?", [source])
    old = parts.research.findings.get(host.scope, research.id)
    parts.research.findings.add(replace(old, expires_at=2.0))
    text = host.told("research_search", query="What do apples cost?")
    assert "expired" in text
    assert "no longer hold" in text


def test_several_questions_at_once_are_answered_each_for_itself(talk):
    async def ask_all():
        server = build_server(lambda: talk.parts, lambda _: Caller(TALK))
        async with Client(server) as client:
            words = [f"subject{number:02}" for number in range(8)]
            calls = [client.call_tool("conversation_search", {"query": word}) for word in words]
            return zip(words, await asyncio.gather(*calls), strict=True)

    for word, result in asyncio.run(ask_all()):
        assert word in result.structured_content["hits"][0]["snippet"]
