"""What is said of a client: where its configuration is, what is written there, and how it is started.

A client is data and two small functions; everything that reads, writes or starts something is elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

# The format of a configuration file. `json` may have comments, trailing commas and bare keys (JSONC, JSON5).
Format = Literal["json", "yaml", "toml", "env", "text"]
# The protocol in which a client asks.
Protocol = Literal["chat", "responses", "messages", "ollama"]

# What clients are told that the window is, so that they have no reason to shorten anything by themselves.
LARGE_WINDOW = 200_000
MAX_ANSWER = 4_096
# The name of the provider, of the MCP server and of what else is ours in a configuration.
NAME = "holdfast"


@dataclass(frozen=True, slots=True)
class Each:
    """A step of a path into a list: the element whose field `key` is `name`; without a key, an equal one."""

    key: str = ""
    name: str = ""


Step = str | Each


@dataclass(frozen=True, slots=True)
class Entry:
    """A value at a path of a configuration file; an empty path is the whole file, as text.

    With `if_missing`, whatever is there already stays.
    """

    path: tuple[Step, ...]
    value: Any
    if_missing: bool = False


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """What is written into one file. A `volatile` one is rewritten by its program while it runs."""

    path: Path
    format: Format
    entries: tuple[Entry, ...]
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The Holdfast that clients are connected to; `command` starts its command line."""

    url: str
    models: tuple[str, ...]
    key: str = "none"
    project: str = ""
    command: tuple[str, ...] = ("holdfast",)
    # The data folder, if it is not the usual one: whoever starts `holdfast` has to be told.
    data_folder: str = ""

    @property
    def model(self) -> str:
        return self.models[0]

    @property
    def openai(self) -> str:
        return f"{self.url}/v1"

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Holdfast-Project": self.project} if self.project else {}

    @property
    def variables(self) -> dict[str, str]:
        return {"HOLDFAST_HOME": self.data_folder} if self.data_folder else {}

    def run(self, *arguments: str) -> list[str]:
        """Return the words of a command of ours."""
        return [*self.command, *arguments]

    def mcp(self) -> list[str]:
        return self.run("mcp", *(("--project", self.project) if self.project else ()))

    def mcp_server(self, **more: Any) -> dict[str, Any]:
        """Return the MCP server as most clients want it: a command, its arguments, its environment."""
        command, *arguments = self.mcp()
        server: dict[str, Any] = {**more, "command": command, "args": arguments}
        return {**server, "env": self.variables} if self.variables else server

    def shell(self, *arguments: str) -> str:
        """Return a command of ours as one line for a shell."""
        import shlex

        variables = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        return " ".join([*variables, shlex.join(self.run(*arguments))])


@dataclass(frozen=True, slots=True)
class Places:
    """Where configuration is on this machine; `here` is the folder of clients that are set up by folder."""

    home: Path
    here: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    mac: bool = False

    @property
    def config(self) -> Path:
        """The folder for configuration of programs that follow the desktop's rules on Linux only."""
        return self.home / "Library" / "Application Support" if self.mac else self.xdg

    @property
    def xdg(self) -> Path:
        return self.variable("XDG_CONFIG_HOME", self.home / ".config")

    def variable(self, name: str, otherwise: Path) -> Path:
        """Return the folder or file that an environment variable names, or the usual one."""
        return Path(self.variables[name]).expanduser() if self.variables.get(name) else otherwise


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a client is started connected: nothing is written but the temporary `files`, by their names.

    `{folder}` in arguments and variables stands for the folder of the temporary files.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """What was tried with which version, and when."""

    version: str
    date: str
    what: str


@dataclass(frozen=True, slots=True)
class Client:
    """A program that can be connected. `signs` are folders or files that show that somebody uses it."""

    name: str
    title: str
    programs: tuple[str, ...]
    signs: Callable[[Places], tuple[Path, ...]]
    changes: Callable[[Endpoint, Places], tuple[ConfigChange, ...]]
    protocol: Protocol
    compaction: str
    about: str
    trials: tuple[Trial, ...] = ()
    launch: Callable[[Endpoint, Places], LaunchPlan] | None = None
    # Why `launch` is not there, or what has to be known of it.
    launch_note: str = ""
    # Its files are in the folder it is started from, and not in the person's home.
    by_folder: bool = False


# What `python -m evals.clients` does with each client.
EIGHT_TURNS = "eight turns connected, one launched"


def first_existing(*paths: Path) -> Path:
    """Return the first of these files that exists, or the last."""
    return next((path for path in paths if path.exists()), paths[-1])
