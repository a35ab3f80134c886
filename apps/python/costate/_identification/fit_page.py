"""The HTML page of an identification: one file without scripts, which needs no network."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

import numpy

from .._arrays import Array
from .._svg import STYLE, Series, chart, label_width, shares, span

if TYPE_CHECKING:
    from .results import Evaluation, Identification

_SHOWN = 12  # recordings with charts
_SAMPLES = 800  # of a chart
_SAID = 6  # undetermined directions, and strong correlations, that are said in words
_CELLS = 40  # unknowns of the picture of correlations
_STRONG = 0.9  # correlations that are said in words
_PAGE = """
body { background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 960px;
  margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; } h3 { font-size: 1em; margin: 1.6em 0 0.4em; }
p, ul { max-width: 70ch; } .faint { color: var(--faint); } .warn { color: var(--warn); }
.wide { overflow-x: auto; margin: 0.4em 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9em; }
th, td { padding: 0.2em 0.8em 0.2em 0; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: normal; } th:nth-child(2), td:nth-child(2), td.text { text-align: left; }
"""


def page(found: Identification, held_out: Optional[Evaluation], title: str) -> str:
    """The text of the page; see Identification.report."""
    parts = [f"<h1>{html.escape(title)}</h1>", _summary(found, held_out), _open_questions(found), _unknowns(found),
             _correlations(found), _errors(found.fit, held_out)]
    parts += _recordings("Recordings of the fit", found.fit)
    parts += [] if held_out is None else _recordings("Held-out recordings", held_out)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
            f'<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
            f"<style>{STYLE}{_PAGE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n")


def _summary(found: Identification, held_out: Optional[Evaluation]) -> str:
    samples = sum(int(numpy.isfinite(d).sum()) for one in found.differences for d in one.values())
    lines = [f"{len(found.names)} unknowns from {len(found.differences)} recordings with {samples} measured numbers; "
             f"{found.iterations} iterations, {found.simulations} passes of rollouts and {found.linearizations} with "
             f"derivatives, {html.escape(found.stopped)}.",
             f"Misfit <b>{found.misfit:.3g}</b> of the stated noise (1: the model explains everything but the noise)."]
    if held_out is not None:
        lines.append(f"Held-out recordings: <b>{held_out.misfit:.3g}</b>.")
    return f"<p>{' '.join(lines)}</p>"


def _open_questions(found: Identification) -> str:
    """What the recordings leave open, in words."""
    lines, errors = [], dict(zip(found.names, found.standard_errors))
    for direction in found.undetermined[:_SAID]:
        settled = all(numpy.isfinite(errors[name]) for name in direction)  # by a prior
        if len(direction) == 1:
            lines.append(f"No recording shows {_b(next(iter(direction)))}: every value fits equally well. "
                         + ("Its prior settles it." if settled else
                            "Give it a prior, take it out, or record a motion that depends on it."))
            continue
        largest = sorted(direction.items(), key=lambda item: -round(abs(item[1]), 6))
        changes = [f"{_b(name)} {'rises' if change > 0 else 'falls'} by {abs(change):.3g}"
                   for name, change in largest[:8]]
        more = f", and {len(largest) - 8} others change" if len(largest) > 8 else ""
        lines.append(f"No recording changes when together {', '.join(changes)}{more} (shares of the value with the "
                     "scale \u201clog\u201d). " + ("Priors settle them." if settled else
                                             "Only other combinations are known: give one a prior, or take it out."))
    if len(found.undetermined) > _SAID:
        lines.append(f"No recording changes along {len(found.undetermined) - _SAID} more combinations.")
    lines += [f"{_b(name)} is known no better than by its bounds." for name in found.loose]
    for name, value, lower, upper, at in zip(found.names, found.values, found.lower, found.upper, found.at_bounds):
        if at:
            which = "lower" if abs(value - lower) <= abs(upper - value) else "upper"
            lines.append(f"{_b(name)} ends at its {which} bound; its standard error does not hold there.")
    table = _known(found)[1]
    pairs = [(abs(c), i, j) for i, row in enumerate(table) for j, c in enumerate(row[:i]) if abs(c) >= _STRONG]
    for _, i, j in sorted(pairs, reverse=True)[:_SAID]:
        lines.append(f"The errors of {_b(found.names[i])} and {_b(found.names[j])} have the correlation "
                     f"{_signed(found.correlation[i, j], '.3f')}: a combination of both is known better than each.")
    if not lines:
        return "<p>The recordings determine every unknown, and no value is at a bound.</p>"
    return "<ul class=\"warn\">" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def _unknowns(found: Identification) -> str:
    if not found.names:
        return ""
    heads = ["", "unknown", "start", "value", "standard error", "lower", "upper", "note"]
    rows = []
    for i, name in enumerate(found.names):
        error = found.standard_errors[i]
        rows.append([str(i + 1), html.escape(name), number(found.first[i]), number(found.values[i], error),
                     number(error, error, 2), _bound(found.lower[i]),
                     _bound(found.upper[i]), f'<span class="warn">{_note(found, i)}</span>'])
    return "<h2>Unknowns</h2>" + _table(heads, rows)


def _note(found: Identification, i: int) -> str:
    """What an unknown lacks, in a few words."""
    name = found.names[i]
    if any(name in direction for direction in found.undetermined):
        return "undetermined" if numpy.isinf(found.standard_errors[i]) else "by its prior"
    if found.at_bounds[i]:
        return "at its bound"
    return "no better than its bounds" if name in found.loose else ""


def _correlations(found: Identification) -> str:
    known, table = _known(found)
    p = len(known)
    if p < 2:
        return ""
    strength = numpy.abs(table).max(1)[known]
    chosen = sorted(known[i] for i in numpy.argsort(-strength, kind="stable")[:_CELLS])
    table = table + numpy.diag(numpy.ones(len(table)))
    names = [f"{i + 1} {found.names[i]}" for i in chosen]
    note = f" Shown are the {len(chosen)} unknowns with the strongest ones, of {p}." if len(chosen) < p else ""
    return ("<h2>Correlations of the errors</h2><p class=\"faint\">Blue: errors of the same sign; orange: of opposite "
            f"signs.{note}</p><div class=\"wide\">"
            + shares(table[numpy.ix_(chosen, chosen)], names, "Correlations of the errors") + "</div>")


def _known(found: Identification) -> Tuple[List[int], Array]:
    """The unknowns that the data determine, and the correlations (p, p) among them, otherwise zero."""
    known = numpy.isfinite(found.standard_errors)
    table = numpy.where(numpy.outer(known, known), found.correlation, 0)
    return [int(i) for i in numpy.flatnonzero(known)], table - numpy.diag(numpy.diag(table))


def _errors(fit: Evaluation, held_out: Optional[Evaluation]) -> str:
    """Root mean squares by recording and signal."""
    sets = [("fit", fit)] + ([] if held_out is None else [("held out", held_out)])
    signals = list(dict.fromkeys(name for _, one in sets for name in one.noise))
    rows = []
    for kind, one in sets:
        for i in range(len(one.differences)):
            errors = one.errors(i)
            rows.append([str(i), kind, *(_error(errors.get(name, numpy.nan)) for name in signals)])
    return ("<h2>Errors of the signals</h2><p class=\"faint\">Root mean square of predicted less measured, in units of "
            "the stated noise.</p>" + _table(["recording", "", *(html.escape(name) for name in signals)], rows))


def _recordings(title: str, one: Evaluation) -> List[str]:
    """Charts of the recordings, or of those with the largest errors."""
    worst = [max(numpy.nan_to_num(list(one.errors(i).values()), nan=0.0), default=0.0)
             for i in range(len(one.recordings))]
    chosen = sorted(int(i) for i in numpy.argsort(-numpy.array(worst), kind="stable")[:_SHOWN])
    out = [f"<h2>{title}</h2>"]
    if len(chosen) < len(one.recordings):
        out.append(f"<p class=\"faint\">The {len(chosen)} with the largest errors of {len(one.recordings)}.</p>")
    out.append("<p class=\"faint\">Dots: measured; lines: predicted, at the times of the samples. Below them, predicted "
               "less measured in units of the noise, with a band of two standard deviations.</p>")
    for i in chosen:
        out.append(f"<h3>Recording {i}</h3>")
        times = numpy.asarray(one.recordings[i].times, float)
        for name, given in one.recordings[i].signals.items():
            measured = numpy.asarray(given, float).reshape(len(times), -1)
            out += _signal(name, times, measured, one.predicted[i][name], one.differences[i][name] / one.noise[name])
    return out


def _signal(name: str, times: Array, measured: Array, predicted: Array, scaled: Array) -> List[str]:
    """Charts of a signal, at most four numbers in one, and of its scaled differences."""
    every = -(-len(times) // _SAMPLES)
    times, measured, predicted, scaled = (rows[::every] for rows in (times, measured, predicted, scaled))
    out, size, tangent = [], measured.shape[1], scaled.shape[1]
    diverged = bool(numpy.isinf(scaled).any())
    for first, last, from_, to in _groups(size, tangent):
        a, b = measured[:, first:last], predicted[:, first:last]
        if to - from_ < last - first:  # quaternions: q and -q are the same rotation
            a = numpy.where((a * b).sum(1, keepdims=True) < 0, -a, a)
        top = [Series(text, a[:, k], b[:, k]) for k, text in enumerate(_parts(name, size, tangent)[first:last])]
        below = [Series(text, scaled[:, from_ + k]) for k, text in enumerate(_parts(name, tangent, tangent)[from_:to])]
        limits = span([a.ravel(), b.ravel()])
        largest = max(3.0, *(abs(limit) for limit in span([scaled[:, from_:to].ravel()])))
        left = max(label_width(*limits), label_width(-largest, largest))
        out.append('<div class="wide">' + chart(times, top, limits, left, 190, name)
                   + chart(times, below, (-largest, largest), left, 110, "difference / noise", band=2.0) + "</div>")
    if every > 1:
        out.append(f"<p class=\"faint\">Every {every}th sample.</p>")
    return out + (["<p class=\"warn\">The prediction diverges.</p>"] if diverged else [])


def _groups(size: int, tangent: int) -> List[Tuple[int, int, int, int]]:
    """Numbers [first, last) of a signal that share a chart, and their differences [from, to)."""
    if size != tangent:  # a rotation at the end, after a position if there is one
        at = size - 4
        return ([(0, at, 0, at)] if at > 0 else []) + [(at, size, at, at + 3)]
    width = 3 if size % 3 == 0 else 4
    return [(k, min(k + width, size), k, min(k + width, size)) for k in range(0, size, width)]


def _parts(name: str, size: int, tangent: int) -> Sequence[str]:
    """Names of the numbers of a signal, or of its tangent vector."""
    if size != tangent:
        return ["x", "y", "z", "qw", "qx", "qy", "qz"][-size:]
    turn = "w" if name.startswith("d(") else "r"
    return {3: ["x", "y", "z"], 6: ["x", "y", "z", *(turn + axis for axis in "xyz")]}.get(
        size, [f"[{k}]" for k in range(size)])


def number(value: float, error: float = numpy.inf, digits: int = 5) -> str:
    """A number with two digits of its standard error, or with so many digits."""
    if not numpy.isfinite(value):
        return "\u221e" if value > 0 else "\u2212\u221e" if value < 0 else "not a number"
    text = f"{value:.{digits}g}"
    if 0 < error < numpy.inf:
        decimals = 1 - int(numpy.floor(numpy.log10(error)))
        size = abs(value) if value != 0 else 1.0
        text = f"{value:.{max(decimals, 0)}f}" if decimals <= 9 and size < 1e7 else (
            f"{value:.{max(1, min(12, decimals + int(numpy.floor(numpy.log10(size)))))}e}")
    return text.replace("-", "\u2212")


def _bound(value: float) -> str:
    return number(value) if numpy.isfinite(value) else ""


def _error(value: float) -> str:
    return "" if numpy.isnan(value) else "diverges" if numpy.isinf(value) else number(value, digits=3)


def _signed(value: float, form: str) -> str:
    return format(value, form).replace("-", "\u2212")


def _b(name: str) -> str:
    return f"<b>{html.escape(name)}</b>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    return ('<div class="wide"><table><tr>' + "".join(f"<th>{head}</th>" for head in heads) + "</tr>\n<tr>"
            + "</tr>\n<tr>".join(lines) + "</tr></table></div>")
