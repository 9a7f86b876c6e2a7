"""What all tests share."""

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of CUDA are not there on a machine without it; CI has none, so they cannot count as skipped."""
    wanted = [item for item in items if item.get_closest_marker("cuda")]
    if wanted:
        import torch

        if not torch.cuda.is_available():
            config.hook.pytest_deselected(items=wanted)
            items[:] = [item for item in items if item not in wanted]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI nothing may be skipped: a missing program there is a fault of the CI script."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and reporter.stats.get("skipped"):
        for report in reporter.stats["skipped"]:
            print(f"\nskipped in CI: {report.nodeid}: {report.longrepr}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
