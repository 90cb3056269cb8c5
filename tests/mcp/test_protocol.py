"""What a host is offered: small, exact descriptions of tools, notes as resources, prompts; and bad calls."""

import json

import pytest
from mcp.shared.exceptions import MCPError

from holdfast.i18n import speak
from holdfast.mcp.tools import McpServices
from holdfast.tokens.estimate import UNKNOWN, estimate
from tests.mcp.host import Host

NAMES = [
    "brief",
    "memory_search",
    "memory_get",
    "memory_list",
    "memory_write",
    "memory_forget",
    "profile",
    "conversation_search",
    "conversation_expand",
    "context_report",
    "research_search",
]


@pytest.fixture(params=["auto", "legacy"])
def either(host, request):
    """The protocol as it is now, and with the handshake of earlier versions."""
    return host.of(mode=request.param)


def test_the_tools_say_what_they_take_and_what_they_change(either):
    tools = {tool.name: tool for tool in either.ask("list_tools").tools}
    assert list(tools) == NAMES
    assert {name for name, tool in tools.items() if not tool.annotations.read_only_hint} == {
        "memory_write",
        "memory_forget",
    }
    assert [name for name, tool in tools.items() if tool.annotations.destructive_hint] == ["memory_forget"]
    assert all(tool.annotations.idempotent_hint for tool in tools.values())
    named = {name for tool in tools.values() for name in tool.input_schema["properties"]}
    assert named == {
        *("query", "text", "path", "id", "kind", "scope", "limit", "offset", "from_line", "lines", "window")
    }
    assert all(tool.output_schema["required"] for tool in tools.values())
    assert tools["memory_search"].input_schema["required"] == ["query"]
    assert "required" not in tools["context_report"].input_schema


def test_the_tools_cost_a_model_less_than_1100_tokens(host):
    shown = [
        {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
        for tool in host.ask("list_tools").tools
    ]
    functions = [{"type": "function", "function": item} for item in shown]
    assert estimate(json.dumps(functions, ensure_ascii=False), UNKNOWN).tokens < 1_100


def test_calls_that_make_no_sense_are_told_how_to_call_again(host):
    host.refused("memory_search", "`query` is missing", "`limit` (optional)")
    host.refused("memory_search", "no argument `q`", "`query`", q="tea")
    host.refused("memory_search", "not an empty one", query=" ")
    host.refused("memory_search", "must be text", query=7)
    host.refused("memory_search", "from 1 to 20", query="tea", limit=0)
    host.refused("memory_search", "from 1 to 20", query="tea", limit=1e9)
    host.refused("memory_search", "from 1 to 20", query="tea", limit="many")
    host.refused("memory_search", "from 1 to 20", query="tea", limit="9" * 5_000)
    host.refused("memory_write", "one of fact, decision", text="Tea at four.", kind="poem")
    host.refused("nonsense", "no tool", "memory_search")


def test_what_is_meant_beyond_doubt_is_taken(host):
    host.told("memory_search", query="tea", limit="3")
    host.told("memory_search", query="tea", limit=3.0)
    host.told("memory_search", query="tea", limit=None)


def test_trouble_that_nobody_foresaw_is_told_without_our_insides(parts, caplog):
    broken = Host(McpServices(parts.store, parts.remembering, None))
    text = broken.refused("research_search", "internal error: AttributeError", query="tea")
    assert "NoneType" not in text
    assert "research_search failed" in caplog.text
    nothing = Host(McpServices(parts.store, None, parts.research))
    with pytest.raises(MCPError, match=r"internal error: AttributeError\. See the log") as refused:
        nothing.ask("list_resources")
    assert refused.value.code == -32603
    assert "list_notes failed" in caplog.text


def test_notes_are_resources_in_pages_and_read_by_address(either, notes, parts):
    place = notes / "default" / "projects" / either.scope.project
    place.mkdir(parents=True)
    for number in range(120):
        (place / f"note {number:03}.md").write_text(f"Number {number}.")
    (notes / "default" / "profile.yaml").write_text("name: Anna\n")
    first = either.ask("list_resources")
    assert len(first.resources) == 100
    second = either.ask("list_resources", cursor=first.next_cursor)
    assert second.next_cursor is None
    listed = [*first.resources, *second.resources]
    names = [item.name for item in listed if either.scope.project in item.name]
    assert len(names) == len(set(names)) == 120
    assert not any("profile" in entry.name for entry in listed)
    (uri,) = [value.uri for value in listed if value.name.endswith(f"{either.scope.project}/note 007.md")]
    (content,) = either.ask("read_resource", uri).contents
    assert content.text == "Number 7."
    (template,) = either.ask("list_resource_templates").resource_templates
    assert template.uri_template == "holdfast://notes/{+path}{?from_line}"


def test_a_long_note_says_where_its_rest_is(host, notes):
    place = notes / "default" / "projects" / host.scope.project
    place.mkdir(parents=True)
    (place / "long.md").write_text("\n".join(f"line {number}" for number in range(1, 20_001)))
    uri = f"holdfast://notes/default/projects/{host.scope.project}/long.md"
    text = host.ask("read_resource", uri).contents[0].text
    assert len(text) < 61_000
    rest = text.rsplit("the rest: ", 1)[1].rstrip("]")
    first = int(rest.rsplit("=", 1)[1])
    assert host.ask("read_resource", rest).contents[0].text.startswith(f"line {first}\n")


@pytest.mark.parametrize(
    "uri",
    [
        "holdfast://notes/..%2F..%2Fetc%2Fpasswd",
        "holdfast://notes/default/profile.yaml",
        "holdfast://notes//etc/passwd",
        "holdfast://notes/default/nothing.md",
        "holdfast://notes/default/MEMORY.md?from_line=-1",
        pytest.param(f"holdfast://notes/default/MEMORY.md?from_line={'9' * 5_000}", id="endless line"),
        "file:///etc/passwd",
    ],
)
def test_no_address_leads_out(either, uri):
    with pytest.raises(MCPError) as refused:
        either.ask("read_resource", uri)
    assert refused.value.code in (-32602, -32002)
    assert "root:" not in refused.value.message


def test_prompts_bring_what_is_remembered_in_the_language_of_the_person(either):
    either.told("memory_write", text="Kasimir ist der Kater.")
    asked = {prompt.name: prompt for prompt in either.ask("list_prompts").prompts}
    assert asked["recall"].arguments[0].required
    text = either.ask("get_prompt", "recall", {"query": "Kasimir"}).messages[0].content.text
    assert text.startswith("What do we know about: Kasimir")
    assert "Kater" in text
    speak("de")
    assert {item.description for item in either.ask("list_prompts").prompts} == {
        "Was wissen wir über etwas?",
        "Was geschah an einem Tag?",
        "Was muss am Anfang einer Sitzung bekannt sein?",
    }
    german = either.ask("get_prompt", "recall", {"query": "Kasimir"}).messages[0].content.text
    assert german.startswith("Was wissen wir über: Kasimir")


def test_a_day_is_summed_up_from_its_notes_and_conversations(host, parts):
    row = parts.store.log.create(host.scope, title="Planting beans")
    host.told("memory_write", text="Beans were planted.", kind="note")
    text = host.ask("get_prompt", "summarise_day").messages[0].content.text
    assert "Beans were planted." in text
    assert f"{row.id} Planting beans" in text
    other = host.ask("get_prompt", "summarise_day", {"date": "2001-02-03"}).messages[0].content.text
    assert "(nothing)" in other
    assert "(none)" in other


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("recall", {}),
        ("recall", {"query": " "}),
        ("summarise_day", {"date": "2026-13-45"}),
        ("summarise_day", {"date": "0001-01-01"}),
        ("summarise_day", {"date": "9999-12-31"}),
        ("nonsense", {}),
    ],
)
def test_prompts_that_cannot_be_filled_are_errors_of_the_protocol(host, name, given):
    with pytest.raises(MCPError) as refused:
        host.ask("get_prompt", name, given)
    assert refused.value.code in (-32602, -32002)


def test_where_memory_is_off_there_are_no_notes_and_no_prompts(host):
    off = host.of(memory=False)
    with pytest.raises(MCPError, match="switched off"):
        off.ask("list_resources")
    with pytest.raises(MCPError, match="switched off"):
        off.ask("get_prompt", "recall", {"query": "tea"})
