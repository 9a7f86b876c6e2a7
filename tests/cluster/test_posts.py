"""Where workers are to be, by what the nodes have."""

from typing import Any

from mini_alphago.cluster.posts import Post, find_posts, share_for_learner


def node(name: str, cores: float = 0, gpus: float = 0, alive: bool = True) -> dict[str, Any]:
    """A node as Ray describes it; what it has none of, it does not mention."""
    resources = {"CPU": cores, "GPU": gpus, "memory": 1e9}
    return {
        "NodeID": name, "NodeManagerAddress": f"10.0.0.{name}", "Alive": alive,
        "Resources": {key: value for key, value in resources.items() if value},
    }  # fmt: skip


def test_one_for_all_cores_of_a_node_without_gpus() -> None:
    nodes = [node("1", 8.0), node("2"), node("3", 4.0, alive=False)]
    assert find_posts(nodes) == [Post("1", "10.0.0.1", 0, 8, 0.0)]


def test_one_for_each_gpu_with_its_share_of_the_cores() -> None:
    posts = find_posts([node("1", 33.0, 4.0)])
    assert posts == [Post("1", "10.0.0.1", i, 8, 1.0) for i in range(4)]
    assert find_posts([node("1", 0.0, 1.0)]) == [Post("1", "10.0.0.1", 0, 1, 1.0)]


def test_the_learner_shares_its_only_gpu_and_takes_one_of_several() -> None:
    nodes = [node("1", 16.0, 1.0), node("2", 16.0, 2.0), node("3", 4.0)]
    assert share_for_learner(nodes, "1", 1) == 0.5
    assert [post.gpus for post in find_posts(nodes, "1", 0.5)] == [0.5, 1.0, 1.0, 0.0]
    assert share_for_learner(nodes, "2", 1) == 1.0
    assert [(post.node, post.gpus, post.cores) for post in find_posts(nodes, "2", 1.0)] == [
        ("1", 1.0, 16), ("2", 1.0, 16), ("3", 0.0, 4)
    ]  # fmt: skip
    assert share_for_learner(nodes, "3", 1) == 0.0
    assert len(find_posts(nodes, "3", 0.0)) == 4


def test_several_processes_of_the_learner_leave_a_gpu_for_the_games() -> None:
    nodes = [node("1", 64.0, 8.0)]
    assert share_for_learner(nodes, "1", 4) == 4.0
    assert share_for_learner(nodes, "1", 0) == 7.0, "0: all that it can have"
    assert len(find_posts(nodes, "1", 7.0)) == 1
