"""URL: an address that answers 2xx. Addresses inside the house are asked only if the settings allow it.

The name is resolved here, every address it has is judged, and the connection goes to the judged address
itself, so that a name cannot change its mind in between. Redirects are judged in the same way.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from urllib.parse import SplitResult, urljoin, urlsplit

from paika.adapters.patience.within import Patience
from paika.domain.dataset import ProbeKind, ProbeResult, ProbeSpec, Readiness

MOST_REDIRECTS = 5
_GONE = frozenset({404, 410})
_HEAD_REFUSED = frozenset({400, 403, 405, 500, 501})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PORTS = {"http": 80, "https": 443}


class Refused(Exception):
    """An address that is not asked; the text says why."""


class UrlProbe:
    """Asks with HEAD, and with GET of the first byte where HEAD is not liked."""

    kinds = (ProbeKind.URL,)

    def __init__(self, allow_private: bool = False, tls: ssl.SSLContext | None = None) -> None:
        self._allow_private = allow_private
        self._tls = tls or ssl.create_default_context()
        self._patience: Patience[ProbeResult] = Patience()

    def check(self, spec: ProbeSpec) -> ProbeResult:
        """Look once, within the spec's timeout."""
        try:
            return self._patience.within(
                spec.timeout_s,
                spec.target,
                lambda: self._look(spec.target, time.monotonic() + spec.timeout_s),
                lambda: _unknown(f"no answer within {spec.timeout_s} s"),
            )
        except Refused as refusal:
            return _unknown(str(refusal))
        except (OSError, http.client.HTTPException, ValueError) as fault:
            return _unknown(type(fault).__name__)

    def _look(self, url: str, deadline: float) -> ProbeResult:
        for _ in range(MOST_REDIRECTS + 1):
            status, onward = self._ask("HEAD", url, deadline)
            if status in _HEAD_REFUSED:
                status, onward = self._ask("GET", url, deadline)
            if status not in _REDIRECTS or not onward:
                return _verdict(status)
            url = urljoin(url, onward)
        return _unknown("too many redirects")

    def _ask(self, method: str, url: str, deadline: float) -> tuple[int, str]:
        """Status and Location of one request."""
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname or parts.username is not None:
            raise Refused("only http and https addresses without a user name")
        left = deadline - time.monotonic()
        if left <= 0:
            raise Refused("no answer in time")
        connection = self._connected(parts, left)
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(method, path, headers={"Range": "bytes=0-0"} if method == "GET" else {})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location") or ""
        finally:
            connection.close()

    def _connected(self, parts: SplitResult, left: float) -> http.client.HTTPConnection:
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        address = self._judged(host, port)
        connection = http.client.HTTPConnection(host, port, timeout=left)
        connection.default_port = _PORTS[parts.scheme]
        plain = socket.create_connection((address, port), timeout=left)
        try:
            connection.sock = self._tls.wrap_socket(plain, server_hostname=host) if parts.scheme == "https" else plain
        except BaseException:
            plain.close()
            raise
        return connection

    def _judged(self, host: str, port: int) -> str:
        """An address of the host, if all it has may be asked."""
        found = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        for address in found:
            if not self._allow_private and not _is_public(address):
                raise Refused("an address inside the house; the settings do not allow to ask it")
        return found[0]


def _is_public(address: str) -> bool:
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        ip = inner or ip
    return ip.is_global and not ip.is_multicast


def _verdict(status: int) -> ProbeResult:
    if 200 <= status < 300:
        return ProbeResult(Readiness.READY, 100, f"HTTP {status}")
    return ProbeResult(Readiness.BLOCKED if status in _GONE else Readiness.UNKNOWN, None, f"HTTP {status}")


def _unknown(detail: str) -> ProbeResult:
    return ProbeResult(Readiness.UNKNOWN, None, detail)
