"""The experience that off-policy learners sample from."""
from __future__ import annotations

from typing import Any, Dict, Mapping, Tuple

import torch


class Buffer:
    """The last `capacity` transitions, in float32; new ones replace the oldest.

    shapes: the shape of each part of a transition, without the dimension of transitions."""

    def __init__(self, capacity: int, shapes: Mapping[str, Tuple[int, ...]]) -> None:
        self.parts = {name: torch.empty((capacity, *shape)) for name, shape in shapes.items()}
        self.capacity = capacity
        self.added = 0  # transitions so far

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, transitions: Mapping[str, torch.Tensor]) -> None:
        """Adds n transitions, each part (n, ...)."""
        n = len(next(iter(transitions.values())))
        where = (self.added + torch.arange(n)) % self.capacity
        for name, part in self.parts.items():
            part[where] = transitions[name].to(part.dtype)
        self.added += n

    def sample(self, n: int, random: torch.Generator) -> Dict[str, torch.Tensor]:
        """n transitions, drawn with replacement; each part (n, ...)."""
        which = torch.randint(len(self), (n,), generator=random)
        return {name: part[which] for name, part in self.parts.items()}

    def state_dict(self) -> Dict[str, Any]:
        return {"added": self.added, **{name: part[: len(self)] for name, part in self.parts.items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.added = state["added"]
        for name, part in self.parts.items():
            part[: len(self)] = state[name]
