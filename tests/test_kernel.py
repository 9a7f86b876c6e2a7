"""The cache of compiled code: it lasts, it follows the sources, and it never needs the package directory."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import mini_alphago

PACKAGE = Path(mini_alphago.__file__).parent
PLAY = "from mini_alphago.game import Board; board = Board(5); print(board.play(2, 2))"
HITS = "; from mini_alphago.game import state; print(sum(state.try_play.stats.cache_hits.values()))"


def run(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_compiles_once(tmp_path: Path) -> None:
    first = run(PLAY + HITS, MINI_ALPHAGO_CACHE=str(tmp_path))
    second = run(PLAY + HITS, MINI_ALPHAGO_CACHE=str(tmp_path))
    assert first == "True\n0\n"
    assert second == "True\n1\n"
    assert not list(PACKAGE.rglob("*.nbi")), "compiled code was written into the package"


def test_the_folder_follows_all_that_may_be_compiled(tmp_path: Path) -> None:
    """Not only kernels: also what Numba is taught beside them."""
    copy = tmp_path / "copy" / "mini_alphago"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("static", "networks", "__pycache__"))
    taught = copy / "taught.py"
    code = f"import sys; sys.path.insert(0, {str(copy.parent)!r}); "
    code += "from mini_alphago.kernel import cache_directory; print(cache_directory())"
    folders = []
    for text in ("import json", "import json  # another", "from numba import types", "from numba import extending"):
        taught.write_text(text)
        folders.append(run(code, MINI_ALPHAGO_CACHE=str(tmp_path / "cache")))
    assert folders[0] == folders[1]
    assert len(set(folders)) == 3


def test_says_that_it_compiles_but_only_when_it_does(tmp_path: Path) -> None:
    environment = {**os.environ, "MINI_ALPHAGO_CACHE": str(tmp_path)}
    at_once = "from mini_alphago import kernel; kernel._PATIENCE = 0.0; "  # on a fast machine it is soon over
    command = [sys.executable, "-c", at_once + PLAY]
    first, second = (subprocess.run(command, env=environment, capture_output=True, text=True) for _ in range(2))
    assert "mini-alphago: compiling, once for this machine" in first.stderr
    assert second.stderr == ""


def test_works_when_the_cache_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the cache folder should be")
    assert run(PLAY, MINI_ALPHAGO_CACHE=str(tmp_path / "file" / "cache")) == "True\n"


def test_other_users_of_numba_keep_their_cache_setting() -> None:
    setting = "numba.config.CACHE_DIR"
    assert run(f"import numba; before = {setting}; import mini_alphago.game; print({setting} == before)") == "True\n"
