"""The replay window: the newest games of a run, on disk as one file for each iteration, in memory as one `Records`."""

from pathlib import Path

from ..files import write_atomically
from .config import ReplaySettings
from .records import Records, from_bytes, join_records, to_bytes


class Replay:
    """The games of a run in `folder`, `000012.games` holding those of iteration 12; the window of them in memory."""

    def __init__(self, folder: Path, size: int, settings: ReplaySettings) -> None:
        self.folder, self.size, self.settings = folder, size, settings
        self._parts: list[tuple[int, Records]] = []
        self.positions = 0  # that could be learned from, in all iterations so far
        self.oldest = 1  # the first iteration whose games are here: earlier ones stayed behind when a run was packed

    def save(self, iteration: int, records: Records) -> None:
        """Write the games of an iteration to disk, atomically."""
        write_atomically(games_path(self.folder, iteration), to_bytes(records))

    def add(self, iteration: int, records: Records) -> None:
        """Take the games of an iteration into the window; the oldest that are beyond it leave, but never the newest."""
        self._parts.append((iteration, records))
        self.positions += records.samples
        window = self.settings.window(self.positions)
        held = sum(part.samples for _, part in self._parts)
        while len(self._parts) > 1 and held - self._parts[0][1].samples >= window:
            held -= self._parts.pop(0)[1].samples

    def load(self, iteration: int, positions: int, oldest: int = 1) -> None:
        """Take the window as it was after `iteration`, with `positions` in all, back from disk, as far as it is there.

        Only the files that the window needs are read. ValueError, naming the file, if one is damaged.
        """
        window = self.settings.window(positions)
        parts: list[tuple[int, Records]] = []
        held = 0
        self.oldest = oldest
        while iteration >= oldest and (not parts or held < window):
            records = read_games(self.folder, iteration, self.size)
            parts.insert(0, (iteration, records))
            held += records.samples
            iteration -= 1
        self._parts = parts
        self.positions = positions

    def records(self) -> Records:
        """All games of the window."""
        return join_records([part for _, part in self._parts], self.size)

    @property
    def samples(self) -> int:
        """Positions in the window that can be learned from."""
        return sum(part.samples for _, part in self._parts)


def games_path(folder: Path, iteration: int) -> Path:
    """Where the games of an iteration lie in the folder of a run's games."""
    return folder / f"{iteration:06d}.games"


def read_games(folder: Path, iteration: int, size: int) -> Records:
    """The games of an iteration. ValueError, naming the file, if it is missing, damaged or of another board size."""
    path = games_path(folder, iteration)
    try:
        records = from_bytes(path.read_bytes())
    except FileNotFoundError:
        raise ValueError(f"{path} is missing: the games of iteration {iteration} are needed to go on") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if records.size != size:
        raise ValueError(f"{path}: its games are not on {size}×{size} boards")
    return records
