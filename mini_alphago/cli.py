"""The command `mini-alphago`. Each verb imports what it needs when it runs, so that help and version come at once."""

import sys
from typing import Annotated

import tyro
from tyro.conf import Positional, arg

from .version import __version__


def show(
    path: Annotated[Positional[str], arg(metavar="GAME.sgf", help="The game record.")],
    move: Annotated[int | None, arg(metavar="N", help="Stop after this move (default: the last).")] = None,
) -> None:
    """Show a game record: who played, the board after a move, and its score as it stands.

    Example: mini-alphago show game.sgf --move 30
    """
    from .game import read_sgf

    if move is not None and move < 0:
        raise ValueError(f"--move {move}: count moves from 0")
    game = read_sgf(path)
    board = game.board(move)
    players = " – ".join(filter(None, (_who(game.black_name, game.black_rank), _who(game.white_name, game.white_rank))))
    for line in (players, game.date, f"{len(game.moves)} moves", game.result and f"Result: {game.result}"):
        if line:
            print(line)
    print(board)
    points = board.score()
    leader = "Nobody" if points == 0 else "Black" if points > 0 else "White"
    print(f"{leader} is ahead by {abs(points):g} ({game.rules.scoring} scoring, every stone counted as alive).")


def _who(name: str, rank: str) -> str:
    return f"{name} ({rank})" if name and rank else name


VERBS = {"show": show}


def main(arguments: list[str] | None = None) -> None:
    """Run the command with these arguments, by default the program's own. Ends the process on errors."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments in (["--version"], ["-V"]):
        print(f"mini-alphago {__version__}")
        return
    try:
        tyro.extras.subcommand_cli_from_dict(
            VERBS,
            prog="mini-alphago",
            description="AlphaGo Zero on your desk, all in Python. `mini-alphago VERB --help` explains each verb; "
            "`--version` says which this is.",
            args=arguments,
        )
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except (ValueError, OSError) as error:
        sys.exit(f"mini-alphago: {_sentence(error)}")


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)
