"""What the page may ask, read and checked: JSON text in, one of the requests below out.

Positions are read by the same code as the queries of the analysis engine.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..engine.queries import COLORS, QueryError, Turn, play_turn, read_moves, read_number, read_start
from ..game import Board
from ..game.coords import PASS, from_gtp
from ..mcts.levels import FULL, Level, find_level
from .settings import LONGEST_MESSAGE

MOST_VISITS = 100_000
_LONGEST_ID, _LONGEST_NAME, _LONGEST_COMMENT = 64, 200, 50_000
MOST_NODES = 10_000  # of a record


class BadRequest(ValueError):
    """What is wrong with a message, in one sentence; `id` is that of the request if it has one."""

    def __init__(self, message: str, id: str | None = None) -> None:
        super().__init__(message)
        self.id = id


class Game:
    """A game as far as it goes: every move of it is legal."""

    def __init__(self, start: Board, turns: list[Turn]) -> None:
        self.start, self.turns = start, turns
        self.board = start
        for board in self.boards():
            self.board = board

    def boards(self) -> Iterator[Board]:
        """The position before the first move, then after each move; one board, which moves on."""
        board = self.start.copy()
        yield board
        for number, turn in enumerate(self.turns):
            play_turn(board, turn, number)
            yield board


@dataclass(frozen=True)
class Node:
    """A node of a record, as the page has it."""

    id: str
    parent: str | None
    move: tuple[int, tuple[int, int]] | None  # player, point
    comment: str


@dataclass(frozen=True)
class Request:
    """Anything that is asked."""

    id: str


@dataclass(frozen=True)
class AskPosition(Request):
    """What the board looks like."""

    game: Game


@dataclass(frozen=True)
class AskHandicap(Request):
    """Where handicap stones go."""

    size: int
    stones: int


@dataclass(frozen=True)
class AskMove(Request):
    """Play."""

    game: Game
    model: str | None
    level: Level
    visits: int | None  # None: what the level says


@dataclass(frozen=True)
class AskAnalysis(Request):
    """Think aloud."""

    game: Game
    model: str | None
    visits: int | None
    every: float


@dataclass(frozen=True)
class AskStop(Request):
    """End another request."""

    target: str


@dataclass(frozen=True)
class AskScore(Request):
    """Who has won; `dead` None: the server says what is dead."""

    game: Game
    model: str | None
    dead: list[tuple[int, int]] | None
    toggle: tuple[int, int] | None


@dataclass(frozen=True)
class AskReview(Request):
    """Look at every position of a game."""

    game: Game
    model: str | None
    visits: int | None


@dataclass(frozen=True)
class AskReadSgf(Request):
    """Read a record."""

    text: str


@dataclass(frozen=True)
class AskWriteSgf(Request):
    """Write a record."""

    game: Game
    info: dict[str, str]
    nodes: list[Node]


@dataclass(frozen=True)
class AskWatch(Request):
    """Say what a training run does."""


# --- reading ----------------------------------------------------------------------------------------------------------

Values = Mapping[str, Any]


def read_request(text: str) -> Request:
    """The request in a message. BadRequest if it is none."""
    name = None
    try:
        values = json.loads(text)
        if not isinstance(values, dict):
            raise BadRequest("a request is a JSON object")
        name = _text(values, "id", _LONGEST_ID)
        kind = values.get("type")
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise BadRequest(f"the type of a request is one of {', '.join(_READERS)}")
        return reader(name, values)
    except (BadRequest, QueryError) as error:
        raise BadRequest(str(error), name) from None
    except (ValueError, RecursionError):
        raise BadRequest("the message is not JSON", name) from None


def _text(values: Values, name: str, longest: int, default: str | None = None) -> str:
    value = values.get(name, default)
    if not isinstance(value, str) or len(value) > longest:
        raise BadRequest(f"{name} is a text of at most {longest} characters")
    return value


def _game(values: Values) -> Game:
    game = values.get("game")
    if not isinstance(game, dict):
        raise BadRequest("game is an object with boardXSize, boardYSize, komi, rules, initialStones and moves")
    return Game(read_start(game), read_moves({"moves": [], **game}))


def _model(values: Values) -> str | None:
    return None if values.get("model") is None else _text(values, "model", _LONGEST_NAME)


def _visits(values: Values) -> int | None:
    visits: int | None = read_number(values, "visits", None, 1, MOST_VISITS, whole=True)
    return visits


def _point(value: Any, name: str, size: int) -> tuple[int, int]:
    try:
        point = from_gtp(str(value)[:8], size)
    except ValueError as error:
        raise BadRequest(f"{name}: {error}") from None
    if point == PASS:
        raise BadRequest(f"{name} names points, and a pass is none")
    return point


def _read_position(id: str, values: Values) -> AskPosition:
    return AskPosition(id, _game(values))


def _read_handicap(id: str, values: Values) -> AskHandicap:
    size, stones = (read_number(values, name, None, 2, 19, whole=True) for name in ("size", "stones"))
    if size is None or stones is None:
        raise BadRequest("a handicap has a size and a number of stones")
    return AskHandicap(id, size, stones)


def _read_move(id: str, values: Values) -> AskMove:
    visits, level = _visits(values), FULL
    if visits is None and values.get("level") is not None:
        try:
            level = find_level(_text(values, "level", _LONGEST_NAME))
        except ValueError as error:
            raise BadRequest(str(error)) from None
    return AskMove(id, _game(values), _model(values), level, visits)


def _read_analysis(id: str, values: Values) -> AskAnalysis:
    every = read_number(values, "every", 0.3, 0.05, 3600)
    return AskAnalysis(id, _game(values), _model(values), _visits(values), 0.3 if every is None else float(every))


def _read_stop(id: str, values: Values) -> AskStop:
    return AskStop(id, _text(values, "target", _LONGEST_ID))


def _read_score(id: str, values: Values) -> AskScore:
    game, dead, toggle = _game(values), values.get("dead"), values.get("toggle")
    size = game.board.size
    if dead is not None and (not isinstance(dead, list) or len(dead) > size * size):
        raise BadRequest("dead is a list of vertices, or null")
    points = None if dead is None else [_point(vertex, "dead", size) for vertex in dead]
    flipped = None if toggle is None else _point(toggle, "toggle", size)
    for point in [*(points or []), *([flipped] if flipped else [])]:
        if not game.board.board[point]:
            raise BadRequest("where there is no stone there is nothing dead or alive")
    return AskScore(id, game, _model(values), points, flipped)


def _read_review(id: str, values: Values) -> AskReview:
    return AskReview(id, _game(values), _model(values), _visits(values))


def _read_read_sgf(id: str, values: Values) -> AskReadSgf:
    return AskReadSgf(id, _text(values, "text", LONGEST_MESSAGE))


def _read_write_sgf(id: str, values: Values) -> AskWriteSgf:
    game, info, nodes = _game(values), values.get("info", {}), values.get("nodes")
    if not isinstance(info, dict):
        raise BadRequest("info is an object of texts")
    if not isinstance(nodes, list) or not 1 <= len(nodes) <= MOST_NODES:
        raise BadRequest(f"nodes is a list of 1 to {MOST_NODES} objects")
    texts = {
        name: _text({name: info.get(name) or ""}, name, _LONGEST_NAME)
        for name in ("black", "white", "date", "result", "event")
    }
    return AskWriteSgf(id, game, texts, _nodes(nodes, game.board.size))


def _nodes(values: list[Any], size: int) -> list[Node]:
    """The nodes; parents come before their children, and the first has none."""
    nodes: list[Node] = []
    known: set[str] = set()
    for i, value in enumerate(values):
        if not isinstance(value, dict):
            raise BadRequest(f"nodes[{i}] is not an object")
        id = _text(value, "id", _LONGEST_ID)
        parent = None if value.get("parent") is None else _text(value, "parent", _LONGEST_ID)
        if id in known or (parent is None) != (i == 0) or (parent is not None and parent not in known):
            raise BadRequest(f"nodes[{i}]: each node has an id of its own and comes after its parent; one is the root")
        known.add(id)
        comment = _text({"comment": value.get("comment") or ""}, "comment", _LONGEST_COMMENT)
        nodes.append(Node(id, parent, _node_move(value.get("move"), i, size), comment))
    return nodes


def _node_move(move: Any, i: int, size: int) -> tuple[int, tuple[int, int]] | None:
    if move is None:
        return None
    try:
        color, vertex = move
        return COLORS[str(color)[:8].lower()], from_gtp(str(vertex)[:8], size)
    except (TypeError, ValueError, KeyError):
        raise BadRequest(f"nodes[{i}]: a move is a color and a point of the board") from None


def _read_watch(id: str, values: Values) -> AskWatch:
    return AskWatch(id)


_READERS: dict[str, Callable[[str, Values], Request]] = {
    "position": _read_position, "handicap": _read_handicap, "genmove": _read_move, "analyze": _read_analysis,
    "stop": _read_stop, "score": _read_score, "review": _read_review, "read-sgf": _read_read_sgf,
    "write-sgf": _read_write_sgf, "watch": _read_watch,
}  # fmt: skip
