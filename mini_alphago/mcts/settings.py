"""What can be set about a search."""

from dataclasses import dataclass
from typing import Literal

from .arrays import Options

_RANGES: dict[str, tuple[float, float]] = {
    "c_puct": (0.0, 100.0),
    "c_base": (0.0, 1e9),
    "fpu_reduction": (0.0, 2.0),
    "forced_playouts": (0.0, 100.0),
    "virtual_loss": (0.0, 10.0),
    "score_weight": (0.0, 1.0),
    "prior_temperature": (0.1, 10.0),
    "noise_alpha": (1e-3, 1e3),
    "noise_epsilon": (0.0, 1.0),
    "considered": (1, 362),
    "c_visit": (0.0, 1e6),
    "c_scale": (0.0, 1e3),
    "leaves": (1, 1024),
    "nodes": (2, 10_000_000),
    "move_limit": (1, 10_000),
}


@dataclass(frozen=True)
class SearchSettings:
    """How to search; the defaults are the tutorial's where it has any."""

    method: Literal["puct", "gumbel"] = "puct"
    """`puct` as in AlphaZero, or `gumbel`: sequential halving at the root, best with few simulations."""
    c_puct: float = 1.5
    """How much PUCT explores."""
    c_base: float = 0.0
    """If positive, c_puct grows by log((visits + c_base + 1) / c_base), as in AlphaZero (19652 there)."""
    fpu_reduction: float | None = None
    """None: a move not yet visited counts as 0, as in the tutorial. A number: as its node's value, less this times the
    root of the prior visited so far."""
    forced_playouts: float = 0.0
    """k: each visited move at the root gets at least √(k · prior · visits); 2 in KataGo. For self-play with noise."""
    virtual_loss: float = 0.0
    """With several leaves at once, a leaf in flight counts as a visit that brought what its move has brought so far,
    less this. More finds more leaves for a network call, and agrees less with one leaf at a time."""
    score_weight: float = 0.0
    """Weight of the score beside win and loss, if the network knows it: wins by more, and no nonsense when lost."""
    prior_temperature: float = 1.0
    """Priors are the network's policy to the power 1 / temperature; above 1 flatter: more moves are looked at."""
    noise_alpha: float = 0.3
    """Dirichlet noise at the root: how even it is."""
    noise_epsilon: float = 0.25
    """Dirichlet noise at the root: its share of the prior, where noise is asked for."""
    scale_noise: bool = False
    """Take 10.83 / number of legal moves for alpha, as KataGo does, in place of noise_alpha."""
    considered: int = 16
    """Gumbel: how many moves at the root enter the race."""
    by_moves: bool = False
    """Gumbel: where fewer moves are possible than are considered, fewer simulations, in proportion."""
    c_visit: float = 50.0
    """Gumbel: σ(q) = (c_visit + most visits) · c_scale · q."""
    c_scale: float = 1.0
    """Gumbel: see c_visit."""
    leaves: int = 1
    """How many leaves of one game go to the network at once, at most. From a new root, Gumbel finds the same then."""
    nodes: int = 4096
    """The most nodes a tree may have; beyond it, subtrees with the fewest visits go."""
    move_limit: int | None = None
    """A game of so many moves is over and scored as it stands; None: 3 · size² + 50."""

    def __post_init__(self) -> None:
        """ValueError, in one sentence, if a setting is impossible."""
        if self.method not in ("puct", "gumbel"):
            raise ValueError(f"unknown search method {self.method!r}: it is puct or gumbel")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is None and name in ("fpu_reduction", "move_limit"):
                continue
            kinds = int if isinstance(low, int) else (int, float)
            if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
                raise ValueError(f"search setting {name} is {value!r}: it is a number from {low} to {high}")

    def limit_for(self, size: int) -> int:
        """The move limit on a board of this size."""
        return 3 * size * size + 50 if self.move_limit is None else self.move_limit

    def options(self, size: int, has_score: bool) -> Options:
        """The settings as the kernels take them."""
        return Options(
            c_puct=float(self.c_puct),
            c_base=float(self.c_base),
            fpu_reduction=-1.0 if self.fpu_reduction is None else float(self.fpu_reduction),
            forced_playouts=float(self.forced_playouts),
            several=int(self.leaves > 1 and self.method == "puct"),
            virtual_loss=float(self.virtual_loss),
            score_weight=float(self.score_weight) if has_score else 0.0,
            prior_scale=1 / self.prior_temperature,
            gumbel=int(self.method == "gumbel"),
            c_visit=float(self.c_visit),
            c_scale=float(self.c_scale),
            move_limit=self.limit_for(size),
        )


def playing_settings(nodes: int, leaves: int = 8) -> SearchSettings:
    """How to search for the best move in a real game, or to analyse it; the tutorial's defaults are for learning."""
    return SearchSettings(c_puct=1.0, fpu_reduction=0.3, score_weight=0.1, leaves=leaves, virtual_loss=0.1, nodes=nodes)
