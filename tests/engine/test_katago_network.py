"""A network in KataGo's format wherever programs take ours: GTP, analysis, matches, the browser's list."""

import io
import json
import re
from typing import Any

import pytest
import torch

from mini_alphago.arena import PlayerMaker, play_match, random_openings
from mini_alphago.engine import AnalysisEngine, Engine, EngineSettings
from mini_alphago.game import WHITE
from mini_alphago.model import Evaluator, load_network
from mini_alphago.web.models import Models

from ..model.katago.answers import SMALL_CASES, Case
from ..model.katago.small import SMALL
from .talk import Slowly, ask, talk


@pytest.fixture(scope="module")
def evaluator(one_thread: None) -> Evaluator:
    return Evaluator(load_network(SMALL), "cpu", "f32", engine="torch")


@pytest.fixture
def engine(evaluator: Evaluator) -> Engine:
    return Engine(evaluator, EngineSettings(visits=24, leaves=4), 5)


def set_up(case: Case) -> list[str]:
    """The lines that bring an engine to a position."""
    position = case.position
    begin = [f"boardsize {position['size']}", f"kata-set-rules {position['rules']}", f"komi {position['komi']}"]
    return [*begin, *(f"play {color} {move}" for color, move in position["moves"])]


def read_raw(text: str) -> dict[str, Any]:
    """`kata-raw-nn`, read as its clients do: numbers by name, and rows below a name alone."""
    found: dict[str, Any] = {}
    for line in text.removeprefix("= ").split("\n"):
        name, *values = line.split()
        if re.match(r"[a-z]", name):
            found[name] = float(values[0]) if values else []
            rows = found[name]
        else:
            rows.append([None if value == "NAN" else float(value) for value in line.split()])
    return found


@pytest.mark.parametrize("case", SMALL_CASES)
def test_raw_answers_are_the_formulas(engine: Engine, case: Case) -> None:
    """Of every position and rule set, digit by digit as they are printed."""
    answers = ask(engine, *set_up(case), "kata-raw-nn 0")
    assert set(answers[:-1]) == {"="}
    raw, wanted = read_raw(answers[-1]), case.wanted
    assert raw.pop("symmetry") == 0
    assert raw.keys() == wanted.keys()
    for name, near in {"whiteWin": 2e-6, "whiteLoss": 2e-6, "noResult": 2e-6, "policyPass": 2e-6}.items():
        assert raw[name] == pytest.approx(wanted[name], abs=near), name
    for name in ("whiteLead", "whiteScoreSelfplay", "varTimeLeft", "shorttermWinlossError", "shorttermScoreError"):
        assert raw[name] == pytest.approx(wanted[name], abs=1.5e-3), name
    assert raw["whiteScoreSelfplaySq"] == pytest.approx(wanted["whiteScoreSelfplaySq"], rel=1e-5, abs=1e-3)
    for name, near in {"policy": 2e-6, "whiteOwnership": 2e-6}.items():
        assert len(raw[name]) == engine.board.size
        for row, expected in zip(raw[name], wanted[name], strict=True):
            assert [p is None for p in row] == [p is None for p in expected]
            assert [p or 0 for p in row] == pytest.approx([p or 0 for p in expected], abs=near), name


def test_raw_answers_are_those_of_the_network(engine: Engine, evaluator: Evaluator) -> None:
    raw = read_raw(ask(engine, "play b C3", "kata-raw-nn 0")[1])
    planes = torch.empty(1, 23, 5, 5)
    evaluator.encoding.encode(engine.board.games, planes.numpy())
    with torch.inference_mode():
        values = evaluator.network.explain(planes)
    assert engine.board.current_player == WHITE
    assert raw["whiteWin"] == pytest.approx(float(values.win), abs=1e-6)
    assert raw["whiteLead"] == pytest.approx(float(values.lead), abs=6e-4)
    assert raw["whiteScoreSelfplaySq"] == pytest.approx(float(values.score_mean_square), abs=6e-4)


def test_rules_and_komi_of_the_client_reach_the_network(engine: Engine) -> None:
    def ask_raw(*lines: str) -> dict[str, Any]:
        return read_raw(ask(engine, *lines, "kata-raw-nn 0")[-1])

    little, much = ask_raw("komi -9"), ask_raw("komi 30")
    assert much["whiteLead"] > little["whiteLead"] + 5
    assert much["whiteWin"] > little["whiteWin"]
    area = ask_raw("komi 7", "kata-set-rules cgos")
    territory = ask_raw("kata-set-rules japanese", "komi 7")
    assert area["noResult"] == 0
    assert territory["whiteLead"] != area["whiteLead"]
    assert '"scoring": "TERRITORY"' in ask(engine, "kata-get-rules")[0]


@pytest.mark.parametrize("rules", ["cgos", "japanese"])
def test_a_game(engine: Engine, rules: str) -> None:
    """On two sizes; every move is legal, and the end can be scored."""
    for size in (5, 7):
        begin = [f"boardsize {size}", f"kata-set-rules {rules}", "komi 6.5"]
        moves = ask(engine, *begin, *(f"genmove {'bw'[i % 2]}" for i in range(8)), "final_score")
        assert moves[:3] == ["="] * 3
        assert all(re.fullmatch(rf"= ([A-{'ABCDEFGH'[size - 1]}][1-{size}]|pass)", move) for move in moves[3:-1])
        assert engine.board.move_count == 8
        assert re.fullmatch(r"= ([BW]\+\d+(\.5)?|0)", moves[-1])


def test_analysis_over_gtp(engine: Engine) -> None:
    lines = "komi 7\nplay b C3\nkata-analyze w 10 ownership true\n"
    *_, answer, after = talk(lines, 0.4, "name\n", engine=engine)
    assert after == "= mini-alphago"
    report = answer.split("\n")[-1]
    assert re.search(r"info move \S+ visits \d+ .*scoreLead -?[\d.]+ .*pv \S+", report)
    ownership = [float(x) for x in report.split("ownership ")[1].split()]
    assert len(ownership) == 25
    assert all(-1 <= x <= 1 for x in ownership)


def test_boards_that_are_too_small_are_refused_and_forgotten(engine: Engine) -> None:
    too_small, back, move = ask(engine, "boardsize 4", "genmove b", "boardsize 5", "genmove b")[1:]
    assert re.fullmatch(r"\? [^\n]*boards from 5×5 on", too_small)
    assert back == "="
    assert move.startswith("= ")


def test_the_analysis_engine(evaluator: Evaluator) -> None:
    """Queries of several sizes and rules at once."""
    out = io.StringIO()
    queries = []
    for i, case in enumerate(SMALL_CASES[4:9]):
        size, moves = case.position["size"], [[color.upper(), move] for color, move in case.position["moves"]]
        queries.append({
            "id": str(i), "moves": moves, "rules": case.position["rules"], "komi": case.position["komi"],
            "maxVisits": 12, "boardXSize": size, "boardYSize": size, "includePolicy": True, "includeOwnership": True,
        })  # fmt: skip
    AnalysisEngine(evaluator, out).run(Slowly(*(json.dumps(query).encode() + b"\n" for query in queries)))
    answers = {answer["id"]: answer for answer in map(json.loads, out.getvalue().splitlines())}
    assert answers.keys() == {query["id"] for query in queries}
    for query, case in zip(queries, SMALL_CASES[4:9], strict=True):
        answer, points = answers[query["id"]], query["boardXSize"] ** 2
        assert answer["rootInfo"]["visits"] == 12
        expected = [-1.0 if p is None else p for row in case.wanted["policy"] for p in row]
        assert answer["policy"] == pytest.approx([*expected, case.wanted["policyPass"]], abs=1e-4)
        assert len(answer["ownership"]) == points


def test_a_match(plain_torch: None) -> None:
    maker = PlayerMaker(5, 4, 4, 1, "cpu", 10.0)
    players = [maker.make(f"{SMALL},visits=6"), maker.make(f"policy:{SMALL}")]
    result = play_match(*players, random_openings(2, 5, 7, 2, seed=1), move_limit=12)
    for player in players:
        player.close()
    assert len(result.games) == 4
    assert result.first == f"{SMALL},visits=6"


def test_the_browsers_list() -> None:
    models = Models(str(SMALL), None, "cpu", "f32")
    (model,) = models.all()
    assert model.trained
    assert model.sizes == tuple(range(7, 20))
    assert models.find(None) == models.find(model.id) == model
    assert model.view()["sizes"] == list(range(7, 20))
