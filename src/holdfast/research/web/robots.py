"""What a site asks robots to leave alone: robots.txt read as RFC 9309 has it.

The longest rule that fits decides, and `*` and `$` mean what sites mean by them; the parser in Python's
library knows neither. Pure: text in, an answer out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

# As much of a line as is looked at, and as many rules.
_LONGEST, _MOST = 2_000, 10_000
_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Rule:
    """`pieces` stand between the stars of a pattern; `whole`: the path has to end where the pattern does."""

    allows: bool
    length: int
    pieces: tuple[str, ...]
    whole: bool

    def fits(self, path: str) -> bool:
        first, *others = self.pieces
        if not path.startswith(first):
            return False
        if not others:
            return not self.whole or path == first
        at = len(first)
        # The earliest place is always the best one: what follows has the most room then.
        for piece in others[:-1]:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        last = others[-1]
        if self.whole:
            return len(path) - len(last) >= at and path.endswith(last)
        return path.find(last, at) >= 0


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one robot may read of one site. Without any rule, everything."""

    rules: tuple[_Rule, ...] = ()

    @classmethod
    def of(cls, text: str, robot: str) -> "RobotsRules":
        """The rules for `robot`: of the groups that name it, or else of those for everybody."""
        own: list[_Rule] = []
        general: list[_Rule] = []
        named = False
        for names, rules in _parse_groups(text):
            if robot.lower() in names:
                named = True
                own += rules
            elif "*" in names:
                general += rules
        return cls(tuple(own if named else general))

    def allow(self, path: str) -> bool:
        """Whether this path, with its query, may be read. Of two rules as long, the kinder one holds."""
        path = _normalise_path(path)
        fitting = ((rule.length, rule.allows) for rule in self.rules if rule.fits(path))
        return max(fitting, default=(0, True))[1]


DISALLOW_ALL = RobotsRules((_Rule(False, 1, ("/",), False),))


def _parse_groups(text: str) -> Iterator[tuple[set[str], list[_Rule]]]:
    names: set[str] = set()
    rules: list[_Rule] = []
    ruled = False
    for field, value in _parse_lines(text):
        if field == "user-agent":
            if ruled:
                yield names, rules
                names, rules, ruled = set(), [], False
            token = _TOKEN.match(value)
            names.add("*" if value.startswith("*") else token[0].lower() if token else "")
        elif field in ("allow", "disallow"):
            ruled = True
            # A rule without a path says nothing.
            if names and value and len(rules) < _MOST:
                rules.append(_parse_rule(field == "allow", value))
    if names:
        yield names, rules


def _parse_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.removeprefix("\ufeff").splitlines():
        field, colon, value = line[:_LONGEST].partition("#")[0].partition(":")
        if colon:
            yield field.strip().lower(), value.strip()


def _parse_rule(allows: bool, pattern: str) -> _Rule:
    body = pattern.removesuffix("$")
    return _Rule(allows, len(pattern), tuple(map(_normalise_path, body.split("*"))), body != pattern)


def _normalise_path(path: str) -> str:
    """One spelling for one path: what need not be escaped is not, everything else is."""
    return quote(unquote(path, errors="surrogateescape"), safe="/?=&:@!,;+~'()[]", errors="surrogateescape")
