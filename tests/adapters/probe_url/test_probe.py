"""Web addresses, asked of a real server on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.ports.probe_promises import ProbePromises

from paika.adapters.probe_url import probe as module
from paika.adapters.probe_url.probe import UrlProbe
from paika.domain.dataset import ProbeKind, ProbeSpec, Readiness


class Handler(BaseHTTPRequestHandler):
    asked: list[tuple[str, str, str | None]]
    hang = threading.Event()

    def answer(self) -> None:
        self.server.asked.append((self.command, self.path, self.headers["Range"]))
        if self.path == "/hang":
            self.hang.wait(30)
        word, _, target = self.path.lstrip("/").partition("=")
        status = {"ok": 200, "missing": 404, "gone": 410, "broken": 503, "to": 302}.get(word, 200)
        if word == "nohead":
            status = 405 if self.command == "HEAD" else 206
        self.send_response(status)
        if word == "to":
            self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET = answer

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked = []
    made.daemon_threads = True
    Handler.hang.clear()
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    Handler.hang.set()
    made.shutdown()
    made.server_close()


def url_of(server: ThreadingHTTPServer, path: str, timeout_s: int = 20) -> ProbeSpec:
    return ProbeSpec(ProbeKind.URL, f"http://127.0.0.1:{server.server_port}{path}", timeout_s=timeout_s)


class TestUrlProbe(ProbePromises):
    @pytest.fixture
    def probe(self) -> UrlProbe:
        return UrlProbe(allow_private=True)

    @pytest.fixture
    def ready(self, server) -> ProbeSpec:
        return url_of(server, "/ok")

    @pytest.fixture
    def endless(self, server) -> ProbeSpec:
        return url_of(server, "/hang", 1)


@pytest.mark.parametrize(
    ("path", "readiness", "detail"),
    [
        ("/ok", Readiness.READY, "HTTP 200"),
        ("/nohead", Readiness.READY, "HTTP 206"),
        ("/to=/to=/ok", Readiness.READY, "HTTP 200"),
        ("/missing", Readiness.BLOCKED, "HTTP 404"),
        ("/gone", Readiness.BLOCKED, "HTTP 410"),
        ("/broken", Readiness.UNKNOWN, "HTTP 503"),
        ("/to=file:///etc/passwd", Readiness.UNKNOWN, "only http and https addresses without a user name"),
        ("/to=ftp://127.0.0.1/x", Readiness.UNKNOWN, "only http and https addresses without a user name"),
    ],
)
def test_verdicts(server, path, readiness, detail):
    result = UrlProbe(allow_private=True).check(url_of(server, path))
    assert (result.readiness, result.detail) == (readiness, detail)


def test_get_asks_for_one_byte_only(server):
    UrlProbe(allow_private=True).check(url_of(server, "/nohead"))
    assert server.asked == [("HEAD", "/nohead", None), ("GET", "/nohead", "bytes=0-0")]


def test_a_ring_of_redirects_ends(server):
    result = UrlProbe(allow_private=True).check(url_of(server, "/to=?a"))  # leads to itself
    assert (result.readiness, result.detail) == (Readiness.UNKNOWN, "too many redirects")
    assert len(server.asked) == module.MOST_REDIRECTS + 1


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.1.2.3", "169.254.169.254"]
)
def test_addresses_inside_the_house_need_the_setting(server, host):
    result = UrlProbe().check(ProbeSpec(ProbeKind.URL, f"http://{host}:{server.server_port}/ok", timeout_s=10))
    assert result.readiness is Readiness.UNKNOWN
    assert server.asked == []


def test_a_redirect_into_the_house_is_judged_like_any_address(server, monkeypatch):
    judged: list[str] = []
    public_once = iter([True])

    def verdict(address: str) -> bool:
        judged.append(address)
        return next(public_once, False)

    monkeypatch.setattr(module, "_is_public", verdict)
    result = UrlProbe().check(url_of(server, "/to=/ok"))
    assert "inside the house" in result.detail
    assert judged == ["127.0.0.1", "127.0.0.1"]
    assert [path for _, path, _ in server.asked] == ["/to=/ok"]


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("100.64.0.1", False),
        ("192.168.1.1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("224.0.0.1", False),
    ],
)
def test_what_counts_as_public(address, public):
    assert module._is_public(address) is public


def test_a_user_name_in_the_address_is_refused():
    result = UrlProbe(allow_private=True).check(ProbeSpec(ProbeKind.URL, "http://a:b@127.0.0.1/"))
    assert result.readiness is Readiness.UNKNOWN
    assert "a:b" not in result.detail
