"""Line plots as SVG text: axes, ticks and lines, nothing more. Colours are those of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, isfinite, log10

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 10, 40
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "1 4", "12 4", "6 2 1 2")
HUES = len(DASHES)

Points = Sequence[tuple[float, float]]
Tick = tuple[float, str]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its label, its ticks with their words, and how a value becomes a place (log for long tails)."""

    label: str
    ticks: Sequence[Tick]
    most: float
    place: Callable[[float], float] = float


def logarithmic(value: float) -> float:
    """0 stays at 0; a second, a minute, an hour are about as far from each other."""
    return log10(1 + value)


def even_ticks(most: float, say: Callable[[float], str], count: int = 4) -> list[Tick]:
    """Round values from 0 to `most`: 1, 2 or 5 times a power of ten apart."""
    if not most > 0 or not isfinite(most):
        return [(0, say(0))]
    rough = most / count
    size = 10.0 ** floor(log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    return [(n * step, say(n * step)) for n in range(int(most / step + 1e-9) + 1)]


def line_plot(title: str, lines: Mapping[str, Points], x: Axis, y: Axis) -> str:
    """The plot; line n has the class s{n} and a dash of its own, so that it is told without colours too."""
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}" '
        f'xmlns="http://www.w3.org/2000/svg">'
    ]
    for value, words in x.ticks:
        at = _x(x, value)
        parts.append(f'<path class="grid" d="M{at} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{at}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(words)}</text>')
    for value, words in y.ticks:
        at = _y(y, value)
        parts.append(f'<path class="grid" d="M{LEFT} {at}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4}" text-anchor="end">{escape(words)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x.label)}</text>')
    for n, points in enumerate(lines.values()):
        if points:
            path = "L".join(f"{_x(x, a)} {_y(y, b)}" for a, b in points)
            parts.append(f'<path class="line s{n % HUES}" stroke-dasharray="{DASHES[n % HUES]}" d="M{path}"/>')
    return "".join([*parts, "</svg>"])


def swatch(n: int) -> str:
    """A short piece of line n, for a legend."""
    return (
        f'<svg class="swatch" viewBox="0 0 36 8" aria-hidden="true"><path class="line s{n % HUES}" '
        f'stroke-dasharray="{DASHES[n % HUES]}" d="M0 4H36"/></svg>'
    )


def _part(axis: Axis, value: float) -> float:
    most = axis.place(axis.most)
    return min(1.0, max(0.0, axis.place(value) / most)) if most > 0 else 0.0


def _x(axis: Axis, value: float) -> float:
    return round(LEFT + _part(axis, value) * (WIDTH - LEFT - RIGHT), 1)


def _y(axis: Axis, value: float) -> float:
    return round(HEIGHT - BOTTOM - _part(axis, value) * (HEIGHT - TOP - BOTTOM), 1)
