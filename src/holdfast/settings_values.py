"""How the value of a setting is read, whatever spelling it came in.

Knows types only. What cannot be read is a TypeError, a ValueError or a KeyError.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


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
