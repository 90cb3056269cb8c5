"""`holdfast connect` and `launch` on configuration as people have it, with a real server to prove it."""

import json
import re
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from holdfast.cli import app
from holdfast.clients import CLIENTS
from holdfast.clients.documents import open_document
from tests.clients.sdk_server import MODEL, tables

# What people have before: each file of a client, below the home folder or the client's own.
FILES = {
    "opencode": {
        ".config/opencode/opencode.jsonc": """\
{
  "$schema": "https://opencode.ai/config.json",
  // My own models come first.
  "provider": {
    "anthropic": { "options": { "timeout": 600000 } }, // slow here
  },
  "mcp": {},
  "theme": "tokyonight",
}
""",
        ".config/opencode/.npmrc": "; as at work\n@ours:always-auth=true\nfetch-retries=5\n",
    },
    "claude-code": {
        ".claude/settings.json": """\
{
  "permissions": { "allow": ["Bash(npm run test:*)"] },
  "hooks": {
    "SessionStart": [
      { "matcher": "startup", "hooks": [{ "type": "command", "command": "date" }] }
    ]
  },
  "env": { "ANTHROPIC_BASE_URL": "https://gateway.example.org" }
}
""",
        ".claude.json": '{"numStartups": 7, "mcpServers": {"github": {"type": "http", "url": "https://x.y"}}}',
    },
    "codex": {
        ".codex/config.toml": """\
# Kept in my dotfiles.
model = "gpt-6"   # the good one
approval_policy = "on-request"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]

[projects."/home/ada/engine"]
trust_level = "trusted"
"""
    },
    "aider": {
        ".aider.conf.yml": "## My settings\nmodel: sonnet  # for now\nauto-commits: false\nread: [RULES.md]\n"
    },
    "continue": {
        ".continue/config.yaml": """\
name: Mine
version: 0.0.1
schema: v1
models:
  # The local one
  - name: Qwen
    provider: ollama
    model: qwen3:8b
    roles: [chat]
context:
  - provider: file
"""
    },
    "cline": {
        ".cline/data/settings/providers.json": """\
{
  "version": 1,
  "lastUsedProvider": "cline",
  "modes": {},
  "providers": { "cline": { "settings": { "provider": "cline" }, "updatedAt": "x", "tokenSource": "manual" } }
}""",
    },
    "open-webui": {"here/.env": "# Open WebUI\nWEBUI_NAME='Our chat'\nOPENAI_API_KEY=sk-1 # old\n"},
    "librechat": {
        "here/librechat.yaml": """\
version: 1.2.8
cache: true
endpoints:
  custom:
    - name: "Mistral"   # theirs
      apiKey: "${MISTRAL_API_KEY}"
      baseURL: "https://api.mistral.ai/v1"
      models:
        default: ["mistral-tiny"]
"""
    },
    "llm": {
        ".config/io.datasette.llm/extra-openai-models.yaml": "- model_id: mine\n  model_name: m\n  api_base: http://a/v1\n",
        ".config/io.datasette.llm/default_model.txt": "gpt-4o-mini",
    },
    "openclaw": {
        ".openclaw/openclaw.json": """\
{
  // JSON5, as its own wizard writes it
  agents: { defaults: { workspace: '~/.openclaw/workspace', compaction: { mode: 'safeguard' } } },
  channels: { whatsapp: { allowFrom: ['+15555550123'], }, },
}
"""
    },
    "zed": {
        ".config/zed/settings.json": """\
// Zed settings
//
// For information on how to configure Zed, see the documentation.
{
  "theme": "One Dark",
  "agent": {
    "always_allow_tool_actions": true
  }
}
"""
    },
    "vscode": {
        ".config/Code/User/settings.json": '{\n\t"editor.fontSize": 13, // big\n\t"files.eol": "\\n"\n}',
        ".config/Code/User/mcp.json": '{\r\n    "servers": {},\r\n    "inputs": []\r\n}\r\n',
    },
}


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with tables(tmp_path_factory.mktemp("served")) as make:
        yield make("default").url


@pytest.fixture
def person(tmp_path, monkeypatch):
    """A home folder with the files of a client in it."""
    home = tmp_path / "person"
    (home / "here").mkdir(parents=True)
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "LLM_USER_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOLDFAST_LANGUAGE", "en")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.chdir(home / "here")

    def write(client):
        for name, text in FILES[client].items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return home

    return write


def holdfast(*words):
    return CliRunner().invoke(app, words)


def snapshot(home):
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def comments(text):
    return {match[0] for line in text.splitlines() if (match := re.search("(// |# ).*", line))}


def words_of(result):
    """What a person reads: errors are printed by `main`, above the command."""
    return f"{result.output}{result.exception or ''}"


@pytest.mark.parametrize("client", [client.name for client in CLIENTS])
def test_connected_proved_idempotent_and_back_byte_for_byte(client, person, url):
    home = person(client)
    before = snapshot(home)
    shown = holdfast("connect", client, "--url", url, "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert snapshot(home) == before
    assert f"+++ {home}" in shown.output
    assert url in shown.output

    done = json.loads(holdfast("connect", client, "--url", url, "--yes", "--json").stdout)
    assert done["connected"]
    assert done["proof"]["answer"] == "You said: Say only: connected"
    after = snapshot(home)
    assert after != before
    for name, old in before.items():
        assert comments(old.decode()) <= comments(after[name].decode()), name
    again = json.loads(holdfast("connect", client, "--url", url, "--yes", "--json").stdout)
    assert [row["changed"] for row in again["files"]] == [False] * len(again["files"])
    assert snapshot(home) == after
    rows = json.loads(holdfast("connect", "--list", "--json").stdout)
    assert {row["name"]: row["state"] for row in rows}[client] == "connected"

    assert holdfast("connect", client, "--undo", "--yes").exit_code == 0
    assert snapshot(home) == before
    assert holdfast("connect", client, "--undo", "--yes").exit_code == 1


def test_nothing_of_the_proof_is_kept(person, url):
    person("aider")
    assert holdfast("connect", "aider", "--url", url, "--yes").exit_code == 0
    assert holdfast("conversations", "list", "--json").stdout.strip() in ("[]", "")


def test_what_others_changed_is_not_overwritten_unless_forced(person, url, tmp_path):
    home = person("aider")
    before = snapshot(home)
    file = home / ".aider.conf.yml"
    file.chmod(0o640)
    assert holdfast("connect", "aider", "--url", url, "--yes").exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    file.write_text(file.read_text() + "dark-mode: true\n")
    refused = holdfast("connect", "aider", "--undo", "--yes")
    assert refused.exit_code == 1
    assert "+dark-mode: true" in words_of(refused)
    # Connecting again keeps the change, and an undo then takes out our entries alone.
    assert holdfast("connect", "aider", "--url", url, "--yes").exit_code == 0
    assert holdfast("connect", "aider", "--undo", "--yes").exit_code == 0
    earlier = open_document(FILES["aider"][".aider.conf.yml"], "yaml").value()
    assert open_document(file.read_text(), "yaml").value() == {**earlier, "dark-mode": True}
    file.write_bytes(before[".aider.conf.yml"])
    holdfast("connect", "aider", "--url", url, "--yes")
    file.write_text("# mine alone\n")
    assert holdfast("connect", "aider", "--undo", "--yes", "--force").exit_code == 0
    assert snapshot(home) == before
    assert (tmp_path / "data/clients/aider/.aider.conf.yml.replaced").read_text() == "# mine alone\n"


def test_a_file_that_its_program_rewrites_loses_only_our_entry(person, url):
    home = person("claude-code")
    assert holdfast("connect", "Claude Code", "--url", url, "--yes").exit_code == 0
    state = home / ".claude.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "numStartups": 8}, indent=2))
    assert holdfast("connect", "claude", "--undo", "--yes").exit_code == 0
    servers = {"github": {"type": "http", "url": "https://x.y"}}
    assert json.loads(state.read_text()) == {"numStartups": 8, "mcpServers": servers}


def test_what_cannot_be_done_is_said_with_the_next_step(person, url):
    home = person("zed")
    assert "There are: opencode" in words_of(holdfast("connect", "emacs", "--url", url))
    missing = holdfast("connect", "codex", "--url", url, "--yes")
    assert missing.exit_code == 1
    assert "was not found" in words_of(missing)
    nobody = holdfast("connect", "zed", "--url", "http://127.0.0.1:9", "--yes")
    assert "holdfast serve" in words_of(nobody)
    unasked = holdfast("connect", "zed", "--url", url)
    assert "--yes" in words_of(unasked)
    file = home / ".config/zed/settings.json"
    file.write_text('{"agent": "mine"}')
    taken = holdfast("connect", "zed", "--url", url, "--yes")
    assert taken.exit_code == 1
    assert "Nothing was changed" in words_of(taken)
    assert file.read_text() == '{"agent": "mine"}'
    assert "holdfast connect zed" in words_of(holdfast("launch", "zed", "--url", url))


def test_launch_starts_it_connected_and_changes_no_file(person, url, tmp_path, monkeypatch):
    home = person("claude-code")
    before = snapshot(home)
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "claude"
    # It stands for the client: writes down how it was started, and what it found there.
    script.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$ANTHROPIC_BASE_URL" "$ANTHROPIC_MODEL" "$@" > {tmp_path}/started\n'
        f'cat "$2" "$4" > {tmp_path}/read\nexit 3\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    started = holdfast("launch", "claude-code", "--url", url, "--", "--continue", "-p", "two words")
    assert started.exit_code == 3, started.output
    lines = (tmp_path / "started").read_text().splitlines()
    assert lines[:3] == [url, MODEL, "--settings"]
    assert lines[6:] == ["--continue", "-p", "two words"]
    assert not Path(lines[3]).exists()
    settings, servers = open_json_texts((tmp_path / "read").read_text())
    assert settings["autoCompactEnabled"] is False
    assert servers["mcpServers"]["holdfast"]["args"][-1] == "mcp"
    assert snapshot(home) == before


def open_json_texts(text):
    first, end = json.JSONDecoder().raw_decode(text)
    return first, json.loads(text[end:])
