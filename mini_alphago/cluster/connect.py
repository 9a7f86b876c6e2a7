"""The way to a Ray cluster: one that is there, or one for this machine alone."""

import logging
import os
import socket
from typing import Any

from ..version import __version__

_PATIENCE = 10.0  # seconds until somebody has to answer at an address


def connect(address: str | None = None) -> Any:
    """The module `ray`, connected to the cluster at `address`.

    None: the cluster that RAY_ADDRESS names or that runs on this machine; if there is none, one is started here, and
    ends with this process. ValueError, in one sentence, if Ray is not installed or nobody answers.
    """
    try:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # of a cluster that is started here
        import ray
    except ImportError:
        raise ValueError("--ray needs Ray, which is not installed: pip install 'mini-alphago[ray]'") from None
    if not ray.is_initialized():
        try:
            _knock(address or os.environ.get("RAY_ADDRESS", ""))
            ray.init(address=address, namespace="mini-alphago", log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError) as error:
            where = f"at {address}" if address else "here"
            asks = "" if os.environ.get("RAY_AUTH_MODE") else " (if it asks for a token: RAY_AUTH_MODE=token)"
            raise ValueError(f"no Ray cluster answers {where}: {str(error).splitlines()[0]}{asks}") from None
    return ray


def _knock(address: str) -> None:
    """OSError if nobody listens at [ray://]HOST:PORT: Ray itself would go on asking for a quarter of an hour."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def check_version(version: str, where: str) -> None:
    """ValueError if another machine has another version of this package than this one."""
    if version != __version__:
        raise ValueError(f"{where} has mini-alphago {version}, and here is {__version__}: install the same on all")


def cause_of(error: Any) -> BaseException:
    """What went wrong in an actor, without what Ray has put around it."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, BaseException) else error


def reason_of(error: Any) -> str:
    """Why an actor failed, in one line: Ray itself has many."""
    from ray.exceptions import RayActorError

    if isinstance(error, RayActorError) and "creation task" not in str(error):
        return "the process or its machine died"
    lines = [line.strip() for line in str(cause_of(error)).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(error).__name__
