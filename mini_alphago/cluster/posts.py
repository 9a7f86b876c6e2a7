"""Where in a cluster workers are to be, by what its nodes have."""

from collections.abc import Iterable
from typing import Any, NamedTuple


class Post(NamedTuple):
    """A place for one worker."""

    node: str  # Ray's id of it
    address: str
    number: int  # on this node, from 0
    cores: int
    gpus: float

    def engage(self, ray: Any, kind: type, *arguments: Any) -> Any:
        """An actor of that class, made there of these arguments; it dies with whoever has engaged it."""
        return place(ray, kind, self.node, self.cores, self.gpus).remote(*arguments)

    def __str__(self) -> str:
        has = "a GPU" if self.gpus else f"{self.cores} core{'s' * (self.cores != 1)}"
        return f"{self.address} ({has})"


def place(ray: Any, kind: type, node: str, cores: float, gpus: float, **options: Any) -> Any:
    """The class as one whose objects are actors on that node, once each: none is ever begun again by Ray itself."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there = NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(kind).options(
        num_cpus=cores, num_gpus=gpus, max_restarts=0, max_task_retries=0, scheduling_strategy=there, **options
    )


def find_posts(nodes: Iterable[dict[str, Any]], learner_node: str = "", learner_gpus: float = 0.0) -> list[Post]:
    """A post for each GPU, with its share of the cores; one for all cores of a node that has none.

    nodes: as `ray.nodes()` says. Of its node the learner has so many GPUs for itself; if that is a part of one, a
    worker has the rest.
    """
    posts = []
    for node in nodes:
        if not node["Alive"]:
            continue
        own = learner_gpus if node["NodeID"] == learner_node else 0.0
        cores, gpus = int(node["Resources"].get("CPU", 0)), node["Resources"].get("GPU", 0) - own
        where = node["NodeID"], node["NodeManagerAddress"]
        if gpus > 0:
            shares = [min(1.0, gpus - i) for i in range(-int(-gpus // 1))]
            posts += [Post(*where, i, max(1, cores // len(shares)), share) for i, share in enumerate(shares)]
        elif cores and not own:
            posts.append(Post(*where, 0, cores, 0.0))
    return posts


def share_for_learner(nodes: Iterable[dict[str, Any]], learner_node: str, processes: int) -> float:
    """GPUs for the learner: as many as it has processes; half of one if its node has no more than one."""
    gpus = sum(node["Resources"].get("GPU", 0) for node in nodes if node["Alive"] and node["NodeID"] == learner_node)
    if not gpus:
        return 0.0
    return 0.5 if gpus == 1 else float(min(processes or int(gpus), int(gpus) - 1))
