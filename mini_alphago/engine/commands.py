"""The commands of GTP 2, and what GoGui, KGS, CGOS and OGS have added to them, but for analysis (`kata.py`)."""

import math
import os
import time
from pathlib import Path

from ..game import BLACK, WHITE, Board, Rules, SgfGame, format_sgf, parse_sgf
from ..game.coords import PASS, from_gtp, to_gtp
from ..game.rules import RULE_SETS, check_komi, get_rules
from ..version import __version__
from .clock import gtp_settings, named_settings
from .gtp import COMMANDS, Gtp, GtpError, command
from .player import EngineSettings
from .status import count_board, final_statuses

_MOST_SGF_BYTES = 5_000_000
_COLORS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


def color(text: str) -> int:
    """BLACK or WHITE. GtpError if it is neither."""
    if text.lower() not in _COLORS:
        raise GtpError(f"{text[:20]!r} is no color: it is b or w")
    return _COLORS[text.lower()]


def need(arguments: list[str], count: int, what: str) -> list[str]:
    """The first `count` arguments. GtpError, saying what they are, if there are fewer."""
    if len(arguments) < count:
        raise GtpError(f"arguments needed: {what}")
    return arguments[:count]


def whole(text: str) -> int:
    """A whole number. GtpError if it is none."""
    if not text.lstrip("-").isdigit() or not text.isascii() or len(text) > 10:
        raise GtpError(f"{text[:20]!r} is not a whole number")
    return int(text)


# --- about itself -----------------------------------------------------------------------------------------------------


@command("protocol_version")
def _protocol_version(gtp: Gtp, arguments: list[str]) -> str:
    return "2"


@command("name")
def _name(gtp: Gtp, arguments: list[str]) -> str:
    return gtp.name


@command("version")
def _version(gtp: Gtp, arguments: list[str]) -> str:
    return __version__


@command("list_commands")
def _list_commands(gtp: Gtp, arguments: list[str]) -> str:
    return "\n".join(sorted(COMMANDS))


@command("known_command")
def _known_command(gtp: Gtp, arguments: list[str]) -> str:
    return "true" if arguments and arguments[0] in COMMANDS else "false"


@command("quit")
def _quit(gtp: Gtp, arguments: list[str]) -> str:
    gtp.finished = True
    return ""


@command("clear_cache")
def _clear_cache(gtp: Gtp, arguments: list[str]) -> str:
    gtp.engine.changed()
    return ""


@command("stop", "gogui-interrupt", "cgos-gameover", "gogui-analyze_commands")
def _nothing(gtp: Gtp, arguments: list[str]) -> str:
    return ""


@command("cputime")
def _cputime(gtp: Gtp, arguments: list[str]) -> str:
    return f"{time.process_time():.3f}"


# --- the game ---------------------------------------------------------------------------------------------------------


def _new_game(gtp: Gtp, size: int) -> None:
    before = gtp.engine.board
    gtp.engine.new_game(size, before.komi, before.rules)


@command("boardsize", "rectangular_boardsize")
def _boardsize(gtp: Gtp, arguments: list[str]) -> str:
    sizes = [whole(text) for text in need(arguments, 1, "size")] + [whole(text) for text in arguments[1:2]]
    if len(set(sizes)) > 1 or not 2 <= sizes[0] <= 19:
        raise GtpError("unacceptable size: boards are square, 2×2 to 19×19")
    _new_game(gtp, sizes[0])
    return ""


@command("clear_board")
def _clear_board(gtp: Gtp, arguments: list[str]) -> str:
    _new_game(gtp, gtp.engine.board.size)
    gtp.engine.clock.start(gtp.engine.clock.system)
    return ""


@command("komi")
def _komi(gtp: Gtp, arguments: list[str]) -> str:
    try:
        value = float(need(arguments, 1, "komi")[0])
    except ValueError:
        raise GtpError("komi is a number") from None
    if not math.isfinite(value):
        raise GtpError("komi is a number")
    check_komi(value)
    gtp.engine.board.komi = value
    gtp.engine.changed()
    return ""


@command("get_komi")
def _get_komi(gtp: Gtp, arguments: list[str]) -> str:
    return f"{gtp.engine.board.komi:g}"


@command("play")
def _play(gtp: Gtp, arguments: list[str]) -> str:
    player, vertex = need(arguments, 2, "color, vertex")
    move = from_gtp(vertex, gtp.engine.board.size)
    if reason := gtp.engine.play(color(player), move):
        raise GtpError(f"illegal move ({reason})")
    return ""


@command("gogui-play_sequence")
def _play_sequence(gtp: Gtp, arguments: list[str]) -> str:
    before = gtp.engine.board.copy()
    for i in range(0, len(arguments), 2):
        try:
            _play(gtp, arguments[i : i + 2])
        except ValueError:
            gtp.engine.set_board(before)
            raise
    return ""


@command("undo")
def _undo(gtp: Gtp, arguments: list[str]) -> str:
    if not gtp.engine.undo():
        raise GtpError("cannot undo")
    return ""


@command("gg-undo")
def _undo_many(gtp: Gtp, arguments: list[str]) -> str:
    count = whole(arguments[0]) if arguments else 1
    before = gtp.engine.board.copy()
    for _ in range(count):
        if not gtp.engine.undo():
            gtp.engine.set_board(before)
            raise GtpError("cannot undo so many moves")
    return ""


@command("set_position", "gogui-setup")
def _set_position(gtp: Gtp, arguments: list[str]) -> str:
    board = gtp.engine.board
    if len(arguments) % 2:
        raise GtpError("arguments needed: color and vertex of each stone")
    stones: dict[int, list[tuple[int, int]]] = {BLACK: [], WHITE: []}
    for player, vertex in zip(arguments[::2], arguments[1::2], strict=True):
        stones[color(player)].append(from_gtp(vertex, board.size))
    fresh = Board(board.size, board.komi, board.rules)
    fresh.setup(stones[BLACK], stones[WHITE])
    gtp.engine.set_board(fresh)
    return ""


# --- handicap ---------------------------------------------------------------------------------------------------------


def _handicap(gtp: Gtp, stones: int | list[tuple[int, int]]) -> str:
    board = gtp.engine.board
    if board.board.any() or board.move_count:
        raise GtpError("board not empty")
    placed = board.place_handicap(stones)
    gtp.engine.changed()
    return " ".join(to_gtp(x, y, board.size) for x, y in placed)


@command("fixed_handicap", "place_free_handicap")
def _fixed_handicap(gtp: Gtp, arguments: list[str]) -> str:
    return _handicap(gtp, whole(need(arguments, 1, "number of stones")[0]))


@command("set_free_handicap")
def _set_free_handicap(gtp: Gtp, arguments: list[str]) -> str:
    points = [from_gtp(vertex, gtp.engine.board.size) for vertex in need(arguments, 1, "vertices")] + [
        from_gtp(vertex, gtp.engine.board.size) for vertex in arguments[1:]
    ]
    if PASS in points or len(set(points)) != len(points):
        raise GtpError("bad vertex list: each stone on its own point")
    _handicap(gtp, points)
    return ""


# --- moves ------------------------------------------------------------------------------------------------------------


def chosen_move(gtp: Gtp, player: int, make: bool = True, cleanup: bool = False) -> str:
    """The engine's move as GTP writes it, `resign` included; made on the board unless told otherwise."""
    engine = gtp.engine
    settings = engine.settings
    if cleanup:
        engine.settings = EngineSettings(**{**settings.__dict__, "cleanup": True, "friendly_pass": False})
    try:
        choice = engine.genmove(player, gtp.told_to_move)
    finally:
        engine.settings = settings
    if choice.resigns and make and not cleanup:
        return "resign"
    if make:
        engine.play(player, choice.move)
    return to_gtp(*choice.move, engine.board.size)


@command("genmove")
def _genmove(gtp: Gtp, arguments: list[str]) -> str:
    return chosen_move(gtp, color(need(arguments, 1, "color")[0]))


@command("reg_genmove")
def _reg_genmove(gtp: Gtp, arguments: list[str]) -> str:
    return chosen_move(gtp, color(need(arguments, 1, "color")[0]), make=False)


@command("kgs-genmove_cleanup")
def _genmove_cleanup(gtp: Gtp, arguments: list[str]) -> str:
    return chosen_move(gtp, color(need(arguments, 1, "color")[0]), cleanup=True)


# --- time -------------------------------------------------------------------------------------------------------------


@command("time_settings")
def _time_settings(gtp: Gtp, arguments: list[str]) -> str:
    gtp.engine.clock.start(gtp_settings(arguments))
    return ""


@command("kgs-time_settings", "kata-time_settings")
def _named_time_settings(gtp: Gtp, arguments: list[str]) -> str:
    gtp.engine.clock.start(named_settings(arguments))
    return ""


@command("kata-list_time_settings")
def _list_time_settings(gtp: Gtp, arguments: list[str]) -> str:
    return "none absolute byoyomi canadian fischer fischer-capped"


@command("time_left")
def _time_left(gtp: Gtp, arguments: list[str]) -> str:
    player, seconds, count = need(arguments, 3, "color, time, stones")
    try:
        left = float(seconds)
    except ValueError:
        raise GtpError("time is a number of seconds") from None
    gtp.engine.clock.time_left(color(player), left, whole(count))
    return ""


# --- the end of the game ----------------------------------------------------------------------------------------------


@command("final_score")
def _final_score(gtp: Gtp, arguments: list[str]) -> str:
    score = count_board(gtp.engine.board, gtp.engine.evaluator).score
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


@command("final_status_list")
def _final_status_list(gtp: Gtp, arguments: list[str]) -> str:
    board = gtp.engine.board
    wanted = need(arguments, 1, "alive, dead or seki")[0]
    if wanted not in ("alive", "dead", "seki"):
        raise GtpError("the status is alive, dead or seki")
    chains: list[list[tuple[int, int]]] = getattr(final_statuses(board, gtp.engine.evaluator), wanted)
    return "\n".join(" ".join(to_gtp(x, y, board.size) for x, y in chain) for chain in chains)


# --- rules and records ------------------------------------------------------------------------------------------------


def set_rules(gtp: Gtp, rules: Rules) -> None:
    """Play on under these rules, at the komi there is."""
    board = gtp.engine.board
    board.set_rules(rules, board.komi)
    gtp.engine.changed()


@command("kgs-rules")
def _kgs_rules(gtp: Gtp, arguments: list[str]) -> str:
    name = need(arguments, 1, f"one of {', '.join(RULE_SETS)}")[0].replace("_", "-")
    set_rules(gtp, get_rules(name))
    return ""


@command("showboard")
def _showboard(gtp: Gtp, arguments: list[str]) -> str:
    return f"\n{gtp.engine.board}"


@command("loadsgf")
def _loadsgf(gtp: Gtp, arguments: list[str]) -> str:
    path = Path(need(arguments, 1, "file name, move number")[0])
    number = whole(arguments[1]) if len(arguments) > 1 else None
    try:
        if os.path.getsize(path) > _MOST_SGF_BYTES:
            raise GtpError("cannot load file: it is too large")
        game = parse_sgf(path.read_bytes())
    except OSError as error:
        raise GtpError(f"cannot load file: {error.strerror}") from None
    # The move with this number has not been made yet.
    gtp.engine.set_board(game.board(None if number is None else max(0, min(number - 1, len(game.moves)))))
    return ""


@command("printsgf")
def _printsgf(gtp: Gtp, arguments: list[str]) -> str:
    text = format_sgf(SgfGame.from_board(gtp.engine.board)).strip()
    if not arguments:
        return text
    try:
        Path(arguments[0]).write_text(text + "\n")
    except OSError as error:
        raise GtpError(f"cannot write file: {error.strerror}") from None
    return ""
