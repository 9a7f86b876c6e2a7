"""Searches that share an evaluator and take turns do what each of them does alone."""

import time

import numpy as np
import pytest

from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.mcts.together import Turns
from mini_alphago.model import Evaluator, KataGoNetwork
from mini_alphago.model.evaluation import Evaluation

from .evaluators import Hashed, Seen
from .invariants import check_tree, random_board

pytestmark = pytest.mark.usefixtures("one_thread")


def searches(evaluator, method, counts=(9, 5, 12), leaves=1):
    rng = np.random.default_rng(2)
    made = []
    for seed, count in enumerate(counts):
        search = Search(evaluator, count, 5, SearchSettings(method=method, leaves=leaves), seed=seed)
        for g in range(count):
            search.set_board(random_board(rng, (5, 5), int(rng.integers(0, 30))), g)
        made.append(search)
    return made


def run_together(searches, visits, noise):
    turns = Turns(searches)
    for lane, (v, n) in enumerate(zip(visits, noise, strict=True)):
        turns.begin(lane, v, n)
    for lane in range(len(searches)):
        turns.finish(lane)
        assert lane not in turns


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
    run_together(together, [0 * v for v in visits], noise)  # nothing to do
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.visit_counts(), other.visit_counts())
        np.testing.assert_allclose(one.summary().value, other.summary().value, atol=1e-5)
        assert one.evaluations == other.evaluations > 0
        for g in range(one.games):
            check_tree(other, g)


class Late(Seen):
    """Reads each lane's memory, and writes where its last answer stood, as late as a device may do it."""

    def __init__(self, encoding):
        super().__init__(encoding)
        self.memory, self.answers = {}, {}

    def buffer(self, shape, lane):
        if lane not in self.memory or self.memory[lane].shape != shape:
            self.memory[lane] = np.zeros(shape, np.int8)
        return self.memory[lane]

    def submit(self, planes, sizes, lane):
        def collect():
            found = self.run(planes, sizes)
            kept = self.answers.setdefault(lane, [np.zeros((99, *part.shape[1:]), part.dtype) for part in found[:3]])
            for memory, part in zip(kept, found, strict=False):
                memory[: len(part)] = part
            return Evaluation(*(memory[: len(planes)] for memory in kept), None)

        return collect


@pytest.mark.parametrize("encoding", ["katago", "katago-v7"])
@pytest.mark.parametrize("leaves", [1, 2, 8])
def test_lanes_of_several_leaves(encoding, leaves):
    alone = searches(Seen(encoding), "gumbel")
    together = searches(Late(encoding), "gumbel", leaves=leaves)
    for again in range(2):
        visits = [np.arange(3, 3 + 2 * search.games, 2) for search in alone]
        noise = [np.arange(search.games) % 2 == again for search in alone]
        for search, v, n in zip(alone, visits, noise, strict=True):
            search.run(v, n)
        run_together(together, visits, noise)
        for one, other in zip(alone, together, strict=True):
            for found, expected in zip(other.summary(), one.summary(), strict=True):
                np.testing.assert_array_equal(found, expected)
            assert one.evaluations == other.evaluations > 0


def test_the_network_has_its_time_counted_wherever_it_takes_it():
    class Slow(Late):
        def run(self, planes, sizes):
            time.sleep(0.01)
            return super().run(planes, sizes)

    class AtOnce(Slow):
        submit = None  # asked and answered in one go, as on a CPU

    for evaluator in (Slow("katago"), AtOnce("katago")):
        made = searches(evaluator, "puct")
        run_together(made, [np.full(search.games, 4) for search in made], [np.zeros(s.games, bool) for s in made])
        assert all(0.04 < search.network_seconds < 10 for search in made)


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


def test_one_search_may_begin_again_while_the_others_go_on():
    alone, together = (searches(Hashed(), "puct", (4, 4)) for _ in range(2))
    none = np.zeros(4, bool)
    turns = Turns(together)
    turns.begin(0, np.full(4, 3), none)
    turns.begin(1, np.full(4, 40), none)
    turns.finish(0)
    turns.begin(0, np.full(4, 9), none)
    assert 1 in turns
    turns.finish(0)
    assert 1 in turns
    turns.finish(1)
    alone[0].run(np.full(4, 9))
    alone[1].run(np.full(4, 40))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.visit_counts(), other.visit_counts())


def test_searches_that_are_given_up_leave_empty_trees_and_no_question():
    collected = []

    class Slow(Evaluator):
        def submit(self, planes, sizes, lane=0):
            answer = self.run(planes, sizes)
            return lambda: collected.append(lane) or answer

    made = searches(Slow(KataGoNetwork(1, 8), "cpu", "f32", engine="torch"), "gumbel", (4, 4))
    turns = Turns(made)
    turns.begin(0, np.full(4, 2), np.ones(4, bool))
    turns.begin(1, np.full(4, 20), np.ones(4, bool))
    turns.finish(0)
    collected.clear()
    turns.rest()
    assert collected == [1]
    assert 1 not in turns
    assert made[0].root_visits() == 2
    assert made[1].root_visits() == 0
    turns.begin(1, np.full(4, 20), np.ones(4, bool))
    turns.finish(1)
    check_tree(made[1])
