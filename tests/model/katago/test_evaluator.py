"""KataGo's networks asked as all others are: the same answers, however they are computed, on every board they take."""

import functools
from pathlib import Path

import numpy as np
import pytest
import torch

from mini_alphago.game import BLACK, WHITE, Board, stack_boards
from mini_alphago.mcts import analyze
from mini_alphago.model import Evaluation, Evaluator, load_network, symmetry
from mini_alphago.model.evaluator import Engine, trial_planes
from mini_alphago.model.katago.network import KataGoFileNetwork

from .answers import EVERY_CASE, SMALL_CASES, Case, assert_number, assert_ownership, assert_policy, replay, white
from .made_up import VERSIONS, made_up
from .real import REAL, needs_real_network
from .small import SMALL

pytestmark = pytest.mark.usefixtures("one_thread")


@functools.cache
def evaluator_of(path: Path, engine: Engine = "torch", average: bool = False) -> Evaluator:
    return Evaluator(load_network(path), "cpu", "f32", engine=engine, average_symmetries=average)


def need_openvino() -> None:
    pytest.importorskip("openvino", reason="the openvino extra is not installed")


def row(answer: Evaluation, i: int = 0) -> tuple[np.ndarray, float, float, np.ndarray]:
    """Of one board: policy, value, score, ownership."""
    assert answer.score is not None
    assert answer.ownership is not None
    return answer.policy[i], float(answer.value[i]), float(answer.score[i]), answer.ownership[i]


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


# --- what was written down ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["torch", "openvino"])
@pytest.mark.parametrize("case", EVERY_CASE)
def test_says_what_was_written_down(case: Case, engine: Engine) -> None:
    if engine == "openvino":
        need_openvino()
    evaluator, board = evaluator_of(case.network, engine), replay(case.position)
    assert (evaluator.engine, evaluator.precision) == (engine, "f32")
    policy, value, score, ownership = row(evaluator.evaluate(board.games))
    assert_policy(case, board, policy)
    assert_ownership(case, board, ownership)
    assert_number(case, "whiteLead", white(board) * score, 0.02)
    margin = case.wanted["whiteWin"] - case.wanted["whiteLoss"]
    assert white(board) * value == pytest.approx(margin, abs=4e-4 * case.near)  # a winrate's tolerance, twice


@pytest.mark.parametrize("average", [False, True])
def test_boards_of_all_sizes_in_one_batch(average: bool) -> None:
    """A board is told the same in the corner of a larger tensor, under every rule set and komi at once."""
    evaluator = evaluator_of(SMALL, average=average)
    boards = [replay(case.position) for case in SMALL_CASES]
    assert {board.size for board in boards} == {5, 6, 7, 9}
    together = evaluator.evaluate(stack_boards(boards))
    for i, board in enumerate(boards):
        policy, value, score, ownership = row(together, i)
        alone = row(evaluator.evaluate(board.games))
        corner = np.ix_(range(board.size), range(board.size))
        points = policy[:-1].reshape(9, 9)[corner].ravel()
        np.testing.assert_allclose(np.append(points, policy[-1]), alone[0], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose([value, score], alone[1:3], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(ownership.reshape(9, 9)[corner].ravel(), alone[3], atol=1e-4)


# --- symmetry -------------------------------------------------------------------------------------------------------


def turned(position: dict, view: int) -> Board:
    """The same game on a board that is turned."""
    board = Board(position["size"], position["komi"], position["rules"])
    to = symmetry.point_table(board.size)[view]
    for x, y, _ in replay(position).history:
        if x < 0:
            board.pass_move()
        else:
            assert board.play(*divmod(int(to[x * board.size + y]), board.size))
    return board


@pytest.mark.parametrize("case", SMALL_CASES[1:4] + SMALL_CASES[-2:])
def test_the_average_is_that_of_eight_turned_games(case: Case) -> None:
    """Only what is drawn is turned: komi and rules are the same numbers in every view."""
    size = case.position["size"]
    views = []
    for view in range(symmetry.COUNT):
        policy, value, score, ownership = row(evaluator_of(SMALL).evaluate(turned(case.position, view).games))
        back = symmetry.inverse(view)
        odds, owner = symmetry.apply(softmax(policy), back, size), symmetry.apply(ownership, back, size)
        views.append((odds, value, score, owner))
    assert np.ptp([view[2] for view in views]) > 1e-2  # the network is not symmetric by itself
    mean = [np.mean(parts, axis=0) for parts in zip(*views, strict=True)]
    policy, value, score, ownership = row(evaluator_of(SMALL, average=True).evaluate(replay(case.position).games))
    np.testing.assert_allclose(softmax(policy), mean[0], atol=1e-6)
    np.testing.assert_allclose([value, score], mean[1:3], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ownership, mean[3], atol=1e-5)


# --- every version --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "metadata"), [*((v, False) for v in VERSIONS), (15, True), (16, True)])
def test_every_version_answers_as_the_network_itself(version: int, metadata: bool) -> None:
    """Its norms are part of its convolutions then."""
    network = KataGoFileNetwork(made_up(version, metadata=metadata, seed=3))
    evaluator = Evaluator(network, "cpu", "f32", engine="torch")
    planes = trial_planes(evaluator.encoding, 7)
    x, mask = torch.from_numpy(planes).float(), torch.zeros(16, 1, 7, 7, dtype=torch.bool)
    mask[:, :, :6, :6] = True
    for size, on in ((7, None), (6, mask)):
        answers = evaluator.run(planes, np.full(16, size))
        with torch.inference_mode():
            exact = network.outputs(x, on)
        for ours, plain in zip(answers, exact, strict=True):
            assert ours is not None
            np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-4)


def test_openvino_takes_the_newest_kind_too() -> None:
    need_openvino()
    network = KataGoFileNetwork(made_up(16, metadata=True, seed=3))
    other = Evaluator(network, "cpu", "f32", engine="openvino")
    assert other.engine == "openvino"
    planes, sizes = trial_planes(other.encoding, 9), np.full(16, 9)
    exact = Evaluator(network, "cpu", "f32", engine="torch").run(planes, sizes)
    for ours, plain in zip(other.run(planes, sizes), exact, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-4)


def test_half_precision_is_near() -> None:
    """Komi too: it travels as two bytes, whose sum is near even where each is rounded."""
    exact, half = evaluator_of(SMALL), Evaluator(load_network(SMALL), "cpu", "bf16", engine="torch")
    assert half.precision == "bf16"
    for case in SMALL_CASES:
        games = replay(case.position).games
        (policy, value, score, _), (ours, our_value, our_score, _) = (
            row(exact.evaluate(games)),
            row(half.evaluate(games)),
        )
        assert 0.5 * np.abs(softmax(policy) - softmax(ours)).sum() < 0.05
        assert our_value == pytest.approx(value, abs=0.05)
        assert our_score == pytest.approx(score, abs=0.5)


def test_a_network_that_reads_who_plays_can_be_searched() -> None:
    network = KataGoFileNetwork(made_up(16, metadata=True, seed=3))
    result = analyze(Board(6, 4, "japanese"), Evaluator(network, "cpu", "f32", engine="torch"), 20)
    assert sum(move.visits for move in result.moves) == 20


# --- komi, rules, sizes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "size", "rules"),
    [
        (SMALL, 5, "cgos"),
        pytest.param(REAL, 9, "tromp-taylor", marks=needs_real_network),
        pytest.param(REAL, 9, "japanese", marks=needs_real_network),
    ],
)
def test_komi_reaches_the_network(path: Path, size: int, rules: str) -> None:
    """The more White gets, the less Black expects, and the more White does."""
    boards = [Board(size, komi, rules) for komi in (-9, 0, 3.5, 7.5, 15)]
    for player, sign in ((BLACK, -1), (WHITE, 1)):
        answer = evaluator_of(path).evaluate(stack_boards(boards))
        assert {board.current_player for board in boards} == {player}
        assert answer.score is not None
        assert (sign * np.diff(answer.value) > 0.01).all()
        assert (sign * np.diff(answer.score) > 0.2).all()
        for board in boards:
            board.play(size // 2, size // 2)


@pytest.mark.parametrize("rules", ["tromp-taylor", "cgos", "aga", "new-zealand", "chinese", "japanese"])
def test_only_some_rules_leave_games_without_a_result(rules: str) -> None:
    network = KataGoFileNetwork(made_up(8))
    evaluator = Evaluator(network, "cpu", "f32", engine="torch")
    board = Board(9, 7, rules)
    planes = np.empty((1, 23, 9, 9), np.float32)
    evaluator.encoding.encode(board.games, planes)
    with torch.inference_mode():
        values = network.explain(torch.from_numpy(planes))
    possible = rules in ("chinese", "japanese")
    assert (float(values.no_result) > 0.01) == possible
    assert (float(values.no_result) == 0.0) == (not possible)
    assert float(values.win + values.loss + values.no_result) == pytest.approx(1)
    _, value, score, _ = row(evaluator.evaluate(board.games))
    assert value == pytest.approx(float(values.win - values.loss), abs=1e-5)
    assert score == pytest.approx(float(values.lead), abs=1e-4)


@pytest.mark.parametrize("size", [2, 4])
def test_smaller_boards_are_refused(size: int) -> None:
    """The numbers would not fit into a plane."""
    evaluator, sentence = evaluator_of(SMALL), r"^networks with katago-v7 inputs play on boards from 5×5 on$"
    with pytest.raises(ValueError, match=sentence):
        evaluator.evaluate(Board(size).games)
    with pytest.raises(ValueError, match=sentence):
        analyze(Board(size), evaluator, 4)
    assert np.isfinite(evaluator.evaluate(Board(5).games).value).all()
    for average in (False, True):  # beside larger ones there is room
        both = evaluator_of(SMALL, average=average).evaluate(stack_boards([Board(9), Board(size)]))
        assert np.isfinite(both.value).all()
