"""KataGo's analysis engine: JSON objects in, JSON objects out, many positions at once in one network call.

Every board size in use has one batched search with a number of slots; a position takes a slot, by priority and then by
arrival, until it has its visits. One thread reads, another does everything else.
"""

import json
import queue
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any, BinaryIO, TextIO

import numpy as np

from ..game import BLACK, Board, stack_boards
from ..game.coords import to_gtp
from ..mcts import Search, SearchSettings
from ..mcts.arrays import node_bytes
from ..mcts.search import Evaluates, RootMove
from ..version import __version__
from .kata import lower_bound
from .queries import Job, QueryError, read_jobs
from .status import legal_policy, play_or_pass

LONGEST_LINE = 4_000_000
_SLOTS, _LEAVES = 16, 8
_MEMORY = 2**30  # bytes of all trees of one board size


class _Pool:
    """The slots of one board size."""

    def __init__(self, evaluator: Evaluates, size: int) -> None:
        nodes = min(20_000, _MEMORY // (_SLOTS * node_bytes(size * size + 1)))
        settings = SearchSettings(fpu_reduction=0.2, score_weight=0.1, leaves=_LEAVES, nodes=nodes)
        self.search = Search(evaluator, _SLOTS, size, settings)
        self.jobs: list[Job | None] = [None] * _SLOTS
        self._targets = np.zeros(_SLOTS, np.int64)

    def free_slot(self) -> int | None:
        return next((slot for slot, job in enumerate(self.jobs) if job is None), None)

    def put(self, slot: int, job: Job) -> None:
        self.jobs[slot] = job
        job.started = job.reported = time.perf_counter()
        self.search.set_board(job.board, slot)
        self._targets[slot] = 0 if job.allowed is not None else job.visits

    def take(self, slot: int) -> None:
        self.jobs[slot] = None
        self._targets[slot] = 0

    def step(self) -> None:
        """One network call for all jobs."""
        self.search.step(self._targets)
        for slot, job in enumerate(self.jobs):
            if job is not None and self._targets[slot] == 0:  # its root has just been evaluated
                self.search.restrict(slot, job.allowed or set())
                self._targets[slot] = job.visits

    def is_done(self, slot: int, job: Job, now: float) -> bool:
        visits = self.search.root_visits(slot)
        late = job.max_time is not None and now - job.started >= job.max_time and visits > 0
        return visits >= job.visits or late or (self.search.trees.node_count[slot] > 0 and self._is_stuck(slot))

    def _is_stuck(self, slot: int) -> bool:
        return bool(self.search.trees.nodes[slot, 0]["terminal"])


class AnalysisEngine:
    """Answers queries; `run` until the input ends and everything is answered."""

    def __init__(self, evaluator: Evaluates, out: TextIO, visits: int = 500) -> None:
        self.evaluator, self.visits = evaluator, visits
        self._out = out
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._waiting: list[Job] = []
        self._pools: dict[int, _Pool] = {}
        self._arrived = 0
        self._ended = False

    # --- the loop ---------------------------------------------------------------------------------------------------

    def run(self, source: BinaryIO) -> None:
        """Read queries until the end of the input, answer them all."""
        threading.Thread(target=self._read, args=(source,), daemon=True).start()
        while not self._ended or self._waiting or any(self._active()):
            idle = not self._waiting and not any(self._active())
            self._take_lines(wait=idle)
            self._fill()
            for pool in self._pools.values():
                if any(pool.jobs):
                    pool.step()
                    self._report(pool)

    def _active(self) -> Iterable[Job]:
        return (job for pool in self._pools.values() for job in pool.jobs if job is not None)

    def _read(self, source: BinaryIO) -> None:
        try:
            while line := source.readline(LONGEST_LINE):
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        self._lines.put(None)

    def _take_lines(self, wait: bool) -> None:
        while not self._ended and (wait or not self._lines.empty()):
            line = self._lines.get()
            wait = False
            if line is None:
                self._ended = True
            elif line.strip():
                self._take(line)

    def _take(self, line: bytes) -> None:
        name: object = None
        try:
            query = json.loads(line)
            if not isinstance(query, dict):
                raise QueryError("", "a query is a JSON object")
            name = query.get("id")
            if "action" in query:
                self._act(query)
                return
            for job in read_jobs(query, self.visits):
                job.number = self._arrived
                self._arrived += 1
                self._waiting.append(job)
            self._waiting.sort(key=lambda job: (-job.priority, job.number))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            self._write({"error": "the line is not JSON"})
        except QueryError as error:
            answer: dict[str, Any] = {"error": str(error)}
            if isinstance(name, str):
                answer |= {"field": error.name, "id": name}
            self._write(answer)

    def _act(self, query: dict[str, Any]) -> None:
        action = query["action"]
        if action == "query_version":
            self._write({**query, "version": __version__, "git_hash": ""})
        elif action == "query_models":
            self._write({**query, "models": [{"name": "mini-alphago", "maxBatchSize": _SLOTS * _LEAVES}]})
        elif action == "clear_cache":
            self._write(dict(query))
        elif action in ("terminate", "terminate_all"):
            self._terminate(query, action == "terminate_all")
        else:
            raise QueryError("action", "actions are query_version, query_models, clear_cache, terminate, terminate_all")

    def _terminate(self, query: dict[str, Any], everything: bool) -> None:
        turns = query.get("turnNumbers")

        def meant(job: Job) -> bool:
            return (everything or job.id == query.get("terminateId")) and (turns is None or job.turn in turns)

        for job in [job for job in self._waiting if meant(job)]:
            self._waiting.remove(job)
            self._write({"id": job.id, "turnNumber": job.turn, "isDuringSearch": False, "noResults": True})
        for pool in self._pools.values():
            for slot, running in enumerate(pool.jobs):
                if running is not None and meant(running):
                    self._finish(pool, slot, running)
        self._write(dict(query))

    # --- work -------------------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Give waiting jobs the slots there are, the most urgent first."""
        for job in list(self._waiting):
            pool = self._pools.setdefault(job.board.size, _Pool(self.evaluator, job.board.size))
            slot = pool.free_slot()
            if slot is not None:
                self._waiting.remove(job)
                if job.board.is_game_over():
                    job.board.resume()
                pool.put(slot, job)

    def _report(self, pool: _Pool) -> None:
        now = time.perf_counter()
        for slot, job in enumerate(pool.jobs):
            if job is None:
                continue
            if pool.is_done(slot, job, now):
                self._finish(pool, slot, job)
            elif job.report_every is not None and now - job.reported >= job.report_every:
                job.reported = now
                if pool.search.root_visits(slot) > 0:
                    self._write(self._answer(pool.search, slot, job, during=True))

    def _finish(self, pool: _Pool, slot: int, job: Job) -> None:
        if pool.search.root_visits(slot) > 0:
            self._write(self._answer(pool.search, slot, job, during=False))
        else:
            self._write({"id": job.id, "turnNumber": job.turn, "isDuringSearch": False, "noResults": True})
        pool.take(slot)

    # --- answers ----------------------------------------------------------------------------------------------------

    def _answer(self, search: Search, slot: int, job: Job, during: bool) -> dict[str, Any]:
        board, moves = job.board, search.root_moves(slot)
        sign = {"BLACK": 1 if board.current_player == BLACK else -1,
                "WHITE": -1 if board.current_player == BLACK else 1, "SIDETOMOVE": 1}[job.winrates]  # fmt: skip
        seen = [move for move in moves if move.visits]
        total = sum(move.visits for move in seen)
        mean = _mean(seen, total)
        answer: dict[str, Any] = {
            "id": job.id, "turnNumber": job.turn, "isDuringSearch": during,
            "moveInfos": [_move_info(order, move, board.size, sign, job) for order, move in enumerate(seen)],
            "rootInfo": {**_values(*mean, sign), "visits": total, "currentPlayer": "BW"[board.current_player - 1]},
        }  # fmt: skip
        if job.ownership or job.policy:
            evaluation = self.evaluator.evaluate(board.games)
            if job.ownership and evaluation.ownership is not None:
                answer["ownership"] = [round(sign * float(v), 5) for v in evaluation.ownership[0]]
            if job.policy:
                policy = np.nan_to_num(legal_policy(board, evaluation.policy[0]), nan=-1.0)
                answer["policy"] = [round(float(value), 8) for value in policy]
        if job.moves_ownership:
            self._add_moves_ownership(board, seen, answer["moveInfos"], job)
        return answer

    def _add_moves_ownership(self, board: Board, moves: list[RootMove], infos: list[dict[str, Any]], job: Job) -> None:
        after = []
        for move in moves:
            copy = board.copy()
            play_or_pass(copy, move.move)
            after.append(copy)
        owner = self.evaluator.evaluate(stack_boards(after)).ownership
        if owner is None:
            return
        # The opponent is to move there: what is his is not ours.
        sign = {"SIDETOMOVE": -1, "BLACK": -1 if board.current_player == BLACK else 1,
                "WHITE": 1 if board.current_player == BLACK else -1}[job.winrates]  # fmt: skip
        for info, row in zip(infos, owner, strict=True):
            info["ownership"] = [round(sign * float(v), 5) for v in row]

    def _write(self, answer: dict[str, Any]) -> None:
        try:
            self._out.write(json.dumps(answer) + "\n")
            self._out.flush()
        except (OSError, ValueError):  # nobody listens any more
            self._ended = True
            self._waiting.clear()
            for pool in self._pools.values():
                pool.jobs = [None] * _SLOTS


def _mean(moves: list[RootMove], total: int) -> tuple[float, float, float]:
    """Value, score and utility of the root."""
    sums = [sum(m.visits * part for m, part in zip(moves, parts, strict=True)) / max(1, total)
            for parts in zip(*((m.value, m.score, m.utility) for m in moves), strict=True)]  # fmt: skip
    return (sums[0], sums[1], sums[2]) if sums else (0.0, 0.0, 0.0)


def _values(value: float, score: float, utility: float, sign: int) -> dict[str, float]:
    winrate, lead = (1 + sign * value) / 2, sign * score
    return {"winrate": round(winrate, 6), "scoreLead": round(lead, 4), "scoreMean": round(lead, 4),
            "scoreSelfplay": round(lead, 4), "scoreStdev": 0.0, "utility": round(sign * utility, 6)}  # fmt: skip


def _move_info(order: int, move: RootMove, size: int, sign: int, job: Job) -> dict[str, Any]:
    low = 2 * lower_bound(move) - 1
    info = {
        "move": to_gtp(*move.move, size), "visits": move.visits, **_values(move.value, move.score, move.utility, sign),
        "prior": round(move.prior, 6), "lcb": round((1 + sign * low) / 2, 6), "utilityLcb": round(sign * low, 6),
        "weight": float(move.visits), "order": order, "pv": [to_gtp(x, y, size) for x, y in move.variation],
    }  # fmt: skip
    if job.pv_visits:
        info["pvVisits"] = move.variation_visits
    return info


def serve_analysis(evaluator: Evaluates, visits: int = 500) -> None:
    """Answer queries on standard input and output."""
    AnalysisEngine(evaluator, sys.stdout, visits).run(sys.stdin.buffer)
