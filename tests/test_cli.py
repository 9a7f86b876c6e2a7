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


def test_a_gtp_engine_says_hello_before_pytorch_is_loaded() -> None:
    code = (
        "import sys\nfrom mini_alphago import cli\nfrom mini_alphago.engine.late import LateEvaluator\n"
        "LateEvaluator.start = lambda self: None\ncli.main(['gtp'])\nprint('torch' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], input="name\nboardsize 5\n", capture_output=True, text=True)
    assert output.stdout == "= mini-alphago\n\n=\n\nFalse\n"


def test_a_gtp_engine_ends_well_though_nobody_closes_its_input() -> None:
    command = [sys.executable, "-m", "mini_alphago", "gtp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"quit\n")
        process.stdin.flush()
        assert process.wait(timeout=120) == 0


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
    lines = [line for line in result.stderr.splitlines() if "compiling, once" not in line]
    assert len(lines) == 1


@pytest.mark.parametrize("move", ["-1", "2"])
def test_a_move_that_is_not_there_is_refused(tmp_path: Path, move: str) -> None:
    (tmp_path / "game.sgf").write_text("(;SZ[5];B[cc])")
    result = run("show", str(tmp_path / "game.sgf"), f"--move={move}")
    assert result.returncode == 1
    assert f"there is no move {move}: the game has moves 0, before the first, to 1" in result.stderr


def test_an_unknown_verb_is_refused() -> None:
    result = run("frobnicate")
    assert result.returncode != 0
    assert "show" in result.stderr


def test_models_lists_sizes() -> None:
    shown = run("models", "b6c96")
    assert "1,005,636" in shown.stdout
    assert "0.158" in shown.stdout
    assert "b6c96 (6 blocks of 96 channels)" in run("models", "huge").stderr


def test_export_writes_onnx_that_onnxruntime_reads(tmp_path: Path) -> None:
    """Any batch, the same answers as the network itself."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    import torch

    from mini_alphago.model import KataGoNetwork, save_checkpoint

    network = KataGoNetwork(2, 16).eval()
    save_checkpoint(tmp_path / "net.safetensors", network)
    result = run(
        "export", "--model", f"{tmp_path}/net.safetensors", "--onnx", f"{tmp_path}/net.onnx", "--board-size", "7"
    )
    assert result.returncode == 0, result.stderr
    assert "planes → policy, value, score, ownership" in result.stdout
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    for batch in (1, 3, 8):
        planes = torch.randn(batch, 22, 7, 7)
        with torch.inference_mode():
            expected = network.outputs(planes)
        for ours, theirs in zip(expected, session.run(None, {"planes": planes.numpy()}), strict=True):
            torch.testing.assert_close(torch.from_numpy(theirs), ours, rtol=1e-4, atol=1e-4)


def test_export_refuses_a_board_that_does_not_fit(tmp_path: Path) -> None:
    from mini_alphago.model import create_network, save_checkpoint

    save_checkpoint(tmp_path / "net.safetensors", create_network(9))
    result = run(
        "export", "--model", f"{tmp_path}/net.safetensors", "--onnx", f"{tmp_path}/x.onnx", "--board-size", "13"
    )
    assert result.returncode == 1
    assert "for 9×9 boards only" in result.stderr
    assert not (tmp_path / "x.onnx").exists()


def test_export_writes_what_katago_reads(tmp_path: Path) -> None:
    from mini_alphago.model import build_network, katago_config, load_network, save_checkpoint

    save_checkpoint(tmp_path / "net.safetensors", build_network(katago_config(2, 16, encoding="katago-v7")))
    result = run("export", "--model", f"{tmp_path}/net.safetensors", "--katago", f"{tmp_path}/net.bin.gz")
    assert result.returncode == 0, result.stderr
    assert load_network(tmp_path / "net.bin.gz").config.size == "b2c16"
    refused = run("export", "--model", "shipped", "--katago", f"{tmp_path}/other.bin.gz")
    assert "train with --network.encoding katago-v7" in refused.stderr
    assert "name a file with --onnx or --katago" in run("export", "--model", "shipped").stderr


def test_average_writes_the_mean_of_the_newest_networks(tmp_path: Path) -> None:
    from mini_alphago.model import KataGoNetwork, load_network, save_checkpoint

    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    networks = [KataGoNetwork(1, 8) for _ in range(3)]
    for i, network in enumerate(networks):
        save_checkpoint(tmp_path / "run" / "checkpoints" / f"{i:06d}.safetensors", network)
    arguments = ["average", str(tmp_path / "run"), "--to", f"{tmp_path}/mean.safetensors"]
    result = run(*arguments, "--last", "2", "--half")
    assert result.returncode == 0, result.stderr
    assert "the mean of 2 networks, b1c8" in result.stdout
    first, last = (network.state_dict()["value_head.fc2.weight"] for network in networks[1:])
    mean = load_network(tmp_path / "mean.safetensors").state_dict()["value_head.fc2.weight"]
    assert (mean - (first + last) / 2).abs().max() < 1e-3
    assert "--last is 0" in run(*arguments, "--last", "0").stderr
    other = run("average", str(tmp_path / "run"), "shipped", *arguments[2:], "--shares", "2", "1")
    assert "blocks is 1 and 10" in other.stderr
    assert "name the networks" in run("average", "--to", "x.safetensors").stderr
    assert "let its name end in .safetensors" in run(*arguments[:2], "--to", "mean.pt").stderr


def test_analyze_shows_the_best_moves(tmp_path: Path) -> None:
    from mini_alphago.model import create_network, save_checkpoint

    game, model = tmp_path / "game.sgf", tmp_path / "net.safetensors"
    game.write_text("(;SZ[5]KM[0.5];B[cc];W[cd])")
    save_checkpoint(model, create_network(5))
    arguments = ["analyze", str(game), "--model", str(model), "--visits", "40", "--device", "cpu"]
    shown = run(*arguments, "--precision", "f32")
    assert shown.returncode == 0, shown.stderr
    assert "winrate" in shown.stdout
    assert "Black (X) to play, move 3" in shown.stdout
    assert "auto, f32, bf16 or f16" in run(*arguments, "--precision", "f8").stderr
    assert "at least 1" in run(*arguments, "--visits", "0").stderr
    game.write_text("(;SZ[7];B[cc])")
    assert "for boards of 5×5, not 7×7" in run(*arguments).stderr
