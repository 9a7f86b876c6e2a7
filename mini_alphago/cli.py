"""The command `mini-alphago`. Each verb imports what it needs when it runs, so that help and version come at once."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from tyro.conf import Positional, arg

from .cli_networks import average, export, models
from .version import __version__

if TYPE_CHECKING:
    from .model import Evaluator

# Arguments that several verbs have.
Record = Annotated[Positional[str], arg(metavar="GAME.sgf", help="The game record.")]
ModelPath = Annotated[str, arg(metavar="PATH", help="A checkpoint, a training run's folder, or KataGo's net.bin.gz.")]
Device = Annotated[str, arg(metavar="NAME", help="auto, cpu, cuda, cuda:1, … or mps.")]
Precision = Annotated[str, arg(metavar="NAME", help="auto, f32, bf16 or f16.")]
AtOnce = Annotated[int, arg(metavar="N", help="Games at the same time.")]
PlayerVisits = Annotated[int, arg(metavar="N", help="Visits a move of a network without visits or time.")]
BoardSize = Annotated[int, arg(metavar="N", help="Points on a side.")]
Komi = Annotated[float, arg(metavar="K", help="What White gets.")]
Timeout = Annotated[float, arg(metavar="SECONDS", help="What a GTP program has for an answer.")]
Ray = Annotated[tuple[str, ...] | None, arg(metavar="[ADDRESS]", help="Play on a Ray cluster, by default one here.")]


def show(
    path: Record,
    move: Annotated[int | None, arg(metavar="N", help="Stop after this move (default: the last).")] = None,
) -> None:
    """Show a game record: who played, the board after a move, and its score as it stands.

    Example: mini-alphago show game.sgf --move 30
    """
    from .game import read_sgf

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


def pack(
    run: Annotated[Positional[str], arg(metavar="RUN", help="The folder of a training run.")],
    to: Annotated[str | None, arg(metavar="FILE", help="The file to write (default: RUN.tar.gz).")] = None,
    megabytes: Annotated[float, arg(metavar="N", help="How large it may be, about.")] = 40.0,
) -> None:
    """Write a training run as one small file, to go on with it on another machine.

    Networks, the optimizer's memory and as many of the newest games as fit. Unpack it with tar, and train goes on.

    Example: mini-alphago pack runs/gpu --to gpu.tar.gz --megabytes 40
    """
    from .training.pack import pack as write

    print(write(run, to, megabytes).words(megabytes))


def analyze(
    path: Record,
    model: ModelPath = "shipped",
    move: Annotated[int | None, arg(metavar="N", help="The position after this move (default: the last).")] = None,
    visits: Annotated[int, arg(metavar="N", help="How long to search.")] = 200,
    device: Device = "auto",
    precision: Precision = "auto",
) -> None:
    """Search one position of a game record and show the best moves.

    Example: mini-alphago analyze game.sgf --model net.safetensors --move 30 --visits 400
    """
    from rich.console import Console
    from rich.table import Table

    from .game import read_sgf
    from .game.coords import to_gtp
    from .mcts import analyze as search

    board = read_sgf(path).board(move)
    console = Console()
    with console.status("thinking…"):
        result = search(board, _evaluator(model, device, precision), visits)
    print(board)
    table = Table("move", "visits", "winrate", "score", "prior", "variation")
    for best in result.moves[:8]:
        if best.visits:
            line = " ".join(to_gtp(x, y, board.size) for x, y in best.variation[:8])
            numbers = (f"{50 * (best.value + 1):.1f} %", f"{best.score:+.1f}", f"{100 * best.prior:.1f} %")
            table.add_row(to_gtp(*best.move, board.size), str(best.visits), *numbers, line)
    console.print(table)


def gtp(
    model: ModelPath = "shipped",
    visits: Annotated[int | None, arg(metavar="N", help="Visits a move (default: 400 where there is no time).")] = None,
    time: Annotated[float | None, arg(metavar="SECONDS", help="Seconds a move, at most, with a clock too.")] = None,
    rules: Annotated[str, arg(metavar="NAME", help="Rules until the client sets others.")] = "cgos",
    ponder: Annotated[bool, arg(help="Think while the opponent does.")] = False,
    resign_below: Annotated[float | None, arg(metavar="WINRATE", help="Resign below this, as 0.05.")] = None,
    cleanup: Annotated[bool, arg(help="Capture dead stones before passing, as CGOS wants it.")] = False,
    friendly_pass: Annotated[bool, arg(help="Pass when a won game's opponent has passed.")] = False,
    device: Device = "auto",
    precision: Precision = "auto",
) -> None:
    """Speak the Go Text Protocol, for Sabaki, Lizzie, GoGui, CGOS and OGS.

    Example: mini-alphago gtp --model runs/laptop --visits 800
    """
    from .engine import Engine, EngineSettings, serve
    from .engine.late import LateEvaluator
    from .model import read_description

    settings = EngineSettings(
        visits=visits, seconds=time, ponder=ponder, resign_below=resign_below, cleanup=cleanup,
        friendly_pass=friendly_pass,
    )  # fmt: skip
    size = max(read_description(model).board_sizes, default=19)  # a board that the network knows
    late = LateEvaluator(lambda: _evaluator(model, device, precision))
    engine = Engine(late, settings, size)
    engine.new_game(size, rules=rules)
    late.start()  # and not before: it would only slow down what the first answer needs
    serve(engine)


def analysis(
    model: ModelPath = "shipped",
    visits: Annotated[int, arg(metavar="N", help="Visits of a query that does not say.")] = 500,
    device: Device = "auto",
    precision: Precision = "auto",
) -> None:
    """Answer KataGo's JSON analysis queries, one a line, many at once; for KaTrain and Lizzie.

    Example: mini-alphago analysis --model runs/laptop
    """
    from .engine import serve_analysis

    serve_analysis(_evaluator(model, device, precision), visits)


def review(
    path: Record,
    model: ModelPath = "shipped",
    visits: Annotated[int, arg(metavar="N", help="Visits of each position.")] = 200,
    out: Annotated[str | None, arg(metavar="FILE.sgf", help="Where to write it (GAME.review.sgf).")] = None,
    device: Device = "auto",
) -> None:
    """Search every position of a game: an SGF with winrates, better moves and variations, and a picture of the game.

    Example: mini-alphago review game.sgf --model runs/laptop --visits 400
    """
    from pathlib import Path

    from rich.progress import Progress

    from .engine.review import annotate, picture, review_game
    from .files import write_atomically
    from .game import read_sgf, write_sgf

    game = read_sgf(path)
    target = Path(out) if out else Path(path).with_suffix(".review.sgf")
    with Progress(transient=True) as bar:
        task = bar.add_task("positions", total=len(game.moves) + 1)
        evaluator = _evaluator(model, device, "auto")
        result = review_game(game, evaluator, visits, lambda done, _: bar.update(task, completed=done))
    write_sgf(annotate(result), target)
    write_atomically(target.with_suffix(".svg"), picture(result).encode())
    for mistake in result.mistakes()[:5]:
        print(mistake.words(game.size))
    print(f"{target}, {target.with_suffix('.svg')}")


def play(
    model: Annotated[
        str | None,
        arg(metavar="PATH", help="A checkpoint, a training run's folder, or KataGo's net.bin.gz; else shipped."),
    ] = None,
    run: Annotated[str | None, arg(metavar="DIR", help="A training run to watch, and whose networks to play.")] = None,
    visits: Annotated[int, arg(metavar="N", help="Visits a move at full strength.")] = 400,
    host: Annotated[str, arg(metavar="NAME", help="Where to listen; beyond this machine it asks for a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int | None, arg(metavar="N", help="The port (default: 8123, or the next that is free).")] = None,
    browser: Annotated[bool, arg(help="Open the browser.")] = True,
    device: Device = "auto",
    precision: Precision = "auto",
) -> None:
    """Play in the browser: a board, an opponent, its thoughts, and training runs to watch.

    Example: mini-alphago play --model runs/laptop
    """
    from .web.command import play

    play(model, run, visits, host, port, browser, device, precision)


def match(
    players: Annotated[
        Positional[tuple[str, ...]],
        arg(
            metavar="PLAYER",
            help="shipped or PATH[,visits=N][,time=S][,c_puct=X …], PATH,level=NAME, policy:PATH, random, gnugo:LEVEL "
            "or 'gtp:COMMAND LINE'.",
        ),
    ],
    results: Annotated[str, arg(metavar="DIR", help="Where games are kept; a match there goes on.")] = "match",
    games: Annotated[int, arg(metavar="N", help="Games of each two players.")] = 100,
    at_once: AtOnce = 32,
    visits: PlayerVisits = 100,
    board_size: BoardSize = 9,
    komi: Komi = 7.0,
    rules: Annotated[str, arg(metavar="NAME", help="The rule set.")] = "cgos",
    opening_moves: Annotated[int, arg(metavar="N", help="Random moves before each pair of games.")] = 2,
    judge: Annotated[str, arg(metavar="PATH", help="A network, or shipped: it leaves out decided openings.")] = "",
    seed: Annotated[int, arg(metavar="N", help="Of openings and players.")] = 1,
    sprt: Annotated[
        tuple[float, float] | None, arg(metavar="ELO0 ELO1", help="Of two players: stop when one of them is clear.")
    ] = None,
    timeout: Timeout = 60.0,
    device: Device = "auto",
    ray: Ray = None,
) -> None:
    """Let players meet, every opening twice with colours swapped, and rate them.

    Example: mini-alphago match runs/laptop gnugo:1 random --games 40 --visits 100
    """
    from .arena.command import play
    from .arena.tournament import MatchSettings
    from .cluster.match import games_on

    opening = (board_size, komi, rules, opening_moves, seed)
    settings = MatchSettings(games, at_once, visits, *opening, device, timeout, judge)
    with games_on(ray, settings) as plays:
        play(list(players), settings, results, sprt, plays)


def ladder(
    model: Annotated[
        Positional[str], arg(metavar="MODEL", help="shipped or PATH[,visits=N][,time=S], or PATH,level=NAME.")
    ],
    others: Annotated[Positional[tuple[str, ...]], arg(metavar="PLAYER", help="More opponents, as for match.")] = (),
    results: Annotated[str, arg(metavar="DIR", help="Where games are kept; a ladder there goes on.")] = "ladder",
    games: Annotated[int, arg(metavar="N", help="Games against each opponent.")] = 40,
    run_checkpoints: Annotated[int, arg(metavar="K", help="Earlier networks, if MODEL is the folder of a run.")] = 3,
    at_once: AtOnce = 32,
    visits: PlayerVisits = 100,
    board_size: BoardSize = 9,
    komi: Komi = 7.0,
    timeout: Timeout = 60.0,
    device: Device = "auto",
    ray: Ray = None,
) -> None:
    """Rate a network against a fixed set: random, no search, GNU Go level 1 and 10, earlier networks, others given.

    Example: mini-alphago ladder runs/laptop --games 40 --visits 100
    """
    from .arena.command import climb
    from .arena.tournament import MatchSettings
    from .cluster.match import games_on

    settings = MatchSettings(games, at_once, visits, board_size, komi, device=device, timeout=timeout)
    with games_on(ray, settings) as plays:
        climb(model, list(others), run_checkpoints, settings, results, plays)


def _evaluator(model: str, device: str, precision: str) -> "Evaluator":
    from .model import Evaluator, load_network

    return Evaluator(load_network(model), device, precision)


def train() -> None:
    """Train a network from nothing by self-play, or go on with a run; everything about it can be set.

    Example: mini-alphago train --preset tiny --run runs/first
    """


def speedrun(
    run: Annotated[str | None, arg(metavar="DIR", help="A new folder for the run (runs/speedrun).")] = None,
    preset: Annotated[str | None, arg(metavar="NAME", help="tiny, laptop or gpu (one for this machine).")] = None,
    minutes: Annotated[float | None, arg(metavar="M", help="How long to train (as the preset says).")] = None,
    games: Annotated[int, arg(metavar="N", help="Games against each opponent at the end.")] = 40,
    visits: PlayerVisits = 100,
) -> None:
    """Train from nothing against the clock, then climb the ladder: random, GNU Go, the networks on the way.

    Example: mini-alphago speedrun --minutes 15
    """
    from .training.command import speedrun

    speedrun(run, preset, minutes, games, visits)


def _train_verb(arguments: list[str]) -> Callable[..., Any]:
    """`train` with its settings: their defaults depend on the preset or the run that the arguments name."""
    from .cluster.train import train_on_cluster
    from .training.command import train_verb

    return train_verb(arguments, train.__doc__ or "", train_on_cluster)


VERBS: dict[str, Callable[..., Any]] = {
    "play": play, "train": train, "gtp": gtp, "analysis": analysis, "review": review, "match": match, "ladder": ladder,
    "speedrun": speedrun, "show": show, "analyze": analyze, "models": models, "average": average,
    "export": export, "pack": pack,
}  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Run the command with these arguments, by default the program's own. Ends the process on errors."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments in (["--version"], ["-V"]):
        print(f"mini-alphago {__version__}")
        return
    try:
        verbs = dict(VERBS)
        if arguments[:1] == ["train"]:  # not before: it takes NumPy, Numba and torch
            verbs["train"] = _train_verb(arguments[1:])
        tyro.extras.subcommand_cli_from_dict(
            verbs,
            prog="mini-alphago",
            description="AlphaGo Zero on your desk, all in Python. `mini-alphago VERB --help` explains each verb; "
            "`--version` says which this is.",
            args=arguments,
        )
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except (ValueError, OSError, FloatingPointError) as error:
        sys.exit(f"mini-alphago: {_sentence(error)}")


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)
