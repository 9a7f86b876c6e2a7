"""Both searches, slow and obvious: what the compiled trees are compared with. Imports nothing of the package.

A node holds a game of the reference rules; an edge is a move of a node. Everything an edge holds is from the view of
the player who chooses it. `evaluate(text)` says (value, priors by move or None, score) of a position for the player to
move in it, where `text` is the position as in `evaluators.key`.
"""

import copy
import math
from dataclasses import dataclass, field

import numpy as np

from tests.game.reference import BLACK, PASS


@dataclass
class Edge:
    prior: float
    visits: int = 0
    utility_sum: float = 0.0
    value_sum: float = 0.0
    score_sum: float = 0.0
    child: "Node | None" = None

    @property
    def q(self):
        return self.utility_sum / self.visits


@dataclass
class Node:
    game: object
    value: float
    score: float
    utility: float
    visits: int = 0
    edges: dict = field(default_factory=dict)  # by flat index, the pass last; none at the end of the game


@dataclass
class SlowSearch:
    """PUCT; `GumbelSearch` below chooses differently."""

    evaluate: object
    c_puct: float = 1.5
    c_base: float = 0.0
    fpu_reduction: float | None = None
    forced_playouts: float = 0.0
    score_weight: float = 0.0
    move_limit: int = 10**6
    root: Node | None = None

    def search(self, game, simulations):
        self.root = self.new_node(copy_of(game))
        for _ in range(simulations):
            self.simulate(self.root)
        return self.root

    def simulate(self, node):
        """One descent: what the leaf at its end is worth for the player to move at `node`."""
        node.visits += 1
        if not node.edges:
            return node.value, node.score, node.utility
        move = self.choose(node)
        edge = node.edges[move]
        if edge.child is None:
            game = copy_of(node.game)
            game.play(PASS if move == game.size**2 else divmod(move, game.size))
            edge.child = self.new_node(game)
            edge.child.visits = 1
            worth = edge.child.value, edge.child.score, edge.child.utility
        else:
            worth = self.simulate(edge.child)
        value, score, utility = (-part for part in worth)  # what is good for one player is bad for the other
        edge.visits += 1
        edge.value_sum += value
        edge.score_sum += score
        edge.utility_sum += utility
        return value, score, utility

    def new_node(self, game):
        size = game.size
        if game.is_over() or len(game.past) - 1 >= self.move_limit:
            points = game.score() if game.player == BLACK else -game.score()
            value = float(np.sign(points))
            return Node(game, value, points, self.utility(value, points, size))
        value, priors, points = self.evaluate(text_of(game))
        ended, for_pass = copy_of(game), 0.0
        ended.play(PASS)
        if ended.is_over():  # who may end the game by passing has at least what that brings
            by_passing = ended.score() if game.player == BLACK else -ended.score()
            result = float(np.sign(by_passing))
            if self.utility(result, by_passing, size) > self.utility(value, points, size):
                value, points, for_pass = result, by_passing, 0.5
        node = Node(game, value, points, self.utility(value, points, size))
        legal = game.legal_moves() - {PASS}
        moves = [*sorted(x * size + y for x, y in legal), size * size]
        weights = [1.0 if priors is None else max(priors.get(move, 0.0), 1e-9) for move in moves]
        for move, weight in zip(moves, weights, strict=True):
            node.edges[move] = Edge((1 - for_pass) * weight / sum(weights) + for_pass * (move == size * size))
        return node

    def utility(self, value, points, size):
        squashed = 2 / math.pi * math.atan(points / (2 * size))
        return (value + self.score_weight * squashed) / (1 + self.score_weight)

    def choose(self, node):
        """PUCT; `node.visits` counts the descent that is asking already, which the formula does not."""
        visits = node.visits - 1
        c = self.c_puct
        if self.c_base:
            c += math.log((visits + self.c_base + 1) / self.c_base)
        unvisited = 0.0
        if self.fpu_reduction is not None:
            seen = sum(edge.prior for edge in node.edges.values() if edge.visits)
            unvisited = node.utility - self.fpu_reduction * math.sqrt(seen)

        def puct(move):
            edge = node.edges[move]
            q = edge.q if edge.visits else unvisited
            return q + c * edge.prior * math.sqrt(max(1, visits)) / (1 + edge.visits)

        if node is self.root:
            for move, edge in node.edges.items():
                if edge.visits and edge.visits < math.sqrt(self.forced_playouts * edge.prior * max(1, visits)):
                    return move
        return first_best(node.edges, puct)


@dataclass
class GumbelSearch(SlowSearch):
    """Gumbel AlphaZero. `noise` is one number for each edge of the root, in their order."""

    considered: int = 16
    c_visit: float = 50.0
    c_scale: float = 1.0
    noise: tuple = ()
    next_move: int | None = None

    def search(self, game, simulations):
        self.root = self.new_node(copy_of(game))
        race = self.race(simulations)
        for _ in range(simulations):
            self.next_move = next(race)
            self.simulate(self.root)
        return self.root

    def choose(self, node):
        if node is self.root:
            return self.next_move
        policy = self.improved_policy(node)
        total = sum(edge.visits for edge in node.edges.values())
        return first_best(node.edges, lambda move: policy[move] - node.edges[move].visits / (1 + total))

    def race(self, simulations):
        """Sequential halving: the moves at the root in the order in which they are visited.

        A round gives each of its `racing` moves the same number of visits, one after the other, and always to the best
        of those that are next in turn; so the better half of a round, as it then stands, is what the next begins with.
        """
        racing = min(self.considered, len(self.root.edges))
        rounds = max(1, math.ceil(math.log2(racing)))
        level = 0
        while True:
            for _ in range(max(1, simulations // (rounds * racing))):
                for _ in range(racing):
                    in_turn = [move for move, edge in self.root.edges.items() if edge.visits == level]
                    yield first_best(in_turn, self.root_score)
                level += 1
            racing = racing if racing <= 2 else max(2, racing // 2)

    def root_score(self, move):
        position = list(self.root.edges).index(move)
        return self.improved_logits(self.root)[move] + (self.noise[position] if len(self.noise) else 0.0)

    def best_move(self):
        most = max(edge.visits for edge in self.root.edges.values())
        return max((m for m, edge in self.root.edges.items() if edge.visits == most), key=self.root_score)

    def improved_logits(self, node):
        visited = [edge for edge in node.edges.values() if edge.visits]
        total = sum(edge.visits for edge in visited)
        mixed = node.utility
        if visited:
            by_prior = sum(edge.prior * edge.q for edge in visited) / sum(edge.prior for edge in visited)
            mixed = (node.utility + total * by_prior) / (1 + total)
        scale = (self.c_visit + max((edge.visits for edge in visited), default=0)) * self.c_scale
        return {
            move: math.log(edge.prior) + scale * ((edge.q if edge.visits else mixed) + 1) / 2
            for move, edge in node.edges.items()
        }

    def improved_policy(self, node):
        logits = self.improved_logits(node)
        largest = max(logits.values())
        powers = {move: math.exp(logit - largest) for move, logit in logits.items()}
        return {move: power / sum(powers.values()) for move, power in powers.items()}


def first_best(moves, worth):
    """The move worth most; the first of several."""
    best = None
    for move in moves:
        if best is None or worth(move) > worth(best):
            best = move
    return best


def copy_of(game):
    twin = copy.copy(game)
    twin.past = list(game.past)
    twin.prisoners = dict(game.prisoners)
    return twin


def text_of(game):
    rows = ["".join(".XO"[game.stones.get((x, y), 0)] for y in range(game.size)) for x in range(game.size)]
    return " ".join([*rows, ".XO"[game.player]])
