"""What the tests of the server share: one server with the smallest network, for all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..engine.conftest import tiny_model as tiny_model  # the same network
from .serving import Client, Server, client, serving, wait_for


@pytest.fixture(scope="session")
def server(tiny_model: Path) -> Iterator[Server]:
    """It has loaded its network already."""
    from mini_alphago.model import evaluator
    from mini_alphago.web.settings import ServerSettings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_has_openvino", lambda: False)  # it takes seconds to compile
        with serving(ServerSettings(model=str(tiny_model), visits=24, device="cpu")) as server:
            wait_for(server.app.state.service.done, 120)
            server.service.worker.call(int).result(300)  # a cold machine compiles before that
            yield server


@pytest.fixture
def page(server: Server) -> Iterator[Client]:
    """A page that is connected."""
    with client(server) as page:
        yield page
