"""The tutorial's `MCTS` and `MCTSNode`, as the tutorial uses them."""

import copy

import numpy as np
import pytest
import torch

from mini_alphago.game import Board, Rules
from mini_alphago.mcts import MCTS, MCTSNode, Search, SearchSettings
from mini_alphago.model import Evaluator, KataGoNetwork, PolicyValueNetwork, encode_board

from ..model.weights import trained
from .invariants import check_tree, random_board

PASS = (-1, -1)


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    """Float32, whatever this CPU is good at: what is found here is compared to the digit."""
    monkeypatch.setattr("mini_alphago.model.evaluator.cpu_has_bf16", lambda: False)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(1)
    return trained(PolicyValueNetwork(board_size=5, num_filters=8, num_blocks=1))


@pytest.fixture
def mcts(network):
    return MCTS(network, board_size=5, num_simulations=40, seed=0)


@pytest.fixture
def board():
    board = Board(5)
    for x, y in ((2, 2), (1, 2), (2, 3)):
        board.play(x, y)
    return board


# --- search -----------------------------------------------------------------------------------------------------------


def test_the_tutorials_signature(network):
    mcts = MCTS(network)
    assert (mcts.network, mcts.board_size, mcts.num_simulations, mcts.c_puct) == (network, 9, 100, 1.5)
    mcts = MCTS(network, 5, 7, 2.0)
    assert (mcts.board_size, mcts.num_simulations, mcts.c_puct) == (5, 7, 2.0)


@pytest.mark.parametrize("noise", [False, True])
def test_search(mcts, board, noise):
    before = board.copy()
    root = mcts.search(board, add_noise=noise)
    assert board == before
    assert board.history == before.history
    assert root.visit_count == 40
    assert list(root.children) == board.get_legal_moves()
    children = root.children.values()
    assert sum(child.visit_count for child in children) == 40
    assert sum(child.prior for child in children) == pytest.approx(1, abs=1e-5)
    assert all(abs(child.value) <= 1 for child in children)
    assert root.value_sum == pytest.approx(sum(child.value_sum for child in children), abs=1e-4)
    assert root.value == pytest.approx(root.value_sum / 40)


def test_nodes_below(mcts, board):
    """A child's own children: what the search knows of the position behind the move."""
    root = mcts.search(board)
    move, child = max(root.children.items(), key=lambda item: item[1].visit_count)
    after = board.copy()
    assert after.play(*move)
    assert list(child.children) == after.get_legal_moves()
    assert sum(grandchild.visit_count for grandchild in child.children.values()) == child.visit_count - 1


def test_moves_not_visited_are_worth_nothing_also_in_a_second_search(network, board):
    """Where earlier searches have left their numbers."""
    mcts = MCTS(network, 5, 100)
    mcts.search(board)
    mcts.num_simulations = 3
    for other in (board, random_board(np.random.default_rng(1), (5, 5), 6)):
        root = mcts.search(other)
        seen = [child for child in root.children.values() if child.visit_count]
        assert sum(child.visit_count for child in seen) == 3
        assert all(child.value_sum == 0 for child in root.children.values() if not child.visit_count)
        assert root.value_sum == pytest.approx(sum(child.value_sum for child in seen), abs=1e-5)
        assert abs(root.value) <= 1


def test_a_root_of_the_search_before_shows_what_the_tree_is_now(network, board):
    """Nodes are views: what was known of an earlier tree's records is forgotten with it."""
    mcts = MCTS(network, 5, 100)
    mcts.search(board)
    mcts.num_simulations = 20
    old = mcts.search(board)
    for child in old.children.values():
        for grandchild in child.children.values():
            grandchild.visit_count = 1000
    new = mcts.search(random_board(np.random.default_rng(1), (5, 5), 6))
    assert list(old.children) == list(new.children)
    for root in (old, new):
        for child in root.children.values():
            assert sum(grandchild.visit_count for grandchild in child.children.values()) <= child.visit_count


def test_the_number_of_simulations_and_c_puct_may_be_changed(mcts, board):
    assert mcts.search(board).visit_count == 40
    mcts.num_simulations = 150
    assert mcts.search(board).visit_count == 150
    mcts.num_simulations, mcts.c_puct = 60, 0.0
    greedy = [child.visit_count for child in mcts.search(board).children.values()]
    mcts.c_puct = 50.0
    broad = [child.visit_count for child in mcts.search(board).children.values()]
    assert max(broad) < max(greedy)


def test_priors_are_the_networks_over_legal_moves(mcts, board):
    log_policy, _ = mcts.evaluate(board)
    root = mcts.search(board)
    odds = np.exp([log_policy[x * 5 + y if x >= 0 else 25] for x, y in root.children])
    np.testing.assert_allclose([child.prior for child in root.children.values()], odds / odds.sum(), rtol=1e-4)


def test_evaluate(mcts, network, board):
    log_policy, value = mcts.evaluate(board)
    assert log_policy.shape == (26,)
    assert isinstance(value, float)
    assert np.exp(log_policy).sum() == pytest.approx(1, abs=1e-5)
    with torch.no_grad():
        expected, expected_value = network(torch.tensor(encode_board(board)).unsqueeze(0))
    np.testing.assert_allclose(log_policy, expected[0].numpy(), atol=1e-4)
    assert value == pytest.approx(expected_value.item(), abs=1e-4)


def test_a_finished_game_has_no_moves(mcts, board):
    board.pass_move()
    board.pass_move()
    root = mcts.search(board)
    assert root.visit_count == 0
    assert root.children == {}
    with pytest.raises(ValueError, match="needs visits"):
        mcts.get_policy(root)


def test_wrong_arguments(network):
    with pytest.raises(ValueError, match="at least 1"):
        MCTS(network, 5, 0)
    mcts = MCTS(network, 5)
    with pytest.raises(ValueError, match="5×5 boards, not 9×9"):
        mcts.search(Board(9))
    with pytest.raises(ValueError, match="5×5 boards, not 4×4"):
        mcts.evaluate(Board(4))


def test_an_evaluator_in_place_of_a_network(network, board):
    evaluator = Evaluator(network, device="cpu", precision="f32", engine="torch")
    one = MCTS(evaluator, 5, 60, seed=3).search(board, add_noise=True)
    other = MCTS(network, 5, 60, seed=3).search(board, add_noise=True)
    assert visits(one) == visits(other)


def visits(root):
    return {move: child.visit_count for move, child in root.children.items()}


# --- weights that change ----------------------------------------------------------------------------------------------


def step(network):
    optimizer = torch.optim.SGD(network.parameters(), lr=5.0)
    policy, value = network(torch.rand(4, 7, 5, 5))
    (policy[:, 0].mean() + value.mean()).backward()
    optimizer.step()


def add(network):
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.02)


def add_to_data(network):
    for parameter in network.parameters():
        parameter.data.add_(0.02)


def assign(network):
    weights = network.state_dict().items()
    changed = {name: value + 0.02 if value.is_floating_point() else value for name, value in weights}
    network.load_state_dict(changed, assign=True)


def from_vector(network):
    vector = torch.nn.utils.parameters_to_vector(network.parameters()).detach()
    torch.nn.utils.vector_to_parameters(vector + 0.02, network.parameters())


@pytest.mark.parametrize("change", [step, add, add_to_data, assign, from_vector])
def test_a_search_after_training_uses_the_new_weights(network, board, change):
    network = copy.deepcopy(network)
    mcts = MCTS(network, 5, 10)
    for _ in range(2):
        before = mcts.evaluate(board)[0]
        change(network)
        expected = MCTS(network, 5, 10)
        np.testing.assert_allclose(mcts.evaluate(board)[0], expected.evaluate(board)[0], atol=1e-5)
        priors = [child.prior for child in mcts.search(board).children.values()]
        np.testing.assert_allclose(priors, [c.prior for c in expected.search(board).children.values()], atol=1e-5)
        assert not np.allclose(before, mcts.evaluate(board)[0], atol=1e-5)


def test_another_network_may_be_put_in(network, board):
    """`mcts.network` is a public name: what is put there is what is asked."""
    other = copy.deepcopy(network)
    add(other)
    mcts = MCTS(copy.deepcopy(other), 5, 10)
    mcts.search(board)
    mcts.network = copy.deepcopy(network)
    np.testing.assert_allclose(mcts.evaluate(board)[0], MCTS(network, 5, 10).evaluate(board)[0], atol=1e-5)


# --- policies ---------------------------------------------------------------------------------------------------------


def test_policies_by_temperature(mcts, board):
    root = mcts.search(board)
    counts = np.zeros(26)
    for (x, y), child in root.children.items():
        counts[x * 5 + y if x >= 0 else 25] = child.visit_count
    np.testing.assert_allclose(mcts.get_policy(root), counts / 40)
    np.testing.assert_allclose(mcts.get_policy(root, 0.5), counts**2 / (counts**2).sum())
    best = mcts.get_policy(root, 0)
    assert best.sum() == best.max() == 1
    assert counts[best.argmax()] == counts.max()
    tiny = mcts.get_policy(root, 1e-6)
    most = counts == counts.max()
    np.testing.assert_allclose(tiny, most / most.sum(), atol=1e-6)
    huge = mcts.get_policy(root, 1e9)
    np.testing.assert_allclose(huge, (counts > 0) / (counts > 0).sum(), atol=1e-6)  # 0 to any power is 0
    with pytest.raises(ValueError, match="temperature"):
        mcts.get_policy(root, -1)


def test_select_move(mcts, board):
    root = mcts.search(board)
    policy = mcts.get_policy(root, 1.0)
    drawn = [mcts.select_move(root, 1.0) for _ in range(2000)]
    assert all(move in board.get_legal_moves() for move in drawn)
    shares = np.bincount([x * 5 + y if x >= 0 else 25 for x, y in drawn], minlength=26) / 2000
    np.testing.assert_allclose(shares, policy, atol=0.05)
    best = int(mcts.get_policy(root, 0).argmax())
    assert {mcts.select_move(root, 0) for _ in range(20)} == {divmod(best, 5)}


def test_the_pass_is_selected_by_its_name(network):
    board = Board.from_diagram("X . X . X\nX X X X X\nX X X X X\nX X X X X\nX X X X .", komi=0)
    board.current_player = Board.WHITE
    mcts = MCTS(network, 5, 10)
    assert mcts.select_move(mcts.search(board)) == PASS


# --- the same seed, the same tree -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_tree(network, board):
    roots = [MCTS(network, 5, 80, seed=seed).search(board, add_noise=True) for seed in (4, 4, 5)]
    numbers = [[(c.visit_count, c.value_sum, c.prior) for c in root.children.values()] for root in roots]
    assert numbers[0] == numbers[1]
    assert numbers[0] != numbers[2]
    search = Search(Evaluator(network, device="cpu", engine="torch"), 1, 5, SearchSettings(), seed=4)
    search.set_board(board)
    search.run(80, noise=True)
    found = {move.move: (move.visits, move.prior) for move in search.root_moves()}
    assert found == {move: (child.visit_count, child.prior) for move, child in roots[0].children.items()}


@pytest.mark.parametrize("method", ["puct", "gumbel"])
@pytest.mark.parametrize("games", [1, 12])
def test_the_same_seed_gives_the_same_trees_in_a_batch(method, games):
    torch.manual_seed(0)
    evaluator = Evaluator(trained(KataGoNetwork(1, 8)), device="cpu", precision="f32", engine="torch")
    seen = []
    for _ in range(2):
        search = Search(evaluator, games, 5, SearchSettings(method=method), seed=8)
        for g in range(games):
            search.set_board(Board(5, rules=Rules(ko="situational")), g)
        search.run(40, noise=True)
        seen.append([search.trees.edges["visits"].copy(), search.trees.prior.copy(), search.improved_policies()])
    for one, other in zip(*seen, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nodes_made_by_a_search_select_as_it_would(network, board):
    root = MCTS(network, 5, 30).search(board)
    next_root = MCTS(network, 5, 31).search(board)
    move, child = root.select_child()
    assert next_root.children[move].visit_count == child.visit_count + 1
    assert isinstance(child, MCTSNode)


def test_there_is_room_for_all_leaves_of_a_round(network, board):
    settings = SearchSettings(method="gumbel", nodes=2, leaves=8)
    mcts = MCTS(network, 5, 20, seed=0, settings=settings)
    for simulations in (20, 24):  # the second needs a larger tree
        mcts.num_simulations = simulations
        mcts.search(board)
        check_tree(mcts._search, 0, never_cut=True)
