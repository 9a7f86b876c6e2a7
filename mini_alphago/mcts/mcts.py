"""`MCTS`: the tutorial's search of one board, on the batched engine; and `analyze`, all of it in one call."""

from dataclasses import dataclass

import numpy as np
from torch import nn

from ..game import Board
from ..model import Evaluator, Network
from .node import MCTSNode
from .ranking import RootMove
from .search import Evaluates, Search
from .settings import SearchSettings, playing_settings


class MCTS:
    """Monte Carlo tree search of one board at a time.

    network: of `mini_alphago.model`, or anything that a `Search` can ask. Values are right from every player's view: a
    child's is that of the player who chooses it.
    """

    def __init__(
        self,
        network: Network | Evaluates,
        board_size: int = 9,
        num_simulations: int = 100,
        c_puct: float = 1.5,
        *,
        settings: SearchSettings | None = None,
        seed: int | None = None,
    ) -> None:
        """`settings` says everything else about the search; its c_puct gives way to the one here."""
        if num_simulations < 1:
            raise ValueError(f"num_simulations is {num_simulations}: a search needs at least 1")
        self.network = network
        self.board_size = board_size
        self.num_simulations = num_simulations
        self.c_puct = c_puct
        self.search_settings = settings or SearchSettings()
        self.rng = np.random.default_rng(seed)
        self._made: Evaluator | None = None
        self._stamp: tuple[float, ...] = ()
        self._search: Search | None = None
        self._whole: set[int] = set()  # see `MCTSNode._view`

    def search(self, board: Board, add_noise: bool = False) -> MCTSNode:
        """Search from `board` and return the root; its children have visits, values and priors.

        The nodes are views: the next search of this MCTS writes over them.
        """
        self._check(board)
        search = self._engine()
        self._whole.clear()
        search.set_board(board)
        search.run(self.num_simulations, noise=add_noise)
        return MCTSNode._view(search.trees, 0, None, self._whole)

    def evaluate(self, board: Board) -> tuple[np.ndarray, float]:
        """What the network says of a board: the logs of the move probabilities `[size² + 1]`, and the value."""
        self._check(board)
        evaluation = self.evaluator().evaluate(board.games)
        logits = evaluation.policy[0].astype(np.float64)
        log_policy = logits - logits.max()
        return (log_policy - np.log(np.exp(log_policy).sum())).astype(np.float32), float(evaluation.value[0])

    def add_dirichlet_noise(self, root: MCTSNode, alpha: float = 0.3, epsilon: float = 0.25) -> None:
        """Mix noise into the priors of the root's children."""
        children = list(root.children.values())
        for child, noise in zip(children, self.rng.dirichlet([alpha] * len(children)), strict=True):
            child.prior = (1 - epsilon) * child.prior + epsilon * noise

    def get_policy(self, root: MCTSNode, temperature: float = 1.0) -> np.ndarray:
        """[size² + 1] the shares of visits to the power 1 / temperature; temperature 0 is all on the most visited."""
        visits = np.zeros(self.board_size**2 + 1)
        for (x, y), child in root.children.items():
            visits[x * self.board_size + y if x >= 0 else self.board_size**2] = child.visit_count
        if temperature < 0 or not visits.any():
            raise ValueError("a policy needs visits at the root, and a temperature of 0 or more")
        if temperature == 0:
            return np.eye(len(visits))[visits.argmax()]
        with np.errstate(divide="ignore"):
            powers = np.exp((np.log(visits) - np.log(visits.max())) / temperature)  # in logs: no temperature overflows
        policy: np.ndarray = powers / powers.sum()
        return policy

    def select_move(self, root: MCTSNode, temperature: float = 1.0) -> tuple[int, int]:
        """A move drawn from `get_policy`; the pass is (-1, -1)."""
        policy = self.get_policy(root, temperature)
        index = int(self.rng.choice(len(policy), p=policy))
        return (-1, -1) if index == self.board_size**2 else divmod(index, self.board_size)

    def _check(self, board: Board) -> None:
        if board.size != self.board_size:
            size = self.board_size
            raise ValueError(f"this MCTS is for {size}×{size} boards, not {board.size}×{board.size}")

    def evaluator(self) -> Evaluates:
        """What answers for the network as it is now: an `Evaluator`, or the object that was given in its place."""
        if not isinstance(self.network, nn.Module):
            return self.network
        # The weights may have been trained since the last call, and an evaluator holds a copy of them.
        weights = (tensor.float() for tensor in self.network.state_dict().values())
        stamp = (id(self.network), *(float(tensor.sum() + tensor.abs().sum() * 3) for tensor in weights))
        if self._made is None or self._stamp != stamp:
            self._stamp = stamp
            self._made = Evaluator(self.network, device=str(next(self.network.parameters()).device), engine="torch")
        return self._made

    def _engine(self) -> Search:
        evaluator = self.evaluator()
        search = self._search
        room = self.num_simulations + 1 + self.search_settings.leaves
        if search is None or search.settings.c_puct != self.c_puct or search.settings.nodes < room:
            values = {**self.search_settings.__dict__, "c_puct": float(self.c_puct)}
            values["nodes"] = max(self.search_settings.nodes, room)
            search = self._search = Search(evaluator, 1, self.board_size, SearchSettings(**values))
            search.rng = self.rng
            self._whole = set()
        search.evaluator = evaluator
        return search


@dataclass(frozen=True)
class Analysis:
    """What a search says of a position, for the player to move."""

    moves: list[RootMove]  # the best first; those without visits too
    visits: int
    winrate: float  # 0 to 1
    score: float  # points; 0 if the network does not say
    ownership: np.ndarray | None  # [size, size] float32, 1 the player to move, -1 the opponent; None likewise

    @property
    def best(self) -> RootMove:
        """The move to play."""
        return self.moves[0]


def analyze(
    board: Board, network: Network | Evaluates, visits: int = 100, settings: SearchSettings | None = None
) -> Analysis:
    """Search a position: moves with visits, values, scores, priors and variations; winrate; ownership.

    ValueError if the game is over.
    """
    if visits < 1:
        raise ValueError(f"visits is {visits}: an analysis needs at least 1")
    evaluator = Evaluator(network) if isinstance(network, nn.Module) else network
    if settings is None:
        settings = playing_settings(visits + 16)
    search = Search(evaluator, 1, board.size, settings)
    search.set_board(board)
    search.run(visits)
    moves = search.root_moves()
    seen = [move for move in moves if move.visits]
    total = sum(move.visits for move in seen)
    if total == 0:
        raise ValueError("there is nothing to analyse: the game is over")
    winrate = sum(move.visits * (move.value + 1) / 2 for move in seen) / total
    score = sum(move.visits * move.score for move in seen) / total
    ownership = evaluator.evaluate(board.games).ownership
    if ownership is not None:
        ownership = ownership[0].reshape(board.size, board.size)
    return Analysis(moves, search.root_visits(), winrate, score, ownership)
