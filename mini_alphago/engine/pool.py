"""Many positions searched at once: each has a slot of a batched search until it has its visits.

The slots of a bank go to the network in one call, all of them if that is done in a moment, else in turns: all positions
move on together, and nobody waits long for a call to end. Nothing here is for more than one thread.
"""

import time
from bisect import insort
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..game import Board
from ..mcts import RootMove, Search, playing_settings
from ..mcts.arrays import node_bytes
from ..mcts.search import Evaluates
from ..model import Evaluation

SLOTS, LEAVES = 16, 8  # of a bank; so many positions go to the network at once
_FEW_NODES, _MOST_NODES = 2048, 20_000  # of a tree: systems hand memory out in large pages, so most banks are small
_FIRST_MEMORY, _MORE_MEMORY = 2**30, 2**28  # bytes of the trees of a bank, once they are full
_REPORTING = 0.2  # seconds of reports for each second of search, where there are too many
_KEEP_SECONDS = 60.0  # a bank that nobody uses
_CALL_SECONDS = 0.025  # whoever says something meanwhile waits for its end


class Found(NamedTuple):
    """What is known of a task's position now; good until the pool goes on."""

    task: "Task"
    search: Search
    slot: int

    @property
    def visits(self) -> int:
        """Of the root."""
        return self.search.root_visits(self.slot)

    def moves(self) -> list[RootMove]:
        """All moves, the best first, for the player to move."""
        return self.search.root_moves(self.slot)

    def evaluation(self) -> Evaluation:
        """What the network says of the position itself; asked once for each task."""
        if self.task.evaluation is None:
            self.task.evaluation = self.task.evaluator.evaluate(self.task.board.games)
        return self.task.evaluation


def _nothing(*_: Any) -> None:
    """What a task does about a report if nobody wants it."""


def _raise(error: Exception) -> None:
    raise error


@dataclass(eq=False, kw_only=True)
class Task:
    """A position to search. A game that is over is played on from there."""

    board: Board
    visits: int
    evaluator: Evaluates = None  # type: ignore[assignment]  # may be set later, before it is added
    priority: float = 0.0  # among the tasks of one owner
    owner: Hashable = None  # owners take turns with the slots
    report_every: float | None = None  # seconds
    max_time: float | None = None  # seconds
    allowed: set[int] | None = None  # moves at the root, flat; None: all
    on_report: Callable[[Found], None] = _nothing
    on_done: Callable[[Found | None], None] = _nothing  # None: it ended before anything was known
    on_error: Callable[[Exception], None] = _raise
    number: int = 0  # in the order of arrival
    started: float = 0.0
    reported: float = 0.0
    evaluation: Evaluation | None = field(default=None, repr=False)


def _is_short(task: Task) -> bool:
    return task.visits + 2 * LEAVES < _FEW_NODES


class _Bank:
    """Slots for one evaluator and one board size, and for short searches or for long ones."""

    def __init__(self, task: Task, memory: int) -> None:
        """For this task and others of its kind."""
        evaluator, size, self.short = task.evaluator, task.board.size, _is_short(task)
        nodes = min(_FEW_NODES if self.short else _MOST_NODES, memory // (SLOTS * node_bytes(size * size + 1)))
        settings = playing_settings(nodes, LEAVES)
        self.evaluator, self.size = evaluator, size
        self.search = Search(evaluator, SLOTS, size, settings)
        self.search.roots.info["passes"] = 2  # games that are over: an empty slot costs neither time nor memory
        self.tasks: list[Task | None] = [None] * SLOTS
        self.used = time.perf_counter()
        self._targets = np.zeros(SLOTS, np.int64)
        self._at_once = SLOTS  # tasks in a call
        self._last = 0, 0.0, 0.0  # tasks in a call, its seconds, and what one task more takes
        self._next = 0  # the slot whose turn it is
        self._due = 0.0  # tasks whose turn it is

    def is_for(self, task: Task) -> bool:
        same = self.evaluator is task.evaluator and self.size == task.board.size
        return same and self.short == _is_short(task)

    def is_free(self) -> bool:
        return not any(self.tasks)

    def active(self) -> list[tuple[int, Task]]:
        return [(slot, task) for slot, task in enumerate(self.tasks) if task is not None]

    def put(self, task: Task) -> bool:
        """Give it a slot; False if there is none."""
        if None not in self.tasks:
            return False
        slot = self.tasks.index(None)
        self.tasks[slot] = task
        task.started = task.reported = time.perf_counter()
        if task.board.is_game_over():
            task.board.resume()
        self.search.set_board(task.board, slot)
        self._targets[slot] = 0 if task.allowed is not None else task.visits
        return True

    def take(self, slot: int) -> None:
        self.tasks[slot] = None
        self._targets[slot] = 0
        self.used = time.perf_counter()

    def share(self) -> float:
        """How large a part of its tasks fits into the time that one call may take."""
        return min(1.0, self._at_once / len(self.active()))

    def step(self, share: float) -> None:
        """One network call, for this part of the tasks; they take turns. None if it is less than one task by now."""
        order = sorted((slot for slot, _ in self.active()), key=lambda slot: (slot - self._next) % SLOTS)
        self._due = min(self._due % 1 + share * len(order), len(order))
        turn = order[: int(self._due)]
        if not turn:
            return
        self._next = turn[-1] + 1
        targets = np.zeros(SLOTS, np.int64)
        targets[turn] = self._targets[turn]
        began = time.perf_counter()
        self.search.step(targets)
        self._adjust(len(turn), time.perf_counter() - began)
        for slot, task in self.active():
            if self._targets[slot] == 0:  # its root has just been evaluated
                self.search.restrict(slot, task.allowed or set())
                self._targets[slot] = task.visits

    def _adjust(self, count: int, seconds: float) -> None:
        """So many tasks took so long: how many may there be in the next call?"""
        before, took, each = self._last
        if count != before and before:
            each = (seconds - took) / (count - before)
        elif not before or seconds > 2 * took:
            each = seconds / count  # the first call, or something is different now
        each = min(each, seconds / count)
        if count != before or seconds > 2 * took:
            self._last = count, seconds, each
        # Where a call takes its time whatever is in it, fewer tasks would only make more calls.
        fitting = count + (_CALL_SECONDS - seconds) / each if each > 0 else SLOTS
        self._at_once = int(min(SLOTS, 2 * self._at_once, max(1, self._at_once // 2, fitting)))

    def is_done(self, slot: int, task: Task, now: float) -> bool:
        visits = self.search.root_visits(slot)
        late = task.max_time is not None and now - task.started >= task.max_time and visits > 0
        return visits >= task.visits or late or self._is_stuck(slot)

    def _is_stuck(self, slot: int) -> bool:
        trees = self.search.trees
        return bool(trees.node_count[slot] > 0 and trees.nodes[slot, 0]["terminal"])


class Pool:
    """Tasks in slots, and tasks that wait for one.

    banks: how many banks of slots there may be, of all evaluators and board sizes together; each is made when it is
    needed and goes when nobody has used it for a while.
    """

    def __init__(self, banks: int = 8) -> None:
        self._most = banks
        self._banks: list[_Bank] = []
        self._waiting: dict[Hashable, list[Task]] = {}  # by owner; each list with its most urgent task first
        self._arrived = 0
        self._patience = 0.0  # seconds that reports may take now

    @property
    def tasks(self) -> list[Task]:
        """All that are not finished: those that are searched, then those that wait."""
        searched = [task for bank in self._banks for _, task in bank.active()]
        return searched + [task for tasks in self._waiting.values() for task in tasks]

    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self._waiting and all(bank.is_free() for bank in self._banks)

    def add(self, task: Task) -> None:
        """Search this; its callbacks are called by `step` and `finish`."""
        task.number = self._arrived
        self._arrived += 1
        insort(self._waiting.setdefault(task.owner, []), task, key=lambda task: (-task.priority, task.number))

    def drop(self, unwanted: Callable[[Task], bool]) -> None:
        """Forget these at once, without a word."""
        self._stop_waiting(unwanted)
        for bank in self._banks:
            for slot, task in bank.active():
                if unwanted(task):
                    bank.take(slot)

    def finish(self, wanted: Callable[[Task], bool]) -> None:
        """End these now: `on_done` with what is known."""
        for task in self._stop_waiting(wanted):
            task.on_done(None)
        for bank in self._banks:
            for slot, task in bank.active():
                if wanted(task):
                    self._end(bank, slot, task)

    def step(self) -> None:
        """Fill the free slots, go one round in every bank, and report."""
        self._fill()
        banks = [bank for bank in self._banks if not bank.is_free()]
        share = min((bank.share() for bank in banks), default=1.0)  # the same for all, or few tasks would get more
        for bank in banks:
            if bank.is_free():  # by what another's callback did
                continue
            began = time.perf_counter()
            try:
                bank.step(share)
            except Exception as error:  # of the network: it concerns whoever asked it, and nobody else
                self._give_up(bank, error)
                continue
            self._report(bank, time.perf_counter() - began)

    def tidy(self) -> None:
        """Let go of banks that nobody has used for a while."""
        now = time.perf_counter()
        self._banks = [bank for bank in self._banks if not bank.is_free() or now - bank.used < _KEEP_SECONDS]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _stop_waiting(self, chosen: Callable[[Task], bool]) -> list[Task]:
        """Take these out of the waiting tasks."""
        gone = [task for tasks in self._waiting.values() for task in tasks if chosen(task)]
        if gone:
            kept = {owner: [task for task in tasks if not chosen(task)] for owner, tasks in self._waiting.items()}
            self._waiting = {owner: tasks for owner, tasks in kept.items() if tasks}
        return gone

    def _fill(self) -> None:
        """Give waiting tasks the slots there are: whoever has the fewest goes first, with his most urgent task."""
        having = Counter(task.owner for bank in self._banks for _, task in bank.active())
        hopeful = set(self._waiting)
        while hopeful:
            owner = min(hopeful, key=lambda owner: (having[owner], self._waiting[owner][0].number))
            tasks = self._waiting[owner]
            if having[owner] >= SLOTS or not self._put(tasks[0]):
                hopeful.remove(owner)
                continue
            having[owner] += 1
            del tasks[0]
            if not tasks:
                del self._waiting[owner]
                hopeful.remove(owner)

    def _put(self, task: Task) -> bool:
        ours = [bank for bank in self._banks if bank.is_for(task)]
        if any(bank.put(task) for bank in ours):
            return True
        if len(self._banks) >= self._most:
            unused = [bank for bank in self._banks if bank.is_free()]
            if not unused:
                return False
            self._banks.remove(min(unused, key=lambda bank: bank.used))
        bank = _Bank(task, _MORE_MEMORY if ours else _FIRST_MEMORY)
        self._banks.append(bank)
        return bank.put(task)

    def _report(self, bank: _Bank, searched: float) -> None:
        """End what is done; of the rest report what is due, the longest overdue first, as time allows.

        With many clients their reports would otherwise take longer than the search.
        """
        now = time.perf_counter()
        due = []
        for slot, task in bank.active():
            if bank.is_done(slot, task, now):
                self._end(bank, slot, task)
            elif task.report_every is not None and now - task.reported >= task.report_every:
                due.append((task.reported, slot, task))
        self._patience = min(self._patience + _REPORTING * searched, _REPORTING)
        for _, slot, task in sorted(due, key=lambda entry: entry[:2]):
            if self._patience < 0:
                break
            if bank.tasks[slot] is not task or bank.search.root_visits(slot) == 0:
                continue  # a callback may have ended it
            began = time.perf_counter()
            task.reported = now
            task.on_report(Found(task, bank.search, slot))
            self._patience -= time.perf_counter() - began

    def _end(self, bank: _Bank, slot: int, task: Task) -> None:
        found = Found(task, bank.search, slot) if bank.search.root_visits(slot) > 0 else None
        bank.take(slot)  # the tree stays until the slot is given away
        task.on_done(found)

    def _give_up(self, bank: _Bank, error: Exception) -> None:
        self._banks.remove(bank)
        for _, task in bank.active():
            task.on_error(error)
