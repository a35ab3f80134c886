"""The classes of Gymnasium that environments need, or substitutes if Gymnasium is not installed."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .substitutes import AutoresetMode, Box, EnvBase, VectorEnvBase
else:
    try:
        from gymnasium import Env as EnvBase
        from gymnasium.spaces import Box
        from gymnasium.vector import VectorEnv as VectorEnvBase
    except ImportError:
        from .substitutes import Box, EnvBase, VectorEnvBase
    try:
        from gymnasium.vector import AutoresetMode
    except ImportError:  # also with Gymnasium before 1.1
        from .substitutes import AutoresetMode

__all__ = ["AutoresetMode", "Box", "EnvBase", "VectorEnvBase"]
