"""`mini-alphago play` as a person uses it, and beside a training."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from mini_alphago.cli import main
from mini_alphago.training.page import page_beside
from mini_alphago.web import command

from .serving import wait_for


class Process:
    """The command in a process of its own."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mini_alphago", "play", "--no-browser", "--device", "cpu", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment},
        )  # fmt: skip

    @property
    def out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def address(self) -> str:
        found = re.search(r"http://\S+", self.out.readline())
        assert found
        return found[0]

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, error = self.process.communicate(timeout=60)
        return self.process.returncode, out, error


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    started: list[Process] = []
    yield started
    for one in started:
        one.process.kill()
        one.process.communicate()


def test_it_serves_at_once_and_ends_cleanly(tiny_model: Path, processes: list[Process]) -> None:
    processes.append(Process("--model", str(tiny_model), "--port", "0"))
    address = processes[0].address()
    assert address.startswith("http://127.0.0.1:")
    assert "?" not in address
    with urllib.request.urlopen(address) as answer:
        assert answer.status == 200
    code, out, error = processes[0].end()
    assert (code, out.strip()) == (0, "The board is closed.")
    assert "Traceback" not in error


def test_beyond_this_machine_it_wants_a_token(tiny_model: Path, processes: list[Process]) -> None:
    processes.append(Process("--model", str(tiny_model), "--port", "0", "--host", "0.0.0.0"))
    address = processes[0].address()
    assert len(address.partition("?token=")[2]) >= 24
    assert "token" in processes[0].out.readline()
    port = re.search(r":(\d+)/", address)
    assert port
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/api/info")


def test_a_network_that_is_damaged_is_said(tmp_path: Path, processes: list[Process]) -> None:
    (tmp_path / "bad.safetensors").write_bytes(b"no network at all")
    processes.append(Process("--model", str(tmp_path / "bad.safetensors"), "--port", "0"))
    _, error = processes[0].process.communicate(timeout=60)
    assert processes[0].process.returncode == 1
    assert "bad.safetensors: not a whole safetensors file" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "nothing.safetensors"], "nothing.safetensors: there is no such network"),
        (["--run", "nothing"], "nothing: there is no training run here"),
        (["--visits", "0"], "visits is 0"),
        (["--port", "70000"], "port is 70000"),
        (["--host", "no.such.host.invalid"], "there is no host"),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["play", "--no-browser", *arguments])
    assert message in str(caught.value.code)


def test_a_port_that_is_taken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Another one is found, and said; but not if this one was asked for."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        monkeypatch.setattr(command, "PORT", taken)
        with command._listen("127.0.0.1", None) as found:
            assert found.getsockname()[1] > taken
        assert f"Port {taken} is taken" in capsys.readouterr().out
        with pytest.raises(ValueError, match=f"cannot listen on port {taken}"):
            command._listen("127.0.0.1", taken)


def test_it_ends_with_its_parent(tiny_model: Path, tmp_path: Path) -> None:
    """Even if that was killed: the other is no child of it any more, and sees it."""
    (tmp_path / "config.toml").write_text("")
    script = (
        "import os, subprocess, sys\n"
        "os.environ['MINI_ALPHAGO_PARENT'] = str(os.getpid())\n"
        f"options = ['--run', {str(tmp_path)!r}, '--no-browser', '--port', '0']\n"
        "command = [sys.executable, '-m', 'mini_alphago', 'play', *options]\n"
        "child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)\n"
        "print(child.pid, child.stdout.readline(), flush=True)\n"
        "input()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    line = parent.stdout.readline()
    assert "http://" in line
    pid = int(line.split()[0])
    parent.kill()
    parent.communicate()
    wait_for(lambda: not is_there(pid), 60)


def is_there(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return status != "Z"
    except OSError:
        return False


def test_a_page_beside_a_training(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("")
    said: list[str] = []
    with page_beside(str(tmp_path), 0, said.append):
        (line,) = said
        address = line.split()[-1]
        with urllib.request.urlopen(f"{address}api/info") as answer:
            assert b'"ready":true' in answer.read()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address)


def test_a_page_that_cannot_be_is_said_and_the_training_goes_on(tmp_path: Path) -> None:
    said: list[str] = []
    with page_beside(str(tmp_path / "nothing"), 0, said.append):
        pass
    assert "there is no training run here" in said[0]
