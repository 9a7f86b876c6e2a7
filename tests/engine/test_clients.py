"""What each client says, in its order and its spelling, and what it can read of the answers.

The dialogues are written from what is known of each client's habits, not recorded from the clients themselves. Two
clients speak for themselves elsewhere: Sabaki in test_sabaki.py, KaTrain in test_katrain.py.
"""

import json
import re
import subprocess
import sys

import pytest

from mini_alphago.engine.gtp import COMMANDS

from .talk import ask, new_engine, talk

POINT = r"(?:pass|[A-HJ][1-9])"
DONE = ""
LIST = r"(?:[a-z][\w-]*\n)+[a-z][\w-]*"
LZ = rf"info move {POINT} visits \d+ winrate \d{{1,5}} prior \d{{1,5}} lcb \d{{1,5}} order \d+ pv(?: {POINT})+"
KATA = rf"info move {POINT} visits \d+ .*?winrate [\d.e-]+ .*?scoreMean [\d.e-]+ .*?pv(?: {POINT})+"

DIALOGUES = {
    # Sabaki asks the first four at once, and abbreviates colours in upper case.
    "Sabaki": [
        ("name", "mini-alphago"),
        ("version", r"\d+(?:\.\d+)+"),
        ("protocol_version", "2"),
        ("list_commands", LIST),
        ("komi 6.5", DONE),
        ("boardsize 9", DONE),
        ("clear_board", DONE),
        ("play B E5", DONE),
        ("kata-genmove_analyze W 10", rf"(?:\n{KATA}(?: {KATA})*)+\nplay {POINT}"),
        ("undo", DONE),
        ("play W D4", DONE),
        ("kata-analyze B 10 ownership true", rf"(?:\n{KATA}.*)?"),
        ("genmove B", POINT),
        ("clear_board", DONE),
        ("set_free_handicap C3 G7", DONE),
        ("genmove W", POINT),
        ("quit", DONE),
    ],
    # Lizzie and LizzieYZY number what they send, and analyse without naming a colour.
    "LizzieYZY": [
        ("1 name", "mini-alphago"),
        ("2 version", r"\d+(?:\.\d+)+"),
        ("3 list_commands", LIST),
        ("4 komi 7.0", DONE),
        ("5 boardsize 9", DONE),
        ("6 clear_board", DONE),
        ("7 kata-get-rules", r"\{.*\}"),
        ("8 kata-set-rules chinese", DONE),
        ('9 kata-set-rules {"ko":"SIMPLE","scoring":"TERRITORY","suicide":false,"tax":"SEKI"}', DONE),
        ("10 kata-get-param ponderingEnabled", "false"),
        ("11 kata-set-param maxVisits 20", DONE),
        ("12 time_settings 0 3 1", DONE),
        ("13 fixed_handicap 2", "C3 G7"),
        ("14 lz-genmove_analyze w 10", rf"(?:\n{LZ}(?: {LZ})*)+\nplay {POINT}"),
        ("15 undo", DONE),
        ("16 play w E5", DONE),
        ("17 lz-analyze 10", rf"(?:\n{LZ}.*)?"),
        ("18 stop", DONE),
        ("19 kata-raw-nn 0", r"symmetry 0\nwhiteWin .*\npolicy\n.*\nwhiteOwnership\n.*"),
        ("20 clear_cache", DONE),
        ("21 clear_board", DONE),
        ("22 place_free_handicap 3", f"{POINT} {POINT} {POINT}"),
        ("23 genmove w", POINT),
        ("24 quit", DONE),
    ],
    # gogui-twogtp asks what the engine is, then keeps both engines at the same position; passes are lower case.
    "GoGui": [
        ("protocol_version", "2"),
        ("list_commands", LIST),
        ("name", "mini-alphago"),
        ("version", r"\d+(?:\.\d+)+"),
        ("gogui-interrupt", DONE),
        ("gogui-analyze_commands", ".*"),
        ("boardsize 9", DONE),
        ("clear_board", DONE),
        ("komi 6.5", DONE),
        ("time_settings 1800 60 10", DONE),
        ("set_free_handicap C3 G7", DONE),
        ("genmove w", POINT),
        ("time_left b 1800 0", DONE),
        ("gg-undo 1", DONE),
        ("gogui-play_sequence w E5 b D5 w pass", DONE),
        ("genmove b", POINT),
        ("undo", DONE),
        ("gogui-setup b A1 b B2 w C3", DONE),
        ("play b D3", DONE),
        ("reg_genmove w", POINT),
        ("kgs-genmove_cleanup w", POINT),
        ("final_score", r"[BW]\+\d+(?:\.5)?|0"),
        ("final_status_list dead", rf"(?:{POINT}[ \n]?)*"),
        ("final_status_list alive", rf"(?:{POINT}[ \n]?)+"),
        ("cputime", r"\d+\.\d+"),
        ("quit", DONE),
    ],
    # The server's client: seconds left before every move of its own, moves of the other side as they come.
    "CGOS": [
        ("list_commands", LIST),
        ("boardsize 9", DONE),
        ("clear_board", DONE),
        ("komi 7.0", DONE),
        ("time_settings 300 0 0", DONE),
        ("play b E5", DONE),
        ("play w PASS", DONE),
        ("time_left b 299 0", DONE),
        ("genmove b", POINT),
        ("play w C3", DONE),
        ("time_left b 298 0", DONE),
        ("cgos-genmove_analyze b", r"\n\{.*\}\nplay " + POINT),
        ("cgos-gameover 2026-01-01 B+Resign", DONE),
        ("quit", DONE),
    ],
    # gtp2ogs spells colours out, sets the game up anew and picks the richest clock that the engine lists.
    "gtp2ogs": [
        ("list_commands", LIST),
        ("boardsize 9", DONE),
        ("clear_board", DONE),
        ("komi 0.5", DONE),
        ("place_free_handicap 2", f"{POINT} {POINT}"),
        ("clear_board", DONE),
        ("set_free_handicap C3 G7", DONE),
        ("play white E5", DONE),
        ("play black pass", DONE),
        ("kata-list_time_settings", r"(?:[a-z-]+ )+[a-z-]+"),
        ("kata-time_settings fischer-capped 300 10 600 60", DONE),
        ("time_left black 300 0", DONE),
        ("time_left white 290 0", DONE),
        ("genmove white", POINT),
        ("kgs-time_settings byoyomi 600 30 5", DONE),
        ("time_left black 600 0", DONE),
        ("time_left white 30 5", DONE),
        ("genmove black", POINT),
        ("kgs-time_settings canadian 600 300 25", DONE),
        ("kgs-time_settings absolute 300", DONE),
        ("kgs-time_settings none", DONE),
        ("genmove white", POINT),
        ("final_score", r"[BW]\+\d+(?:\.5)?|0"),
        ("final_status_list dead", rf"(?:{POINT}[ \n]?)*"),
        ("quit", DONE),
    ],
}


@pytest.mark.parametrize("client", DIALOGUES)
def test_dialogue(client):
    dialogue = DIALOGUES[client]
    answers = ask(new_engine(9), *(line for line, _ in dialogue))
    for (line, expected), answer in zip(dialogue, answers, strict=True):
        number = re.match(r"\d*", line)[0]
        assert re.fullmatch(rf"={number} ?(?:{expected})", answer, re.DOTALL), (line, answer)


@pytest.mark.parametrize("client", DIALOGUES)
def test_what_a_client_needs_is_listed(client):
    """Clients look a command up in `list_commands` before they use it."""
    used = {re.sub(r"^\d+ ", "", line).split()[0] for line, _ in DIALOGUES[client]}
    assert used <= set(COMMANDS)


@pytest.mark.parametrize("line", ["\n", "# interrupt\n", "stop\n", "name\n", "nonsense\n", "lz-analyze 1\n", "\x01\n"])
def test_whatever_comes_ends_an_analysis(line):
    """Sabaki sends an empty line, GoGui a comment, Lizzie the next command; each is then answered, if it is one."""
    answers = talk("7 kata-analyze b 1\n", 0.3, line, 0.05, "8 protocol_version\n")
    assert answers[0].startswith("=7\ninfo move ")
    assert answers[-1] == "=8 2"
    assert len(answers) == 2 + bool(re.match(r"[a-z]", line))


@pytest.mark.parametrize("words", ["", "1", "b", "b 1", "interval 1", "B interval 1", "white 1 minmoves 2 maxmoves 3"])
def test_every_argument_of_an_analysis_may_be_left_out(words):
    for name, info in (("lz-analyze", LZ), ("kata-analyze", KATA)):
        seconds = 0.2 if "1" in words else 1.2  # by default a report comes once a second
        answer, _ = talk(f"{name} {words}\n", seconds, "name\n")
        lines = answer.split("\n")[1:]
        assert lines, answer
        for line in lines:
            assert re.fullmatch(rf"{info}(?: {info})*", line), line
            assert line.count("info move") <= 3 or "maxmoves" not in words


def test_what_cgos_shows_of_a_move():
    """CGOS takes the line before the move as JSON, with moves and winrates of the player who moves."""
    (answer,) = ask(new_engine(9), "cgos-genmove_analyze b")
    _, shown, play = answer.split("\n")
    moves = json.loads(shown)["moves"]
    assert moves
    assert {move["move"] for move in moves} >= {play.removeprefix("play ")}
    assert all(0 <= move["winrate"] <= 1 for move in moves)


def test_standard_output_is_protocol_alone():
    """Byte for byte, with the network that comes with the package."""
    command = [sys.executable, "-m", "mini_alphago", "gtp", "--device", "cpu", "--visits", "2"]
    lines = (
        b"\xef\xbb\xbf1 name\r\n\t2\tversion \r\n\r\n# nothing\n3 dance\n4 genmove b\x07\n\xff\xfe\n5 quit\n6 name\n"
    )
    done = subprocess.run(command, input=lines, capture_output=True, timeout=300)
    assert done.returncode == 0
    answers = done.stdout.decode().split("\n\n")
    assert answers[-1] == ""
    assert [answer[:2] for answer in answers[:-1]] == ["=1", "=2", "?3", "=4", "? ", "=5"]
    assert b"Traceback" not in done.stderr
