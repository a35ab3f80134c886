"""Jacobians of control steps of a batch, and contacts."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy
import numpy.typing

from ._arrays import Array, ArrayLike, Integers, Mask, index, integers, mask, numbers, output
from ._library import Columns, library
from ._model_steps import CONTACT
from ._progress import Progress
from .errors import BadArgument

if TYPE_CHECKING:
    from .batch import Batch

Chosen = Mapping[str, Union[ArrayLike, Sequence[str]]]  # of columns: by "x", "u", "parameters"


class BatchJacobian(NamedTuple):
    """Jacobians of one control step in tangent vectors, with rows x_next."""

    by_state: Array  # (n_env, ndx, ndx)
    by_control: Array  # (n_env, ndx, nu)
    by_parameters: Optional[Array]  # (n_env, ndx, nparam)
    diverged: Mask  # (n_env): their Jacobians are zero


class BatchContacts(NamedTuple):
    """The contacts of all environments, one row each; what is behind the number of an environment is zero."""

    counts: Integers  # (n_env); 0 for environments that diverge
    contacts: numpy.typing.NDArray[numpy.void]  # (n_env, largest count), with the fields of Model.contacts
    couples: Array  # (n_env, largest count, 3) of torsional and rolling friction on a, N m s, world
    diverged: Mask  # (n_env)


def jacobian(batch: Batch, x: ArrayLike, u: ArrayLike, envs: Optional[ArrayLike], parameters: bool,
             columns: Optional[Chosen], out: Optional[BatchJacobian], progress: Optional[Progress]) -> BatchJacobian:
    n, ndx, which = batch.n_env, batch.ndx, None
    indices, _ = batch._which(envs)
    if indices is not None:
        which = numpy.zeros(n, bool)
        which[indices] = True
    widths = {"x": ndx, "u": batch.nu, "parameters": batch.nparam}
    chosen = {} if columns is None else {kind: _columns(batch, kind, given, widths)
                                         for kind, given in columns.items()}
    wanted = (True, True, parameters or "parameters" in chosen)
    given_out = (None, None, None) if out is None else out[:3]
    by_x, by_u, by_theta = (_matrix(name, given, (n, ndx, width)) if want else None for name, want, given, width in
                            zip(BatchJacobian._fields, wanted, given_out, widths.values()))
    masks = [chosen.get(kind) for kind in widths]
    structure = Columns(ctypes.sizeof(Columns), *(None if each is None else each.ctypes.data for each in masks))
    status = numpy.empty(n, numpy.int32)
    batch._run(library.costate_batch_jacobian_with, numbers("x", x, batch._x), numbers("u", u, batch._u), which,
               ctypes.byref(structure), by_x, by_u, by_theta, status, progress=progress)
    assert by_x is not None and by_u is not None
    return BatchJacobian(by_x, by_u, by_theta, status != 0)


def _matrix(name: str, given: Optional[Array], shape: Tuple[int, ...]) -> Array:
    return numpy.zeros(shape) if given is None else output(f"out.{name}", given, shape)


def _columns(batch: Batch, kind: str, given: Any, widths: Mapping[str, int]) -> Mask:
    """The chosen columns of a kind as a mask."""
    if kind not in widths:
        raise BadArgument(f"columns has {kind!r}; possible are {', '.join(widths)}")
    width, name = widths[kind], f"columns[{kind!r}]"
    array = numpy.asarray(given)
    if array.dtype == numpy.bool_:
        return mask(name, array, width)
    if array.dtype.kind == "U" and kind == "parameters":
        names = batch.model.parameter_names
        which: List[int] = [index(names, str(each), "parameter") for each in array]
    else:
        which = integers(name, array, (None,)).tolist()
    for column in which:
        if not 0 <= column < width:
            raise BadArgument(f"{name} has {column}; there are {width} columns, the first is 0")
    wanted: Mask = numpy.zeros(width, bool)
    wanted[which] = True
    return wanted


def contacts(batch: Batch, x: Optional[ArrayLike], u: Optional[ArrayLike]) -> BatchContacts:
    states = None if x is None else numbers("x", x, batch._x)
    controls = numpy.zeros(batch._u) if u is None else numbers("u", u, batch._u)
    n, counts, room = batch.n_env, numpy.empty(batch.n_env, numpy.int32), 16
    while True:
        found = numpy.zeros((n, room), CONTACT)
        couples = numpy.zeros((n, room, 3))
        batch._run(library.costate_batch_contacts, states, controls, found, couples, room, counts)
        most = max(0, int(counts.max()))
        if most <= room:
            diverged: Mask = counts < 0
            return BatchContacts(numpy.maximum(counts, 0), found[:, :most], couples[:, :most], diverged)
        room = most
