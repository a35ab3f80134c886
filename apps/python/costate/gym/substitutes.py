"""The classes of Gymnasium that environments need, where Gymnasium is not installed."""
from __future__ import annotations

import enum
from typing import Any, Dict, Optional, Tuple

import numpy


class AutoresetMode(enum.Enum):
    """When a vector environment resets ended episodes; names and values as in Gymnasium."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


class EnvBase:
    """Gymnasium's interface of environments, without the methods that subclasses implement."""

    metadata: Dict[str, Any] = {"render_modes": []}
    render_mode: Optional[str] = None
    spec: Any = None
    _np_random: Any = None
    _np_random_seed: Optional[int] = None

    @property
    def np_random(self) -> Any:
        return self._np_random

    @property
    def unwrapped(self) -> Any:
        return self

    def close(self) -> None:
        pass

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class VectorEnvBase(EnvBase):
    closed = False

    def close(self, **options: Any) -> None:
        if not self.closed:
            self.close_extras(**options)
        self.closed = True

    def close_extras(self, **_: Any) -> None:
        pass


class Box:
    """The space of arrays of a shape and type between `low` and `high` (numbers or arrays)."""

    def __init__(self, low: Any, high: Any, shape: Optional[Tuple[int, ...]] = None, dtype: Any = numpy.float32,
                 seed: Optional[int] = None) -> None:
        self.shape = tuple(shape) if shape is not None else numpy.broadcast(low, high).shape
        self.dtype: Any = numpy.dtype(dtype)
        self.low, self.high = (numpy.full(self.shape, bound, self.dtype) for bound in (low, high))
        self.seed(seed)

    def seed(self, seed: Optional[int] = None) -> None:
        self._random = numpy.random.default_rng(seed)

    def sample(self) -> Any:
        """A random sample: uniform between bounds, normal if unbounded."""
        bounded = numpy.isfinite(self.low) & numpy.isfinite(self.high)
        low, high = numpy.where(bounded, self.low, 0), numpy.where(bounded, self.high, 1)
        drawn = self._random.uniform(low, high), self._random.normal(size=self.shape)
        return numpy.where(bounded, *drawn).astype(self.dtype)

    def contains(self, x: Any) -> bool:
        x = numpy.asarray(x)
        inside = x.shape == self.shape and (x >= self.low).all() and (x <= self.high).all()
        return bool(inside and numpy.can_cast(x.dtype, self.dtype))

    __contains__ = contains

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype
                and numpy.array_equal(self.low, other.low) and numpy.array_equal(self.high, other.high))

    def __repr__(self) -> str:
        return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"
