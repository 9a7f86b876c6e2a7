"""What tests of the search share."""

import pytest
import torch

from mini_alphago.threads import set_threads


@pytest.fixture(scope="module")
def one_thread():
    """Small networks on busy cores: threads that wait for each other would take most of the time."""
    before = torch.get_num_threads()
    set_threads(1)
    yield
    set_threads(before)
