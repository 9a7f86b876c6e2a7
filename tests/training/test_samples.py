"""What is learned from: positions and targets of records, against boards, by hand, and blind to the future."""

import numpy as np
import pytest
import torch

from mini_alphago.game import Board
from mini_alphago.model import ENCODINGS, symmetry
from mini_alphago.training import SelfPlay, SelfPlaySettings
from mini_alphago.training.choice import usable
from mini_alphago.training.records import LIMIT, PASSES, POLICY_UNIT, RESIGNED, SETTLED, join_records, record_board
from mini_alphago.training.samples import SampleMaker

from ..mcts.evaluators import Hashed
from ..model.slow_encoder import ENCODERS
from .made_up import finish_games, one_game, some_games

SIZE = 5


@pytest.fixture(scope="module", params=["cgos", "tromp-taylor"])
def rules(request):
    return request.param


@pytest.fixture(scope="module")
def played(rules):
    """Games with captures, passes, random openings and several komis; some searches fast."""
    settings = SelfPlaySettings(
        games=4, simulations=4, considered=4, rules=rules, komi=0.5, komi_spread=3.0, random_openings=0.5,
        fast_simulations=2, full_share=0.5,
    )  # fmt: skip
    play = SelfPlay(Hashed(sharpness=2.0), SIZE, settings, seed=2, games_wanted=6)
    return join_records(list(finish_games(play)), SIZE)


def _all_positions(records):
    pairs = [(g, at) for g in range(len(records.id)) for at in range(int(records.length[g]))]
    return (np.array(column) for column in zip(*pairs, strict=True))


def _make(records, game, at, views=0, encoding="katago", rules="cgos", search_value=0.0, horizon=0.0, size=SIZE):
    game, at = np.asarray(game, np.int64), np.asarray(at, np.int64)
    maker = SampleMaker(ENCODINGS[encoding], size, rules, len(game), 200)
    return maker.make(records, game, at, np.broadcast_to(np.int64(views), len(game)), search_value, horizon)


# --- planes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_planes_are_those_of_the_board(played, rules, encoding):
    game, at = _all_positions(played)
    planes = _make(played, game, at, encoding=encoding, rules=rules).planes.numpy()
    assert planes.shape == (len(game), ENCODINGS[encoding].planes, SIZE, SIZE)
    assert planes.dtype == np.int8
    direct = np.empty_like(planes[:1])
    for b in range(len(game)):
        board = record_board(played, game[b], rules, moves=at[b])
        ENCODINGS[encoding].encode(board.games, direct)
        np.testing.assert_array_equal(planes[b], direct[0])
        if b % 5 == 0 and encoding in ENCODERS:
            scaled = planes[b] * ENCODINGS[encoding].scale[:, None, None]
            np.testing.assert_allclose(scaled, ENCODERS[encoding](board), atol=1e-6)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("view", range(1, 8))
def test_everything_is_turned_the_same_way(played, rules, encoding, view):
    game, at = (column[::3] for column in _all_positions(played))
    plain = _make(played, game, at, 0, encoding, rules)
    turned = _make(played, game, at, view, encoding, rules)
    planes = symmetry.apply_encoded(plain.planes.numpy(), ENCODINGS[encoding].drawn, view)
    np.testing.assert_array_equal(turned.planes.numpy(), planes)
    for name in ("policy", "ownership"):
        expected = symmetry.apply(getattr(plain, name).numpy(), view, SIZE)
        np.testing.assert_array_equal(getattr(turned, name).numpy(), expected, name)
    for name in ("value", "score", "counted"):
        assert torch.equal(getattr(turned, name), getattr(plain, name))


def test_each_row_has_its_own_view(played, rules):
    views = np.arange(8)
    game, at = np.full(8, 1), np.full(8, 9)
    maker = SampleMaker(ENCODINGS["katago"], SIZE, rules, 8, 100)
    mixed = maker.make(played, game, at, views)
    for view in range(8):
        alone = _make(played, [1], [9], view, rules=rules)
        assert torch.equal(mixed.planes[view], alone.planes[0])
        assert torch.equal(mixed.policy[view], alone.policy[0])


@pytest.mark.parametrize(("view", "point"), [(0, (0, 1)), (1, (4, 1)), (2, (0, 3)), (3, (4, 3)), (4, (1, 0))])
def test_turned_by_hand(view, point):
    """A stone, the policy and the ownership of B5: flipped down, to the right, both; then rows as columns."""
    records = one_game([1, 12], full=[1, 1])
    policy, ownership = np.zeros((2, 26), np.uint16), np.zeros((1, 25), np.int8)
    policy[:, 1] = POLICY_UNIT
    ownership[0, 1] = 1
    records = records._replace(policy=policy, ownership=ownership)
    batch = _make(records, [0], [1], view)
    stones = batch.planes[0, 1].numpy()  # White is to move, the stone is the opponent's
    assert np.argwhere(stones).tolist() == [list(point)]
    assert batch.policy[0].argmax() == SIZE * point[0] + point[1]
    assert batch.ownership[0].reshape(SIZE, SIZE)[point] == -1
    assert np.count_nonzero(batch.ownership) == 1


def test_the_pass_stays_the_pass():
    policy = np.zeros((1, 26), np.uint16)
    policy[0, 25] = POLICY_UNIT
    for view in range(8):
        batch = _make(one_game([3])._replace(policy=policy), [0], [0], view)
        assert batch.policy[0].tolist() == [0.0] * 25 + [1.0]


# --- targets ----------------------------------------------------------------------------------------------------------


def test_targets_by_hand():
    """Black wins by 3.5; the search thought 0.5, -0.25 and 0 of the three positions, for who was to move there."""
    owner = np.array([[1] * 10 + [-1] * 12 + [0] * 3], np.int8)
    records = one_game([12, 3, 25], komi=0.5, score=3.5, ending=PASSES)
    records = records._replace(value=np.array([0.5, -0.25, 0.0], np.float32), ownership=owner)
    plain = _make(records, [0, 0, 0], [0, 1, 2])
    assert plain.value.tolist() == [1, -1, 1]
    assert plain.score.tolist() == [3.5, -3.5, 3.5]
    for b, sign in enumerate((1, -1, 1)):
        np.testing.assert_array_equal(plain.ownership[b].numpy(), sign * owner[0])
    assert plain.counted.tolist() == [1, 1, 1]
    mixed = _make(records, [0, 0, 0], [0, 1, 2], search_value=0.25)
    assert mixed.value.tolist() == [0.75 + 0.125, -0.75 - 0.0625, 0.75]
    searched = _make(records, [0, 0, 0], [0, 1, 2], search_value=1.0)
    assert searched.value.tolist() == [0.5, -0.25, 0]
    assert {part.dtype for part in plain[1:]} == {torch.float32}


def test_values_of_later_searches_by_hand():
    """With a horizon of one move each search counts half as much as the one before, the result all that is left."""
    records = one_game([12, 3, 25], komi=0.5, score=3.5, ending=PASSES)
    records = records._replace(value=np.array([0.5, -0.25, 0.0], np.float32))
    batch = _make(records, [0, 0, 0], [0, 1, 2], search_value=1.0, horizon=1.0)
    assert batch.value.tolist() == [0.25 + 0.25 * 0.25 + 0 + 0.125, 0.5 * -0.25 + 0 - 0.25, 0.5]
    half = _make(records, [0], [2], search_value=0.5, horizon=1.0)
    assert half.value.tolist() == [0.75]
    far = _make(records, [0, 0, 0], [0, 1, 2], search_value=1.0, horizon=1000.0)
    np.testing.assert_allclose(far.value, [1, -1, 1], atol=0.01)


def test_targets_when_white_wins_and_when_nobody_does():
    white = _make(one_game([12, 3], score=-20.5), [0, 0], [0, 1])
    assert white.value.tolist() == [-1, 1]
    assert white.score.tolist() == [-20.5, 20.5]
    draw = _make(one_game([12, 3], komi=7.0, score=0.0), [0, 0], [0, 1])
    assert draw.value.tolist() == [0, 0]
    assert draw.score.abs().tolist() == [0, 0]


def test_a_resigned_game_has_a_winner_but_no_score():
    games = [one_game([12, 3], id=i, ending=ending, score=-1.0) for i, ending in enumerate((RESIGNED, SETTLED, LIMIT))]
    batch = _make(join_records(games, SIZE), [0, 0, 1, 2], [0, 1, 0, 0])
    assert batch.counted.tolist() == [0, 0, 1, 1]
    assert batch.value.tolist() == [-1, 1, -1, -1]


def test_policies_are_shares(played, rules):
    game, at = usable(played)
    batch = _make(played, game, at, rules=rules)
    np.testing.assert_allclose(batch.policy.sum(dim=1).numpy(), 1, atol=1e-5)
    rows = played.first[game] + at
    np.testing.assert_allclose(batch.policy.numpy(), played.policy[rows] / POLICY_UNIT, atol=1e-3)
    assert torch.equal(batch.to(torch.device("cpu")).policy, batch.policy)


# --- no leak ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_nothing_that_comes_later_is_seen(played, rules, encoding):
    """Whatever follows position t, and however the game ends, its planes are the same."""
    rng = np.random.default_rng(0)
    for g in range(3):
        first, length = int(played.first[g]), int(played.length[g])
        planes = _make(played, [g] * length, range(length), encoding=encoding, rules=rules).planes
        for t in range(0, length, 4):
            move = played.move.copy()
            move[first + t :] = (
                rng.permutation(move[first + t :]) if t % 8 else rng.integers(0, 26, len(move) - first - t)
            )
            changed = played._replace(
                move=move,
                score=-played.score,
                ending=np.full_like(played.ending, RESIGNED),
                ownership=-played.ownership,
                value=-played.value,
                policy=played.policy[::-1].copy(),
                version=played.version + 1,
            )
            other = _make(changed, [g], [t], encoding=encoding, rules=rules).planes
            assert torch.equal(other[0], planes[t])


def test_nothing_is_left_of_the_batch_before(played, rules):
    """The memory is used again: long games, then short ones, other komis."""
    maker = SampleMaker(ENCODINGS["katago"], SIZE, rules, 8, 200)
    views = np.zeros(8, np.int64)
    game, at = _all_positions(played)
    late, early = np.argsort(at)[-8:], np.argsort(at)[:8]
    fresh = maker.make(played, game[early], at[early], views)
    maker.make(played, game[late], at[late], views)
    again = maker.make(played, game[early], at[early], views)
    for a, b in zip(fresh, again, strict=True):
        assert torch.equal(a, b)


def test_other_board_sizes():
    for size in (6, 9, 19):
        records = some_games(4, longest=20, size=size)
        game, at = usable(records)
        batch = _make(records, game, at, 6, size=size)
        for b in range(0, len(game), 5):
            board = record_board(records, game[b], "cgos", moves=at[b])
            assert isinstance(board, Board)
            stones = symmetry.apply(np.array(board.board == board.current_player, np.int8), 6, size)
            np.testing.assert_array_equal(batch.planes[b, 0].numpy(), stones)
        assert batch.policy.shape == (len(game), size * size + 1)
