"""`holdfast mcp` as a host starts it: a real process, with only the protocol on its standard output."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from holdfast import config
from holdfast.cli.serve import scope_for
from holdfast.errors import BadRequest
from holdfast.mcp.tools import open_services
from holdfast.messages import Scope
from mcp import Client, StdioServerParameters
from tests.mcp.host import Host

pytestmark = pytest.mark.slow

EACH = 6


@pytest.fixture
def environment(tmp_path):
    plain = {"HOLDFAST_HOME": str(tmp_path / "home"), "HOLDFAST_LANGUAGE": "de", "HOLDFAST_EMBEDDER": "off"}
    return {**os.environ, **plain}


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path, environment):
    settings = config.load(environ=environment).settings
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp", "--project", "garden"],
        env=environment,
        cwd=tmp_path,
    )

    async def talk():
        async with Client(command) as client:
            tools = await client.list_tools()
            prompts = await client.list_prompts()
            # So that both are open before they begin to write.
            await client.call_tool("memory_search", {"query": "anything"})
            with open_services(settings) as parts:
                ours = Host(parts, Scope(project="garden"))
                calls = [
                    client.call_tool("memory_write", {"text": f"Process one saw bird number {1000 + n}."})
                    for n in range(EACH)
                ]
                writes = [
                    asyncio.to_thread(ours.told, "memory_write", text=f"Two counted {2000 + n} frogs.")
                    for n in range(EACH)
                ]
                wrote, _ = await asyncio.gather(asyncio.gather(*calls), asyncio.gather(*writes))
            tool = await client.call_tool("memory_search", {"query": "frogs birds", "limit": 20})
            return tools.tools, prompts.prompts, wrote, tool

    tools, prompts, wrote, results = asyncio.run(talk())
    assert len(tools) == 11
    assert prompts[1].description == "Was wissen wir über etwas?"
    assert not any(item.is_error for item in wrote)
    text = (settings.home / "workspace/default/projects/garden/MEMORY.md").read_text()
    for number in range(EACH):
        assert f"bird number {1000 + number}" in text
        assert f"counted {2000 + number} frogs" in text
    assert len(results.structured_content["hits"]) == 2 * EACH


def test_standard_output_has_only_the_protocol_and_ends_with_its_input(tmp_path, environment):
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "memory_get", "arguments": {"path": "../x.md"}},
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "mcp"],
        env={**environment, "HOLDFAST_LOG_LEVEL": "debug"},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        process.stdin.write("".join(f"{json.dumps(item)}\n" for item in (hello, ready, call)) + "no JSON\n")
        process.stdin.flush()
        first, second = (json.loads(process.stdout.readline()) for _ in range(2))
        rest, errors = process.communicate(timeout=60)
    answers = {entry.get("id"): entry for entry in (first, second, *map(json.loads, rest.splitlines()))}
    assert answers[1]["result"]["serverInfo"]["name"] == "holdfast"
    assert answers[2]["result"]["isError"]
    assert "no path" in answers[2]["result"]["content"][0]["text"]
    assert process.returncode == 0, errors
    assert "Traceback" not in errors


def test_whose_memory_it_is_can_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert scope_for("default", None, None) == Scope()
    assert scope_for("anna", "garden", None) == Scope("anna", "garden")
    assert scope_for("default", None, "chess") == Scope("default", "chess", "group")
    with pytest.raises(BadRequest):
        scope_for("default", "garden", "chess")
