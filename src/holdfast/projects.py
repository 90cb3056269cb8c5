"""Which project a folder is, and which folder an agent works in.

A folder under git is a project of its own, shared by all its worktrees; any other is the project `default`.
`project_name` is the only place that names one, so the command line, MCP and the proxy share a memory.

Agents say where they work in the prompts they write themselves: the system messages at the head of a request,
a context message before the first question, or a header. What a person, a tool or a file says is not read.
"""

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from holdfast.messages import ChatRequest, Message, Scope

DEFAULT = Scope().project

# The longest part of a folder's name that goes into the name of its project.
_LONGEST_NAME = 80
# Sessions whose project is remembered.
_MOST_SESSIONS = 1_000


def project_name(folder: Path) -> str:
    """Return the repository's name with a short hash that tells it from others of the same name."""
    for place in (folder, *folder.parents):
        shared = _git_common_directory(place / ".git")
        if shared is not None:
            return _name_of(shared.parent if shared.name == ".git" else shared)
    return DEFAULT


def _name_of(root: PurePath) -> str:
    return f"{root.name[:_LONGEST_NAME]}-{hashlib.sha256(str(root).encode()).hexdigest()[:6]}"


def _git_common_directory(git: Path) -> Path | None:
    """Return git's common directory; in a worktree `.git` is a file that points to it."""
    if git.is_dir():
        return git.resolve()
    if not git.is_file():
        return None
    line = git.read_text(errors="replace").strip()
    if not line.startswith("gitdir:"):
        return None
    own = (git.parent / line.removeprefix("gitdir:").strip()).resolve()
    pointer = own / "commondir"
    return (own / pointer.read_text().strip()).resolve() if pointer.is_file() else own


@dataclass(frozen=True, slots=True)
class WorkingFolder:
    """Where an agent works: the folder, the root of its workspace if it names one, whether git has it."""

    path: str
    root: str = ""
    under_git: bool = True

    def project(self) -> str:
        """Return the name of the project.

        A folder of another machine, which cannot be looked into, is taken for the root of a repository.
        """
        folder, project, here = Path(self.path), DEFAULT, False
        # A path of another system is none here, and one that may not be looked into is as good as none.
        if folder.is_absolute():
            with suppress(OSError):
                project, here = project_name(folder), folder.is_dir()
        if project != DEFAULT or here or not self.under_git:
            return project
        return _name_of(_as_path(self.root or self.path))


# How agents name the folder, each on a line of its own in their list of facts about the environment:
# opencode, Claude Code, Continue, Cline, Roo Code. Cline numbers the lines.
_FOLDER = re.compile(
    r"^[ \t]*(?:(?:[-*]|\d\.) )?(?:primary |current )?work(?:ing|space) directory:[ \t]*`?(?P<path>[^\n`]+)",
    re.IGNORECASE | re.MULTILINE,
)
_ROOT = re.compile(r"^[ \t]*workspace root folder:[ \t]*(?P<path>[^\n]+)", re.IGNORECASE | re.MULTILINE)
_NOT_UNDER_GIT = re.compile(
    r"^[ \t]*(?:[-*] )?is (?:directory )?a git repo(?:sitory)?:[ \t]*(?:no|false)\b",
    re.IGNORECASE | re.MULTILINE,
)
# The heading under which Claude Code says where it works; what its hooks brought stands before it.
_ENVIRONMENT = re.compile(r"^# Environment\n", re.MULTILINE)
# Messages that an agent writes in the person's place before their first one: codex, Qwen Code, Gemini CLI.
_CONTEXT_MESSAGES = (
    re.compile(
        r"<environment_context>\s*<cwd>(?P<path>[^\n<]+)</cwd>.*</environment_context>", re.DOTALL
    ),
    re.compile(
        r"This is the (?:Qwen Code|Gemini CLI)\. We are setting up the context for our chat\."
        r".*?\n[^\n]*working in the directory: (?P<path>[^\n]+).*",
        re.DOTALL,
    ),
)  # fmt: skip
# What such an agent has the model say to it.
_CONTEXT_REPLY = "Got it. Thanks for the context"
# The header in which codex names the roots of its workspaces.
_CODEX_HEADER = "x-codex-turn-metadata"


def find_working_folder(request: ChatRequest, headers: Mapping[str, str]) -> WorkingFolder | None:
    """Return the folder that an agent says it works in; None if it says none."""
    for path in _folders_in_header(headers.get(_CODEX_HEADER, "")):
        return WorkingFolder(path)
    for text in _system_texts(request.messages):
        for match in _FOLDER.finditer(text):
            if path := _absolute(match["path"]):
                # The facts about the environment stand together.
                around = text[max(0, match.start() - 500) : match.end() + 500]
                root = _ROOT.search(around)
                under_git = _NOT_UNDER_GIT.search(around) is None
                return WorkingFolder(path, _absolute(root["path"]) if root else "", under_git)
    for message in _context_messages(request.messages):
        for pattern in _CONTEXT_MESSAGES:
            context = pattern.fullmatch(message.text.strip())
            if context is not None and (path := _absolute(context["path"])):
                return WorkingFolder(path)
    return None


def _system_texts(messages: tuple[Message, ...]) -> Iterator[str]:
    """Yield the system messages before the first other one: later ones may quote what a tool said.

    Claude Code has a description of its environment behind the first question, too.
    """
    head = list(takewhile(lambda message: message.role not in ("assistant", "tool"), messages))
    first = next((place for place, message in enumerate(head) if message.role != "system"), len(head))
    for place, message in enumerate(head):
        if message.role == "system" and place < first:
            yield message.text
        elif message.role == "system" and (environment := _ENVIRONMENT.search(message.text)):
            yield message.text[environment.end() :]


def _context_messages(messages: tuple[Message, ...]) -> Iterator[Message]:
    """Yield the user messages that stand before the person's first one.

    The last of several is the person's own, whatever it looks like; so is a single one, unless an answer
    follows that an agent wrote itself.
    """
    head = list(takewhile(lambda message: message.role != "assistant", messages))
    users = [message for message in head if message.role == "user"]
    reply = messages[len(head)].text if len(head) < len(messages) else ""
    yield from users if len(users) == 1 and reply.startswith(_CONTEXT_REPLY) else users[:-1]


def _folders_in_header(text: str) -> Iterator[str]:
    try:
        metadata = json.loads(text or "{}")
    except ValueError:
        return
    workspaces = metadata.get("workspaces") if isinstance(metadata, dict) else None
    yield from filter(None, map(_absolute, workspaces if isinstance(workspaces, dict) else ()))


def _absolute(text: str) -> str:
    """Return an absolute path; empty for anything else, and for the root of a file system."""
    path = text.strip().strip("\"'")
    plain = _as_path(path)
    return path if plain.is_absolute() and plain.name and "\0" not in path else ""


def _as_path(text: str) -> PurePath:
    return PurePosixPath(text) if text.startswith("/") else PureWindowsPath(text)


class SessionProjects:
    """Remembers the project of each session of an agent.

    Titles and summaries are asked for without a word of the folder, and an agent may change into a subfolder:
    both belong to the project in which the session began.
    """

    def __init__(self) -> None:
        self._projects: OrderedDict[tuple[str, str], str] = OrderedDict()

    def find(self, user: str, session: str, folder: WorkingFolder | None) -> str:
        key = user, session
        if session and key in self._projects:
            self._projects.move_to_end(key)
            return self._projects[key]
        if folder is None:
            return DEFAULT
        project = folder.project()
        if session:
            self._projects[key] = project
            if len(self._projects) > _MOST_SESSIONS:
                self._projects.popitem(last=False)
        return project
