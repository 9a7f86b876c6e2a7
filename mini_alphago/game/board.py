"""`Board`: one game of Go, as in the tutorial; a batch of one on the compiled rules of `state.py`."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from . import result, state
from .batch import pack, unpack, with_more_room
from .coords import check_on_board, handicap_points
from .diagram import draw, parse
from .rules import Rules, check_komi, get_rules, write_rules

Point = tuple[int, int]

_REASONS = {
    state.OCCUPIED: "occupied",
    state.KO: "ko",
    state.SUPERKO: "superko",
    state.SUICIDE: "suicide",
}
_GAME_OVER = "the game is over after two passes: undo() takes the last one back, resume() plays on"


class Board:
    """A Go board with its game: stones, player to move, history, rules.

    `x` is the row from the top and `y` the column from the left; `mini_alphago.game.coords` has all other names of a
    point. Wrong arguments raise ValueError, and leave the board as it was.
    """

    EMPTY, BLACK, WHITE = state.EMPTY, state.BLACK, state.WHITE

    def __init__(self, size: int = 9, komi: float | None = None, rules: Rules | str = "cgos") -> None:
        """An empty board of 2×2 to 19×19; `rules` is a `Rules` or the name of a set, `komi` overrides theirs."""
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise ValueError(f"board size {size!r} is not a whole number")
        if not state.MIN_SIZE <= size <= state.MAX_SIZE:
            raise ValueError(f"board size {size} is not possible: it is {state.MIN_SIZE} to {state.MAX_SIZE}")
        self._games = state.new_games(1, int(size), max_moves=3 * int(size) ** 2)
        self._handicap = 0
        self._set_rules(get_rules(rules), komi)
        state.clear(self._games, 0)
        self._setup = _Setup(np.zeros(self.size**2, np.int8), self.BLACK, 0, 0)
        self._resumed: set[int] = set()  # the move counts at which the game was resumed

    # --- what is on the board ---------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Points on a side."""
        return int(self._info["size"])

    @property
    def board(self) -> np.ndarray:
        """The stones, int8 `[size, size]`: EMPTY, BLACK or WHITE at `[x, y]`. A live view; change it with `setup`."""
        view = self._games.color[0, : self.size**2].reshape(self.size, self.size)
        view.flags.writeable = False
        return view

    @property
    def current_player(self) -> int:
        """BLACK or WHITE, whose turn it is; may be set."""
        return int(self._info["to_move"])

    @current_player.setter
    def current_player(self, player: int) -> None:
        self._check_player(player)
        self._turn_to(player)

    @property
    def ko_point(self) -> Point | None:
        """Where the player to move may not take back a ko just now."""
        point = int(self._info["ko_point"])
        return None if point == state.NO_POINT else self._xy(point)

    @property
    def history(self) -> list[tuple[int, int, int]]:
        """All moves as (x, y, player), passes as (-1, -1, player)."""
        moves = self._games.moves[0, : self.move_count]
        return [(*self._xy(point), player) for point, player in moves.tolist()]

    @property
    def move_count(self) -> int:
        """Number of moves made, passes included."""
        return int(self._info["move_count"])

    @property
    def rules(self) -> Rules:
        """The rules in force; `set_rules` changes them."""
        return self._rules

    @property
    def komi(self) -> float:
        """What White gets for moving second; may be set. Handicap compensation is not in it."""
        return self._rules.komi_for(self.size)

    @komi.setter
    def komi(self, komi: float) -> None:
        self._set_rules(self._rules, komi)

    @property
    def handicap(self) -> int:
        """Number of handicap stones that `place_handicap` put down."""
        return self._handicap

    @property
    def prisoners(self) -> dict[int, int]:
        """How many stones each player has captured."""
        return {
            self.BLACK: int(self._info["black_prisoners"]),
            self.WHITE: int(self._info["white_prisoners"]),
        }

    @property
    def games(self) -> state.Games:
        """The batch of one that holds everything, for kernels; game 0 of it is this board. Ask anew after a move."""
        return self._games

    def get_opponent(self, player: int) -> int:
        """The other player."""
        self._check_player(player)
        return 3 - player

    def is_on_board(self, x: int, y: int) -> bool:
        """Whether (x, y) is a point of this board."""
        return 0 <= x < self.size and 0 <= y < self.size

    def get_neighbors(self, x: int, y: int) -> list[Point]:
        """The two to four points next to (x, y)."""
        around = self._games.neighbors[self.size, self._flat(x, y)].tolist()
        return [self._xy(q) for q in around if q != self.size**2]

    def get_group(self, x: int, y: int) -> tuple[set[Point], set[Point]]:
        """The chain of the stone on (x, y): its stones and its liberties; two empty sets for an empty point."""
        stones = {self._xy(p) for p in result.chain(self._games, 0, self._flat(x, y))}
        liberties = {q for p in stones for q in self.get_neighbors(*p) if self.board[q] == self.EMPTY}
        return stones, liberties

    def count_liberties(self, x: int, y: int) -> int:
        """Liberties of the chain on (x, y), 0 for an empty point."""
        points = self._games.points[0]
        head = points[self._flat(x, y)]["head"]
        return 0 if head == state.NO_CHAIN else int(points[head]["liberties"])

    # --- moves ------------------------------------------------------------------------------------------------------

    def is_legal(self, x: int, y: int, player: int | None = None) -> bool:
        """Whether `player` (by default the one to move) may put a stone on (x, y). Two passes do not change that."""
        return self.why_illegal(x, y, player) is None

    def why_illegal(self, x: int, y: int, player: int | None = None) -> str | None:
        """None if a stone may be put on (x, y), else "occupied", "ko", "superko" or "suicide"."""
        point = self._flat(x, y)
        if player is None:
            player = self.current_player
        self._check_player(player)
        return _REASONS.get(state.legality(self._games, 0, point, player))

    def play(self, x: int, y: int) -> bool:
        """Put a stone of the player to move on (x, y). False, and nothing changed, if that is illegal.

        Once the game is over, and off the board (for a pass there is `pass_move`), ValueError.
        """
        self._grow()
        reason = state.try_play(self._games, 0, self._flat(x, y))
        if reason == state.OVER:
            raise ValueError(_GAME_OVER)
        return bool(reason == state.LEGAL)

    def pass_move(self) -> None:
        """Pass. The second pass in a row ends the game; after that, ValueError."""
        self._grow()
        if state.try_play(self._games, 0, self.size**2) == state.OVER:
            raise ValueError(_GAME_OVER)

    def undo(self) -> bool:
        """Take the last move back. False if there is none, or none since the position was last set up."""
        info = self._info
        target = self.move_count - 1
        if target < info["first_move"]:
            return False
        player = int(self._games.moves[0, target]["player"])
        self._replay(target - info["first_move"], check=False)  # legal once, if only by a turn that was set twice
        self._turn_to(player)
        self._resumed = {move for move in self._resumed if move <= target}
        return True

    def resume(self) -> None:
        """Play on after two passes, for example to settle which stones are dead."""
        self._resumed.add(self.move_count)
        self._info["passes"] = 0

    def is_game_over(self) -> bool:
        """Whether both players have just passed."""
        return bool(self._info["passes"] >= 2)

    def get_legal_moves(self) -> list[Point]:
        """All legal moves of the player to move as (x, y), in board order, then (-1, -1) for the pass."""
        reasons = np.empty(self.size**2 + 1, np.uint8)
        state.legality_map(self._games, 0, self.current_player, reasons)
        return [self._xy(p) for p in np.flatnonzero(reasons == state.LEGAL).tolist()]

    # --- the result -------------------------------------------------------------------------------------------------

    def score(self, dead: Iterable[Point] = ()) -> float:
        """Black's points minus White's, minus komi and handicap compensation, by the rules of this board.

        `dead` names stones to take off first; a chain goes as a whole. By territory scoring they count as prisoners.
        """
        return result.score(self._games, 0, (self._flat(x, y) for x, y in dead))

    def ownership(self, dead: Iterable[Point] = ()) -> np.ndarray:
        """Who owns each point by area: int8 `[size, size]`, 1 for Black, -1 for White, 0 for nobody."""
        owner = result.ownership(self._games, 0, (self._flat(x, y) for x, y in dead))
        return owner.reshape(self.size, self.size)

    def pass_alive(self, player: int) -> tuple[set[Point], set[Point]]:
        """What `player` keeps even by only passing (Benson): stones, and regions where the opponent cannot live."""
        self._check_player(player)
        owner = result.pass_alive(self._games, 0, player)
        stones, regions = ({self._xy(p) for p in np.flatnonzero(owner == kind).tolist()} for kind in (1, 2))
        return stones, regions

    # --- setting up -------------------------------------------------------------------------------------------------

    def setup(
        self,
        black: Iterable[Point] = (),
        white: Iterable[Point] = (),
        empty: Iterable[Point] = (),
        player: int | None = None,
    ) -> None:
        """Put stones on the board, and take some off, without playing; `player` is then to move.

        Superko forgets what was before and `undo` does not go back past this. A point named for two colours, or a
        chain left without a liberty: ValueError, and nothing changes.
        """
        stones = self.board.reshape(-1).copy()
        named: set[int] = set()
        for color, points in ((self.BLACK, black), (self.WHITE, white), (self.EMPTY, empty)):
            flat = {self._flat(x, y) for x, y in points}
            if clash := named & flat:
                raise ValueError(f"{self._xy(min(clash))} is set up in two colours: each point may have one")
            named |= flat
            stones[list(flat)] = color
        self._set_stones(stones, self.current_player if player is None else player)

    def remove_group(self, group: Iterable[Point]) -> None:
        """Take these stones off the board; a setup, not a capture."""
        self.setup(empty=group)

    def place_handicap(self, stones: int | Iterable[Point]) -> list[Point]:
        """Give Black handicap stones on the empty board: so many, or on these points; White moves next."""
        if self.move_count or self.board.any():
            raise ValueError("handicap stones are placed on an empty board, before the first move")
        if isinstance(stones, (int, np.integer)):
            points = handicap_points(self.size, int(stones))
        else:
            points = [self._xy(self._flat(x, y)) for x, y in stones]
        if len(set(points)) != len(points):
            raise ValueError("two handicap stones on one point: each needs its own")
        self.setup(black=points, player=self.WHITE if points else self.BLACK)
        self._handicap = len(points)
        self._set_rules(self._rules, self._rules.komi)
        return points

    def set_rules(self, rules: Rules | str, komi: float | None = None) -> None:
        """Go on under other rules; komi stays unless it is given.

        If a move of the game is illegal by them, the game begins at the position as it stands: superko then knows the
        positions from here on, and `undo` does not go back past this one.
        """
        self._set_rules(get_rules(rules), self.komi if komi is None else komi)
        player, passes = self.current_player, int(self._info["passes"])
        again = self.copy()
        if again._replay(self.move_count - self._info["first_move"]):
            self._games = again._games
            self._turn_to(player)
        else:
            self._set_stones(self.board.reshape(-1).copy(), player)
        self._info["passes"] = passes

    @classmethod
    def from_diagram(
        cls, text: str, komi: float | None = None, rules: Rules | str = "cgos", player: int | None = None
    ) -> "Board":
        """A board from a drawing: `X`, `#` or `B` black, `O` or `W` white, `.` or `+` empty, spaces as you like.

        Reads what `str(board)` writes: coordinates are skipped, and a line "White … to play" says who moves unless
        `player` does. ValueError if it is not a square of 2×2 to 19×19.
        """
        stones, to_play = parse(text)
        board = cls(len(stones), komi, rules)
        board._set_stones(stones.reshape(-1), to_play if player is None else player)
        return board

    # --- being a Python object --------------------------------------------------------------------------------------

    def copy(self) -> "Board":
        """An independent board in the same state, history and all."""
        return _rebuild(self.__reduce__()[1][0])

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        return _rebuild, ({**self.__dict__, "_games": pack(self._games)},)

    def __eq__(self, other: object) -> bool:
        """The same position, player to move, ko, passes and rules; how it came about does not count."""
        if not isinstance(other, Board):
            return NotImplemented
        fields = ["size", "ko_rule", "scoring", "suicide", "komi", "to_move", "ko_point", "passes"]
        return bool((self._games.info[fields] == other._games.info[fields]).all()) and np.array_equal(
            self.board, other.board
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return draw(self)

    def __repr__(self) -> str:
        return f"<Board {self.size}×{self.size}, move {self.move_count}>\n{self}"

    # --- inside -----------------------------------------------------------------------------------------------------

    @property
    def _info(self) -> Any:
        return self._games.info[0]

    def _xy(self, point: int) -> Point:
        return (-1, -1) if point == self.size**2 else divmod(point, self.size)

    def _flat(self, x: int, y: int) -> int:
        if isinstance(x, (int, np.integer)) and isinstance(y, (int, np.integer)):
            check_on_board(x, y, self.size)
            return int(x) * self.size + int(y)
        raise ValueError(f"({x!r}, {y!r}) is not a point: x and y are whole numbers, 0 to {self.size - 1}")

    def _turn_to(self, player: int) -> None:
        """Let `player` be the one to move; out of turn, no ko binds, and passes are no longer in a row."""
        if player != self.current_player:
            self._info["to_move"] = player
            self._info["ko_point"] = state.NO_POINT
            self._info["passes"] = 0

    def _check_player(self, player: int) -> None:
        if player not in (self.BLACK, self.WHITE):
            raise ValueError(f"player {player!r} is neither BLACK (1) nor WHITE (2)")

    def _set_stones(self, stones: np.ndarray, player: int) -> None:
        self._check_player(player)
        trial = state.new_games(1, self.size, max_moves=1)
        if not state.set_position(trial, 0, stones, player):
            raise ValueError("a chain would have no liberties: every stone set up needs one")
        prisoners = self.prisoners
        self._setup = _Setup(stones, player, prisoners[self.BLACK], prisoners[self.WHITE])
        self._restore()

    def _restore(self) -> None:
        """Back to the position that was last set up, `move_count` being what it was then."""
        self._info["black_prisoners"] = self._setup.black_prisoners
        self._info["white_prisoners"] = self._setup.white_prisoners
        state.set_position(self._games, 0, self._setup.stones, self._setup.player)

    def _replay(self, count: int, check: bool = True) -> bool:
        """Make the first `count` moves since the last setup again. False if one is illegal: it is not made."""
        first = self._info["first_move"]
        moves = self._games.moves[0, first : first + count].copy()
        self._info["move_count"] = first
        self._restore()
        for point, player in moves.tolist():
            self._turn_to(player)
            if check and point < self.size**2 and state.legality(self._games, 0, point, player) != state.LEGAL:
                return False
            state.play(self._games, 0, point)
            if self.move_count in self._resumed:
                self._info["passes"] = 0
        return True

    def _set_rules(self, rules: Rules, komi: float | None) -> None:
        if komi is not None:
            check_komi(komi)
            rules = rules.with_komi(float(komi))
        self._rules = rules
        info = self._info
        write_rules(info, rules)
        info["komi"] = rules.komi_for(self.size) + rules.compensation_for(self._handicap)

    def _grow(self) -> None:
        """Make room for one more move."""
        if self.move_count == self._games.moves.shape[1]:
            self._games = with_more_room(self._games)


class _Setup(NamedTuple):
    """What `undo` replays from."""

    stones: np.ndarray  # [size²] int8
    player: int
    black_prisoners: int
    white_prisoners: int


def _rebuild(attributes: dict[str, Any]) -> Board:
    board = Board.__new__(Board)
    board.__dict__.update(attributes)
    board._games = unpack(attributes["_games"])
    return board
