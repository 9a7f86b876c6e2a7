"""What all tests share."""

import os
from collections.abc import Iterator

import pytest

import mini_alphago  # noqa: F401  # before torch, whose threads would spin against all others

NO_DATA = "there is no ../shared/data"  # beside the repository: networks of others, too large and not ours to keep here


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Small networks on busy cores: threads that wait for each other would take most of the time."""
    import torch

    from mini_alphago.threads import set_threads

    before = torch.get_num_threads()
    set_threads(1)
    yield
    set_threads(before)


@pytest.fixture
def plain_torch(one_thread: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch as it comes, in one thread: OpenVINO takes seconds to compile what a test uses for one."""
    from mini_alphago.model import evaluator

    monkeypatch.setattr(evaluator, "_has_openvino", lambda: False)


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
    """In CI nothing may be skipped: a missing program there is a fault of the CI script. Only data of others may."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter:
        for report in reporter.stats.get("skipped", []):
            if NO_DATA not in str(report.longrepr):
                print(f"\nskipped in CI: {report.nodeid}: {report.longrepr}")
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
