"""Policies as JSON files, for programs without PyTorch."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List

import numpy
import torch
from torch import nn

from ..errors import BadFile
from ..model import PathLike
from .learner import Learner
from .runs import Policy
from .sac import SquashedActor


def export(learner: Learner, path: PathLike) -> None:
    """Writes the policy of a learner without noise as JSON: "mean" and "deviation" of the observations, and "layers",
    each with the "weight", row by row, and the "bias" of a linear layer, and, of all but the last, the "scale" and
    the "shift" of the layer's normalization. With observations o, the policy computes

        y = (o - mean)/deviation, clipped to +-10
        y = weight y + bias, and for all layers but the last y = scale (z - m)/sqrt(s + 1e-5) + shift,
            where z = ELU(y), that is y where y > 0 and exp(y) - 1 elsewhere, and m and s are the mean and the variance
            of the numbers in z
        action = tanh(y)

    and the controls of the model are offset + scale * action, with "control_offset" and "control_scale" of the file,
    held for "control_step" seconds. Numbers have the digits of float32. The file at `path` is always a whole one."""
    task, normalizer, actor = learner.task, learner.normalizer, learner.actor
    network = actor.both if isinstance(actor, SquashedActor) else actor.mean
    layers = _layers(network)
    layers[-1] = {name: rows[: task.model.nu] for name, rows in layers[-1].items()}  # without standard deviations
    controls = numpy.ones(task.model.nu)
    policy = {
        "task": repr(task), "control_step": task.control_step, "control_offset": (task.offset * controls).tolist(),
        "control_scale": (task.scale * controls).tolist(), "mean": _numbers(normalizer.mean),
        "deviation": _numbers((normalizer.variance + 1e-5).sqrt()), "layers": layers
    }
    part = f"{os.fspath(path)}.part"
    with open(part, "w") as file:
        json.dump(policy, file)
    os.replace(part, path)


def read_policy(path: PathLike) -> Policy:
    """The policy in a file of `export`: a function from observations (n, observation size) to actions (n, nu), in
    double precision. Raises BadFile for files that hold none."""
    try:
        policy = json.loads(Path(path).read_text())
        mean, deviation = (_tensor(policy[name]) for name in ("mean", "deviation"))
        layers = [{name: _tensor(numbers) for name, numbers in layer.items()} for layer in policy["layers"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"{os.fspath(path)}: no policy that costate.learn.export has written: {error}") from None

    def act(observations: torch.Tensor) -> torch.Tensor:
        y = ((observations.double() - mean) / deviation).clamp(-10, 10)
        for layer in layers:
            y = nn.functional.linear(y, layer["weight"], layer["bias"])
            if "scale" in layer:
                y = nn.functional.layer_norm(nn.functional.elu(y), y.shape[-1:], layer["scale"], layer["shift"])
        return y.tanh()

    return act


def _layers(network: nn.Sequential) -> List[Dict[str, Any]]:
    layers: List[Dict[str, Any]] = []
    for module in network:
        if isinstance(module, nn.Linear):
            layers.append({"weight": _numbers(module.weight), "bias": _numbers(module.bias)})
        elif isinstance(module, nn.LayerNorm):
            layers[-1].update(scale=_numbers(module.weight), shift=_numbers(module.bias))
    return layers


def _numbers(tensor: torch.Tensor) -> Any:
    """Nested lists of the shortest decimals that float32 reads as the same numbers."""
    if tensor.dim() > 1:
        return [_numbers(row) for row in tensor]
    return [float(str(number)) for number in tensor.detach().numpy()]


def _tensor(numbers: Any) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)
