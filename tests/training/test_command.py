"""`mini-alphago train` and `main.py`, as a person uses them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mini_alphago.cli import main
from mini_alphago.model import load_checkpoint
from mini_alphago.training import PRESETS

ROOT = Path(__file__).parents[2]
SMALL = [
    "--network.size", "b1c8", "--self-play.games", "4", "--games-per-iteration", "4", "--self-play.simulations", "2",
    "--learning.batch-size", "16", "--measure.every", "0", "--threads", "1", "--device", "cpu",
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(plain_torch: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says when it ends with an error."""
    with pytest.raises(SystemExit) as caught:
        main(["train", *arguments])
    assert caught.value.code not in (0, None)
    return str(caught.value.code) + "".join(capsys.readouterr())


def metrics_of(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_help_lists_presets_and_settings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["train", "--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in PRESETS)
    for option in ("--run", "--init", "--iterations", "--minutes", "--network.size", "--self-play.simulations"):
        assert option in shown
    words = " ".join(shown.replace("│", " ").split())
    assert "Simulations of a full search, whose policy is learned; with Gumbel fewer" in words
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "huge"], "unknown preset 'huge': known are tutorial, laptop, gpu, tiny"),
        (["--preset", "tiny", "--frobnicate", "3"], "--frobnicate"),
        (["--preset", "tiny", "--self-play.games", "0"], "games is 0"),
        (["--preset", "tiny", "--network.size", "huge"], "b6c96"),
        (["--preset", "tiny", "--measure.opponents", "god"], "no opponent 'god'"),
        (["--preset", "tiny", "--self-play.method", "guess"], "guess"),
        (["--preset", "tutorial", "--self-play.komi-spread", "2"], "komi_spread needs a network that sees komi"),
    ],
)
def test_what_cannot_be_is_refused_before_there_is_a_folder(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shown = refused([*arguments, "--run", "here"], capsys)
    assert message in " ".join(shown.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_a_device_that_is_not_here_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    shown = refused(["--preset", "tiny", "--run", "here", "--device", "cuda:99"], capsys)
    assert "mini-alphago: there is no device 'cuda:99' here" in shown


def test_a_run_and_more_of_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A line for each iteration, and at the end how to have more; what is given then is all that changes."""
    main(["train", "--preset", "tiny", "--run", "first", "--iterations", "2", *SMALL])
    begun, one, two, done = capsys.readouterr().out.splitlines()
    assert begun == "Training in first: 5×5, b1c8, 4 games at once, 2 simulations (gumbel)"
    assert one.startswith("iteration 1/2 ")
    assert two.startswith("iteration 2/2 ")
    assert "games" in two
    assert "loss" in two
    assert done == (
        "Done: 2 iterations. Play it: mini-alphago play --model first. The report: first/report.html. "
        "For more: mini-alphago train --run first --iterations 4"
    )
    main(["train", "--run", "first", "--iterations", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Training in first, resumed after iteration 2: 5×5, b1c8, 4 games at once")
    assert [line.split()[1] for line in lines[1:-1]] == ["3/3"]
    assert len(metrics_of(tmp_path / "first")) == 3
    assert 'size = "b1c8"' in (tmp_path / "first/config.toml").read_text()


def test_a_name_with_an_underscore_is_that_name(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "--preset", "tiny", "--run", "my_run", "--iterations", "1", *SMALL])
    main(["train", "--run=my_run", "--iterations=2"])
    assert "Training in my_run, resumed after iteration 1: 5×5, b1c8" in capsys.readouterr().out


def test_a_new_run_says_which_preset_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "--run", "new", "--iterations", "1", "--board-size", "5", *SMALL])
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("Preset ")
    assert second.startswith("Training in new: 5×5, b1c8")
    main(["train", "--run", "new", "--iterations", "2"])
    assert "Preset" not in capsys.readouterr().out


def test_a_run_that_is_done_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["train", "--preset", "tiny", "--run", "first", "--iterations", "1", "--quiet", *SMALL])
    assert capsys.readouterr().out == ""
    main(["train", "--run", "first"])
    assert "Done: 1 iteration." in capsys.readouterr().out
    assert len(metrics_of(tmp_path / "first")) == 1


def test_the_network_of_a_run_cannot_change(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["train", "--preset", "tiny", "--run", "first", "--iterations", "1", "--quiet", *SMALL])
    before = (tmp_path / "first/config.toml").read_bytes()
    shown = refused(["--run", "first", "--network.size", "b2c32", "--iterations", "2"], capsys)
    assert shown.startswith("mini-alphago: this run has network ")
    assert "cannot change" in shown
    assert (tmp_path / "first/config.toml").read_bytes() == before
    assert len(metrics_of(tmp_path / "first")) == 1


def test_damaged_settings_are_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "first/config.toml").write_text("board_size = ")
    shown = refused(["--run", "first"], capsys)
    assert shown.startswith("mini-alphago: first/config.toml: not TOML")
    assert "\n" not in shown
    assert [path.name for path in (tmp_path / "first").iterdir()] == ["config.toml"]


def test_a_place_that_cannot_be_written_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = refused(["--preset", "tiny", "--run", "file/run", *SMALL], capsys)
    assert shown == "mini-alphago: file/run: Not a directory"


def test_ctrl_c_loses_nothing_and_says_how_to_go_on(tmp_path: Path) -> None:
    """The step at hand is finished, the status is 0, and the same command goes on."""
    command = [sys.executable, "-m", "mini_alphago", "train", "--run", "first"]
    begin = [*command, "--preset", "tiny", "--iterations", "100000", *SMALL]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(begin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    journal = tmp_path / "first/replay"
    deadline = time.monotonic() + 120
    while not list(journal.glob("*.games")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert output.splitlines()[-1] == "Stopped; nothing is lost. Go on with: mini-alphago train --run first"
    assert "Traceback" not in errors
    assert (tmp_path / "first/report.html").exists()
    done = len(metrics_of(tmp_path / "first")) if (tmp_path / "first/metrics.jsonl").exists() else 0
    main(["train", "--run", "first", "--iterations", str(done + 1)])
    assert [line["iteration"] for line in metrics_of(tmp_path / "first")] == list(range(1, done + 2))


def test_main_py_is_the_tutorials_program(tmp_path: Path) -> None:
    """One iteration of it, smaller."""

    def run(*arguments: str) -> str:
        command = [sys.executable, str(ROOT / "main.py"), *arguments]
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    words = " ".join(run("--help").replace("│", " ").split())
    assert "runs/tutorial" in words
    assert "--iterations {None}|INT Stop after so many iterations; None: no limit. (default: 100)" in words
    shown = run(
        "--run", "here", "--iterations", "1", "--self-play.simulations", "2", "--games-per-iteration", "2",
        "--self-play.games", "2", "--self-play.move-limit", "30", "--measure.every", "0", "--learning.uses", "1",
        "--threads", "1", "--device", "cpu",
    )  # fmt: skip
    assert "9×9, b4c64, 2 games at once, 2 simulations (puct)" in shown
    network, checkpoint = load_checkpoint(tmp_path / "here")
    assert (network.config.family, network.config.input_planes) == ("tutorial", 7)
    assert checkpoint.notes["games"] >= 2


def test_a_speedrun_ends_with_its_ladder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(["speedrun", "--preset", "tiny", "--minutes", "0.02", "--games", "2", "--visits", "2"])
    shown = capsys.readouterr().out
    assert "From nothing: " in shown
    assert "Elo beside it" in shown
    run = tmp_path / "runs/speedrun"
    ladder = json.loads((run / "ladder/results.json").read_text())
    assert (ladder["settings"]["board_size"], ladder["settings"]["komi"]) == (5, 0.5)
    assert ladder["games"] >= 4
    with pytest.raises(SystemExit, match="a speedrun begins from nothing"):
        main(["speedrun", "--preset", "tiny"])
    with pytest.raises(SystemExit, match="say how long with --minutes"):
        main(["speedrun", "--preset", "tutorial", "--run", "other"])
    assert not (tmp_path / "other").exists()
