"""The REST API as one application, to be served alone or mounted at the root beside the board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from paika.domain.problem import BadValue, Kind, Problem, Several
from paika.interfaces.api import (
    bookings,
    books,
    cards,
    datasets,
    forecasts,
    imports,
    login,
    people,
    policy,
    previews,
    state,
    task_log,
    tasks,
    timeline,
)
from paika.interfaces.api.context import Context
from paika.interfaces.api.doors import signed_in, speaker_of
from paika.interfaces.api.incidents import Incident, Incidents
from paika.interfaces.api.limits import BodyLimit, BodyTooLarge
from paika.interfaces.api.render import problem_json, status_of

PREFIX = "/api/v1"
PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "code", "message", "hint", "facts"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "message": {"type": "string"},
        "hint": {"type": "string"},
        "field": {"type": ["string", "null"]},
        "facts": {"type": "object"},
        "problems": {"type": "array", "items": {"type": "object"}},
    },
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A refusal, with a code that never changes and words in the caller's language.",
        "content": {"application/problem+json": {"schema": PROBLEM_SCHEMA}},
    }
}


@dataclass(eq=False)
class NoRoute(Problem):
    """The API has no such address."""

    code: ClassVar[str] = "api.no_route"
    kind: ClassVar[Kind] = Kind.MISSING
    path: str


@dataclass(eq=False)
class NoMethod(Problem):
    """The address is there, but not with this method."""

    code: ClassVar[str] = "api.no_method"
    kind: ClassVar[Kind] = Kind.INVALID
    method: str


@dataclass(eq=False)
class BadRequest(Problem):
    """The request as a whole cannot be read."""

    code: ClassVar[str] = "api.bad_request"
    kind: ClassVar[Kind] = Kind.INVALID
    detail: str


_STATUS: dict[type[Problem], int] = {BodyTooLarge: 413, Incident: 500}


def build_api(context: Context) -> FastAPI:
    """The API under /api/v1. Every route but health and the login itself refuses whoever is not signed in."""
    app = FastAPI(
        title="paika",
        version=context.version or "0",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        responses=_PROBLEMS,
        separate_input_output_schemas=False,
    )
    app.state.api = context
    open_routes = APIRouter(prefix=PREFIX)
    for part in (state.open_router, login.open_router):
        open_routes.include_router(part)
    routes = APIRouter(prefix=PREFIX, dependencies=[Depends(signed_in)])
    for part in (
        state.router,
        login.router,
        imports.router,
        tasks.router,
        task_log.router,
        cards.router,
        timeline.router,
        forecasts.router,
        policy.router,
        previews.router,
        datasets.router,
        people.router,
        bookings.router,
        books.router,
    ):
        routes.include_router(part)
    app.include_router(open_routes)
    app.include_router(routes)
    app.add_middleware(
        BodyLimit,
        most=context.max_body_bytes,
        uploads=dict.fromkeys((f"{PREFIX}/tasks/import", "/import"), context.max_upload_bytes),
        refuse=refused,
    )
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_middleware(Incidents, ids=context.ids, refuse=refused)
    return app


def refused(request: HTTPConnection, problem: Problem) -> Response:
    """The refusal as the answer to this request."""
    status = _STATUS.get(type(problem)) or status_of(problem)
    return problem_json(problem, speaker_of(request), status=status)


def _problem(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return refused(request, problem)


def _invalid(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, RequestValidationError)
    bad = [
        BadValue(
            field=str(error["loc"][-1]) if error.get("loc") else None,
            value=str(error.get("input"))[:80],
            allowed=str(error.get("msg", ""))[:200],
        )
        for error in fault.errors()
    ]
    return refused(request, bad[0] if len(bad) == 1 else Several(field=None, problems=tuple(bad)))


def _http(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    problem: Problem = BadRequest(field=None, detail=str(fault.detail)[:200])
    if fault.status_code == 404:
        problem = NoRoute(field=None, path=request.url.path[:200])
    elif fault.status_code == 405:
        problem = NoMethod(field=None, method=request.method)
    answer = problem_json(problem, speaker_of(request), status=fault.status_code)
    for name, value in (fault.headers or {}).items():
        answer.headers[name] = value
    return answer
