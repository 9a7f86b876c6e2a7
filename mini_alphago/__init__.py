"""AlphaGo Zero on your desk, all in Python.

The rooms, each built on those before it: `game` (what Go is), `model` (what a network sees and says).
Names are imported from their room: `from mini_alphago.game import Board`.
"""

from .version import __version__

__all__ = ["__version__"]
