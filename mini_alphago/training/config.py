"""Everything that can be set about a training run: one frozen tree of dataclasses, checked before anything starts."""

import json
import tomllib
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from typing import Any, Literal

from ..game import get_rules
from ..game.rules import check_komi
from ..mcts import SearchSettings
from ..model import ENCODINGS, NetworkConfig, katago_config, parse_size, tutorial_config


def _check_ranges(settings: Any, ranges: dict[str, tuple[float, float]]) -> None:
    """ValueError, in one sentence, for the first field that is no number within its range; None passes if allowed."""
    for name, (low, high) in ranges.items():
        value = getattr(settings, name)
        if value is None and "None" in str(type(settings).__annotations__[name]):
            continue
        kinds = int if isinstance(low, int) else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            kind = "a whole number" if isinstance(low, int) else "a number"
            raise ValueError(f"{name} is {value!r}: it is {kind} from {low:g} to {high:g}")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: it is one of {', '.join(choices)}")


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}: it is true or false")


@dataclass(frozen=True)
class NetworkSettings:
    """Which network is trained."""

    size: str = "b6c96"
    """Blocks and channels: b4c64, b6c96, b10c128, …; `mini-alphago models` lists what some of them cost."""
    family: Literal["katago", "tutorial"] = "katago"
    """`katago` has four heads, global pooling and fits every board; `tutorial` is the tutorial's policy and value."""
    encoding: Literal["katago", "alphazero", "tutorial", "katago-v7"] = "katago"
    """What the network sees: 22, 17 or 7 planes; katago-v7 is KataGo's own inputs and network, for KataGo to read."""

    def __post_init__(self) -> None:
        parse_size(self.size)
        _check_choice("family", self.family, ("katago", "tutorial"))
        _check_choice("encoding", self.encoding, ("katago", "alphazero", "tutorial", "katago-v7"))
        if self.encoding == "katago-v7" and self.family != "katago":
            raise ValueError("encoding katago-v7 is for networks of family katago")

    def config(self, board_size: int) -> NetworkConfig:
        """The network to build for boards of this size."""
        blocks, channels = parse_size(self.size)
        if self.family == "tutorial":
            planes = ENCODINGS[self.encoding].planes
            return tutorial_config(blocks, channels, board_size=board_size, input_planes=planes)
        return katago_config(blocks, channels, encoding=self.encoding)


@dataclass(frozen=True)
class SelfPlaySettings:
    """How games are made."""

    games: int = 256
    """How many are played at the same time."""
    groups: int = 1
    """In how many groups of equal size they move in turn: with 2, a GPU and the trees work at the same time."""
    method: Literal["gumbel", "puct"] = "gumbel"
    """Gumbel AlphaZero, best with few simulations, or PUCT as in AlphaZero and the tutorial."""
    simulations: int = 32
    """Simulations of a full search, whose policy is learned; with Gumbel fewer where few moves are possible."""
    late_simulations: int = 0
    """Simulations of a full search in the second half of a run that has a limit; 0: the same."""
    fast_simulations: int = 0
    """Playout cap randomisation: moves that are not searched in full get this many; 0: all are searched in full."""
    full_share: float = 0.25
    """Share of the moves searched in full, where there are fast ones."""
    decided_above: float | None = None
    """Fast searches only while a game is decided: the last five values, from -1 to 1, surer than this for one player.
    None: in all of it."""
    considered: int = 16
    """Gumbel: how many moves enter the race. Where fewer are possible, simulations are fewer in proportion."""
    c_scale: float = 1.0
    """Gumbel: how much the values that a search finds count beside the network's own policy."""
    leaves: int = 1
    """Gumbel: leaves of one game that go to the network at once, at most: fewer games make the same batch, or a larger
    one. What is found is the same."""
    c_puct: float = 1.5
    """PUCT: how much it explores."""
    fpu_reduction: float | None = None
    """PUCT: a move not yet visited counts as its node's value less this times the root of the prior visited; None: as
    0, as in the tutorial."""
    forced_playouts: float = 0.0
    """PUCT: forced playouts at the root, pruned from the target again; 2 in KataGo, 0: none."""
    noise_alpha: float = 0.3
    """PUCT: Dirichlet noise at the root of full searches."""
    noise_epsilon: float = 0.25
    """PUCT: its share of the prior."""
    sampled_moves: tuple[int, int] = (0, 8)
    """The first moves of a game are sampled from the policy: so many, drawn anew for each game between these two."""
    temperature: float = 1.0
    """Sampled moves are drawn with probabilities to the power 1 / temperature; 0: the best one."""
    random_openings: float = 0.05
    """Share of games that begin with one to four random moves."""
    rules: str = "cgos"
    """The rule set; area scoring."""
    komi: float = 7.0
    """What White gets; 7 is fair on 9×9."""
    komi_spread: float = 0.0
    """Half the games are played at other komis around it, with this standard deviation. The network must see komi."""
    move_limit: int | None = None
    """Games are cut after this many moves and scored as they stand; None: 1.5 · size²."""
    end_when_settled: bool = True
    """End a game as soon as every point is pass-alive for someone: nothing can change any more."""
    resign_below: float | None = None
    """A player resigns whose value was below this, from -1 to 0, for three moves in a row; None: nobody does."""
    resign_played_out: float = 0.1
    """Share of games without resignation, to see how many resigned games would have been won."""

    def __post_init__(self) -> None:
        _check_choice("method", self.method, ("gumbel", "puct"))
        _check_ranges(self, {
            "games": (1, 65536), "groups": (1, 8), "simulations": (1, 10_000), "late_simulations": (0, 10_000),
            "fast_simulations": (0, 10_000), "full_share": (0.01, 1.0), "decided_above": (0.0, 1.0),
            "leaves": (1, 1024), "temperature": (0.0, 100.0), "random_openings": (0.0, 1.0), "komi_spread": (0.0, 50.0),
            "move_limit": (2, 10_000), "resign_below": (-1.0, 0.0), "resign_played_out": (0.0, 1.0),
        })  # fmt: skip
        _check_flag("end_when_settled", self.end_when_settled)
        moves = self.sampled_moves
        if (
            not isinstance(moves, tuple)
            or len(moves) != 2
            or not all(type(m) is int and 0 <= m <= 10_000 for m in moves)
        ):
            raise ValueError(f"sampled_moves is {moves!r}: it is two whole numbers from 0 to 10000")
        if moves[0] > moves[1]:
            raise ValueError(f"sampled_moves is {moves!r}: the smaller number comes first")
        if self.games % self.groups:
            raise ValueError(f"groups is {self.groups}: {self.games} games cannot be shared evenly among them")
        if self.decided_above is not None and not self.fast_simulations:
            raise ValueError(f"decided_above is {self.decided_above}: it needs fast_simulations, of which there are 0")
        if self.method == "puct" and self.leaves != 1:
            raise ValueError(f"leaves is {self.leaves}: with PUCT, games that are learned from take one at a time")
        check_komi(self.komi)
        if get_rules(self.rules).scoring != "area":
            raise ValueError(f"rules is {self.rules!r}: self-play counts area: take cgos, chinese or tromp-taylor")
        self.search(5)

    def limit_for(self, size: int) -> int:
        """After how many moves a game on this board is cut."""
        return size * size * 3 // 2 if self.move_limit is None else self.move_limit

    def simulations_at(self, progress: float) -> int:
        """Simulations of a full search when so much of the run is over, from 0 to 1."""
        return self.late_simulations if self.late_simulations and progress >= 0.5 else self.simulations

    def nodes_for(self, simulations: int) -> int:
        """Room that a tree needs in full searches of so many simulations: no more, since far memory is slow."""
        return max(simulations, self.fast_simulations) + 1 + self.leaves

    def search(self, size: int) -> SearchSettings:
        """The settings of the search, as long as `simulations` says."""
        return SearchSettings(
            method=self.method,
            considered=self.considered,
            c_scale=self.c_scale,
            by_moves=True,
            leaves=self.leaves,
            c_puct=self.c_puct,
            fpu_reduction=self.fpu_reduction,
            forced_playouts=self.forced_playouts,
            noise_alpha=self.noise_alpha,
            noise_epsilon=self.noise_epsilon,
            move_limit=self.limit_for(size),
            nodes=self.nodes_for(self.simulations),
        )


@dataclass(frozen=True)
class ReplaySettings:
    """Which positions are learned from: the newest of them, a window that grows more slowly than the data."""

    minimum: int = 50_000
    """The window's size until there is more."""
    exponent: float = 0.75
    """From then on it is minimum · (positions / minimum) ^ exponent."""
    maximum: int = 1_500_000
    """The most positions it ever has."""

    def __post_init__(self) -> None:
        _check_ranges(self, {"minimum": (1, 10**9), "exponent": (0.0, 1.0), "maximum": (1, 10**9)})

    def window(self, positions: int) -> int:
        """How many of so many positions are in the window."""
        grown = self.minimum * (max(positions, self.minimum) / self.minimum) ** self.exponent
        return min(int(grown + 1e-6), self.maximum)  # what is whole must not be rounded down


@dataclass(frozen=True)
class LearningSettings:
    """How the network learns from them."""

    batch_size: int = 256
    """Positions in a training step."""
    uses: float = 4.0
    """How many times each position is used, on average."""
    optimizer: Literal["adamw", "muon", "sgd"] = "adamw"
    """AdamW; Muon, orthogonal steps for the tower, and AdamW for all else; or SGD with momentum 0.9. Each wants a
    learning rate of its own: 2e-3 for AdamW (weight decay 1e-4), 6e-3 for Muon (0.02)."""
    learning_rate: float = 2e-3
    """After the warm-up; flat for half of the run, then falling in a straight line."""
    final_rate: float = 0.1
    """What share of it is left at the end of the run."""
    warmup_steps: int = 50
    """Steps in which the learning rate rises to its value."""
    weight_decay: float = 1e-4
    """Of all weights but norms and biases."""
    clip: float = 2.0
    """The largest norm of a gradient; 0: any."""
    ema: float = 0.99
    """The averaged weights, which self-play and checkpoints use, keep this much of themselves a step; 0: none."""
    value_weight: float = 1.5
    """Weight of the value's squared error beside the policy's cross-entropy."""
    score_weight: float = 0.1
    """Weight of the final score's error (Huber, in board sizes), if the network says it."""
    ownership_weight: float = 1.0
    """Weight of the final ownership's squared error, likewise."""
    reply_weight: float = 0.0
    """Weight of the policy's error for the opponent's reply, by a head that is there for learning only; 0: none."""
    soft_weight: float = 0.0
    """Weight of the policy's error for the target to the power ¼, again by a head for learning only; 8 in KataGo."""
    surprise_weight: float = 0.0
    """Share of the samples that goes to positions whose search surprised the network, in proportion; 0.5 in KataGo."""
    search_value: float = 0.25
    """Share of the search's value in the value to learn; the rest is the result of the game."""
    value_horizon: float = 0.0
    """That value is an average over the searches of this move and the next ones, so many moves later in the mean."""
    precision: Literal["auto", "f32", "bf16"] = "auto"
    """`auto` computes in bf16 where the hardware is faster in it."""
    processes: int = 1
    """On how many devices a batch is learned, each taking its share; 0: on all GPUs of this machine."""

    def __post_init__(self) -> None:
        _check_choice("optimizer", self.optimizer, ("adamw", "muon", "sgd"))
        _check_choice("precision", self.precision, ("auto", "f32", "bf16"))
        _check_ranges(self, {
            "batch_size": (2, 65536), "uses": (0.01, 100.0), "learning_rate": (0.0, 10.0), "final_rate": (0.0, 1.0),
            "warmup_steps": (0, 10**6), "weight_decay": (0.0, 10.0), "clip": (0.0, 1e6), "ema": (0.0, 0.99999),
            "value_weight": (0.0, 100.0), "score_weight": (0.0, 100.0), "ownership_weight": (0.0, 100.0),
            "search_value": (0.0, 1.0), "value_horizon": (0.0, 1000.0), "surprise_weight": (0.0, 1.0),
            "reply_weight": (0.0, 100.0), "soft_weight": (0.0, 100.0), "processes": (0, 64),
        })  # fmt: skip
        if self.processes and self.batch_size % self.processes:
            raise ValueError(f"batch_size is {self.batch_size}: {self.processes} processes cannot share it evenly")


@dataclass(frozen=True)
class MeasureSettings:
    """How strength is measured while training."""

    every: int = 5
    """Iterations between measurements; 0: never."""
    games: int = 32
    """Games against each opponent, paired openings with colours swapped."""
    visits: int = 32
    """Visits a move of our networks in them."""
    opponents: tuple[str, ...] = ("random", "untrained", "previous")
    """random, untrained (the first network), previous (the one measured before), gnugo:LEVEL (if it is installed)."""
    opening_moves: int = 2
    """Random moves before each pair of games."""

    def __post_init__(self) -> None:
        _check_ranges(
            self, {"every": (0, 10**6), "games": (2, 10_000), "visits": (1, 10_000), "opening_moves": (0, 20)}
        )
        if not isinstance(self.opponents, tuple) or not all(isinstance(name, str) for name in self.opponents):
            raise ValueError(f"opponents is {self.opponents!r}: it is a list of names")
        if self.opening_moves == 0 and self.games > 2:
            raise ValueError("opening_moves is 0: all games would be the same two; it is at least 1, or games is 2")
        for name in self.opponents:
            kind, _, level = name.partition(":")
            known = kind in ("random", "untrained", "previous") and not level
            if not known and not (kind == "gnugo" and level.isdigit() and 0 <= int(level) <= 10):
                raise ValueError(f"no opponent {name!r}: they are random, untrained, previous, gnugo:0 … gnugo:10")


@dataclass(frozen=True)
class TrainingConfig:
    """All of a training run."""

    board_size: int = 9
    """5 to 19."""
    iterations: int | None = None
    """Stop after so many iterations; None: no limit."""
    minutes: float | None = None
    """Stop after so many minutes of work, over all sessions; None: no limit."""
    games_per_iteration: int = 200
    """Games finished between two rounds of training."""
    checkpoint_every: int = 1
    """Every so many iterations the network is kept for good; the newest one always is there."""
    seed: int = 1
    """All randomness comes from it."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1, … or mps."""
    threads: int | None = None
    """Cores to use; None: all."""
    network: NetworkSettings = field(default_factory=NetworkSettings)
    self_play: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    measure: MeasureSettings = field(default_factory=MeasureSettings)

    def __post_init__(self) -> None:
        _check_ranges(self, {
            "board_size": (5, 19), "iterations": (1, 10**7), "minutes": (0.0, 1e7), "games_per_iteration": (1, 10**6),
            "checkpoint_every": (1, 10**6), "seed": (0, 2**31 - 1), "threads": (1, 1024),
        })  # fmt: skip
        if not isinstance(self.device, str):
            raise ValueError(f"device is {self.device!r}: it is auto, cpu, cuda, cuda:1, … or mps")
        if self.self_play.komi_spread and not self.network.encoding.startswith("katago"):
            raise ValueError(
                f"komi_spread needs a network that sees komi: encoding katago, not {self.network.encoding}"
            )
        self.network.config(self.board_size)
        measure, most = self.measure, 2 * self.board_size**2
        if measure.every and measure.opening_moves == 1 and measure.games > most:
            raise ValueError(f"measure.games is {measure.games}: openings of one move are enough for {most}")


# --- on disk ----------------------------------------------------------------------------------------------------------


def to_toml(config: TrainingConfig) -> str:
    """The settings as TOML, each with its explanation left out; `from_toml` reads them back."""
    lines: list[str] = []
    values = asdict(config)
    for name, value in values.items():
        if not isinstance(value, dict) and value is not None:
            lines.append(f"{name} = {_toml_value(value)}")
    for name, table in values.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]", *(f"{key} = {_toml_value(v)}" for key, v in table.items() if v is not None)]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return repr(value)


def from_toml(text: str) -> TrainingConfig:
    """The settings that `to_toml` wrote, or a person did; what is left out has its default.

    ValueError, in one sentence, for anything unknown or impossible.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from None
    return _from_dict(TrainingConfig, values, "")


def _from_dict(kind: Any, values: dict[str, Any], where: str) -> Any:
    known = {f.name: f for f in fields(kind)}
    for name in values:
        if name not in known:
            raise ValueError(f"unknown setting {where}{name}: known are {', '.join(known)}")
    arguments = {}
    for name, value in values.items():
        factory = known[name].default_factory
        section = None if factory is MISSING else factory()
        if is_dataclass(section):
            if not isinstance(value, dict):
                raise ValueError(f"setting {where}{name} is a table of settings")
            arguments[name] = _from_dict(type(section), value, f"{where}{name}.")
        else:
            arguments[name] = tuple(value) if isinstance(value, list) else value
    return kind(**arguments)


__all__ = [
    "LearningSettings",
    "MeasureSettings",
    "NetworkSettings",
    "ReplaySettings",
    "SelfPlaySettings",
    "TrainingConfig",
    "from_toml",
    "to_toml",
]
