"""Images and pages of environments, made by the program `costate`."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy

from .._arrays import Array, Mask
from ..viewer import image, view
from .task import Task

MODES = ["rgb_array", "html"]
SIZE = (640, 480)  # of images, width and height, pixels


class Rendering:
    """What `render` shows of n environments: with "rgb_array" their present states, with "html" those of their
    episodes so far, which are recorded."""

    def __init__(self, task: Task, mode: Optional[str], n: int) -> None:
        if mode is not None and mode not in MODES:
            raise ValueError(f"render_mode is {mode!r}, it may be {' or '.join(MODES)}, or None")
        self.task, self.mode = task, mode
        self.episodes: List[List[Array]] = [[] for _ in range(n)]

    @property
    def fps(self) -> int:
        """Control steps per second of the simulation."""
        return max(1, round(1 / self._step))

    @property
    def _step(self) -> float:
        return self.task.model.time_step * self.task.substeps

    def record(self, x: Array, started: Mask) -> None:
        """The states x (n, nx) after a step; `started` (n) are the first of an episode."""
        if self.mode != "html":
            return
        for i, episode in enumerate(self.episodes):
            if started[i]:
                episode.clear()
            episode.append(x[i, : self.task.model.nx].copy())

    def frames(self, x: Array) -> Tuple[Any, ...]:
        """An image (height, width, 3) or a `Page` of each environment, whose present states are x (n, nx)."""
        model = self.task.model
        if self.mode is None:
            raise NotImplementedError(
                "this environment does not render: make it with render_mode=\"rgb_array\" or \"html\"; "
                "costate.view(env.task.model, states) writes a page of any states")
        if self.mode == "rgb_array":
            return tuple(image(model, row[: model.nx], SIZE) for row in x)
        return tuple(view(model, numpy.stack(episode), time_step=self._step) for episode in self.episodes)


def tiled(images: Sequence[Any]) -> Any:
    """One image of several, in a grid with as many columns as rows, or one more."""
    columns = int(numpy.ceil(numpy.sqrt(len(images))))
    rows = -(-len(images) // columns)
    height, width, channels = images[0].shape
    grid = numpy.zeros((rows * height, columns * width, channels), numpy.uint8)
    for k, each in enumerate(images):
        y, x = k // columns * height, k % columns * width
        grid[y : y + height, x : x + width] = each
    return grid
