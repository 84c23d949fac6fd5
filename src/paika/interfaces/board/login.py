"""Login with a token, by hand or by a link that works once; logout."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import NotAuthenticated
from paika.interfaces.api.session import log_in, log_out
from paika.interfaces.board.entry import Posted
from paika.interfaces.board.visit import Anybody, BoardRoute, Visit

router = APIRouter(route_class=BoardRoute)


@router.get("/login")
def ask(visit: Anybody, next: str = "/", once: str = "") -> Response:  # noqa: A002
    """The login page; with the code of a printed link, straight in. A code works once."""
    if once:
        return _enter(visit, visit.context.once.pop(once, ""), next)
    return visit.part("login.html", next=_inside(next), told=None)


@router.post("/login")
def enter(visit: Anybody, fields: Posted) -> Response:
    """A session for who knows a token."""
    return _enter(visit, fields.get("secret", ""), fields.get("next", "/"))


@router.post("/logout")
def leave(visit: Anybody) -> Response:
    """The end of the session."""
    answer = visit.go("/login")
    log_out(answer)
    return answer


def _enter(visit: Visit, secret: str, path: str) -> Response:
    answer = visit.go(_inside(path))
    try:
        log_in(visit.context, visit.request, answer, secret)
    except NotAuthenticated as problem:
        return visit.part("login.html", 401, next=_inside(path), told=visit.told(problem))
    return answer


def _inside(path: str) -> str:
    """The path if it is one of this site, else the first page: a login leads nowhere else."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\", "/login"))
    return path if plain and path.isprintable() else "/"
