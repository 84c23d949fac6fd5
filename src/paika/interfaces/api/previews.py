"""What if: edits that are only thought, and what the plan would make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Query
from starlette.responses import Response

from paika.domain.problem import Kind, Problem, UnknownField
from paika.domain.quantity import shown
from paika.interfaces.api.doors import AnyBody, Who, body_schema
from paika.interfaces.api.render import HEADERS, JsonText
from paika.services.preview_edits import MOST_TOLD
from paika.services.save_case import save_case
from paika.services.what_if_form import edit_schema, read_edits


@dataclass(eq=False)
class NoSnapshots(Problem):
    """This server was put together without a way to write snapshots."""

    code: ClassVar[str] = "plan.no_snapshots"
    kind: ClassVar[Kind] = Kind.SYSTEM


router = APIRouter(prefix="/plan", tags=["plan"])
_EDITS: dict[str, Any] = {"type": "object", "required": ["edits"], "properties": {"edits": edit_schema()}}


@router.post("/preview", openapi_extra=body_schema(_EDITS))
def preview(who: Who, body: AnyBody, limit: Annotated[int, Query(ge=1, le=500)] = MOST_TOLD) -> Response:
    """What the edits would do, planned for real: to the tasks they are about, to everybody else, to runs and floors.

    Nothing is written. Who may do what an edit says may look at it first.
    """
    context = who.context
    edits = read_edits(_edits(body), context.zone_name)
    return who.answer(context.what_ifs.of(context.store, who.records, who.live, who.actor, edits, who.now, most=limit))


@router.get("/snapshot")
def snapshot(who: Who) -> Response:
    """All that the next plan would look at, and the policy, as a file for a support case. For admins.

    Nobody's programs, variables, tokens, probes or notes are in it.
    """
    context = who.context
    case = save_case(who.records, who.live, who.actor, who.now, context.version)
    if context.snapshots is None:
        raise NoSnapshots(field=None)
    return JsonText(context.snapshots.encode_case(case), 200, HEADERS)


def _edits(body: Any) -> Any:
    if isinstance(body, dict) and "kind" not in body:
        for name in body:
            if name != "edits":
                raise UnknownField(field=shown(name), nearest=("edits",))
        return body.get("edits", [])
    return body
