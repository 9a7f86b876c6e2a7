"""A server in a process of its own, as players start it."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # seconds; the first start on a machine compiles


class PlayServer:
    """`mini-alphago play` at one address, which stays the same when it is started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._options, self._log = options, folder / "server.log"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Come back when it is ready to play."""
        command = [sys.executable, "-m", "mini_alphago", "play", "--no-browser", "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([*command, "--device", "cpu", *self._options], stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self._process.poll() is None, self._log.read_text()
            try:
                if self.info()["ready"]:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"the server is not ready:\n{self._log.read_text()}")

    def stop(self) -> None:
        """End it, as a computer that is shut down does."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            self._process = None

    def info(self) -> Any:
        """What it says of itself."""
        with urllib.request.urlopen(f"{self.url}api/info", timeout=180) as answer:
            return json.load(answer)
