"""How programs talk to it: an engine for one game, its clock, and the Go Text Protocol."""

from .clock import Budget, Clock, TimeSystem
from .gtp import Gtp, GtpError, serve
from .player import Choice, Engine, EngineSettings
from .status import Count, count_board, dead_stones

__all__ = [
    "Budget",
    "Choice",
    "Clock",
    "Count",
    "Engine",
    "EngineSettings",
    "Gtp",
    "GtpError",
    "TimeSystem",
    "count_board",
    "dead_stones",
    "serve",
]
