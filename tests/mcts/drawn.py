"""Positions drawn once and searched for both colours."""

from mini_alphago.game import Board


def swapped(diagram):
    """The drawing with the colours exchanged."""
    return diagram.translate(str.maketrans("XO", "OX"))


def drawn(diagram, player, komi=0.0, opponent_passed=False):
    """The board as drawn, X being `player`, who is to move; `komi` is what the other side gets."""
    if player == Board.WHITE:
        diagram, komi = swapped(diagram), -komi
    board = Board.from_diagram(diagram, komi=komi, player=3 - player if opponent_passed else player)
    if opponent_passed:
        board.pass_move()
    assert board.current_player == player
    return board
