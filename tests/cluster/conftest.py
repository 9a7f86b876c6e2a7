"""A Ray cluster of several nodes on this machine, out of sight of any other that runs here."""

import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is on the PATH of nodes that `add_node` makes, with a GTP program, `passer [SECONDS]`."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "passer").write_text(
        "#!/bin/sh\n"
        "while read line; do case $line in genmove*) sleep ${1:-0}; echo '= pass';; *) echo '=';; esac; echo; done\n"
    )
    (folder / "passer").chmod(0o755)
    return folder


@contextlib.contextmanager
def a_cluster(lock: Path, cores: int) -> Iterator[Any]:
    """A head with so many cores to give. There is only one cluster at a time, however many processes run the tests."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'mini-alphago[ray]'")
    from filelock import FileLock

    short = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # names of sockets have room for 100 letters
    with FileLock(lock), pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", short)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        import ray
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": cores, "include_dashboard": False})
        try:
            ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
    shutil.rmtree(short, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A node of one core."""
    with a_cluster(tmp_path_factory.getbasetemp().parent / "ray.lock", 1) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def two_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head that plays no games, and two nodes of one core each."""
    with a_cluster(tmp_path_factory.getbasetemp().parent / "ray.lock", 0) as cluster:
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        yield cluster


def add_node(cluster: Any, programs: Path) -> Any:
    """One more node of one core."""
    return cluster.add_node(num_cpus=1, env_vars={"PATH": f"{programs}:{os.environ['PATH']}"})
