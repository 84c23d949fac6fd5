"""What visitors send: fields of a form as text, and problems sorted by the field they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends
from starlette.datastructures import UploadFile
from starlette.requests import Request

from paika.domain.problem import Kind, Problem, Several
from paika.interfaces.board.visit import Visit

Fields = dict[str, str]
MOST_FIELDS = 200
_NOT_MENDED = frozenset({Kind.FORBIDDEN, Kind.UNAUTHENTICATED, Kind.SYSTEM})


async def read_fields(request: Request) -> Fields:
    """The text fields of a posted form; the last one of a name counts, line ends are made plain."""
    form = await request.form(max_fields=MOST_FIELDS, max_files=0)
    return {key: value.replace("\r\n", "\n") for key, value in form.multi_items() if not isinstance(value, UploadFile)}


async def read_lists(request: Request) -> dict[str, tuple[str, ...]]:
    """All values of each name of a posted form, for boxes that are ticked together."""
    form = await request.form(max_fields=MOST_FIELDS, max_files=0)
    return {key: tuple(v for v in form.getlist(key) if isinstance(v, str)) for key in form}


Posted = Annotated[Fields, Depends(read_fields)]
Ticked = Annotated[dict[str, tuple[str, ...]], Depends(read_lists)]


def by_field(visit: Visit, problem: Problem) -> dict[str, dict[str, Any]]:
    """Problems in words by the field they speak of; '' for those of the whole. Those that no editing mends go on."""
    if problem.kind in _NOT_MENDED:
        raise problem
    found = problem.problems if isinstance(problem, Several) else (problem,)
    told: dict[str, dict[str, Any]] = {}
    for one in found:
        told.setdefault(one.field or "", visit.spoken(one))
    return told


def version_of(fields: Mapping[str, str]) -> int | None:
    """The version that the visitor had read; None if he does not say."""
    text = fields.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
