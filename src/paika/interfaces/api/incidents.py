"""Faults of the server's own: answered with a number, logged by their places alone."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import ClassVar

import structlog
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from paika.domain.problem import Kind, Problem
from paika.interfaces.api.limits import Refuse
from paika.ports.ids import Ids

_DEEPEST = 12


@dataclass(eq=False)
class Incident(Problem):
    """A fault of the server's own, written to its log under this number."""

    code: ClassVar[str] = "api.incident"
    kind: ClassVar[Kind] = Kind.SYSTEM
    incident: str


class Incidents:
    """ASGI middleware: whatever escapes becomes an answer; texts of faults, which may hold secrets, go nowhere."""

    def __init__(self, app: ASGIApp, ids: Ids, refuse: Refuse) -> None:
        self.app, self.ids, self.refuse = app, ids, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 500."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answered = False

        async def watched(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as fault:
            number = self._logged(scope, fault)
            if not answered:
                answer = self.refuse(HTTPConnection(scope), Incident(field=None, incident=number))
                await answer(scope, receive, send)

    def _logged(self, scope: Scope, fault: Exception) -> str:
        number = self.ids.token(6)
        frames = traceback.extract_tb(fault.__traceback__)[-_DEEPEST:]
        structlog.get_logger("paika.api").error(
            "incident",
            incident=number,
            method=scope["method"],
            path=scope["path"],
            fault=type(fault).__name__,
            at=[f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        )
        return number
