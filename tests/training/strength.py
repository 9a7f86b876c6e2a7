"""A run of about a minute on 5×5, from nothing, and whether it came to anything."""

import dataclasses
from pathlib import Path

from mini_alphago.arena import Player, RandomPlayer, SearchPlayer, play_match, random_openings
from mini_alphago.model import Evaluator, load_network
from mini_alphago.training import MeasureSettings, get_preset

ITERATIONS = 9
GAMES = 40
VISITS = 32
TINY = get_preset("tiny")
LEARNER = dataclasses.replace(TINY, minutes=None, iterations=ITERATIONS, device="cpu", measure=MeasureSettings(every=0))


def player(run: Path, iteration: int) -> SearchPlayer:
    network = load_network(run / f"checkpoints/{iteration:06d}.safetensors")
    return SearchPlayer(f"iteration {iteration}", Evaluator(network, "cpu"), VISITS, 5, GAMES, seed=iteration)


def assert_it_has_learned(run: Path, iteration: int = ITERATIONS) -> None:
    """≥ 95 % against random moves and ≥ 80 % against its own beginning: 20 openings twice, colours swapped."""
    openings = random_openings(GAMES // 2, 5, TINY.self_play.komi, moves=2, seed=7)
    trained = player(run, iteration)
    scores = {}
    opponents: list[Player] = [RandomPlayer(5), player(run, 0)]
    for opponent in opponents:
        result = play_match(trained, opponent, openings)
        assert not result.faults
        scores[opponent.name] = result.score
    print(scores)
    assert scores["random"] >= 0.95
    assert scores["iteration 0"] >= 0.8
