"""Draws series of points as an SVG picture, both axes logarithmic."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _LEGEND = 760, 420, 70, 50, 20, 220
_COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#4b5563", "#db2777")


@dataclass(frozen=True, slots=True)
class Series:
    """A named line through points (x, y), both above 0."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A logarithmic axis over whole powers of ten, on so many pixels from `start`."""

    low: int
    high: int
    start: float
    length: float

    def place(self, value: float) -> float:
        return self.start + self.length * (log10(value) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _axis(values: Sequence[float], start: float, length: float) -> _Axis:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return _Axis(low, max(high, low + 1), start, length)


def draw_plot(series: Sequence[Series], across: str, up: str) -> str:
    """Returns the picture; `across` and `up` name the axes."""
    points = [point for each in series for point in each.points if min(point) > 0]
    x = _axis([point[0] for point in points], _LEFT, _WIDTH - _LEFT - _LEGEND)
    y = _axis([point[1] for point in points], _HEIGHT - _BOTTOM, -(_HEIGHT - _BOTTOM - _TOP))
    right, bottom = _WIDTH - _LEGEND, _HEIGHT - _BOTTOM
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for tick in x.ticks:
        at = x.place(tick)
        lines.append(f'<path d="M{at:.1f} {_TOP}V{bottom}" stroke="#e5e7eb"/>')
        lines.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:,.0f}</text>')
    for tick in y.ticks:
        at = y.place(tick)
        lines.append(f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#e5e7eb"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{tick:,g}</text>')
    for number, each in enumerate(series):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(x.place(a), y.place(b)) for a, b in each.points if min(a, b) > 0]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
        row = _TOP + 20 * number + 10
        lines.append(f'<rect x="{right + 15}" y="{row - 9}" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{right + 33}" y="{row + 2}">{escape(each.name)}</text>')
    middle = (_LEFT + right) / 2
    lines.append(f'<text x="{middle:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>')
    lines.append(f'<text x="14" y="{_TOP - 6}">{escape(up)}</text>')
    return "\n".join([*lines, "</svg>", ""])
