"""Who may be answered by QMD: rules like `allow private, deny project=secret`, the first that fits decides.

Whom no rule fits is answered by our own search. Knows scopes, nothing of searching.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.errors import ConfigError
from holdfast.messages import Scope

_KINDS = ("private", "group", "user", "project", "all")
# Only what one person says to one machine.
_DEFAULT_RULES = "allow private"


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """`kind` says what is looked at, `name` whose; without a name everybody's of that kind."""

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
    """Whether anybody of a kind may be answered, so that their notes are worth reading."""
    able = {kind, "all", "project"} | ({"user"} if kind == "private" else set())
    return any(rule.allow and rule.kind in able for rule in rules)


def parse_rules(text: str) -> tuple[ScopeRule, ...]:
    return tuple(_parse_rule(one.strip()) for one in text.split(",") if one.strip())


def _parse_rule(text: str) -> ScopeRule:
    verb, _, rest = text.partition(" ")
    kind, _, name = rest.strip().partition("=")
    if verb not in ("allow", "deny") or kind.strip() not in _KINDS:
        raise ConfigError(
            f"qmd_scope has a rule that makes no sense: {text!r}.",
            hint=f"Write `allow KIND` or `deny KIND=NAME`, with commas; KIND is one of {', '.join(_KINDS)}.",
        )
    return ScopeRule(verb == "allow", kind.strip(), name.strip())
