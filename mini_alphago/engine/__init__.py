"""How programs talk to it: an engine for one game, its clock, and the Go Text Protocol."""

from . import commands as _commands  # noqa: F401 - registers what clients may ask for
from . import kata as _kata  # noqa: F401 - likewise
from . import raw as _raw  # noqa: F401 - likewise
from .analysis import AnalysisEngine, serve_analysis
from .clock import Budget, Clock, TimeSystem
from .gtp import Gtp, GtpError, serve
from .player import Choice, Engine, EngineSettings
from .review import Review, annotate, picture, review_game
from .status import Count, count_board, dead_stones

__all__ = [
    "AnalysisEngine",
    "Budget",
    "Choice",
    "Clock",
    "Count",
    "Engine",
    "EngineSettings",
    "Gtp",
    "GtpError",
    "Review",
    "TimeSystem",
    "annotate",
    "count_board",
    "dead_stones",
    "picture",
    "review_game",
    "serve",
    "serve_analysis",
]
