"""Pictures as SVG text for a page with the style sheet `STYLE`: charts over time, and tables of shares as colours.

Colours are variables of the style sheet, so the pictures follow a light or dark theme."""
from __future__ import annotations

import html
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy

from ._arrays import Array

STYLE = """
:root { --page: #ffffff; --text: #1b1f24; --faint: #5b6470; --line: #d5dae0; --band: #eef1f5; --warn: #9a3412;
  --s0: #0b63b5; --s1: #c2410c; --s2: #15803d; --s3: #7e22ce; --plus: #0b63b5; --minus: #c2410c; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171b; --text: #e6e9ed; --faint: #9aa4b0; --line: #3a424c; --band: #20262d; --warn: #fdba74;
    --s0: #6cb6ff; --s1: #ff9d5c; --s2: #5fd38a; --s3: #c9a0ff; --plus: #6cb6ff; --minus: #ff9d5c; } }
svg { display: block; max-width: none; }
svg text { font: 11px system-ui, sans-serif; fill: var(--faint); }
svg text.name { fill: var(--text); }
svg .grid { stroke: var(--line); stroke-width: 1; fill: none; }
svg .band { fill: var(--band); }
svg .line { fill: none; stroke-width: 1.2; }
svg .dots { fill: none; stroke-width: 4.5; stroke-linecap: round; opacity: 0.45; }
""" + "".join(f"svg .s{i} {{ stroke: var(--s{i}); }}\nsvg text.t{i} {{ fill: var(--s{i}); }}\n" for i in range(4))

WIDTH = 760  # of charts, px
_GLYPH = 6.6  # px, more than the mean width of a glyph
_TOP, _BOTTOM, _RIGHT = 20, 22, 14


class Series(NamedTuple):
    """Rows of a chart: dots, a line, or both. NaN and inf are left out."""

    name: str
    dots: Optional[Array] = None  # (n)
    line: Optional[Array] = None  # (n)


def ticks(low: float, high: float, most: int = 6) -> Tuple[Array, List[str], int]:
    """At most `most` round numbers from low to high, their texts, and the exponent of ten that the texts leave
    out."""
    if not high > low:
        low, high = low - max(1e-12, abs(low) * 0.1), high + max(1e-12, abs(high) * 0.1)
    rough = (high - low) / max(most - 1, 1)
    power = 10.0**numpy.floor(numpy.log10(rough))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= rough * (1 - 1e-9))
    at = step * numpy.arange(numpy.ceil(low / step - 1e-9), numpy.floor(high / step + 1e-9) + 1)
    largest = float(numpy.abs(at).max(initial=0))
    scale = int(numpy.floor(numpy.log10(largest))) if largest > 0 else 0
    exponent = 0 if -3 <= scale <= 4 else scale
    decimals = max(0, -int(numpy.floor(numpy.log10(step) - exponent + 1e-9)))
    return at, [f"{value / 10.0**exponent + 0.0:.{decimals}f}".replace("-", "\u2212") for value in at], exponent


def label_width(low: float, high: float) -> float:
    """Space that the numbers of a vertical axis need, px."""
    return 14 + _GLYPH * max([4, *(len(text) for text in ticks(low, high)[1])])


def span(values: Sequence[Optional[Array]]) -> Tuple[float, float]:
    """The least and the greatest finite number, with a margin."""
    rows = numpy.concatenate([numpy.empty(0), *(row for row in values if row is not None)])
    rows = rows[numpy.isfinite(rows)]
    if len(rows) == 0:
        return -1.0, 1.0
    low, high = float(rows.min()), float(rows.max())
    margin = 0.06 * (high - low) or 0.1 * abs(low) or 1.0
    return low - margin, high + margin


def chart(times: Array, series: Sequence[Series], bounds: Tuple[float, float], left: float, height: int,
          title: str, band: Optional[float] = None) -> str:
    """A chart of series over times (n), s. bounds: of the vertical axis; left: px beside it; band: half width of a
    shaded band about zero."""
    first, last = float(times[0]), float(times[-1])
    last = last if last > first else first + 1
    low, high = bounds
    right, bottom = WIDTH - _RIGHT, height - _BOTTOM
    x = left + (times - first) / (last - first) * (right - left)

    def y(values: Array) -> Array:
        rows: Array = bottom - (numpy.asarray(values, float) - low) / (high - low) * (bottom - _TOP)
        return rows

    at, texts, exponent = ticks(low, high)
    out = [_open(WIDTH, height, title)]
    if band is not None:
        top, floor = numpy.clip(y(numpy.array([band, -band])), _TOP, bottom)
        out.append(f'<rect class="band" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
                   f'height="{max(0, floor - top):.1f}"/>')
    for value, row, text in zip(at, y(at), texts):
        out.append(f'<path class="grid" d="M{left:.1f} {row:.1f}H{right}"/>')
        out.append(f'<text x="{left - 6:.1f}" y="{row + 4:.1f}" text-anchor="end">{text}</text>')
    for value, text in zip(*ticks(first, last, 8)[:2]):
        column = left + (value - first) / (last - first) * (right - left)
        anchor = "end" if column > right - 20 else "middle"
        out.append(f'<text x="{min(column, right):.1f}" y="{height - 6}" text-anchor="{anchor}">{text} s</text>')
    heading = title + (f", 10^{exponent}" if exponent else "")
    out.append(f'<text class="name" x="{left:.1f}" y="13">{html.escape(heading)}</text>')
    column = float(right)
    if len(series) > 1:
        for k, one in reversed(list(enumerate(series))):
            out.append(f'<text class="t{k % 4}" x="{column:.1f}" y="13" text-anchor="end">'
                       f"{html.escape(one.name)}</text>")
            column -= 12 + _GLYPH * len(one.name)
    for k, one in enumerate(series):
        if one.dots is not None:
            out.append(_path("dots", k, x, y(one.dots), joined=False))
        if one.line is not None:
            out.append(_path("line", k, x, y(one.line), joined=True))
    return "".join(out) + "</svg>"


def _path(kind: str, k: int, x: Array, y: Array, joined: bool) -> str:
    parts, pen = [], False
    for column, row in zip(x, y):
        if not numpy.isfinite(row):
            pen = False
            continue
        row = min(max(row, -1e4), 1e4)
        parts.append(f"{'L' if pen else 'M'}{column:.1f} {row:.1f}" + ("" if joined else "h0"))
        pen = joined
    return f'<path class="{kind} s{k % 4}" d="{"".join(parts)}"/>'


def shares(table: Array, names: Sequence[str], title: str) -> str:
    """A table (p, p) of numbers from -1 to 1 as colours, with the number in every cell if they are few."""
    p = len(names)
    cell = 38 if p <= 12 else 22 if p <= 24 else 16
    left, top = 10 + _GLYPH * max(map(len, names)), 22
    out = [_open(left + p * cell + 4, top + p * cell + 4, title)]
    for i, name in enumerate(names):
        middle = top + (i + 0.5) * cell + 4
        out.append(f'<text class="name" x="{left - 6:.1f}" y="{middle:.1f}" text-anchor="end">'
                   f"{html.escape(name)}</text>")
        number = name.split(" ", 1)[0]
        if cell > 16 or i % 2 == 0:
            out.append(f'<text x="{left + (i + 0.5) * cell:.1f}" y="{top - 7}" text-anchor="middle">{number}</text>')
        for j in range(p):
            value = float(table[i, j])
            colour = "--plus" if value > 0 else "--minus"
            out.append(f'<rect x="{left + j * cell:.1f}" y="{top + i * cell}" width="{cell - 1}" height="{cell - 1}" '
                       f'style="fill:var({colour});opacity:{0.06 + 0.5 * abs(value):.2f}"/>')
            if p <= 12:
                text = f"{value:.2f}".replace("-", "\u2212")
                out.append(f'<text class="name" x="{left + (j + 0.5) * cell - 0.5:.1f}" y="{middle - 0.5:.1f}" '
                           f'text-anchor="middle">{text}</text>')
    return "".join(out) + "</svg>"


def _open(width: float, height: float, title: str) -> str:
    return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}"><title>{html.escape(title)}</title>')
