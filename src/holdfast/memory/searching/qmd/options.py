"""How QMD is run and what it may take, with the defaults of those who ran it first. Values only."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.errors import ConfigError
from holdfast.memory.searching.qmd.masks import EVERY_MASK, escape_mask, has_pattern
from holdfast.memory.searching.qmd.rules import _DEFAULT_RULES, ScopeRule, parse_rules

# `query` expands a question and ranks again with models, `vsearch` compares vectors, `search` words alone.
QmdMode = Literal["query", "search", "vsearch"]
QMD_MODES: tuple[QmdMode, ...] = ("query", "search", "vsearch")

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Collections of the workspace begin so, and those that a person names do not.
OUR_PREFIX = "holdfast-"


@dataclass(frozen=True, slots=True)
class ExtraFolder:
    """Markdown outside of the workspace, under a name: the files of a folder that a mask fits.

    What is `shared` our own search reads too.
    """

    name: str
    root: Path
    mask: str = EVERY_MASK
    shared: bool = False


@dataclass(frozen=True, slots=True)
class QmdOptions:
    """Times are in seconds. `snippet` is for one hit, `characters` for all of an answer.

    A question that fails is the last for `pause` seconds: until then ours is asked at once.
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
    found = next((mode for mode in QMD_MODES if mode == name), None)
    if found is None:
        raise ConfigError(f"qmd_mode is {name!r}.", hint=f"It must be one of: {', '.join(QMD_MODES)}.")
    return found


def parse_command(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"qmd_command cannot be read: {error}.", hint="Close the quotation.") from None
    if not words:
        raise ConfigError("qmd_command is empty.", hint="Name the program, usually qmd.")
    return words


def parse_extras(text: str, base: Path, plain: Iterable[Path] = ()) -> tuple[ExtraFolder, ...]:
    """`NAME=FOLDER` or `FOLDER`, with a pattern at the end if there is one; beside them shared `plain` paths.

    Relative paths begin at `base`. What has no name gets the one of its folder.
    """
    found: dict[str, ExtraFolder] = {}
    shared = [("", one, True) for one in plain]
    for name, path, both in (*_split_names(text), *shared):
        root, mask = _split_mask(base / path.expanduser())
        unique = name or _free_name(root.name, found)
        if not _NAME.fullmatch(unique) or unique.startswith(OUR_PREFIX) or unique in found:
            raise ConfigError(
                f"qmd_paths has a name that cannot be used: {unique!r}.",
                hint=f"Use each once, of letters, digits, - and _, and not beginning with {OUR_PREFIX}.",
            )
        found[unique] = ExtraFolder(unique, root, mask, both)
    return tuple(found.values())


def _split_names(text: str) -> Iterator[tuple[str, Path, bool]]:
    for one in text.split(os.pathsep):
        name, equals, path = one.strip().partition("=")
        if one.strip():
            yield (name.strip(), Path(path.strip()), False) if equals else ("", Path(name), False)


def _split_mask(path: Path) -> tuple[Path, str]:
    """The folder, and which of its files: all Markdown, those of a pattern, or one."""
    for number, part in enumerate(path.parts):
        if has_pattern(part):
            return Path(*path.parts[:number]), "/".join(path.parts[number:])
    if path.suffix.lower() in (".md", ".markdown") and not path.is_dir():
        return path.parent, escape_mask(path.name)
    return path, EVERY_MASK


def _free_name(name: str, taken: Iterable[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:40].removeprefix(OUR_PREFIX) or "notes"
    names = (plain, *(f"{plain}-{number}" for number in range(2, 1_000)))
    return next(one for one in names if one not in set(taken))
