"""Settings: one table of names, defaults and help, and where each value comes from.

In rising order: default, file (`holdfast.toml` in the data folder), page (what was set in a browser, kept
beside that file), environment (`HOLDFAST_NAME`), command line. Only this module reads the environment. It
knows nothing of what the settings are used for.
"""

import difflib
import json
import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

import platformdirs

from holdfast.errors import ConfigError, explain_os_error
from holdfast.i18n import LANGUAGES, lazy
from holdfast.i18n import gettext as _


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _switch(value: Any) -> bool:
    return value if isinstance(value, bool) else _SWITCH[_text(value).strip().lower()]


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError
    return int(number)


def port(value: Any) -> int:
    if (number := _whole(value)) > 65_535:
        raise ValueError
    return number


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not 0 <= number < float("inf"):
        raise ValueError
    return number


def _share(value: Any) -> float | None:
    """A share of something: 0.65 and "65%" are the same; nothing is None, which leaves it to the preset."""
    if isinstance(value, str):
        value = value.strip()
        if not value:
            return None
        if value.endswith("%"):
            value = _number(value.removesuffix("%")) / 100
    if not 0 < (share := _number(value)) <= 1:
        raise ValueError
    return share


_SWITCH = dict.fromkeys(("true", "on", "yes", "1"), True) | dict.fromkeys(("false", "off", "no", "0"), False)
READERS: Mapping[type, Callable[[Any], Any]] = {
    str: _text,
    bool: _switch,
    int: _whole,
    float: _number,
    # The shares are the only settings that are None by default.
    type(None): _share,
    type(Path()): lambda value: Path(value).expanduser(),
}


Source = Literal["default", "file", "page", "environment", "command line"]

FILE, PAGE = "holdfast.toml", "page.json"
# What was typed in a chat, to be found again with the arrow keys.
HISTORY = "chat_history"

HIDDEN = "••••"
# What stands between the user's name and the host in an address.
_PASSWORD = re.compile(r"(://[^/@:\s]*:)[^/@\s]*@")


_IN_HOME = Path()


PresetName = Literal["balanced", "keep-most", "save-tokens", "long-answers", "step-by-step"]
PRESETS: tuple[PresetName, ...] = get_args(PresetName)
# Presets are named by their effect; these are the systems that they have their numbers from.
PRESET_ALIASES: Mapping[str, PresetName] = {
    "supermemory": "keep-most",
    "arasul": "save-tokens",
    "openclaw": "long-answers",
    "ollama-prompt": "step-by-step",
}


def _setting(default: Any, help_: str, *, secret: bool = False, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": help_, "secret": secret, "choices": choices})


@dataclass(frozen=True, slots=True)
class Settings:
    """The table. A path that is empty by default lies in the data folder once the settings are loaded."""

    home: Path = _setting(_IN_HOME, "Data folder: database, notes, models. Only by HOLDFAST_HOME or --home.")
    host: str = _setting("127.0.0.1", "Address the server listens on.")
    port: int = _setting(11435, "Port the server listens on.")
    key: str = _setting("", "Key that clients must send; needed for any address but loopback.", secret=True)
    require_key: bool = _setting(False, "Whether a key or a password is needed on this machine, too.")
    trust_forwarded_users: bool = _setting(
        False, "Whether programs without a key of their own may say for whom they ask (Open WebUI does)."
    )
    allowed_hosts: str = _setting(
        "", "More names this server answers to, several with commas; .example.com for all below it."
    )
    cors_origins: str = _setting(
        "", "Pages that may use this server from a browser, like app://obsidian.md; several with commas."
    )
    upstream: str = _setting("", "Model server, e.g. http://127.0.0.1:11434, or embedded. Empty: find one.")
    upstream_key: str = _setting("", "Key that the model server asks for.", secret=True)
    upstreams: str = _setting(
        "",
        "Several model servers: NAME=ADDRESS or ADDRESS, with commas. A model goes to the first that has it; "
        "NAME/MODEL names the server.",
    )
    upstream_keys: str = _setting("", "Keys of those servers: NAME=KEY, with commas.", secret=True)
    model: str = _setting("", "Model for `ask` and `chat`. Empty: the first one the model server lists.")
    store: str = _setting(
        "", "Database: sqlite:///PATH or postgresql://… Empty: holdfast.db in the data folder."
    )
    workspace: str = _setting(
        "", "Where notes are: a folder, or s3://bucket/prefix. Empty: workspace in the data folder."
    )
    s3_endpoint: str = _setting(
        "", "Address of the S3 server, like http://127.0.0.1:9000 for MinIO. Empty: AWS."
    )
    s3_region: str = _setting("", "Region of the bucket. Empty: us-east-1.")
    s3_key: str = _setting("", "Access key of the S3 server.", secret=True)
    s3_secret: str = _setting("", "Secret of that access key.", secret=True)
    s3_path_style: bool = _setting(
        True, "Whether the bucket is in the path of addresses; off: in front of the server's name."
    )
    models_dir: Path = _setting(_IN_HOME, "Folder for model files. Empty: models in the data folder.")
    keep_alive: str = _setting(
        "", "How long Ollama keeps a model in memory: 30m, 2h, -1 for ever. Empty: as Ollama is set."
    )
    embedded_model: str = _setting("", "A GGUF file to use as the embedded model instead of SmolLM2.")
    embedded_window: int = _setting(8192, "Context window of the embedded model, in tokens.")
    preset: str = _setting("balanced", "When and how a long history is made to fit.", choices=PRESETS)
    level_1: float | None = _setting(
        None, "Share from which old text is shortened, as 0.5 or 50%. Empty: the preset's."
    )
    level_2: float | None = _setting(
        None, "Share from which what matters least is left out. Empty: the preset's."
    )
    level_3_ahead: float | None = _setting(
        None, "Share from which a summary is made while idle. Empty: the preset's."
    )
    level_3: float | None = _setting(None, "Share from which a summary is made at once. Empty: the preset's.")
    reserve: int = _setting(0, "Tokens kept free for the answer. 0: by the size of the window.")
    recall_share: float | None = _setting(
        None,
        "Share of the room for what a question brings back from earlier. Empty: 30 % at 4k, 25 % at 8k,"
        " 20 % above.",
    )
    helper_model: str = _setting(
        "", "Model for summaries and memories. Empty: the one that is talked to; another may evict it."
    )
    memory: bool = _setting(True, "Whether anything is remembered beyond a conversation.")
    memory_limit: int = _setting(
        500, "How many memories a person or project has at most; above that the least useful are archived."
    )
    embedder: str = _setting(
        "auto",
        "What finds memories by meaning: auto (local only), embedded, off, ollama, openai, gemini, voyage, a "
        "GGUF file, or an address, like ollama+http://127.0.0.1:11434 or openai+https://api.example.com/v1.",
    )
    embedder_model: str = _setting("", "Embedding model on that server. Empty: the usual one there.")
    embedder_key: str = _setting("", "Key that the server of the embedder asks for.", secret=True)
    embedder_headers: str = _setting(
        "", "More headers for the server of the embedder: Name: value; Other: value.", secret=True
    )
    embedder_timeout: float = _setting(60.0, "Seconds the embedder may be silent.")
    embedder_dimensions: int = _setting(
        0, "Length of vectors, where the model leaves that open. 0: what is usual there."
    )
    embedder_prompts: str = _setting(
        "",
        "What goes before questions and texts for the embedder: off, or query=search_query: "
        "|text=search_document: . Empty: what the model is known to want.",
    )
    embedder_batch: bool = _setting(
        False,
        "Whether many vectors at once are made by batch jobs of the server (OpenAI, Gemini): cheaper, later.",
    )
    embedder_batch_wait: bool = _setting(True, "Whether `memory reindex` waits for these jobs.")
    embedder_batch_poll: float = _setting(30.0, "Seconds between two looks at these jobs.")
    embedder_batch_timeout: float = _setting(1440.0, "Minutes after which such a job is given up.")
    embedder_batch_concurrency: int = _setting(2, "How many of these jobs run at a time.")
    vectors: str = _setting(
        "auto",
        "What compares vectors: auto (this process), pgvector (the database, if it is PostgreSQL) or "
        "postgresql://…, qdrant+http://HOST:6333, qdrant:FOLDER, sqlite-vec.",
    )
    vectors_key: str = _setting("", "Key that the Qdrant server asks for.", secret=True)
    vectors_collection: str = _setting("memories", "Name of the collection in Qdrant.")
    vectors_extension: str = _setting("", "File of sqlite-vec. Empty: that of the package.")
    memory_backend: str = _setting(
        "holdfast",
        "Program that searches the notes: Holdfast itself or QMD (docs/qmd.md).",
        choices=("holdfast", "qmd"),
    )
    qmd_command: str = _setting("qmd", "How QMD is run: a program, with arguments if it needs some.")
    qmd_mode: str = _setting(
        "query",
        "How QMD searches: query (with models), vsearch (by meaning), search (by words; needs no model).",
        choices=("query", "search", "vsearch"),
    )
    qmd_paths: str = _setting(
        "", "More notes for QMD: NAME=FOLDER or NAME=FOLDER/**/*.md, with the system's path separator."
    )
    qmd_scope: str = _setting(
        "allow private",
        "Whom QMD answers, others are answered as usual: rules like allow private, deny project=NAME, allow "
        "group=NAME; the first that fits decides.",
    )
    qmd_limit: int = _setting(6, "Hits that QMD gives at most.")
    qmd_snippet: int = _setting(700, "Characters of one hit from QMD, at most.")
    qmd_characters: int = _setting(4000, "Characters of all hits from QMD together, at most.")
    qmd_timeout: float = _setting(4.0, "Seconds QMD has for an answer; after that ours is given.")
    qmd_interval: float = _setting(5.0, "Minutes between two looks of QMD at the notes.")
    qmd_debounce: float = _setting(15.0, "Seconds after a change until QMD looks at the notes.")
    qmd_embed_interval: float = _setting(60.0, "Minutes between two times QMD makes vectors.")
    qmd_update_timeout: float = _setting(120.0, "Seconds QMD has for reading notes, and for vectors.")
    notes_paths: str = _setting(
        "", "More notes to search: Markdown files and folders, several with the system's path separator."
    )
    index_conversations: bool = _setting(
        True, "Whether messages are searched by meaning too; their vectors are made in the background."
    )
    search_weights: str = _setting(
        "", "What meaning and words are worth in a search, as 0.7:0.3. Empty: what was measured to be best."
    )
    citations: str = _setting(
        "auto",
        "Whether hits of a search name their source; auto: in private, not in groups.",
        choices=("auto", "on", "off"),
    )
    searxng: str = _setting(
        "", "A SearXNG that finds pages for research, like http://127.0.0.1:8080; it must offer JSON."
    )
    research_private: str = _setting(
        "off",
        "Whether research may fetch from this machine and private networks: off, on, or only addresses and "
        "networks like 192.168.1.0/24, 10.0.0.5:8080.",
    )
    profile_learns: bool = _setting(
        False, "Whether preferences that you mention are added to the profile without asking."
    )
    memory_gate: str = _setting(
        "",
        "Model servers to which memories may be sent: address=on or address=off, several "
        "with commas. Default: servers on this machine and in private networks.",
    )
    file_roots: str = _setting(
        "",
        "Folders whose files requests may point at with @, several with the system's path separator. "
        "Empty: none; what is typed on the command line reaches all that its user may read.",
    )
    file_references: bool = _setting(
        False, "Whether requests without a key of their own may point at files, too (keys: --files)."
    )
    titles: bool = _setting(True, "Whether the model gives chats of the page a title when nobody waits.")
    flush_enabled: bool = _setting(
        True, "Whether memories are taken from what is said, not only from what one asks for."
    )
    retention_days: int = _setting(0, "Days after which conversations are deleted. 0: never.")
    retention_memories: str = _setting(
        "keep", "What becomes of what was learned in them.", choices=("keep", "forget")
    )
    backup_days: float = _setting(
        1.0, "Days between the backups that the server makes by itself. 0: it makes none."
    )
    parallel: int = _setting(1, "Requests that a model server answers at a time; others wait. 0: no limit.")
    upstream_parallel: str = _setting("", "The same for single servers: NAME=NUMBER, several with commas.")
    max_messages: int = _setting(20_000, "The most messages in one request.")
    max_answer_mb: int = _setting(
        32, "The largest answer of a model server, in MB as it is sent; it is cut off there."
    )
    unread: float = _setting(
        60.0, "Seconds a client may leave what it is sent unread before it is given up. 0: for ever."
    )
    heartbeat: float = _setting(
        10.0, "Seconds after which a client that waits for a stream gets a sign of life. 0: never."
    )
    stall_timeout: float = _setting(300.0, "Seconds a model server may be silent before a request fails.")
    max_request_mb: int = _setting(64, "Largest request that is accepted, in megabytes.")
    mcp: bool = _setting(True, "Whether the server offers its tools to MCP hosts, at /mcp.")
    language: str = _setting("auto", "Language of what people read.", choices=("auto", *LANGUAGES))
    log_level: str = _setting(
        "info", "How much is logged.", choices=("critical", "error", "warning", "info", "debug")
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force, and the layers they come from, in rising order."""

    settings: Settings
    sources: Mapping[str, Source]
    layers: tuple[tuple[Source, Mapping[str, Any]], ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "Config":
        """Of settings that a program made itself: what differs from the defaults was given by it."""
        given = {
            item.name: value
            for item in fields(Settings)
            if item.name != "home" and (value := getattr(settings, item.name)) != item.default
        }
        return _settled(settings.home, [("command line", given)])

    def with_page(self, values: Mapping[str, Any]) -> "Config":
        """The same, had this been set on the page."""
        below = [layer for layer in self.layers if layer[0] == "file"]
        above = [layer for layer in self.layers if layer[0] in ("environment", "command line")]
        return _settled(self.settings.home, [*below, ("page", values), *above])

    def shown(self) -> list[dict[str, Any]]:
        """Every setting with its value, source and help, secrets hidden."""
        rows = []
        for item in fields(Settings):
            value = getattr(self.settings, item.name)
            rows.append(
                {
                    "name": item.name,
                    "value": shown_value(item.name, value),
                    "source": self.sources[item.name],
                    "help": _(item.metadata["help"]),
                }
            )
        return rows


def shown_value(name: str, value: Any) -> Any:
    """As people and programs may see it: a secret only says that it is there."""
    if field_named(name).metadata["secret"] and value:
        return HIDDEN
    if isinstance(value, Path):
        return "" if value == _IN_HOME else str(value)
    return _PASSWORD.sub(rf"\1{HIDDEN}@", value) if isinstance(value, str) else value


def field_named(name: str) -> "Field[Any]":
    return next(item for item in fields(Settings) if item.name == name)


def load(overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Reads the settings; `overrides` are the command line's, None among them meaning not given."""
    environ = os.environ if environ is None else environ
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    from_environment = {
        item.name: environ[variable]
        for item in fields(Settings)
        if (variable := f"HOLDFAST_{item.name.upper()}") in environ
    }
    home = Path(given.get("home") or from_environment.get("home") or default_home()).expanduser().resolve()
    layers: list[tuple[Source, Mapping[str, Any]]] = [
        ("file", _read_file(home / FILE)),
        ("page", set_on_page(home)),
        ("environment", from_environment),
        ("command line", given),
    ]
    return _settled(home, layers)


def _settled(home: Path, layers: Sequence[tuple[Source, Mapping[str, Any]]]) -> Config:
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {item.name: "default" for item in fields(Settings)}
    for source, layer in layers:
        for name, value in layer.items():
            values[name] = converted(name, value, source)
            sources[name] = source
    values["home"] = home
    settings = Settings(**values)
    return Config(_with_places(settings), sources, tuple(layers))


def locale_name(environ: Mapping[str, str] | None = None) -> str:
    """The locale that the environment asks for messages in, installed here or not; empty if it says none."""
    environ = os.environ if environ is None else environ
    return next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")


def environment() -> Mapping[str, str]:
    """The whole environment, for finding and starting other programs."""
    return os.environ


def default_home() -> Path:
    return platformdirs.user_data_path("holdfast")


def _with_places(settings: Settings) -> Settings:
    """Fills in what lies in the data folder unless it was put elsewhere."""
    values = {item.name: getattr(settings, item.name) for item in fields(Settings)}
    if settings.models_dir == _IN_HOME:
        values["models_dir"] = settings.home / "models"
    if not settings.store:
        values["store"] = f"sqlite:///{quote(str(settings.home / 'holdfast.db'))}"
    return Settings(**values)


def set_on_page(home: Path) -> Mapping[str, Any]:
    """What was set in a browser, as it was given."""
    return _read_file(home / PAGE, json.loads)


def keep_page(home: Path, values: Mapping[str, Any]) -> None:
    """Keeps what is set in a browser, whole or not at all. There may be secrets in it."""
    text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    try:
        replace_config(home / PAGE, text.encode())
    except OSError as error:
        raise ConfigError(
            lazy("{path} cannot be written: {why}.", path=home / PAGE, why=explain_os_error(error))
        ) from None


def replace_config(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replaces a file in one step: a crash or a full disk leaves the old file, and nothing beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(content)
            file.flush()
            os.fsync(handle)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _read_file(path: Path, parse: Callable[[str], Any] = tomllib.loads) -> Mapping[str, Any]:
    try:
        values = parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ConfigError(
            lazy("{path} cannot be read: {why}.", path=path, why=str(error)),
            hint=lazy("Mend the file or move it away."),
        ) from None
    except OSError as error:
        raise ConfigError(
            lazy("{path} cannot be read: {why}.", path=path, why=explain_os_error(error))
        ) from None
    if not isinstance(values, dict):
        raise ConfigError(
            lazy("{path} is no table of settings.", path=path), hint=lazy("Mend the file or move it away.")
        )
    names = {item.name for item in fields(Settings)} - {"home"}
    for name in values:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = (
                lazy("Did you mean {names}?", names=near[0])
                if near
                else lazy("`holdfast config` lists the settings there are.")
            )
            raise ConfigError(lazy("{path} has an unknown setting: {name}.", path=path, name=name), hint=hint)
    return values


def converted(name: str, value: Any, source: Source) -> Any:
    """A value as the setting of this name has it, whatever spelling it came in."""
    item = field_named(name)
    choices = item.metadata["choices"]
    if name == "preset":
        value = PRESET_ALIASES.get(value, value)
    if choices and value not in choices:
        raise ConfigError(
            lazy("{name} ({source}) is {value!r}.", name=name, source=source, value=value),
            hint=lazy("It must be one of: {names}.", names=", ".join(choices)),
        )
    try:
        return port(value) if name == "port" else READERS[type(item.default)](value)
    except (TypeError, ValueError, KeyError):
        hints = {
            str: lazy("It must be text."),
            bool: lazy("It must be true or false."),
            int: lazy("It must be a whole number, zero or more."),
            float: lazy("It must be a number, zero or more."),
            type(None): lazy(
                "It must be a share above 0 and up to 1, such as 0.65 or 65%, or empty for the preset's."
            ),
        }
        hint = hints.get(type(item.default), lazy("It must be a path."))
        raise ConfigError(
            lazy("{name} ({source}) is {value!r}.", name=name, source=source, value=value), hint=hint
        ) from None


# What people set in daily life; on the settings page all the rest is folded away until it is looked for.
EVERYDAY = frozenset(
    {
        "model", "titles", "memory", "memory_limit", "profile_learns", "searxng",
        "retention_days", "backup_days", "language", "require_key",
    }
)  # fmt: skip
# The groups of settings, as pages and documents show them. A setting that is in none is among the others.
GROUPS: dict[str, tuple[str, ...]] = {
    "window": ("preset", "level_1", "level_2", "level_3_ahead", "level_3", "reserve", "recall_share"),
    "servers": (
        "upstream", "upstream_key", "upstreams", "upstream_keys", "model", "helper_model", "titles",
        "parallel", "upstream_parallel", "stall_timeout", "max_answer_mb", "keep_alive", "embedded_model",
        "embedded_window",
    ),
    "memory": (
        "memory", "memory_limit", "memory_gate", "flush_enabled", "profile_learns", "index_conversations",
        "notes_paths", "search_weights", "citations",
        "embedder", "embedder_model", "embedder_key", "embedder_headers", "embedder_timeout",
        "embedder_dimensions", "embedder_prompts", "embedder_batch", "embedder_batch_wait",
        "embedder_batch_poll", "embedder_batch_timeout", "embedder_batch_concurrency", "vectors",
        "vectors_key", "vectors_collection", "vectors_extension",
        "memory_backend", "qmd_command", "qmd_mode", "qmd_paths", "qmd_scope", "qmd_limit", "qmd_snippet",
        "qmd_characters", "qmd_timeout", "qmd_interval", "qmd_debounce", "qmd_embed_interval",
        "qmd_update_timeout",
    ),
    "research": ("searxng", "research_private", "file_roots", "file_references"),
    "access": (
        "host", "port", "key", "require_key", "trust_forwarded_users", "allowed_hosts", "cors_origins",
        "max_request_mb", "max_messages", "unread", "heartbeat", "mcp",
    ),
    "data": (
        "retention_days", "retention_memories", "backup_days", "home", "store", "models_dir", "workspace",
        "s3_endpoint", "s3_region", "s3_key", "s3_secret", "s3_path_style",
    ),
    "other": ("language", "log_level"),
}  # fmt: skip


def group_of(name: str) -> str:
    return next((group for group, names in GROUPS.items() if name in names), "other")
