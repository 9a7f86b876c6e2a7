"""What tests of runs share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four iterations in one go, with matches after the second and the fourth."""
    from mini_alphago.model import evaluator
    from mini_alphago.training import train

    from .runs import MEASURED

    run = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_has_openvino", lambda: False)
        training = train(MEASURED, str(run))
    assert training.iteration == 4
    return run
