"""A client and an engine in one process: lines in, answers out."""

import io
import time

from mini_alphago.engine import Engine, EngineSettings, Gtp

from ..mcts.evaluators import Area


class Slowly(io.RawIOBase):
    """Input that comes in pieces: bytes, or seconds to wait before the next ones."""

    def __init__(self, *pieces):
        self._pieces = list(pieces)
        self._rest = b""

    def readline(self, limit=-1):
        while not self._rest and self._pieces:
            piece = self._pieces.pop(0)
            if isinstance(piece, bytes):
                self._rest = piece
            else:
                time.sleep(piece)
        end = self._rest.find(b"\n") + 1 or len(self._rest)
        end = min(end, limit) if limit >= 0 else end
        line, self._rest = self._rest[:end], self._rest[end:]
        return line


def new_engine(size=5, evaluator=None, **settings):
    return Engine(evaluator or Area(), EngineSettings(**{"visits": 16, "leaves": 4, **settings}), size)


def talk(*pieces, engine=None):
    """All answers to this input, each without its blank line at the end."""
    out = io.StringIO()
    Gtp(engine or new_engine(), out).run(Slowly(*(p.encode() if isinstance(p, str) else p for p in pieces)))
    text = out.getvalue()
    assert text.endswith("\n\n") or not text
    return text.split("\n\n")[:-1]


def ask(engine, *lines):
    """The answers to these lines, one for each."""
    answers = talk("".join(f"{line}\n" for line in lines), engine=engine)
    assert len(answers) == len(lines), answers
    return answers
