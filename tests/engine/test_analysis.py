"""The analysis engine: KataGo's queries answered as its clients read them, however many at once, however wrong."""

import io
import json

import numpy as np
import pytest

from mini_alphago.engine import AnalysisEngine
from mini_alphago.model import Evaluation

from ..mcts.evaluators import Area, Hashed
from .talk import Slowly

PLAIN = {"id": "one", "moves": [], "rules": "chinese", "komi": 0.5, "boardXSize": 5, "boardYSize": 5, "maxVisits": 40}


def run(*pieces, evaluator=None):
    """All answers to these queries; a number waits."""
    out = io.StringIO()
    lines = [json.dumps(p).encode() + b"\n" if isinstance(p, dict) else p for p in pieces]
    AnalysisEngine(evaluator or Area(), out).run(Slowly(*lines))
    return [json.loads(line) for line in out.getvalue().splitlines()]


class Owned(Area):
    """Gives every point to the player to move, and counts its questions."""

    calls = 0

    def evaluate(self, states):
        Owned.calls += 1
        answer = super().evaluate(states)
        return Evaluation(answer.policy, answer.value, answer.score, np.ones((len(states.info), 25), np.float32))


def test_what_an_answer_holds():
    moves = [["B", "C3"], ["W", "B2"]]
    query = {**PLAIN, "moves": moves, "includePolicy": True, "includeOwnership": True, "includeMovesOwnership": True}
    (answer,) = run(query, evaluator=Owned())
    assert answer["id"] == "one"
    assert answer["turnNumber"] == 2
    assert answer["isDuringSearch"] is False
    assert answer["rootInfo"]["visits"] == sum(info["visits"] for info in answer["moveInfos"]) == 40
    assert answer["rootInfo"]["currentPlayer"] == "B"
    assert [info["order"] for info in answer["moveInfos"]] == list(range(len(answer["moveInfos"])))
    best = answer["moveInfos"][0]
    assert best["pv"][0] == best["move"]
    assert 0 <= best["winrate"] <= 1
    assert answer["ownership"] == [1] * 25
    assert best["ownership"] == [-1] * 25  # after the move it is White who is given everything
    policy = answer["policy"]
    assert len(policy) == 26
    assert policy[12] == policy[16] == -1  # C3 and B2 are taken
    assert sum(p for p in policy if p > 0) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("view", "sign"), [("BLACK", -1), ("WHITE", 1), ("SIDETOMOVE", 1)])
def test_winrates_are_seen_from_where_the_client_says(view, sign):
    """White is to move and far ahead."""
    query = {**PLAIN, "komi": 30, "moves": [["B", "C3"]], "overrideSettings": {"reportAnalysisWinratesAs": view}}
    (answer,) = run(query)
    for info in (answer["rootInfo"], answer["moveInfos"][0]):
        assert (info["winrate"] > 0.9) == (sign > 0)
        assert (info["scoreLead"] > 0) == (sign > 0)


def test_several_turns_and_many_queries():
    game = [["B", "C3"], ["W", "B2"], ["B", "D4"], ["W", "pass"]]
    queries = [{**PLAIN, "id": f"q{i}", "moves": game, "analyzeTurns": [0, 2, 4], "maxVisits": 9} for i in range(30)]
    answers = run(*queries, evaluator=Hashed())
    assert sorted((a["id"], a["turnNumber"]) for a in answers) == sorted(
        (f"q{i}", t) for i in range(30) for t in (0, 2, 4)
    )
    for turn in (0, 2, 4):  # the same position, the same answer, whatever else was going on
        same = {json.dumps(a["moveInfos"]) for a in answers if a["turnNumber"] == turn}
        assert len(same) == 1


def test_urgent_queries_go_first():
    slow = [{**PLAIN, "id": f"slow{i}", "maxVisits": 60} for i in range(40)]
    answers = run(*slow, {**PLAIN, "id": "urgent", "maxVisits": 10, "priority": 5})
    assert [a["id"] for a in answers].index("urgent") <= 16  # as soon as there was a slot


def test_other_sizes_rules_and_setups():
    setup = {**PLAIN, "id": "setup", "initialStones": [["B", "A1"], ["W", "C3"]], "initialPlayer": "W"}
    answers = run(
        {**PLAIN, "id": "small", "boardXSize": 3, "boardYSize": 3},
        {**PLAIN, "id": "japanese", "rules": "japanese"},
        {**PLAIN, "id": "object", "rules": {"ko": "SIMPLE", "scoring": "AREA", "suicide": True}},
        setup,
    )
    by_id = {a["id"]: a for a in answers}
    assert set(by_id) == {"small", "japanese", "object", "setup"}
    assert by_id["setup"]["rootInfo"]["currentPlayer"] == "W"
    assert not {"A1", "C3"} & {info["move"] for info in by_id["setup"]["moveInfos"]}


def test_avoided_and_allowed_moves():
    avoid = {"player": "B", "moves": ["C3", "C2"], "untilDepth": 1}
    allow = {"player": "B", "moves": ["A1", "B2"], "untilDepth": 1}
    other = {"player": "W", "moves": ["A1"], "untilDepth": 1}
    answers = run(
        {**PLAIN, "id": "1", "avoidMoves": [avoid]},
        {**PLAIN, "id": "2", "allowMoves": [allow]},
        {**PLAIN, "id": "3", "allowMoves": [other]},
    )
    first, second, third = sorted(answers, key=lambda answer: answer["id"])  # whoever is done first answers first
    assert not {"C3", "C2"} & {info["move"] for info in first["moveInfos"]}
    assert {info["move"] for info in second["moveInfos"]} == {"A1", "B2"}
    assert sum(info["prior"] for info in second["moveInfos"]) == pytest.approx(1, abs=1e-5)
    assert len(third["moveInfos"]) > 5


def test_reports_on_the_way_and_an_end_by_request():
    """As KaTrain ponders: no end of visits, a report now and then, then a terminate."""
    query = {**PLAIN, "maxVisits": 10_000_000, "reportDuringSearchEvery": 0.05}
    answers = run(query, 0.5, {"id": "stop", "action": "terminate", "terminateId": "one"})
    during = [a for a in answers if a.get("isDuringSearch")]
    assert len(during) > 2
    visits = [a["rootInfo"]["visits"] for a in during]
    assert visits == sorted(visits)
    last, echo = answers[-2:]
    assert last["isDuringSearch"] is False
    assert last["rootInfo"]["visits"] >= visits[-1]
    assert echo["action"] == "terminate"


def test_a_limit_by_time():
    (answer,) = run({**PLAIN, "maxVisits": 10_000_000, "overrideSettings": {"maxTime": 0.2}})
    assert answer["rootInfo"]["visits"] > 0


def test_a_finished_game_can_be_looked_at():
    (answer,) = run({**PLAIN, "moves": [["B", "pass"], ["W", "pass"]]})
    assert answer["rootInfo"]["visits"] == 40


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": 5}, None),
        ({"moves": None}, "moves"),
        ({"moves": [["B", "Z9"]]}, "moves"),
        ({"moves": [["B"]]}, "moves"),
        ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves"),
        ({"boardXSize": 25, "boardYSize": 25}, "boardXSize"),
        ({"boardYSize": 9}, "boardXSize"),
        ({"rules": "nonsense"}, "rules"),
        ({"rules": 3}, "rules"),
        ({"komi": "seven"}, "komi"),
        ({"komi": 1e9}, "komi"),
        ({"analyzeTurns": [1]}, "analyzeTurns"),
        ({"analyzeTurns": "all"}, "analyzeTurns"),
        ({"maxVisits": 0}, "maxVisits"),
        ({"maxVisits": True}, "maxVisits"),
        ({"overrideSettings": []}, "overrideSettings"),
        ({"initialStones": [["B", "C3"], ["W", "C3"]]}, "initialStones"),
        ({"avoidMoves": [{"player": "B"}]}, "avoidMoves"),
        ({"action": "dance"}, "action"),
        ({"reportDuringSearchEvery": "often"}, "reportDuringSearchEvery"),
    ],
)
def test_what_is_wrong_is_said_and_the_next_query_answered(change, field):
    wrong, right = run({**PLAIN, **change}, {**PLAIN, "id": "next"})
    assert "\n" not in wrong["error"]
    assert wrong.get("field") == field
    assert right["id"] == "next"
    assert right["rootInfo"]["visits"] == 40


def test_lines_that_are_no_queries():
    answers = run(b"nonsense\n", b"[1, 2]\n", b"\xff\xfe\n", b"\n", b"[" * 100_000 + b"\n", b'"text"\n', PLAIN)
    assert len(answers) == 6
    assert all("error" in answer for answer in answers[:5])
    assert answers[5]["id"] == "one"


def test_questions_about_itself():
    version, models = run({"id": "v", "action": "query_version"}, {"id": "m", "action": "query_models"})
    assert version["version"]
    assert models["models"]
