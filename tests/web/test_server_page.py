"""What the page may ask: every request of docs/web.md, over a real WebSocket."""

import pytest

from mini_alphago.game import RULE_SETS
from mini_alphago.mcts.levels import find_level
from mini_alphago.web.settings import RULES

from .serving import Client, Server, client, game

BLACK = ["B1", "B2", "B3", "B4", "B5", "A2", "A4", "C1", "C2", "C3"]  # 13 points, with three eyes
WHITE = ["D1", "D2", "D3", "D4", "D5", "E2", "E4", "C4", "C5"]  # 12 points, likewise
SETTLED = game(initialStones=[["B", v] for v in BLACK] + [["W", v] for v in WHITE])


def test_a_position(page: Client) -> None:
    position = page.ask("position", game=game("C3", "C4", "B5", "B4"))["position"]
    assert position["board"] == [
        [0, 1, 0, 0, 0],
        [0, -1, -1, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert position["toMove"] == "B"
    assert position["moveNumber"] == 4
    assert position["lastMove"] == "B4"
    assert position["illegal"] == {}
    assert position["over"] is False
    assert position["result"] is None


def test_captures_ko_and_suicide(page: Client) -> None:
    stones = [["B", "B1"], ["B", "A2"], ["W", "A3"], ["W", "B2"], ["W", "C1"], ["B", "E4"], ["B", "D5"]]
    start = game(initialStones=stones, initialPlayer="W")
    suicide = page.ask("position", game=start)["position"]
    assert suicide["illegal"] == {"E5": "suicide"}
    assert suicide["toMove"] == "W"
    taken = page.ask("position", game={**start, "moves": [["W", "A1"]]})["position"]
    assert taken["captures"] == {"B": 0, "W": 2}
    assert taken["board"][4][:2] == [-1, 0]
    assert taken["lastMove"] == "A1"


def test_a_ko_is_said(page: Client) -> None:
    stones = [["B", "B3"], ["B", "A2"], ["B", "B1"], ["W", "B2"], ["W", "C3"], ["W", "D2"], ["W", "C1"]]
    answer = page.ask("position", game=game(initialStones=stones, moves=[["B", "C2"]]))
    assert answer["position"]["illegal"] == {"B2": "ko", "A1": "suicide"}


def test_the_end(page: Client) -> None:
    position = page.ask("position", game=game("C3", "pass", "pass"))["position"]
    assert position["over"] is True
    assert position["result"] == "B+24.5"
    assert position["lastMove"] == "pass"


def test_handicap_and_what_white_gets_for_it(page: Client) -> None:
    answer = page.ask("handicap", size=9, stones=2)
    assert answer["stones"] == [["B", "C3"], ["B", "G7"]]
    given = game(boardXSize=9, boardYSize=9, initialStones=answer["stones"], initialPlayer="W")
    score = page.ask("score", game=given, dead=[])
    assert score["komi"] == 2.5  # Chinese: a point for each stone
    assert score["text"] == "B+78.5"
    assert "no customary place" in page.ask("handicap", size=5, stones=2)["message"]


@pytest.mark.parametrize("strength", [{"level": "beginner"}, {"level": "full"}, {"visits": 9}, {}])
def test_a_move(page: Client, strength: dict[str, object]) -> None:
    *reports, answer = page.ask_all("genmove", game=game("C3"), **strength)
    assert all(report["type"] == "analysis" for report in reports)
    assert answer["type"] == "move"
    assert 0 <= answer["winrate"] <= 1
    visits = {"beginner": find_level("beginner").visits, "full": 24, None: strength.get("visits", 24)}
    assert answer["visits"] == visits[strength.get("level")]
    assert answer["position"]["moveNumber"] == 2
    assert answer["position"]["lastMove"] == answer["move"]
    assert answer["position"]["toMove"] == "B"


def test_it_passes_when_the_opponent_has_and_the_game_is_won(page: Client) -> None:
    passed = {**SETTLED, "moves": [["B", "pass"]]}
    assert page.ask("genmove", game={**passed, "komi": 3}, visits=8)["move"] == "pass"
    answer = page.ask("genmove", game={**SETTLED, "komi": 3, "moves": []}, visits=8)  # nobody has passed yet
    assert answer["position"]["toMove"] == "W"


def test_an_analysis(page: Client) -> None:
    answers = page.ask_all("analyze", game=game("C3"), visits=300, every=0.05)
    last = answers[-1]
    assert [answer["done"] for answer in answers] == [False] * (len(answers) - 1) + [True]
    assert [answer["visits"] for answer in answers] == sorted(answer["visits"] for answer in answers)
    assert last["visits"] == 300 == sum(move["visits"] for move in last["moves"])
    best = last["moves"][0]
    assert best["visits"] == max(move["visits"] for move in last["moves"])
    assert best["pv"][0] == best["move"]
    assert last["policy"][2][2] is None  # C3 is taken
    legal = [number for row in last["policy"] for number in row if number is not None]
    assert sum(legal) + last["policyPass"] == pytest.approx(1, abs=1e-3)
    assert len(last["ownership"]) == len(last["ownership"][0]) == 5
    assert last["tree"][0]["move"] == best["move"]
    assert last["tree"][0]["player"] == "W"
    assert last["tree"][0]["visits"] == best["visits"]
    assert (1 - last["tree"][0]["q"]) / 2 == pytest.approx(best["winrate"], abs=1e-3)  # White's q, Black's winrate
    assert last["tree"][0]["children"][0]["player"] == "B"
    assert last["tree"][0]["children"][0]["children"]


@pytest.mark.parametrize("moves", [(), ("A1",)])
def test_winrates_are_blacks(page: Client, moves: tuple[str, ...]) -> None:
    """With such a komi every finished game is White's, and on 2×2 the search finds the end, whoever is to move."""
    answer = page.ask("analyze", game=game(*moves, boardXSize=2, boardYSize=2, komi=300), visits=400)
    assert answer["winrate"] < 0.5
    assert answer["score"] < 0


def test_stop_ends_an_endless_analysis(server: Server, page: Client) -> None:
    page.send(id="long", type="analyze", game=game(), visits=100_000, every=0.05)
    assert page.receive()["type"] == "analysis"
    page.send(id="end", type="stop", target="long")
    while (answer := page.receive())["type"] == "analysis":
        assert answer["id"] == "long"
    assert answer == {"id": "long", "type": "stopped"}
    assert server.tasks == []
    page.send(id="more", type="stop", target="nothing")
    assert page.receive() == {"id": "nothing", "type": "stopped"}


def test_a_new_analysis_stops_the_old_one(page: Client) -> None:
    page.send(id="old", type="analyze", game=game(), visits=100_000, every=0.05)
    assert page.receive()["id"] == "old"
    page.send(id="new", type="analyze", game=game("C3"), visits=20)
    seen = [page.receive()]
    while seen[-1]["id"] == "old" and seen[-1]["type"] == "analysis":
        seen.append(page.receive())
    assert seen[-1] == {"id": "old", "type": "stopped"}
    assert page.receive()["id"] == "new"


def test_the_score_and_its_dead_stones(page: Client) -> None:
    stones = [["B", f"B{i}"] for i in range(1, 6)] + [["W", f"D{i}"] for i in range(1, 6)] + [["W", "A1"]]
    asked = game(initialStones=stones)
    proposed = page.ask("score", game=asked, dead=None)
    assert set(proposed["dead"]) <= {"A1"}
    alive = page.ask("score", game=asked, dead=[])
    assert (alive["black"], alive["white"], alive["text"]) == (5, 11.5, "W+6.5")
    dead = page.ask("score", game=asked, dead=[], toggle="A1")
    assert dead["dead"] == ["A1"]
    assert dead["ownership"] == [[1, 1, 0, -1, -1]] * 5
    assert (dead["black"], dead["white"], dead["score"]) == (10, 10.5, -0.5)
    again = page.ask("score", game=asked, dead=dead["dead"], toggle="A1")
    assert again["dead"] == []
    territory = page.ask("score", game={**asked, "rules": "japanese"}, dead=["A1"])
    assert (territory["black"], territory["white"], territory["komi"]) == (6, 5.5, 0.5)
    assert "no stone" in page.ask("score", game=asked, dead=["E5"])["message"]


def test_a_review(page: Client) -> None:
    answers = page.ask_all("review", game=game("C3", "pass", "B2", "A1"), visits=60)
    assert [answer["type"] for answer in answers[:-1]] == ["progress"] * (len(answers) - 1)
    assert answers[-2]["done"] == answers[-2]["total"] == 5
    review = answers[-1]
    assert len(review["positions"]) == 5
    assert all(0 <= position["winrate"] <= 1 for position in review["positions"])
    for mistake in review["mistakes"]:
        assert mistake["better"] == mistake["pv"][0] != mistake["played"]
        assert mistake["winrateLost"] >= 0.05
        assert mistake["player"] == "BW"[(mistake["number"] - 1) % 2]


SGF = (
    "(;GM[1]FF[4]SZ[9]KM[6.5]RU[japanese]PB[Ann]PW[石田]DT[2026-01-02]RE[B+R]EV[a \\] cup]C[hello];B[ee];W[gc]C[hm]"
    "(;B[cc];W[gg](;B[aa])(;B[bb](;W[ab])(;W[ba]C[deep])))(;B[dd]))"
)


def test_a_record_in_and_out(page: Client) -> None:
    record = page.ask("read-sgf", text=SGF)
    assert record["game"] == {
        "boardXSize": 9, "boardYSize": 9, "komi": 6.5, "rules": "japanese", "initialStones": [], "moves": [],
    }  # fmt: skip
    assert record["info"] == {
        "black": "Ann", "white": "石田", "date": "2026-01-02", "result": "B+R", "event": "a ] cup",
    }  # fmt: skip
    nodes = record["nodes"]
    assert nodes[0] == {"id": "0", "parent": None, "move": None, "comment": "hello"}
    children: dict[str, list[str]] = {}
    for node in nodes[1:]:
        children.setdefault(node["parent"], []).append(node["move"][1])
    assert list(children.values()) == [["E5"], ["G7"], ["C7", "D6"], ["G3"], ["A9", "B8"], ["A8", "B9"]]
    again = page.ask("write-sgf", game=record["game"], info=record["info"], nodes=nodes)
    reread = page.ask("read-sgf", text=again["text"])
    assert {**reread, "id": None} == {**record, "id": None}


def test_a_record_with_handicap(page: Client) -> None:
    record = page.ask("read-sgf", text="(;SZ[9]HA[2]KM[0.5]RU[aga];AB[gc][cg]C[stones];W[ee])")
    assert record["game"]["initialStones"] == [["B", "G7"], ["B", "C3"]]
    assert record["game"]["initialPlayer"] == "W"
    assert record["nodes"][0]["comment"] == "stones"
    position = page.ask("position", game={**record["game"], "moves": [["W", "E5"]]})["position"]
    assert sum(map(sum, position["board"])) == 1
    written = page.ask("write-sgf", game=record["game"], info=record["info"], nodes=record["nodes"])["text"]
    assert "HA[2]" in written
    assert "AB[gc][cg]" in written


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "SGF"),
        ("(;SZ[9];B[ee];W[ee])", "illegal"),
        ("(;SZ[25])", "19"),
        ("(;SZ[9];B[ee];AB[aa])", "middle of the game"),
        ("(;SZ[9]" + ";B[]" * 20_000 + ")", "too large"),
    ],
)
def test_what_is_no_record(page: Client, text: str, reason: str) -> None:
    answer = page.ask("read-sgf", text=text)
    assert answer["type"] == "error"
    assert reason in answer["message"]
    assert "\n" not in answer["message"]


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"type": "dance"}, "type of a request"),
        ({"type": "position"}, "game is an object"),
        ({"type": "position", "game": game("C3", "C3")}, "occupied"),
        ({"type": "position", "game": game(boardXSize=25, boardYSize=25)}, "boardXSize"),
        ({"type": "genmove", "game": game(), "level": "god"}, "levels are beginner"),
        ({"type": "genmove", "game": game(), "visits": 10**9}, "visits is a whole number"),
        ({"type": "genmove", "game": game(), "model": "../../etc/passwd"}, "no such network"),
        ({"type": "analyze", "game": game(), "every": 0}, "every is a number"),
        ({"type": "score", "game": game(), "dead": 5}, "dead is a list"),
        ({"type": "stop"}, "target is a text"),
        ({"type": "read-sgf", "text": 7}, "text is a text"),
        ({"type": "write-sgf", "game": game(), "info": {}, "nodes": []}, "nodes is a list"),
        ({"type": "write-sgf", "game": game(), "info": {}, "nodes": [{"id": "1", "parent": "1"}]}, "its parent"),
        ({"type": "watch"}, "no run to watch"),
    ],
)
def test_what_is_wrong_is_said_and_the_connection_goes_on(page: Client, request_: dict, reason: str) -> None:
    page.send(id="wrong", **request_)
    answer = page.receive()
    assert (answer["id"], answer["type"]) == ("wrong", "error")
    assert reason in answer["message"]
    assert "\n" not in answer["message"]
    assert page.ask("position", game=game())["type"] == "position"


def test_rules_have_names() -> None:
    assert set(RULES) == set(RULE_SETS)


def test_two_pages_do_not_meet(server: Server, page: Client) -> None:
    """The same id, the same kind: each has its own."""
    with client(server) as other:
        page.send(id="x", type="analyze", game=game("A1"), visits=60)
        other.send(id="x", type="analyze", game=game("E5"), visits=60)
        answers = [next(a for a in iter(one.receive, None) if a["done"]) for one in (page, other)]
    assert [answer["policy"][4][0] is None for answer in answers] == [True, False]
    assert [answer["policy"][0][4] is None for answer in answers] == [False, True]
