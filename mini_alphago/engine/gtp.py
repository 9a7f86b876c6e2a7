"""The Go Text Protocol, version 2: lines in, answers out, and nothing that a client sends can break the game.

A thread reads lines; everything else happens in the thread that calls `Gtp.run`, so that one thread owns the search. An
analysis looks, after every network call, whether another line has come.
"""

import io
import queue
import re
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO

from .player import Engine

LONGEST_LINE = 65536  # characters of a command; what is longer is refused unread
_INTERRUPT = "# interrupt"  # GoGui's word, a comment to all others: move now
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff]")  # and the mark that some programs begin a text with
Handler = Callable[["Gtp", list[str]], str | None]
COMMANDS: dict[str, Handler] = {}


class GtpError(ValueError):
    """What a client did wrong, in one line."""


def command(*names: str) -> Callable[[Handler], Handler]:
    """Register a function of (gtp, arguments) that returns the answer; None if it has written it itself."""

    def register(handler: Handler) -> Handler:
        for name in names:
            COMMANDS[name] = handler
        return handler

    return register


class Gtp:
    """One client and one engine."""

    def __init__(self, engine: Engine, out: TextIO, name: str = "mini-alphago") -> None:
        self.engine, self.name = engine, name
        self.finished = False
        self._out = out
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._head = "="

    # --- the loop ---------------------------------------------------------------------------------------------------

    def run(self, source: BinaryIO) -> None:
        """Answer commands until `quit` or the end of the input."""
        threading.Thread(target=self._read, args=(source,), daemon=True).start()
        while not self.finished:
            line = self._next_line()
            if line is None:
                return
            self.answer(line)

    def _read(self, source: BinaryIO) -> None:
        """Put every line into the queue; a line beyond all measure is cut, and refused by its length."""
        try:
            while data := source.readline(LONGEST_LINE + 2):
                whole = data.endswith(b"\n")
                while not whole and (rest := source.readline(LONGEST_LINE)):
                    whole = rest.endswith(b"\n")
                self._lines.put(data.decode("utf-8", "replace"))
        except (OSError, ValueError):
            pass  # the other end is gone
        self._lines.put(None)

    def _next_line(self) -> str | None:
        board = self.engine.board
        if self.engine.settings.ponder and self._lines.empty() and board.move_count and not board.is_game_over():
            try:
                for _ in self.engine.thinking():
                    if not self._lines.empty():
                        break
            except Exception as error:  # whatever command needs the network next will say it to the client
                print(f"mini-alphago: pondering: {type(error).__name__}: {error}", file=sys.stderr)
        return self._lines.get()

    def interrupted(self) -> bool:
        """Whether the client has said something since the command at hand."""
        return not self._lines.empty()

    def told_to_move(self) -> bool:
        """Whether the client has said since that it wants the move which it waits for at once."""
        with self._lines.mutex:
            return any(line is not None and line.strip() == _INTERRUPT for line in self._lines.queue)

    # --- one command ------------------------------------------------------------------------------------------------

    def answer(self, line: str) -> None:
        """Carry out one line and write the answer to it."""
        words, number = self._parse(line)
        if not words:
            return
        name, arguments = words[0], words[1:]
        self._head = f"={number}"
        try:
            if len(line) > LONGEST_LINE:
                raise GtpError("the line is too long")
            handler = COMMANDS.get(name)
            if handler is None:
                raise GtpError("unknown command")
            text = handler(self, arguments)
            if text is not None:
                self.write(f"={number} {text}".rstrip() + "\n\n")
        except Exception as error:  # a fault of ours must not cost the client its game
            reason = " ".join(str(error).split()) or "it cannot be done"
            if not isinstance(error, ValueError):
                print(f"mini-alphago: {name}: {type(error).__name__}: {reason}", file=sys.stderr)
            self.write(f"?{number} {reason}\n\n")

    @staticmethod
    def _parse(line: str) -> tuple[list[str], str]:
        """The words of a line without its number, and the number as it was written."""
        text = _CONTROL.sub("", line[: LONGEST_LINE + 1].replace("\t", " ")).partition("#")[0]
        words = text.split()
        if words and words[0].isascii() and words[0].isdigit():
            return words[1:] or [""], words[0]
        return words, ""

    def begin(self) -> None:
        """Start an answer of many lines; `write` them, then `end`."""
        self.write(f"{self._head}\n")

    def end(self) -> None:
        """End an answer of many lines."""
        self.write("\n")

    def write(self, text: str) -> None:
        """To the client; a client that is gone ends the loop."""
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError):
            self.finished = True


def serve(engine: Engine, source: Any = None, out: TextIO | None = None) -> None:
    """Speak GTP on standard input and output."""
    # Not `sys.stdin`, which Python closes at its end: it would find the thread that reads in its way, and abort.
    own = io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
    Gtp(engine, out or sys.stdout).run(source or own)
