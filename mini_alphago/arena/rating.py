"""From results to strength: Elo ratings by the Bradley–Terry model, and how sure they are."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

ELO = 400 / math.log(10)  # Elo points of one unit of log odds
SURE = 1.959964  # standard deviations on each side of a 95 % interval


class Rating(NamedTuple):
    """How strong a player is, beside the anchor."""

    elo: float
    error: float  # half of the 95 % interval; 0 for the anchor


def elo_ratings(
    results: Iterable[tuple[str, str, float, float, float]], anchor: str, anchor_elo: float = 0.0
) -> dict[str, Rating]:
    """Ratings of all players from (first, second, wins of first, wins of second, draws), the anchor's being fixed.

    Most likely ratings by Bradley–Terry (choix), a draw being half a win for each. The prior is one more draw between
    each two players that met: so 20–0 is +645 and not infinite, and the more games the less it matters. The error is
    from the observed information at that point, prior included. ValueError if a player has no games, against however
    many others, that link it to the anchor.
    """
    rows = [row for row in results if sum(row[2:]) > 0]
    names = list(dict.fromkeys([anchor, *(name for row in rows for name in row[:2])]))
    wins = _win_matrix(rows, names)  # [N, N] float64: half a point to each for a draw
    _check_linked(wins, names)
    if len(names) == 1:
        return {anchor: Rating(anchor_elo, 0.0)}
    import choix  # here, since SciPy with it takes its time

    strength = choix.ilsr_pairwise_dense(wins, max_iter=10_000)  # [N] log odds
    errors = _errors(wins, strength)
    return {
        name: Rating(anchor_elo + ELO * float(strength[i] - strength[0]), float(errors[i]))
        for i, name in enumerate(names)
    }


def _win_matrix(rows: list[tuple[str, str, float, float, float]], names: list[str]) -> np.ndarray:
    """[N, N] float64: how often i beat j, the draw of the prior included."""
    number = {name: i for i, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for first, second, won, lost, drawn in rows:
        if first == second or min(won, lost, drawn) < 0:
            raise ValueError(f"{first} against {second}, {won}–{lost} with {drawn} draws, is not the result of a match")
        i, j = number[first], number[second]
        wins[i, j] += won + drawn / 2
        wins[j, i] += lost + drawn / 2
    met = wins + wins.T > 0
    return wins + 0.5 * met


def _check_linked(wins: np.ndarray, names: list[str]) -> None:
    """ValueError unless every player is linked to the first by games."""
    linked = {0}
    fresh = [0]
    while fresh:
        neighbors = set(np.flatnonzero(wins[fresh.pop()]).tolist()) - linked
        linked |= neighbors
        fresh += neighbors
    alone = [name for i, name in enumerate(names) if i not in linked]
    if alone:
        raise ValueError(f"no games link {', '.join(alone)} to {names[0]}: they cannot be compared")


def _errors(wins: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """[N] half 95 % intervals in Elo, of each strength less that of player 0."""
    odds = 1 / (1 + np.exp(strength[None] - strength[:, None]))  # [N, N]: that i beats j
    weight = (wins + wins.T) * odds * (1 - odds)
    information = np.diag(weight.sum(axis=1)) - weight
    variance = np.diag(np.linalg.inv(information[1:, 1:]))  # the anchor does not move
    return np.concatenate([[0.0], ELO * SURE * np.sqrt(variance)])


def elo_of_score(score: float) -> float:
    """The Elo difference at which a player is expected to score so much, from 0 to 1; infinite at both ends."""
    if not 0 <= score <= 1:
        raise ValueError(f"score {score} is not possible: it is 0 to 1, the share of the points")
    if score in (0, 1):
        return math.inf if score else -math.inf
    return ELO * math.log(score / (1 - score))


def wilson_interval(wins: float, games: float) -> tuple[float, float]:
    """The 95 % interval (Wilson) of the true share of wins after so many games; draws count as half a win."""
    if not 0 <= wins <= games:
        raise ValueError(f"{wins} wins in {games} games are not possible")
    if games == 0:
        return 0.0, 1.0
    share, z2 = wins / games, SURE**2
    middle = (share + z2 / (2 * games)) / (1 + z2 / games)
    half = SURE / (1 + z2 / games) * math.sqrt(share * (1 - share) / games + z2 / (4 * games**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def elo_interval(wins: float, losses: float, draws: float) -> tuple[float, float, float]:
    """How much stronger the first is after a match: Elo, and the ends of its 95 % interval (Wilson), maybe infinite.

    Who won everything has a lower end and no upper one: 20–0 is at least +286.
    """
    points, games = wins + draws / 2, wins + losses + draws
    low, high = wilson_interval(points, games)
    low, high = (0.0 if points == 0 else low), (1.0 if points == games else high)  # not nearly, by rounding
    return elo_of_score(points / games if games else 0.5), elo_of_score(low), elo_of_score(high)


def likelihood_of_superiority(wins: float, losses: float) -> float:
    """How likely it is that the first player is the stronger one; draws say nothing about that."""
    if min(wins, losses) < 0:
        raise ValueError(f"{wins} wins and {losses} losses are not possible")
    if wins + losses == 0:
        return 0.5
    return 0.5 * (1 + math.erf((wins - losses) / math.sqrt(2 * (wins + losses))))
