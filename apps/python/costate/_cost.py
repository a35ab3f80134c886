"""Costs of the caller's own, called by the library during rollouts of a scene."""
from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

import numpy

from ._arrays import Array, ArrayLike, numbers
from ._library import EVALUATE, Cost
from .model import Model

OwnCost = Callable[[Array, Array], Tuple[float, Optional[ArrayLike], Optional[ArrayLike]]]


class CalledCost:
    """A cost as the library calls it, for one call of the library: `structure` is its costate_cost. After the call,
    `raise_failure` raises what the cost has raised."""

    def __init__(self, model: Model, steps: int, cost: OwnCost) -> None:
        self._model, self._steps, self._cost = model, steps, cost
        self._failure: List[BaseException] = []
        self.structure = Cost(EVALUATE(self._evaluate), None)  # keeps the callback alive

    def raise_failure(self) -> None:
        if self._failure:
            error = self._failure.pop()
            raise error.with_traceback(error.__traceback__)

    def _evaluate(self, _: Any, states: Any, controls: Any, value: Any, states_bar: Any, controls_bar: Any) -> int:
        try:
            m, n = self._model, self._steps
            x, u = _view(states, (n + 1, m.nx)), _view(controls, (n, m.nu))
            value[0], by_x, by_u = self._result(self._cost(x.copy(), u.copy()))
            if states_bar:
                if by_x is not None:
                    _view(states_bar, (n + 1, m.ndx))[:] = self._tangent(x, by_x)
                if by_u is not None:
                    _view(controls_bar, (n, m.nu))[:] = numbers("the gradient by the controls", by_u, (n, m.nu))
            return 0
        except BaseException as error:  # passed on after the call, which ends
            self._failure.append(error)
            return 1

    def _result(self, given: Any) -> Tuple[float, Optional[ArrayLike], Optional[ArrayLike]]:
        if not isinstance(given, tuple) or len(given) != 3:
            raise TypeError("a cost must return (value, gradient by the states, gradient by the controls), not "
                            f"{type(given).__name__}; costate.torch.cost makes one of a function of tensors")
        value = numpy.asarray(given[0])
        if value.size != 1 or value.dtype.kind not in "iuf":
            raise TypeError(f"the value of a cost must be one number, not {given[0]!r}")
        return float(value.reshape(())), given[1], given[2]

    def _tangent(self, x: Array, given: ArrayLike) -> Array:
        """The gradient by states x, which has ambient rows (nx) or tangent rows (ndx)."""
        m, rows = self._model, self._steps + 1
        if m.nx == m.ndx or numpy.shape(given) != (rows, m.nx):
            return numbers("the gradient by the states", given, (rows, m.ndx))
        ambient = numbers("the gradient by the states", given, (rows, m.nx))
        tangent = numpy.zeros((rows, m.ndx))
        tangent[:, m.nv:] = ambient[:, m.nq:]
        for t in numpy.flatnonzero(ambient[:, :m.nq].any(1)):
            tangent[t, :m.nv] = m.gradient_to_tangent(x[t, :m.nq], ambient[t, :m.nq])
        return tangent


def _view(pointer: Any, shape: Tuple[int, int]) -> Array:
    return numpy.empty(shape) if shape[1] == 0 else numpy.ctypeslib.as_array(pointer, shape)
