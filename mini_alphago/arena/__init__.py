"""How strong it is: players, matches between them, ratings."""

from .gtp_player import GtpPlayer, gnugo_player
from .match import GameResult, MatchResult, play_match, random_openings, settled_score
from .players import RESIGN, Player, PlayerFault, PolicyPlayer, RandomPlayer, SearchPlayer
from .rating import Rating, elo_of_score, elo_ratings, likelihood_of_superiority, wilson_interval

__all__ = [
    "RESIGN",
    "GameResult",
    "GtpPlayer",
    "MatchResult",
    "Player",
    "PlayerFault",
    "PolicyPlayer",
    "RandomPlayer",
    "Rating",
    "SearchPlayer",
    "elo_of_score",
    "elo_ratings",
    "gnugo_player",
    "likelihood_of_superiority",
    "play_match",
    "random_openings",
    "settled_score",
    "wilson_interval",
]
