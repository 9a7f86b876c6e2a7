"""Threads that spin after their work: kept from it, or said so where it is too late."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, warnings
{first}
from mini_alphago.threads import set_threads
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    set_threads()
    set_threads(1)
print(os.environ["GOMP_SPINCOUNT"], len([w for w in said if "Import mini_alphago first" in str(w.message)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another OpenMP library")
@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("import mini_alphago, torch", "2000 0"),
        ("import torch, mini_alphago", "2000 1"),
        ("os.environ['GOMP_SPINCOUNT'] = '7'; import torch", "7 0"),
    ],
)
def test_torch_before_the_package_is_too_late_to_keep_threads_from_spinning(first: str, expected: str) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    command = [sys.executable, "-c", PROGRAM.format(first=first)]
    done = subprocess.run(command, capture_output=True, text=True, env=clean)
    assert done.stdout.strip() == expected, done.stderr
