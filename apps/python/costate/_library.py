"""libcostate.so: its location, and its functions with the types of costate.h."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

from .errors import BY_STATUS, BadVersion, Internal

HEADER = 100  # COSTATE_VERSION of the costate.h that the prototypes below follow
VERSION = f"{HEADER // 10000}.{HEADER // 100 % 100}.{HEADER % 100}"
NAME = "libcostate.so"
SONAME = f"{NAME}.{HEADER // 10000}.{HEADER // 100 % 100}"

_here = Path(__file__).resolve().parent
_handle, _size = c_void_p, c_size_t


class _array:
    """The type of arguments that are numpy arrays, checked by _arrays.py, or None. They stay alive during the
    call."""

    @staticmethod
    def from_param(array: Any) -> Optional[c_void_p]:
        return None if array is None else c_void_p(array.ctypes.data)


class BatchOptions(ctypes.Structure):
    """costate_batch_options"""

    _fields_ = [("n_env", c_int), ("n_threads", c_int), ("substeps", c_int), ("own_parameters", c_int),
                ("ambient", c_int), ("checkpoint_bytes", c_size_t)]


class LoadOptions(ctypes.Structure):
    """costate_load_options"""

    _fields_ = [("size", c_size_t), ("base", c_char_p), ("search", POINTER(c_char_p)), ("n_search", c_size_t),
                ("strict", c_int), ("self_collision", c_int), ("hull_vertices", c_int),
                ("law", c_char_p), ("decompose", c_int)]


INTERRUPT = ctypes.CFUNCTYPE(c_int, c_void_p)  # int (*)(void* data)


class Interrupt(ctypes.Structure):
    """costate_interrupt"""

    _fields_ = [("ask", INTERRUPT), ("data", c_void_p)]


REPORT = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)  # costate_progress.report


class Progress(ctypes.Structure):
    """costate_progress"""

    _fields_ = [("report", REPORT), ("data", c_void_p)]


class Columns(ctypes.Structure):
    """costate_columns"""

    _fields_ = [("size", c_size_t), ("x", c_void_p), ("u", c_void_p), ("theta", c_void_p)]


class Run(ctypes.Structure):
    """costate_run"""

    _fields_ = [("size", c_size_t), ("n_steps", c_int), ("x", c_void_p), ("u", c_void_p), ("wrenches", c_void_p),
                ("states", c_void_p), ("y", c_void_p), ("completed", c_void_p)]


_doubles = POINTER(c_double)
SEED = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, _doubles, _doubles, _doubles, _doubles)  # costate_run_gradient.seed


class RunGradient(ctypes.Structure):
    """costate_run_gradient"""

    _fields_ = [("size", c_size_t), ("max_bytes", c_size_t), ("states_bar", c_void_p), ("y_bar", c_void_p),
                ("seed", SEED), ("data", c_void_p), ("x_bar", c_void_p), ("u_bar", c_void_p),
                ("wrenches_bar", c_void_p), ("theta_bar", c_void_p), ("theta_size", c_size_t)]


EVALUATE = ctypes.CFUNCTYPE(c_int, c_void_p, _doubles, _doubles, _doubles, _doubles, _doubles)  # costate_cost.evaluate


class Cost(ctypes.Structure):
    """costate_cost"""

    _fields_ = [("evaluate", EVALUATE), ("data", c_void_p)]


class SceneRun(ctypes.Structure):
    """costate_scene_run"""

    _fields_ = [("size", c_size_t), ("y", c_void_p), ("loss", POINTER(c_double)), ("gradient", c_void_p),
                ("states", c_void_p), ("controls", c_void_p), ("cost", POINTER(Cost)),
                ("interrupt", POINTER(Interrupt)), ("progress", POINTER(Progress))]


class OptimizeOptions(ctypes.Structure):
    """costate_optimize_options"""

    _fields_ = [("size", c_size_t), ("method", c_char_p), ("iterations", c_int), ("max_loss_evaluations", c_int),
                ("learning_rate", c_double), ("losses", POINTER(c_double)), ("n_losses", c_size_t),
                ("interrupt", POINTER(Interrupt)), ("cost", POINTER(Cost)), ("progress", POINTER(Progress)),
                ("restarts", c_int), ("threads", c_int), ("seed", ctypes.c_uint), ("sigma", c_double),
                ("restart_losses", POINTER(c_double))]


class OptimizeResult(ctypes.Structure):
    """costate_optimize_result"""

    _fields_ = [("initial_loss", c_double), ("final_loss", c_double), ("seconds", c_double), ("iterations", c_int),
                ("loss_evaluations", c_int), ("gradient_evaluations", c_int), ("stopped", ctypes.c_char * 96)]


class Plan(ctypes.Structure):
    """costate_plan"""

    _fields_ = [("size", c_size_t), ("iterations", c_int), ("seconds", c_double), ("cost", c_double),
                ("states", c_void_p), ("controls", c_void_p), ("gains", c_void_p)]


PROTOTYPES: Dict[str, List[Any]] = {
    "costate_version": [c_int],
    "costate_model_load_with": [c_char_p, POINTER(LoadOptions), POINTER(_handle)],
    "costate_model_parse": [c_char_p, _size, c_char_p, c_char_p, POINTER(LoadOptions), POINTER(_handle)],
    "costate_model_free": [_handle],
    "costate_model_copy": [_handle, POINTER(_handle)],
    "costate_model_nq": [_handle],
    "costate_model_nv": [_handle],
    "costate_model_nu": [_handle],
    "costate_model_nx": [_handle],
    "costate_model_ny": [_handle],
    "costate_model_nparam": [_handle],
    "costate_model_count": [_handle, c_int],
    "costate_model_name": [_handle, c_int, c_int, c_char_p, _size],
    "costate_model_joint": [_handle, c_int, POINTER(c_int)],
    "costate_model_sensor": [_handle, c_int, POINTER(c_int), c_char_p, _size],
    "costate_model_get_parameters": [_handle, _array, _size],
    "costate_model_set_parameters": [_handle, _array, _size],
    "costate_model_initial_state": [_handle, _array, _array],
    "costate_model_keyframe": [_handle, c_int] + 3 * [_array],
    "costate_model_parent": [_handle, c_int, c_int, POINTER(c_int)],
    "costate_model_limits": [_handle, c_int, c_int, _array],
    "costate_model_time_step": [_handle, POINTER(c_double)],
    "costate_retract": [_handle] + 3 * [_array],
    "costate_difference": [_handle] + 3 * [_array],
    "costate_gradient_to_tangent": [_handle] + 3 * [_array],
    "costate_gradient_to_ambient": [_handle] + 3 * [_array],
    "costate_body_pose": [_handle, _array, c_int, _array, _array],
    "costate_forward_dynamics": [_handle] + 4 * [_array],
    "costate_inverse_dynamics": [_handle] + 4 * [_array],
    "costate_mass_matrix": [_handle] + 2 * [_array],
    "costate_forward_dynamics_derivatives": [_handle] + 6 * [_array],
    "costate_step": [_handle] + 5 * [_array],
    "costate_step_vjp": [_handle] + 9 * [_array],
    "costate_step_jvp": [_handle] + 9 * [_array],
    "costate_step_jacobian": [_handle] + 6 * [_array],
    "costate_state_step": [_handle] + 3 * [_array],
    "costate_state_step_vjp": [_handle] + 6 * [_array],
    "costate_state_step_jvp": [_handle] + 6 * [_array],
    "costate_state_step_jacobian": [_handle] + 5 * [_array],
    "costate_state_residual": [_handle] + 2 * [_array] + [POINTER(c_double)],
    "costate_observe": [_handle] + 5 * [_array],
    "costate_observe_vjp": [_handle] + 9 * [_array],
    "costate_observe_jvp": [_handle] + 9 * [_array],
    "costate_observe_jacobian": [_handle] + 5 * [_array],
    "costate_contacts": [_handle] + 4 * [_array] + [_size],
    "costate_batch_bytes": [_handle, POINTER(BatchOptions), POINTER(_size)],
    "costate_batch_create": [_handle, POINTER(BatchOptions), POINTER(_handle)],
    "costate_batch_free": [_handle],
    "costate_batch_set_parameters": [_handle, _array, _size],
    "costate_batch_set_interrupt": [_handle, POINTER(Interrupt)],
    "costate_batch_set_progress": [_handle, POINTER(Progress)],
    "costate_batch_reset": [_handle, _array, _size, c_char_p, _array, _size, _array, _array],
    "costate_batch_state": [_handle] + 2 * [_array],
    "costate_batch_step": [_handle] + 4 * [_array],
    "costate_batch_rollout": [_handle, c_int] + 4 * [_array],
    "costate_batch_residuals": [_handle] + 2 * [_array],
    "costate_batch_backward": [_handle, c_int] + 7 * [_array] + [_size],
    "costate_batch_jacobian_with": [_handle] + 3 * [_array] + [POINTER(Columns)] + 4 * [_array],
    "costate_batch_contacts": [_handle] + 4 * [_array] + [_size, _array],
    "costate_batch_sensors": [_handle] + 5 * [_array],
    "costate_batch_sensors_vjp": [_handle] + 8 * [_array] + [_size],
    "costate_batch_sensors_jacobian": [_handle] + 7 * [_array],
    "costate_batch_run": [_handle, POINTER(Run)],
    "costate_batch_run_vjp": [_handle, POINTER(Run), POINTER(RunGradient)],
    "costate_batch_jvp": [_handle, POINTER(Run)] + 5 * [_array],
    "costate_batch_hvp": [_handle, POINTER(Run)] + 8 * [_array] + [_size],
    "costate_batch_poses": [_handle] + 2 * [_array] + [_size] + 2 * [_array],
    "costate_batch_poses_vjp": [_handle] + 2 * [_array] + [_size] + 4 * [_array] + [_size],
    "costate_scene_steps": [_handle],
    "costate_scene_variables": [_handle] + 3 * [_array],
    "costate_scene_evaluate": [_handle, POINTER(SceneRun)],
    "costate_scene_optimize": [_handle, POINTER(OptimizeOptions), _array, POINTER(OptimizeResult)],
    "costate_scene_feedback": [_handle] + 4 * [_array],
    "costate_controller_create": [_handle, c_int, POINTER(_handle)],
    "costate_controller_free": [_handle],
    "costate_controller_plan": [_handle, c_double, _array, POINTER(Plan)],
    "costate_controller_control": [_handle, c_double, _array, _array],
}


def candidates() -> Iterator[Path]:
    """Possible paths of the library. The first existing one is used; if none exists, the system's loader
    searches."""
    own = os.environ.get("COSTATE_LIBRARY")
    if own:
        yield from (Path(own), Path(own) / NAME)
        return
    yield _here / NAME  # in a wheel
    yield _here.parents[2] / "build/apps/c_api" / NAME  # in the source tree


def find() -> str:
    """The library's path, or its bare name for the system's loader."""
    paths = list(candidates())
    for path in paths:
        if path.is_file():
            return str(path)
    if os.environ.get("COSTATE_LIBRARY"):
        raise ImportError(f"costate: $COSTATE_LIBRARY is {paths[0]}, but {NAME} is not there")
    return SONAME


def load() -> ctypes.CDLL:
    path = find()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        looked = ", ".join(map(str, candidates()))
        raise ImportError(
            f"costate: {error}; looked for {looked}. Build it (cmake --build build --target costate_c), or say "
            "where it is: COSTATE_LIBRARY=/path/to/libcostate.so") from None
    library.costate_last_error.argtypes, library.costate_last_error.restype = [], c_char_p
    for name, arguments in PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise BadVersion(f"{path} has no {name}: its version differs from that of this package") from None
        function.argtypes, function.restype = arguments, c_int
    if library.costate_version(HEADER) < 0:
        raise BadVersion(f"{path}: {library.costate_last_error().decode()}")
    return library


library = load()


def check(status: int) -> int:
    """Returns the count of a status; raises the exception of a negative status."""
    if status < 0:
        raise BY_STATUS.get(status, Internal)(library.costate_last_error().decode(errors="replace"))
    return status
