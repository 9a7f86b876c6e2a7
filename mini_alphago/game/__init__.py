"""What Go is: boards, rules, coordinates, game records."""

from .batch import stack_boards
from .board import Board
from .rules import RULE_SETS, Rules, get_rules
from .sgf import SgfError, SgfGame, SgfMove, format_sgf, parse_sgf, read_sgf, write_sgf
from .state import BLACK, EMPTY, WHITE

__all__ = [
    "BLACK",
    "EMPTY",
    "RULE_SETS",
    "WHITE",
    "Board",
    "Rules",
    "SgfError",
    "SgfGame",
    "SgfMove",
    "format_sgf",
    "get_rules",
    "parse_sgf",
    "read_sgf",
    "stack_boards",
    "write_sgf",
]
