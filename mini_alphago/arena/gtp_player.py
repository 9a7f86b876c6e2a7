"""Other programs as players: any engine that speaks GTP, as GNU Go does, one process for each game."""

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..game import BLACK, WHITE, Board, SgfGame
from ..game.coords import from_flat, from_gtp, to_flat, to_gtp
from ..threads import available_cores
from .players import RESIGN, PlayerFault

_LONGEST_LINE = 4096
_MOST_LINES = 1000  # of one answer, and of what a program may say unasked
_COLORS = {BLACK: "black", WHITE: "white"}


class GtpError(Exception):
    """A program did not answer as GTP asks; the message says how."""


class GtpProcess:
    """One running program. Its answers are read by a thread of their own, so that waiting for them has an end."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._timeout = timeout
        posix = os.name == "posix"  # there, a session of its own: what the program started goes with it
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=posix,
            )
        except OSError as error:
            raise GtpError(f"{command[0]} does not start: {error.strerror}") from None
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        self._closed = False
        self._lines: queue.Queue[bytes] = queue.Queue(_MOST_LINES)  # b"" is the end
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._closed and (line := self._output.readline(_LONGEST_LINE)):
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, command: str) -> str:
        """Send a command and return the answer to it. GtpError if it is refused, or there is none in time."""
        try:
            self._input.write(command.encode() + b"\n")
            self._input.flush()
        except (OSError, ValueError):
            raise GtpError(f"{self._end()} before {command!r}") from None
        answer = self._answer(command)
        if answer.startswith("?"):
            raise GtpError(f"refused {command!r}: {answer.lstrip('?0123456789 ')[:80]}")
        return answer.lstrip("=0123456789").strip() if answer[1:2].isdigit() else answer[1:].strip()

    def _answer(self, command: str) -> str:
        """The lines from the first that begins with = or ? up to an empty one; what came before them is noise."""
        deadline = time.monotonic() + self._timeout
        answer: list[str] = []
        for _ in range(_MOST_LINES):
            try:
                raw = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise GtpError(f"no answer to {command!r} within {self._timeout:g} s") from None
            if not raw:
                raise GtpError(f"{self._end()} at {command!r}")
            line = raw.decode(errors="replace").strip()
            if answer and not line:
                return "\n".join(answer)
            if answer or line[:1] in ("=", "?"):
                answer.append(line)
        raise GtpError(f"answered {command!r} with more than {_MOST_LINES} lines")

    def _end(self) -> str:
        try:
            return f"ended with status {self._process.wait(timeout=1)}"
        except subprocess.TimeoutExpired:
            return "closed its output"

    def close(self, patience: float = 1.0) -> None:
        """Ask the program to quit, and end it if it does not within `patience` seconds."""
        self._closed = True
        with contextlib.suppress(queue.Empty):  # a reader that waits for room goes on, and sees that it is over
            while True:
                self._lines.get_nowait()
        with contextlib.suppress(OSError, ValueError):
            self._input.write(b"quit\n")
            self._input.close()
        try:
            self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._kill()
        self._reader.join(timeout=1)
        if self._reader.is_alive():  # the program is gone, but a child of it holds the pipe
            self._kill()
            self._reader.join(timeout=1)
        if not self._reader.is_alive():
            self._output.close()

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)


@dataclass
class _Line:
    """One game, as far as its program is concerned."""

    size: int
    to_move: int
    pending: list[str]  # commands the program has not been told yet
    answer: int | PlayerFault | None = None  # what it says to the position, until a move is made


class GtpPlayer:
    """A GTP program, a process for each game of the batch, started when its first move is due.

    command: the program with its arguments. timeout: seconds for each command, the time to start included; a program
    that crashes, is late or makes no sense loses the game at hand by `PlayerFault`, and is started anew for the next.
    parallel: how many of the processes think at once, by default one a core, so that they do not take each other's
    time. ValueError if there is no such program.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        name: str | None = None,
        timeout: float = 60.0,
        parallel: int | None = None,
    ) -> None:
        self._command = shlex.split(command) if isinstance(command, str) else list(command)
        if not self._command or shutil.which(self._command[0]) is None:
            program = self._command[0] if self._command else "an empty command"
            raise ValueError(f"there is no program {program}: give its full path, or one that is on PATH")
        self.name = name or Path(self._command[0]).name
        self._timeout = timeout
        self._parallel = parallel or available_cores()
        self._processes: dict[int, GtpProcess] = {}
        self._games: dict[int, _Line] = {}

    def check(self) -> None:
        """ValueError if the program does not start or does not speak GTP; if it does, it serves game 0."""
        try:
            self._processes[0] = GtpProcess(self._command, self._timeout)
            self._processes[0].send("protocol_version")
        except GtpError as error:
            self._close(patience=0.0)
            raise ValueError(f"{self.name}: {error}") from None

    def start(self, boards: list[Board]) -> None:
        """Begin from these positions; processes that are still there serve again."""
        self._games.clear()
        for game, board in enumerate(boards):
            self.restart(game, board)

    def restart(self, game: int, board: Board) -> None:
        """Begin one game anew; its process serves again if it is still there."""
        self._games[game] = _Line(board.size, board.current_player, _set_up(board))

    def choose(self, games: list[int]) -> list[int]:
        """What the programs answer to `genmove` in each of these games."""
        asked = [game for game in games if self._games[game].answer is None]
        with ThreadPoolExecutor(self._parallel) as pool:
            try:
                for game, answer in zip(asked, pool.map(self._ask, asked), strict=True):
                    self._games[game].answer = answer
            except BaseException:  # Ctrl-C: programs that think on would keep the threads, and those would keep us
                pool.shutdown(wait=False, cancel_futures=True)
                self._close(patience=0.0)
                raise
        return [self._move(game) for game in games]

    def _move(self, game: int) -> int:
        answer = self._games[game].answer
        if isinstance(answer, PlayerFault):
            raise answer
        assert answer is not None
        return answer

    def _ask(self, game: int) -> int | PlayerFault:
        line = self._games[game]
        try:
            process = self._processes.get(game) or GtpProcess(self._command, self._timeout)
            self._processes[game] = process
            while line.pending:
                process.send(line.pending[0])
                del line.pending[0]
            answer = process.send(f"genmove {_COLORS[line.to_move]}").lower()
            return RESIGN if answer == "resign" else to_flat(*from_gtp(answer, line.size), line.size)
        except (GtpError, ValueError) as error:
            if lost := self._processes.pop(game, None):
                lost.close(patience=0.0)
            return PlayerFault(game, f"{self.name}: {error}")

    def played(self, game: int, move: int) -> None:
        """Remember the move for the program, unless it is the one that it made itself."""
        line = self._games[game]
        if line.answer != move:
            vertex = to_gtp(*from_flat(move, line.size), line.size)
            line.pending.append(f"play {_COLORS[line.to_move]} {vertex}")
        line.answer = None
        line.to_move = 3 - line.to_move

    def close(self) -> None:
        """End all processes."""
        self._close(patience=1.0)

    def _close(self, patience: float) -> None:
        while self._processes:
            self._processes.popitem()[1].close(patience)


def _set_up(board: Board) -> list[str]:
    """The commands that lead a program to the position of `board`; komi is what White gets in all."""
    record, size = SgfGame.from_board(board), board.size
    stones = [(x, y, BLACK) for x, y in record.nodes[0].black] + [(x, y, WHITE) for x, y in record.nodes[0].white]
    moves = [f"play {_COLORS[player]} {to_gtp(x, y, size)}" for x, y, player in stones + record.moves]
    return [f"boardsize {size}", "clear_board", f"komi {float(board.games.info[0]['komi']):g}", *moves]


def gnugo_player(
    level: int = 10, name: str | None = None, timeout: float = 60.0, parallel: int | None = None, seed: int = 1
) -> GtpPlayer:
    """GNU Go by area rules and positional superko, as `Board` has them by default. ValueError if it is not installed.

    It takes dead stones off the board before it passes, so that the board can be counted as it stands. With the same
    seed it answers the same moves in the same way.
    """
    program = shutil.which("gnugo") or shutil.which("/usr/games/gnugo")  # Debian's place is not on everybody's PATH
    if program is None:
        raise ValueError("GNU Go is not installed: there is no gnugo on PATH or in /usr/games (apt install gnugo)")
    options = (
        f"--mode gtp --quiet --chinese-rules --positional-superko --capture-all-dead --level {level} --seed {seed}"
    )
    return GtpPlayer([program, *options.split()], name or f"gnugo-{level}", timeout, parallel)
