"""A game reviewed: the right moves are criticised, and the record and the picture are what programs can read."""

import xml.etree.ElementTree as ET

import pytest
from sgfmill import sgf as sgfmill

from mini_alphago.cli import main
from mini_alphago.engine.review import annotate, picture, review_game
from mini_alphago.game import BLACK, WHITE, SgfGame, SgfMove, format_sgf, parse_sgf, read_sgf
from mini_alphago.model import KataGoNetwork, save_checkpoint

from ..mcts.evaluators import Area

RECORD = "(;GM[1]FF[4]SZ[5]KM[0.5]RU[cgos];B[cc];W[bb]C[a comment];B[];W[cb];B[dc];W[])"


@pytest.fixture(scope="module")
def reviewed():
    return review_game(parse_sgf(RECORD), Area(3.0), visits=60)


def test_every_position_is_searched(reviewed):
    assert len(reviewed.positions) == 7
    assert all(sum(move.visits for move in position.moves) == 60 for position in reviewed.positions)
    assert all(0 <= position.winrate <= 1 for position in reviewed.positions)


def test_a_pass_in_the_middle_is_a_mistake(reviewed):
    found = {mistake.number: mistake for mistake in reviewed.mistakes(0.01)}
    assert found[3].player == BLACK
    assert found[3].played == (-1, -1)
    assert found[3].points_lost > 0
    lost = [mistake.winrate_lost for mistake in reviewed.mistakes(0.01)]
    assert lost == sorted(lost, reverse=True)


def test_the_record_can_be_read_and_has_variations(reviewed):
    text = format_sgf(annotate(reviewed))
    again = parse_sgf(text)
    assert again.moves == reviewed.game.moves
    tree = sgfmill.Sgf_game.from_bytes(text.encode())
    main_line = tree.get_main_sequence()
    assert all(0 <= float(node.get_raw("SBKV")) <= 100 for node in main_line)
    assert "a comment" in main_line[2].get("C")
    before_the_pass = main_line[2]
    assert len(before_the_pass) == 2  # the move that was made, and the better one
    assert before_the_pass[1].get_move()[0] == "b"
    assert before_the_pass[1].get_move()[1] is not None


def test_the_picture_is_an_svg(reviewed):
    root = ET.fromstring(picture(reviewed))
    assert root.tag.endswith("svg")
    assert len(root.findall("{http://www.w3.org/2000/svg}svg")) == 2


def test_variations_are_written_beside_the_main_line():
    line = [SgfMove(move=(1, 1, WHITE)), SgfMove(move=(2, 2, BLACK))]
    game = SgfGame(
        size=5, nodes=[SgfMove(), SgfMove(move=(0, 0, BLACK), variations=[line]), SgfMove(move=(4, 4, WHITE))]
    )
    assert format_sgf(game).replace("\n", "").endswith(";B[aa](;W[ee])(;W[bb];B[cc]))")


def test_the_command(tmp_path, capsys, plain_torch):
    (tmp_path / "game.sgf").write_text(RECORD)
    save_checkpoint(tmp_path / "net.safetensors", KataGoNetwork(1, 8))
    main(["review", str(tmp_path / "game.sgf"), "--model", str(tmp_path / "net.safetensors"), "--visits", "8"])
    assert "game.review.sgf" in capsys.readouterr().out
    assert read_sgf(tmp_path / "game.review.sgf").moves == parse_sgf(RECORD).moves
    ET.fromstring((tmp_path / "game.review.svg").read_text())
