"""Editors and their assistants: Continue, Cline, Zed and VS Code."""

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
