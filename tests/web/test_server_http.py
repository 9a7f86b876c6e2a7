"""The page's files, and who may ask: hosts, origins, the token, and paths that lead elsewhere."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from mini_alphago.version import __version__
from mini_alphago.web import server as web_server
from mini_alphago.web.settings import ServerSettings

from .serving import Server, client, game, serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A page that was built, and a secret beside it."""
    folder = tmp_path_factory.mktemp("page") / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>board</title>")
    (folder / "assets" / "index-abc123.js").write_text("export {};")
    (folder.parent / "secret.txt").write_text("secret")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web_server, "STATIC", folder)
        yield folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Server]:
    """A server of that page, which loads no network."""
    with serving(ServerSettings(lazy=True)) as server:
        yield server


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[Server]:
    """The same as other machines see it."""
    with serving(ServerSettings(lazy=True, token="abc", hosts=None)) as server:
        yield server


class Answer:
    def __init__(self, server: Server, path: str, **headers: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.putrequest("GET", path, skip_host="host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        self.status, self.headers, self.text = answer.status, answer.headers, answer.read().decode()
        connection.close()


def test_what_the_server_says_of_itself(server: Server) -> None:
    answer = Answer(server, "/api/info")
    info = json.loads(answer.text)
    assert answer.headers["cache-control"] == "no-store"
    assert info["version"] == __version__
    assert info["ready"] is True
    assert info["trained"] is False
    assert "train" in info["message"]
    assert info["models"] == [{"id": "tiny", "name": "tiny", "trained": False, "sizes": []}]
    assert [level["id"] for level in info["levels"]][::5] == ["beginner", "full"]
    assert {"id": "japanese", "name": "Japanese"} in info["rules"]
    assert info["run"] is None


def test_the_page_and_how_long_it_may_be_kept(site: Server) -> None:
    page, asset = Answer(site, "/"), Answer(site, "/assets/index-abc123.js")
    assert page.status == asset.status == 200
    assert "<title>board</title>" in page.text
    assert page.headers["cache-control"] == "no-cache"
    assert "immutable" in asset.headers["cache-control"]
    assert "javascript" in asset.headers["content-type"]
    missing = Answer(site, "/assets/nothing.js")
    assert missing.status == 404
    assert "cache-control" not in missing.headers
    for answer in (page, asset, missing):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_page_that_was_not_built(site: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(web_server, "STATIC", tmp_path / "nothing")
    answer = Answer(site, "/")
    assert answer.status == 503
    assert "make web" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "//secret.txt",
        "/assets/..%2f..%2fsecret.txt", "/..\\secret.txt", "/%00", "/assets%2f..%2f..%2fsecret.txt",
        "/.%00./secret.txt", "/%5c..%5csecret.txt", "http://127.0.0.1/../secret.txt",
    ],
)  # fmt: skip
def test_no_path_leads_out(site: Server, path: str) -> None:
    answer = Answer(site, path)
    assert answer.status in (400, 404)
    assert "secret" not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1.evil.example", "", "[", "a@evil"])
def test_other_names_of_this_machine_are_refused(site: Server, host: str) -> None:
    """A site whose name was made to lead here is still another site."""
    answer = Answer(site, "/", host=host)
    assert answer.status in (400, 403)
    assert "board" not in answer.text


@pytest.mark.parametrize("host", ["localhost:8123", "127.0.0.1", "[::1]:8123", "LOCALHOST"])
def test_its_own_names_are_not(site: Server, host: str) -> None:
    assert Answer(site, "/", host=host).status == 200


@pytest.mark.parametrize("path", ["/ws", "/analysis"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_pages_of_other_origins_are_refused(site: Server, path: str, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused, client(site, path, origin=origin):
        pass
    assert refused.value.response.status_code == 403


def test_its_own_page_is_welcome(site: Server) -> None:
    with client(site, origin=f"http://127.0.0.1:{site.port}") as page:
        assert page.ask("position", game=game())["type"] == "position"


@pytest.mark.parametrize("query", ["", "?token=", "?token=abd", "?token=ab%00", "?token=%ff"])
def test_without_the_token_nothing_is_told(guarded: Server, query: str) -> None:
    answer = Answer(guarded, f"/api/info{query}", host="board.example")
    assert answer.status == 403
    assert "token" in json.loads(answer.text)["message"]
    for path in ("/ws", "/analysis"):
        with pytest.raises(InvalidStatus), client(guarded, path + query):
            pass
    assert Answer(guarded, "/").status == 200  # the page itself holds no secret, and says what is missing


def test_the_token_opens_and_is_remembered(guarded: Server) -> None:
    assert "set-cookie" not in Answer(guarded, "/?token=no").headers
    cookie = Answer(guarded, "/?token=abc").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    kept = cookie.partition(";")[0]
    assert Answer(guarded, "/api/info?token=abc").status == 200
    assert Answer(guarded, "/api/info", cookie=kept).status == 200
    for address, headers in (("/ws?token=abc", {}), ("/ws", {"cookie": kept})):
        with client(guarded, address, additional_headers=headers) as page:
            assert page.ask("position", game=game())["type"] == "position"
