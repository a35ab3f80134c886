"""Costs of scenes as functions of tensors."""
from __future__ import annotations

from typing import Callable, Optional, Tuple

import torch

from ._arrays import Array
from ._cost import OwnCost


def cost(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> OwnCost:
    """A cost for `costate.Scene` from a function of tensors, which needs no gradient by hand:

        scene = costate.Scene("throw", cost=costate.torch.cost(lambda states, controls: 1e-3 * (controls**2).sum()))

    function: of states (steps + 1, nx) and controls (steps, nu), float64, to a tensor of one number. The gradient by
    a quaternion has no component along it."""

    def own_cost(states: Array, controls: Array) -> Tuple[float, Optional[Array], Optional[Array]]:
        x, u = (torch.from_numpy(array).requires_grad_() for array in (states, controls))
        with torch.enable_grad():
            value = function(x, u)
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            shown = f"a tensor {tuple(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
            raise TypeError(f"the cost must be a tensor of one number, not {shown}")
        if not value.requires_grad:  # constant
            return float(value), None, None
        by_x, by_u = torch.autograd.grad(value.reshape(()), (x, u), allow_unused=True)
        return float(value.detach()), _array(by_x), _array(by_u)

    return own_cost


def _array(bar: Optional[torch.Tensor]) -> Optional[Array]:
    return None if bar is None else bar.numpy()
