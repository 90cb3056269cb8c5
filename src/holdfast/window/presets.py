"""Presets: when the levels begin, with the numbers of the systems that Holdfast learned from.

A preset turns the size of a window into a budget; each says what its shares are of.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from holdfast.config import PRESET_ALIASES, PRESETS, Settings
from holdfast.errors import ConfigError
from holdfast.i18n import LazyText, lazy, lazy_context, translate
from holdfast.tokens.budget import Budget, Levels, SharesOf, budget_for, evidence_share


@dataclass(frozen=True, slots=True)
class Preset:
    """A level that is None does not exist. Numbers of tokens shrink with windows too small for them."""

    name: str
    title: LazyText
    summary: LazyText
    levels: Levels
    shares_of: SharesOf = "history"
    # Old text is shortened on every turn instead of in batches, at the price of the server's prefix cache.
    prune_every_turn: bool = False
    # A request with fewer tokens is not summarised; at most half the window, or small ones never would be.
    summary_floor: int = 0
    # The least reserve; at most a quarter of the window, or nothing would be left of small ones.
    reserve_floor: int = 0
    # How many tokens before `summarise` the work ahead of it begins; at most a fifth of the reserve.
    margin: int = 0
    # The reserve a person asked for, 0 for none; at most half the window.
    reserve: int = 0
    # The share of the room for what a question brings back that a person asked for; None is by the window.
    recall_share: float | None = None
    # Between two summaries, after a success.
    cooldown_seconds: float = 30.0
    cooldown_messages: int = 2

    @property
    def description(self) -> str:
        return translate(self.summary)

    @lru_cache(maxsize=64)  # noqa: B019 - presets are few and stay
    def budget(self, window: int, *, thinks: bool = False) -> Budget:
        """Return the budget of a window of this size."""
        budget = budget_for(window, thinks=thinks)
        reserve = max(budget.reserve, min(self.reserve_floor, window // 4))
        if self.reserve:
            reserve = min(self.reserve, window // 2)
        share = evidence_share(window) if self.recall_share is None else self.recall_share
        return replace(
            budget,
            reserve=reserve,
            recalled=int((window - reserve) * share),
            levels=self._levels(window - reserve, reserve),
            shares_of=self.shares_of,
            floor=min(self.summary_floor, window // 2),
        )

    def _levels(self, room: int, reserve: int) -> Levels:
        if not self.margin or self.levels.ahead is not None or self.levels.summarise is None:
            return self.levels
        ahead = self.levels.summarise - min(self.margin, reserve // 5) / room
        return replace(self.levels, ahead=ahead)


_ALL = (
    Preset(
        "balanced",
        lazy_context("preset", "Balanced"),
        lazy(
            "Shortens from half, leaves out from 65 %, summarises from 70 % while idle and from 80 % at"
            " once, of what history can have."
        ),
        Levels(),
    ),
    Preset(
        "save-tokens",
        lazy_context("preset", "Save tokens"),
        lazy(
            "Shortens old text on every turn and summarises from 70 % of the window without the "
            "reserve. The server's prefix cache is lost on every turn."
        ),
        Levels(prune=None, leave_out=None, ahead=None, summarise=0.70),
        shares_of="room",
        prune_every_turn=True,
    ),
    Preset(
        "keep-most",
        lazy_context("preset", "Keep most"),
        lazy("Summarises from 80 % of the whole window, but not below 50,000 tokens or half the window."),
        Levels(prune=None, leave_out=None, ahead=None, summarise=0.80),
        shares_of="window",
        summary_floor=50_000,
        cooldown_messages=0,
    ),
    Preset(
        "long-answers",
        lazy_context("preset", "Room for long answers"),
        lazy(
            "Keeps 20,000 tokens free, or a quarter of the window; summarises when the rest is full and"
            " begins up to 4,000 tokens before that."
        ),
        Levels(prune=None, leave_out=None, ahead=None, summarise=1.0),
        shares_of="room",
        reserve_floor=20_000,
        margin=4_000,
    ),
    Preset(
        "step-by-step",
        lazy_context("preset", "Step by step"),
        lazy(
            "Shortens from 50 %, leaves out from 65 % and summarises from 80 % of the whole window; "
            "does nothing ahead of time."
        ),
        Levels(ahead=None),
        shares_of="window",
        cooldown_seconds=0.0,
    ),
)
_BY_NAME = {preset.name: preset for preset in _ALL}

# A level that cannot be reached in a window of this size can be reached in no smaller one, either.
_REACH_WINDOW = 32_768
# The levels in the order in which they must come, by the names of their settings.
_SETTINGS = {"level_1": "prune", "level_2": "leave_out", "level_3_ahead": "ahead", "level_3": "summarise"}


def preset_named(name: str) -> Preset:
    name = PRESET_ALIASES.get(name, name)
    if name not in _BY_NAME:
        raise ConfigError(
            lazy("There is no preset {name}.", name=repr(name)),
            hint=lazy("Choose one of: {names}.", names=", ".join(PRESETS)),
        )
    return _BY_NAME[name]


def preset_from(settings: Settings) -> Preset:
    """Return the preset from the settings, with the numbers that the settings override."""
    preset = preset_named(settings.preset)
    given = {
        level: share
        for setting, level in _SETTINGS.items()
        if (share := getattr(settings, setting)) is not None
    }
    levels = replace(preset.levels, **given)
    _check_order(levels, preset.name)
    chosen = replace(preset, levels=levels, reserve=settings.reserve, recall_share=settings.recall_share)
    check_reach(chosen, _REACH_WINDOW)
    return chosen


def check_reach(preset: Preset, window: int, *, thinks: bool = False) -> None:
    """Refuse a level of the whole window that no request reaches, since the reserve comes before it."""
    if preset.shares_of != "window":
        return
    most = preset.budget(window, thinks=thinks).room / window
    for setting, level in _SETTINGS.items():
        share = getattr(preset.levels, level)
        if share is not None and share > most:
            raise ConfigError(
                lazy(
                    "{setting} is {share:.0%} of the window (preset {preset}), but a request has at most"
                    " {most:.1%} of {window:,} tokens: the rest is for the answer.",
                    setting=setting,
                    share=share,
                    preset=preset.name,
                    most=most,
                    window=window,
                ),
                hint=lazy(
                    "Set {setting} to at most {most}%, a smaller reserve, or the preset balanced.",
                    setting=setting,
                    most=int(most * 100),
                ),
            )


def _check_order(levels: Levels, preset: str) -> None:
    before, lowest = "", 0.0
    for setting, level in _SETTINGS.items():
        share = getattr(levels, level)
        if share is None:
            continue
        if share < lowest:
            values = {"setting": setting, "share": share, "before": before, "lowest": lowest}
            raise ConfigError(
                lazy(
                    "{setting} is {share:.0%}, but {before} is {lowest:.0%} (preset {preset}), and comes"
                    " first.",
                    preset=preset,
                    **values,
                ),
                hint=lazy(
                    "Set {setting} to at least {lowest:.0%}, or {before} to at most {share:.0%}.", **values
                ),
            )
        before, lowest = setting, share
