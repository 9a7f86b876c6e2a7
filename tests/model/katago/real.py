"""A network that KataGo's authors trained, if it is on this machine."""

from pathlib import Path

import pytest

from tests.conftest import NO_DATA

DATA = Path(__file__).parents[4] / "shared" / "data"
REAL = DATA / "g170-b6c96-s175395328-d26788732.bin.gz"

needs_real_network = pytest.mark.skipif(not REAL.exists(), reason=f"{NO_DATA}/{REAL.name}")
