"""The board on a FastAPI application: its pages and its files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import Response

from paika.domain.problem import NotFound
from paika.interfaces.api.context import Context
from paika.interfaces.board import (
    bookings,
    cards,
    guarantees,
    imports,
    ledger,
    login,
    move,
    overview,
    policy,
    queue,
    readiness,
    submit,
    task,
    teams,
    timeline,
    wall,
    what_if,
)
from paika.interfaces.board.look import STATIC, KeptFiles, static_path
from paika.interfaces.board.visit import BoardRoute, Visit, look

PAGES = (
    *(overview, queue, timeline, readiness, cards, bookings, guarantees, what_if, policy, ledger, teams),
    *(move, task, submit, imports, wall, login),
)
_NOT_OURS = ("/api/", "/static/", "/docs", "/openapi", "/metrics", "/healthz", "/readyz")


def mount_board(app: FastAPI, context: Context) -> None:
    """Add the pages to the application. Call it after the API's routes: the last page answers for unknown paths."""
    app.state.board = context
    app.mount(static_path(), KeptFiles(directory=STATIC), name="board-files")
    for page in PAGES:
        app.include_router(page.router, include_in_schema=False)
    app.include_router(_nowhere(), include_in_schema=False)


def _nowhere() -> APIRouter:
    router = APIRouter(route_class=BoardRoute)

    @router.get("/{path:path}")
    def nowhere(path: str, visit: Annotated[Visit, Depends(look)]) -> Response:
        if f"/{path}".startswith(_NOT_OURS):
            raise HTTPException(404)
        raise NotFound(field=None, noun="page", id=f"/{path}"[:200])

    return router
