"""The classes of Gymnasium that environments need, or substitutes if Gymnasium is not installed."""
import enum

import numpy

try:
    import gymnasium
    from gymnasium import Env as EnvBase
    from gymnasium.spaces import Box
    from gymnasium.vector import VectorEnv as VectorEnvBase
except ImportError:
    gymnasium = None

    class EnvBase:
        """Gymnasium's interface of environments, without the methods that subclasses implement."""

        metadata = {"render_modes": []}
        render_mode = None
        spec = None
        np_random = property(lambda self: self._np_random)

        @property
        def unwrapped(self):
            return self

        def render(self):
            raise NotImplementedError("environments cannot be rendered")

        def close(self):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

    class VectorEnvBase(EnvBase):
        closed = False

        def close(self, **options):
            if not self.closed:
                self.close_extras(**options)
            self.closed = True

    class Box:
        """The space of arrays of a shape and type between `low` and `high` (numbers or arrays)."""

        def __init__(self, low, high, shape=None, dtype=numpy.float32, seed=None):
            self.shape = tuple(shape) if shape is not None else numpy.broadcast(low, high).shape
            self.dtype = numpy.dtype(dtype)
            self.low, self.high = (numpy.full(self.shape, bound, self.dtype) for bound in (low, high))
            self.seed(seed)

        def seed(self, seed=None):
            self._random = numpy.random.default_rng(seed)

        def sample(self):
            """A random sample: uniform between bounds, normal if unbounded."""
            bounded = numpy.isfinite(self.low) & numpy.isfinite(self.high)
            low, high = numpy.where(bounded, self.low, 0), numpy.where(bounded, self.high, 1)
            return numpy.where(bounded, self._random.uniform(low, high), self._random.normal(size=self.shape)).astype(self.dtype)

        def contains(self, x):
            x = numpy.asarray(x)
            return bool(numpy.can_cast(x.dtype, self.dtype) and x.shape == self.shape and (x >= self.low).all() and (x <= self.high).all())

        __contains__ = contains

        def __eq__(self, other):
            return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype
                    and numpy.array_equal(self.low, other.low) and numpy.array_equal(self.high, other.high))

        def __repr__(self):
            return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"


AutoresetMode = getattr(getattr(gymnasium, "vector", None), "AutoresetMode", None)
if AutoresetMode is None:

    class AutoresetMode(enum.Enum):
        """When a vector environment resets ended episodes; names and values as in Gymnasium."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"
