"""What a repository says about itself, as memories that can be proposed: no model is asked.

Read are the README, manifests, the Makefile, what CI runs, the subjects of commits, and the files of rules
that agents know (AGENTS.md and its like). The same files give the same proposals, each with its source.
What became of each is recorded, so that a later run proposes only what is new or has changed.
"""

import hashlib
import json
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from holdfast.brief import RULE_FILES, RULE_FOLDERS
from holdfast.memory.base import Kind
from holdfast.memory.library import Library
from holdfast.messages import Scope
from holdfast.store import Store
from holdfast.text.analyser import sentences
from holdfast.text.statements import statements_in

_READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md")
_CI_FILES = (
    ".gitlab-ci.yml",
    ".woodpecker.yml",
    ".circleci/config.yml",
    "azure-pipelines.yml",
    ".travis.yml",
)
_CI_FOLDERS = (".github/workflows", ".woodpecker", ".forgejo/workflows")

# Bytes of a file that is read; a larger one is no text that people wrote.
_LARGEST = 400_000
_LONGEST_TEXT = 300
# Limits of one file of rules, of commands in one proposal, and of names in a list.
_MOST_RULES, _MOST_COMMANDS, _MOST_NAMES = 60, 6, 15
# Subjects of commits that are looked at, and the share that makes a habit.
_COMMITS, _HABIT = 200, 0.6
_LEAST_COMMITS = 10


@dataclass(frozen=True, slots=True)
class MemoryProposal:
    """A memory that a file suggests. `key` stays the same while the file says the same thing of it."""

    key: str
    kind: Kind
    text: str
    source: str

    @property
    def sentence(self) -> str:
        """The text as it is remembered: with the file it comes from."""
        return f"{self.text} ({self.source})"


def read_repository(root: Path) -> list[MemoryProposal]:
    """Return what the files of a repository suggest, rules first, each thing once."""
    readers: Sequence[Callable[[Path], Iterator[MemoryProposal]]] = (
        _read_rules, _read_readme, _read_pyproject, _read_package, _read_cargo, _read_go, _read_makefile,
        _read_ci, _read_commits,
    )  # fmt: skip
    proposals: dict[str, MemoryProposal] = {}
    for proposal in chain.from_iterable(reader(root) for reader in readers):
        words = " ".join(re.findall(r"\w+", proposal.text.casefold()))
        if words:
            proposals.setdefault(words, proposal)
    return list(proposals.values())


def find_root(folder: Path) -> Path | None:
    """Return the root of the working tree that a folder is in."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def _read_text(root: Path, name: str) -> str:
    """Return the text of a file inside the repository; empty if there is none, or none that people wrote."""
    path = root / name
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return ""
        # A link must not lead out of the repository.
        path.resolve().relative_to(root.resolve())
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _list_files(root: Path, folder: str, *suffixes: str) -> list[str]:
    place = root / folder
    if not place.is_dir():
        return []
    return sorted(f"{folder}/{path.name}" for path in place.iterdir() if path.suffix in suffixes)


def _clean(text: str) -> str:
    """Return a text of Markdown on one line: links as their words, no emphasis, no badges."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^<>]+>", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"\*\*|__(?=\w)|(?<=\w)__", "", text).split())


# The name under which the results of earlier runs are stored.
_RECORDS = "init"


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """What became of a proposal: the text it had, and the memory it is now, empty if it was declined."""

    text: str
    memory: str = ""


@dataclass(frozen=True, slots=True)
class RepositoryChanges:
    """What a run proposes: what is new, what says something else now, and what is no longer there.

    `known` counts the rest.
    """

    new: tuple[MemoryProposal, ...] = ()
    changed: tuple[MemoryProposal, ...] = ()
    gone: tuple[tuple[str, ProposalRecord], ...] = ()
    known: int = 0

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


class RepositoryMemories:
    """The memories of a project that come from its repository."""

    def __init__(self, store: Store, library: Library, scope: Scope) -> None:
        self._store, self._library, self._scope = store, library, scope
        self._name = f"{_RECORDS}.{scope.user}.{scope.project}"

    def compare(self, proposals: Sequence[MemoryProposal], *, again: bool = False) -> RepositoryChanges:
        """Return what is to be decided; with `again` also what was declined before."""
        records, known = self._records(), self._known_texts()
        new: list[MemoryProposal] = []
        changed: list[MemoryProposal] = []
        for proposal in proposals:
            record = records.get(proposal.key)
            if record is None or record.text != proposal.text:
                changes = changed if record is not None and record.memory in known.values() else new
                if proposal.sentence not in known:
                    changes.append(proposal)
            elif again and not record.memory:
                new.append(proposal)
        keys = {proposal.key for proposal in proposals}
        gone = [(key, record) for key, record in records.items() if key not in keys and record.memory]
        undecided = len(new) + len(changed)
        return RepositoryChanges(tuple(new), tuple(changed), tuple(gone), len(proposals) - undecided)

    def accept(self, changes: RepositoryChanges, declined: Sequence[MemoryProposal] = ()) -> None:
        """Remember what was accepted, archive what is gone, and note what was declined."""
        records, known = self._records(), self._known_texts()
        for proposal in changes.changed:
            name = records[proposal.key].memory
            self._library.edit(self._scope, name, text=proposal.sentence, kind=proposal.kind)
            records[proposal.key] = ProposalRecord(proposal.text, name)
        written = self._library.add_each(
            self._scope, [(proposal.kind, proposal.sentence) for proposal in changes.new]
        )
        for proposal, memory in zip(changes.new, written, strict=True):
            records[proposal.key] = ProposalRecord(proposal.text, memory.id)
        for key, record in changes.gone:
            if record.memory in known.values():
                self._library.archive(self._scope, record.memory)
            del records[key]
        records |= {proposal.key: ProposalRecord(proposal.text) for proposal in declined}
        value = {key: [record.text, record.memory] for key, record in records.items()}
        self._store.settings.set(self._name, value)

    def _records(self) -> dict[str, ProposalRecord]:
        stored: Mapping[str, list[str]] = self._store.settings.get(self._name, {})
        return {key: ProposalRecord(*values) for key, values in stored.items()}

    def _known_texts(self) -> dict[str, str]:
        current, _ = self._library.list_all(self._scope)
        return {memory.text: memory.id for memory in current if memory.active}


# --- rules --------------------------------------------------------------------------------------------------

_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]*)?")
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>.+)$")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def _read_rules(root: Path) -> Iterator[MemoryProposal]:
    folders = (name for folder in RULE_FOLDERS for name in _list_files(root, folder, ".md", ".mdc"))
    for name in (*RULE_FILES, *folders):
        number = 0
        for text, is_item in _split_rules(_FRONT.sub("", _read_text(root, name))):
            stated = {statement.kind for statement in statements_in((text,))}
            # What stands in a list in such a file is meant as a rule; prose only if it reads like one.
            binds = bool(stated & {"rule", "prohibition", "decision"})
            if (is_item or binds) and len(text) <= _LONGEST_TEXT and number < _MOST_RULES:
                number += 1
                digest = hashlib.sha256(text.encode()).hexdigest()[:12]
                yield MemoryProposal(f"{name}#{digest}", "decision" if binds else "fact", text, name)


def _split_rules(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the items and sentences of a file of rules; a short item with the heading it stands under."""
    title, fenced, commands = "", False, list[str]()
    block: list[str] = []
    in_item = False

    def flush() -> Iterator[tuple[str, bool]]:
        words = _clean(" ".join(block))
        block.clear()
        if not words:
            return
        if in_item:
            yield (words if len(words.split()) > 2 or not title else f"{title}: {words}"), True
        else:
            yield from ((sentence, False) for sentence in sentences(words))

    for line in [*text.splitlines(), ""]:
        if _FENCE.match(line):
            yield from flush()
            fenced = not fenced
            if not fenced and commands and title:
                yield f"{title}: {_join_commands(commands)}", True
            commands.clear()
        elif fenced:
            commands += [line.strip()] if line.strip() and not line.lstrip().startswith("#") else []
        elif (heading := _HEADING.match(line)) is not None:
            yield from flush()
            title, in_item = _clean(heading["title"].rstrip(" \t#")), False
        elif (item := _ITEM.match(line)) is not None:
            yield from flush()
            in_item = True
            block.append(line[item.end() :])
        elif not line.strip():
            yield from flush()
            in_item = False
        else:
            block.append(line)


def _join_commands(commands: Sequence[str]) -> str:
    return ", ".join(f"`{command}`" for command in dict.fromkeys(commands[:_MOST_COMMANDS]))


# --- README and manifests -----------------------------------------------------------------------------------


_NO_PROSE = re.compile(r"[#>|=]|```|[-*+] |---|\d+\. ")


def _read_readme(root: Path) -> Iterator[MemoryProposal]:
    for name in _READMES:
        lines = _read_text(root, name).splitlines()
        title = next(
            (_clean(match["title"].rstrip(" \t#")) for line in lines if (match := _HEADING.match(line))), ""
        )
        prose: list[str] = []
        for line in lines:
            words = _clean(line)
            if not words or _NO_PROSE.match(line):
                if prose:
                    break
                continue
            prose.append(words)
        about = next(iter(sentences(" ".join(prose))), "")
        if about:
            text = about if not title or title.casefold() in about.casefold() else f"{title}: {about}"
            yield MemoryProposal("readme", "fact", text[:_LONGEST_TEXT], name)
            return


def _load(root: Path, name: str, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Return the contents of a manifest; empty if there is none or it is damaged."""
    with suppress(ValueError, YAMLError, RecursionError):
        value = parse(_read_text(root, name) or "{}" if name.endswith(".json") else _read_text(root, name))
        if isinstance(value, dict):
            return value
    return {}


def _table(value: Any, *names: str) -> Mapping[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _named(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MOST_NAMES} more" if len(words) > _MOST_NAMES else ""
    return ", ".join(words[:_MOST_NAMES]) + more


def _read_pyproject(root: Path) -> Iterator[MemoryProposal]:
    name = "pyproject.toml"
    manifest = _load(root, name, tomllib.loads)
    project, poetry = _table(manifest, "project"), _table(manifest, "tool", "poetry")
    python = project.get("requires-python") or _table(poetry, "dependencies").get("python")
    if python:
        yield MemoryProposal(f"{name}:python", "fact", f"It is written in Python {python}.", name)
    listed = project.get("dependencies") or [key for key in _table(poetry, "dependencies") if key != "python"]
    dependencies = [match[0] for item in listed if (match := re.match(r"[\w.-]+", str(item)))]
    if dependencies:
        text = f"It depends on {_named(dependencies)}."
        yield MemoryProposal(f"{name}:dependencies", "fact", text, name)
    tools = [tool for tool in _table(manifest, "tool") if tool in _PYTHON_TOOLS]
    if tools:
        text = f"Its Python is checked with {', '.join(tools)}."
        yield MemoryProposal(f"{name}:tools", "fact", text, name)
    scripts = {**_table(project, "scripts"), **_table(poetry, "scripts")}
    if scripts:
        yield MemoryProposal(
            f"{name}:scripts", "fact", f"It installs the commands {_named(list(scripts))}.", name
        )


_PYTHON_TOOLS = frozenset({"ruff", "mypy", "pytest", "black", "isort", "pyright", "tox", "flake8", "pylint"})
_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
}


def _read_package(root: Path) -> Iterator[MemoryProposal]:
    name = "package.json"
    manifest = _load(root, name, json.loads)
    if not manifest:
        return
    manager = str(manifest.get("packageManager") or "").partition("@")[0]
    manager = manager or next((tool for lock, tool in _LOCKS.items() if (root / lock).is_file()), "npm")
    yield MemoryProposal(f"{name}:manager", "decision", f"Its packages are managed with {manager}.", name)
    if node := _table(manifest, "engines").get("node"):
        yield MemoryProposal(f"{name}:node", "fact", f"It needs Node {node}.", name)
    for script, command in list(_table(manifest, "scripts").items())[:_MOST_NAMES]:
        text = f"`{manager} run {script}` runs `{' '.join(str(command).split())}`."
        if len(text) <= _LONGEST_TEXT:
            yield MemoryProposal(f"{name}:script:{script}", "fact", text, name)
    dependencies = list(_table(manifest, "dependencies"))
    if dependencies:
        yield MemoryProposal(
            f"{name}:dependencies", "fact", f"In JavaScript it depends on {_named(dependencies)}.", name
        )


def _read_cargo(root: Path) -> Iterator[MemoryProposal]:
    name = "Cargo.toml"
    manifest = _load(root, name, tomllib.loads)
    package = _table(manifest, "package") or _table(manifest, "workspace", "package")
    if package.get("edition") or package.get("rust-version"):
        version = f" {package['rust-version']}" if isinstance(package.get("rust-version"), str) else ""
        edition = f", edition {package['edition']}" if isinstance(package.get("edition"), str) else ""
        yield MemoryProposal(f"{name}:rust", "fact", f"It is written in Rust{version}{edition}.", name)
    if dependencies := list(_table(manifest, "dependencies")):
        text = f"In Rust it depends on {_named(dependencies)}."
        yield MemoryProposal(f"{name}:dependencies", "fact", text, name)


def _read_go(root: Path) -> Iterator[MemoryProposal]:
    text = _read_text(root, "go.mod")
    module = re.search(r"^module[ \t]+(\S+)", text, re.MULTILINE)
    version = re.search(r"^go[ \t]+(\S+)", text, re.MULTILINE)
    if module:
        needs = f" and needs Go {version[1]}" if version else ""
        yield MemoryProposal("go.mod:module", "fact", f"It is the Go module {module[1]}{needs}.", "go.mod")


_TARGET = re.compile(
    r"^(?P<name>[A-Za-z][\w.-]*)[ \t]*:(?![=:])[^\n#]*(?:##[ \t]*(?P<about>[^\n]+))?", re.MULTILINE
)


def _read_makefile(root: Path) -> Iterator[MemoryProposal]:
    name = next((name for name in ("Makefile", "makefile", "GNUmakefile") if (root / name).is_file()), "")
    if not name:
        return
    bare: list[str] = []
    for match in _TARGET.finditer(_read_text(root, name)):
        if match["about"]:
            text = f"`make {match['name']}`: {match['about'].strip()}"
            yield MemoryProposal(f"{name}:{match['name']}", "fact", text[:_LONGEST_TEXT], name)
        else:
            bare.append(match["name"])
    if bare:
        targets = _named([f"`make {target}`" for target in dict.fromkeys(bare)])
        yield MemoryProposal(f"{name}:targets", "fact", f"There are the targets {targets}.", name)


# --- CI and history -----------------------------------------------------------------------------------------


def _read_ci(root: Path) -> Iterator[MemoryProposal]:
    folders = (name for folder in _CI_FOLDERS for name in _list_files(root, folder, ".yml", ".yaml"))
    for name in (*_CI_FILES, *folders):
        commands = list(dict.fromkeys(_commands_in(_load(root, name, YAML(typ="safe", pure=True).load))))
        if commands:
            more = f" and {len(commands) - _MOST_COMMANDS} more" if len(commands) > _MOST_COMMANDS else ""
            text = f"CI runs {_join_commands(commands)}{more}."
            yield MemoryProposal(f"{name}:runs", "fact", text[:_LONGEST_TEXT], name)


def _commands_in(value: Any) -> Iterator[str]:
    """Yield the first line of every command in a description of CI, whichever service it is for."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("run", "script", "commands", "before_script"):
                for command in inner if isinstance(inner, list) else [inner]:
                    lines = [line.strip() for line in str(command).splitlines()]
                    yield from [line for line in lines if line and not line.startswith(("#", "set "))][:1]
            else:
                yield from _commands_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _commands_in(inner)


_CONVENTIONAL = re.compile(
    r"(?:feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(?:\([^()]*\))?!?: "
)
_GITMOJI = re.compile(r":[a-z_]+: |[\U0001f300-\U0001faff\u2600-\u27bf]")
_TICKET = re.compile(r"\[?(?<![A-Z0-9])(?P<project>[A-Z][A-Z0-9]+)-\d+\b")


def _read_commits(root: Path) -> Iterator[MemoryProposal]:
    subjects = _git(root, "log", f"-n{_COMMITS}", "--no-merges", "--format=%s").splitlines()
    branch = _git(root, "symbolic-ref", "--short", "refs/remotes/origin/HEAD").strip().removeprefix("origin/")
    if branch:
        yield MemoryProposal("git:branch", "fact", f"Its main branch is {branch}.", "git")
    if len(subjects) < _LEAST_COMMITS:
        return

    def is_habit(pattern: re.Pattern[str]) -> bool:
        return sum(pattern.match(subject) is not None for subject in subjects) >= _HABIT * len(subjects)

    if is_habit(_CONVENTIONAL):
        text = "Commit messages follow Conventional Commits, like `fix(parser): …`."
        yield MemoryProposal("git:commits", "decision", text, "git log")
    elif is_habit(_GITMOJI):
        yield MemoryProposal("git:commits", "decision", "Commit messages begin with an emoji.", "git log")
    elif is_habit(_TICKET):
        tickets = Counter(match["project"] for subject in subjects if (match := _TICKET.match(subject)))
        text = f"Commit messages begin with a ticket, like {tickets.most_common(1)[0][0]}-123."
        yield MemoryProposal("git:commits", "decision", text, "git log")


def _git(root: Path, *words: str) -> str:
    """Return what git says; empty where it is missing, fails or takes too long."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            text=True,
            timeout=20,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
