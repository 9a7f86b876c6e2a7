"""The evaluator: the same answers however it computes them, for any batch, and clear words when it cannot."""

import random
import warnings

import numpy as np
import pytest
import torch

from mini_alphago.game import Board, stack_boards
from mini_alphago.model import ENCODINGS, Evaluator, KataGoNetwork, PolicyValueNetwork, symmetry
from mini_alphago.model.evaluator import disagreement, first_that_works, trial_planes
from mini_alphago.model.inference import Ready, TorchBackend
from mini_alphago.model.norms import fold
from mini_alphago.model.openvino import OpenVinoBackend

from .weights import trained


def random_boards(count: int, sizes: list[int], seed: int = 0) -> list[Board]:
    rng = random.Random(seed)
    boards = []
    for _ in range(count):
        board = Board(rng.choice(sizes), komi=7)
        for _ in range(rng.randrange(30)):
            x, y = rng.choice(board.get_legal_moves()[:-1] or [(-1, -1)])
            if x >= 0:
                board.play(x, y)
        boards.append(board)
    return boards


def direct(network: KataGoNetwork | PolicyValueNetwork, board: Board) -> list[np.ndarray]:
    """The plain way: encode one board, ask the network in float32."""
    encoding = ENCODINGS[network.config.encoding]
    planes = np.empty((1, encoding.planes, board.size, board.size), np.float32)
    encoding.encode(board.games, planes)
    with torch.inference_mode():
        return [part.numpy()[0] for part in network.outputs(torch.from_numpy(planes)) if part is not None]


def networks() -> dict[str, KataGoNetwork | PolicyValueNetwork]:
    return {
        "tutorial": trained(PolicyValueNetwork(7, 7, 16, 2)),
        "pooled": trained(KataGoNetwork(3, 16)),
        "fc": trained(KataGoNetwork(2, 16, heads="fc", board_size=7)),
    }


@pytest.mark.parametrize("name", networks())
@pytest.mark.parametrize("engine", ["torch", "openvino"])
def test_agrees_with_the_network_itself(name: str, engine: str) -> None:
    if engine == "openvino":
        pytest.importorskip("openvino", reason="the openvino extra is not installed")
    network = networks()[name]
    boards = random_boards(5, [7])
    evaluation = Evaluator(network, device="cpu", precision="f32", engine=engine).evaluate(stack_boards(boards))
    assert evaluation.policy.shape == (5, 50)
    assert all(part is None or part.dtype == np.float32 for part in evaluation)
    assert (evaluation.score is None) == (name == "tutorial")
    for i, board in enumerate(boards):
        rows = [part[i] for part in evaluation if part is not None]
        for ours, plain in zip(rows, direct(network, board), strict=True):
            np.testing.assert_allclose(ours, plain, atol=2e-4)


def test_openvino_knows_every_board_size() -> None:
    """Pooling depends on the board's width, so a model traced on one size must not answer for another."""
    pytest.importorskip("openvino", reason="the openvino extra is not installed")
    network = trained(KataGoNetwork(3, 16))
    evaluator = Evaluator(network, device="cpu", precision="f32", engine="openvino")
    for board in random_boards(3, [5], 1) + random_boards(3, [9], 2) + random_boards(3, [13], 3):
        np.testing.assert_allclose(evaluator.evaluate(board.games).value[0], direct(network, board)[1], atol=1e-4)


@pytest.mark.parametrize("name", networks())
def test_folding_changes_nothing(name: str) -> None:
    network = networks()[name]
    x = torch.randn(3, network.config.input_planes, 7, 7)
    folded = fold(network)
    assert sum(isinstance(m, torch.nn.BatchNorm2d) for m in folded.modules()) < sum(
        isinstance(m, torch.nn.BatchNorm2d) for m in network.modules()
    )
    for one, other in zip(network.outputs(x), folded.outputs(x), strict=True):
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("engine", ["torch", "openvino"])
def test_mixed_board_sizes(engine: str) -> None:
    if engine == "openvino":
        pytest.importorskip("openvino", reason="the openvino extra is not installed")
    network = trained(KataGoNetwork(3, 16))
    boards = random_boards(6, [5, 7, 9])
    width = max(board.size for board in boards)
    for average in (False, True):
        evaluator = Evaluator(network, device="cpu", precision="f32", engine=engine, average_symmetries=average)
        together = evaluator.evaluate(stack_boards(boards))
        for i, board in enumerate(boards):
            alone = evaluator.evaluate(board.games)
            size = board.size
            corner = together.policy[i, :-1].reshape(width, width)[:size, :size]
            np.testing.assert_allclose(corner.reshape(-1), alone.policy[0, :-1], atol=1e-3)
            np.testing.assert_allclose(together.value[i], alone.value[0], atol=1e-4)
            assert together.ownership is not None
            assert alone.ownership is not None
            owner = together.ownership[i].reshape(width, width)[:size, :size]
            np.testing.assert_allclose(owner.reshape(-1), alone.ownership[0], atol=1e-4)


def test_averaging_makes_symmetric_answers() -> None:
    """Each view of a position gets the same answer, moved; and a symmetric position a symmetric one."""
    network = trained(KataGoNetwork(3, 16))
    evaluator = Evaluator(network, device="cpu", precision="f32", average_symmetries=True)
    planes = trial_planes(evaluator.encoding, 7, count=4)
    sizes = np.full(4, 7)
    answer = evaluator.run(planes, sizes)
    for s in range(8):
        moved = evaluator.run(symmetry.apply(planes, s, 7), sizes)
        np.testing.assert_allclose(moved.policy, symmetry.apply(answer.policy, s, 7), atol=1e-3)
        np.testing.assert_allclose(moved.value, answer.value, atol=1e-5)
        assert moved.ownership is not None
        assert answer.ownership is not None
        np.testing.assert_allclose(moved.ownership, symmetry.apply(answer.ownership, s, 7), atol=1e-4)
    empty = evaluator.evaluate(Board(7).games)
    for s in range(8):
        np.testing.assert_allclose(empty.policy, symmetry.apply(empty.policy, s, 7), atol=1e-3)


@pytest.mark.parametrize("family", ["tutorial", "katago"])
def test_bf16_agrees_with_f32(family: str) -> None:
    network = trained(PolicyValueNetwork(9, 7, 64, 4) if family == "tutorial" else KataGoNetwork(6, 96))
    exact = Evaluator(network, device="cpu", precision="f32", engine="torch")
    planes, sizes = trial_planes(exact.encoding, 9, count=32), np.full(32, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it must not have fallen back
        half = Evaluator(network, device="cpu", precision="bf16", engine="torch")
    assert half.precision == "bf16"
    one, other = exact.run(planes, sizes), half.run(planes, sizes)
    assert not np.array_equal(one.policy, other.policy)
    assert disagreement(one, other) is None


def test_falls_back_with_one_warning_where_half_precision_fails() -> None:
    network = trained(KataGoNetwork(3, 16))
    with torch.no_grad():
        network.policy_head.points.weight.mul_(100)  # so sharp that the rounding of bf16 decides between moves
        network.policy_head.passing.bias.fill_(-1e4)  # and passing is none of them
    with pytest.warns(UserWarning, match=r"bf16.*disagrees.*float32") as caught:
        evaluator = Evaluator(network, device="cpu", precision="bf16", engine="torch")
    assert len(caught) == 1
    assert evaluator.precision == "f32"
    board = random_boards(1, [7])[0]
    np.testing.assert_allclose(evaluator.evaluate(board.games).policy[0], direct(network, board)[0], atol=0.05)


def test_the_first_way_that_works_is_taken_and_the_others_say_why_not() -> None:
    network = trained(KataGoNetwork(1, 8))
    planes = trial_planes(ENCODINGS["katago"], 9)
    works = TorchBackend(Ready(network, ENCODINGS["katago"].scale, torch.float32), torch.device("cpu"))

    def missing():
        raise ImportError("no module named triton\nand a long story")

    class OutOfMemory:
        def __call__(self, planes, mask):
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    with pytest.warns(UserWarning, match="does not work here") as said:
        found = first_that_works([("a", missing), ("b", OutOfMemory), ("c", lambda: works), ("d", missing)], planes)
    assert found is works
    assert [str(warning.message) for warning in said] == [
        "a does not work here (no module named triton): using b", "b does not work here (CUDA out of memory): using c"
    ]  # fmt: skip
    with pytest.warns(UserWarning, match="using b"), pytest.raises(ImportError):
        first_that_works([("a", missing), ("b", missing)], planes)


def test_an_openvino_that_cannot_compile_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self, width, parts):
        raise RuntimeError("unsupported operation")

    monkeypatch.setattr(OpenVinoBackend, "_compile", fails)
    with pytest.warns(UserWarning, match="OpenVINO does not work here .unsupported operation.: using plain PyTorch"):
        evaluator = Evaluator(trained(KataGoNetwork(1, 8)), device="cpu", engine="openvino")
    assert evaluator.engine == "torch"
    assert np.isfinite(evaluator.evaluate(stack_boards(random_boards(3, [9]))).value).all()
    evaluator.update(trained(KataGoNetwork(1, 8)))


def test_a_network_of_nan_stops_with_its_cause() -> None:
    network = trained(KataGoNetwork(1, 8))
    with torch.no_grad():
        network.initial_conv.weight.fill_(float("nan"))
    evaluator = Evaluator(network, device="cpu", precision="f32", engine="torch")
    with pytest.raises(FloatingPointError, match="not finite"):
        evaluator.evaluate(Board(5).games)


def test_the_cache_answers_and_forgets() -> None:
    network = trained(KataGoNetwork(1, 8))
    plain = Evaluator(network, device="cpu", precision="f32", engine="torch")
    cached = Evaluator(network, device="cpu", precision="f32", engine="torch", cache_size=4)
    asked = []
    backend = cached._backend
    cached._backend = lambda planes, mask: (asked.append(len(planes)), backend(planes, mask))[1]
    boards = random_boards(4, [5], seed=1)
    for batch in (boards, boards, [boards[0], boards[0]], random_boards(6, [5], seed=9), boards):
        games = stack_boards(batch)
        for one, other in zip(cached.evaluate(games), plain.evaluate(games), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
        assert len(cached._cache) <= 4
    assert asked[0] == 4
    assert asked[1] == 6  # the second and third batch were known; then six new ones pushed the old out
    assert asked[2] == 4


def test_the_cache_tells_positions_apart_that_look_alike() -> None:
    """The same stones with another history, komi or player are another question."""
    network = trained(KataGoNetwork(1, 8))
    evaluator = Evaluator(network, device="cpu", precision="f32", engine="torch", cache_size=100)
    one, other = Board(5, komi=7), Board(5, komi=7)
    for x, y in [(0, 0), (1, 1), (2, 2), (3, 3)]:
        one.play(x, y)
    for x, y in [(2, 2), (3, 3), (0, 0), (1, 1)]:
        other.play(x, y)
    assert one == other
    assert evaluator.evaluate(one.games).value[0] != evaluator.evaluate(other.games).value[0]
    before = evaluator.evaluate(one.games).value[0]
    one.komi = 3
    assert evaluator.evaluate(one.games).value[0] != before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "abacus"}, "unknown device"),
        ({"device": "cuda:99"}, "no device 'cuda:99' here"),
        ({"precision": "f8"}, "auto, f32, bf16 or f16"),
        ({"device": "cpu", "precision": "f16"}, "take bf16 or f32"),
        ({"engine": "steam"}, "auto, torch, openvino"),
    ],
)
def test_impossible_settings_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Evaluator(trained(KataGoNetwork(1, 8)), **options)


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_openvino_shares_a_batch_among_the_cores(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of a batch and of its parts, each position has its own answer."""
    pytest.importorskip("openvino", reason="the openvino extra is not installed")
    monkeypatch.setattr(torch, "get_num_threads", lambda: cores)
    network = trained(KataGoNetwork(2, 16))
    exact = Evaluator(network, device="cpu", precision="f32", engine="torch")
    evaluator = Evaluator(network, device="cpu", precision="f32", engine="openvino")
    planes = trial_planes(exact.encoding, 9, count=11)
    expected = exact.run(planes, np.full(11, 9))
    for first, last in ((0, 11), (3, 4), (4, 6), (6, 9), (9, 11), (2, 9)):
        found = evaluator.run(planes[first:last], np.full(last - first, 9))
        for part, whole in zip(found, expected, strict=True):
            assert part is not None
            assert whole is not None
            np.testing.assert_allclose(part, whole[first:last], atol=1e-3)


def test_any_batch_size() -> None:
    evaluator = Evaluator(trained(KataGoNetwork(1, 8)), device="cpu")
    planes = trial_planes(evaluator.encoding, 5, count=11)
    everything = evaluator.run(planes, np.full(11, 5))
    for count in (1, 2, 3, 7):
        part = evaluator.run(planes[:count], np.full(count, 5))
        np.testing.assert_allclose(part.policy, everything.policy[:count], atol=1e-2)


def test_ready_takes_bytes() -> None:
    """Komi travels in half points and means komi / 15 when it arrives."""
    encoding = ENCODINGS["katago"]
    ready = Ready(trained(KataGoNetwork(1, 8)), encoding.scale, torch.float32)
    low, high = Board(5, komi=-3.5), Board(5, komi=12)
    backend = TorchBackend(ready, torch.device("cpu"))
    for board in (low, high):
        planes = np.empty((1, 22, 5, 5), np.int8)
        encoding.encode(board.games, planes)
        assert planes[0, 20, 0, 0] == 2 * board.komi
        np.testing.assert_allclose(backend(planes, None)[0][0], direct(ready.network, board)[0], atol=1e-5)


@pytest.mark.parametrize("engine", ["torch", "openvino"])
def test_update_takes_the_weights_of_another_network(engine):
    if engine == "openvino":
        pytest.importorskip("openvino")
    first, second = trained(KataGoNetwork(2, 16)), KataGoNetwork(2, 16).eval()
    evaluator = Evaluator(first, "cpu", "f32", engine=engine, cache_size=10)
    planes, sizes = trial_planes(evaluator.encoding, 5), np.full(16, 5)
    for network in (first, second):
        evaluator.update(network)
        exact = Evaluator(network, "cpu", "f32", engine="torch")
        for ours, theirs in zip(evaluator.run(planes, sizes), exact.run(planes, sizes), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-5)
    with pytest.raises(ValueError, match="another shape"):
        evaluator.update(KataGoNetwork(2, 24))
