"""Matches: who plays whom, how games end, and what comes back."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from mini_alphago.arena import (
    RESIGN,
    PlayerFault,
    PolicyPlayer,
    RandomPlayer,
    SearchPlayer,
    play_games,
    play_match,
    random_openings,
    settled_score,
)
from mini_alphago.arena import players as players_module
from mini_alphago.game import Board, parse_sgf
from mini_alphago.game.sgf import format_sgf
from mini_alphago.mcts import Search, SearchSettings

from ..mcts.evaluators import Area, Entry, Table, Uniform


class Scripted:
    """Plays the given moves, then passes; an exception among them is raised. Notes whatever it is told."""

    def __init__(self, moves=(), name="scripted"):
        self.name, self.moves = name, list(moves)
        self.asked, self.seen, self.colors = [], {}, {}

    def start(self, boards):
        self.boards = boards
        self.left = [list(self.moves) for _ in boards]

    def restart(self, game, board):
        self.boards[game], self.left[game] = board, list(self.moves)
        self.seen.setdefault(game, []).append("again")

    def choose(self, games):
        self.asked.append(list(games))
        answers = []
        for game in games:
            self.colors.setdefault(game, self.boards[game].current_player)
            move = self.left[game].pop(0) if self.left[game] else self.boards[game].size ** 2
            if move == "fault":
                raise PlayerFault(game, "it fell over")
            answers.append(move)
        return answers

    def played(self, game, move):
        self.seen.setdefault(game, []).append(move)

    def close(self):
        pass


# --- who plays what ---------------------------------------------------------------------------------------------------


def test_every_opening_is_played_with_both_colours():
    openings = random_openings(3, 5, 0.5, moves=4, seed=1)
    result = play_match(RandomPlayer(1, "a"), RandomPlayer(2, "b"), openings)
    assert [(game.black, game.white) for game in result.games] == 3 * [("a", "b"), ("b", "a")]
    for i, game in enumerate(result.games):
        assert game.board.history[:4] == openings[i // 2].history
        assert game.black_side == ("first", "second")[i % 2]
        assert game.moves == game.board.move_count > 4
        assert (game.winner == game.black_side) == (game.score > 0)
    assert all(board.move_count == 4 for board in openings)


def test_both_players_hear_of_every_move_and_games_are_asked_together():
    first, second = Scripted([0, 1]), Scripted([12, 13])
    result = play_match(first, second, [Board(5, 0.5)] * 4)
    assert (
        first.seen
        == second.seen
        == {g: [0, 12, 1, 13, 25, 25] if g % 2 == 0 else [12, 0, 13, 1, 25, 25] for g in range(8)}
    )
    assert first.asked[0] == [0, 2, 4, 6]
    assert second.asked[0] == first.asked[1] == list(range(8))
    assert {game.reason for game in result.games} == {"passes"}
    assert min(result.seconds_per_move) > 0


def test_a_white_opening_move_is_asked_of_white():
    board = Board(5, 0.5)
    board.play(2, 2)
    result = play_match(Scripted([0], "a"), Scripted([24], "b"), [board])
    assert result.games[0].board.history[1] == (4, 4, Board.WHITE)
    assert result.games[1].board.history[1] == (0, 0, Board.WHITE)


def test_a_game_that_ends_makes_room_for_the_next():
    long, short = random_openings(2, 5, 0.5, moves=2, seed=1)
    starts = [(4, long), (7, short), (6, long), (1, short), (2, long)]
    first, second = Scripted([], "a"), Scripted([], "b")
    ended = list(play_games(first, second, starts, at_once=2))
    assert sorted(number for number, _ in ended) == [1, 2, 4, 6, 7]
    for number, game in ended:
        assert game.black == ("b" if number % 2 else "a")
        assert game.board.history[:2] == dict(starts)[number].history
        assert game.turns == (1, 1)
        assert min(game.seconds) > 0
    assert first.seen == second.seen
    heard = [told for slot in first.seen.values() for told in slot]
    assert (heard.count(25), heard.count("again"), len(heard)) == (10, 3, 13)


@pytest.mark.parametrize("make", [RandomPlayer, lambda seed: SearchPlayer("s", Area(), 4, 5, 3, seed=seed)])
def test_players_play_on_in_slots_that_were_used(make):
    starts = list(enumerate(random_openings(7, 5, 0.5, 2, seed=4)))
    ended = dict(play_games(make(1), make(2), starts, at_once=3))
    assert len(ended) == 7
    assert not any(game.is_fault for game in ended.values())  # nobody took a game for the one before it


def test_progress_counts_finished_games():
    told = []
    play_match(RandomPlayer(1), RandomPlayer(2), [Board(4, 0.5)] * 2, progress=lambda *counts: told.append(counts))
    assert told[-1] == (4, 4)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_match_without_games_and_impossible_ones():
    result = play_match(RandomPlayer(1), RandomPlayer(2), [])
    assert (result.games, result.score, result.wins) == ([], 0.5, 0)
    player, over = RandomPlayer(1), Board(5)
    over.pass_move()
    over.pass_move()
    with pytest.raises(ValueError, match="cannot play itself"):
        play_match(player, player, [Board(5)])
    with pytest.raises(ValueError, match="is over already"):
        play_match(player, RandomPlayer(2), [over])


# --- how games end ----------------------------------------------------------------------------------------------------


def test_komi_decides_and_a_draw_is_nobodys():
    for komi, wins, losses, draws in ((0.5, 1, 1, 0), (0, 0, 0, 2)):
        result = play_match(Scripted(), Scripted(), [Board(5, komi)])
        assert (result.wins, result.losses, result.draws, result.score) == (wins, losses, draws, 0.5)
        assert [game.score for game in result.games] == [-komi, -komi]
        assert [game.result for game in result.games] == 2 * ["W+0.5" if komi else "0"]


def test_resigning_an_illegal_move_and_a_fault_lose():
    for move, reason, letter in (
        (RESIGN, "resignation", "R"),
        (0, "fault: b: illegal move A5 (occupied)", "F"),
        (26, "fault: b: there is no move 26", "F"),
        ("fault", "fault: it fell over", "F"),
    ):
        result = play_match(Scripted([0], "a"), Scripted([24, move], "b"), [Board(5, 0.5)])
        assert [game.winner for game in result.games] == ["first", "first"] if move else ["first", "second"]
        assert result.games[0].reason == reason
        assert result.games[0].result == f"B+{letter}"
        assert result.games[0].score is None
        assert result.faults == ([] if move == RESIGN else result.games)


def test_a_fault_ends_one_game_and_the_others_go_on():
    class Fragile(Scripted):
        def choose(self, games):
            if 3 in games:
                raise PlayerFault(3, "no more")
            return super().choose(games)

    result = play_match(Fragile(name="a"), Scripted([0, 24]), [Board(5, 0.5)] * 3)
    assert [game.is_fault for game in result.games] == [False, False, False, True, False, False]
    assert (result.games[3].winner, result.games[3].moves) == ("second", 1)


def test_the_move_limit_ends_a_game():
    result = play_match(RandomPlayer(1), RandomPlayer(2), random_openings(2, 5, 0.5, 2, 1), move_limit=9)
    assert [(game.moves, game.reason) for game in result.games] == 4 * [(9, "move limit")]
    assert all(game.score == game.board.score() for game in result.games)


def test_stones_dead_for_sure_do_not_count():
    board = Board.from_diagram(
        """
        . X . X O
        X X X X O
        O O O O O
        . O X . O
        O O O O .
        """,
        komi=0,
    )
    assert board.score() == (8 + 1) - 15  # as it stands; D2 is nobody's
    assert settled_score(board) == 8 - 17
    unsettled = Board.from_diagram(". . . . .\n. X . O .\n. . . . .\n. . . . .\n. . . . .", komi=0)
    assert settled_score(unsettled) == unsettled.score()


def test_records_can_be_written_and_read():
    result = play_match(Scripted([0, 5], "a"), Scripted([24, RESIGN], "b"), [Board(5, 3.5)])
    for game, record in zip(result.games, result.sgfs(), strict=True):
        again = parse_sgf(format_sgf(record))
        assert again.board() == game.board
        assert (again.black_name, again.white_name, again.result) == (game.black, game.white, game.result)
        assert again.rules.komi == 3.5
        assert game.reason in again.nodes[-1].comment


# --- players ----------------------------------------------------------------------------------------------------------


def test_random_players_are_even():
    result = play_match(RandomPlayer(1, "a"), RandomPlayer(2, "b"), random_openings(60, 5, 0.5, 2, seed=1))
    assert result.faults == []
    assert {game.reason for game in result.games} == {"passes"}
    assert 0.35 < result.score < 0.65  # three standard deviations are 0.14
    assert result.wins + result.losses + result.draws == 120


def test_the_random_player_keeps_its_eyes_and_then_passes():
    board = Board.from_diagram(". X .\nX X X\n. X .", player=Board.BLACK)
    player = RandomPlayer(1)
    player.start([board])
    assert player.choose([0]) == [9]


def test_search_beats_random():
    """Counting the board as it stands sees no life and death, but nine games of ten are enough to tell."""
    search = SearchPlayer("search", Area(), visits=100, size=5, games=20, seed=1)
    result = play_match(search, RandomPlayer(1), random_openings(10, 5, 0.5, 2, seed=1))
    search.close()
    assert result.faults == []
    assert result.wins >= 15  # even players get there once in fifty times


def test_a_search_goes_on_with_its_tree():
    search = SearchPlayer("a", Uniform(), visits=50, size=5, games=2, seed=1)
    search.start([Board(5), Board(5)])
    (move,) = search.choose([0])
    before = search._search.evaluations
    assert search.choose([0]) == [move]  # asked again: no more work
    assert search._search.evaluations == before
    search.played(0, move)
    assert search._search.root_visits(0) > 0
    assert search._search.root_visits(1) == 0  # nobody asked


def test_visits_that_could_not_change_the_move_are_spared():
    boards = random_openings(12, 5, 0.5, moves=8, seed=3)
    player = SearchPlayer("a", Area(), visits=60, size=5, games=12, seed=1)
    whole = Search(Area(), 12, 5, player._search.settings, seed=1)
    player.start(boards)
    for game, board in enumerate(boards):
        whole.set_board(board, game)
    whole.run(60)
    assert player.choose(list(range(12))) == [whole.best_move(game) for game in range(12)]
    made = [player._search.root_visits(game) for game in range(12)]
    assert max(made) <= 60
    assert min(made) < 60
    assert player._search.evaluations < whole.evaluations


@pytest.mark.parametrize("method", ["puct", "gumbel"])
def test_searches_of_either_kind_play_whole_games(method):
    settings = SearchSettings(method=method, nodes=64)
    players = [SearchPlayer(name, Area(), 8, 4, 6, settings, seed=1) for name in "ab"]
    result = play_match(*players, random_openings(3, 4, 0.5, 2, seed=1))
    assert result.faults == []


def test_a_seed_repeats_a_match_and_a_temperature_varies_it():
    def moves(temperature, seed):
        players = [SearchPlayer(name, Area(), 8, 5, 2, None, temperature, seed=seed) for name in "ab"]
        return [game.board.history for game in play_match(*players, [Board(5, 0.5)], move_limit=12).games]

    assert moves(0.0, 1) == moves(0.0, 1)
    assert moves(1.0, 1) == moves(1.0, 1)
    assert moves(1.0, 1) != moves(1.0, 2)


def test_a_search_passes_beyond_its_own_move_limit():
    short = SearchPlayer("short", Area(), 4, 5, 2, SearchSettings(move_limit=6), seed=1)
    result = play_match(short, RandomPlayer(1), [Board(5, 0.5)], move_limit=14)
    assert result.faults == []
    for game in result.games:
        late = game.board.history[6:]
        own = Board.BLACK if game.black == "short" else Board.WHITE
        assert late
        assert all((x, y) == (-1, -1) for x, y, player in late if player == own)


def test_a_search_has_room_for_so_many_games():
    with pytest.raises(ValueError, match="for 2 games at once, not 4"):
        play_match(SearchPlayer("a", Uniform(), 4, 5, 2), RandomPlayer(1), [Board(5), Board(5)])
    with pytest.raises(ValueError, match="has 0 visits"):
        SearchPlayer("a", Uniform(), 0, 5, 2)
    with pytest.raises(ValueError, match="for ever"):
        SearchPlayer("a", Uniform(), None, 5, 2)
    with pytest.raises(ValueError, match="seconds a move: it is a number above 0"):
        SearchPlayer("a", Uniform(), None, 5, 2, seconds=0)
    with pytest.raises(ValueError, match="has to know its visits"):
        SearchPlayer("a", Uniform(), 8, 5, 2, SearchSettings(method="gumbel"), seconds=1)


@pytest.mark.parametrize(("visits", "expected"), [(None, {0: 40, 1: 0, 2: 40, 3: 0}), (15, {0: 15, 1: 0, 2: 15, 3: 0})])
def test_seconds_are_for_each_game_and_the_games_share_them(visits, expected, monkeypatch):
    """A clock that a step of all games takes 0.1 seconds of: two games at two seconds a move get forty steps."""
    clock = (0.1 * tick for tick in itertools.count())
    monkeypatch.setattr(players_module, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    settings = SearchSettings(nodes=200)
    player = SearchPlayer("a", Uniform(), visits, 5, 4, settings, seed=1, seconds=2.0)
    player.start([Board(5)] * 4)
    player.choose([0, 2])
    made = {game: player._search.root_visits(game) for game in range(4)}
    assert made == {game: pytest.approx(count, abs=1.1) for game, count in expected.items()}  # the root takes a step
    assert made[0] == made[2]


def test_few_games_by_the_clock_ask_for_several_leaves_at_once():
    def leaves(games, visits):
        return SearchPlayer("a", Uniform(), visits, 5, games, seconds=1.0)._search.settings.leaves

    assert [leaves(1, None), leaves(2, None), leaves(32, None), leaves(1, 10)] == [8, 4, 1, 1]


def test_the_policy_player_takes_the_best_legal_move():
    table = Table({}, Entry(priors={12: 0.5, 3: 0.3, 25: 0.2}))
    board = Board(5)
    policy = PolicyPlayer("policy", table)
    policy.start([board, board])
    assert policy.choose([0, 1]) == [12, 12]
    policy.played(1, 12)
    assert policy.choose([0, 1]) == [12, 3]
    policy.played(1, 3)
    assert policy.choose([1]) == [25]
    assert policy.choose([]) == []


def test_the_policy_may_be_wider_than_the_board():
    class Wide:
        def evaluate(self, states):
            policy = np.zeros((len(states.info), 82), np.float32)
            policy[:, [1 * 9 + 7, 3 * 9 + 2, 80]] = [9, 5, 8]  # (1, 7) is off a board of 5×5
            return Uniform().evaluate(states)._replace(policy=policy)

    policy = PolicyPlayer("wide", Wide())
    policy.start([Board(5)])
    assert policy.choose([0]) == [3 * 5 + 2]
