"""What a look into a folder leaves out: what is hidden, what tools put there, and what git is told to ignore.

`.gitignore` as people write it; its rarer corners are not known here. Names and patterns only, no files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

NOISE = frozenset(
    (
        "node_modules",
        "__pycache__",
        "__pypackages__",
        "bower_components",
        "venv",
        "virtualenv",
        "site-packages",
    )
)
# A folder with this in it is a virtual environment, whatever it is called.
ENVIRONMENT = "pyvenv.cfg"
GITIGNORE = ".gitignore"

# More than anybody writes by hand.
_PATTERNS, _LENGTH = 2_000, 300


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line. `steps` of a path, counted from the folder the line was written in; `**` is any number."""

    steps: tuple[str, ...]
    folders_only: bool
    keeps: bool

    def fits(self, path: Sequence[str], *, folder: bool) -> bool:
        return (folder or not self.folders_only) and matches(self.steps, path)


@dataclass(frozen=True, slots=True)
class Ignored:
    """The patterns of one `.gitignore`, and how many steps below the beginning it lies."""

    depth: int
    patterns: tuple[Pattern, ...]


def ignored_by(depth: int, text: str) -> Ignored:
    lines = text.splitlines()[:_PATTERNS]
    return Ignored(depth, tuple(pattern for line in lines if (pattern := _pattern(line)) is not None))


def is_ignored(rules: Sequence[Ignored], path: Sequence[str], *, folder: bool) -> bool:
    """The last line that fits has the say, those of deeper folders after those above."""
    said = False
    for rule in rules:
        below = path[rule.depth :]
        for pattern in rule.patterns:
            if pattern.fits(below, folder=folder):
                said = not pattern.keeps
    return said


def matches(steps: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a path fits a pattern step by step, `**` being any number of steps."""
    # For each number of steps of the path, whether the pattern so far fits as many.
    fits = [True, *[False] * len(path)]
    for step in steps:
        if step == "**":
            reached = False
            for index, here in enumerate(fits):
                reached = reached or here
                fits[index] = reached
        else:
            fits = [False, *[fits[index] and fnmatchcase(name, step) for index, name in enumerate(path)]]
    return fits[-1]


def _pattern(line: str) -> Pattern | None:
    line = line.rstrip("\r\n ")
    if not line or line.startswith("#") or len(line) > _LENGTH:
        return None
    keeps = line.startswith("!")
    line = line[keeps:].removeprefix("\\")
    folders_only = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    steps = tuple(step.replace("[^", "[!") for step in line.strip("/").split("/") if step)
    if not steps:
        return None
    return Pattern(steps if anchored else ("**", *steps), folders_only, keeps)
