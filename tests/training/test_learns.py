"""It learns: about a minute of training on 5×5, from nothing, on the CPU, and what came of it."""

import dataclasses
from pathlib import Path

from mini_alphago.arena import Player, RandomPlayer, SearchPlayer, play_match, random_openings
from mini_alphago.model import Evaluator, load_network
from mini_alphago.training import MeasureSettings, get_preset, train

ITERATIONS = 9
GAMES = 40
VISITS = 32


def player(run: Path, iteration: int) -> SearchPlayer:
    network = load_network(run / f"checkpoints/{iteration:06d}.safetensors")
    return SearchPlayer(f"iteration {iteration}", Evaluator(network, "cpu"), VISITS, 5, GAMES, seed=iteration)


def test_a_minute_of_training_beats_random_moves_and_its_own_beginning(tmp_path: Path) -> None:
    """≥ 95 % and ≥ 80 % of 40 games: every one of 20 openings twice, colours swapped."""
    tiny = get_preset("tiny")
    train(
        dataclasses.replace(tiny, minutes=None, iterations=ITERATIONS, device="cpu", measure=MeasureSettings(every=0)),
        str(tmp_path),
    )
    openings = random_openings(GAMES // 2, 5, tiny.self_play.komi, moves=2, seed=7)
    trained = player(tmp_path, ITERATIONS)
    scores = {}
    opponents: list[Player] = [RandomPlayer(5), player(tmp_path, 0)]
    for opponent in opponents:
        result = play_match(trained, opponent, openings)
        assert not result.faults
        scores[opponent.name] = result.score
    print(scores)
    assert scores["random"] >= 0.95
    assert scores["iteration 0"] >= 0.8
