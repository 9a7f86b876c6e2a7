"""`/analysis`: a session as KaTrain has it, over a real WebSocket."""

from typing import Any

from mini_alphago.engine import analysis

from .serving import Client, Server, client

QUERY = {
    "rules": "japanese", "priority": 0, "analyzeTurns": [2], "maxVisits": 30, "komi": 6.5, "boardXSize": 5,
    "boardYSize": 5, "includeOwnership": True, "includeMovesOwnership": False, "includePolicy": True,
    "initialStones": [], "initialPlayer": "B", "moves": [["B", "C3"], ["W", "B2"]],
    "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "wideRootNoise": 0.04},
}  # fmt: skip


def answer_to(program: Client, id: str) -> dict[str, Any]:
    """The final answer to a query; reports of any query are skipped."""
    while (answer := program.receive())["id"] != id or answer.get("isDuringSearch"):
        pass
    return answer


def test_a_session_with_katrain(server: Server) -> None:
    with client(server, "/analysis") as program:
        program.send(id="version", action="query_version")
        assert program.receive()["version"]
        for turn in range(3):
            program.send(**{**QUERY, "id": f"QUERY:{turn}", "analyzeTurns": [turn]})
        answers = [answer_to(program, f"QUERY:{turn}") for turn in range(3)]
        for turn, answer in enumerate(answers):
            assert answer["turnNumber"] == turn
            assert answer["rootInfo"]["visits"] == 30
            assert len(answer["policy"]) == 26
            assert len(answer["ownership"]) == 25
            assert answer["moveInfos"][0]["pv"][0] == answer["moveInfos"][0]["move"]
        ponder = {**QUERY, "id": "PONDER", "maxVisits": 10_000_000, "reportDuringSearchEvery": 0.05}
        program.send(**ponder)
        reports = [program.receive() for _ in range(3)]
        assert all(report["isDuringSearch"] for report in reports)
        program.send(**{**QUERY, "id": "QUERY:urgent", "priority": 1000})
        answer_to(program, "QUERY:urgent")
        program.send(id="end", action="terminate", terminateId="PONDER")
        last = answer_to(program, "PONDER")
        assert last["rootInfo"]["visits"] >= reports[-1]["rootInfo"]["visits"]
        assert program.receive()["action"] == "terminate"
        assert server.tasks == []


def test_what_is_wrong_is_said(server: Server) -> None:
    with client(server, "/analysis") as program:
        program.socket.send("nonsense")
        assert program.receive() == {"error": "the line is not JSON"}
        program.socket.send(" \n")
        program.send(**{**QUERY, "id": "one", "moves": [["B", "C3"], ["W", "C3"]]})
        answer = program.receive()
        assert answer["id"] == "one"
        assert answer["error"].startswith("Illegal move")


def test_two_programs_do_not_meet(server: Server) -> None:
    """`terminate_all` of one is not of the other."""
    endless = {**QUERY, "id": "same", "maxVisits": 10_000_000, "reportDuringSearchEvery": 0.05}
    with client(server, "/analysis") as one, client(server, "/analysis") as other:
        for program in (one, other):
            program.send(**endless)
            program.receive()
        one.send(id="end", action="terminate_all")
        assert answer_to(one, "same")["rootInfo"]["visits"] > 0
        assert answer_to(one, "end")["action"] == "terminate_all"
        assert other.receive()["isDuringSearch"]


def test_too_many_positions_are_refused(server: Server, monkeypatch: Any) -> None:
    monkeypatch.setattr(analysis, "MOST_JOBS", 2)
    with client(server, "/analysis") as program:
        program.send(**{**QUERY, "id": "many", "analyzeTurns": [0, 1, 2]})
        assert "ask again later" in program.receive()["error"]
        program.send(**{**QUERY, "id": "few", "analyzeTurns": [0, 1]})
        assert {program.receive()["turnNumber"] for _ in range(2)} == {0, 1}
