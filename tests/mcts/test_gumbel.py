"""The Gumbel search: its schedule, and that it improves on the policy it is given from two simulations on."""

from dataclasses import replace

import numpy as np
import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.mcts.gumbel import halving_schedule
from mini_alphago.model import Evaluation

from .evaluators import Hashed, Seen
from .invariants import check_tree, random_board

SIZE = 3
MOVES = SIZE * SIZE + 1
KOMI = -7.0  # White, asked after a pass of Black, gains nothing by passing too


# --- the schedule -----------------------------------------------------------------------------------------------------


def race(row, actions):
    """The visits of each action after a race by this row, the best action always first in line."""
    visits = [0] * actions
    for wanted in row:
        assert wanted in visits, "the schedule asks for an action that is not there"
        visits[visits.index(wanted)] += 1
    return visits


@pytest.mark.parametrize("simulations", [1, 2, 3, 4, 7, 16, 31, 32, 64, 100, 200, 801])
@pytest.mark.parametrize("considered", [1, 2, 3, 5, 8, 16, 23])
def test_the_schedule(considered, simulations):
    table = halving_schedule(considered, simulations)
    assert table.shape == (considered + 1, simulations)
    for actions in range(1, considered + 1):
        visits = race(table[actions], actions)
        assert sum(visits) == simulations
        assert sum(v > 0 for v in visits) == min(actions, simulations)
        assert visits == sorted(visits, reverse=True)
        if actions > 1 and simulations > 2 * actions * np.log2(actions) + 2:
            assert visits[0] - visits[1] <= 1, "the last two take turns"


def test_schedules_by_hand():
    """16 actions and 200 simulations: four rounds of 48, the rest for the last two; and what small numbers come to."""
    assert race(halving_schedule(16, 200)[16], 16) == [49, 49, 21, 21] + [9] * 4 + [3] * 8
    assert halving_schedule(4, 8)[4].tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert halving_schedule(2, 5)[2].tolist() == [0, 0, 1, 1, 2]
    assert halving_schedule(1, 3)[1].tolist() == [0, 1, 2]
    assert halving_schedule(16, 2)[16].tolist() == [0, 0]


# --- bandits ----------------------------------------------------------------------------------------------------------


class Bandits:
    """In game g the first move a is worth `values[g, a]` to who makes it, whatever comes after; priors at the root."""

    def __init__(self, games, seed=0, sharpness=1.0):
        rng = np.random.default_rng([seed, 1])  # not the search's own numbers again
        self.values = rng.uniform(-0.95, 0.95, (games, MOVES))
        self.logits = sharpness * rng.normal(size=(games, MOVES)).astype(np.float32)
        weights = np.exp(self.logits.astype(np.float64))
        self.priors = weights / weights.sum(axis=1, keepdims=True)

    def evaluate(self, states):
        rows, depth = np.arange(len(states.info)), states.info["move_count"]
        value = self.values[rows, states.moves["point"][:, 0]] * np.where(depth % 2 == 1, -1, 1)
        at_root = depth == 0
        value = np.where(at_root, (self.priors * self.values).sum(axis=1), value)
        policy = np.zeros((len(rows), MOVES), np.float32)
        policy[:, -1] = -30  # two passes would end the game, and be scored by its rules
        policy[at_root] = self.logits[at_root]
        return Evaluation(policy, value.astype(np.float32), None, None)


def play_bandits(games, simulations, noise=True, seed=0, **settings):
    bandits = Bandits(games, seed)
    search = Search(bandits, games, SIZE, SearchSettings(method="gumbel", nodes=64, **settings), seed=seed)
    for g in range(games):
        search.set_board(Board(SIZE, komi=KOMI), g)
    search.run(simulations, noise=noise)
    return bandits, search


def gains(bandits, policies):
    """By how much each policy is worth more than the prior."""
    return ((policies - bandits.priors) * bandits.values).sum(axis=1)


@pytest.mark.parametrize("simulations", [2, 4, 16])
@pytest.mark.parametrize("considered", [2, 4, 16])
def test_the_improved_policy_is_better_than_the_prior(simulations, considered):
    bandits, search = play_bandits(400, simulations, considered=considered)
    gain = gains(bandits, search.improved_policies())
    assert gain.mean() >= 0.2
    if simulations >= MOVES and considered >= MOVES:  # everything is known: then it holds of every single table
        assert gain.min() >= -1e-5
        best = search.improved_policies().argmax(axis=1)
        assert (np.take_along_axis(bandits.values, best[:, None], 1)[:, 0] >= bandits.values.max(axis=1) - 0.2).all()


@pytest.mark.parametrize("simulations", [2, 4, 16])
def test_the_move_played_is_better_than_a_draw_from_the_prior(simulations):
    """Over tables and Gumbel noise: the theorem of the paper, for the move chosen."""
    bandits, search = play_bandits(800, simulations, considered=16)
    chosen = np.array([search.best_move(g) for g in range(800)])
    gain = bandits.values[np.arange(800), chosen] - (bandits.priors * bandits.values).sum(axis=1)
    assert gain.mean() >= 0.1


@pytest.mark.parametrize("simulations", [2, 4, 16])
def test_the_search_does_what_the_table_says(simulations):
    """Each visited move has exactly the value of the table, at every depth."""
    bandits, search = play_bandits(40, simulations)
    for g in range(40):
        check_tree(search, g, never_cut=True, replayed=0)
        for move in search.root_moves(g):
            if move.visits:
                index = move.move[0] * SIZE + move.move[1] if move.move[0] >= 0 else MOVES - 1
                assert move.value == pytest.approx(bandits.values[g, index], abs=1e-5)


def test_the_improved_policy_by_hand():
    """softmax(log prior + σ(completed Q)), written out in numpy."""
    bandits, search = play_bandits(60, 6, considered=4)
    visits = search.visit_counts()
    for g in range(60):
        n, q, prior = visits[g], bandits.values[g], bandits.priors[g]
        seen = n > 0
        own = (prior * q).sum()
        mixed = (own + n.sum() * (prior * q)[seen].sum() / prior[seen].sum()) / (1 + n.sum())
        completed = (np.where(seen, q, mixed) + 1) / 2
        logits = np.log(prior) + (50 + n.max()) * completed
        expected = np.exp(logits - logits.max())
        np.testing.assert_allclose(search.improved_policies()[g], expected / expected.sum(), atol=2e-4)


@pytest.mark.parametrize(("simulations", "considered"), [(2, 16), (5, 16), (16, 2), (30, 5), (64, 16), (9, 1)])
def test_how_many_moves_race(simulations, considered):
    """No more than are considered, than are legal, than there are simulations; and by the schedule."""
    _, search = play_bandits(50, simulations, considered=considered)
    racing = min(considered, MOVES)
    expected = sorted(race(halving_schedule(considered, simulations)[racing], racing), reverse=True)
    for counts in search.visit_counts():
        assert sorted(counts.tolist(), reverse=True)[:racing] == expected
        assert (counts > 0).sum() == min(racing, simulations)


def test_without_noise_the_likeliest_moves_race_and_nothing_is_left_to_chance():
    bandits, search = play_bandits(50, 4, noise=False, considered=4, seed=3)
    _, again = play_bandits(50, 4, noise=False, considered=4, seed=3)
    other = Search(bandits, 50, SIZE, search.settings, seed=77)
    for g in range(50):
        other.set_board(Board(SIZE, komi=KOMI), g)
    other.run(4)
    np.testing.assert_array_equal(search.visit_counts(), again.visit_counts())
    np.testing.assert_array_equal(search.visit_counts(), other.visit_counts())
    np.testing.assert_array_equal(search.improved_policies(), other.improved_policies())
    for g, counts in enumerate(search.visit_counts()):
        assert set(np.flatnonzero(counts)) == set(np.argsort(bandits.priors[g])[-4:])


def test_with_noise_moves_are_drawn_by_the_prior():
    """Of one simulation's move, the Gumbel trick makes an exact draw from the prior."""
    bandits = Bandits(1, seed=1)
    bandits.values, bandits.logits, bandits.priors = (
        np.repeat(part, 3000, axis=0) for part in (bandits.values, bandits.logits, bandits.priors)
    )
    search = Search(bandits, 3000, SIZE, SearchSettings(method="gumbel", nodes=4), seed=9)
    for g in range(3000):
        search.set_board(Board(SIZE), g)
    search.run(1, noise=True)
    shares = search.visit_counts().mean(axis=0)
    np.testing.assert_allclose(shares, bandits.priors[0], atol=4 * np.sqrt(0.25 / 3000))


# --- on real positions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("simulations", [1, 2, 5, 16, 40])
def test_policies_and_moves_on_random_positions(simulations):
    rng = np.random.default_rng(simulations)
    boards = [random_board(rng, (2, 5)) for _ in range(60)]
    search = Search(Hashed(), 6, 5, SearchSettings(method="gumbel", considered=8), seed=4)
    for turn in range(0, 60, 6):
        for g in range(6):
            search.set_board(boards[turn + g], g)
        search.run(simulations, noise=True)
        policies, visits = search.improved_policies(), search.visit_counts()
        for g, board in enumerate(boards[turn : turn + 6]):
            if board.is_game_over():
                assert not policies[g].any()
                continue
            legal = {x * board.size + y if x >= 0 else board.size**2 for x, y in board.get_legal_moves()}
            assert policies[g].sum() == pytest.approx(1, abs=1e-5)
            assert (policies[g] >= 0).all()
            assert set(np.flatnonzero(policies[g])) <= legal
            assert visits[g, search.best_move(g)] == visits[g].max()


def test_one_legal_move():
    """Only the pass: it races alone."""
    board = Board.from_diagram("""
        X . X
        X X X
        X X .
    """)
    board.current_player = Board.WHITE
    assert board.get_legal_moves() == [(-1, -1)]
    search = Search(Hashed(), 1, 3, SearchSettings(method="gumbel"), seed=0)
    search.set_board(board)
    search.run(10, noise=True)
    assert search.best_move() == 9
    assert search.improved_policies()[0].tolist() == [0] * 9 + [1]


@pytest.mark.parametrize("first", [4, 16, 32])
def test_a_search_that_goes_on_wastes_nothing(first):
    """With a tree kept from earlier, what is visited further still are good moves: never any one for its place."""
    bandits, search = play_bandits(100, first, noise=False, seed=5)
    for simulations in (2 * first, 3 * first + 5, 200):
        before = search.visit_counts()
        search.run(simulations)
        assert (search.visit_counts().sum(axis=1) == simulations).all()
    more = search.visit_counts() - before
    assert gains(bandits, more / more.sum(axis=1, keepdims=True)).mean() > 0.3


def test_the_best_move_is_listed_first():
    for seed in range(5):
        _, search = play_bandits(40, 7, seed=seed)
        for g in range(40):
            x, y = search.root_moves(g)[0].move
            assert (x * SIZE + y if x >= 0 else MOVES - 1) == search.best_move(g)


def test_games_with_fewer_visits_finish_their_race_too():
    """Limits may differ from game to game: each halves by its own, so that two moves are left in the end."""
    bandits = Bandits(2)
    search = Search(bandits, 2, SIZE, SearchSettings(method="gumbel", considered=8), seed=0)
    for g in range(2):
        search.set_board(Board(SIZE), g)
    search.run([16, 200])
    expected = race(halving_schedule(8, 16)[8], 8)
    assert sorted(search.visit_counts()[0].tolist(), reverse=True)[:8] == expected


def test_fewer_simulations_where_few_moves_are_possible():
    """In proportion to the moves that race, and rounded up; a search of fewer moves finds what it would have found."""
    rng = np.random.default_rng(3)
    games, settings = 30, SearchSettings(method="gumbel", considered=8, by_moves=True)
    search, plain = Search(Hashed(), games, 4, settings), Search(Hashed(), games, 4, replace(settings, by_moves=False))
    for g in range(games):
        board = random_board(rng, (4, 4), int(rng.integers(0, 40)))
        search.set_board(board, g)
        plain.set_board(board, g)
    search.run(20)
    possible = [len(search.root_moves(g)) for g in range(games)]
    assert {*possible} & {1, 2, 3}
    assert max(possible) > 8
    expected = [int(np.ceil(20 * min(moves, 8) / 8)) if moves else 0 for moves in possible]
    assert [search.root_visits(g) for g in range(games)] == expected
    plain.run(expected)
    for found, wanted in zip(search.summary(), plain.summary(), strict=True):
        np.testing.assert_array_equal(found, wanted)


# --- several leaves at once -------------------------------------------------------------------------------------------


def raced(evaluator, leaves, considered, targets, noise):
    """Games on random boards, some of them nearly over, each searched as `targets` and `noise` say."""
    settings = SearchSettings(
        method="gumbel", leaves=leaves, considered=considered, nodes=int(max(targets)) + 1 + leaves
    )
    search = Search(evaluator, len(targets), 5, settings, seed=7)
    rng = np.random.default_rng(3)
    for g in range(len(targets)):
        search.set_board(random_board(rng, (5, 5), int(rng.integers(0, 60))), g)
    search.run(targets, noise)
    return search


@pytest.mark.parametrize("kind", ["tutorial", "katago", "katago-v7", "none"])
@pytest.mark.parametrize(("considered", "most"), [(16, 32), (16, 64), (7, 50), (2, 20), (1, 6), (26, 9)])
def test_several_leaves_find_what_one_finds(kind, considered, most):
    """Bit by bit, in fewer questions: the moves of a round of the race have nothing to do with each other."""
    rng = np.random.default_rng(considered)
    targets, noise = rng.choice([0, most // 3, most], 24), rng.random(24) < 0.7
    one = raced(Hashed() if kind == "none" else Seen(kind), 1, considered, targets, noise)
    for leaves in (2, 5, 16):
        evaluator = Hashed() if kind == "none" else Seen(kind)
        many = raced(evaluator, leaves, considered, targets, noise)
        for found, expected in zip(many.summary(), one.summary(), strict=True):
            np.testing.assert_array_equal(found, expected)
        assert many.evaluations == one.evaluations
        for g in range(len(targets)):
            assert many.root_visits(g) == one.root_visits(g)
            check_tree(many, g, never_cut=True)
        if kind != "none" and considered > 1:
            assert len(evaluator.asked) < len(one.evaluator.asked)
            assert sum(evaluator.asked) < 1.4 * many.evaluations, "the network is asked about little else"
