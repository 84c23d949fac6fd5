"""No request's body is larger than the house allows, whatever its length header says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from paika.domain.problem import Kind, Problem

Refuse = Callable[[HTTPConnection, Problem], Response]


@dataclass(eq=False)
class BodyTooLarge(Problem):
    """The body has more bytes than allowed."""

    code: ClassVar[str] = "api.body_too_large"
    kind: ClassVar[Kind] = Kind.INVALID
    allowed_bytes: int


class BodyLimit:
    """ASGI middleware: counts bytes as they come. `uploads` are paths with a limit of their own."""

    def __init__(self, app: ASGIApp, most: int, uploads: dict[str, int], refuse: Refuse) -> None:
        self.app, self.most, self.uploads, self.refuse = app, most, uploads, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 413."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.uploads.get(scope["path"], self.most)
        if _announced(scope) > most:
            await self._refused(most, scope, receive, send)
            return
        state = _Counting(receive, send, most)
        try:
            await self.app(scope, state.receive, state.send)
        except BodyTooLarge:
            if not state.answered:
                await self._refused(most, scope, receive, send)

    async def _refused(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.refuse(HTTPConnection(scope), BodyTooLarge(field=None, allowed_bytes=most))
        await answer(scope, receive, send)


class _Counting:
    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._left = receive, send, most
        self._most = most
        self.answered = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise BodyTooLarge(field=None, allowed_bytes=self._most)
        return message

    async def send(self, message: Message) -> None:
        self.answered = True
        await self._send(message)


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 20 else 0
    return 0
