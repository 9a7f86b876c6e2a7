"""Files that are written in one step, and what killed processes leave of them."""

import subprocess
import sys

import pytest

from mini_alphago.files import open_atomically, remove_abandoned, write_atomically

KILLED = """
import os, sys
from mini_alphago.files import open_atomically
with open_atomically(sys.argv[1]):
    os._exit(0)
"""


def test_a_file_is_the_old_one_until_it_is_the_new_one(tmp_path):
    path = tmp_path / "a.json"
    write_atomically(path, b"old")
    with open_atomically(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    with pytest.raises(TypeError):
        write_atomically(path, None)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_only_abandoned_files_are_removed(tmp_path):
    others = [tmp_path / name for name in (".gitignore", ".nfs.0001", ".a.toml.swp", "a.json", "report.abcdefgh")]
    for path in others:
        path.touch()
    others.append(tmp_path / ".a.12345678")
    others[-1].mkdir()
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "b.json"], check=True)
    assert len(list(tmp_path.iterdir())) == len(others) + 1
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(others)
