"""How strong it is: players, matches between them, ratings."""

from .gtp_player import GtpPlayer, gnugo_player
from .maker import PlayerMaker, read_player
from .match import GameResult, MatchResult, play_games, play_match, settled_score
from .openings import random_openings
from .players import RESIGN, Player, PlayerFault, PolicyPlayer, RandomPlayer, SearchPlayer
from .rating import (
    Rating,
    elo_interval,
    elo_of_score,
    elo_ratings,
    likelihood_of_superiority,
    wilson_interval,
)
from .tournament import MatchSettings, Tournament, sprt

__all__ = [
    "RESIGN",
    "GameResult",
    "GtpPlayer",
    "MatchResult",
    "MatchSettings",
    "Player",
    "PlayerFault",
    "PlayerMaker",
    "PolicyPlayer",
    "RandomPlayer",
    "Rating",
    "SearchPlayer",
    "Tournament",
    "elo_interval",
    "elo_of_score",
    "elo_ratings",
    "gnugo_player",
    "likelihood_of_superiority",
    "play_games",
    "play_match",
    "random_openings",
    "read_player",
    "settled_score",
    "sprt",
    "wilson_interval",
]
