"""What is known of each client: agents of the terminal, chats, editors and their assistants."""

import json
from typing import Any

from holdfast.clients.base import (
    EIGHT_TURNS,
    LARGE_WINDOW,
    MAX_ANSWER,
    NAME,
    Client,
    ConfigChange,
    Each,
    Endpoint,
    Entry,
    LaunchPlan,
    Places,
    Trial,
    first_existing,
)
from holdfast.clients.documents import apply_entries
from holdfast.clients.json_text import nest

# An opencode plugin that puts the brief of the folder behind the system prompt, once for each start.
_PLUGIN = """\
// Written by `holdfast connect opencode`: what is known of this repository, at the start of every session.
export const Holdfast = async ({{ directory }}) => {{
  let brief
  const read = async () => {{
    try {{
      const env = {{ ...process.env, ...{variables} }}
      const child = Bun.spawn({words}, {{ cwd: directory, env, stderr: "ignore" }})
      const text = await new Response(child.stdout).text()
      return (await child.exited) === 0 ? text.trim() : ""
    }} catch {{
      return ""
    }}
  }}
  return {{
    "experimental.chat.system.transform": async (_input, output) => {{
      brief ??= read()
      const text = await brief
      if (text) output.system.push(text)
    }},
  }}
}}
"""

# Before it loads a plugin, opencode installs its own package for plugins from npm, once for each folder of
# configuration. Ours needs nothing of it, and offline npm's usual retries delay every start by two minutes.
_NPM = {"fetch-retries": "0", "fetch-timeout": "15000"}


def _models(endpoint: Endpoint) -> dict[str, Any]:
    limit = {"context": LARGE_WINDOW, "output": MAX_ANSWER}
    return {model: {"name": model, "limit": limit} for model in endpoint.models}


def _opencode_entries(endpoint: Endpoint) -> tuple[Entry, ...]:
    options: dict[str, Any] = {"baseURL": endpoint.openai, "apiKey": endpoint.key}
    options |= {"headers": endpoint.headers} if endpoint.headers else {}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Holdfast",
        "options": options,
        "models": _models(endpoint),
    }
    server: dict[str, Any] = {"type": "local", "command": endpoint.mcp(), "enabled": True}
    server |= {"environment": endpoint.variables} if endpoint.variables else {}
    return (
        # opencode adds it to a file without it.
        Entry(("$schema",), "https://opencode.ai/config.json", if_missing=True),
        Entry(("provider", NAME), provider),
        Entry(("model",), f"{NAME}/{endpoint.model}"),
        # Titles go the same way, and not to a model elsewhere.
        Entry(("small_model",), f"{NAME}/{endpoint.model}"),
        Entry(("compaction", "auto"), False),
        Entry(("compaction", "prune"), False),
        Entry(("mcp", NAME), server),
    )


def _opencode_plugin(endpoint: Endpoint) -> str:
    return _PLUGIN.format(words=json.dumps(endpoint.run("brief")), variables=json.dumps(endpoint.variables))


def _opencode_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    folder = places.xdg / "opencode"
    file = first_existing(folder / "opencode.jsonc", folder / "opencode.json")
    plugin = Entry((), _opencode_plugin(endpoint))
    npm = tuple(Entry((name,), value, if_missing=True) for name, value in _NPM.items())
    return (
        ConfigChange(file, "json", _opencode_entries(endpoint)),
        ConfigChange(folder / ".npmrc", "env", npm),
        ConfigChange(folder / "plugin" / f"{NAME}.js", "text", (plugin,)),
    )


def _opencode_launch(endpoint: Endpoint, places: Places) -> LaunchPlan:  # noqa: ARG001
    config: dict[str, Any] = {}
    for entry in _opencode_entries(endpoint):
        _merge(config, nest(entry.path, entry.value))
    config["plugin"] = [f"file://{{folder}}/{NAME}.js"]
    npm = {f"npm_config_{name.replace('-', '_')}": value for name, value in _NPM.items()}
    return LaunchPlan(
        ("opencode",),
        {"OPENCODE_CONFIG_CONTENT": json.dumps(config), **npm},
        {f"{NAME}.js": _opencode_plugin(endpoint)},
    )


def _merge(whole: dict[str, Any], part: dict[str, Any]) -> None:
    for name, value in part.items():
        if isinstance(value, dict) and isinstance(whole.get(name), dict):
            _merge(whole[name], value)
        else:
            whole[name] = value


OPENCODE = Client(
    "opencode",
    "opencode",
    ("opencode",),
    lambda places: (places.xdg / "opencode",),
    _opencode_changes,
    "chat",
    "`compaction.auto` and `compaction.prune` to `false`",
    """\
`connect` writes a provider, `model` and `small_model` (titles go the same way), an MCP server and a plugin
that puts the brief of the folder behind the system prompt. Before it loads any plugin, opencode installs
`@opencode-ai/plugin` from npm; `.npmrc` in its own folder keeps that from delaying every start where npm
cannot be reached. In the environment `OPENCODE_DISABLE_AUTOCOMPACT=true` and
`OPENCODE_DISABLE_PRUNE=true` switch its shortening off, too. Version 2 has moved its numbers
(`keep.tokens`, `buffer`); `auto` is still the switch.""",
    trials=(Trial("1.18.33", "2026-11-16", EIGHT_TURNS),),
    launch=_opencode_launch,
)


def _claude_variables(endpoint: Endpoint) -> dict[str, str]:
    models = ("ANTHROPIC_MODEL", *(f"ANTHROPIC_DEFAULT_{size}_MODEL" for size in ("OPUS", "SONNET", "HAIKU")))
    headers = "\n".join(f"{name}: {value}" for name, value in endpoint.headers.items())
    return {
        "ANTHROPIC_BASE_URL": endpoint.url,
        "ANTHROPIC_AUTH_TOKEN": endpoint.key,
        **dict.fromkeys((*models, "CLAUDE_CODE_SUBAGENT_MODEL"), endpoint.model),
        "DISABLE_AUTO_COMPACT": "1",
        **({"ANTHROPIC_CUSTOM_HEADERS": headers} if headers else {}),
    }


def _claude_hook(endpoint: Endpoint) -> dict[str, Any]:
    command = {"type": "command", "command": endpoint.shell("brief")}
    return {"matcher": "startup|clear", "hooks": [command]}


def _claude_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    folder = places.variable("CLAUDE_CONFIG_DIR", places.home / ".claude")
    variables = (Entry(("env", name), value) for name, value in _claude_variables(endpoint).items())
    entries = (
        *variables,
        Entry(("autoCompactEnabled",), False),
        Entry(("hooks", "SessionStart", Each()), _claude_hook(endpoint)),
    )
    state = (
        folder / ".claude.json" if places.variables.get("CLAUDE_CONFIG_DIR") else places.home / ".claude.json"
    )
    server = Entry(("mcpServers", NAME), endpoint.mcp_server(type="stdio"))
    return (
        ConfigChange(folder / "settings.json", "json", entries),
        ConfigChange(state, "json", (server,), volatile=True),
    )


def _claude_launch(endpoint: Endpoint, places: Places) -> LaunchPlan:  # noqa: ARG001
    settings = {"autoCompactEnabled": False, "hooks": {"SessionStart": [_claude_hook(endpoint)]}}
    servers = {"mcpServers": {NAME: endpoint.mcp_server(type="stdio")}}
    return LaunchPlan(
        ("claude", "--settings", "{folder}/settings.json", "--mcp-config", "{folder}/mcp.json"),
        _claude_variables(endpoint),
        {"settings.json": json.dumps(settings), "mcp.json": json.dumps(servers)},
    )


CLAUDE_CODE = Client(
    "claude-code",
    "Claude Code",
    ("claude",),
    lambda places: (places.variable("CLAUDE_CONFIG_DIR", places.home / ".claude"),),
    _claude_changes,
    "messages",
    "`autoCompactEnabled: false`, and `DISABLE_AUTO_COMPACT=1` in `env`",
    """\
`connect` writes the address, the token and the models into `env` of `~/.claude/settings.json`, a
`SessionStart` hook that brings the brief of the folder, and the MCP server into `~/.claude.json`. That
second file Claude Code rewrites all the time, so `--undo` takes only our entry out of it. Some versions
were reported to compact although the switch is off: their summaries are recognised. Its own prompt and
tools have 12,000 to 24,000 tokens, by its version; below a window of 24k or 32k it cannot work. The tools of
MCP are brought up by its own `ToolSearch`.""",
    trials=(Trial("2.1.197 and 2.1.325", "2026-11-16", EIGHT_TURNS),),
    launch=_claude_launch,
)


def _codex_provider(endpoint: Endpoint) -> dict[str, Any]:
    provider: dict[str, Any] = {"name": "Holdfast", "base_url": endpoint.openai, "wire_api": "responses"}
    headers = dict(endpoint.headers)
    if endpoint.key != "none":
        headers["Authorization"] = f"Bearer {endpoint.key}"
    return {**provider, "http_headers": headers} if headers else provider


def _codex_values(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "model": endpoint.model,
        "model_provider": NAME,
        "model_context_window": LARGE_WINDOW,
        # It has no switch; this is more than it believes the window to be.
        "model_auto_compact_token_limit": 10 * LARGE_WINDOW,
    }


def _codex_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    folder = places.variable("CODEX_HOME", places.home / ".codex")
    entries = (
        *(Entry((name,), value) for name, value in _codex_values(endpoint).items()),
        Entry(("model_providers", NAME), _codex_provider(endpoint)),
        Entry(("mcp_servers", NAME), endpoint.mcp_server()),
    )
    # It writes there which folders are trusted.
    return (ConfigChange(folder / "config.toml", "toml", entries, volatile=True),)


def _codex_launch(endpoint: Endpoint, places: Places) -> LaunchPlan:  # noqa: ARG001
    values = {
        **_codex_values(endpoint),
        f"model_providers.{NAME}": _codex_provider(endpoint),
        f"mcp_servers.{NAME}": endpoint.mcp_server(),
    }
    options = [word for name, value in values.items() for word in ("-c", f"{name}={_inline_toml(value)}")]
    return LaunchPlan(("codex", *options))


def _inline_toml(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(name)} = {_inline_toml(part)}" for name, part in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline_toml, value))}]"
    # Strings and numbers are written in TOML as in JSON.
    return json.dumps(value, ensure_ascii=False)


CODEX = Client(
    "codex",
    "codex",
    ("codex",),
    lambda places: (places.variable("CODEX_HOME", places.home / ".codex"),),
    _codex_changes,
    "responses",
    "no switch; `model_auto_compact_token_limit` above the window it believes in",
    """\
`connect` writes a provider with `wire_api = "responses"`, the model, a large window and the MCP server into
`~/.codex/config.toml`. Its prompt and tools have about 11,000 tokens. It does not wait for
MCP servers: `required = true` below `[mcp_servers.holdfast]` makes `codex exec` wait for its tools.""",
    trials=(Trial("0.166.0", "2026-11-16", EIGHT_TURNS),),
    launch=_codex_launch,
)


def _aider_values(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "model": f"openai/{endpoint.model}",
        # Summaries and commit messages go the same way.
        "weak-model": f"openai/{endpoint.model}",
        "openai-api-base": endpoint.openai,
        "openai-api-key": endpoint.key,
        "max-chat-history-tokens": 10 * LARGE_WINDOW,
        "show-model-warnings": False,
    }


def _aider_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    entries = tuple(Entry((name,), value) for name, value in _aider_values(endpoint).items())
    return (ConfigChange(places.home / ".aider.conf.yml", "yaml", entries),)


def _aider_launch(endpoint: Endpoint, places: Places) -> LaunchPlan:  # noqa: ARG001
    variables = {
        f"AIDER_{name.upper().replace('-', '_')}": str(value).lower()
        if isinstance(value, bool)
        else str(value)
        for name, value in _aider_values(endpoint).items()
    }
    return LaunchPlan(("aider",), variables)


AIDER = Client(
    "aider",
    "aider",
    ("aider",),
    lambda places: (places.home / ".aider.conf.yml", places.home / ".aider"),
    _aider_changes,
    "chat",
    "`max-chat-history-tokens` that is never reached",
    """\
Above `max-chat-history-tokens` aider summarises the chat. Through `ollama_chat/…` it asks for another
`num_ctx` with every request; Holdfast keeps to one, but `openai/…` spares you the question. `--map-tokens`
limits its map of the repository, which is part of every request: 512 to 1024 is plenty for a window of 8k.
A `/clear` begins a new conversation here, too. It has no MCP and no headers.""",
    trials=(Trial("0.86.2", "2026-11-16", EIGHT_TURNS),),
    launch=_aider_launch,
)


def _openclaw_entries(endpoint: Endpoint) -> tuple[Entry, ...]:
    models = [
        {"id": model, "name": model, "contextWindow": LARGE_WINDOW, "maxTokens": MAX_ANSWER}
        for model in endpoint.models
    ]
    provider: dict[str, Any] = {
        "baseUrl": endpoint.openai,
        "apiKey": endpoint.key,
        "api": "openai-completions",
    }
    provider |= {"headers": endpoint.headers} if endpoint.headers else {}
    return (
        Entry(("models", "providers", NAME), {**provider, "models": models}),
        Entry(("agents", "defaults", "model", "primary"), f"{NAME}/{endpoint.model}"),
        Entry(("agents", "defaults", "compaction", "enabled"), False),
        Entry(("mcp", "servers", NAME), endpoint.mcp_server()),
    )


def _openclaw_file(places: Places) -> Any:
    folder = places.variable("OPENCLAW_STATE_DIR", places.home / ".openclaw")
    return places.variable("OPENCLAW_CONFIG_PATH", folder / "openclaw.json")


def _openclaw_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    return (ConfigChange(_openclaw_file(places), "json", _openclaw_entries(endpoint)),)


def _openclaw_launch(endpoint: Endpoint, places: Places) -> LaunchPlan:
    file = _openclaw_file(places)
    now = file.read_text(encoding="utf-8") if file.exists() else ""
    return LaunchPlan(
        ("openclaw",),
        {"OPENCLAW_CONFIG_PATH": "{folder}/openclaw.json"},
        {"openclaw.json": apply_entries(now, "json", _openclaw_entries(endpoint))},
    )


OPENCLAW = Client(
    "openclaw",
    "OpenClaw",
    ("openclaw",),
    lambda places: (places.variable("OPENCLAW_STATE_DIR", places.home / ".openclaw"),),
    _openclaw_changes,
    "chat",
    "`agents.defaults.compaction.enabled: false`; overflow recovery stays, and is not needed",
    """\
`connect` writes a provider, the primary model and the MCP server into `~/.openclaw/openclaw.json`, which is
JSON5: comments and bare keys stay. It needs Node 24, and its own prompt and tools have 14,000 tokens; its
chats belong to the project of its workspace. Its notes can be read in place, too: see [OpenClaw's
workspace](import.md).""",
    trials=(Trial("2026.9.6", "2026-11-16", f"{EIGHT_TURNS}, with `agent --local`"),),
    launch=_openclaw_launch,
)


def _open_webui_variables(endpoint: Endpoint) -> dict[str, str]:
    return {
        "OPENAI_API_BASE_URL": endpoint.openai,
        "OPENAI_API_KEY": endpoint.key,
        "ENABLE_OPENAI_API": "true",
        "ENABLE_FORWARD_USER_INFO_HEADERS": "true",
        "ENABLE_CONTEXT_COMPACTION": "false",
    }


def _open_webui_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    entries = tuple(Entry((name,), value) for name, value in _open_webui_variables(endpoint).items())
    return (ConfigChange(places.here / ".env", "env", entries),)


OPEN_WEBUI = Client(
    "open-webui",
    "Open WebUI",
    ("open-webui",),
    lambda places: (places.home / ".open-webui", places.here / "open-webui"),
    _open_webui_changes,
    "chat",
    "`ENABLE_CONTEXT_COMPACTION=false`",
    """\
Its settings are environment variables when it is first started, and in its database from then on: what is
saved under *Admin Panel ▸ Settings ▸ Connections* wins. `connect` writes them into `.env` of the folder it
is started from (`--folder`), which Docker Compose reads; `launch` starts `open-webui serve` with them. With
Docker:

<!-- not run: needs Docker, and an image from elsewhere -->
```sh
docker run -d -p 3000:8080 --add-host=host.docker.internal:host-gateway \\
  -e OPENAI_API_BASE_URL=http://host.docker.internal:11435/v1 -e OPENAI_API_KEY=hf_… \\
  -e ENABLE_FORWARD_USER_INFO_HEADERS=true -e ENABLE_CONTEXT_COMPACTION=false \\
  ghcr.io/open-webui/open-webui:main
```

- `holdfast serve --for-docker` makes the key and prints these lines with it ([Clients in
  containers](access.md#clients-in-containers)).
- **Its context compaction** is there since 0.10 (summer 2026): switch it off as above or on the page of
  administrators.
- **Its own tools** (28 in 0.12, for notes, chats, calendars) take 5,600 tokens of every request. With a
  window of 4k or 8k choose *Advanced Params ▸ Function Calling ▸ Legacy*, or take *Builtin Tools* from the
  model.
- `num_ctx` under *Advanced Params*, in a chat's controls and in each model: leave at its default.
- With `ENABLE_FORWARD_USER_INFO_HEADERS` it says which person and which chat a request belongs to, and
  every person is a user of their own ([Several people behind one
  client](access.md#several-people-behind-one-client)).
- Its own memory and its search in documents go on working: what it adds to a question is kept with it, and
  made to fit.""",
    trials=(Trial("0.12.4", "2026-11-16", f"{EIGHT_TURNS}, over its API as its page calls it"),),
    launch=lambda endpoint, places: LaunchPlan(  # noqa: ARG005
        ("open-webui", "serve"), _open_webui_variables(endpoint)
    ),
    by_folder=True,
)


def _librechat_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    custom = {
        "name": "Holdfast",
        "apiKey": endpoint.key,
        "baseURL": endpoint.openai,
        "models": {"default": list(endpoint.models), "fetch": True},
        "titleConvo": True,
        "titleModel": "current_model",
        "headers": {
            "X-LibreChat-User-Id": "{{LIBRECHAT_USER_ID}}",
            "X-LibreChat-Conversation-Id": "{{LIBRECHAT_BODY_CONVERSATIONID}}",
            **endpoint.headers,
        },
    }
    server: dict[str, Any] = {"type": "streamable-http", "url": f"{endpoint.url}/mcp"}
    if endpoint.key != "none":
        server["headers"] = {"Authorization": f"Bearer {endpoint.key}"}
    entries = (
        Entry(("endpoints", "custom", Each("name", "Holdfast")), custom),
        Entry(("summarization", "contextPruning", "enabled"), False),
        Entry(("mcpServers", NAME), server),
    )
    return (ConfigChange(places.here / "librechat.yaml", "yaml", entries),)


LIBRECHAT = Client(
    "librechat",
    "LibreChat",
    (),
    lambda places: (places.here / "librechat.yaml", places.here / "librechat.example.yaml"),
    _librechat_changes,
    "chat",
    "`summarization.contextPruning.enabled: false`, and a large `maxContextTokens`",
    """\
`connect` writes an endpoint and the MCP server into `librechat.yaml` of its folder (`--folder`), in which
LibreChat has to be started again. It cuts and summarises by `maxContextTokens` (*Max Context Tokens* among
a chat's parameters, or in a preset of `modelSpecs`): set it to 200000, as its documentation has no switch
that ends summarising altogether. From a container, name the server with `--url
http://host.docker.internal:11435` and a key with `--key`; a forwarder's (`holdfast keys create --name
librechat --forwarder`) for the person in the header to be believed.""",
    launch_note="Docker or its own server starts it: use `connect`.",
    by_folder=True,
)


def _llm_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    folder = places.variable("LLM_USER_PATH", places.config / "io.datasette.llm")
    entries = tuple(
        Entry((Each("model_id", f"{NAME}/{model}"),), _llm_model(endpoint, model))
        for model in endpoint.models
    )
    default = Entry((), f"{NAME}/{endpoint.model}")
    return (
        ConfigChange(folder / "extra-openai-models.yaml", "yaml", entries),
        ConfigChange(folder / "default_model.txt", "text", (default,)),
    )


def _llm_model(endpoint: Endpoint, model: str) -> dict[str, Any]:
    value: dict[str, Any] = {
        "model_id": f"{NAME}/{model}",
        "model_name": model,
        "api_base": endpoint.openai,
        "supports_tools": True,
    }
    if endpoint.key != "none":
        value["headers"] = {"Authorization": f"Bearer {endpoint.key}"}
    if endpoint.headers:
        value["headers"] = {**value.get("headers", {}), **endpoint.headers}
    return value


LLM = Client(
    "llm",
    "llm",
    ("llm",),
    lambda places: (places.variable("LLM_USER_PATH", places.config / "io.datasette.llm"),),
    _llm_changes,
    "chat",
    "has none",
    """\
`connect` adds the models to `extra-openai-models.yaml` and makes the first one the default; `launch` sets
`OLLAMA_HOST` and `LLM_MODEL`, for the plugin `llm-ollama`. It sends what was said and cuts nothing; do not
use `-o num_ctx`.

<!-- not run: four processes of seconds each; tests/clients/test_llm.py runs the same -->
```sh
export OLLAMA_HOST=http://127.0.0.1:11435
llm models list
llm -m qwen3:4b "What is a mutex?"
llm -c "And a semaphore?"
```""",
    trials=(Trial("0.36", "2026-11-16", EIGHT_TURNS),),
    launch=lambda endpoint, places: LaunchPlan(  # noqa: ARG005
        ("llm",), {"OLLAMA_HOST": endpoint.url, "LLM_MODEL": f"ollama/{endpoint.model}"}
    ),
    launch_note="Needs the plugin `llm-ollama`.",
)


def _continue_file(places: Places) -> Any:
    folder = places.variable("CONTINUE_GLOBAL_DIR", places.home / ".continue")
    return first_existing(folder / "config.yml", folder / "config.yaml")


def _continue_entries(endpoint: Endpoint) -> tuple[Entry, ...]:
    head = (("name", "Local"), ("version", "1.0.0"), ("schema", "v1"))
    entries = [Entry((name,), value, if_missing=True) for name, value in head]
    entries += [
        Entry(("models", Each("name", f"Holdfast {model}")), _continue_model(endpoint, model))
        for model in endpoint.models
    ]
    return (*entries, Entry(("mcpServers", Each("name", NAME)), endpoint.mcp_server(name=NAME)))


def _continue_model(endpoint: Endpoint, model: str) -> dict[str, Any]:
    options = {"contextLength": LARGE_WINDOW, "maxTokens": MAX_ANSWER}
    value: dict[str, Any] = {
        "name": f"Holdfast {model}",
        "provider": "openai",
        "model": model,
        "apiBase": endpoint.openai,
        "apiKey": endpoint.key,
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use"],
        "defaultCompletionOptions": options,
    }
    return {**value, "requestOptions": {"headers": endpoint.headers}} if endpoint.headers else value


def _continue_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    return (ConfigChange(_continue_file(places), "yaml", _continue_entries(endpoint)),)


def _continue_launch(endpoint: Endpoint, places: Places) -> LaunchPlan:  # noqa: ARG001
    config = apply_entries("", "yaml", _continue_entries(endpoint))
    return LaunchPlan(("cn", "--config", "{folder}/config.yaml"), {}, {"config.yaml": config})


CONTINUE = Client(
    "continue",
    "Continue",
    ("cn",),
    lambda places: (places.variable("CONTINUE_GLOBAL_DIR", places.home / ".continue"),),
    _continue_changes,
    "chat",
    "no switch; a large `contextLength`",
    """\
It removes old messages by `contextLength`, and its command line compacts by it. With `provider: ollama` the
same number goes out as `num_ctx`; that is why `connect` writes `openai`. `launch` starts its command line
`cn`; in an editor, choose *Holdfast* among the models.""",
    trials=(Trial("1.5.47", "2026-11-16", EIGHT_TURNS),),
    launch=_continue_launch,
)


def _cline_files(endpoint: Endpoint) -> dict[str, tuple[Entry, ...]]:
    settings: dict[str, Any] = {
        "provider": "openai-compatible",
        "apiKey": endpoint.key,
        "model": endpoint.model,
        "baseUrl": endpoint.openai,
    }
    settings |= {"headers": endpoint.headers} if endpoint.headers else {}
    return {
        "providers.json": (
            Entry(("version",), 1, if_missing=True),
            Entry(("modes",), {}, if_missing=True),
            Entry(("lastUsedProvider",), "openai-compatible"),
            Entry(("providers", "openai-compatible", "settings"), settings),
            Entry(("providers", "openai-compatible", "tokenSource"), "manual"),
            # Needed, and Cline's own from then on.
            Entry(
                ("providers", "openai-compatible", "updatedAt"), "2026-01-01T00:00:00.000Z", if_missing=True
            ),
        ),
        "global-settings.json": (Entry(("compactionEnabled",), False),),
        "cline_mcp_settings.json": (Entry(("mcpServers", NAME), endpoint.mcp_server(disabled=False)),),
    }


def _cline_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    folder = places.variable("CLINE_DATA_DIR", places.home / ".cline" / "data") / "settings"
    return tuple(
        ConfigChange(folder / name, "json", entries, volatile=True)
        for name, entries in _cline_files(endpoint).items()
    )


def _cline_launch(endpoint: Endpoint, places: Places) -> LaunchPlan:  # noqa: ARG001
    files = {name: apply_entries("", "json", entries) for name, entries in _cline_files(endpoint).items()}
    variables = {
        "CLINE_PROVIDER_SETTINGS_PATH": "{folder}/providers.json",
        "CLINE_GLOBAL_SETTINGS_PATH": "{folder}/global-settings.json",
        "CLINE_MCP_SETTINGS_PATH": "{folder}/cline_mcp_settings.json",
    }
    return LaunchPlan(("cline",), variables, files)


CLINE = Client(
    "cline",
    "Cline",
    ("cline",),
    lambda places: (places.home / ".cline",),
    _cline_changes,
    "chat",
    "`compactionEnabled: false` in `global-settings.json`; `--compaction off`",
    """\
Command line and extension share `~/.cline/data/settings`. `connect` writes the provider *OpenAI
Compatible*, the MCP server and the switch there. Cline rewrites these files itself, so `--undo` takes only
our entries out of what it has written since.""",
    trials=(Trial("3.0.65", "2026-11-16", f"{EIGHT_TURNS}, in a terminal"),),
    launch=_cline_launch,
)


def _zed_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    models = [
        {"name": model, "display_name": f"{model} (Holdfast)", "max_tokens": LARGE_WINDOW}
        for model in endpoint.models
    ]
    entries = (
        Entry(
            ("language_models", "openai_compatible", NAME),
            {"api_url": endpoint.openai, "available_models": models},
        ),
        Entry(("agent", "default_model"), {"provider": NAME, "model": endpoint.model}),
        Entry(("context_servers", NAME), {**endpoint.mcp_server(), "env": endpoint.variables}),
    )
    return (ConfigChange(places.xdg / "zed" / "settings.json", "json", entries),)


ZED = Client(
    "zed",
    "Zed",
    ("zed", "zeditor"),
    lambda places: (places.xdg / "zed",),
    _zed_changes,
    "chat",
    "no switch; a large `max_tokens`",
    """\
`connect` writes a provider, the default model and the MCP server into `settings.json`; its comments stay.
Zed keeps keys in the keychain and shows a provider only when it has one: enter `none` once under *Agent
Settings ▸ LLM Providers ▸ holdfast*, or start Zed with `HOLDFAST_API_KEY=none`.""",
    launch_note="It reads one file of settings, and that one is yours: use `connect`.",
)


def _vscode_changes(endpoint: Endpoint, places: Places) -> tuple[ConfigChange, ...]:
    user = places.config / "Code" / "User"
    models = [
        {
            "id": model,
            "name": f"{model} (Holdfast)",
            "url": f"{endpoint.openai}/chat/completions",
            "toolCalling": True,
            "vision": False,
            "maxInputTokens": LARGE_WINDOW,
            "maxOutputTokens": MAX_ANSWER,
        }
        for model in endpoint.models
    ]
    provider = {
        "name": "Holdfast",
        "vendor": "customendpoint",
        "apiKey": endpoint.key,
        "apiType": "chat-completions",
        "models": models,
    }
    switch = "github.copilot.chat.summarizeAgentConversationHistory.enabled"
    return (
        ConfigChange(
            user / "chatLanguageModels.json", "json", (Entry((Each("name", "Holdfast"),), provider),)
        ),
        ConfigChange(
            user / "mcp.json", "json", (Entry(("servers", NAME), endpoint.mcp_server(type="stdio")),)
        ),
        ConfigChange(user / "settings.json", "json", (Entry((switch,), False),)),
    )


VSCODE = Client(
    "vscode",
    "VS Code",
    ("code",),
    lambda places: (places.config / "Code" / "User",),
    _vscode_changes,
    "chat",
    "`github.copilot.chat.summarizeAgentConversationHistory.enabled: false`",
    """\
`connect` writes a *Custom Endpoint* into `chatLanguageModels.json`, the MCP server into `mcp.json` and the
switch into `settings.json`, all of the person's own profile. Choose the model in the chat's list
afterwards.""",
    launch_note="It reads its settings from one profile: use `connect`.",
)
