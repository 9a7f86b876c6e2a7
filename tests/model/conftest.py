"""What tests of networks share."""

import pytest


@pytest.fixture
def one_seed(one_thread: None) -> None:
    """Random weights and planes that are the same each time, whichever tests ran before."""
    import torch

    torch.manual_seed(7)
