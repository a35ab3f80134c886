"""Products with the Jacobian of parameters by unknowns, most columns of which have a single entry."""
from __future__ import annotations

from typing import Dict, List, Tuple

import numpy

from ._arrays import Array


class Products:
    """J by_y for many J: a matrix (nparam, p) as columns with one entry, and blocks of columns that have entries in
    the same rows. A dense product costs p times as much per entry of J."""

    def __init__(self, by_y: Array) -> None:
        self.p = by_y.shape[1]
        alike: Dict[Tuple[int, ...], List[int]] = {}
        for column in range(self.p):
            alike.setdefault(tuple(int(i) for i in numpy.flatnonzero(by_y[:, column])), []).append(column)
        single = [(rows[0], column) for rows, columns in alike.items() if len(rows) == 1 for column in columns]
        self._rows, self._columns = [i for i, _ in single], [column for _, column in single]
        self._entries = by_y[self._rows, self._columns]
        self._blocks = [(list(rows), columns, by_y[numpy.ix_(rows, columns)]) for rows, columns in alike.items()
                        if len(rows) > 1]
        self.moving = [column for rows, columns in alike.items() if rows for column in columns]  # not zero
        self.by_y = by_y

    def product(self, J: Array) -> Array:
        """J by_y (..., p) of J (..., nparam)."""
        out = numpy.zeros((*J.shape[:-1], self.p))
        out[..., self._columns] = J[..., self._rows] * self._entries
        for rows, columns, block in self._blocks:
            out[..., columns] = J[..., rows] @ block
        return out
