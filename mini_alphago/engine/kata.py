"""Analysis over GTP, as Leela Zero and KataGo have taught it to Sabaki and Lizzie; KataGo's rules and parameters.

Winrates and scores are those of the player to move. In `lz-` answers winrates are whole numbers up to 10000, in `kata-`
answers numbers up to 1.
"""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..game import Rules
from ..game.coords import from_gtp, to_flat, to_gtp
from ..game.rules import RULE_SETS, get_rules
from ..mcts import RootMove
from ..mcts.search import Search
from .commands import color, need, set_rules, whole
from .gtp import Gtp, GtpError, command
from .player import Choice, EngineSettings

_DEFAULT_INTERVAL = 1.0  # seconds between two reports
_SURE = 1.96


@dataclass(frozen=True)
class Wanted:
    """What a client asks of an analysis."""

    player: int | None = None
    interval: float = _DEFAULT_INTERVAL  # seconds
    min_moves: int = 0
    max_moves: int = 1000
    ownership: bool = False
    root_info: bool = False
    pv_visits: bool = False
    avoid: set[tuple[int, int]] = field(default_factory=set)
    allow: set[tuple[int, int]] = field(default_factory=set)


def parse_wanted(arguments: list[str], size: int) -> Wanted:
    """`[color] [interval] [key value]…`; everything may be left out. GtpError for what is unknown."""
    wanted = Wanted()
    words = list(arguments)
    if words and words[0].lower() in ("b", "w", "black", "white"):
        wanted = replace(wanted, player=color(words.pop(0)))
    if words and words[0].isascii() and words[0].isdigit():
        wanted = replace(wanted, interval=max(1, whole(words.pop(0))) / 100)
    while words:
        key = words.pop(0)
        if key in ("avoid", "allow"):
            _, points, _ = need(words, 3, f"{key} color vertices until_move")
            del words[:3]
            moves = {from_gtp(vertex, size) for vertex in points.split(",")}
            wanted = replace(wanted, **{key: getattr(wanted, key) | moves})
            continue
        value = need(words, 1, f"a value for {key[:20]}")[0]
        del words[:1]
        wanted = _with(wanted, key, value)
    return wanted


def _with(wanted: Wanted, key: str, value: str) -> Wanted:
    flags = {"ownership": "ownership", "rootInfo": "root_info", "pvVisits": "pv_visits"}
    changes: dict[str, Any]
    if key == "interval":
        return replace(wanted, interval=max(1, whole(value)) / 100)
    if key == "minmoves":
        return replace(wanted, min_moves=whole(value))
    if key == "maxmoves":
        return replace(wanted, max_moves=max(1, whole(value)))
    if key in flags:
        changes = {flags[key]: value.lower() == "true"}
        return replace(wanted, **changes)
    if key in ("movesOwnership", "ownershipStdev", "movesOwnershipStdev", "noResultValue"):
        return wanted  # known, and not offered
    raise GtpError(f"unknown analysis argument {key[:20]!r}")


# --- what a report says -----------------------------------------------------------------------------------------------


def _candidates(moves: list[RootMove], wanted: Wanted) -> list[RootMove]:
    visited = sum(move.visits > 0 for move in moves)
    return moves[: max(1, min(wanted.max_moves, max(visited, wanted.min_moves)))]


def lower_bound(move: RootMove) -> float:
    """A winrate below which the move is hardly worth, 0 to 1."""
    winrate = (move.value + 1) / 2
    spread = _SURE * math.sqrt(max(winrate * (1 - winrate), 0.01) / max(1, move.visits))
    return max(0.0, winrate - spread)


def _lz_info(order: int, move: RootMove, size: int) -> str:
    line = " ".join(to_gtp(x, y, size) for x, y in move.variation or [move.move])
    return (
        f"info move {to_gtp(*move.move, size)} visits {move.visits} winrate {round(5000 * (move.value + 1))} "
        f"prior {round(10000 * move.prior)} lcb {round(10000 * lower_bound(move))} order {order} pv {line}"
    )


def _kata_info(order: int, move: RootMove, size: int, pv_visits: bool) -> str:
    variation = move.variation or [move.move]
    line = " ".join(to_gtp(x, y, size) for x, y in variation)
    visits = f" pvVisits {' '.join(map(str, move.variation_visits or [move.visits]))}" if pv_visits else ""
    low = lower_bound(move)
    return (
        f"info move {to_gtp(*move.move, size)} visits {move.visits} utility {move.utility:.6g} "
        f"winrate {(move.value + 1) / 2:.6f} scoreMean {move.score:.6g} scoreStdev 0 scoreLead {move.score:.6g} "
        f"scoreSelfplay {move.score:.6g} prior {move.prior:.6f} lcb {low:.6f} utilityLcb {2 * low - 1:.6g} "
        f"weight {move.visits} order {order}{visits} pv {line}"
    )


def report(gtp: Gtp, moves: list[RootMove], wanted: Wanted, kata: bool) -> str:
    """One line that says everything there is to say now; empty if nothing was visited yet."""
    size = gtp.engine.board.size
    shown = _candidates(moves, wanted)
    if not any(move.visits for move in moves):
        return ""
    if not kata:
        return " ".join(_lz_info(order, move, size) for order, move in enumerate(shown))
    parts = [_kata_info(order, move, size, wanted.pv_visits) for order, move in enumerate(shown)]
    total = sum(move.visits for move in moves)
    if wanted.root_info:
        value = sum(move.visits * move.value for move in moves) / total
        score = sum(move.visits * move.score for move in moves) / total
        utility = sum(move.visits * move.utility for move in moves) / total
        parts.append(
            f"rootInfo visits {total} utility {utility:.6g} winrate {(value + 1) / 2:.6f} scoreMean {score:.6g} "
            f"scoreStdev 0 scoreLead {score:.6g} scoreSelfplay {score:.6g} weight {total}"
        )
    if wanted.ownership:
        owner = gtp.engine.evaluator.evaluate(gtp.engine.board_for(wanted.player).games).ownership
        numbers = np.zeros(size * size) if owner is None else owner[0]
        parts.append("ownership " + " ".join(f"{number:.4g}" for number in numbers.tolist()))
    return " ".join(parts)


# --- analysing --------------------------------------------------------------------------------------------------------


def _steps(gtp: Gtp, wanted: Wanted, kata: bool) -> Iterator[None]:
    """Search without end, writing a report at each interval; yields after each network call."""
    search = _restricted(gtp, wanted) if wanted.avoid or wanted.allow else gtp.engine.search(wanted.player)
    last = time.perf_counter()
    for _ in gtp.engine.thinking(wanted.player):
        if time.perf_counter() - last >= wanted.interval and not gtp.interrupted():
            last = time.perf_counter()
            if line := report(gtp, search.root_moves(), wanted, kata):
                gtp.write(line + "\n")
        yield


def _restricted(gtp: Gtp, wanted: Wanted) -> Search:
    """The search from here with only those moves that the client wants to see."""
    board = gtp.engine.board_for(wanted.player)
    gtp.engine.changed()  # what is known of other moves must not be in it
    search = gtp.engine.search(wanted.player)
    search.step(np.zeros(1, np.int64))
    moves = set(board.get_legal_moves()) - wanted.avoid
    moves = moves & wanted.allow if wanted.allow else moves
    search.restrict(0, {to_flat(x, y, board.size) for x, y in moves})
    return search


def _analyze(gtp: Gtp, arguments: list[str], kata: bool) -> None:
    """Until the client says anything at all, even only `stop` or an empty line; or goes away."""
    wanted = parse_wanted(arguments, gtp.engine.board.size)
    gtp.begin()
    for _ in _steps(gtp, wanted, kata):
        if gtp.interrupted() or gtp.finished:
            break
    if wanted.avoid or wanted.allow:
        gtp.engine.changed()  # and what was left out must not stay out
    gtp.end()


@command("lz-analyze")
def _lz_analyze(gtp: Gtp, arguments: list[str]) -> None:
    _analyze(gtp, arguments, kata=False)


@command("kata-analyze")
def _kata_analyze(gtp: Gtp, arguments: list[str]) -> None:
    _analyze(gtp, arguments, kata=True)


def _genmove_analyze(gtp: Gtp, arguments: list[str], kata: bool) -> None:
    """As genmove, with reports on the way; no other command interrupts it."""
    engine = gtp.engine
    wanted = parse_wanted(arguments, engine.board.size)
    player = engine.board.current_player if wanted.player is None else wanted.player
    gtp.begin()
    last = time.perf_counter()

    def look() -> bool:
        nonlocal last
        if time.perf_counter() - last >= wanted.interval:
            last = time.perf_counter()
            if line := report(gtp, engine.search(player).root_moves(), wanted, kata):
                gtp.write(line + "\n")
        return gtp.told_to_move()

    choice = engine.genmove(player, look)
    if line := report(gtp, choice.moves, wanted, kata):
        gtp.write(line + "\n")
    _end_with_move(gtp, player, choice)


def _end_with_move(gtp: Gtp, player: int, choice: Choice) -> None:
    """Make the move, unless it is to resign, and end the answer with it."""
    if choice.resigns:
        gtp.write("play resign\n")
    else:
        gtp.engine.play(player, choice.move)
        gtp.write(f"play {to_gtp(*choice.move, gtp.engine.board.size)}\n")
    gtp.end()


@command("lz-genmove_analyze")
def _lz_genmove_analyze(gtp: Gtp, arguments: list[str]) -> None:
    _genmove_analyze(gtp, arguments, kata=False)


@command("kata-genmove_analyze")
def _kata_genmove_analyze(gtp: Gtp, arguments: list[str]) -> None:
    _genmove_analyze(gtp, arguments, kata=True)


@command("cgos-genmove_analyze")
def _cgos_genmove_analyze(gtp: Gtp, arguments: list[str]) -> None:
    """A move, and on a line of its own what CGOS shows beside it: the moves it was chosen from."""
    player, size = color(need(arguments, 1, "color")[0]), gtp.engine.board.size
    choice = gtp.engine.genmove(player, gtp.told_to_move)
    moves = [move for move in choice.moves if move.visits][:10]
    shown = [{"move": to_gtp(*m.move, size), "visits": m.visits, "winrate": round((m.value + 1) / 2, 4)} for m in moves]
    gtp.begin()
    gtp.write(json.dumps({"moves": shown}) + "\n")
    _end_with_move(gtp, player, choice)


# --- KataGo's rules and parameters ------------------------------------------------------------------------------------

_BONUS = {"none": "0", "n": "N", "n-1": "N-1"}


def rules_json(rules: Rules) -> dict[str, Any]:
    """Rules as KataGo writes them."""
    return {
        "hasButton": False, "ko": rules.ko.upper(), "scoring": rules.scoring.upper(), "suicide": rules.suicide,
        "tax": "NONE" if rules.scoring == "area" else "SEKI", "whiteHandicapBonus": _BONUS[rules.handicap_compensation],
        "friendlyPassOk": True,
    }  # fmt: skip


def parse_rules(text: str) -> Rules:
    """Rules by name, or as KataGo's JSON object. GtpError if they are unknown."""
    text = text.strip()
    if not text.startswith("{"):
        return get_rules(text)
    try:
        values = json.loads(text)
        bonus = {value: name for name, value in _BONUS.items()}
        return Rules(
            ko=str(values.get("ko", "POSITIONAL")).lower(),  # type: ignore[arg-type]
            scoring=str(values.get("scoring", values.get("score", "AREA"))).lower(),  # type: ignore[arg-type]
            suicide=bool(values.get("suicide", values.get("multiStoneSuicideLegal", False))),
            handicap_compensation=bonus[str(values.get("whiteHandicapBonus", "0"))],  # type: ignore[arg-type]
        )
    except (json.JSONDecodeError, KeyError, AttributeError):
        raise GtpError("rules are a name or KataGo's JSON object") from None


@command("kata-get-rules")
def _get_rules(gtp: Gtp, arguments: list[str]) -> str:
    return json.dumps(rules_json(gtp.engine.board.rules))


@command("kata-set-rules")
def _set_rules(gtp: Gtp, arguments: list[str]) -> str:
    set_rules(gtp, parse_rules(" ".join(need(arguments, 1, f"one of {', '.join(RULE_SETS)}, or JSON") + arguments[1:])))
    return ""


@command("kata-set-rule")
def _set_rule(gtp: Gtp, arguments: list[str]) -> str:
    key, value = need(arguments, 2, "rule, value")
    current = rules_json(gtp.engine.board.rules)
    if key not in current:
        raise GtpError(f"unknown rule {key[:20]!r}: known are {', '.join(current)}")
    current[key] = {"true": True, "false": False}.get(value.lower(), value)
    set_rules(gtp, parse_rules(json.dumps(current)))
    return ""


@command("kata-list-params")
def _list_params(gtp: Gtp, arguments: list[str]) -> str:
    return "maxVisits maxTime ponderingEnabled"


def _param(settings: EngineSettings, name: str) -> str:
    values = {"maxVisits": settings.visits, "maxTime": settings.seconds, "ponderingEnabled": settings.ponder}
    if name not in values:
        raise GtpError(f"unknown parameter {name[:20]!r}: known are {', '.join(values)}")
    value = values[name]
    return "true" if value is True else "false" if value is False else "1e20" if value is None else str(value)


@command("kata-get-param")
def _get_param(gtp: Gtp, arguments: list[str]) -> str:
    return _param(gtp.engine.settings, need(arguments, 1, "name")[0])


@command("kata-set-param")
def _set_param(gtp: Gtp, arguments: list[str]) -> str:
    name, value = need(arguments, 2, "name, value")
    settings = gtp.engine.settings
    _param(settings, name)
    if name == "ponderingEnabled":
        gtp.engine.settings = replace(settings, ponder=value.lower() == "true")
        return ""
    try:
        number = float(value)
    except ValueError:
        raise GtpError(f"{name} is a number") from None
    if name == "maxVisits":
        gtp.engine.settings = replace(settings, visits=int(number) if 1 <= number < 1e8 else None)
    else:
        gtp.engine.settings = replace(settings, seconds=number if 0 < number < 1e6 else None)
    return ""
