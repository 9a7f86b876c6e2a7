"""What a client of the analysis engine may ask: KataGo's JSON queries, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..game import BLACK, WHITE, Board, Rules
from ..game.coords import PASS, from_gtp, to_flat
from ..game.rules import get_rules
from .kata import parse_rules
from .pool import Task

COLORS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
_MOST_TURNS = 2000
Turn = tuple[int, tuple[int, int]]  # player, point
WINRATES = ("BLACK", "WHITE", "SIDETOMOVE")


class QueryError(ValueError):
    """A query that cannot be answered; `name` is the field that is wrong."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(eq=False, kw_only=True)
class Job(Task):
    """One position of a query."""

    id: str
    turn: int
    ownership: bool = False
    moves_ownership: bool = False
    policy: bool = False
    pv_visits: bool = False
    winrates: str = "BLACK"


def read_jobs(query: Mapping[str, Any], default_visits: int) -> list[Job]:
    """The jobs of a query, one for each turn to analyse. QueryError if something in it is wrong."""
    name = query.get("id")
    if not isinstance(name, str):
        raise QueryError("id", "id is a string")
    board, moves = read_start(query), read_moves(query)
    turns = query.get("analyzeTurns", [len(moves)])
    if not isinstance(turns, list) or not turns or not all(_is_whole(t) and 0 <= t <= len(moves) for t in turns):
        raise QueryError("analyzeTurns", f"analyzeTurns lists turns from 0 to {len(moves)}")
    overrides = query.get("overrideSettings", {})
    if not isinstance(overrides, Mapping):
        raise QueryError("overrideSettings", "overrideSettings is an object")
    winrates = str(overrides.get("reportAnalysisWinratesAs", "BLACK")).upper()
    if winrates not in WINRATES:
        raise QueryError("overrideSettings", f"reportAnalysisWinratesAs is one of {', '.join(WINRATES)}")
    shared = {
        "visits": read_number(query, "maxVisits", default_visits, 1, 10**9, whole=True),
        "priority": read_number(query, "priority", 0, -(2**31), 2**31),
        "ownership": bool(query.get("includeOwnership", False)),
        "moves_ownership": bool(query.get("includeMovesOwnership", False)),
        "policy": bool(query.get("includePolicy", False)),
        "pv_visits": bool(query.get("includePVVisits", False)),
        "report_every": read_number(query, "reportDuringSearchEvery", None, 0.001, 1e6),
        "max_time": read_number(overrides, "maxTime", None, 0.0, 1e9),
        "winrates": winrates,
    }
    wanted, jobs = set(turns), []
    for turn in range(len(moves) + 1):
        if turn in wanted:
            jobs.append(Job(id=name, turn=turn, board=board.copy(), allowed=_allowed(query, board), **shared))
        if turn < len(moves):
            play_turn(board, moves[turn], turn)
    return jobs


def read_start(query: Mapping[str, Any]) -> Board:
    """The board before the first move. QueryError if there can be none such."""
    size = read_number(query, "boardXSize", None, 2, 19, whole=True)
    if size is None or query.get("boardYSize") != size:
        raise QueryError("boardXSize", "boardXSize and boardYSize are the same number from 2 to 19")
    rules = query.get("rules")
    try:
        chosen: Rules = parse_rules(_as_text(rules)) if rules is not None else get_rules("cgos")
    except ValueError as error:
        raise QueryError("rules", str(error)) from None
    try:
        board = Board(int(size), query.get("komi", chosen.komi), chosen)
    except ValueError as error:
        raise QueryError("komi", str(error)) from None
    stones = _pairs(query, "initialStones", board.size)
    player = query.get("initialPlayer")
    if stones or player is not None:
        try:
            first = BLACK if player is None else COLORS[str(player).lower()]
            black, white = ([point for color, point in stones if color == own] for own in (BLACK, WHITE))
            if first == WHITE and len(black) > 1 and not white:
                board.place_handicap(black)  # some rules compensate White for it
            else:
                board.setup(black, white, player=first)
        except (KeyError, ValueError) as error:
            raise QueryError("initialStones", f"these stones cannot be there ({error})") from None
    return board


def _as_text(rules: Any) -> str:
    import json

    return rules if isinstance(rules, str) else json.dumps(rules)


def read_moves(query: Mapping[str, Any]) -> list[Turn]:
    """The moves of the game. QueryError if they are no moves; whether they are legal, `play_turn` says."""
    if "moves" not in query:
        raise QueryError("moves", 'moves lists the moves of the game, as [["B", "D4"]]')
    return _pairs(query, "moves", int(query.get("boardXSize", 19)))


def _pairs(query: Mapping[str, Any], name: str, size: int) -> list[Turn]:
    """A list of [color, vertex]."""
    values = query.get(name, [])
    if not isinstance(values, list) or len(values) > _MOST_TURNS:
        raise QueryError(name, f"{name} is a list of up to {_MOST_TURNS} [color, vertex]")
    pairs = []
    for i, value in enumerate(values):
        try:
            color, vertex = value
            pairs.append((COLORS[str(color).lower()], from_gtp(str(vertex), size)))
        except (TypeError, ValueError, KeyError):
            raise QueryError(name, f"{name}[{i}] is not a color and a point of the board") from None
    return pairs


def play_turn(board: Board, move: Turn, turn: int) -> None:
    """Make the move number `turn`, from 0, out of turn or after the end too. QueryError if it is illegal."""
    player, point = move
    if board.is_game_over():
        board.resume()
    if board.current_player != player:
        board.current_player = player
    if point == PASS:
        board.pass_move()
    elif not board.play(*point):
        # KaTrain looks for the first two words: it tries moves that may be illegal, and then says nothing.
        raise QueryError("moves", f"Illegal move in moves[{turn}] ({board.why_illegal(*point)})")


def _allowed(query: Mapping[str, Any], board: Board) -> set[int] | None:
    """The moves to look at, by avoidMoves and allowMoves for the player to move; None if both are silent."""
    everything = {to_flat(x, y, board.size) for x, y in board.get_legal_moves()}
    allowed = set(everything)
    for name in ("avoidMoves", "allowMoves"):
        for entry in query.get(name, []) if isinstance(query.get(name, []), list) else []:
            try:
                if COLORS[str(entry["player"]).lower()] != board.current_player:
                    continue
                points = {to_flat(*from_gtp(str(vertex), board.size), board.size) for vertex in entry["moves"]}
            except (TypeError, ValueError, KeyError):
                raise QueryError(name, f"{name} lists objects with player, moves and untilDepth") from None
            allowed = allowed - points if name == "avoidMoves" else allowed & points
    return None if allowed == everything else allowed


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_number(
    values: Mapping[str, Any], name: str, default: float | None, low: float, high: float, whole: bool = False
) -> Any:
    """The number under that name, or the default; QueryError if it is another thing, or outside."""
    value = values.get(name, default)
    if value is None:
        return None
    right = _is_whole(value) if whole else isinstance(value, int | float) and not isinstance(value, bool)
    if not right or not low <= value <= high:
        raise QueryError(name, f"{name} is {'a whole number' if whole else 'a number'} from {low:g} to {high:g}")
    return value
