"""One page that is connected: its requests in, its answers out.

A request is read in a thread of its own; what needs the search is then done by the worker's thread, to which `_running`
belongs.
"""

import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..engine.manners import is_hopeless, may_pass
from ..engine.pool import Found, Task
from ..engine.review import Position, find_mistakes, searched_position
from ..engine.status import dead_stones, play_or_pass
from ..game import Board
from ..game.coords import handicap_points
from ..mcts import RootMove
from ..mcts.levels import choose
from ..mcts.search import Evaluates
from . import protocol as ask
from .models import Model
from .outbox import Outbox
from .records import read_record, write_record
from .run import Snapshot, Watcher
from .service import Service
from .views import (
    flipped,
    handicap_view,
    network_view,
    position_view,
    review_view,
    score_view,
    search_view,
    values_view,
    vertex,
)

_REPORT_EVERY = 0.3  # seconds, while it thinks about its move
_REVIEW_VISITS = 100
_URGENT, _NORMAL, _LATER = 2.0, 1.0, 0.0


class Session:
    """Answers one page."""

    def __init__(self, service: Service, outbox: Outbox) -> None:
        self._service, self._outbox = service, outbox
        self._running: dict[str, tuple[str, set[Task]]] = {}  # by kind: the request that is worked on, and its tasks
        self._closed = False
        self._watched: str | None = None
        self._random = random.Random()
        self._answers: dict[type[ask.Request], Callable[[Any], None]] = {
            ask.AskPosition: self._position, ask.AskHandicap: self._handicap, ask.AskMove: self._move,
            ask.AskAnalysis: self._analyze, ask.AskStop: self._stop, ask.AskScore: self._score,
            ask.AskReview: self._review, ask.AskReadSgf: self._read_sgf, ask.AskWriteSgf: self._write_sgf,
            ask.AskWatch: self._watch,
        }  # fmt: skip

    def handle(self, text: str) -> None:
        """Answer a message, or begin to. Of one thread at a time, not the worker's."""
        id = None
        try:
            request = ask.read_request(text)
            id = request.id
            self._answers[type(request)](request)
        except ask.BadRequest as error:
            self._fail(error.id if id is None else id, error)
        except Exception as error:
            self._fail(id, error)

    def refuse(self, message: str) -> None:
        """Say what is wrong with what is no message."""
        self._send(None, "error", message=message)

    def close(self) -> None:
        """The page is gone: nothing of it goes on."""
        self._service.watchers.pop(self, None)
        self._service.worker.post(self._drop_all)

    def _drop_all(self) -> None:
        self._closed = True
        self._service.worker.pool.drop(lambda task: task.owner is self)

    def _send(self, id: str | None, kind: str, replaces: Any = None, **fields: Any) -> None:
        self._outbox.put({"id": id, "type": kind, **fields}, replaces)

    def _fail(self, id: str | None, error: Exception) -> None:
        if not isinstance(error, ValueError | OSError | FloatingPointError):  # a fault of ours
            print(f"mini-alphago: {type(error).__name__}: {error}", file=sys.stderr)
        self._send(id, "error", message=" ".join(str(error).split()) or "it cannot be done")

    # --- without the network ----------------------------------------------------------------------------------------

    def _position(self, request: ask.AskPosition) -> None:
        self._send(request.id, "position", position=position_view(request.game.board))

    def _handicap(self, request: ask.AskHandicap) -> None:
        points = handicap_points(request.size, request.stones)
        self._send(request.id, "handicap", stones=handicap_view(points, request.size))

    def _read_sgf(self, request: ask.AskReadSgf) -> None:
        self._send(request.id, "record", **read_record(request.text))

    def _write_sgf(self, request: ask.AskWriteSgf) -> None:
        self._send(request.id, "sgf", text=write_record(request))

    # --- the run ----------------------------------------------------------------------------------------------------

    def _watch(self, request: ask.AskWatch) -> None:
        if self._service.run is None:
            raise ask.BadRequest("there is no run to watch: start with mini-alphago play --run DIR")
        if self._watched is not None:
            self._send(self._watched, "stopped")
        self._watched = request.id
        self._service.watchers[self] = partial(self._tell_run, request.id, Watcher())
        self._service.look()

    def _tell_run(self, id: str, watcher: Watcher, now: Snapshot) -> None:
        if (news := watcher.news(now)) is not None:
            self._outbox.put({"id": id, **news})

    # --- with the network: begun here, done by the worker ------------------------------------------------------------

    def _move(self, request: ask.AskMove) -> None:
        self._begin("genmove", request, self._search_move)

    def _analyze(self, request: ask.AskAnalysis) -> None:
        self._begin("analyze", request, self._search_position)

    def _review(self, request: ask.AskReview) -> None:
        boards = [board.copy() for board in request.game.boards()]
        self._begin("review", request, partial(self._search_game, boards))

    def _score(self, request: ask.AskScore) -> None:
        board = request.game.board
        if request.dead is not None:
            self._send_score(request, request.dead)
            return
        model = self._service.models.find(request.model)

        def propose() -> None:
            try:
                self._send_score(request, dead_stones(board, self._evaluator(model, board.size)))
            except Exception as error:
                self._fail(request.id, error)

        self._service.worker.call(propose)

    def _send_score(self, request: ask.AskScore, dead: Sequence[tuple[int, int]]) -> None:
        board = request.game.board
        self._send(request.id, "score", **score_view(board, flipped(board, dead, request.toggle)))

    def _stop(self, request: ask.AskStop) -> None:
        if request.target == self._watched:
            self._watched = None
            self._service.watchers.pop(self, None)
        self._service.worker.post(self._stop_target, request.target)

    def _begin(self, kind: str, request: Any, search: Callable[[Any, Evaluates], list[Task]]) -> None:
        """Let the worker search for this, in place of what it searches of this kind for this page."""
        model = self._service.models.find(request.model)
        self._service.worker.post(self._start, kind, request, model, search)

    # --- in the worker's thread -------------------------------------------------------------------------------------

    def _start(self, kind: str, request: Any, model: Model, search: Callable[[Any, Evaluates], list[Task]]) -> None:
        if self._closed:
            return
        self._end(kind)
        try:
            tasks = search(request, self._evaluator(model, request.game.board.size))
        except Exception as error:
            self._fail(request.id, error)
            return
        self._running[kind] = (request.id, set(tasks))
        for task in tasks:
            task.owner, task.on_error = self, partial(self._give_up, kind, request.id)
            self._service.worker.pool.add(task)

    def _evaluator(self, model: Model, size: int) -> Evaluates:
        evaluator = self._service.models.evaluator(model)
        only = evaluator.config.board_size
        if only not in (None, size):
            raise ask.BadRequest(f"this network plays on {only}×{only} alone")
        return evaluator

    def _end(self, kind: str) -> None:
        """Stop what goes on of this kind."""
        if (running := self._running.pop(kind, None)) is not None:
            id, tasks = running
            self._service.worker.pool.drop(lambda task: task in tasks)
            self._send(id, "stopped")

    def _stop_target(self, target: str) -> None:
        for kind, (id, _) in list(self._running.items()):
            if id == target:
                self._end(kind)
                return
        self._send(target, "stopped")

    def _give_up(self, kind: str, id: str, error: Exception) -> None:
        if self._is_running(kind, id):
            _, tasks = self._running.pop(kind)
            self._service.worker.pool.drop(lambda task: task in tasks)
            self._fail(id, error)

    def _is_running(self, kind: str, id: str) -> bool:
        return kind in self._running and self._running[kind][0] == id and not self._closed

    # --- analysis

    def _search_position(self, request: ask.AskAnalysis, evaluator: Evaluates) -> list[Task]:
        report = self._reporter(request.id)

        def done(found: Found | None) -> None:
            self._running.pop("analyze", None)
            report(True, found)

        return [
            Task(
                board=request.game.board, visits=request.visits or self._service.visits, evaluator=evaluator,
                priority=_NORMAL, report_every=request.every, on_report=partial(report, False), on_done=done,
            )
        ]  # fmt: skip

    def _reporter(self, id: str) -> Callable[[bool, Found | None], None]:
        """A function that sends `analysis`, the last with True."""
        constant: dict[str, Any] = {}

        def report(done: bool, found: Found | None) -> None:
            if found is not None:
                if not constant:
                    constant.update(network_view(found))
                self._send(id, "analysis", replaces=("analysis", id), **search_view(found, done), **constant)

        return report

    # --- a move

    def _search_move(self, request: ask.AskMove, evaluator: Evaluates) -> list[Task]:
        visits = request.visits or min(request.level.visits or self._service.visits, self._service.visits)

        def done(found: Found | None) -> None:
            moves = found.moves() if found is not None else []
            self._service.worker.call(self._decide, request, evaluator, moves)  # it may ask the network once more

        return [
            Task(
                board=request.game.board, visits=visits, evaluator=evaluator, priority=_URGENT,
                report_every=_REPORT_EVERY, on_report=partial(self._reporter(request.id), False), on_done=done,
            )
        ]  # fmt: skip

    def _decide(self, request: ask.AskMove, evaluator: Evaluates, moves: list[RootMove]) -> None:
        if not self._is_running("genmove", request.id):
            return
        self._running.pop("genmove")
        board = request.game.board
        player = board.current_player
        try:
            name, after = "pass", board.copy()
            if moves and is_hopeless(board, moves, evaluator):
                name = "resign"
            elif moves and not may_pass(board, player, evaluator):
                point = choose(moves, request.level, self._random).move
                name = vertex(point, board.size)
                play_or_pass(after, point)
            else:
                after.pass_move()
            visits = sum(move.visits for move in moves)
            values = values_view(moves, player)
            self._send(request.id, "move", move=name, **values, visits=visits, position=position_view(after))
        except Exception as error:
            self._fail(request.id, error)

    # --- a whole game

    def _search_game(self, boards: list[Board], request: ask.AskReview, evaluator: Evaluates) -> list[Task]:
        visits = request.visits or min(_REVIEW_VISITS, self._service.visits)
        positions: list[Position | None] = [None] * len(boards)
        left = len(boards)

        def done(i: int, found: Found | None) -> None:
            nonlocal left
            left -= 1
            moves = found.moves() if found is not None else []
            positions[i] = searched_position(moves, boards[i].current_player)
            total = len(boards)
            self._send(request.id, "progress", replaces=("progress", request.id), done=total - left, total=total)
            if left == 0:
                self._running.pop("review", None)
                turns = [(*point, player) for player, point in request.game.turns]
                known = [position for position in positions if position is not None]
                self._send(request.id, "review", **review_view(known, find_mistakes(turns, known), boards[0].size))

        return [
            Task(board=board, visits=visits, evaluator=evaluator, priority=_LATER, on_done=partial(done, i))
            for i, board in enumerate(boards)
        ]
