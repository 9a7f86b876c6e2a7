"""The pool that analysis and browser stand on: everybody moves on, nobody takes all, and what is dropped is gone."""

from functools import partial

import pytest

from mini_alphago.engine import pool as pool_module
from mini_alphago.engine.pool import SLOTS, Pool, Task
from mini_alphago.game import Board

from ..mcts.evaluators import Area, Hashed

EVALUATOR = Area()


def task(owner="me", visits=20, **options):
    return Task(board=options.pop("board", None) or Board(5, komi=0.5), visits=visits, evaluator=EVALUATOR, owner=owner,
                **options)  # fmt: skip


def run(pool, steps=10_000):
    for _ in range(steps):
        if pool.is_idle():
            return
        pool.step()


def searched(pool):
    return [one for one in pool.tasks if one.started]


def test_tasks_get_their_visits_and_are_gone():
    done = []
    pool = Pool()
    for visits in (1, 7, 40):
        pool.add(task(visits=visits, on_done=lambda found: done.append(found.visits)))
    run(pool)
    assert sorted(done) == [1, 7, 40]
    assert pool.tasks == []


def test_one_owner_has_a_bank_at_most_and_others_go_first():
    pool = Pool(banks=2)
    for _ in range(3 * SLOTS):
        pool.add(task("greedy", visits=1000))
    pool.step()
    assert len(searched(pool)) == SLOTS
    for i in range(SLOTS):
        pool.add(task(f"late {i}", visits=1000))
    pool.step()
    owners = {one.owner for one in searched(pool)}
    assert owners == {"greedy", *(f"late {i}" for i in range(SLOTS))}


def test_all_that_are_searched_move_on_together():
    seen = set()
    pool = Pool()
    for name in range(40):
        pool.add(task(name, visits=10**6, report_every=0.0, on_report=lambda found: seen.add(found.task.owner)))
    visits = [[0]]
    for _ in range(5000):
        pool.step()
        visits = [[bank.search.root_visits(slot) for slot, _ in bank.active()] for bank in pool._banks]
        if min(map(min, visits)) >= 64:
            break
    assert len(seen) == 40  # reports are bounded by time, and still none is left out
    for bank in visits:
        assert 64 <= min(bank) <= max(bank) <= 2 * min(bank)


def test_a_late_task_waits_if_there_is_no_room():
    pool = Pool(banks=1)
    for i in range(SLOTS + 3):
        pool.add(task(i, visits=8 if i < SLOTS else 4))
    pool.step()
    assert len(searched(pool)) == SLOTS
    run(pool)
    assert pool.is_idle()


def test_a_bank_that_is_free_makes_room_for_another_size():
    pool = Pool(banks=1)
    done = []
    for size in (5, 7, 5):
        pool.add(task(board=Board(size), visits=3, on_done=lambda found: done.append(found.search.size)))
        run(pool)
    assert done == [5, 7, 5]
    assert len(pool._banks) == 1


def test_long_searches_have_room_and_short_ones_take_little():
    pool = Pool()
    pool.add(task("a", visits=100))
    pool.add(task("b", visits=100_000))
    pool.step()
    nodes = sorted(bank.search.settings.nodes for bank in pool._banks)
    assert nodes[0] < nodes[1]
    pool.drop(lambda one: True)


def test_dropped_and_finished():
    said = []
    pool = Pool(banks=1)
    for i in range(SLOTS + 1):
        pool.add(task(i, visits=1000, on_done=lambda found, i=i: said.append((i, found is not None))))
    pool.step()
    pool.step()
    pool.drop(lambda one: one.owner in (3, 4))
    pool.finish(lambda one: one.owner in (5, SLOTS))
    assert sorted(said) == [(5, True), (SLOTS, False)]
    assert {one.owner for one in pool.tasks} == set(range(SLOTS)) - {3, 4, 5}


def test_a_slot_used_again_knows_nothing_of_before():
    """The same position gives the same moves, whatever its slot has seen."""
    boards = [Board(5, komi=0.5), Board.from_diagram("X....\n.O...\n.....\n.....\n.....", komi=0.5)]
    evaluator, found = Hashed(), {0: [], 1: []}
    pool = Pool()
    for i in (0, 1, 0, 1, 1, 0):
        note = partial(lambda answers, f: answers.append(f.moves()), found[i])
        pool.add(Task(board=boards[i].copy(), visits=30, evaluator=evaluator, on_done=note))
        run(pool)
    for answers in found.values():
        assert answers[0] == answers[1] == answers[2]
    assert found[0][0] != found[1][0]


class Broken(Area):
    def evaluate(self, states):
        raise FloatingPointError("not finite")


def test_a_network_that_fails_concerns_only_who_asked_it():
    errors, done = [], []
    pool = Pool()
    pool.add(Task(board=Board(5), visits=3, evaluator=Broken(), on_error=errors.append))
    pool.add(task(visits=3, on_done=done.append))
    run(pool)
    assert [str(error) for error in errors] == ["not finite"]
    assert len(done) == 1
    pool.add(Task(board=Board(5), visits=3, evaluator=Broken()))
    with pytest.raises(FloatingPointError):
        pool.step()


def test_unused_banks_are_given_back(monkeypatch):
    pool = Pool()
    pool.add(task(visits=3))
    run(pool)
    pool.tidy()
    assert len(pool._banks) == 1
    monkeypatch.setattr(pool_module, "_KEEP_SECONDS", -1.0)
    pool.tidy()
    assert pool._banks == []


def test_empty_slots_are_not_evaluated():
    pool = Pool()
    pool.add(task(visits=1))
    pool.step()
    assert pool._banks[0].search.trees.edge_count.tolist() == [26] + [0] * (SLOTS - 1)
