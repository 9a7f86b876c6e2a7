"""What a server is started with, and what is known of it before anything is loaded."""

from dataclasses import dataclass, field

LOADING, SEARCHING = "loading", "search"  # names of threads
LONGEST_MESSAGE = 1_000_000  # characters
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
RULES = {
    "chinese": "Chinese", "japanese": "Japanese", "korean": "Korean", "aga": "AGA", "new-zealand": "New Zealand",
    "tromp-taylor": "Tromp-Taylor", "cgos": "Computer Go server",
}  # fmt: skip


@dataclass(frozen=True)
class ServerSettings:
    """How to serve."""

    model: str | None = None
    """A checkpoint, or the folder of a run whose newest network is meant."""
    run: str | None = None
    """The folder of a run to watch, and whose networks can be played."""
    visits: int = 400
    """Of a move at full strength, and of an analysis that does not say."""
    device: str = "auto"
    precision: str = "auto"
    token: str | None = None
    """What a client has to know; None: nothing."""
    hosts: frozenset[str] | None = field(default=LOOPBACK)
    """Names by which clients may call the server; None: any. On one's own machine this keeps pages of other sites out
    whose names lead here."""
    lazy: bool = False
    """Load nothing before somebody asks: for a server beside a training, which needs the machine."""
