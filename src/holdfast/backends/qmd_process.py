"""The `qmd` command: its options, how it is run, what it prints, and how its home follows the notes.

It runs without a shell, with little environment, bounded time and output, and is killed with its group. What
is known of QMD's home is in a small file there, which all our processes on this machine read.
"""

import json
import logging
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import unquote

from holdfast.errors import ConfigError, HoldfastError
from holdfast.messages import Scope

# More than any answer takes; who writes more has lost its way.
_LARGEST_OUTPUT = 4_000_000
# Of what went wrong so much is told.
_LONGEST_ERROR = 300
# Seconds between two checks whether the caller still waits.
_GLANCE = 0.2

_ADDRESS = re.compile(r"\A(?:qmd://)?([A-Za-z0-9_-]+)/([^?#]+)")
# Where a snippet begins, and how many lines it has.
_PLACE = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) @@[^\n]*\n?")
_LIST = re.compile(r"^\[(?=\s*[\]{])", re.MULTILINE)
_NO_RESULTS = "no results found"
_CUT_MARK = "..."
# A line that is shorter tells nothing about where it stands.
_SHORTEST_LINE = 3
# All Markdown files, and those of a scope's own folder without archive, conversations and projects.
EVERY_MASK = "**/*.{md,markdown}"
OWN_MASK = "{*,!(archive|conversations|projects)/**/*}.{md,markdown}"
_TOKEN = re.compile(r"\*\*/|\*|\?|!\(([^()/]*)\)|\{|\}|,|.", re.DOTALL)
_MEANING = {"**/": r"(?:[^/]+/)*", "*": r"[^/]*", "?": r"[^/]", "{": "(?:", "}": ")"}
_KINDS = ("private", "group", "user", "project", "all")
# Only what one person says to one machine.
_DEFAULT_RULES = "allow private"
# `query` expands a question and ranks again with models, `vsearch` compares vectors, `search` words alone.
QmdMode = Literal["query", "search", "vsearch"]
QMD_MODES: tuple[QmdMode, ...] = ("query", "search", "vsearch")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Collections of the workspace begin so, and those that a person names do not.
OUR_PREFIX = "holdfast-"
# Files of other collections are cited as `qmd/COLLECTION/PATH`.
CITATION_PREFIX = "qmd"
log = logging.getLogger("holdfast.memory")
_STATE_FILE = "state.json"
_LISTED = re.compile(r"\(qmd://([A-Za-z0-9_-]+)/\)")
_VERSION = re.compile(r"\b(\d+)\.(\d+)[.\d]*")
# Older ones look into one collection at a time, and would leave out the others without a word.
_OLDEST_VERSION = 2
# Questions at a time: each loads its models anew.
_AT_ONCE = 2
# A line that begins so is an order to QMD and no question.
_TYPED = re.compile(r"^\s*(lex|vec|hyde|expand|intent)\s*:", re.IGNORECASE)


class QmdFailed(HoldfastError):
    """QMD failed. With `lasting`, asking again at once would fail the same way."""

    def __init__(self, message: str, *, hint: str = "", lasting: bool = True) -> None:
        super().__init__(message, hint=hint)
        self.lasting = lasting


class QmdCommand:
    """Runs `qmd`; `home` has its settings, index and models, apart from any other installation."""

    def __init__(self, words: Sequence[str], home: Path) -> None:
        self.words = tuple(words)
        self._home = home
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._closed = False

    @property
    def program(self) -> str | None:
        """Where the program is; None where there is none."""
        return shutil.which(self.words[0], path=os.pathsep.join(os.get_exec_path()))

    def run(self, args: Sequence[str], seconds: float, *, stop: Callable[[], bool] = lambda: False) -> str:
        """Return the output; QmdFailed if it takes too long, prints too much or fails."""
        until = time.monotonic() + seconds
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = self._begin(args, output, errors)
            try:
                why = wait_for(process, output, until, lambda: self._closed or stop())
            finally:
                self._end(process)
            out, err = (read_text(file) for file in (output, errors))
        if why == "time":
            raise QmdFailed(
                f"QMD was not done with {' '.join(args[:1])!r} within {round(seconds, 1):g} seconds.",
                hint="The first time it loads models. More time: qmd_timeout, qmd_update_timeout.",
            )
        if why:
            raise QmdFailed(f"QMD was ended: {why}.", lasting=why != "stopped")
        if process.returncode:
            message = " ".join(err.split())[-_LONGEST_ERROR:] or " ".join(out.split())[-_LONGEST_ERROR:]
            raise QmdFailed(f"QMD failed with exit code {process.returncode}: {message or 'it said nothing'}")
        return out

    def close(self) -> None:
        """Kill what runs; nothing starts any more."""
        with self._lock:
            self._closed = True
            for group in self._running:
                kill_group(group)

    def _begin(self, args: Sequence[str], output: IO[bytes], errors: IO[bytes]) -> "subprocess.Popen[bytes]":
        program = self.program
        if program is None:
            raise QmdFailed(
                f"There is no program {self.words[0]!r}.",
                hint="Install QMD (`npm install -g @tobilu/qmd`), or name it in qmd_command.",
                lasting=False,
            )
        with self._lock:
            if self._closed:
                raise QmdFailed("QMD was ended: stopped.", lasting=False)
            try:
                self._home.mkdir(parents=True, exist_ok=True)
                process = subprocess.Popen(
                    [program, *self.words[1:], *args],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    cwd=self._home,
                    env=self._environment(),
                    # A group of its own, so that what it starts ends with it.
                    start_new_session=True,
                )
            except OSError as error:
                raise QmdFailed(f"{program} cannot be run: {error.strerror}.") from error
            self._running.add(process.pid)
        return process

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        with self._lock:
            if process.returncode is None:
                kill_group(process.pid)
            self._running.discard(process.pid)
        process.wait()

    def _environment(self) -> dict[str, str]:
        config = self._home / "config"
        return {
            "PATH": os.pathsep.join(os.get_exec_path()),
            # Where the program itself may be installed.
            "HOME": str(Path.home()),
            "XDG_CONFIG_HOME": str(config),
            # Old versions know only this one.
            "QMD_CONFIG_DIR": str(config / "qmd"),
            "XDG_CACHE_HOME": str(self._home / "cache"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
        }


def kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def read_text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_LARGEST_OUTPUT).decode("utf-8", "replace")


def wait_for(
    process: "subprocess.Popen[bytes]", output: IO[bytes], until: float, stopped: Callable[[], bool]
) -> str:
    """Wait until a process has ended; return why it must be ended sooner, empty if it need not."""
    while True:
        left = until - time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            # Closing kills it, too.
            return "stopped" if process.wait(max(0.0, min(left, _GLANCE))) and stopped() else ""
        if os.fstat(output.fileno()).st_size > _LARGEST_OUTPUT:
            return f"it wrote more than {_LARGEST_OUTPUT:,} bytes"
        if stopped():
            return "stopped"
        if left <= 0:
            return "time"


@dataclass(frozen=True, slots=True)
class QmdHit:
    """A part of a document: the best `line`, and the text around it as QMD read it.

    `first` is where that text begins; its last line may be cut off.
    """

    collection: str
    path: str
    score: float
    line: int
    first: int
    lines: tuple[str, ...]

    def find_line(self, line: str) -> int | None:
        """The number of the quoted line that equals this one; None if none does or it is too short."""
        text = line.strip()
        for number, quoted in enumerate(self.lines, self.first):
            last = number == self.first + len(self.lines) - 1
            cut = quoted.strip().removesuffix(_CUT_MARK) if last and quoted.endswith(_CUT_MARK) else ""
            if len(text) >= _SHORTEST_LINE and (
                quoted.strip() == text or (len(cut) >= _SHORTEST_LINE and text.startswith(cut))
            ):
                return number
        return None

    @property
    def best(self) -> int | None:
        """The number of the best line, if it is long enough to be recognised."""
        at = self.line - self.first
        return (
            self.line if 0 <= at < len(self.lines) and len(self.lines[at].strip()) >= _SHORTEST_LINE else None
        )


def parse_results(output: str) -> list[QmdHit]:
    """Parse the output; QmdFailed if nothing in it makes sense."""
    rows = parse_list(output)
    hits = [hit for hit in map(parse_hit, rows) if hit is not None]
    if rows and not hits:
        raise QmdFailed(f"QMD gave {len(rows)} results, and none of them makes sense.")
    return hits


def parse_list(output: str) -> Sequence[Any]:
    for place in _LIST.finditer(output):
        try:
            rows, _ = json.JSONDecoder().raw_decode(output, place.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(rows, list):
            return rows
    if _NO_RESULTS in output.lower():
        return ()
    raise QmdFailed(f"QMD gave no JSON but {output.strip()[:80]!r}.")


def parse_hit(row: Any) -> QmdHit | None:
    if not isinstance(row, dict) or not isinstance(row.get("file"), str):
        return None
    address, score = _ADDRESS.fullmatch(row["file"]), row.get("score")
    # Compared rather than converted: a whole number can be larger than any other.
    if address is None or not isinstance(score, int | float) or not -math.inf < score < math.inf:
        return None
    snippet = row.get("snippet")
    text = snippet if isinstance(snippet, str) else ""
    place = _PLACE.match(text)
    first = int(place[1]) if place else 1
    line = row.get("line")
    return QmdHit(
        address[1],
        unquote(address[2]) if "%" in address[2] else address[2],
        float(min(1, max(0, score))),
        line if isinstance(line, int) and line > 0 else 0,
        first,
        tuple((text[place.end() :] if place else text).split("\n")),
    )


def matches_mask(mask: str, path: str) -> bool:
    return compile_mask(mask).fullmatch(path) is not None


@lru_cache
def compile_mask(mask: str) -> re.Pattern[str]:
    pattern, depth = "", 0
    for token in _TOKEN.finditer(mask):
        text = token[0]
        depth += (text == "{") - (text == "}")
        if token[1] is not None:
            pattern += rf"(?!(?:{'|'.join(map(re.escape, token[1].split('|')))})(?:/|$))[^/]*"
        elif text == "," and depth:
            pattern += "|"
        else:
            pattern += _MEANING.get(text) or re.escape(text)
    return re.compile(pattern, re.DOTALL)


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """Allows or denies a kind of scope; without `name`, all of that kind."""

    allow: bool
    kind: str
    name: str = ""

    def fits(self, scope: Scope) -> bool:
        if self.kind in ("private", "group"):
            return scope.kind == self.kind and self.name in ("", scope.project)
        if self.kind == "user":
            return scope.kind == "private" and self.name in ("", scope.user)
        return self.kind == "all" or self.name in ("", scope.project)


def is_allowed(rules: Sequence[ScopeRule], scope: Scope) -> bool:
    return next((rule.allow for rule in rules if rule.fits(scope)), False)


def reaches(rules: Sequence[ScopeRule], kind: str) -> bool:
    """Whether any rule allows this kind of scope, so that its notes are worth reading."""
    able = {kind, "all", "project"} | ({"user"} if kind == "private" else set())
    return any(rule.allow and rule.kind in able for rule in rules)


def parse_rules(text: str) -> tuple[ScopeRule, ...]:
    return tuple(parse_rule(rule.strip()) for rule in text.split(",") if rule.strip())


def parse_rule(text: str) -> ScopeRule:
    verb, _, target = text.partition(" ")
    kind, _, name = target.strip().partition("=")
    if verb not in ("allow", "deny") or kind.strip() not in _KINDS:
        raise ConfigError(
            f"qmd_scope has a rule that makes no sense: {text!r}.",
            hint=f"Write `allow KIND` or `deny KIND=NAME`, with commas; KIND is one of {', '.join(_KINDS)}.",
        )
    return ScopeRule(verb == "allow", kind.strip(), name.strip())


@dataclass(frozen=True, slots=True)
class ExtraFolder:
    """Markdown files of a folder outside of the workspace that match a mask.

    Those that are `shared` are also read by our own search.
    """

    name: str
    root: Path
    mask: str = EVERY_MASK
    shared: bool = False


@dataclass(frozen=True, slots=True)
class QmdOptions:
    """Times are in seconds. `snippet` limits one hit, `characters` all of a result.

    After a failure QMD is not asked for `pause` seconds.
    """

    home: Path
    command: tuple[str, ...] = ("qmd",)
    mode: QmdMode = "query"
    extra: tuple[ExtraFolder, ...] = ()
    rules: tuple[ScopeRule, ...] = parse_rules(_DEFAULT_RULES)
    limit: int = 6
    snippet: int = 700
    characters: int = 4_000
    timeout: float = 4.0
    interval: float = 300.0
    debounce: float = 15.0
    embed_interval: float = 3_600.0
    command_timeout: float = 30.0
    update_timeout: float = 120.0
    pause: float = 60.0


def parse_mode(name: str) -> QmdMode:
    chosen = next((mode for mode in QMD_MODES if mode == name), None)
    if chosen is None:
        raise ConfigError(f"qmd_mode is {name!r}.", hint=f"It must be one of: {', '.join(QMD_MODES)}.")
    return chosen


def parse_command(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"qmd_command cannot be read: {error}.", hint="Close the quotation.") from None
    if not words:
        raise ConfigError("qmd_command is empty.", hint="Name the program, usually qmd.")
    return words


def parse_extras(text: str, base: Path, plain: Iterable[Path] = ()) -> tuple[ExtraFolder, ...]:
    """Read `NAME=FOLDER` or `FOLDER`, with an optional pattern at the end, and add shared `plain` paths.

    Relative paths begin at `base`. A folder without a name gets its own.
    """
    folders: dict[str, ExtraFolder] = {}
    shared = [("", path, True) for path in plain]
    for name, path, both in (*split_names(text), *shared):
        root, mask = split_mask(base / path.expanduser())
        unique = name or free_name(root.name, folders)
        if not _NAME.fullmatch(unique) or unique.startswith(OUR_PREFIX) or unique in folders:
            raise ConfigError(
                f"qmd_paths has a name that cannot be used: {unique!r}.",
                hint=f"Use each once, of letters, digits, - and _, and not beginning with {OUR_PREFIX}.",
            )
        folders[unique] = ExtraFolder(unique, root, mask, both)
    return tuple(folders.values())


def split_names(text: str) -> Iterator[tuple[str, Path, bool]]:
    for part in text.split(os.pathsep):
        name, equals, path = part.strip().partition("=")
        if part.strip():
            yield (name.strip(), Path(path.strip()), False) if equals else ("", Path(name), False)


def split_mask(path: Path) -> tuple[Path, str]:
    """The folder, and the mask for its files: all Markdown, a pattern, or one file."""
    for number, part in enumerate(path.parts):
        if any(sign in part for sign in "*?{["):
            return Path(*path.parts[:number]), "/".join(path.parts[number:])
    if path.suffix.lower() in (".md", ".markdown") and not path.is_dir():
        # Signs of a mask in its name are matched by any sign.
        return path.parent, re.sub(r"[*?{}\[\](),!|\\]", "?", path.name)
    return path, EVERY_MASK


def free_name(name: str, taken: Iterable[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:40].removeprefix(OUR_PREFIX) or "notes"
    names = (plain, *(f"{plain}-{number}" for number in range(2, 1_000)))
    return next(candidate for candidate in names if candidate not in set(taken))


@dataclass(frozen=True, slots=True)
class QmdCollection:
    """The files of a folder that match a mask; `notes` is the folder in the workspace, or empty."""

    name: str
    root: Path
    mask: str
    notes: str = ""

    def cite(self, path: str) -> str:
        """The path of one of its files as people and tools see it."""
        return f"{self.notes}/{path}" if self.notes else f"{CITATION_PREFIX}/{self.name}/{path}"


@dataclass(frozen=True, slots=True)
class QmdState:
    """What QMD has read, and who answered the last question and why it was not QMD."""

    version: str = ""
    collections: dict[str, list[str]] = field(default_factory=dict)
    updated_at: float = 0.0
    embedded_at: float = 0.0
    # The last time it was tried, whatever came of it.
    embedding_at: float = 0.0
    trouble: str = ""
    answered_by: str = ""
    because: str = ""

    def has(self, collection: QmdCollection) -> bool:
        """Whether QMD has this collection with its current folder and mask."""
        return self.collections.get(collection.name) == _fingerprint(collection)


class QmdProcess:
    def __init__(self, options: QmdOptions, clock: Callable[[], float] = time.time) -> None:
        self.options = options
        self.command = QmdCommand(options.command, options.home)
        self._clock = clock
        self._asking = threading.BoundedSemaphore(_AT_ONCE)
        self._syncing = threading.Lock()
        self._noting = threading.Lock()

    def close(self) -> None:
        self.command.close()

    @property
    def state(self) -> QmdState:
        """The state that the last process left. If it cannot be read, QMD reads everything again."""
        try:
            content = json.loads((self.options.home / _STATE_FILE).read_text(encoding="utf-8"))
            return QmdState(**content)
        except (OSError, ValueError, TypeError):
            return QmdState()

    def ask(self, question: str, names: Sequence[str], limit: int) -> list[QmdHit]:
        """Ask QMD about these collections; QmdFailed if it answers from others."""
        options = self.options
        chosen = [part for name in names for part in ("-c", name)]
        one_line = _TYPED.sub(r"\1 ", " ".join(question.split()))
        args = [options.mode, "--index", "index", "--json", "-n", str(limit), *chosen, "--", one_line]
        began = time.monotonic()
        if not self._asking.acquire(timeout=options.timeout):
            raise QmdFailed("QMD is busy with other questions.", lasting=False)
        try:
            output = self.command.run(args, options.timeout - (time.monotonic() - began))
        finally:
            self._asking.release()
        hits = parse_results(output)
        if not {hit.collection for hit in hits} <= set(names):
            raise QmdFailed("QMD answered from collections that it was not asked about.")
        return hits

    def note_answer(self, by: str, because: str) -> None:
        """Store who answered, if that has changed."""
        state = self.state
        if (state.answered_by, state.because) != (by, because):
            self._note(answered_by=by, because=because)

    def sync(
        self,
        wanted: Sequence[QmdCollection],
        stop: Callable[[], bool] = lambda: False,
        *,
        embed: bool = False,
    ) -> str:
        """Update QMD, and its vectors if they are due or `embed` is set; returns what went wrong.

        Only one thread does it at a time.
        """
        if not self._syncing.acquire(blocking=False):
            return ""
        try:
            trouble = self._sync(wanted, stop, embed)
        except QmdFailed as error:
            if stop():
                # Nothing is wrong: somebody came, and it is done later.
                return ""
            trouble = str(error)
        finally:
            self._syncing.release()
        if trouble != self.state.trouble:
            self._note(trouble=trouble)
        return trouble

    def _sync(self, wanted: Sequence[QmdCollection], stop: Callable[[], bool], embed: bool) -> str:
        options = self.options
        self._check_version(stop)
        missing = self._collect(wanted, stop)
        began = self._clock()
        self._run(["update"], options.update_timeout, stop)
        self._note(updated_at=began)
        due = began - self.state.embedding_at >= options.embed_interval
        if options.mode != "search" and (due or embed):
            self._embed(began, stop)
        return f"These folders are not there: {', '.join(missing)}." if missing else ""

    def _embed(self, began: float, stop: Callable[[], bool]) -> None:
        try:
            self._run(["embed"], self.options.update_timeout, stop)
        except QmdFailed:
            if not stop():
                # Without its models it would try for minutes, again and again.
                self._note(embedding_at=began)
            raise
        self._note(embedded_at=began, embedding_at=began)

    def _check_version(self, stop: Callable[[], bool]) -> None:
        output = self._run(["--version"], self.options.command_timeout, stop).strip()
        number = _VERSION.search(output)
        if number is None or int(number[1]) < _OLDEST_VERSION:
            raise QmdFailed(
                f"{output[:60] or 'This program'} is not QMD {_OLDEST_VERSION} or newer.",
                hint="Bring it up to date: `npm install -g @tobilu/qmd`.",
            )
        if number[0] != self.state.version:
            self._note(version=number[0])

    def _collect(self, wanted: Sequence[QmdCollection], stop: Callable[[], bool]) -> list[str]:
        """Make QMD's collections those that are wanted; returns the folders that are missing."""
        seconds = self.options.command_timeout
        listed = set(_LISTED.findall(self._run(["collection", "list"], seconds, stop)))
        known = {name: fingerprint for name, fingerprint in self.state.collections.items() if name in listed}
        asked = {collection.name: collection for collection in wanted if collection.root.is_dir()}
        for name in sorted(listed):
            ours = name in known or name in asked or name.startswith(OUR_PREFIX)
            # Collections that a person added by hand stay, but are not searched.
            if ours and (name not in asked or known.get(name) != _fingerprint(asked[name])):
                self._run(["collection", "remove", name], seconds, stop)
                known.pop(name, None)
                self._note(collections=dict(known))
        for name, collection in asked.items():
            if name not in known:
                added = ["collection", "add", str(collection.root), "--name", name, "--mask", collection.mask]
                self._run(added, self.options.update_timeout, stop)
                known[name] = _fingerprint(collection)
                self._note(collections=dict(known))
        if known != self.state.collections:
            self._note(collections=known)
        return [
            str(collection.root)
            for collection in wanted
            if not collection.root.is_dir() and not collection.notes
        ]

    def _run(self, args: Sequence[str], seconds: float, stop: Callable[[], bool]) -> str:
        # By its name, lest an index of a folder above takes its place.
        named = args if args[0].startswith("-") else [*args, "--index", "index"]
        return self.command.run(named, seconds, stop=stop)

    def _note(self, **changes: Any) -> None:
        """Store changes atomically; a full disk is only logged."""
        home = self.options.home
        with self._noting:
            text = json.dumps(asdict(replace(self.state, **changes)), ensure_ascii=False, indent=1)
            try:
                home.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile("w", dir=home, delete=False, encoding="utf-8") as file:
                    file.write(text)
                Path(file.name).replace(home / _STATE_FILE)
            except OSError as error:
                log.warning("%s cannot be written: %s", home / _STATE_FILE, error.strerror)


def _fingerprint(collection: QmdCollection) -> list[str]:
    return [str(collection.root), collection.mask]
