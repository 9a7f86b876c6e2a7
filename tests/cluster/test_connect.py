"""The way to a cluster, and what is said where there is none."""

import sys

import pytest

from mini_alphago.cluster.connect import check_version, connect
from mini_alphago.cluster.train import train_on_cluster
from mini_alphago.training.command import train_verb
from mini_alphago.version import __version__


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"pip install 'mini-alphago\[ray\]'"):
        connect()


def test_all_machines_have_the_same_version() -> None:
    check_version(__version__, "node")
    with pytest.raises(ValueError, match=r"10\.0\.0\.5 has mini-alphago 0\.0\.1, and here is"):
        check_version("0.0.1", "10.0.0.5")


def test_there_is_one_address_at_most(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = str(tmp_path_factory.mktemp("run") / "none")
    verb = train_verb(["--preset", "tiny", "--run", run], "", train_on_cluster)
    with pytest.raises(ValueError, match="--ray takes one address, or none"):
        verb(run=run, ray=("10.0.0.1:6379", "10.0.0.2:6379"))
