"""Instruments: what measuring adds to an output of a model, namely an offset, a gain and a delay."""
from __future__ import annotations

from types import MappingProxyType
from typing import Collection, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from .._arrays import Array, ArrayLike, Integers, numbers, suggestion
from .._outputs import Output
from ..errors import BadArgument

_KINDS = ("offset", "gain", "delay")


class Signal(NamedTuple):
    """How a signal is measured at time t: gain * (output of the model at t - delay) + offset.

    An offset of a rotation is a rotation vector in axes of the frame; rotations have no gain. The output of the
    model is linear in time between control steps (rotations turn at constant speed), so its slope is the
    derivative by the delay. What the model does before the start is not known: samples earlier than the longest
    delay are not compared."""

    # True: unknown; False: none; a number, or one for each number of the signal's tangent vector: known
    offset: Union[bool, ArrayLike] = False
    gain: Union[bool, ArrayLike] = False  # likewise; False: 1
    delay: Union[float, Tuple[float, float]] = 0.0  # s: known, or the lower and upper bound of an unknown one
    each: Collection[str] = ()  # those of "offset", "gain", "delay" that every recording has of its own
    priors: Mapping[str, Tuple[float, float]] = MappingProxyType({})  # mean and standard deviation by the same names


class Trait(NamedTuple):
    """The offset, gain or delay of a signal: numbers that are known, or unknowns that start there."""

    start: Array  # (tangent), for a delay (1)
    unknown: bool
    own: bool  # each recording has its own
    lower: float
    upper: float
    prior: Optional[Tuple[float, float]]


class SignalBlock:
    """The unknowns of a trait: those of all recordings, or of one. They are no parameters of the model."""

    def __init__(self, trait: Trait, name: str, where: str) -> None:
        n = len(trait.start)
        self.names = [f"{name}({where})" + (f"[{i}]" if n > 1 else "") for i in range(n)]
        self.at: Integers = numpy.empty(0, numpy.int32)
        self.y, self.mean, self.std = trait.start, trait.start, numpy.full(n, numpy.inf)
        self.lower, self.upper = numpy.full(n, trait.lower), numpy.full(n, trait.upper)
        if trait.prior is not None:
            self.mean, self.std = (numpy.full(n, float(number)) for number in trait.prior)

    def values(self, y: Array) -> Tuple[Array, Array]:
        return y.copy(), numpy.ones(len(y))

    def parameters(self, y: Array) -> Tuple[Array, Array]:
        return numpy.empty(0), numpy.zeros((0, len(y)))


class Instrument:
    """The traits of a signal in one recording, and the columns of those that are unknown among all unknowns z of
    signals."""

    def __init__(self, output: Output, traits: Dict[str, Trait], columns: Dict[str, slice]) -> None:
        self.rotations, self.traits, self.columns = output.rotations, traits, columns

    def value(self, kind: str, z: Array) -> Array:
        return z[self.columns[kind]] if kind in self.columns else self.traits[kind].start

    def shift(self, z: Array) -> float:
        """The delay, s."""
        return float(self.value("delay", z)[0])

    def measured(self, before: Array, after: Array, share: Array, z: Array) -> Array:
        """What the instrument shows (n, size) a share (n) of the way from one control step to the next."""
        return self._measured(before, after, share, z)[0]

    def linearized(self, before: Array, after: Array, by_before: Array, by_after: Array, share: Array, z: Array,
                   step: float) -> Tuple[Array, Array, Dict[str, Array]]:
        """What the instrument shows (n, size), and its derivatives: (n, tangent, k) by what the outputs have the
        derivatives by_before and by_after (n, tangent, k), and (n, tangent, .) by each unknown trait. step: s
        between the outputs."""
        shown, by_a, by_b, by_share, by_gain, by_offset = self._measured(before, after, share, z)
        by_traits = {"offset": by_offset, "gain": by_gain, "delay": -by_share[:, :, None] / step}
        return shown, by_a @ by_before + by_b @ by_after, {kind: by_traits[kind] for kind in self.columns}

    def _measured(self, before: Array, after: Array, share: Array, z: Array) -> Tuple[Array, ...]:
        r = self.rotations
        output, by_a, by_b, by_share = r.between(before, after, share)
        gain, offset = self.value("gain", z), numpy.tile(self.value("offset", z), (len(share), 1))
        by_gain = numpy.zeros((len(share), r.tangent, r.tangent))
        by_gain[:, r.plain_tangent, r.plain_tangent] = output[:, r.plain]
        output[:, r.plain] *= gain[r.plain_tangent]
        shown, by_output, by_offset = r.displaced(output, offset)
        by_output = by_output * gain  # of rotations it is 1
        return (shown, by_output @ by_a, by_output @ by_b, (by_output @ by_share[:, :, None])[:, :, 0], by_gain,
                by_offset)


class Instruments:
    """The instruments of all signals and recordings, and their unknowns z."""

    def __init__(self, given: Mapping[str, Signal], outputs: Dict[str, Output], signals: Sequence[Collection[str]]):
        """signals: the names of those in each recording."""
        self.blocks: List[SignalBlock] = []
        self.traits = {}
        for name, signal in given.items():
            if name not in outputs:
                raise BadArgument(f"signals has {name!r}, which no recording has{suggestion(name, outputs)}")
            self.traits[name] = _traits(name, signal, outputs[name])
        shared: Dict[Tuple[str, str], slice] = {}
        self._of: List[Dict[str, Instrument]] = []
        for i, names in enumerate(signals):
            self._of.append({})
            for name in (name for name in self.traits if name in names):
                columns = {}
                for kind, trait in self.traits[name].items():
                    if trait.own and trait.unknown:
                        columns[kind] = self._block(trait, kind, f"{name}, recording {i}")
                    elif trait.unknown:
                        if (name, kind) not in shared:
                            shared[name, kind] = self._block(trait, kind, name)
                        columns[kind] = shared[name, kind]
                self._of[i][name] = Instrument(outputs[name], self.traits[name], columns)
        self.shared = shared
        self.start = numpy.concatenate([block.y for block in self.blocks] or [numpy.empty(0)])

    def _block(self, trait: Trait, kind: str, where: str) -> slice:
        first = sum(len(block.y) for block in self.blocks)
        self.blocks.append(SignalBlock(trait, kind, where))
        return slice(first, first + len(trait.start))

    def of(self, recording: int, name: str) -> Optional[Instrument]:
        """None: the signal is measured as it is."""
        return self._of[recording].get(name)

    def delays(self, name: str) -> Tuple[float, float]:
        """The shortest and the longest possible delay of a signal, s."""
        if name not in self.traits:
            return 0.0, 0.0
        delay = self.traits[name]["delay"]
        return (delay.lower, delay.upper) if delay.unknown else (delay.start[0], delay.start[0])

    def found(self, z: Array) -> Dict[str, Signal]:
        """The signals with the values z. What every recording has of its own is at its start: it says nothing about
        others."""
        out = {}
        for name, traits in self.traits.items():
            known = {kind: z[self.shared[name, kind]] if (name, kind) in self.shared else trait.start
                     for kind, trait in traits.items()}
            out[name] = Signal(known["offset"], known["gain"], float(known["delay"][0]))
        return out


def _traits(name: str, given: Signal, output: Output) -> Dict[str, Trait]:
    where = f"signals: {name!r}"
    for kind in [*given.each, *given.priors]:
        if kind not in _KINDS:
            raise BadArgument(f"{where}: there is no {kind!r}{suggestion(kind, _KINDS)}")
    n, traits = output.rotations.tangent, {}
    if given.gain is not False and output.rotations.starts:
        raise BadArgument(f"{where} has a gain, but it holds a rotation, which has none")
    for kind, numbers_, neutral in (("offset", given.offset, 0.0), ("gain", given.gain, 1.0)):
        known = neutral if isinstance(numbers_, bool) else numbers_
        start = numbers(f"{where}: {kind}", numpy.broadcast_to(numpy.asarray(known, float), (n,)), (n,))
        traits[kind] = _trait(where, given, kind, start, numbers_ is True, -numpy.inf, numpy.inf)
    bounds = numpy.asarray(given.delay, float)
    if bounds.shape not in ((), (2,)) or not numpy.isfinite(bounds).all() or bounds.min() != bounds.flat[0]:
        raise BadArgument(f"{where}: delay is {given.delay!r}; it may be a number or (lower, upper), s")
    lower, upper = float(bounds.flat[0]), float(bounds.flat[-1])
    start = numpy.array([min(max(0.0, lower), upper)])
    traits["delay"] = _trait(where, given, "delay", start, bounds.shape == (2,), lower, upper)
    return traits


def _trait(where: str, given: Signal, kind: str, start: Array, unknown: bool, lower: float, upper: float) -> Trait:
    prior = given.priors.get(kind)
    if not unknown and (prior is not None or kind in given.each):
        raise BadArgument(f"{where}: its {kind} is not unknown, so it has no prior and is not of each recording")
    if prior is not None:
        if not prior[1] > 0:
            raise BadArgument(f"{where}: the standard deviation of the prior of its {kind} must be positive")
        start = numpy.clip(numpy.full(len(start), float(prior[0])), lower, upper)
    return Trait(start, unknown, kind in given.each, lower, upper, prior)
