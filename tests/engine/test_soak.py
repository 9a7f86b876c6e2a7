"""Long sessions: thousands of commands in one engine, which neither loses track of the game nor gathers memory."""

import ctypes
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_alphago.engine import Engine, EngineSettings, Gtp
from mini_alphago.engine.gtp import COMMANDS
from mini_alphago.game import BLACK, WHITE, Board, Rules, parse_sgf
from mini_alphago.game.coords import PASS, from_flat, from_gtp, to_gtp
from mini_alphago.game.rules import get_rules
from mini_alphago.model import Evaluator, KataGoNetwork

from ..mcts.evaluators import Uniform
from .talk import ask, new_engine, talk

MEMORY = Path("/proc/self/statm")
MOST_GROWTH = 24  # MB
FILES = ("loadsgf", "printsgf")
SEARCHING = ("genmove", "kgs-genmove_cleanup", "lz-genmove_analyze", "kata-genmove_analyze", "cgos-genmove_analyze")
ANALYSES = ("reg_genmove", "lz-analyze", "kata-analyze")
SETUPS = ("set_position", "gogui-setup")
HANDICAPS = ("fixed_handicap", "place_free_handicap", "set_free_handicap")
SIZES = ("boardsize", "rectangular_boardsize")
RULES = ("kgs-rules", "kata-set-rules", "kata-set-rule")
CLOCKS = {
    "time_settings": ["300 0 0", "0 3 1", "0 0 0"],
    "kgs-time_settings": ["none", "absolute 300", "byoyomi 300 10 3", "canadian 300 10 5"],
    "kata-time_settings": ["fischer 300 5", "fischer-capped 300 5 400 50"],
    "time_left": ["b 250 0", "w 10 3"],
}
PLAIN = {
    "kata-set-param": ["maxVisits 1", "maxVisits 2", "maxTime 10"],
    "kata-get-param": ["maxVisits", "maxTime", "ponderingEnabled"],
    "known_command": ["play", "dance"],
    "final_status_list": ["alive", "dead", "seki"],
    "kata-raw-nn": ["0", ""],
    "cgos-gameover": ["B+3.5"],
    **CLOCKS,
}
CHANGING = {"komi", "clear_board", "play", "gogui-play_sequence", "undo", "gg-undo", *SEARCHING, *ANALYSES, *SETUPS,
            *HANDICAPS, *SIZES, *RULES, *FILES}  # fmt: skip
SLOW = {"final_score", "final_status_list", "kata-raw-nn", "kgs-genmove_cleanup"}


class Client:
    """Says plausible things, at random, and knows what the board must be after each of them."""

    def __init__(self, engine: Engine, seed: int, folder: Path) -> None:
        self.engine, self.rng, self.folder = engine, random.Random(seed), folder
        self.board = Board(9)
        self.names = sorted(set(COMMANDS) - {"quit"})
        self.weights = [12 if name in ("play", "genmove") else 0.3 if name in SLOW else 1 for name in self.names]

    def say(self, name: str | None = None) -> bool:
        """Send one command, follow it on our own board, and compare. Whether it was accepted."""
        name = name or self.rng.choices(self.names, self.weights)[0]
        words = self.words(name)
        (answer,) = ask(self.engine, f"{name} {words}".strip())
        accepted, text = answer[0] == "=", answer[1:].strip()
        if name in CHANGING:
            assert self.follow(name, words.split(), accepted, text) == accepted, (name, words, answer)
        elif name == "showboard":
            assert text == str(self.board).strip()
        else:
            assert accepted, (name, words, answer)
        board = self.engine.board
        assert board == self.board, (name, words, answer)
        assert board.history == self.board.history
        assert board.komi == self.board.komi
        return accepted

    # --- what to say ------------------------------------------------------------------------------------------------

    def words(self, name: str) -> str:
        rng, color = self.rng, self.rng.choice("bw")
        if name in PLAIN:
            return rng.choice(PLAIN[name])
        if name in SIZES:
            size = rng.randint(5, 13)
            return f"{size} {size}" if name.startswith("rect") else str(size)
        if name == "komi":
            return str(rng.randrange(-20, 20) / 2)
        if name == "play":
            turn = ".bw"[self.board.current_player] if rng.random() < 0.9 else color
            return f"{turn} {self.vertex()}"
        if name in SEARCHING or name == "reg_genmove":
            return color
        if name in ANALYSES:
            return rng.choice(["", "5", f"{color} 5", f"{color} interval 5 maxmoves 3"])
        if name in ("gogui-play_sequence", *SETUPS):
            return " ".join(f"{rng.choice('bw')} {self.vertex(passes=False)}" for _ in range(rng.randrange(6)))
        if name == "set_free_handicap":
            return " ".join(self.vertex(passes=False) for _ in range(rng.randint(1, 4)))
        if name in ("gg-undo", *HANDICAPS):
            return str(rng.randint(1, 5))
        return self.rule_or_file(name)

    def rule_or_file(self, name: str) -> str:
        if name == "kgs-rules":
            return self.rng.choice(["japanese", "chinese", "aga", "new_zealand"])
        if name == "kata-set-rules":
            return self.rng.choice(["tromp-taylor", "chinese", "korean", '{"ko": "SITUATIONAL", "suicide": true}'])
        if name == "kata-set-rule":
            return self.rng.choice(["ko SIMPLE", "ko POSITIONAL", "scoring TERRITORY", "scoring AREA", "suicide false"])
        if name in FILES:
            return str(self.folder / f"{self.rng.randrange(3)}.sgf")
        return ""

    def vertex(self, passes: bool = True) -> str:
        size = self.board.size
        if passes and self.rng.random() < 0.05:
            return "pass"
        return to_gtp(self.rng.randrange(size), self.rng.randrange(size), size)

    # --- what must come of it ---------------------------------------------------------------------------------------

    def follow(self, name: str, words: list[str], accepted: bool, answer: str) -> bool:
        """Do the same to our board. Whether the engine had to accept it."""
        board = self.board
        if name in SIZES or name == "clear_board":
            self.board = Board(int(words[0]) if words else board.size, board.komi, board.rules)
        elif name == "komi":
            board.komi = float(words[0])
        elif name in ("play", "gogui-play_sequence"):
            return self.play_all(words)
        elif name in ("undo", "gg-undo"):
            return self.undo(int(words[0]) if words else 1)
        elif name in SEARCHING:
            return self.play_all([words[0], re.search(r"(pass|[A-HJ-T]\d+)$", answer)[1]])
        elif name in ANALYSES:  # whoever it was for, it is still the same player's turn
            self.turn_to(board.current_player)
        elif name in RULES:
            self.set_rules(name, words)
        elif name in FILES:
            return self.use_file(name, Path(words[0]))
        else:
            return self.set_up(name, words)
        return True

    def turn_to(self, player: int) -> None:
        if self.board.is_game_over():
            self.board.resume()
        if self.board.current_player != player:
            self.board.current_player = player

    def play_all(self, words: list[str]) -> bool:
        before = self.board.copy()
        for color, vertex in zip(words[::2], words[1::2], strict=True):
            player, (x, y) = {"b": BLACK, "w": WHITE}[color], from_gtp(vertex, before.size)
            if (x, y) != PASS and not self.board.is_legal(x, y, player):
                self.board = before
                return False
            self.turn_to(player)
            if (x, y) == PASS:
                self.board.pass_move()
            else:
                self.board.play(x, y)
        return True

    def undo(self, count: int) -> bool:
        before = self.board.copy()
        if all(self.board.undo() for _ in range(count)):
            return True
        self.board = before
        return False

    def set_rules(self, name: str, words: list[str]) -> None:
        if name == "kata-set-rule":
            value = {"suicide": False}.get(words[0], words[1].lower())
            rules = replace(self.board.rules, **{words[0]: value})
        elif words[0].startswith("{"):
            rules = replace(get_rules("cgos"), ko="situational", suicide=True)
        else:
            rules = get_rules(words[0])
        self.board.set_rules(rules, self.board.komi)

    def set_up(self, name: str, words: list[str]) -> bool:
        board = self.board
        fresh = Board(board.size, board.komi, board.rules)
        try:
            if name in SETUPS:
                stones = [(color, from_gtp(v, board.size)) for color, v in zip(words[::2], words[1::2], strict=True)]
                fresh.setup(*([point for color, point in stones if color == own] for own in "bw"))
            elif board.move_count or board.board.any():
                return False
            else:
                points = [from_gtp(vertex, board.size) for vertex in words] if name == "set_free_handicap" else None
                fresh.place_handicap(int(words[0]) if points is None else points)
        except ValueError:
            return False
        self.board = fresh
        return True

    def use_file(self, name: str, path: Path) -> bool:
        if name == "loadsgf" and path.exists():
            self.board = parse_sgf(path.read_bytes()).board()
        return path.exists()


def resident() -> float:
    """Megabytes of this process in memory, without the some 30 given back that the allocator keeps."""
    getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)(0)  # glibc's
    return int(MEMORY.read_text().split()[1]) * 4096 / 1e6


@pytest.fixture
def client(tmp_path, plain_torch):
    evaluator = Evaluator(KataGoNetwork(1, 8).eval(), "cpu", "f32", engine="torch")
    return Client(Engine(evaluator, EngineSettings(visits=2, leaves=2, memory=16), 9), seed=3, folder=tmp_path)


@pytest.mark.skipif(not MEMORY.exists(), reason="only Linux says how much memory a process has")
@pytest.mark.parametrize("count", [1500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_commands(client, count):
    for name in client.names:  # each at least once
        client.say(name)
    refused = 0
    for number in range(count):
        if number == count // 5:
            before = resident()
        refused += not client.say()
    assert count // 100 < refused < count // 2
    assert resident() - before < MOST_GROWTH


# --- whatever anybody says --------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["b", "w", "A1", "C3", "E5", "pass", "5", "3", "0", "-1", "1e9", "nan", "x", "true", "dead",
                         "{}", '{"ko":', "japanese", "#", "ü", "9" * 40])  # fmt: skip
NAMES = st.sampled_from(sorted(set(COMMANDS) - {"quit", *FILES}))
RIGHT = st.builds(lambda name, words: " ".join([name, *words]).encode(), NAMES, st.lists(WORDS, max_size=5))
NUMBERED = st.builds(lambda number, line: b"%d %s" % (number, line), st.integers(0, 10**12), RIGHT)
MANGLED = st.builds(
    lambda line, at, junk: line[:at] + junk + line[at:], RIGHT, st.integers(0, 12), st.binary(max_size=4)
)
LINES = st.lists(st.one_of(RIGHT, NUMBERED, MANGLED, st.binary(max_size=40)), max_size=12)


def check_board(board: Board) -> None:
    """A board that Go knows: every chain has a liberty, and all moves can be taken back."""
    for x, y in zip(*np.nonzero(board.board), strict=True):
        assert board.count_liberties(int(x), int(y)) > 0
    copy = board.copy()
    assert copy == board
    while copy.undo():
        pass
    assert PASS in board.get_legal_moves()


@settings(deadline=None, max_examples=200, derandomize=True, database=None)
@given(LINES)
def test_nothing_that_is_said_breaks_the_engine(lines):
    """Every line is answered in the form that clients read, and the engine goes on."""
    engine = new_engine(5, Uniform(), visits=2, memory=16)
    lines = [line.replace(b"\n", b"") for line in lines]
    answers = talk(b"".join(line + b"\n" for line in lines), b"77 boardsize 5\n77 name\n", engine=engine)
    assert answers[-2:] == ["=77", "=77 mini-alphago"]
    commands = [words for line in lines if (words := Gtp._parse(line.decode("utf-8", "replace")))[0]]
    assert len(answers) == len(commands) + 2
    for (_, number), answer in zip(commands, answers, strict=False):
        assert re.match(rf"[=?]{number}(?: |\n|$)", answer)
    check_board(engine.board)


@settings(deadline=None, max_examples=60, derandomize=True, database=None)
@given(st.integers(2, 13), st.lists(st.integers(0, 169), max_size=60), st.integers(-20, 20), st.data())
def test_a_game_that_is_printed_can_be_loaded(tmp_path_factory, size, moves, komi, data):
    engine = new_engine(5, Uniform())
    lines = [f"boardsize {size}", f"komi {komi / 2}"]
    for move in moves:
        x, y = from_flat(move % (size * size + 1), size)
        lines.append(f"play {'.bw'[data.draw(st.integers(1, 2))]} {to_gtp(x, y, size)}")
    path = tmp_path_factory.mktemp("sgf") / "game.sgf"
    answers = ask(engine, *lines, f"printsgf {path}")
    before = engine.board
    assert ask(engine, "boardsize 19", f"loadsgf {path}") == ["=", "="]
    assert answers[-1] == "="
    assert engine.board.history == before.history
    assert np.array_equal(engine.board.board, before.board)
    assert engine.board.komi == komi / 2


@pytest.mark.parametrize("scoring", ["area", "territory"])
@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize("compensation", ["none", "n", "n-1"])
@pytest.mark.parametrize("suicide", [False, True])
def test_rules_that_are_asked_for_can_be_set(scoring, ko, compensation, suicide):
    rules = Rules(ko, scoring, suicide, 5.5, compensation)
    engine, other = new_engine(5), new_engine(5)
    engine.new_game(5, 5.5, rules)
    (answer,) = ask(engine, "kata-get-rules")
    assert ask(other, "komi 5.5", f"kata-set-rules {answer[2:]}", "kata-get-rules") == ["=", "=", answer]
    assert other.board.rules == rules
