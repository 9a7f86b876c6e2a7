"""Game records between SGF and the page: a start, and a list of nodes."""

from typing import Any

from ..engine.kata import rules_json
from ..game import BLACK, Board, Rules, SgfError, SgfGame, SgfMove, format_sgf, parse_sgf
from ..game.rules import RULE_SETS
from .protocol import MOST_NODES, AskWriteSgf, BadRequest
from .views import letter, vertex

_INFO = {"black": "black_name", "white": "white_name", "date": "date", "result": "result", "event": "event"}


def read_record(text: str) -> dict[str, Any]:
    """An SGF as the page reads it: `game`, `info` and `nodes`, variations and all. BadRequest if it cannot be."""
    if text.count(";") > MOST_NODES:
        raise BadRequest(f"the record is too large: up to {MOST_NODES} moves can be shown")
    try:
        game = parse_sgf(text, variations=True)
    except SgfError as error:
        raise BadRequest(str(error)) from None
    first = _first_move(game)
    board = _start(game, first)
    root = SgfMove(comment="\n".join(node.comment for node in game.nodes[:first] if node.comment))
    root.variations = game.nodes[first - 1].variations if first else []
    info = {name: getattr(game, field) for name, field in _INFO.items()}
    return {"game": start_view(board), "info": info, "nodes": _list_nodes([root, *game.nodes[first:]], game.size)}


def _first_move(game: SgfGame) -> int:
    """Where in the main line play begins; what is before it sets the board up."""
    first = next((i for i, node in enumerate(game.nodes) if node.move), len(game.nodes))
    for i, node in enumerate(game.nodes):
        if i > first and (node.black or node.white or node.empty):
            raise BadRequest(f"node {i} of the record sets up stones in the middle of the game, which cannot be shown")
    if first < len(game.nodes) and (game.nodes[first].black or game.nodes[first].white):
        raise BadRequest(f"node {first} of the record has both a move and a setup")
    return first


def _start(game: SgfGame, first: int) -> Board:
    before = SgfGame(size=game.size, rules=game.rules, handicap=game.handicap, nodes=game.nodes[:first])
    board = before.board()
    if first < len(game.nodes) and (move := game.nodes[first].move):
        board.current_player = move[2]
    return board


def start_view(board: Board) -> dict[str, Any]:
    """A board before the first move, as queries name it."""
    size = board.size
    stones = [
        [letter(int(board.board[x, y])), vertex((x, y), size)]
        for x in range(size)
        for y in range(size)
        if board.board[x, y]
    ]
    view: dict[str, Any] = {
        "boardXSize": size, "boardYSize": size, "komi": board.komi, "rules": _rules_view(board.rules),
        "initialStones": stones, "moves": [],
    }  # fmt: skip
    if stones or board.current_player != BLACK:
        view["initialPlayer"] = letter(board.current_player)
    return view


def _rules_view(rules: Rules) -> Any:
    for name, known in RULE_SETS.items():
        if known.with_komi(rules.komi) == rules:
            return name
    return rules_json(rules)


def _list_nodes(line: list[SgfMove], size: int) -> list[dict[str, Any]]:
    """The main line, then everything that branches off it: parents first, and the first child on the main line."""
    nodes: list[dict[str, Any]] = []
    to_list: list[tuple[str | None, list[SgfMove]]] = [(None, line)]
    while to_list:
        parent, moves = to_list.pop()
        branching = []
        for node in moves:
            move = None if node.move is None else [letter(node.move[2]), vertex(node.move[:2], size)]
            id = str(len(nodes))
            nodes.append({"id": id, "parent": parent, "move": move, "comment": node.comment})
            branching += [(id, variation) for variation in node.variations]
            parent = id
        to_list += reversed(branching)
    return nodes


def write_record(request: AskWriteSgf) -> str:
    """The SGF of a record. BadRequest if its main line is no game."""
    moves = {
        node.id: SgfMove(move=None if node.move is None else (*node.move[1], node.move[0]), comment=node.comment)
        for node in request.nodes
    }
    lines: dict[str, list[SgfMove]] = {}  # the line that ends with a node, as long as it has no child
    main = [moves[request.nodes[0].id]]
    lines[request.nodes[0].id] = main
    for node in request.nodes[1:]:
        assert node.parent is not None
        line = lines.pop(node.parent, None)
        if line is None:  # the parent has a child already
            line = []
            moves[node.parent].variations.append(line)
        line.append(moves[node.id])
        lines[node.id] = line
    start = request.game.start
    record = SgfGame.from_board(start, **{_INFO[name]: text for name, text in request.info.items()})
    root = record.nodes[0]
    root.comment, root.variations = main[0].comment, main[0].variations
    record.nodes = [root, *(main if main[0].move else main[1:])]
    try:
        record.board()
        return format_sgf(record)
    except ValueError as error:
        raise BadRequest(str(error)) from None
