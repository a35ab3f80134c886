"""Sums over environments that several processes share, with the bits of one process.

Every process steps its own environments, `environments(n, group)`, with a `costate.Batch` of that size, and `total` adds
up what they computed. The order of the sum is that of the library (adjoint/batch/sum_plan.hpp): blocks of 16 environments
in order, their sums by a binary tree over the numbers of blocks. So it has the bits of a batch with all environments,
whatever the number of processes.

    group = distributed.mpi()                                    # mpirun -n 8 python3 script.py
    mine = distributed.environments(4096, group)
    batch = costate.Batch(model, len(mine))
    ...
    bars = batch.backward(x, u, states_bar, each=True)           # x, u, states_bar of these environments
    gradient = distributed.total(bars.parameters, 4096, group)   # the same on all processes
"""
from __future__ import annotations

from typing import Any, Dict, List, Protocol, Tuple

import numpy

from ._arrays import Array, ArrayLike
from .errors import BadArgument

BLOCK = 16

_Nodes = Dict[Tuple[int, int], Array]  # sums of the blocks from `first` on that a node of this level covers


class Group(Protocol):
    """The processes: `mpi` and `gloo` make one, and so may you."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def gather(self, value: Any) -> List[Any]:
        """What all processes gave, in the order of their ranks. All call it."""
        ...


class _Mpi:
    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator
        self.rank, self.size = int(communicator.Get_rank()), int(communicator.Get_size())

    def gather(self, value: Any) -> List[Any]:
        return list(self._communicator.allgather(value))


class _Gloo:
    def __init__(self, distributed: Any, group: Any) -> None:
        self._distributed, self._group = distributed, group
        self.rank, self.size = int(distributed.get_rank(group)), int(distributed.get_world_size(group))

    def gather(self, value: Any) -> List[Any]:
        values: List[Any] = [None] * self.size
        self._distributed.all_gather_object(values, value, group=self._group)
        return values


def mpi(communicator: Any = None) -> Group:
    """The processes of a communicator of mpi4py; None: all that mpirun started."""
    if communicator is None:
        from mpi4py import MPI
        communicator = MPI.COMM_WORLD
    return _Mpi(communicator)


def gloo(group: Any = None) -> Group:
    """The processes of a group of torch.distributed, with the backend gloo; None: all of init_process_group."""
    import torch.distributed
    return _Gloo(torch.distributed, group)


def environments(n: int, group: Group) -> range:
    """The environments of n that this process computes: whole blocks, as even as they allow. Empty where there are more
    processes than blocks."""
    blocks = -(-n // BLOCK)

    def begin(i: int) -> int:
        return i * (blocks // group.size) + min(i, blocks % group.size)

    return range(begin(group.rank) * BLOCK, max(begin(group.rank) * BLOCK, min(n, begin(group.rank + 1) * BLOCK)))


def total(rows: ArrayLike, n: int, group: Group) -> Array:
    """The sum over all n environments; rows (len(environments(n, group)), ...): what this process has of its own, in
    order. Throws BadArgument on all processes if the rows of one have another shape."""
    mine = environments(n, group)
    own = numpy.asarray(rows, float)
    shapes = group.gather((own.shape[0] if own.ndim else -1, own.shape[1:], len(mine)))
    widths = {shape for count, shape, _ in shapes if count != 0}
    for rank, (count, shape, expected) in enumerate(shapes):
        if count != expected or len(widths) > 1:
            raise BadArgument(f"rows: process {rank} gives {count} rows of shape {shape} for {expected} environments; "
                              "give one row of the same shape for each")
    nodes: _Nodes = {}
    for first in range(0, len(own), BLOCK):
        block = own[first].copy()
        for row in own[first + 1:first + BLOCK]:
            block += row
        _place(nodes, (mine.start + first) // BLOCK, 0, block, -(-n // BLOCK))
    everything: _Nodes = {}
    for part in group.gather(nodes):
        for (first, level), value in part.items():
            _place(everything, first, level, value, -(-n // BLOCK))
    (result,) = everything.values()
    return result


def _place(nodes: _Nodes, first: int, level: int, value: Array, blocks: int) -> None:
    """Adds a node, and to its sibling as far as the tree goes."""
    while first > 0 or 1 << level < blocks:
        size = 1 << level
        is_first_half = first // size % 2 == 0
        other = first + size if is_first_half else first - size
        if other < blocks:
            sibling = nodes.pop((other, level), None)
            if sibling is None:
                break
            value = value + sibling if is_first_half else sibling + value
            first = min(first, other)
        level += 1
    nodes[first, level] = value
