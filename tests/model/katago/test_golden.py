"""The whole way from a board to an answer, beside KataGo's own answers with the same network."""

import json

import numpy as np
import pytest
import torch

from mini_alphago.game import Board, get_rules, state
from mini_alphago.game.coords import from_gtp
from mini_alphago.model.katago.features import FeaturesV7
from mini_alphago.model.katago.network import KataGoFileNetwork, mix_policies
from mini_alphago.model.katago.reader import read_katago
from tests.conftest import NO_DATA

from .real import DATA, REAL

ANSWERS = DATA / "katago-b6c96-raw-outputs.json"
POSITIONS = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else []

pytestmark = pytest.mark.skipif(not (POSITIONS and REAL.exists()), reason=f"{NO_DATA}: KataGo's network and answers")


def replay(position: dict) -> Board:
    board = Board(position["size"], position["komi"], get_rules(position["rules"]))
    for color, move in position["moves"]:
        assert board.current_player == (Board.BLACK if color == "b" else Board.WHITE)
        x, y = from_gtp(move, board.size)
        if x < 0:
            board.pass_move()
        else:
            assert board.play(x, y)
    return board


@pytest.fixture(scope="module")
def network() -> KataGoFileNetwork:
    return KataGoFileNetwork(read_katago(REAL))


@pytest.mark.parametrize("width", [None, 19])
@pytest.mark.parametrize("number", range(max(1, len(POSITIONS))))  # an empty list would be skipped without a reason
def test_says_what_katago_says(network: KataGoFileNetwork, number: int, width: int | None, one_thread: None) -> None:
    """Every answer of the file, on a tensor as large as the board and on a larger one."""
    position, board = POSITIONS[number], replay(POSITIONS[number])
    width = width or board.size
    planes, rows = np.empty((1, 22, width, width), np.float32), np.empty((1, 19), np.float32)
    FeaturesV7(pass_alive_suicide=network.pass_alive_suicide).encode(board.games, planes, rows)
    spatial = torch.from_numpy(planes)
    with torch.inference_mode():
        raw = network(spatial, torch.from_numpy(rows), None if width == board.size else spatial[:, :1] > 0)
    values = network.values(raw, board.rules.ko == "simple" or board.rules.scoring == "territory")

    wanted = position["katago"]
    legal = np.empty(board.size**2 + 1, np.uint8)
    state.legality_map(board.games, 0, board.current_player, legal)
    logits = mix_policies(raw.policy)[0].double()
    points = logits[:-1].reshape(width, width)[: board.size, : board.size].reshape(-1)
    logits = torch.cat((points, logits[-1:])).masked_fill(torch.from_numpy(legal != state.LEGAL), -torch.inf)
    expected = np.array([p for row in wanted["policy"] for p in row] + [wanted["policyPass"]], float)
    assert np.array_equal(np.isnan(expected), legal != state.LEGAL)
    np.testing.assert_allclose(logits.softmax(0).numpy(), np.nan_to_num(expected), atol=2e-4)

    black = board.current_player == Board.BLACK
    sign = -1 if black else 1
    assert float((values.loss if black else values.win)[0]) == pytest.approx(wanted["whiteWin"], abs=2e-4)
    assert float(values.no_result[0]) == pytest.approx(wanted["noResult"], abs=2e-4)
    assert sign * float(values.lead[0]) == pytest.approx(wanted["whiteLead"], abs=0.02)
    assert sign * float(values.score_mean[0]) == pytest.approx(wanted["whiteScoreSelfplay"], abs=0.02)
    ownership = sign * values.ownership[0].reshape(width, width)[: board.size, : board.size].numpy()
    np.testing.assert_allclose(ownership, np.array(wanted["whiteOwnership"]), atol=2e-3)
