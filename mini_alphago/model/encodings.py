"""What networks see, by name: `tutorial`, `alphazero` and `katago` of `features.py`, and KataGo's own `katago-v7`.

An encoding writes bytes, a quarter of the memory to move to a device: plane p means `value * scale[p]`. Boards smaller
than the tensor lie in its upper left corner.
"""

import threading
from dataclasses import dataclass

import numpy as np

from ..game import Board
from ..game.state import MIN_SIZE, Games
from ..threads import use_threads
from . import features
from .katago import features as v7


@dataclass(frozen=True)
class Encoding:
    """One way to turn positions into planes."""

    name: str
    planes: int
    kind: int  # which of the compiled encoders of `features.py`; APART if it is none of them

    smallest = MIN_SIZE  # board that it can show
    small_batch = 2000  # points; waking all threads costs more than encoding so many

    @property
    def drawn(self) -> int:
        """How many planes, the first ones, show the board and turn with it; others hold numbers."""
        return self.planes

    @property
    def scale(self) -> np.ndarray:
        """[planes] float32: what one unit of a plane's bytes means."""
        scale = np.ones(self.planes, np.float32)
        if self.kind == features.KATAGO:
            scale[20] = 1 / 30  # half points of komi; the plane is komi / 15
        return scale

    def write(self, states: Games, wanted: np.ndarray, reasons: np.ndarray, out: np.ndarray) -> None:
        """Of every wanted game the legality map into `reasons` ([games, A] uint8), the planes into `out`.

        wanted: [W] int64, games. out: [games, planes, width²] int8. In as many threads as Numba may use now.
        """
        features.encode_batch(states, self.kind, wanted, reasons, out)

    def encode(self, states: Games, out: np.ndarray) -> None:
        """Write the planes of every game of `states` to `out`, `[games, planes, width, width]`, int8 or float32.

        int8 planes are still to be multiplied by `scale`. `width` is at least the size of every board.
        """
        games, planes, width, height = out.shape
        largest = int(states.info["size"].max())
        if games != len(states.info) or planes != self.planes or width != height or width < largest:
            wanted = f"[{len(states.info)}, {self.planes}, {largest} or more, the same]"
            raise ValueError(f"{self.name} planes of these games do not fit into {list(out.shape)}: it takes {wanted}")
        self.check_size(width)
        compact = out if out.dtype == np.int8 else np.empty(out.shape, np.int8)
        reasons = np.empty((games, largest * largest + 1), np.uint8)
        with use_threads(1 if games * width * width < self.small_batch else None):
            self.write(states, np.arange(games), reasons, compact.reshape(games, planes, width * width))
        if compact is not out:
            np.multiply(compact, self.scale[:, None, None], out=out)

    def corner(self, planes: np.ndarray, size: int) -> np.ndarray:
        """Planes [B, planes, width, width] of boards of this size, cut to it."""
        small = np.ascontiguousarray(planes[..., :size, :size])
        for plane in range(self.drawn, self.planes):  # numbers lie at the front of theirs
            small[:, plane] = planes[:, plane].reshape(len(planes), -1)[:, : size * size].reshape(-1, size, size)
        return small

    def check_size(self, size: int) -> None:
        """ValueError if boards of this size cannot be shown."""
        if size < self.smallest:
            raise ValueError(f"networks with {self.name} inputs play on boards from {self.smallest}×{self.smallest} on")


class _KataGoV7(Encoding):
    """KataGo's input features version 7: 22 planes, and one whose first bytes hold the global inputs."""

    smallest = v7.SMALLEST
    small_batch = 400  # a point takes a microsecond

    @property
    def drawn(self) -> int:
        """See Encoding."""
        return v7.PLANES

    def write(self, states: Games, wanted: np.ndarray, reasons: np.ndarray, out: np.ndarray) -> None:
        """See Encoding."""
        features_of = getattr(_by_thread, self.name, None)
        if features_of is None:
            features_of = v7.FeaturesV7(pass_alive_suicide=self.name.endswith("suicide"))
            setattr(_by_thread, self.name, features_of)
        features_of.write(states, wanted, reasons, out)


_by_thread = threading.local()  # what keeps room to work in is not for two threads at once

ENCODINGS: dict[str, Encoding] = {
    "tutorial": Encoding("tutorial", 7, features.TUTORIAL),
    "alphazero": Encoding("alphazero", 17, features.ALPHAZERO),
    "katago": Encoding("katago", 22, features.KATAGO),
    "katago-v7": _KataGoV7("katago-v7", v7.PLANES + 1, features.APART),
    "katago-v7-suicide": _KataGoV7(
        "katago-v7-suicide", v7.PLANES + 1, features.APART
    ),  # some of KataGo's files ask for it
}


def get_encoding(name: str) -> Encoding:
    """The encoding of that name. ValueError if there is none."""
    if name not in ENCODINGS:
        raise ValueError(f"unknown encoding {name!r}: known are {', '.join(ENCODINGS)}")
    return ENCODINGS[name]


def encode_board(board: Board) -> np.ndarray:
    """The tutorial's seven planes of a board, float32 `[7, size, size]`."""
    out = np.empty((1, 7, board.size, board.size), np.float32)
    ENCODINGS["tutorial"].encode(board.games, out)
    return out[0]
