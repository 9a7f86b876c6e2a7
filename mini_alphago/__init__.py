"""AlphaGo Zero on your desk, all in Python.

The rooms, each built on those before it: `game` (what Go is), `model` (what a network sees and says), `mcts` (how it
thinks). Names are imported from their room: `from mini_alphago.game import Board`. `mini_alphago.analyze` is all of
them in one call.
"""

import os
import sys
from typing import TYPE_CHECKING

from .lazy import lazily
from .version import __version__

# Numba and PyTorch each have a pool of OpenMP threads, which by default spin for milliseconds after their work: against
# each other, and against whatever else the machine does. Read when the OpenMP library is loaded, so it stands here.
torch_spins = "torch" in sys.modules and "GOMP_SPINCOUNT" not in os.environ and sys.platform == "linux"
"""Whether it was too late to say so: torch, which brings that library, was imported before."""
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

if TYPE_CHECKING:
    from .mcts import analyze

__all__ = ["__version__", "analyze"]

if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, "mcts")
