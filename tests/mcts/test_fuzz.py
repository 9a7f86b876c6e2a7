"""Random positions, limits, re-roots and tree sizes: whatever is done, the trees stay sound."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.model import Evaluation

from .invariants import check_tree, random_board

VISITS = st.integers(0, 60)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), VISITS, st.booleans()),
        st.tuples(st.just("run each"), st.integers(0, 2**31)),
        st.tuples(st.just("advance"), st.booleans(), st.integers(0, 2**31)),
        st.tuples(st.just("set"), st.integers(0, 2**31)),
        st.tuples(st.just("forget")),
        st.tuples(st.just("think"), st.sampled_from(["visits", "seconds", "stop"]), VISITS),
    ),
    min_size=1,
    max_size=10,
)


@st.composite
def settings_of_a_search(draw):
    return SearchSettings(
        method=draw(st.sampled_from(["puct", "gumbel"])),
        leaves=draw(st.integers(1, 16)),
        nodes=draw(st.one_of(st.integers(2, 40), st.just(2000))),
        move_limit=draw(st.sampled_from([None, None, None, 6, 60])),
        c_base=draw(st.sampled_from([0.0, 100.0])),
        fpu_reduction=draw(st.sampled_from([None, 0.2])),
        forced_playouts=draw(st.sampled_from([0.0, 2.0])),
        virtual_loss=draw(st.sampled_from([0.0, 1.0, 3.0])),
        score_weight=draw(st.sampled_from([0.0, 0.3])),
        considered=draw(st.sampled_from([1, 2, 5, 16])),
        scale_noise=draw(st.booleans()),
    )


class Waves:
    """Any smooth nonsense: values and policies from the hash of the position, for a whole batch at once."""

    def evaluate(self, states):
        seeds = (states.info["hash"] % 9973 + 31 * states.info["to_move"]).astype(np.float32)
        points = np.arange(states.color.shape[1], dtype=np.float32)
        policy = 2 * np.sin(seeds[:, None] * (0.1 + points))
        return Evaluation(policy, np.sin(seeds), 30 * np.cos(seeds), None)


class Fuzz:
    """A search, the boards that its games should stand as, and the steps that can be taken."""

    def __init__(self, games, settings, seed):
        self.rng = np.random.default_rng(seed)
        self.size = int(self.rng.integers(2, 10))
        self.search = Search(Waves(), games, self.size, settings, seed=seed)
        self.boards = [None] * games
        for g in range(games):
            self.set_board(g)

    def set_board(self, g):
        self.boards[g] = random_board(self.rng, (2, self.size))
        self.search.set_board(self.boards[g], g)

    def is_over(self, g):
        board = self.boards[g]
        return board.is_game_over() or board.move_count >= self.search.options.move_limit

    def take(self, step, *arguments):
        getattr(self, step.replace(" ", "_"))(*arguments)
        self.check()

    def run(self, visits, noise):
        self.run_to(np.full(len(self.boards), visits), noise)

    def run_each(self, seed):
        self.run_to(np.random.default_rng(seed).integers(0, 61, len(self.boards)))

    def run_to(self, targets, noise=False):
        before = [self.search.root_visits(g) for g in range(len(self.boards))]
        self.search.run(targets, noise=noise)
        for g, target in enumerate(targets):
            if self.is_over(g):
                with pytest.raises(ValueError, match="the game is over"):
                    self.search.best_move(g)
            else:
                assert self.search.root_visits(g) == max(before[g], target)
                assert self.search.best_move(g) in self.legal(g)

    def legal(self, g):
        size = self.boards[g].size
        return [x * size + y if x >= 0 else size * size for x, y in self.boards[g].get_legal_moves()]

    def advance(self, keep_tree, seed):
        rng = np.random.default_rng(seed)
        for g, board in enumerate(self.boards):
            if self.is_over(g):
                continue
            visited = np.flatnonzero(self.search.visit_counts()[g])
            move = int(rng.choice(visited if len(visited) and rng.random() < 0.8 else self.legal(g)))
            expected = self.search.visit_counts()[g, move] - 1 if keep_tree and len(visited) else 0
            self.search.advance(move, g, keep_tree)
            if move == board.size**2:
                board.pass_move()
            else:
                assert board.play(*divmod(move, board.size))
            if not self.is_over(g) and self.search.settings.nodes == 2000:
                assert self.search.root_visits(g) == max(0, expected)

    def set(self, seed):
        self.rng = np.random.default_rng(seed)
        self.set_board(int(self.rng.integers(len(self.boards))))

    def forget(self):
        self.search.forget()
        assert not self.search.visit_counts().any()

    def think(self, limit, visits):
        before = self.search.root_visits()
        asked = []
        limits = {
            "visits": {"visits": visits},
            "seconds": {"seconds": 0.0, "visits": 10**6},
            "stop": {"stop": lambda: asked.append(1) or len(asked) == 3, "visits": 10**6},
        }
        seen = list(self.search.think(**limits[limit]))
        assert seen == sorted(seen)
        if self.is_over(0):
            assert not seen
        elif limit == "visits":
            assert self.search.root_visits() == max(before, visits)
        else:
            assert self.search.root_visits() > before
            assert len(seen) == (3 if limit == "stop" else 1) or self.search.root_visits() == 10**6

    def check(self):
        settings = self.search.settings
        for g, board in enumerate(self.boards):
            np.testing.assert_array_equal(self.search.roots.color[g, : board.size**2], board.board.reshape(-1))
            check_tree(self.search, g, never_cut=settings.nodes == 2000, replayed=1)


def fuzz(games, examples):
    """A test of that many random searches of that many games each."""

    @hypothesis_settings(
        max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(settings_of_a_search(), st.integers(0, 2**31), STEPS)
    def run(settings, seed, steps):
        play = Fuzz(games, settings, seed)
        play.take("run", 8, False)
        for step in steps:
            play.take(*step)

    return run


test_one_game = fuzz(1, 150)
test_three_games = fuzz(3, 100)
test_twelve_games_on_all_threads = fuzz(12, 20)


def test_thousands_of_positions():
    """Two thousand positions of all sizes and rules, six at a time, each in a search of its own settings."""
    rng = np.random.default_rng(5)
    searches = []
    for method, leaves, nodes in (
        ("puct", 1, 200),
        ("puct", 8, 30),
        ("puct", 16, 400),
        ("gumbel", 1, 200),
        ("gumbel", 8, 200),
    ):
        searches.append(Search(Waves(), 6, 9, SearchSettings(method=method, leaves=leaves, nodes=nodes), seed=1))
    for turn in range(336):
        search = searches[turn % len(searches)]
        boards = [random_board(rng) for _ in range(6)]
        for g, board in enumerate(boards):
            search.set_board(board, g)
        targets = rng.integers(1, 80, 6)
        search.run(targets, noise=True)
        for g, board in enumerate(boards):
            assert board.is_game_over() or search.root_visits(g) == targets[g]
            check_tree(search, g, never_cut=search.settings.nodes >= 200, replayed=1, seed=turn)


@pytest.mark.parametrize("leaves", [1, 4, 16])
def test_memory_is_bounded_however_long_one_thinks(leaves):
    search = Search(Waves(), 1, 5, SearchSettings(nodes=60, leaves=leaves))
    search.set_board(Board(5))
    for visits in range(100, 3000, 100):
        search.run(visits)
        check_tree(search)
        assert search.root_visits() == visits


def test_the_root_stays_when_there_is_room_for_little_else():
    search = Search(Waves(), 1, 5, SearchSettings(nodes=2, leaves=16))
    search.set_board(Board(5))
    search.run(200)
    check_tree(search)
    assert search.visit_counts().sum() == 200
