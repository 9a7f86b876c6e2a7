"""Many clients at once, and those that vanish or do not read."""

import asyncio
import contextlib
import json
import socket
import struct
from typing import Any

from websockets.asyncio.client import connect

from mini_alphago.engine.pool import SLOTS
from mini_alphago.web import outbox

from .serving import Client, Server, client, game, wait_for

CLIENTS = 56
POINTS = [f"{column}{row}" for column in "ABCDE" for row in range(1, 6)]


def own_game(number: int) -> dict[str, Any]:
    """A game that nobody else has: two stones, in an order of its own."""
    return game(POINTS[number % 25], POINTS[(number + 1 + number // 25) % 25])


async def play(server: Server, number: int) -> tuple[list[int], dict[str, Any]]:
    """An analysis without end until a move has been asked for and given: the analysis' visits, and the move."""
    async with connect(f"ws://127.0.0.1:{server.port}/ws", max_size=None) as page:
        await page.send(json.dumps({"id": "a", "type": "analyze", "game": own_game(number), "visits": 10**5}))
        visits: list[int] = []
        while len(visits) < 3 or visits[-1] == visits[0]:
            answer = json.loads(await page.recv())
            assert (answer["id"], answer["type"]) == ("a", "analysis")
            visits.append(answer["visits"])
        await page.send(json.dumps({"id": "m", "type": "genmove", "game": own_game(number), "visits": 16}))
        while (answer := json.loads(await page.recv()))["type"] != "move":
            pass
        return visits, answer


def test_everybody_gets_on_and_nobody_gets_anothers_game(server: Server) -> None:
    async def all_of_them() -> list[tuple[list[int], dict[str, Any]]]:
        return await asyncio.wait_for(asyncio.gather(*(play(server, i) for i in range(CLIENTS))), 120)

    for number, (visits, answer) in enumerate(asyncio.run(all_of_them())):
        assert visits == sorted(visits)
        stones = {(row, column): stone for row, line in enumerate(answer["position"]["board"])
                  for column, stone in enumerate(line) if stone}  # fmt: skip
        moves = [move for _, move in own_game(number)["moves"]]
        assert answer["position"]["moveNumber"] == 3
        assert stones[5 - int(moves[0][1]), "ABCDE".index(moves[0][0])] == 1
        assert stones[5 - int(moves[1][1]), "ABCDE".index(moves[1][0])] == -1
        assert len(stones) == (2 if answer["move"] == "pass" else 3)
    wait_for(lambda: not server.tasks)


def test_a_long_review_does_not_keep_others_waiting(server: Server, page: Client) -> None:
    passes = [["BW"[i % 2], "pass"] for i in range(400)]
    page.send(id="long", type="review", game=game(moves=passes), visits=2000)
    assert page.receive()["type"] == "progress"
    searched = [task for task in server.tasks if task.started]
    assert len(searched) <= SLOTS
    with client(server) as other:
        assert other.ask("genmove", game=game("C3"), visits=8)["type"] == "move"
    page.send(id="end", type="stop", target="long")
    while (answer := page.receive())["type"] == "progress":
        assert answer["done"] < answer["total"]
    assert answer == {"id": "long", "type": "stopped"}
    assert server.tasks == []


def vanish(page: Client) -> None:
    """As a machine that is switched off: no goodbye."""
    wire = page.socket.socket
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


def test_who_vanishes_is_not_searched_for(server: Server) -> None:
    with client(server, close_timeout=0.1) as page, client(server, "/analysis", close_timeout=0.1) as program:
        for one in (page, program):
            one.send(
                id="x", type="analyze", game=game(), visits=10**5, every=0.05,
                moves=[], boardXSize=5, boardYSize=5, maxVisits=10**7, reportDuringSearchEvery=0.05,
            )  # fmt: skip
            one.receive()
        assert len(server.tasks) == 2
        vanish(page)
        vanish(program)
        wait_for(lambda: not server.tasks)


def test_who_does_not_read_is_dropped(server: Server, monkeypatch: Any) -> None:
    """Its socket takes no more, the reports replace each other, and then it is gone with its search."""
    monkeypatch.setattr(outbox, "_PATIENCE", 0.5)
    with socket.create_connection(("127.0.0.1", server.port)) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.sendall(
            b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert wire.recv(1000).startswith(b"HTTP/1.1 101")
        large = game(boardXSize=19, boardYSize=19)
        wire.sendall(frame({"id": "x", "type": "analyze", "game": large, "visits": 10**5, "every": 0.05}))
        wait_for(lambda: server.tasks)
        wire.settimeout(0.2)
        with contextlib.suppress(OSError):  # neither side reads any more
            for i in range(40):  # answers that no buffer holds
                text = f"(;SZ[5]C[{'x' * 800_000}])"
                wire.sendall(frame({"id": str(i), "type": "read-sgf", "text": text}))
        wait_for(lambda: not server.tasks)


def frame(message: dict[str, Any]) -> bytes:
    """A WebSocket frame from a client, with a mask of zeros."""
    text = json.dumps(message).encode()
    return struct.pack("!BBQ4x", 0x81, 0x80 | 127, len(text)) + text


def test_many_answers_at_once_are_too_many() -> None:
    """A client that asks for more than it reads, by the number of answers that wait."""

    async def talk() -> None:
        box = outbox.Outbox()
        never = asyncio.Event()

        async def stuck(text: str) -> None:
            await never.wait()

        sending = asyncio.create_task(box.send_all(stuck))
        for i in range(3):
            for number in range(10**4):
                box.put({"number": number}, replaces="report")
            await asyncio.sleep(0)
            box.put({"number": i})
        await asyncio.sleep(0)
        assert not sending.done()
        for number in range(10**3):
            box.put({"number": number})
        await asyncio.sleep(0)
        never.set()
        try:
            await sending
        except outbox.SlowClient:
            return
        raise AssertionError("it was patient")

    asyncio.run(talk())


def test_newer_reports_replace_older_ones() -> None:
    async def talk() -> list[str]:
        box, sent = outbox.Outbox(), []
        for number in range(5):
            box.put({"report": number}, replaces="report")
        box.put({"end": True})
        sending = asyncio.create_task(box.send_all(lambda text: asyncio.sleep(0, sent.append(text))))
        while len(sent) < 2:
            await asyncio.sleep(0)
        sending.cancel()
        return sent

    assert asyncio.run(talk()) == ['{"report": 4}', '{"end": true}']


def test_a_network_that_fails_fails_for_those_who_asked_it(server: Server, page: Client, monkeypatch: Any) -> None:
    evaluator = server.service.models.evaluator(server.service.models.find(None))
    monkeypatch.setattr(evaluator, "run", lambda *_: (_ for _ in ()).throw(FloatingPointError("not finite")))
    answer = page.ask("genmove", game=game(), visits=4)
    assert (answer["type"], answer["message"]) == ("error", "not finite")
    monkeypatch.undo()
    assert page.ask("genmove", game=game(), visits=4)["type"] == "move"
