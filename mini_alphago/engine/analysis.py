"""KataGo's analysis engine: JSON objects in, JSON objects out, many positions at once in one network call.

One thread reads, another does everything else.
"""

import json
import queue
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, TextIO

import numpy as np

from ..game import BLACK, Board, stack_boards
from ..game.coords import to_gtp
from ..mcts import RootMove
from ..mcts.search import Evaluates
from ..version import __version__
from .kata import lower_bound
from .pool import LEAVES, SLOTS, Found, Pool, Task
from .queries import Job, QueryError, read_jobs
from .status import legal_policy, play_or_pass

LONGEST_LINE = 4_000_000
MOST_JOBS = 5000  # of one client that are not finished
Answer = dict[str, Any]


class Question:
    """One line of a client, read: jobs, an action, or what is wrong with it. Made in any thread."""

    def __init__(self, line: bytes | str, visits: int) -> None:
        self.jobs: list[Job] = []
        self.action: dict[str, Any] | None = None
        self.error: Answer | None = None
        name: object = None
        try:
            query = json.loads(line)
            if not isinstance(query, dict):
                raise QueryError("", "a query is a JSON object")
            name = query.get("id")
            if "action" in query:
                self.action = query
            else:
                self.jobs = read_jobs(query, visits)
        except QueryError as error:
            self.error = _error(error, name)
        except (ValueError, RecursionError):  # of the JSON, or of its encoding
            self.error = {"error": "the line is not JSON"}


def _error(error: QueryError, name: object) -> Answer:
    return {"error": str(error)} | ({"field": error.name, "id": name} if isinstance(name, str) else {})


class AnalysisClient:
    """Answers the questions of one client, through `write`. Of the thread that the pool belongs to."""

    def __init__(self, pool: Pool, evaluator: Evaluates, write: Callable[[Answer], None]) -> None:
        self.pool, self.evaluator = pool, evaluator
        self._write = write

    def take(self, question: Question) -> None:
        """Answer it, or begin to."""
        if question.error is not None:
            self._write(question.error)
        elif question.action is not None:
            try:
                self._act(question.action)
            except QueryError as error:
                self._write(_error(error, question.action.get("id")))
        elif len(question.jobs) + sum(map(self._is_ours, self.pool.tasks)) > MOST_JOBS:
            name = question.jobs[0].id
            self._write({"error": f"there are {MOST_JOBS} positions waiting: ask again later", "id": name})
        else:
            for job in question.jobs:
                job.owner, job.evaluator = self, self.evaluator
                job.on_report, job.on_done = partial(self._report, job), partial(self._finish, job)
                job.on_error = partial(self._fail, job)
                self.pool.add(job)

    def close(self) -> None:
        """The client is gone: nothing of it is searched any more."""
        self.pool.drop(self._is_ours)

    def _is_ours(self, task: Task) -> bool:
        return task.owner is self

    def _act(self, query: dict[str, Any]) -> None:
        action = query["action"]
        if action == "query_version":
            self._write({**query, "version": __version__, "git_hash": ""})
        elif action == "query_models":
            self._write({**query, "models": [{"name": "mini-alphago", "maxBatchSize": SLOTS * LEAVES}]})
        elif action == "clear_cache":
            self._write(dict(query))
        elif action in ("terminate", "terminate_all"):
            self._terminate(query, action == "terminate_all")
        else:
            raise QueryError("action", "actions are query_version, query_models, clear_cache, terminate, terminate_all")

    def _terminate(self, query: dict[str, Any], everything: bool) -> None:
        turns, target = query.get("turnNumbers"), query.get("terminateId")
        if turns is not None and not isinstance(turns, list):
            raise QueryError("turnNumbers", "turnNumbers lists turns")

        def meant(task: Task) -> bool:
            named = (
                isinstance(task, Job) and (everything or task.id == target) and (turns is None or task.turn in turns)
            )
            return self._is_ours(task) and named

        self.pool.finish(meant)
        self._write(dict(query))

    def _report(self, job: Job, found: Found) -> None:
        self._write(self._answer(found, job, during=True))

    def _finish(self, job: Job, found: Found | None) -> None:
        if found is None:
            self._write({"id": job.id, "turnNumber": job.turn, "isDuringSearch": False, "noResults": True})
        else:
            self._write(self._answer(found, job, during=False))

    def _fail(self, job: Job, error: Exception) -> None:
        self._write({"id": job.id, "turnNumber": job.turn, "error": " ".join(str(error).split())})

    # --- answers ----------------------------------------------------------------------------------------------------

    def _answer(self, found: Found, job: Job, during: bool) -> Answer:
        board, moves = job.board, found.moves()
        sign = {"BLACK": 1 if board.current_player == BLACK else -1,
                "WHITE": -1 if board.current_player == BLACK else 1, "SIDETOMOVE": 1}[job.winrates]  # fmt: skip
        seen = [move for move in moves if move.visits]
        total = sum(move.visits for move in seen)
        mean = mean_of(seen)
        answer: Answer = {
            "id": job.id, "turnNumber": job.turn, "isDuringSearch": during,
            "moveInfos": [_move_info(order, move, board.size, sign, job) for order, move in enumerate(seen)],
            "rootInfo": {**_values(*mean, sign), "visits": total, "currentPlayer": "BW"[board.current_player - 1]},
        }  # fmt: skip
        if job.ownership or job.policy:
            evaluation = found.evaluation()
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


class AnalysisEngine:
    """Answers queries; `run` until the input ends and everything is answered."""

    def __init__(self, evaluator: Evaluates, out: TextIO, visits: int = 500) -> None:
        self.visits = visits
        self._pool = Pool()
        self._client = AnalysisClient(self._pool, evaluator, self._write)
        self._out = out
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._ended = False

    def run(self, source: BinaryIO) -> None:
        """Read queries until the end of the input, answer them all."""
        threading.Thread(target=self._read, args=(source,), daemon=True).start()
        while not self._ended or not self._pool.is_idle():
            self._take_lines(wait=self._pool.is_idle())
            self._pool.step()

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
                self._client.take(Question(line, self.visits))

    def _write(self, answer: Answer) -> None:
        try:
            self._out.write(json.dumps(answer) + "\n")
            self._out.flush()
        except (OSError, ValueError):  # nobody listens any more
            self._ended = True
            self._client.close()


def mean_of(moves: list[RootMove]) -> tuple[float, float, float]:
    """Value, score and utility of the root, as the mean over the visits of its moves; zeros without any."""
    total = max(1, sum(move.visits for move in moves))
    value, score, utility = (
        sum(move.visits * getattr(move, part) for move in moves) / total for part in ("value", "score", "utility")
    )
    return value, score, utility


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
