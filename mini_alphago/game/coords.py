"""Every way to name a point, and how to get from one to another.

On a 9×9 board:

    where            (x, y)    flat    GTP     SGF
    upper left       (0, 0)       0    A9      aa
    upper right      (0, 8)       8    J9      ia
    lower left       (8, 0)      72    A1      ai
    row 3, column 4  (3, 4)      31    E6      ed
    pass             (-1, -1)    81    pass    (empty, or tt up to 19×19)

`x` counts rows from the top and `y` columns from the left, so that `board.board[x, y]` prints as the board looks and
`flat = x * size + y` is the order of every policy and ownership vector. GTP letters skip I; GTP rows count from below.
SGF names the column first.
"""

GTP_COLUMNS = "ABCDEFGHJKLMNOPQRST"
SGF_LETTERS = "abcdefghijklmnopqrs"
PASS = (-1, -1)


def to_flat(x: int, y: int, size: int) -> int:
    """The flat index of a point, or of the pass (-1, -1). Off-board points raise ValueError."""
    if (x, y) == PASS:
        return size * size
    check_on_board(x, y, size)
    return x * size + y


def from_flat(flat: int, size: int) -> tuple[int, int]:
    """(x, y) of a flat index; `size * size` is the pass."""
    if not 0 <= flat <= size * size:
        raise ValueError(f"flat index {flat} is not on a {size}×{size} board: 0 to {size * size}, the last for a pass")
    return PASS if flat == size * size else divmod(flat, size)


def to_gtp(x: int, y: int, size: int) -> str:
    """`D4`, or `pass` for (-1, -1)."""
    if (x, y) == PASS:
        return "pass"
    check_on_board(x, y, size)
    return f"{GTP_COLUMNS[y]}{size - x}"


def from_gtp(text: str, size: int) -> tuple[int, int]:
    """(x, y) of `D4`, `d4` or `pass`."""
    name = text.strip().upper()
    if name == "PASS":
        return PASS
    column, row = GTP_COLUMNS.find(name[:1]), name[1:]
    if name and 0 <= column < size and row.isascii() and row.isdigit() and len(row) <= 2 and 1 <= int(row) <= size:
        return size - int(row), column
    raise ValueError(
        f"{_short(text)} is not a point of a {size}×{size} board: A1 to {to_gtp(0, size - 1, size)}, or pass"
    )


def to_sgf(x: int, y: int, size: int) -> str:
    """`dd`, or the empty string for (-1, -1)."""
    if (x, y) == PASS:
        return ""
    check_on_board(x, y, size)
    return SGF_LETTERS[y] + SGF_LETTERS[x]


def from_sgf(text: str, size: int) -> tuple[int, int]:
    """(x, y) of `dd`; the empty string and `tt` are passes."""
    if text in ("", "tt"):
        return PASS
    if len(text) == 2 and all(0 <= SGF_LETTERS.find(letter) < size for letter in text):
        return SGF_LETTERS.index(text[1]), SGF_LETTERS.index(text[0])
    last = SGF_LETTERS[size - 1]
    raise ValueError(f"{_short(text)} is not a point of a {size}×{size} board: aa to {last}{last}, or empty for a pass")


def star_points(size: int) -> list[tuple[int, int]]:
    """The marked points of a board, in the order in which handicap stones take them; none below 7×7.

    Corners first (lower left, upper right, upper left, lower right), then left, right, lower and upper side, then the
    centre; even boards and 7×7 have corners only.
    """
    if size < 7:
        return []
    near = 2 if size < 13 else 3
    far, middle = size - 1 - near, size // 2
    corners = [(far, near), (near, far), (near, near), (far, far)]
    if size % 2 == 0 or size == 7:
        return corners
    return [*corners, (middle, near), (middle, far), (far, middle), (near, middle), (middle, middle)]


def handicap_points(size: int, stones: int) -> list[tuple[int, int]]:
    """Where `stones` handicap stones go by custom. ValueError if that many do not fit the star points."""
    stars = star_points(size)
    if not 2 <= stones <= len(stars):
        allowed = f"2 to {len(stars)} stones" if stars else "none: name the points yourself"
        raise ValueError(f"no customary place for {stones} handicap stones on {size}×{size}: there is for {allowed}")
    chosen = stars[: stones - stones % 2] if stones > 4 else stars[:stones]
    return [*chosen, stars[-1]] if stones > 4 and stones % 2 else chosen


def check_on_board(x: int, y: int, size: int) -> None:
    """ValueError unless (x, y) is a point of the board."""
    if not (0 <= x < size and 0 <= y < size):
        raise ValueError(f"({x}, {y}) is off the {size}×{size} board: x and y are 0 to {size - 1}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 20 else text[:20] + "…")
