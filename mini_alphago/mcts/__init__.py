"""How it thinks: Monte Carlo tree search."""

from .mcts import MCTS, Analysis, analyze
from .node import MCTSNode
from .search import RootMove, Search
from .settings import SearchSettings

__all__ = ["MCTS", "Analysis", "MCTSNode", "RootMove", "Search", "SearchSettings", "analyze"]
