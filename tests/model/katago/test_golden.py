"""The whole way from a board to an answer, beside KataGo's own answers with the same network, and slow formulas."""

import functools
import gzip
from pathlib import Path

import numpy as np
import pytest
import torch

from mini_alphago.game import BLACK
from mini_alphago.model import get_encoding
from mini_alphago.model.export import export_katago
from mini_alphago.model.katago.features import read_numbers
from mini_alphago.model.katago.network import KataGoFileNetwork, mix_policies
from mini_alphago.model.katago.reader import read_katago
from mini_alphago.model.katago.writer import write_katago

from .answers import (
    EVERY_CASE,
    SMALL_CASES,
    Case,
    assert_number,
    assert_ownership,
    assert_policy,
    replay,
    white,
)
from .small import SMALL, slow_answer


@functools.cache
def network_in(path: Path) -> KataGoFileNetwork:
    return KataGoFileNetwork(read_katago(path))


@pytest.mark.parametrize("width", [None, 19])
@pytest.mark.parametrize("case", EVERY_CASE)
def test_says_what_was_written_down(case: Case, width: int | None, one_thread: None) -> None:
    """Every answer, on a tensor as large as the board and on a larger one."""
    network, board = network_in(case.network), replay(case.position)
    width = width or board.size
    planes = np.empty((1, 23, width, width), np.int8)
    get_encoding(network.config.encoding).encode(board.games, planes)
    spatial, rows = torch.from_numpy(planes[:, :22]).float(), torch.from_numpy(read_numbers(planes[:, 22]))
    with torch.inference_mode():
        raw = network(spatial, rows, None if width == board.size else spatial[:, :1] > 0)
        values = network.values(raw, board.rules.ko == "simple" or board.rules.scoring == "territory")
    assert_policy(case, board, mix_policies(raw.policy)[0].numpy())
    assert_ownership(case, board, values.ownership[0].numpy())
    win, loss = (values.loss, values.win) if board.current_player == BLACK else (values.win, values.loss)
    assert_number(case, "whiteWin", float(win[0]), 2e-4)
    assert_number(case, "whiteLoss", float(loss[0]), 2e-4)
    assert_number(case, "noResult", float(values.no_result[0]), 2e-4)
    assert_number(case, "whiteLead", white(board) * float(values.lead[0]), 0.02)
    assert_number(case, "whiteScoreSelfplay", white(board) * float(values.score_mean[0]), 0.02)
    assert_number(case, "whiteScoreSelfplaySq", float(values.score_mean_square[0]), 0.1)


def test_the_answers_here_are_those_of_the_slow_formulas() -> None:
    """Written down they are for speed: two of them once more."""
    network = read_katago(SMALL)
    for case in (SMALL_CASES[4], SMALL_CASES[6]):
        assert slow_answer(network, replay(case.position), case.position["rules"]) == case.wanted


def test_the_small_file_is_what_the_writer_writes(tmp_path: Path) -> None:
    """Read and written again it is the same to the byte; from PyTorch it is, but for rounding."""
    write_katago(tmp_path / "again.bin.gz", read_katago(SMALL))
    ours, again = SMALL.read_bytes(), (tmp_path / "again.bin.gz").read_bytes()
    assert again[:10] == ours[:10]
    assert gzip.decompress(again) == gzip.decompress(ours)  # packed, they depend on the zlib that is installed
    export_katago(network_in(SMALL), tmp_path / "exported.bin.gz")
    exported = read_katago(tmp_path / "exported.bin.gz")
    for case in SMALL_CASES[4:6]:
        answer = slow_answer(exported, replay(case.position), case.position["rules"])
        assert_number(case, "whiteLead", answer["whiteLead"], 0.02)
        assert_number(case, "whiteWin", answer["whiteWin"], 2e-4)
