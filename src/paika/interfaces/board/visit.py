"""One visit to a page: who looks, in which language, at which instant, at which records."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from paika.domain.access import Act, Actor, NotAuthenticated
from paika.domain.problem import Kind, Problem, Several
from paika.domain.reason import Reason
from paika.domain.records import Records
from paika.domain.units import whole_seconds
from paika.interfaces.api.context import Context
from paika.interfaces.api.session import actor_of_request
from paika.interfaces.board.look import HEADERS, render
from paika.interfaces.board.naming import named
from paika.interfaces.board.preference import address, language, theme, wished
from paika.interfaces.wording.catalogue import Lang, words
from paika.interfaces.wording.say import CARD_CAUSE, Speaker, gib, say, span, told_of, when
from paika.services.live import Live
from paika.services.see_cards import CardCell

FEED = "/api/v1/events"
CARES = {  # which changes make a page look again; others look at all of them
    "q": "tasks runs plan datasets people teams quotas alarm",
    "i": "tasks runs plan cards nodes reservations people teams policy",
    "r": "tasks datasets people",
    "b": "reservations guarantees runs tasks people teams",
    "l": "balances people teams",
    "t": "balances people teams quotas",
}
STATUS = {
    Kind.INVALID: 422,
    Kind.REFUSED: 409,
    Kind.CONFLICT: 409,
    Kind.MISSING: 404,
    Kind.FORBIDDEN: 403,
    Kind.UNAUTHENTICATED: 401,
    Kind.SYSTEM: 503,
}
RAIL = (
    ("overview", "o", "/"),
    ("queue", "q", "/queue"),
    ("timeline", "i", "/timeline"),
    ("readiness", "r", "/readiness"),
    ("cards", "c", "/cards"),
    ("bookings", "b", "/bookings"),
    ("whatif", "w", "/what-if"),
    ("policy", "p", "/policy"),
    ("ledger", "l", "/ledger"),
    ("teams", "t", "/teams"),
)


_SINGULAR = {"people": "person", "entries": "entry"}
_ONE = re.compile(r"(?<![\w.,/-])1 (tasks|cards|items|rows|problems|datasets|people|entries|nodes|bytes)\b")


@dataclass(frozen=True, slots=True)
class RailEntry:
    """A page of the left rail."""

    name: str
    key: str
    href: str


@dataclass(frozen=True, slots=True)
class Visit:
    """What a page needs to know of its request. Records and live state are read once, so that a page agrees."""

    request: Request
    context: Context
    actor: Actor | None
    lang: Lang
    now: datetime
    records: Records
    live: Live
    speaker: Speaker = field(repr=False)

    @property
    def who(self) -> Actor:
        """The actor. Raises NotAuthenticated when nobody has logged in."""
        if self.actor is None:
            raise NotAuthenticated(field=None)
        return self.actor

    @property
    def stamp(self) -> int:
        """Tells plans apart; 0 before the first."""
        return int(self.live.plan.decided_at.timestamp()) if self.live.plan else 0

    @property
    def free_since(self) -> Mapping[str, datetime]:
        """Since when free cards are free, by card id."""
        return self.context.last_ends.of(self.context.store, self.records)

    @property
    def fragment(self) -> bool:
        """The page's script asks for the live region alone."""
        asked = self.request.headers
        return "hx-request" in asked and "hx-history-restore-request" not in asked

    def t(self, key: str, **facts: object) -> str:
        """A word of the catalogue with its facts filled in."""
        said = self.speaker.vformat(self.speaker.word(key), (), facts)
        return one_of(said) if self.lang is Lang.EN else said

    def maybe(self, key: str, otherwise: str) -> str:
        """A word if the catalogue has it, else the other text."""
        return words(self.lang).get(key, otherwise)

    def cause(self, card: CardCell) -> str:
        """Why a card is not well, in words."""
        return told_of(CARD_CAUSE, card.health_cause, self.lang) if card.health_cause else ""

    def when(self, at: datetime | None) -> str:
        """An instant in the site's zone, as short as today allows."""
        return when(at, self.context.zone, self.now)

    def span(self, seconds: int | None) -> str:
        """A duration in words."""
        return span(seconds, self.lang)

    def ago(self, at: datetime | None) -> str:
        """How long since."""
        return "—" if at is None else self.span(whole_seconds(at, self.now))

    def until(self, at: datetime | None) -> str:
        """How long until."""
        return "—" if at is None else self.span(whole_seconds(self.now, at))

    def exactly(self, at: datetime | None) -> str:
        """An instant with date, seconds and zone."""
        return "" if at is None else at.astimezone(self.context.zone).strftime("%Y-%m-%d %H:%M:%S %Z")

    def iso(self, at: datetime | None) -> str:
        """An instant for machines, in UTC."""
        return "" if at is None else at.replace(microsecond=0).isoformat()

    def told(self, what: Reason | Problem) -> dict[str, Any]:
        """A typed value in words: message, hint, code, facts."""
        return say(named(what, self.records) if isinstance(what, Reason) else what, self.speaker)

    def spoken(self, problem: Problem) -> dict[str, Any]:
        """A problem in words, its field by the name that the forms give it."""
        if isinstance(problem, Several):
            return self.told(problem)
        label = self.maybe(f"field.{problem.field}", problem.field or "") or None
        return self.told(replace(problem, field=label))

    def page(
        self, template: str, here_key: str = "", status: int = 200, *, lives: bool = True, **values: object
    ) -> HTMLResponse:
        """A whole page, or its live region alone when the page's script asks.

        A page that does not live by itself (a form that somebody fills in) is never fetched again by events.
        """
        fragment = "bare.html" if lives else "plain.html"
        layout = fragment if self.fragment else "layout.html"
        return self.part(template, status, layout=layout, here_key=here_key, **values)

    def filled(self, template: str, **values: object) -> str:
        """The text of a template with this visit's words and the values."""
        return render(template, self._common() | values)

    def part(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """A template filled in with this visit's words and the values."""
        body = self.filled(template, **values)
        return HTMLResponse(body, status, headers=HEADERS | {"Cache-Control": "no-store", "Vary": "HX-Request"})

    def done(self, event: str = "paika:done") -> Response:
        """The act is done: the page closes its dialog and looks again."""
        return Response(status_code=204, headers={"HX-Trigger": event})

    def go(self, path: str) -> Response:
        """Another page, whether a script or the browser asks."""
        if "hx-request" in self.request.headers:
            return Response(status_code=204, headers={"HX-Redirect": path})
        return RedirectResponse(path, status_code=303)

    def _common(self) -> dict[str, object]:
        request, actor = self.request, self.actor
        person = self.records.people.get(actor.person) if actor else None
        return {
            "t": self.t,
            "maybe": self.maybe,
            "cause": self.cause,
            "when": self.when,
            "span": self.span,
            "ago": self.ago,
            "until": self.until,
            "gib": gib,
            "told_of": self.told,
            "exactly": self.exactly,
            "iso": self.iso,
            "lang": self.lang.value,
            "lang_tag": "zh-CN" if self.lang is Lang.ZH else "en",
            "theme": theme(request),
            "actor": actor,
            "actor_name": person.name if person else actor.person if actor else "",
            "may": {act.value: actor is not None and actor.may(act) for act in Act},
            "rail": [RailEntry(*entry) for entry in RAIL if entry[0] not in _hidden(actor)],
            "here": address(request),
            "address": lambda **changed: address(request, **changed),
            "feed": FEED,
            "cares": CARES,
            "now": self.now,
            "plan_stamp": self.stamp,
            "page": self,
            "layout": "layout.html",
            "here_key": "",
        }


def _hidden(actor: Actor | None) -> frozenset[str]:
    """Pages that the visitor could do nothing on."""
    return frozenset() if actor is not None and actor.may(Act.SUBMIT_TASK) else frozenset({"whatif"})


def one_of(text: str) -> str:
    """English with '1 tasks' made '1 task'."""
    return _ONE.sub(lambda found: f"1 {_SINGULAR.get(found[1], found[1][:-1])}", text)


def look(request: Request) -> Visit:
    """A visit by anybody, logged in or not."""
    context: Context = request.app.state.board
    now, lang = context.clock.now(), language(request, context.lang)
    try:
        actor = actor_of_request(context, request)
    except NotAuthenticated:
        actor = None
    speaker = Speaker(lang, context.zone, now)
    return Visit(request, context, actor, lang, now, context.store.read(), context.live.read(), speaker)


def enter(visit: Annotated[Visit, Depends(look)]) -> Visit:
    """A visit by somebody who has logged in and may see. Raises NotAuthenticated, Forbidden."""
    visit.who.must(Act.SEE)
    return visit


Anybody = Annotated[Visit, Depends(look)]
Guest = Annotated[Visit, Depends(enter)]


class BoardRoute(APIRoute):
    """Refusals become pages in words; a visitor without a session is led to the login."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's hook around each request."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            if answer := wished(request):
                return answer
            try:
                return await inner(request)
            except NotAuthenticated:
                return _to_login(request)
            except Problem as problem:
                return refused(look(request), problem)

        return handle


def refused(visit: Visit, problem: Problem) -> Response:
    """A refusal as a dialog's content when a dialog asked, as a page otherwise."""
    status = STATUS[problem.kind]
    if visit.request.headers.get("hx-target") == "dialog":
        return visit.part("dialog_refused.html", status, told=visit.told(problem))
    return visit.page("error.html", status=status, told=visit.told(problem), back="/")


def _to_login(request: Request) -> Response:
    if "hx-request" in request.headers:
        return Response(status_code=204, headers={"HX-Redirect": "/login"})
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse("/login" + (f"?next={quote(path)}" if path != "/" else ""), status_code=303)
