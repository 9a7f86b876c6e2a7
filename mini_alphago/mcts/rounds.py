"""One round of a search for all games: take the network's answers, go down to the next leaves, encode them.

All that happens to one game happens in one go: its tree is in the cache then, and threads meet once in a round.
"""

from typing import Any

import numpy as np

from ..game.state import Games, legality_map
from ..intrinsics import take
from ..kernel import index, inlined_kernel, kernel, parallel_kernel, prange
from ..model.features import APART, NONE, encode_game
from .arrays import COLLISION, IDLE, NEW, Answers, Leaves, Options, Trees
from .gumbel import leaves_at_once, wanted_visits
from .tree import counted, descend, make_room, receive, settle

_TAKEN_AT_ONCE = 8  # games that a thread takes: some 30 µs of work
_SETTLED_AT_ONCE = 256  # descents into finished games before the caller may look at its clock


@kernel
def plan_rows(trees: Trees, each: int, targets: Any, options: Options, schedule: Any, first: Any) -> int:
    """Say where the network is asked about each game: from row `first[g]` on, `first` being [games + 1] int32.

    A game has as many rows as its next round may need, up to `each`; answers that are still out cannot change that.
    Returns the number of rows.
    """
    total = 0
    for g in range(len(targets)):
        first[g] = total
        root = trees.nodes[g, 0]
        if trees.node_count[g] == 0:
            total += 1  # the root itself
        elif not root.terminal and root.visits < targets[g]:
            most = min(index(each), index(targets[g] - root.visits))
            total += leaves_at_once(trees, index(g), schedule, most) if options.gumbel else most
    first[len(targets)] = total
    return total


@kernel
def _receive_game(trees: Trees, g: int, leaves: Leaves, each: int, answers: Answers, options: Options) -> None:
    """Take the network's answers for the slots of game `g`."""
    width = int(np.sqrt(answers.policy.shape[1] - 1))
    for slot in range(g * each, (g + 1) * each):
        if leaves.status[slot] == NEW:
            r = leaves.row[slot]
            receive(trees, g, leaves, slot, answers.policy[r], answers.value[r], answers.score[r], width, options)


@kernel
def _select_game(
    trees: Trees,
    g: int,
    roots: Games,
    ends: Games,
    own: int,
    leaves: Leaves,
    each: int,
    first: int,
    rows: int,
    target: int,
    options: Options,
    schedule: Any,
    work: Any,
    kind: int,
) -> int:
    """Fill up to `rows` of the `each` slots of game `g` with leaves to evaluate, until its root has `target` visits.

    When a descent meets another one's leaf, that one's answer is what the search wants to know next: no more now. The
    same in a race, when the next descent is of another round than those whose answers are out.
    own: the calling thread's game of `ends`. first: the row of the first leaf. Returns how many descents ended in
    finished games.
    """
    slot = g * each
    for i in range(slot, slot + each):
        leaves.status[i] = IDLE
    make_room(trees, g, each)
    last = slot + rows
    settled = ended = 0
    waiting = index(-1)  # what `wanted_visits` said of the descents whose answers are out
    while slot < last and settled < _SETTLED_AT_ONCE:
        fresh = trees.node_count[g] == 0  # the first descent evaluates the root itself
        if not fresh and (trees.nodes[g, 0].terminal or trees.nodes[g, 0].visits >= target):
            break
        if options.gumbel and not fresh:
            wanted = wanted_visits(trees, g, schedule)
            if slot > g * each and (wanted < 0 or wanted != waiting):
                break
            waiting = wanted
        place = own if _encodes(kind) else slot
        descend(trees, g, roots, ends, place, leaves, slot, options, schedule, work[g])
        status = leaves.status[slot]
        if status == NEW:
            leaves.by_passing[slot] = counted(ends, place, leaves, slot) if ends.info[place].passes == 1 else np.nan
            if kind != APART:
                legality_map(ends, place, ends.info[place].to_move, leaves.reasons[slot])
            row = first + slot - g * each
            leaves.row[slot] = row
            leaves.asked_size[row] = leaves.size[slot]
            if _encodes(kind):
                encode_game(ends, place, kind, leaves.reasons[slot], leaves.planes[row])
            slot += 1
        else:
            settle(trees, g, ends, place, leaves, slot, options)
            leaves.status[slot] = IDLE
            settled += 1
            ended += status != COLLISION
        if fresh or status == COLLISION:
            break
    return ended


@inlined_kernel
def _encodes(kind: int) -> bool:
    """Whether leaves are encoded on the spot: then no one needs their positions, and each thread keeps one at hand."""
    return kind != NONE and kind != APART


@parallel_kernel
def play_round(
    trees: Trees,
    roots: Games,
    ends: Games,
    leaves: Leaves,
    each: int,
    first: Any,
    answers: Answers,
    targets: Any,
    options: Options,
    schedule: Any,
    work: Any,
    kind: int,
    ended: Any,
    next_game: Any,
    threads: int,
) -> None:
    """For every game: take its answers, if there are any, and go down to its next leaves.

    Threads take a few games at a time, as they get through: one that is held up by something else holds up no other.

    first: [games + 1] int32, see `plan_rows`. targets: [games], the visits that roots shall have. kind: of the
    planes that leaves get; NONE for their legality only, APART for neither: they are encoded elsewhere.
    ended: [games], how many descents have ended in finished games. next_game: [1] int64, scratch.
    threads: how many there are to share the work.
    """
    next_game[0] = 0
    for thread in prange(threads):
        own = index(thread)
        while True:
            taken = take(next_game, _TAKEN_AT_ONCE)
            if taken >= len(targets):
                break
            for game in range(taken, min(taken + _TAKEN_AT_ONCE, len(targets))):
                if len(answers.value):
                    _receive_game(trees, game, leaves, each, answers, options)
                start, rows = index(first[game]), index(first[game + 1] - first[game])
                ended[game] = _select_game(
                    trees, game, roots, ends, own, leaves, each, start, rows, targets[game], options, schedule, work,
                    kind,
                )  # fmt: skip


@parallel_kernel
def receive_all(trees: Trees, leaves: Leaves, each: int, answers: Answers, options: Options) -> None:
    """Take all answers, and go down no further."""
    for g in prange(len(trees.node_count)):
        _receive_game(trees, index(g), leaves, each, answers, options)
