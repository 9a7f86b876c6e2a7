"""Self-play: its games are games of Go, and what is recorded of them is true."""

from dataclasses import replace

import numpy as np
import pytest

from mini_alphago.game import BLACK, WHITE
from mini_alphago.model import Evaluation
from mini_alphago.training import SelfPlay, SelfPlaySettings
from mini_alphago.training.records import LIMIT, PASSES, POLICY_UNIT, RESIGNED, SETTLED, join_records, record_board
from mini_alphago.training.self_play import Step, _sample

from ..game.reference import ownership as slow_ownership
from ..mcts.evaluators import Hashed, Seen, Uniform
from .made_up import assert_same, finish_games

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

SIZE, PASS = 5, 25
FEW = SelfPlaySettings(games=4, simulations=6, considered=4, komi=0.5)


class Doomed:
    """Thinks that `player` loses, whatever happens; all moves alike but the pass, which is not for it."""

    def __init__(self, player):
        self.player = player

    def evaluate(self, states):
        count, points = states.color.shape
        value = np.where(states.info["to_move"] == self.player, -0.99, 0.99).astype(np.float32)
        policy = np.zeros((count, points), np.float32)
        policy[:, -1] = -30
        return Evaluation(policy, value, None, None)


def _play_all(settings, games, evaluator=None, seed=0, size=SIZE, **more):
    play = SelfPlay(evaluator or Hashed(), size, settings, seed, games_wanted=games, **more)
    return join_records(list(finish_games(play)), size)


def _step(play, move=PASS, value=0.0):
    """A step made up: the same move everywhere."""
    slots, points = play.settings.games, play.size**2 + 1
    return Step(
        np.full(slots, move, np.int16), np.zeros((slots, points), np.uint16), np.full(slots, value, np.float32),
        np.ones(slots, np.uint8),
    )  # fmt: skip


def _rows(records, g):
    return slice(int(records.first[g]), int(records.first[g] + records.length[g]))


def test_leaves_at_once_change_no_game():
    settings = replace(FEW, simulations=24, considered=16, fast_simulations=5, full_share=0.5)
    one = _play_all(settings, 10, Seen())
    assert_same(_play_all(replace(settings, leaves=4), 10, Seen()), one)
    with pytest.raises(ValueError, match=r"^leaves is 4: with PUCT, "):
        replace(FEW, method="puct", leaves=4)


# --- the games --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        pytest.param("cgos", {}, id="gumbel"),
        pytest.param("cgos", {"method": "puct", "end_when_settled": False}, id="puct"),
        pytest.param("tromp-taylor", {"random_openings": 1.0, "komi_spread": 2.0}, id="suicide, openings, komis"),
        pytest.param("chinese", {"method": "puct", "move_limit": 30, "forced_playouts": 2.0}, id="simple ko, short"),
    ],
)
def test_games_are_legal_and_their_results_right(rules, changes):
    """Replayed on a Board; ownership flooded slowly, or by what is pass-alive if the game was settled."""
    settings = replace(FEW, rules=rules, **changes)
    records = _play_all(settings, 10, Hashed(seed=3, sharpness=2.0))
    assert sorted(records.id.tolist()) == list(range(10))
    for g in range(10):
        length, ending = int(records.length[g]), records.ending[g]
        board = record_board(records, g, rules)  # raises if a move is illegal, or comes after the end
        assert length == board.move_count <= settings.limit_for(SIZE)
        assert (ending == PASSES) == board.is_game_over()
        assert ending != LIMIT or length == settings.limit_for(SIZE)
        stones = {(int(x), int(y)): int(board.board[x, y]) for x, y in np.argwhere(board.board)}
        owner = slow_ownership(SIZE, stones)
        if ending == SETTLED:
            assert settings.end_when_settled
            owner = {p: player for player in (BLACK, WHITE) for part in board.pass_alive(player) for p in part}
            assert len(owner) == SIZE * SIZE
        else:
            assert records.score[g] == board.score()
        expected = [{BLACK: 1, WHITE: -1}.get(owner.get(p), 0) for p in np.ndindex(SIZE, SIZE)]
        assert records.ownership[g].tolist() == expected
        assert records.score[g] == sum(expected) - records.komi[g]
        before = record_board(records, g, rules, moves=length - 1)
        alive = sum(len(part) for player in (BLACK, WHITE) for part in before.pass_alive(player))
        assert not settings.end_when_settled or alive < SIZE * SIZE or length - 1 <= 12, "it ended as soon as it could"
    assert set(records.ending.tolist()) <= {PASSES, LIMIT, SETTLED}


def test_every_way_to_end_was_seen():
    found = {*_play_all(FEW, 24).ending.tolist(), *_play_all(replace(FEW, move_limit=8), 4).ending.tolist()}
    likes_passing = Hashed(seed=1, sharpness=4.0)
    found |= set(_play_all(replace(FEW, method="puct", end_when_settled=False), 12, likes_passing).ending.tolist())
    assert found == {PASSES, LIMIT, SETTLED}


def test_same_seed_same_games():
    first = _play_all(FEW, 5, seed=7)
    assert_same(_play_all(FEW, 5, seed=7), first)
    other = _play_all(FEW, 5, seed=8)
    assert other.move.tolist() != first.move.tolist()


def test_a_slot_starts_the_next_game_at_once():
    play = SelfPlay(Uniform(), SIZE, replace(FEW, random_openings=0.0))
    assert len(play.apply(_step(play)).id) == 0
    play.version = 5
    ended = play.apply(_step(play))
    assert ended.id.tolist() == [0, 1, 2, 3]
    assert set(ended.ending.tolist()) == {PASSES}
    assert set(ended.version.tolist()) == {5}
    assert ended.score.tolist() == [-0.5] * 4
    assert play.playing == 4
    assert play.roots.info["move_count"].tolist() == [0] * 4
    assert play.roots.info["passes"].tolist() == [0] * 4
    play.version = 6
    play.apply(_step(play))
    assert play.apply(_step(play)).id.tolist() == [4, 5, 6, 7]


def test_games_are_numbered_as_they_begin_and_know_the_last_network():
    play, ids = SelfPlay(Hashed(), SIZE, replace(FEW, move_limit=15), seed=2, staggered=True), []
    for version in range(50):
        play.version = version
        ended = play.apply(play.think())
        ids += ended.id.tolist()
        assert ended.version.tolist() == [version] * len(ended.id)
        assert sorted(ids + play.state()["games.id"].tolist()) == list(range(play.next_id))
    assert len(ids) > 8


@pytest.mark.parametrize("wanted", [0, 1, 4, 7])
def test_no_more_games_than_wanted(wanted):
    play = SelfPlay(Hashed(), SIZE, FEW, games_wanted=wanted)
    assert play.playing == min(wanted, 4)
    records = join_records(list(finish_games(play)), SIZE)
    assert sorted(records.id.tolist()) == list(range(wanted))
    assert play.playing == 0
    assert play.next_id == wanted
    assert len(play.apply(play.think()).id) == 0  # nothing to do, and nothing goes wrong


def test_the_first_games_may_be_staggered():
    play = SelfPlay(Uniform(), SIZE, replace(FEW, games=8, random_openings=0.0), staggered=True)
    assert play.roots.info["move_count"].tolist() == [37 * g // 16 for g in range(8)]
    later = SelfPlay(Uniform(), SIZE, replace(FEW, games=8, random_openings=0.0))
    assert not later.roots.info["move_count"].any()


# --- what is recorded -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "forced"), [("gumbel", 0.0), ("puct", 0.0), ("puct", 2.0)])
def test_policies_are_shares_of_legal_moves(method, forced):
    records = _play_all(replace(FEW, method=method, random_openings=0.3, forced_playouts=forced), 6)
    surprises = 0
    for g in range(6):
        board = record_board(records, g, "cgos", moves=0)
        for row in range(*_rows(records, g).indices(len(records.move))):
            x, y = divmod(int(records.move[row]), SIZE)
            legal = {SIZE * i + j if i >= 0 else PASS for i, j in board.get_legal_moves()}
            proposed = set(np.flatnonzero(records.policy[row]).tolist())
            assert proposed <= legal
            if records.full[row]:
                assert abs(int(records.policy[row].sum()) - POLICY_UNIT) <= 13
                surprises += int(records.move[row]) not in proposed
                assert -1 <= records.value[row] <= 1
            else:  # a random opening
                assert not proposed
                assert records.value[row] == 0
            assert board.play(x, y) if x < SIZE else board.pass_move() is None
    # Forced moves may be played and then pruned; Gumbel noise now and then plays one whose share rounds to nothing.
    allowed = {"gumbel": 0.03, "puct": 1.0 if forced else 0.0}[method]
    assert surprises <= allowed * np.count_nonzero(records.full)


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_some_searches_are_full_and_others_fast(share):
    settings = replace(
        FEW, games=16, simulations=12, fast_simulations=3, full_share=share, method="puct", noise_epsilon=0.0
    )
    play = SelfPlay(Uniform(), SIZE, settings)
    full = []
    for _ in range(25):
        step = play.think()
        assert (play.searches[0].visit_counts().sum(axis=1) == np.where(step.full, 12, 3)).all()
        full += (step.full > 0).tolist()
        play.apply(step)
    assert abs(np.mean(full) - share) < 0.07
    records = _play_all(settings, 16, Uniform())
    assert abs((records.full > 0).mean() - share) < 0.07
    assert SelfPlay(Uniform(), SIZE, FEW).think().full.all()


class Swings:
    """Thinks that Black wins until so many moves are made, then that nobody knows, then that White wins."""

    def evaluate(self, states):
        count, points = states.color.shape
        black = np.array([0.95, 0.0, -0.95])[np.minimum(states.info["move_count"] // 8, 2)]
        policy = np.zeros((count, points), np.float32)
        policy[:, -1] = -30
        value = np.where(states.info["to_move"] == BLACK, black, -black).astype(np.float32)
        return Evaluation(policy, value, None, None)


def test_searches_are_fast_only_while_a_game_is_decided():
    settings = replace(
        FEW, games=8, simulations=1, fast_simulations=1, full_share=0.01, decided_above=0.9, sampled_moves=(0, 0),
        random_openings=0.5, end_when_settled=False,
    )  # fmt: skip
    play = SelfPlay(Swings(), SIZE, settings, seed=3)
    open_positions, decided_ones, full = 0, 0, 0
    for _ in range(40):
        at = play.roots.info["move_count"].copy()
        step = play.think()
        for slot in range(8):
            values, sign = play._value[slot, : at[slot]], 1 - 2 * (np.arange(at[slot]) % 2)
            last = (values * sign)[-5:]  # for Black
            if len(last) == 5 and (min(last) > 0.9 or max(last) < -0.9):
                decided_ones += 1
                full += bool(step.full[slot])
            else:
                open_positions += 1
                assert step.full[slot], (at[slot], last)
        play.apply(step)
    assert min(open_positions, decided_ones) > 50
    assert full < 0.1 * decided_ones


def test_searches_are_longer_in_the_second_half():
    settings = replace(FEW, simulations=4, late_simulations=12)
    assert [settings.simulations_at(progress) for progress in (0.0, 0.49, 0.5, 1.0)] == [4, 4, 12, 12]
    assert FEW.simulations_at(1.0) == FEW.simulations
    play = SelfPlay(Uniform(), SIZE, settings)
    for progress in (0.2, 0.7):
        play.simulations = settings.simulations_at(progress)
        play.apply(play.think())
        play.think()
        assert (play.searches[0].visit_counts().sum(axis=1) == settings.simulations_at(progress)).all()


def test_only_early_moves_are_sampled():
    """All later ones, and all at temperature 0, are the most visited."""
    settings = replace(FEW, method="puct", simulations=12, sampled_moves=(4, 4), random_openings=0.3)
    for sampled, temperature in ((4, 1.0), (0, 1.0), (4, 0.0)):
        chosen = replace(settings, sampled_moves=(sampled, sampled), temperature=temperature)
        records = _play_all(chosen, 6)
        others = 0
        for g in range(6):
            begun = int((records.full[_rows(records, g)] == 0).sum())
            for i, row in enumerate(range(*_rows(records, g).indices(len(records.move)))):
                policy, move = records.policy[row], int(records.move[row])
                if i >= begun:
                    assert policy[move] > 0
                    others += policy[move] < policy.max()
                    assert policy[move] == policy.max() or i < begun + sampled
        assert (others > 5) == (sampled > 0 and temperature > 0)


def test_sampling_follows_the_policy():
    policy = np.tile(np.array([0.0, 0.5, 0.3, 0.2, 0.0], np.float32), (20_000, 1))
    for temperature, expected in ((1.0, [0, 0.5, 0.3, 0.2, 0]), (0.5, [0, 25 / 38, 9 / 38, 4 / 38, 0])):
        moves = _sample(policy, temperature, np.random.default_rng(0))
        np.testing.assert_allclose(np.bincount(moves, minlength=5) / 20_000, expected, atol=0.015)
    assert set(_sample(policy, 0.01, np.random.default_rng(0)).tolist()) == {1}
    assert len(_sample(policy[:0], 1.0, np.random.default_rng(0))) == 0


def test_random_openings():
    def lengths(share):
        play = SelfPlay(Uniform(), SIZE, replace(FEW, games=400, simulations=1, random_openings=share))
        return play.roots.info["move_count"]

    assert set(lengths(1.0).tolist()) == {1, 2, 3, 4}
    assert not lengths(0.0).any()
    assert abs((lengths(0.3) > 0).mean() - 0.3) < 0.07


def test_random_openings_are_not_learned_from():
    """Nor is anything left of the game that was in the slot before."""
    settings = replace(FEW, games=1, simulations=2, random_openings=1.0, move_limit=8)
    play = SelfPlay(Hashed(), SIZE, settings)
    for _ in range(10):
        begun, ended = int(play.roots.info[0]["move_count"]), ()
        while not len(ended):
            records = play.apply(play.think())
            ended = records.id
        assert not records.full[:begun].any()
        assert not records.policy[:begun].any()
        assert not records.value[:begun].any()
        assert records.full[begun:].all()


@pytest.mark.parametrize("limit", [2, 3, 4])
@pytest.mark.parametrize("staggered", [False, True])
def test_random_openings_leave_a_move_to_play(limit, staggered):
    settings = replace(FEW, games=40, simulations=2, random_openings=1.0, move_limit=limit)
    play = SelfPlay(Uniform(), SIZE, settings, staggered=staggered)
    assert set(play.roots.info["move_count"]) == set(range(1, limit))
    records = _play_all(settings, 100, staggered=staggered)
    assert len(records.id) == 100
    assert records.length.max() == limit
    for g in range(100):
        assert record_board(records, g, settings.rules).move_count == records.length[g]


def test_half_the_games_have_other_komis():
    settings = replace(FEW, games=3000, simulations=1, komi=6.5, komi_spread=3.0)
    komi = SelfPlay(Uniform(), SIZE, settings).roots.info["komi"]
    assert (2 * komi == np.rint(2 * komi)).all()
    normal = np.random.default_rng(0).normal(0, 3, 100_000)
    exact = 0.5 + 0.5 * (abs(normal) < 0.25).mean()  # some of the others are rounded to it
    assert abs((komi == 6.5).mean() - exact) < 0.03
    assert abs(komi.mean() - 6.5) < 0.15
    assert abs(komi.std() - 3 / 2**0.5) < 0.15
    assert (SelfPlay(Uniform(), SIZE, replace(settings, komi_spread=0.0)).roots.info["komi"] == 6.5).all()


# --- resignation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("loser", "length", "score"), [(BLACK, 4, -1), (WHITE, 5, 1)])
def test_who_has_no_hope_resigns(loser, length, score):
    settings = replace(FEW, resign_below=-0.9, resign_played_out=0.0, random_openings=0.0)
    records = _play_all(settings, 6, Doomed(loser))
    assert set(records.ending.tolist()) == {RESIGNED}
    assert records.score.tolist() == [score] * 6
    assert records.length.tolist() == [length] * 6  # at their third turn
    assert not records.ownership.any()
    assert not records.doubted.any()


@pytest.mark.parametrize("loser", [BLACK, WHITE])
def test_played_out_games_say_who_would_have_resigned(loser):
    settings = replace(FEW, resign_below=-0.9, resign_played_out=1.0)
    records = _play_all(settings, 6, Doomed(loser))
    assert RESIGNED not in records.ending
    assert records.doubted.tolist() == [loser] * 6
    some = _play_all(replace(settings, resign_played_out=0.5), 30, Doomed(loser))
    assert 5 < (some.ending == RESIGNED).sum() < 25
    assert ((some.doubted == loser) == (some.ending != RESIGNED)).all()
    never = _play_all(replace(settings, resign_below=None), 6, Doomed(loser))
    assert RESIGNED not in never.ending
    assert not never.doubted.any()


def test_three_moves_in_a_row():
    """Black's doubts begin anew after a better move; White's are White's own."""
    settings = replace(FEW, games=1, resign_below=-0.5, resign_played_out=0.0, random_openings=0.0)
    play = SelfPlay(Uniform(), SIZE, settings)
    black = [-0.9, -0.9, -0.4, -0.9, -0.6, -0.7]
    white = [-0.9, 0.5, -0.9, 0.5, -0.9]
    for turn in range(10):
        value = (black, white)[turn % 2][turn // 2]
        assert len(play.apply(_step(play, move=2 * turn, value=value)).id) == 0
    ended = play.apply(_step(play, move=24, value=black[5]))
    assert ended.ending.tolist() == [RESIGNED]
    assert ended.move.tolist() == [2 * turn for turn in range(10)]  # the move not made is not there
    assert ended.score.tolist() == [-1]


def test_rest_gives_up_what_the_former_network_found():
    """Also the search of a group that was through before its turn came: its moves would be the former network's."""
    settings = replace(FEW, groups=2, simulations=12, fast_simulations=1, full_share=0.5)
    play = SelfPlay(Hashed(), SIZE, settings)
    for _ in range(40):
        play.apply(play.think())
        other = play.searches[play.steps % 2]
        if play.steps % 2 not in play._turns and other.trees.node_count.any():
            break
    else:
        raise AssertionError("no group was through early: this test sees nothing")
    play.rest()
    assert not any(search.trees.node_count.any() for search in play.searches)
