"""AlphaGo Zero on your desk, all in Python.

The rooms, each built on those before it: `game` (what Go is), `model` (what a network sees and says), `mcts` (how it
thinks). Names are imported from their room: `from mini_alphago.game import Board`. `mini_alphago.analyze` is all of
them in one call.
"""

import os
from typing import TYPE_CHECKING, Any

# Numba and PyTorch each have a pool of OpenMP threads, which by default spin for milliseconds after their work: against
# each other, and against whatever else the machine does. Read when the OpenMP library is loaded, so it stands here.
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

from .version import __version__

if TYPE_CHECKING:
    from .mcts import analyze

__all__ = ["__version__", "analyze"]


def __getattr__(name: str) -> Any:
    """Import `analyze` when it is asked for: the package itself stays quick to import."""
    if name == "analyze":
        from .mcts import analyze

        return analyze
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
