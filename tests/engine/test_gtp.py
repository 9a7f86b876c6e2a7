"""The protocol: answers as clients expect them, and nothing they send breaks the game."""

import json
import re
import time

import pytest

from mini_alphago.engine import Gtp
from mini_alphago.engine.gtp import COMMANDS, LONGEST_LINE
from mini_alphago.engine.late import LateEvaluator
from mini_alphago.game import BLACK, WHITE, parse_sgf
from mini_alphago.model import Evaluator, KataGoNetwork

from ..mcts.evaluators import Uniform
from .talk import ask, new_engine, talk

VERTEX = re.compile(r"([A-HJ-T]\d+|pass|resign)$")


def test_numbers_are_echoed_and_noise_is_ignored():
    text = "\n \n# a comment\n7 name # and another\n\tname\t\r\n12 nonsense\n5\n"
    assert talk(text) == ["=7 mini-alphago", "= mini-alphago", "?12 unknown command", "?5 unknown command"]


def test_about_itself():
    protocol, version, known, unknown, listed, quit_ = ask(
        new_engine(),
        "protocol_version",
        "version",
        "known_command play",
        "known_command dance",
        "list_commands",
        "quit",
    )
    assert (protocol, known, unknown, quit_) == ("= 2", "= true", "= false", "=")
    assert re.fullmatch(r"= \d+(\.\d+)*", version)
    assert listed[2:].split("\n") == sorted(COMMANDS)
    assert not {"analyze", "genmove_analyze"} & set(COMMANDS)  # Sabaki would prefer them, and misread them


def test_a_small_game():
    engine = new_engine()
    answers = ask(engine, "boardsize 5", "komi 2.5", "clear_board", "play b C3", "genmove w", "get_komi", "showboard")
    assert answers[:4] == ["="] * 4
    assert VERTEX.search(answers[4])
    assert answers[5] == "= 2.5"
    assert " X" in answers[6]
    assert engine.board.move_count == 2
    assert ask(engine, "undo", "undo", "undo") == ["=", "=", "? cannot undo"]
    assert engine.board.komi == 2.5


def test_thinking_for_the_other_player_leaves_the_game_alone():
    engine = new_engine()
    # 5 . X O .
    # 4 X O . O    White has just taken c4, where Black may not take back at once.
    # 3 . X O .
    stones = ("b B5", "b A4", "b B3", "w C5", "w D4", "w C3", "b C4", "w B4")
    ask(engine, "kata-set-rules chinese", *(f"play {stone}" for stone in stones))
    assert engine.board.ko_point is not None
    assert ask(engine, "play b C4")[0].startswith("? illegal move")
    assert VERTEX.search(ask(engine, "reg_genmove w")[0])
    assert engine.board.current_player == BLACK
    assert ask(engine, "play b C4")[0].startswith("? illegal move"), "the ko is still there"
    talk("kata-analyze w 1 ownership true\n", 0.3, "\n", engine=engine)
    assert engine.board.current_player == BLACK
    assert ask(engine, "play b C4")[0].startswith("? illegal move")
    assert ask(engine, "reg_genmove b", "genmove w")[1].startswith("= ")
    assert engine.board.current_player == BLACK


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("boardsize 25", "unacceptable size"),
        ("boardsize 9 13", "unacceptable size"),
        ("boardsize", "arguments needed"),
        ("boardsize -3", "unacceptable size"),
        ("boardsize nine", "whole number"),
        ("komi nan", "komi"),
        ("komi 1e99", "komi"),
        ("komi", "komi is a number"),
        ("play b C3", "illegal move (occupied)"),
        ("play b Z9", "not a point"),
        ("play b", "arguments needed"),
        ("play green A1", "no color"),
        ("genmove", "arguments needed"),
        ("genmove green", "no color"),
        ("fixed_handicap 2", "board not empty"),
        ("time_left b soon 1", "number of seconds"),
        ("time_settings 1 2", "numbers are needed"),
        ("kgs-time_settings hourglass 3", "time systems are"),
        ("final_status_list", "arguments needed"),
        ("final_status_list zombie", "alive, dead or seki"),
        ("loadsgf /nowhere/at/all.sgf", "cannot load file"),
        ("printsgf /nowhere/at/all.sgf", "cannot write file"),
        ("kata-set-rules nonsense", "unknown rules"),
        ('kata-set-rules {"ko"', "rules are"),
        ("kata-set-param maxVisits many", "is a number"),
        ("kata-get-param colour", "unknown parameter"),
        ("lz-analyze bogus 3", "unknown analysis argument"),
        ("gg-undo 99", "cannot undo"),
        ("set_position b", "color and vertex"),
        ("gogui-play_sequence b A1 b A1", "illegal move"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(line, reason):
    engine = new_engine()
    ask(engine, "play b C3")
    before = engine.board.copy()
    (answer,) = ask(engine, line)
    assert answer.startswith("? ")
    assert reason in answer
    assert "\n" not in answer
    assert engine.board == before
    assert engine.board.history == before.history


def test_handicap():
    engine = new_engine(9)
    assert ask(engine, "boardsize 9", "fixed_handicap 2")[1] == "= C3 G7"
    assert engine.board.current_player == WHITE
    assert ask(engine, "clear_board", "set_free_handicap A1 B2 C3", "genmove w")[1] == "="
    assert ask(engine, "clear_board", "set_free_handicap A1 A1")[1].startswith("? bad vertex list")


def test_records(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]FF[4]SZ[5]KM[3.5];B[cc];W[dd];B[bb])")
    engine = new_engine()
    assert ask(engine, f"loadsgf {path} 3", "printsgf")[0] == "="
    assert engine.board.history == [(2, 2, BLACK), (3, 3, WHITE)]
    (_, text) = ask(engine, f"loadsgf {path}", "printsgf")
    assert parse_sgf(text[2:]).moves == [(2, 2, BLACK), (3, 3, WHITE), (1, 1, BLACK)]


def test_the_end_of_the_game():
    engine = new_engine()
    moves = [f"play b {c}{r}" for r in (3,) for c in "ABCDE"]
    answers = ask(engine, "komi 0.5", *moves, "final_score", "final_status_list alive", "final_status_list dead")
    assert answers[-3] == "= B+24.5"
    assert answers[-2] == "= A3 B3 C3 D3 E3"
    assert answers[-1] == "="


def test_analysis_ends_with_the_next_line_and_reports_until_then():
    for name, winrate in (("lz-analyze", r"\d+"), ("kata-analyze", r"[\d.e-]+")):
        answer, after = talk(f"{name} 1\n", 0.5, "name\n")
        lines = answer.split("\n")
        assert lines[0] == "="
        assert len(lines) > 2
        for line in lines[1:]:
            infos = line.split("info ")[1:]
            assert [int(re.search(r"order (\d+)", info)[1]) for info in infos] == list(range(len(infos)))
            for info in infos:
                assert re.match(
                    rf"move (pass|[A-E][1-5]) visits \d+ .*winrate {winrate} .*pv( (pass|[A-E][1-5]))+ ?$", info
                )
        assert after == "= mini-alphago"


def test_kata_analysis_says_what_is_asked_for():
    plain, full = talk("kata-analyze w 1\n", 0.3, "kata-analyze w interval 1 rootInfo true ownership true maxmoves 2\n",
                       0.3, "\n")  # fmt: skip
    assert "rootInfo" not in plain
    assert "ownership" not in plain
    line = full.split("\n")[-1]
    assert line.count("info move") == 2
    assert " rootInfo visits " in line
    assert len(line.split(" ownership ")[1].split()) == 25


def test_moves_that_are_avoided_are_not_searched():
    engine = new_engine()
    avoided, allowed, free = talk("kata-analyze b 1 avoid b C3,pass 1\n", 0.3, "lz-analyze b 1 allow b A1,B2 1\n", 0.3,
                                  "lz-analyze b 1\n", 0.3, "\n", engine=engine)  # fmt: skip
    assert not {"C3", "pass"} & set(re.findall(r"info move (\S+)", avoided))
    assert set(re.findall(r"info move (\S+)", allowed)) == {"A1", "B2"}
    assert len(set(re.findall(r"info move (\S+)", free))) > 5


def test_genmove_analyze_plays():
    engine = new_engine(visits=64)
    answer = ask(engine, "kata-genmove_analyze b 1")[0].split("\n")
    assert answer[0] == "="
    assert answer[1].startswith("info move ")
    assert VERTEX.search(answer[-1])
    assert answer[-1].startswith("play ")
    assert engine.board.move_count == 1
    two = talk("lz-genmove_analyze w 1\nname\n", engine=engine)  # nothing interrupts it
    assert two[0].split("\n")[-1].startswith("play ")
    assert two[1] == "= mini-alphago"


def test_end_of_input_in_the_middle_of_an_analysis():
    assert talk("lz-analyze 5\n", 0.2)[0].startswith("=")


def test_raw_network_output():
    engine = new_engine()
    text = ask(engine, "play b C3", "kata-raw-nn 0")[1]
    lines = text[2:].split("\n")
    assert lines[0] == "symmetry 0"
    policy = [line.split() for line in lines[lines.index("policy") + 1 :][:5]]
    assert [len(row) for row in policy] == [5] * 5
    assert policy[2][2] == "NAN"
    total = sum(float(x) for row in policy for x in row if x != "NAN")
    passing = float(next(line for line in lines if line.startswith("policyPass")).split()[1])
    assert total + passing == pytest.approx(1, abs=1e-4)
    assert len(lines[lines.index("whiteOwnership") + 1 :]) == 5


def test_rules_and_parameters():
    engine = new_engine()
    assert ask(engine, "kata-set-rules japanese", "kata-get-rules")[0] == "="
    assert engine.board.rules.scoring == "territory"
    rules = json.loads(ask(engine, "kata-get-rules")[0][2:])
    assert rules["scoring"] == "TERRITORY"
    assert ask(engine, f"kata-set-rules {json.dumps({**rules, 'scoring': 'AREA', 'suicide': True})}") == ["="]
    assert (engine.board.rules.scoring, engine.board.rules.suicide) == ("area", True)
    assert ask(engine, "kata-set-rule ko SIMPLE", "kgs-rules aga")[0] == "="
    assert engine.board.rules.ko == "situational"
    ask(engine, "kata-set-param maxVisits 33", "kata-set-param maxTime 2", "kata-set-param ponderingEnabled true")
    assert (engine.settings.visits, engine.settings.seconds, engine.settings.ponder) == (33, 2.0, True)


def test_hostile_lines():
    engine = new_engine()
    long = b"play b " + b"A" * 1_000_000 + b"\n"
    binary = bytes(range(256)).replace(b"\n", b"").replace(b"#", b"") + b"\n"
    many = b"".join(b"%d name\n" % i for i in range(3000))
    answers = talk(long, binary, b"\xff\xfe\xfd\n", many, b"name", engine=engine)
    assert answers[0] == "? the line is too long"
    assert answers[1].startswith("? ")
    assert answers[2].startswith("? ")
    assert answers[3:3003] == [f"={i} mini-alphago" for i in range(3000)]
    assert answers[3003] == "= mini-alphago"  # even without the end of its line
    assert LONGEST_LINE < 1_000_000


def test_a_client_that_is_gone_ends_it():
    class Gone:
        def write(self, text):
            raise BrokenPipeError

    gtp = Gtp(new_engine(), Gone())
    gtp.answer("name")
    assert gtp.finished


def test_a_network_that_fails_is_an_answer_and_the_engine_goes_on(capsys):
    def fails():
        raise RuntimeError("no such device")

    engine = new_engine(5, LateEvaluator(fails))
    assert ask(engine, "name", "genmove b", "play b C3") == ["= mini-alphago", "? no such device", "="]
    assert "genmove: RuntimeError: no such device" in capsys.readouterr().err


def test_an_evaluator_that_comes_late():
    network = KataGoNetwork(1, 8)
    engine = new_engine(5, LateEvaluator(lambda: Evaluator(network, "cpu", "f32", engine="torch")))
    assert VERTEX.search(ask(engine, "genmove b")[0])


def test_the_client_may_want_its_move_at_once():
    """As GoGui says it, in a comment."""
    engine = new_engine(visits=300_000)
    for thinking in ("genmove b", "lz-genmove_analyze w 10"):
        before = engine.board.move_count
        began = time.perf_counter()
        answers = talk(f"{thinking}\n", 0.3, "# interrupt\n", engine=engine)
        assert VERTEX.search(answers[0])
        assert engine.board.move_count == before + 1
        assert time.perf_counter() - began < 5


def test_a_network_that_fails_while_it_ponders_is_no_end(capsys):
    def fails():
        raise RuntimeError("no such device")

    engine = new_engine(5, LateEvaluator(fails), ponder=True)
    assert talk("play b C3\n", 0.2, "name\n", engine=engine) == ["=", "= mini-alphago"]
    assert "pondering: RuntimeError: no such device" in capsys.readouterr().err


def test_the_clock_alone_decides_where_nobody_said_how_many_visits():
    engine = new_engine(visits=None)
    engine.think(BLACK)
    assert engine.search().root_visits() == 400, "without a clock"
    ask(engine, "time_settings 0 2 1")
    engine.think(BLACK)
    assert engine.search().root_visits() > 500


def test_rules_that_change_in_mid_game_leave_the_game_whole():
    engine = new_engine()
    ask(engine, "play b C3", "play w D3", "kata-set-rules japanese", "play b C4")
    record = parse_sgf(ask(engine, "printsgf")[0][2:])
    assert len(record.moves) == 3
    assert ask(engine, *["undo"] * 4) == ["=", "=", "=", "? cannot undo"]
    assert engine.board.rules.scoring == "territory"


def test_a_game_longer_than_a_search_foresees():
    engine = new_engine(visits=2)
    ask(engine, "genmove b")
    search = engine.search()
    search.options = search.options._replace(move_limit=engine.board.move_count + 3)
    for _ in range(3):
        answers = ask(engine, "play w pass", "genmove b", "play w pass", "genmove b", "reg_genmove w")
        assert not any(answer.startswith("?") for answer in answers), answers
    assert search.options.move_limit > engine.board.move_count + 25


def test_winrates_are_fractions_for_who_looks_for_a_point():
    """Sabaki takes a number without one for ten thousandths."""
    engine = new_engine(5, Uniform(value=-1.0), visits=4)  # every move wins, as far as that sees
    line = ask(engine, "kata-genmove_analyze b 100 rootInfo true")[0]
    numbers = re.findall(r"(?:winrate|lcb|prior) (\S+)", line)
    assert "1.000000" in numbers
    assert all(re.fullmatch(r"[01]\.\d{6}", number) for number in numbers)
