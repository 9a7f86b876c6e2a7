"""How it thinks: Monte Carlo tree search."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .node import MCTSNode
from .ranking import RootMove
from .search import Search
from .settings import SearchSettings, playing_settings

if TYPE_CHECKING:
    from .mcts import MCTS, Analysis, analyze
else:
    __getattr__ = lazily(__name__, "mcts")

__all__ = ["MCTS", "Analysis", "MCTSNode", "RootMove", "Search", "SearchSettings", "analyze", "playing_settings"]
