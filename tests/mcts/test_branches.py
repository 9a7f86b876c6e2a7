"""The top of a search tree for people, against a tree worked out by hand."""

from mini_alphago.game import BLACK, WHITE, Board
from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.mcts.branches import branches

from .evaluators import Entry, Hashed, Table


def test_six_simulations_by_hand():
    """The tree of `test_golden.test_six_simulations_by_hand`, as far as it is shown."""
    table = Table(
        {
            "X. .O X": Entry(0.0, {1: 0.5, 2: 0.3, 4: 0.2}),
            "XX .O O": Entry(0.5),
            "X. XO O": Entry(-0.25, {1: 0.75, 4: 0.25}),
            ".O .O X": Entry(-0.5),
            "X. .O O": Entry(0.0, {1: 0.3, 2: 0.1, 4: 0.6}),
        }
    )
    search = Search(table, 1, 2, SearchSettings(c_puct=1.0))
    search.set_board(Board.from_diagram("X.\n.O", komi=0.5))
    assert branches(search) == []  # nothing was searched
    search.run(6)

    def shown(found):
        return [(b.move, b.player, b.visits, round(b.prior, 3), round(b.value, 4), shown(b.children)) for b in found]

    replies = [((0, 0), BLACK, 1, 0.333, 0.0, []), ((1, 0), BLACK, 1, 0.333, 0.0, [])]
    assert shown(branches(search)) == [
        ((1, 0), BLACK, 4, 0.3, -0.0625, [((0, 1), WHITE, 3, 0.75, 0.1667, replies)]),
        ((0, 1), BLACK, 1, 0.5, -0.5, []),
        ((-1, -1), BLACK, 1, 0.2, -1.0, []),
    ]
    assert shown(branches(search, depth=1, width=2)) == [
        ((1, 0), BLACK, 4, 0.3, -0.0625, []),
        ((0, 1), BLACK, 1, 0.5, -0.5, []),
    ]


def test_it_agrees_with_the_moves_of_the_root():
    search = Search(Hashed(), 2, 5, SearchSettings(leaves=4))
    search.set_board(Board(5), 1)
    search.run([0, 200])
    best = search.root_moves(1)[:5]
    found = branches(search, 1)
    assert [(b.move, b.visits, b.prior) for b in found] == [(m.move, m.visits, m.prior) for m in best]
    for branch in found:
        assert sum(child.visits for child in branch.children) < branch.visits
        assert len(branch.children) <= 5
        for child in branch.children:
            assert child.visits > 0
            assert all(not grandchild.children for grandchild in child.children)
