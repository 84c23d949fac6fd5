"""The line to a paika server: requests, retries where they are safe, refusals as one exception."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote, urlsplit

from paika.domain.problem import Kind, Problem
from paika.interfaces.cli.language import MACHINE_ZONE
from paika.interfaces.wording.catalogue import Lang

if TYPE_CHECKING:
    import httpx

PREFIX = "/api/v1"
TRIES = 3
PAUSE_S = 0.3
GATEWAY = frozenset({502, 503, 504})


@dataclass(eq=False)
class ServerUnreachable(Problem):
    """No connection to the server."""

    code: ClassVar[str] = "client.unreachable"
    kind: ClassVar[Kind] = Kind.SYSTEM
    url: str
    cause: str


@dataclass(eq=False)
class NoAnswer(Problem):
    """The request went out and no answer came: whether it was done is unknown. `key` makes it safe to repeat."""

    code: ClassVar[str] = "client.no_answer"
    kind: ClassVar[Kind] = Kind.SYSTEM
    url: str
    key: str


@dataclass(eq=False)
class StrangeAnswer(Problem):
    """An answer that is not from a paika server, or that nobody can read."""

    code: ClassVar[str] = "client.strange_answer"
    kind: ClassVar[Kind] = Kind.SYSTEM
    url: str
    status: int


class Refused(Exception):
    """The server's refusal. `code` never changes; `message` and `hint` are for people; `field` names what to mend.

    `status` is that of HTTP, None if no answer came; `problems` are the single ones where there are several.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        hint: str = "",
        field: str | None = None,
        status: int | None = None,
        facts: Mapping[str, Any] | None = None,
        problems: tuple[Mapping[str, Any], ...] = (),
    ) -> None:
        super().__init__(f"{message} {hint}".strip() or code)
        self.code, self.message, self.hint = code, message, hint
        self.field, self.status = field, status
        self.facts, self.problems = dict(facts or {}), problems

    def told(self) -> dict[str, Any]:
        """The refusal as plain values, for JSON."""
        names = ("code", "message", "hint", "field", "status", "facts")
        told = {name: getattr(self, name) for name in names}
        return told | ({"problems": list(self.problems)} if self.problems else {})


class Unreachable(Refused):
    """No answer that could be read."""


def place(*parts: str) -> str:
    """A path below the prefix; each part is one segment, whatever it holds."""
    return "".join("/" + (quote(part, safe="").replace(".", "%2E") or "%20") for part in parts)


class Wire:
    """One server, one token. Requests that are safe to repeat are tried three times."""

    def __init__(
        self,
        url: str,
        token: str | None,
        lang: Lang,
        *,
        door: str = "",
        timeout_s: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        import httpx

        self.url, self.lang = url, lang
        headers = {"Accept": "application/json", "Accept-Language": lang.value}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {"X-Paika-Door": door} if door else {}
        limits = httpx.Timeout(timeout_s, connect=min(timeout_s, 10.0))
        self.http = httpx.Client(
            base_url=url + PREFIX, headers=headers, timeout=limits, transport=transport, trust_env=not _is_here(url)
        )

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        file: tuple[str, bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Any:
        """The answer's JSON. With an idempotency `key` a request that changes something is repeated too.

        Raises Refused; Unreachable if nothing readable came back.
        """
        sent = dict(headers or {}) | ({"Idempotency-Key": key} if key else {})
        more: dict[str, Any] = {"params": _given(params), "headers": sent}
        if body is not None:
            more |= {"content": json.dumps(body).encode(), "headers": sent | {"Content-Type": "application/json"}}
        if file is not None:
            more |= {"files": {"file": file}}
        return self._read(self._send(method, path, more, key))

    def stream(self, path: str, params: Mapping[str, Any]) -> Iterator[bytes]:
        """The answer's bytes as they come. Raises as `ask`."""
        import httpx

        try:
            with self.http.stream("GET", path, params=_given(params)) as answer:
                if answer.status_code != 200:
                    answer.read()
                    self._read(answer)
                yield from answer.iter_bytes()
        except httpx.ConnectError as fault:
            raise self._fault(ServerUnreachable(field=None, url=self.url, cause=str(fault))) from None
        except httpx.TransportError:
            raise self._fault(NoAnswer(field=None, url=self.url, key="")) from None

    def _send(self, method: str, path: str, more: Mapping[str, Any], key: str | None) -> httpx.Response:
        import httpx

        tries = TRIES if method == "GET" or key else 1
        for left in reversed(range(tries)):
            try:
                answer = self.http.request(method, path, **more)
                if answer.status_code not in GATEWAY or not left:
                    return answer
            except httpx.ConnectError as fault:
                raise self._fault(ServerUnreachable(field=None, url=self.url, cause=str(fault))) from None
            except httpx.TransportError:
                if not left:
                    raise self._fault(NoAnswer(field=None, url=self.url, key=key or "")) from None
            except (httpx.InvalidURL, UnicodeError) as fault:
                raise self._fault(ServerUnreachable(field=None, url=self.url, cause=str(fault))) from None
            time.sleep(PAUSE_S)
        raise AssertionError("the last try answers or raises")

    def _read(self, answer: httpx.Response) -> Any:
        try:
            told = answer.json()
        except ValueError:
            told = None
        if answer.status_code < 300 and told is not None:
            return told
        if not isinstance(told, dict) or "code" not in told:
            raise self._fault(StrangeAnswer(field=None, url=self.url, status=answer.status_code))
        raise Refused(
            code=str(told["code"]),
            message=str(told.get("message", "")),
            hint=str(told.get("hint", "")),
            field=told.get("field"),
            status=answer.status_code,
            facts=told.get("facts"),
            problems=tuple(told.get("problems", ())),
        )

    def _fault(self, problem: Problem) -> Unreachable:
        from paika.interfaces.wording.say import Speaker, say

        told: dict[str, Any] = say(problem, Speaker(self.lang, MACHINE_ZONE))
        return Unreachable(told["code"], told["message"], told["hint"], facts=told["facts"])


def _given(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters that say something, as the server reads them."""
    named = {name: value for name, value in (params or {}).items() if value not in (None, "", (), [])}
    return {n: str(v).lower() if isinstance(v, bool) else v for n, v in named.items()}


def _is_here(url: str) -> bool:
    """Whether the server is on this machine, where no proxy of the environment has a place."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
