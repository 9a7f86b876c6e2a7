"""How a batch of search trees lies in memory."""

from typing import NamedTuple

import numpy as np

NO_NODE, PENDING = -1, -2
NEW, TERMINAL, COLLISION, IDLE = 0, 1, 2, 3  # what a descent ended at; IDLE: there was none

NODE = np.dtype(
    [
        ("first_edge", np.int32),
        ("edge_count", np.int32),
        ("seen", np.int32),  # edges with visits: they come first, and then the one with the largest prior of the others
        ("visits", np.int32),  # descents through this node; at the root not its own evaluation
        ("terminal", np.int32),
        ("value", np.float32),  # of its own evaluation, for the player to move: win 1, loss -1
        ("score", np.float32),  # points, likewise
        ("utility", np.float32),  # what the search maximises: value, and a little of the score
    ],
    align=True,
)

EDGE = np.dtype(  # a million visits need sums in float64
    [
        ("utility_sum", np.float64),
        ("value_sum", np.float64),
        ("score_sum", np.float64),
        ("visits", np.int32),
        ("child", np.int32),  # a node, NO_NODE, or PENDING while its evaluation is out
    ],
    align=True,
)


class Trees(NamedTuple):
    """A batch of trees of up to N nodes and E edges each.

    What a new node must write is kept small: records of edges mean something for the first `seen` + 1 edges of a node,
    and for all edges of the root. Sums mean nothing while `visits` is 0.
    """

    node_count: np.ndarray  # [games] int32; node 0 is the root
    edge_count: np.ndarray  # [games] int32
    nodes: np.ndarray  # [games, N] NODE
    move: np.ndarray  # [games, E] int16, flat index
    prior: np.ndarray  # [games, E] float32
    edges: np.ndarray  # [games, E] EDGE
    gumbel: np.ndarray  # [games, A] float32: noise on the root's moves, by flat index
    race: np.ndarray  # [games] int32: which halving schedule a game follows
    racers: np.ndarray  # [games] int32: how many moves are in `order`; 0 if no race has begun at this root
    order: np.ndarray  # [games, A] int16: the root's moves in the race, by log prior + noise, the largest first
    new_index: np.ndarray  # [games, N] int32: scratch of `cut`


class Leaves(NamedTuple):
    """Descents that wait for the network: `slots` = games × leaves of each game. Their positions are kept apart.

    What the network is asked stands in rows, as many as there are slots: those in use come first, see `plan_rows`; or,
    where leaves are not encoded here, each slot has the row of its own number.
    (Numba's parallel loops take no NamedTuple within another.)
    """

    size: np.ndarray  # [slots] int32: of the board
    row: np.ndarray  # [slots] int32: where the network is asked about it, and where its answer stands
    path: np.ndarray  # [slots, M] int32: edges from the root
    loan: np.ndarray  # [slots, M] float64: what each of them was given in advance of the answer
    length: np.ndarray  # [slots] int32
    status: np.ndarray  # [slots] int32: NEW, TERMINAL, COLLISION or IDLE
    reasons: np.ndarray  # [slots, A] uint8: legality of each move there
    by_passing: np.ndarray  # [slots] float64: points of the player to move if a pass ends the game there; else NaN
    planes: np.ndarray  # [rows, planes, width²] int8: what the network sees
    asked_size: np.ndarray  # [rows] int32: of the board there
    owner: np.ndarray  # [slots, A] int8: scratch of scoring
    stack: np.ndarray  # [slots, A] int16: scratch of scoring


class Answers(NamedTuple):
    """What the network said of the leaves, for the player to move in each."""

    policy: np.ndarray  # [rows, width² + 1] float32 logits
    value: np.ndarray  # [rows] float32
    score: np.ndarray  # [rows] float32 points; zeros if the network does not say


class Options(NamedTuple):
    """What steers the compiled search; made by `SearchSettings`."""

    c_puct: float
    c_base: float  # c_puct grows by log((visits + c_base + 1) / c_base); 0: it does not
    fpu_reduction: float  # an unvisited edge counts as its node less this × √(prior visited); negative: as 0
    forced_playouts: float  # k of √(k · prior · visits) at the root; 0: none are forced
    several: int  # 1: several leaves of a game are out at once
    virtual_loss: float  # what a leaf out for evaluation is expected to bring less than the mean of its edge
    score_weight: float
    prior_scale: float  # logits of the network are multiplied by this before they become priors
    gumbel: int  # 1: Gumbel AlphaZero instead of PUCT
    c_visit: float
    c_scale: float
    move_limit: int  # a game of this many moves is over


def new_trees(games: int, nodes: int, points: int) -> Trees:
    """Empty trees; `points` = size² + 1 moves at most in any position. The system hands out memory as they grow."""
    edges = nodes * points
    return Trees(
        node_count=np.zeros(games, np.int32),
        edge_count=np.zeros(games, np.int32),
        nodes=np.zeros((games, nodes), NODE),
        move=np.zeros((games, edges), np.int16),
        prior=np.zeros((games, edges), np.float32),
        edges=np.zeros((games, edges), EDGE),
        gumbel=np.zeros((games, points), np.float32),
        race=np.zeros(games, np.int32),
        racers=np.zeros(games, np.int32),
        order=np.zeros((games, points), np.int16),
        new_index=np.zeros((games, nodes), np.int32),
    )


def node_bytes(points: int) -> int:
    """Memory of one node of a tree with an edge for each of `points` = size² + 1 moves."""
    one = new_trees(1, 1, 1)
    per_edge = one.move.itemsize + one.prior.itemsize + one.edges.itemsize
    return per_edge * points + one.nodes.itemsize + one.new_index.itemsize


def new_leaves(slots: int, size: int, max_moves: int, planes: int) -> Leaves:
    """Room for that many descents on boards up to `size`, in games of up to `max_moves`."""
    points = size * size + 1
    return Leaves(
        size=np.full(slots, size, np.int32),
        row=np.arange(slots, dtype=np.int32),
        path=np.zeros((slots, max_moves), np.int32),
        loan=np.zeros((slots, max_moves), np.float64),
        length=np.zeros(slots, np.int32),
        status=np.full(slots, IDLE, np.int32),
        reasons=np.zeros((slots, points), np.uint8),
        by_passing=np.full(slots, np.nan),
        planes=np.zeros((slots, planes, size * size), np.int8),
        asked_size=np.full(slots, size, np.int32),
        owner=np.zeros((slots, points), np.int8),
        stack=np.zeros((slots, points), np.int16),
    )
