"""What each request brings: who asks, in which language, with which body; and how it is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, NoReturn

from fastapi import Depends, Request
from starlette.requests import HTTPConnection
from starlette.responses import Response

from paika.domain.access import Act, Actor
from paika.domain.problem import BadValue, Kind, Problem
from paika.domain.records import Records
from paika.domain.task import Task
from paika.interfaces.api.context import Context
from paika.interfaces.api.queue_text import queue_text
from paika.interfaces.api.render import HEADERS, Json, JsonText, plain
from paika.interfaces.api.session import actor_of_request
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import Speaker
from paika.services.live import Live
from paika.services.see_queue import QueueView
from paika.services.see_task import may_read_program

LANG_COOKIE = "paika_lang"
_TEXT_SHOWN = 80


@dataclass(eq=False)
class NotJson(Problem):
    """The body is no JSON, or JSON that leaves open what is meant."""

    code: ClassVar[str] = "api.not_json"
    kind: ClassVar[Kind] = Kind.INVALID
    detail: str


@dataclass(frozen=True, slots=True)
class Caller:
    """A request by somebody who may see. Records and live state are read once, so that an answer agrees."""

    context: Context
    request: Request
    actor: Actor
    now: datetime
    speaker: Speaker = field(repr=False)
    records: Records = field(repr=False)
    live: Live = field(repr=False)

    def answer(self, value: Any, status: int = 200, *, version: int | None = None, location: str = "") -> Response:
        """The value as JSON, with the noun's version as its ETag and its place if they are given."""
        headers = self._headers()
        if version is not None:
            headers |= {"ETag": f'"{version}"'}
        if location:
            headers |= {"Location": location}
        return Json(plain(value, self.speaker), status, headers)

    def answer_queue(self, view: QueueView) -> Response:
        """A page of the queue as JSON; rows that were told before are not told anew."""
        return JsonText(queue_text(view, self.speaker), 200, self._headers())

    def _headers(self) -> dict[str, str]:
        return HEADERS | {"Content-Language": self.speaker.lang.value}

    @property
    def if_version(self) -> int | None:
        """The version that the caller has read, from If-Match; None if he does not say. Raises BadValue."""
        asked = self.request.headers.get("if-match", "").strip()
        if asked in ("", "*"):
            return None
        bare = asked.removeprefix("W/").strip('"')
        if not (bare.isascii() and bare.isdigit() and len(bare) < 10):
            raise BadValue(field="If-Match", value=asked[:_TEXT_SHOWN], allowed='"<version>"')
        return int(bare)

    def masked(self, task: Task) -> Task:
        """The task as this caller may see it: values of variables are for those who may change the task."""
        if may_read_program(self.actor, task):
            return task
        hidden = tuple((name, "…") for name, _ in task.program.variables)
        return replace(task, program=replace(task.program, variables=hidden))


def context_of(request: HTTPConnection) -> Context:
    """The context of the running server."""
    context: Context = request.app.state.api
    return context


def language(request: HTTPConnection, otherwise: Lang) -> Lang:
    """?lang=, else the cookie, else the first of Accept-Language that the house speaks, else the site's."""
    known = {lang.value: lang for lang in Lang}
    for asked in (request.query_params.get("lang", ""), request.cookies.get(LANG_COOKIE, "")):
        if asked in known:
            return known[asked]
    for part in request.headers.get("accept-language", "").split(","):
        tag = part.partition(";")[0].strip().lower().split("-")[0]
        if tag in known:
            return known[tag]
    return otherwise


def speaker_of(request: HTTPConnection) -> Speaker:
    """Who puts values into words for this request."""
    context = context_of(request)
    return Speaker(language(request, context.lang), context.zone, context.clock.now())


def signed_in(request: Request) -> Caller:
    """The caller. Raises NotAuthenticated, Forbidden, CrossSite, BadValue."""
    context = context_of(request)
    actor = actor_of_request(context, request)
    actor.must(Act.SEE)
    for where, text in (("path", request.url.path), ("query", request.url.query)):
        if "\x00" in text or "%00" in text:
            raise BadValue(field=where, value="⟦U+0000⟧", allowed="text without U+0000")
    speaker = speaker_of(request)
    now = speaker.now or context.clock.now()
    return Caller(context, request, actor, now, speaker, context.store.read(), context.live.read())


Who = Annotated[Caller, Depends(signed_in)]


def parse_json(data: bytes) -> Any:
    """The value of a JSON text. Raises NotJson: also for NaN, infinities, a key given twice, half characters."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_pairs)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as fault:
        raise NotJson(field=None, detail=str(fault)[:_TEXT_SHOWN]) from None
    return value


async def json_value(request: Request, _: Who) -> Any:
    """The body; an empty one is an empty object."""
    data = await request.body()
    return parse_json(data) if data.strip() else {}


async def json_object(value: Annotated[Any, Depends(json_value)]) -> Mapping[str, object]:
    """The body as an object. Raises NotJson."""
    if not isinstance(value, dict):
        raise NotJson(field=None, detail="an object was expected")
    return value


Body = Annotated[Mapping[str, object], Depends(json_object)]
AnyBody = Annotated[Any, Depends(json_value)]


def body_schema(schema: Mapping[str, Any], *, required: bool = True) -> dict[str, Any]:
    """The OpenAPI part of a JSON body that is read as it is written."""
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": dict(schema)}}}}


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in pairs:
        if key in read:
            raise ValueError(f"the key {key!r} stands twice")
        read[key] = value
    return read
