"""One environment."""
import numpy

from .episodes import Episodes
from .spaces import Box, EnvBase


class Env(EnvBase):
    """A task as an environment with Gymnasium's semantics. Observations and actions are float64, actions in [-1, 1]."""

    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, task):
        self.task = task
        self._episodes = Episodes(task, 1, threads=1)
        self.observation_space = Box(-numpy.inf, numpy.inf, (task.observation_size,), numpy.float64)
        self.action_space = Box(-1.0, 1.0, (task.model.nu,), numpy.float64)
        self._np_random, self._np_random_seed = self._episodes.randoms[0], None

    @property
    def state(self):
        """x (nx), a copy."""
        return self._episodes.x[0].copy()

    def reset(self, *, seed=None, options=None):
        """(observation, info) of a new episode. options: {"x": the state (nx) to start in}."""
        self._episodes.seed([seed])
        self._np_random, self._np_random_seed = self._episodes.randoms[0], seed
        self._episodes.start(numpy.ones(1, bool), _only(options, "x").get("x"))
        return self._episodes.observation()[0], {}

    def step(self, action):
        """(observation, reward, terminated, truncated, info) of a control step. info["diverged"]: the next state would not be finite; the
        state does not change, the reward is 0 and the episode terminates."""
        reward, terminated, truncated, diverged = (part[0].item() for part in self._episodes.step(numpy.asarray(action, float)[None]))
        return self._episodes.observation()[0], reward, terminated, truncated, {"diverged": True} if diverged else {}

    def step_with_jacobian(self, action):
        """The results of `step`, and the `Jacobian` of that step."""
        jacobian = self._episodes.jacobian(0, self._episodes.actions(numpy.asarray(action, float)[None]))
        return (*self.step(action), jacobian)

    def close(self):
        self._episodes.batch.close()


def _only(options, *known):
    options = options or {}
    for key in options:
        if key not in known:
            raise ValueError(f"reset() has no option {key!r}; there are {', '.join(known)}")
    return options
