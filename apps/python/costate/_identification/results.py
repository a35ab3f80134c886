"""What identification and evaluation return."""
from __future__ import annotations

from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Union

import numpy

from .._arrays import Array, Mask
from .._files import write_whole
from ..model import Model, PathLike
from .fit_page import page
from .instruments import Signal
from .recordings import Recording, Tracks


class Evaluation(NamedTuple):
    """Recordings beside what a model predicts for them."""

    states: List[Array]  # (steps + 1, nx) of each recording, after each control step
    differences: List[Dict[str, Array]]  # by signal (samples, tangent): predicted less measured, in its units
    misfit: float  # root mean square of all differences in units of their noise
    predicted: List[Dict[str, Array]]  # by signal (samples, size), offset, gain and delay included
    recordings: List[Recording]  # as given
    noise: Dict[str, Array]  # (tangent) by signal

    def errors(self, recording: int) -> Dict[str, float]:
        """By signal, the root mean square of the differences of one recording in units of their noise; NaN where
        nothing is compared, inf after a divergence."""
        out = {}
        for name, d in self.differences[recording].items():
            scaled = (d / self.noise[name])[~numpy.isnan(d)]
            out[name] = float(numpy.sqrt(numpy.mean(scaled**2))) if len(scaled) else numpy.nan
        return out


class Identification(NamedTuple):
    """The result of `identify`: p unknowns, in the order of `names`, those of signals last."""

    names: List[str]
    values: Array  # (p)
    standard_errors: Array  # (p) for the stated noise; inf where the data do not determine the value
    correlation: Array  # (p, p) of the errors
    # directions in which the unknowns can change without any effect on the recordings: for each, by name, the changes
    # (relative ones with the scale "log"); the largest is 1
    undetermined: List[Dict[str, float]]
    starts: Array  # (n_recordings, nx)
    parameters: Array  # theta (nparam) with the values
    parameter_names: List[str]  # those of theta that were identified
    signals: Dict[str, Signal]  # with the offsets, gains and delays that all recordings share, for `evaluate`
    fit: Evaluation  # of the recordings, with everything found
    first: Array  # (p) where the search started
    lower: Array  # (p) bounds
    upper: Array
    losses: Array  # (iterations + 1) half the sum of squares of weighted residuals and priors
    iterations: int
    stopped: str  # the reason for stopping
    simulations: int  # passes over all recordings that were rollouts
    linearizations: int  # and those with derivatives by all unknowns and starts

    @property
    def differences(self) -> List[Dict[str, Array]]:
        """By signal, as in an Evaluation."""
        return self.fit.differences

    @property
    def misfit(self) -> float:
        """As in an Evaluation: 1 if the model is right and the noise is as stated."""
        return self.fit.misfit

    @property
    def at_bounds(self) -> Mask:
        """(p) which values are at a bound, where standard errors do not hold."""
        near = 1e-9 * numpy.maximum(1e-300, numpy.abs(self.values))
        at: Mask = (self.values - self.lower <= near) | (self.upper - self.values <= near)
        return at

    @property
    def loose(self) -> List[str]:
        """The unknowns with bounds on both sides that the recordings determine, but no better than the bounds do."""
        wide = (self.standard_errors >= self.upper - self.lower) & numpy.isfinite(self.standard_errors)
        return [name for name, each in zip(self.names, wide) if each]

    def entries(self, model: Model) -> List[Dict[str, Union[str, float]]]:
        """The section "parameters" of a scene that sets what was identified in the model."""
        at = [model.parameter_names.index(name) for name in self.parameter_names]
        return [{"path": name, "value": float(self.parameters[i])} for name, i in zip(self.parameter_names, at)]

    def report(self, path: PathLike, held_out: Optional[Evaluation] = None, title: str = "Identification") -> None:
        """Writes one HTML page that needs no network: the unknowns, what the recordings leave open, correlations,
        and measured signals beside predicted ones. held_out: recordings that the fit did not use."""
        write_whole({Path(path): page(self, held_out, title)})

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [f"{name:{width}}  {value:.6g} +- {error:.2g}{', at its bound' if bound else ''}"
                 for name, value, error, bound in zip(self.names, self.values, self.standard_errors, self.at_bounds)]
        for direction in self.undetermined:
            lines.append("undetermined: " + ", ".join(f"{name} {change:+.3g}" for name, change in direction.items()))
        lines += [f"no better than its bounds: {name}" for name in self.loose]
        lines.append(f"misfit {self.misfit:.3g} of the noise, {self.iterations} iterations, {self.stopped}")
        return "\n".join(lines)


def evaluated(tracks: Tracks, theta: Array, starts: Array, z: Array) -> Evaluation:
    """The Evaluation of recordings with parameters theta, their starts and unknowns z of signals."""
    states, shown, differences = tracks.rollouts(theta, starts, z)
    joined = numpy.concatenate(tracks.weighted(differences))
    misfit = float(numpy.sqrt(numpy.mean(joined**2))) if len(joined) else 0.0
    return Evaluation(states, differences, misfit, shown, tracks.given, tracks.noise)
