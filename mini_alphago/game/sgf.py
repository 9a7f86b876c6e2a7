"""Game records: SGF files in and out, through sgfmill's parser.

sgfmill was chosen over pysgf because it reads in linear time and without recursion: on 200,000 unclosed variations it
gives up after 1.6 s, pysgf after two minutes with a RecursionError.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sgfmill import sgf, sgf_grammar

from ..files import write_atomically
from .board import Board, Point
from .coords import from_sgf, to_gtp, to_sgf
from .rules import COMPENSATIONS, KO_CODES, RULE_SETS, SCORING_CODES, Rules, check_komi
from .state import BLACK, MAX_SIZE, MIN_SIZE, WHITE

MAX_BYTES = 32 * 2**20
_PLAYERS = {"B": BLACK, "W": WHITE}
_LETTERS = {BLACK: "B", WHITE: "W"}
_COLORS = {BLACK: "Black", WHITE: "White"}
_SETUP = {"AB": "black", "AW": "white", "AE": "empty"}
_TEXTS = {"PB": "black_name", "PW": "white_name", "BR": "black_rank", "WR": "white_rank", "DT": "date", "RE": "result"}
_TEXTS |= {"EV": "event"}
_RULE_NAMES = {"nz": "new-zealand", "tt": "tromp-taylor", "jp": "japanese", "cn": "chinese"}


class SgfError(ValueError):
    """A game record that cannot be read; the message says what is wrong and where."""


@dataclass
class SgfMove:
    """One node of a record: a move or a setup, its comment, its markup."""

    move: tuple[int, int, int] | None = None  # (x, y, player), x = y = -1 for a pass
    black: list[Point] = field(default_factory=list)  # stones set up here
    white: list[Point] = field(default_factory=list)
    empty: list[Point] = field(default_factory=list)
    player: int | None = None  # whose turn it is by PL
    comment: str = ""
    extra: dict[str, list[str]] = field(default_factory=dict)  # other properties to write, as LB, TR, SBKV
    variations: list[list["SgfMove"]] = field(default_factory=list)  # other lines that might have followed this


@dataclass
class SgfGame:
    """A game record: the main line of an SGF tree. `nodes[0]` is the root, with the setup."""

    size: int = 19
    rules: Rules = RULE_SETS["cgos"]
    handicap: int = 0
    nodes: list[SgfMove] = field(default_factory=lambda: [SgfMove()])
    black_name: str = ""
    white_name: str = ""
    black_rank: str = ""
    white_rank: str = ""
    date: str = ""
    result: str = ""
    event: str = ""

    @property
    def moves(self) -> list[tuple[int, int, int]]:
        """All moves as in `Board.history`."""
        return [node.move for node in self.nodes if node.move]

    def board(self, moves: int | None = None) -> Board:
        """The board after that many moves, by default after all of them. SgfError at the first illegal one.

        ValueError if the game has no such move.
        """
        if moves is not None and not 0 <= moves <= len(self.moves):
            raise ValueError(f"there is no move {moves}: the game has moves 0, before the first, to {len(self.moves)}")
        board = Board(self.size, rules=self.rules)
        for node in self.replay(board):
            if moves is not None and node.move and board.move_count > moves:
                board.undo()
                break
        return board

    def replay(self, board: Board) -> Iterator[SgfMove]:
        """Play the record on an empty board, stopping after each node. SgfError at an illegal move."""
        for number, node in enumerate(self.nodes):
            if node.black or node.white or node.empty:
                self._set_up(board, node, number)
            if node.player:
                board.current_player = node.player
            if node.move:
                _play(board, node.move)
            yield node

    def _set_up(self, board: Board, node: SgfMove, number: int) -> None:
        handicap = number == 0 and self.handicap == len(node.black) and not node.white
        try:
            if handicap:
                board.place_handicap(node.black)
            else:
                board.setup(node.black, node.white, node.empty)
        except ValueError as error:
            raise SgfError(f"setup in node {number}: {error}") from None

    @classmethod
    def from_board(cls, board: Board, **names: str) -> "SgfGame":
        """The record of a board's game; `names` are fields such as `black_name` and `result`."""
        start = board.copy()
        while start.undo():
            pass
        first = len(start.history)  # moves before the last setup have no board to go with them
        root = SgfMove(player=start.current_player)
        for x in range(board.size):
            for y in range(board.size):
                if color := int(start.board[x, y]):
                    (root.black if color == BLACK else root.white).append((x, y))
        nodes = [root, *(SgfMove(move=move) for move in board.history[first:])]
        rules = board.rules.with_komi(board.komi)
        return cls(size=board.size, rules=rules, handicap=board.handicap, nodes=nodes, **names)


def _play(board: Board, move: tuple[int, int, int]) -> None:
    x, y, player = move
    if board.is_game_over():
        board.resume()
    board.current_player = player
    if (x, y) == (-1, -1):
        board.pass_move()
    elif not board.play(x, y):
        where = f"move {board.move_count + 1}, {_COLORS[player]} {to_gtp(x, y, board.size)}"
        raise SgfError(f"{where}: illegal ({board.why_illegal(x, y)})")


# --- reading ----------------------------------------------------------------------------------------------------------


def read_sgf(path: str | os.PathLike[str]) -> SgfGame:
    """Read a game from a file. SgfError if it is not a sound game record; OSError if there is no such file."""
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    try:
        return parse_sgf(data)
    except SgfError as error:
        raise SgfError(f"{Path(path).name}: {error}") from None


def parse_sgf(data: bytes | str, variations: bool = False) -> SgfGame:
    """A game from the text of an SGF file: the main line of its first tree, every move checked by the rules.

    Without RU the record is read by Chinese rules: records seldom keep to a superko they do not mention. With
    `variations` these are read too; one that has an illegal move, or sets up stones, ends before it.
    """
    raw = data.encode() if isinstance(data, str) else data
    if len(raw) > MAX_BYTES:
        raise SgfError(f"the file is larger than {MAX_BYTES // 2**20} MB: that is no game record")
    tree = _parse_tree(raw, "UTF-8" if isinstance(data, str) else None)
    game = _read_root(tree.get_root())
    game.nodes = []
    board = Board(game.size, rules=game.rules)
    line = tree.get_main_sequence()
    for number, node in enumerate(line):
        game.nodes.append(_read_node(node, number, game.size))
    for number, node in enumerate(game.replay(board)):
        if variations and len(line[number]) > 1:
            node.variations = _read_variations(line[number][1:], board, number)
    return game


def _read_variations(firsts: list[Any], board: Board, number: int) -> list[list[SgfMove]]:
    """The lines that begin with these nodes, `board` being what they follow; with all that branches off them."""
    lines: list[list[SgfMove]] = []
    # What waits lower in the stack does not move: variations can take their board from there when their turn comes.
    to_read: list[tuple[Any, Board, list[list[SgfMove]], list[SgfMove], int]]
    to_read = [(first, board, lines, [], number + 1) for first in reversed(firsts)]
    while to_read:
        node, position, siblings, line, number = to_read.pop()
        if not line:
            position = position.copy()
        read = _followed(position, node, number)
        if read is None:
            continue
        if not line:
            siblings.append(line)
        line.append(read)
        if len(node):
            to_read.append((node[0], position, siblings, line, number + 1))
            to_read += [(other, position, read.variations, [], number + 1) for other in reversed(node[1:])]
    return lines


def _followed(board: Board, node: Any, number: int) -> SgfMove | None:
    """The node read, and its move made on the board; None if it is not one that a variation can have."""
    try:
        read = _read_node(node, number, board.size)
        if read.black or read.white or read.empty:
            return None
        if read.player:
            board.current_player = read.player
        if read.move:
            _play(board, read.move)
        return read
    except SgfError:
        return None


def _parse_tree(raw: bytes, encoding: str | None) -> Any:
    if encoding is None and b"CA[" not in raw:
        encoding = "UTF-8" if _is_utf8(raw) else "ISO-8859-1"
    try:
        try:
            return sgf.Sgf_game.from_bytes(raw, override_encoding=encoding)
        except ValueError as error:
            if "encoding" not in str(error):
                raise
            return sgf.Sgf_game.from_bytes(raw, override_encoding="UTF-8" if _is_utf8(raw) else "ISO-8859-1")
    except ValueError as error:
        reason = str(error)
        if "size" in reason or "SZ" in reason:
            raise SgfError(f"root: {reason}: boards are square, {MIN_SIZE} to {MAX_SIZE}") from None
        _, end = sgf_grammar.tokenise(raw)
        raise SgfError(f"not a sound SGF file: {reason}, at byte {end} of {len(raw)}") from None


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
        return True
    except UnicodeDecodeError:
        return False


def _read_root(root: Any) -> SgfGame:
    if (kind := _text(root, "GM") or "1") != "1":
        raise SgfError(f"root: GM[{kind[:20]}] is another game: Go is GM[1]")
    size = root.get_size()
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise SgfError(f"root: SZ[{size}]: boards are square, {MIN_SIZE} to {MAX_SIZE}")
    rules = _read_rules(_text(root, "RU"))
    komi = _number(root, "KM")
    if komi is not None:
        komi = komi / 100 if abs(komi) > 100 else komi  # some servers write 650 for 6.5, and 375 or 3.75
        komi = komi if (komi * 2).is_integer() else komi * 2  # for 3¾ stones: 7.5 points
        try:
            check_komi(komi)
        except ValueError as error:
            raise SgfError(f"root: KM: {error}") from None
        rules = rules.with_komi(komi)
    game = SgfGame(size=size, rules=rules, handicap=int(_number(root, "HA") or 0))
    for prop, name in _TEXTS.items():
        setattr(game, name, _text(root, prop))
    return game


def _read_node(node: Any, number: int, size: int) -> SgfMove:
    result = SgfMove(comment=_text(node, "C"))
    prop = "?"
    try:
        for prop, name in _SETUP.items():
            if node.has_property(prop):
                points = getattr(result, name)
                for value in node.get_raw_list(prop):
                    points.extend(_points(value.decode("ascii", "replace").strip(), size))
        if node.has_property(prop := "PL"):
            letter = _text(node, "PL").upper()[:1]
            if letter not in _PLAYERS:
                raise ValueError("the player is B or W")
            result.player = _PLAYERS[letter]
        for prop in _PLAYERS:
            if node.has_property(prop):
                if result.move:
                    raise ValueError("a node has one move")
                value = node.get_raw(prop).decode("ascii", "replace").strip()
                result.move = (*from_sgf(value, size), _PLAYERS[prop])
    except ValueError as error:
        raise SgfError(f"node {number}, {prop}: {error}") from None
    return result


def _points(text: str, size: int) -> list[Point]:
    """The points of one value of a list of points: `dd`, or a rectangle `aa:dd`."""
    first, _, last = text.partition(":")
    (top, left), (bottom, right) = from_sgf(first, size), from_sgf(last or first, size)
    if min(top, bottom) < 0:
        raise ValueError("a setup needs points, not passes")
    return [(x, y) for x in range(top, bottom + 1) for y in range(left, right + 1)]


def _text(node: Any, prop: str) -> str:
    if not node.has_property(prop):
        return ""
    text = (
        sgf_grammar.text_value(node.get_raw(prop)) if prop == "C" else sgf_grammar.simpletext_value(node.get_raw(prop))
    )
    return str(text.decode(node.get_encoding(), "replace")).strip()


def _number(node: Any, prop: str) -> float | None:
    text = _text(node, prop)
    try:
        return float(text) if text else None
    except ValueError:
        raise SgfError(f"root: {prop}[{text[:20]}] is not a number") from None


def _read_rules(text: str) -> Rules:
    """A rule set by its name, or in the long form that `rules_text` writes; Chinese if unknown."""
    name = text.lower().replace("_", "-").replace(" ", "-")
    name = _RULE_NAMES.get(name, name)
    if name in RULE_SETS:
        return RULE_SETS[name].with_komi(None)
    long = re.fullmatch(r"ko([a-z]+)score([a-z]+?)(?:tax[a-z]+)?sui([01])(?:whb(0|n-1|n))?", name)
    if long:
        ko, scoring, suicide, bonus = long.groups()
        compensation = "none" if bonus in (None, "0") else bonus
        if ko in KO_CODES and scoring in SCORING_CODES and compensation in COMPENSATIONS:
            return Rules(ko, scoring, suicide == "1", None, compensation)  # type: ignore[arg-type]
    return RULE_SETS["chinese"].with_komi(None)


# --- writing ----------------------------------------------------------------------------------------------------------


def write_sgf(game: SgfGame, path: str | os.PathLike[str]) -> None:
    """Write a game to a file, atomically."""
    write_atomically(path, format_sgf(game).encode())


def format_sgf(game: SgfGame) -> str:
    """A game as SGF text, FF[4] in UTF-8."""
    tree = sgf.Sgf_game(size=game.size, encoding="UTF-8")
    root = tree.get_root()
    root.set_raw("AP", b"mini-alphago")
    _set_text(root, "KM", f"{game.rules.komi_for(game.size):g}")
    _set_text(root, "RU", rules_text(game.rules))
    if game.handicap:
        _set_text(root, "HA", str(game.handicap))
    for prop, name in _TEXTS.items():
        _set_text(root, prop, getattr(game, name))
    written = [root, *(tree.extend_main_sequence() for _ in game.nodes[1:])]
    for out, node in zip(written, game.nodes, strict=True):
        _write_node(out, node, game.size)
        _write_variations(out, node, game.size)
    return str(tree.serialise().decode())


def _write_variations(out: Any, node: SgfMove, size: int) -> None:
    """Everything that branches off a node, as more children of it."""
    to_write = [(out, node)]
    while to_write:
        parent, node = to_write.pop()
        for line in node.variations:
            end = parent
            for move in line:
                end = end.new_child()
                _write_node(end, move, size)
                to_write.append((end, move))


def _write_node(out: Any, node: SgfMove, size: int) -> None:
    for prop, name in _SETUP.items():
        if points := getattr(node, name):
            out.set_raw_list(prop, [to_sgf(x, y, size).encode() for x, y in sorted(points)])
    if node.player:
        out.set_raw("PL", _LETTERS[node.player].encode())
    if node.move:
        x, y, player = node.move
        out.set_raw(_LETTERS[player], to_sgf(x, y, size).encode())
    _set_text(out, "C", node.comment)
    for prop, values in node.extra.items():
        out.set_raw_list(prop, [sgf_grammar.escape_text(value.encode()) for value in values])


def _set_text(node: Any, prop: str, text: str) -> None:
    if text:
        node.set_raw(prop, sgf_grammar.escape_text(text.encode()))


def rules_text(rules: Rules) -> str:
    """Rules as the property RU says them: the name of a set, or KataGo's notation; komi is not part of it."""
    for name, known in RULE_SETS.items():
        if known.with_komi(rules.komi) == rules:
            return name
    bonus = {"none": "0", "n": "N", "n-1": "N-1"}[rules.handicap_compensation]
    return f"ko{rules.ko.upper()}score{rules.scoring.upper()}sui{int(rules.suicide)}whb{bonus}"
