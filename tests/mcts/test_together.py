"""Searches that share an evaluator and take turns do what each of them does alone."""

import numpy as np
import pytest

from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.mcts.together import run_together
from mini_alphago.model import Evaluator, KataGoNetwork

from .evaluators import Hashed
from .invariants import check_tree, random_board

pytestmark = pytest.mark.usefixtures("one_thread")


def searches(evaluator, method, counts=(9, 5, 12)):
    rng = np.random.default_rng(2)
    made = []
    for seed, count in enumerate(counts):
        search = Search(evaluator, count, 5, SearchSettings(method=method), seed=seed)
        for g in range(count):
            search.set_board(random_board(rng, (5, 5), int(rng.integers(0, 30))), g)
        made.append(search)
    return made


@pytest.mark.parametrize("method", ["puct", "gumbel"])
@pytest.mark.parametrize("kind", ["network", "hashed"])
def test_the_same_trees(method, kind):
    evaluator = Evaluator(KataGoNetwork(1, 8), "cpu", "f32", engine="torch") if kind == "network" else Hashed()
    alone, together = searches(evaluator, method), searches(evaluator, method)
    visits = [np.arange(5, 5 + search.games) for search in alone]
    noise = [np.arange(search.games) % 2 == 0 for search in alone]
    for search, v, n in zip(alone, visits, noise, strict=True):
        search.run(v, n)
    run_together(together, visits, noise)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.visit_counts(), other.visit_counts())
        np.testing.assert_allclose(one.summary().value, other.summary().value, atol=1e-5)
        assert one.evaluations == other.evaluations > 0
        for g in range(one.games):
            check_tree(other, g)


def test_a_failure_leaves_empty_trees():
    class Failing(Evaluator):
        def submit(self, planes, sizes, lane=0):
            if len(asked) == 7:
                raise RuntimeError("no answer")
            asked.append(lane)
            return super().submit(planes, sizes, lane)

    asked: list[int] = []
    made = searches(Failing(KataGoNetwork(1, 8), "cpu", "f32", engine="torch"), "puct", (4, 4))
    with pytest.raises(RuntimeError, match="no answer"):
        run_together(made, [np.full(4, 20)] * 2, [np.zeros(4, bool)] * 2)
    assert set(asked) == {0, 1}
    assert all(search.root_visits(g) == 0 for search in made for g in range(4))
    asked.clear()
    made[0].run(10)
    check_tree(made[0])
