"""Chats and the command line `llm`: Open WebUI, LibreChat, llm."""

from typing import Any

from holdfast.clients.base import (
    EIGHT_TURNS,
    NAME,
    Client,
    ConfigChange,
    Each,
    Endpoint,
    Entry,
    LaunchPlan,
    Places,
    Trial,
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
