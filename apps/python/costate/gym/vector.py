"""Many environments, stepped together."""
import numpy

from .env import _only
from .episodes import Episodes, Jacobian
from .spaces import AutoresetMode, Box, VectorEnvBase


class VectorEnv(VectorEnvBase):
    """num_envs environments of a task with Gymnasium's semantics, stepped by `threads` threads (0: one per core).

    The autoreset mode is SAME_STEP: an environment whose episode ends is reset in the same `step`, which returns the new observation; the
    last observation of the episode is in infos["final_obs"] (num_envs, observation size), where infos["_final_obs"] is true. Environment i
    of a VectorEnv with seed s has the same results, bit by bit, as an Env with seed s + i.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
    render_mode = None
    spec = None

    def __init__(self, task, num_envs, threads=0):
        self.task, self.num_envs = task, num_envs
        self._episodes = Episodes(task, num_envs, threads)
        self.single_observation_space = Box(-numpy.inf, numpy.inf, (task.observation_size,), numpy.float64)
        self.single_action_space = Box(-1.0, 1.0, (task.model.nu,), numpy.float64)
        self.observation_space = Box(-numpy.inf, numpy.inf, (num_envs, task.observation_size), numpy.float64)
        self.action_space = Box(-1.0, 1.0, (num_envs, task.model.nu), numpy.float64)

    @property
    def state(self):
        """x (num_envs, nx), a copy."""
        return self._episodes.x.copy()

    def reset(self, *, seed=None, options=None):
        """(observations, infos) of new episodes. seed: an integer, to which environment i adds i, or a list with one seed per environment.
        options: {"x": initial states (nx) or (num_envs, nx); "t": initial step counts (num_envs), so that episodes do not all end at the
        same time; "reset_mask": (num_envs) bool, the environments to reset}."""
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if numpy.ndim(seed) == 0 else list(seed)
            if len(seeds) != self.num_envs:
                raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
            self._episodes.seed(seeds)
        options = _only(options, "x", "t", "reset_mask")
        which = numpy.asarray(options.get("reset_mask", numpy.ones(self.num_envs, bool)), bool)
        self._episodes.start(which, options.get("x"), options.get("t", 0))
        return self._episodes.observation(), {}

    def step(self, actions):
        """(observations, rewards, terminated, truncated, infos) of a control step under actions (num_envs, nu).

        infos["diverged"] (num_envs), present if any has diverged: its state would not be finite, its reward is 0, its episode ends."""
        rewards, terminated, truncated, diverged = self._episodes.step(actions)
        observations, infos = self._episodes.restart(terminated | truncated, diverged)
        return observations, rewards, terminated, truncated, infos

    def step_with_jacobian(self, actions):
        """The results of `step`, and the `Jacobian` of that step with arrays (num_envs, ...), also for episodes that end in it."""
        actions = self._episodes.actions(actions)
        parts = [self._episodes.jacobian(i, actions) for i in range(self.num_envs)]
        return (*self.step(actions), Jacobian(*(numpy.stack(part) for part in zip(*parts))))

    def close_extras(self, **_):
        self._episodes.batch.close()
