"""Who is alive, dead and in seki at the end: drawn positions, made-up ownership, and what GNU Go says of a few."""

import shutil
import subprocess

import numpy as np
import pytest

from mini_alphago.engine.status import final_statuses
from mini_alphago.game import BLACK, Board
from mini_alphago.game.coords import to_gtp
from mini_alphago.model import Evaluation

from .talk import ask, new_engine

GNUGO = shutil.which("gnugo") or shutil.which("/usr/games/gnugo")

# White's D9 and Black's F9 chain have two liberties, E9 and E6, and both share them.
NO_EYES = """
. . X O . X O . .
. . X O O X O . .
. . X O X X O . .
. . X O . X O . .
. . X O O X O . .
. . . X X O . . .
. . . . X O . . .
. . . . X O . . .
. . . . X O . . .
"""
NO_EYES_SEKI = {"D5 D6 D7 D8 D9 E5 E8", "E7 F5 F6 F7 F8 F9"}

# Each of them has an eye, D9 and G9, and they share E6.
AN_EYE_EACH = """
. X O . O X . X O
. X O O O X X X O
. X X O X X O O O
. . X O . X O . .
. . X O O X O . .
. . . X X O . . .
. . . . X O . . .
. . . . X O . . .
. . . . X O . . .
"""
AN_EYE_EACH_SEKI = {"C8 C9 D5 D6 D7 D8 E5 E8 E9", "E7 F5 F6 F7 F8 F9 G8 H8 H9"}

# Everybody lives but B3; E7, E8, E9 and E1, E2 are nobody's.
NEUTRAL_POINTS = """
. . . X . O . . .
. . . X . O . . .
. . . X . O . . .
. . . X X O . . .
. . . . X O . O .
. . . X X O O . .
. O . X O O . . .
. . . X . O . . .
. . . X . O . . .
"""
NEUTRAL_POINTS_OWNED = NEUTRAL_POINTS.replace(". O . X O O", ". X . X O O")


class Owned:
    """Gives each point to whom the drawing says (X, O, or . for nobody), whatever is played; wants to pass."""

    def __init__(self, drawing):
        marks = np.array([line.split() for line in drawing.strip().split("\n")]).reshape(-1)
        self.owner = np.where(marks == "X", 1.0, np.where(marks == "O", -1.0, 0.0))

    def evaluate(self, states):
        count, points = states.color.shape
        policy = np.full((count, points), -10, np.float32)
        policy[:, -1] = 10
        sign = np.where(states.info["to_move"] == BLACK, 1.0, -1.0)
        return Evaluation(policy, np.zeros(count, np.float32), None, (sign[:, None] * self.owner).astype(np.float32))


def statuses(drawing, owner=None):
    """Chains by status, each as text; who owns what is `owner`'s drawing, or else every stone owns its point."""
    board = Board.from_diagram(drawing)
    found = final_statuses(board, Owned(owner or drawing))
    return {name: _texts(chains, board.size) for name, chains in found._asdict().items()}


def _texts(chains, size):
    return {" ".join(sorted(to_gtp(*point, size) for point in chain)) for chain in chains}


@pytest.mark.parametrize(("drawing", "seki"), [(NO_EYES, NO_EYES_SEKI), (AN_EYE_EACH, AN_EYE_EACH_SEKI)])
def test_seki(drawing, seki):
    found = statuses(drawing)
    assert found["seki"] == seki
    assert found["dead"] == set()
    assert len(found["alive"]) == 4  # those around them


def test_neutral_points_between_living_groups_are_no_seki():
    found = statuses(NEUTRAL_POINTS, NEUTRAL_POINTS_OWNED)
    assert found["seki"] == set()
    assert found["dead"] == {"B3"}


def test_stones_that_the_network_gives_to_the_opponent_are_dead_and_the_others_then_alive():
    """As drawn it is a seki; if White's stones are expected to die, it is not."""
    white_dies = NO_EYES.replace("X O . X", "X X X X").replace("X O O X", "X X X X").replace("X O X X", "X X X X")
    found = statuses(NO_EYES, white_dies)
    assert found["dead"] == {"D5 D6 D7 D8 D9 E5 E8"}
    assert found["seki"] == set()


def test_shared_points_that_somebody_owns_are_no_seki():
    """The network knows better what comes of it: Black will have E9 and E6."""
    assert statuses(NO_EYES, NO_EYES.replace("O . X", "O X X"))["seki"] == set()


def test_a_game_that_has_just_begun_is_no_seki():
    found = statuses("""
        . . . . .
        . X . O .
        . X . O .
        . . . . .
        . . . . .
    """)
    assert found == {"alive": {"B3 B4", "D3 D4"}, "seki": set(), "dead": set()}


def test_stones_within_pass_alive_regions_are_dead_whatever_the_network_says():
    found = statuses("""
        . X . X .
        X X X X O
        . . O . X
        X X X X X
        . X . X .
    """)
    assert found["dead"] == {"C3", "E4"}
    assert found["seki"] == set()


def test_chains_around_the_same_territory_live_together():
    """Black's F9 chain can only go to E6 and F4, but nobody can cut it off at F4 from an eye at F1."""
    found = statuses("""
        . X O . O X O . .
        . X O O O X O . .
        . X X O X X O . .
        . . X O . X O . .
        . . X O O X O O .
        . . . X X . X O .
        . . . X X X X O .
        . . . . X X X O .
        . . . . X . X O .
    """)
    assert found["seki"] == set()


def test_stones_with_room_elsewhere_are_not_in_seki():
    """At J9 either would be in atari, but White has H7 and what is behind it, which Black's J8 will never live in."""
    found = statuses("""
        . . . X X O O O .
        . . . X . X X O X
        . . . X . X O . .
        . . . X X O . O .
        . . . . X O . . .
        . . X . X O O O O
        . . . . . X O X O
        . . . . . X X X O
        . . . . . . X O O
    """)
    assert found["seki"] == set()


def test_without_a_network_that_says_who_owns_what_shape_decides():
    class Silent(Owned):
        def evaluate(self, states):
            return super().evaluate(states)._replace(ownership=None)

    board = Board.from_diagram(NO_EYES)
    assert _texts(final_statuses(board, Silent(NO_EYES)).seki, 9) == NO_EYES_SEKI


def test_the_command_lists_every_stone_once():
    engine = new_engine(9, Owned(NO_EYES))
    engine.set_board(Board.from_diagram(NO_EYES))
    lists = [answer[2:] for answer in ask(engine, *(f"final_status_list {name}" for name in ("alive", "seki", "dead")))]
    assert {" ".join(sorted(line.split())) for line in lists[1].split("\n")} == NO_EYES_SEKI
    assert lists[2] == ""
    stones = " ".join(lists).split()
    assert len(stones) == len(set(stones)) == np.count_nonzero(engine.board.board)


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (apt install gnugo)")
@pytest.mark.parametrize(
    ("drawing", "owner"),
    [(NO_EYES, None), (AN_EYE_EACH, None), (NEUTRAL_POINTS, NEUTRAL_POINTS_OWNED)],
)
def test_gnugo_says_the_same(drawing, owner):
    board = Board.from_diagram(drawing)
    stones = [f"play {'xbw'[board.board[x, y]]} {to_gtp(x, y, 9)}" for x, y in np.argwhere(board.board).tolist()]
    lists = [f"final_status_list {name}" for name in ("alive", "seki", "dead")]
    script = "\n".join(["boardsize 9", *stones, "play b pass", "play w pass", *lists, "quit", ""])
    out = subprocess.run([GNUGO, "--mode", "gtp"], input=script, text=True, capture_output=True, check=True).stdout
    answers = [answer.removeprefix("=").strip() for answer in out.split("\n\n")][-5:-2]
    theirs = [{" ".join(sorted(line.split())) for line in answer.split("\n") if line} for answer in answers]
    assert dict(zip(("alive", "seki", "dead"), theirs, strict=True)) == statuses(drawing, owner)
