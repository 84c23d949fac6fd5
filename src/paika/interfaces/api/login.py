"""The browser's session: a token is exchanged for a cookie that scripts cannot read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from paika.domain.access import NotAuthenticated
from paika.interfaces.api.doors import Who, body_schema, context_of, parse_json
from paika.interfaces.api.render import HEADERS, Json
from paika.interfaces.api.session import log_in, log_out

open_router = APIRouter(tags=["session"])
router = APIRouter(tags=["session"])
_BODY = {"type": "object", "required": ["token"], "properties": {"token": {"type": "string"}}}


async def _token(request: Request) -> str:
    body = parse_json(await request.body() or b"{}")
    token = body.get("token") if isinstance(body, dict) else None
    if not isinstance(token, str):
        raise NotAuthenticated(field="token")
    return token


@open_router.post("/session", openapi_extra=body_schema(_BODY))
def begin(request: Request, token: Annotated[str, Depends(_token)]) -> Response:
    """Log in with a token: leaves a session cookie."""
    answer = Json({"ok": True}, 200, HEADERS)
    log_in(context_of(request), request, answer, token)
    return answer


@router.delete("/session")
def end(who: Who) -> Response:
    """Log out: takes the cookie away."""
    answer = Json({"ok": True}, 200, HEADERS)
    log_out(answer)
    return answer
