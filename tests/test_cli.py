"""The command, run as a person runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mini_alphago import __version__


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mini_alphago", *arguments], capture_output=True, text=True, timeout=120
    )


def test_version() -> None:
    assert run("--version").stdout == f"mini-alphago {__version__}\n"


def test_the_installed_command_is_the_same() -> None:
    command = Path(sys.executable).parent / "mini-alphago"
    if not command.exists():
        pytest.skip("the package is not installed beside this Python")
    assert subprocess.run([command, "--version"], capture_output=True, text=True).stdout == run("--version").stdout


@pytest.mark.parametrize("arguments", [["--help"], ["show", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom mini_alphago.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print('heavy:', [name for name in ('torch', 'numba', 'numpy') if name in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True).stdout
    assert output.endswith("heavy: []\n")


def test_show(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[5]KM[0.5]PB[Ann]BR[3k]PW[Bo]RE[B+R];B[cc];W[cd];B[aa])")
    shown = run("show", str(path), "--move", "1")
    assert shown.returncode == 0
    assert "Ann (3k) – Bo" in shown.stdout
    assert "Result: B+R" in shown.stdout
    assert re.search(r"^ 3 \. \.\(X\)\. \. 3$", shown.stdout, re.MULTILINE)
    assert "Black is ahead by 24.5" in shown.stdout


@pytest.mark.parametrize(
    ("content", "message"), [("(;SZ[5];B[zz])", "node 1, B"), ("nonsense", "no SGF data"), (None, "No such file")]
)
def test_errors_are_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "game.sgf"
    if content is not None:
        path.write_text(content)
    result = run("show", str(path))
    assert result.returncode == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_negative_move_is_refused(tmp_path: Path) -> None:
    assert "count moves from 0" in run("show", str(tmp_path / "x.sgf"), "--move=-1").stderr


def test_an_unknown_verb_is_refused() -> None:
    result = run("frobnicate")
    assert result.returncode != 0
    assert "show" in result.stderr
