"""Messages that nobody should send: the connection stays, or ends cleanly, and the server answers everybody else."""

import contextlib
import json
import struct
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed

from .serving import GAME, Client, Server, client, game

TYPES = ["position", "handicap", "genmove", "analyze", "score", "review", "read-sgf", "write-sgf", "watch", "stop"]
WORDS = ["B", "W", "pass", "C3", "Z99", "chinese", "full", "tiny", "", "\u0000", "\ud800", "(;B[aa])", "../..", "b"]
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.integers(),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=9),
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*GAME, "id", "x"]), inner, max_size=4),
    max_leaves=12,
)
games = st.one_of(
    values,
    st.fixed_dictionaries({}, optional={name: values | st.just(value) for name, value in GAME.items()}),
    st.just(GAME),
)
fields = {
    "game": games, "model": values, "level": values, "visits": st.integers(-1, 30) | values, "every": values,
    "target": values, "dead": values, "toggle": values, "size": values, "stones": values, "text": values,
    "info": values, "nodes": values | st.lists(st.fixed_dictionaries({"id": values, "parent": values, "move": values})),
}  # fmt: skip
requests = st.fixed_dictionaries({"id": values | st.just("1"), "type": st.sampled_from(TYPES)}, optional=fields)
QUICK = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def still_works(one: Client) -> bool:
    """Whether a question is answered, after whatever answers are still to come."""
    one.send(id="still there", type="position", game=game("C3"))
    while (answer := one.receive())["id"] != "still there":
        pass
    return bool(answer["position"]["board"][2][2] == 1)


@given(message=requests | values)
@QUICK
def test_any_json(page: Client, message: Any) -> None:
    page.socket.send(json.dumps(message))
    page.send(id="end", type="stop", target="1")
    assert still_works(page)


@given(text=st.text(max_size=200) | st.binary(max_size=200))
@QUICK
def test_any_text_and_bytes(page: Client, text: str | bytes) -> None:
    page.socket.send(text.encode("utf-8", "replace").decode() if isinstance(text, str) else text)
    assert still_works(page)


@pytest.mark.parametrize("path", ["/ws", "/analysis"])
@pytest.mark.parametrize(
    "message",
    [
        "[" * 500_000,
        '{"id":' * 100_000,
        '{"id": "1", "type": "position", "game": ' + "[" * 990 + "]" * 990 + "}",
        '{"id": "1", "moves": [[' + "[" * 990 + "]" * 990 + ', "C3"]], "boardXSize": 5, "boardYSize": 5}',
        '{"id": "1", "type": "handicap", "size": ' + "9" * 900_000 + ', "stones": 2}',
        "x" * 1_000_001,
        json.dumps({"id": "1", "type": "read-sgf", "text": "(" * 900_000}),
        json.dumps({"id": "1", "type": "read-sgf", "text": "(;SZ[19]" + "(;B[aa]" * 9_000}),
        json.dumps({"id": "1", "type": "position", "game": {**GAME, "moves": [["B", "pass"]] * 50_000}}),
        json.dumps({"id": "1" * 100_000, "type": "stop", "target": "x"}),
        b"\x00" * 1000,
    ],
    ids=range(11),
)
def test_large_and_deep(server: Server, path: str, message: str | bytes) -> None:
    with client(server, path) as one:
        one.socket.send(message)
        answer = one.receive()
        reason = answer.get("message", answer.get("error"))
        assert reason
        assert len(reason) < 300
        assert "\n" not in reason
        one.send(id="still there", action="query_version", type="handicap", size=9, stones=2)
        assert one.receive()["id"] == "still there"


def test_beyond_all_measure_the_connection_ends(server: Server, page: Client) -> None:
    with client(server) as one:
        with contextlib.suppress(ConnectionClosed):
            one.socket.send("x" * 5_000_000)
        with pytest.raises(ConnectionClosed):
            one.receive()
    assert still_works(page)


def test_bytes_that_are_no_websocket(server: Server, page: Client) -> None:
    with client(server) as one:
        one.socket.socket.sendall(struct.pack("!BB", 0xFF, 0xFF) + b"junk" * 100)
        with pytest.raises(ConnectionClosed):
            one.receive()
    assert still_works(page)
