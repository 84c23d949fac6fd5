"""Who asks: a bearer token, or the signed cookie that a login with a token leaves in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from itsdangerous import BadData, URLSafeSerializer
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from paika.domain.access import Actor, NotAuthenticated
from paika.domain.problem import Kind, Problem
from paika.domain.units import EPOCH
from paika.interfaces.api.context import Context
from paika.services.manage_access import actor_of, authenticate

COOKIE = "paika_session"
PROOF = "x-paika"  # a header that no other site's page can set on a request with our cookie
DOOR = "x-paika-door"
_SALT = "paika.session.1"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(eq=False)
class CrossSite(Problem):
    """A change asked for by cookie without proof that our own page asks."""

    code: ClassVar[str] = "access.cross_site"
    kind: ClassVar[Kind] = Kind.FORBIDDEN


def actor_of_request(context: Context, request: Request) -> Actor:
    """The actor behind a request. Raises NotAuthenticated, and CrossSite for a change by cookie from elsewhere."""
    now = context.clock.now()
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme:
        if scheme.lower() != "bearer":
            raise NotAuthenticated(field=None)
        door = "cli" if request.headers.get(DOOR) == "cli" else "api"
        return authenticate(context.store, secret.strip(), now, door, address_of(request))
    token = session_token(context, request.cookies.get(COOKIE, ""), now)
    actor = actor_of(context.store.read(), token, now, "board", address_of(request))
    if request.method not in _SAFE and not _from_our_page(request):
        raise CrossSite(field=None)
    return actor


def log_in(context: Context, request: Request, response: Response, secret: str) -> Actor:
    """Leave a session in the browser of who knows the secret. Raises NotAuthenticated.

    Raises CrossSite when another site's page asks, so that nobody is logged in as somebody else unawares.
    """
    now = context.clock.now()
    if request.headers.get("origin") and not _from_our_page(request):
        raise CrossSite(field=None)
    actor = authenticate(context.store, secret.strip(), now, "board", address_of(request))
    cookie = _signer(context).dumps({"token": actor.token, "at": int((now - EPOCH).total_seconds())})
    response.set_cookie(
        COOKIE,
        str(cookie),
        max_age=context.session_hours * 3600,
        httponly=True,
        samesite="strict",
        secure=context.https or request.url.scheme == "https",
        path="/",
    )
    return actor


def log_out(response: Response) -> None:
    """Take the session out of the browser."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


def session_token(context: Context, cookie: str, now: datetime) -> str:
    """The token id in a session cookie. Raises NotAuthenticated for none, a forged or an old one."""
    try:
        held = _signer(context).loads(cookie)
        token, at = str(held["token"]), EPOCH + timedelta(seconds=int(held["at"]))
    except (BadData, KeyError, TypeError, ValueError, OverflowError):
        raise NotAuthenticated(field=None) from None
    if not timedelta(minutes=-5) <= now - at < timedelta(hours=context.session_hours):
        raise NotAuthenticated(field=None)
    return token


def address_of(request: HTTPConnection) -> str:
    """The address the request comes from."""
    return request.client.host if request.client else ""


def _from_our_page(request: Request) -> bool:
    if request.headers.get(PROOF) or request.headers.get("sec-fetch-site") == "same-origin":
        return True
    origin = request.headers.get("origin", "")
    return bool(origin) and origin.partition("://")[2] == request.headers.get("host", "")


def _signer(context: Context) -> URLSafeSerializer:
    return URLSafeSerializer(context.session_key, salt=_SALT)
