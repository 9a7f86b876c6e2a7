"""The tutorial's `self_play_game`, `generate_training_data` and main program, called as it calls them."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from mini_alphago.game import BLACK, WHITE, Board
from mini_alphago.mcts import MCTS
from mini_alphago.model import PolicyValueNetwork, encode_board, load_network
from mini_alphago.training import Trainer, generate_training_data, self_play_game

SIZE = 5
PASS = SIZE * SIZE
Game = list[dict[str, Any]]


pytestmark = pytest.mark.usefixtures("one_thread")


def make_mcts(seed: int = 1, simulations: int = 8) -> MCTS:
    torch.manual_seed(seed)
    return MCTS(PolicyValueNetwork(SIZE, 7, 8, 1), board_size=SIZE, num_simulations=simulations, seed=seed)


def moves_of(game: Game) -> list[int]:
    """The moves, as each position shows the one before it. The last one is a pass: that is how these games end."""
    assert len(game) < 200
    marks = [position["features"][3] for position in game[1:]]
    return [int(mark.argmax()) if mark.any() else PASS for mark in marks] + [PASS]


def replayed(moves: list[int]) -> Iterator[Board]:
    """The board before each move, and at the end."""
    board = Board(SIZE)
    for move in moves:
        yield board
        if move == PASS:
            board.pass_move()
        else:
            assert board.play(*divmod(move, SIZE))
    yield board


def is_one_hot(policy: np.ndarray) -> bool:
    return sorted(policy)[-1] == 1 and sorted(policy)[-2] == 0


@pytest.fixture(scope="module")
def game() -> Game:
    """One game in which only the first six moves are drawn at random."""
    return self_play_game(make_mcts(), temp_threshold=6)


def test_each_position_is_a_dictionary(game: Game) -> None:
    assert len(game) > 10
    for position in game:
        assert position.keys() == {"features", "policy", "player", "value"}
        assert position["features"].shape == (7, SIZE, SIZE)
        assert position["features"].dtype == np.float32
        assert position["policy"].shape == (PASS + 1,)
        assert type(position["value"]) is float


def test_players_take_turns_and_black_begins(game: Game) -> None:
    assert [position["player"] for position in game[:4]] == [BLACK, WHITE, BLACK, WHITE]
    assert all(one["player"] != next_["player"] for one, next_ in itertools.pairwise(game))


def test_features_are_those_of_the_positions_played(game: Game) -> None:
    boards = replayed(moves_of(game))
    for position in game:
        board = next(boards)
        np.testing.assert_array_equal(position["features"], encode_board(board))
        assert position["player"] == board.current_player
    assert next(boards).is_game_over()


def test_values_say_who_won() -> None:
    winners = set()
    for seed in range(12):
        game = self_play_game(make_mcts(seed))
        *_, end = replayed(moves_of(game))
        winner = BLACK if end.score() > 0 else WHITE
        assert end.score() != 0
        winners.add(winner)
        for position in game:
            assert position["value"] == (1.0 if position["player"] == winner else -1.0)
    assert winners == {BLACK, WHITE}


def test_policies_are_shares_of_visits_then_certain(game: Game) -> None:
    for position in game:
        assert position["policy"].sum() == pytest.approx(1, abs=1e-6)
        assert (position["policy"] >= 0).all()
    for position in game[:6]:  # 8 simulations: eighths
        shares = position["policy"] * 8
        np.testing.assert_allclose(shares, shares.round(), atol=1e-3)
    assert not all(is_one_hot(position["policy"]) for position in game[:6])
    assert all(is_one_hot(position["policy"]) for position in game[6:])


def test_a_certain_policy_is_the_move_that_was_played(game: Game) -> None:
    """Also where several moves have the most visits."""
    moves = moves_of(game)
    assert [int(position["policy"].argmax()) for position in game[6:]] == moves[6:]
    cold = self_play_game(make_mcts(2), temperature=0)
    assert all(is_one_hot(position["policy"]) for position in cold)
    assert [int(position["policy"].argmax()) for position in cold] == moves_of(cold)


def test_only_legal_moves_have_a_share(game: Game) -> None:
    for position in game:
        legal = np.append(position["features"][5].ravel(), 1)
        assert (position["policy"][legal == 0] == 0).all()


@pytest.mark.parametrize("temperature", [0.01, 0.5, 2.0])
def test_temperature_sharpens_the_policy(temperature: float) -> None:
    """The visits of the first position are the same at any temperature; what is learned from them is not."""
    plain = self_play_game(make_mcts())[0]["policy"].astype(np.float64)
    sharp = self_play_game(make_mcts(), temperature=temperature)[0]["policy"]
    powers = (plain / plain.max()) ** (1 / temperature)
    np.testing.assert_allclose(sharp, powers / powers.sum(), atol=1e-3)


def test_games_differ_and_a_seed_repeats_them() -> None:
    mcts = make_mcts(3)
    first, second = self_play_game(mcts), self_play_game(mcts)
    again = self_play_game(make_mcts(3))
    assert moves_of(first) != moves_of(second)
    assert moves_of(first) == moves_of(again)


def test_the_tutorials_main_program(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Two iterations of it, smaller: the losses fall from epoch to epoch, and what is saved can be loaded."""
    torch.manual_seed(1)
    network = PolicyValueNetwork(SIZE, 7, 8, 1)
    mcts = MCTS(network, board_size=SIZE, num_simulations=8, seed=1)
    trainer = Trainer(network)
    for iteration in range(2):
        training_data = generate_training_data(mcts, num_games=3)
        assert sum(position["features"][:2].sum() == 0 for position in training_data) >= 3  # each begins empty
        losses = [trainer.train_epoch(training_data) for _ in range(8)]
        assert losses[-1] < losses[0]
        trainer.save(tmp_path / f"model_iter_{iteration + 1}.pt")
    printed = capsys.readouterr().out.splitlines()
    assert printed == [f"Self-play game {i}/3" for i in (1, 2, 3)] * 2
    newest = load_network(tmp_path / "model_iter_2.pt")
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, newest.state_dict()[name])


def test_self_play_sees_what_was_learned() -> None:
    """The MCTS keeps the network, not a copy of it: training changes the next game."""
    mcts = make_mcts()
    assert isinstance(mcts.network, PolicyValueNetwork)
    before = moves_of(self_play_game(mcts, temperature=0))
    with torch.no_grad():
        mcts.network.policy_fc.bias[7] += 20
    mcts.rng = np.random.default_rng(1)
    after = moves_of(self_play_game(mcts, temperature=0))
    assert after[0] == 7
    assert before[0] != 7
