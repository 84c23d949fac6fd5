"""The policy: its numbers, its versions, and how it is changed and taken back."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain import form
from paika.domain.form import FieldKind, Form, FormField
from paika.domain.policy_form import POLICY
from paika.interfaces.api.doors import Body, Who, body_schema
from paika.services.access_form import REASON, read_edit, read_reason
from paika.services.change_policy import roll_back_policy, see_policy_versions, set_policy

router = APIRouter(prefix="/policy", tags=["policy"])
_BACK = Form((FormField("to", FieldKind.WHOLE, (), 1, 1 << 31, required=True), *REASON.fields))
_NUMBERS: dict[str, Any] = form.schema(Form((*POLICY.fields, *REASON.fields)))


@router.get("")
def policy(who: Who) -> Response:
    """The numbers and switches of the rules."""
    return who.answer(who.records.policy, version=who.records.policy.version)


@router.patch("", openapi_extra=body_schema(_NUMBERS))
def set_numbers(who: Who, body: Body) -> Response:
    """Change the numbers that are named, from the next plan on; what they would do: /plan/preview. For admins."""
    context = who.context
    reason = {name: value for name, value in body.items() if REASON.match(name) is not None}
    made = set_policy(
        context.store,
        context.clock,
        who.actor,
        {name: value for name, value in body.items() if name not in reason},
        context.zone_name,
        why=read_reason(reason, context.zone_name),
        if_version=who.if_version,
    )
    return who.answer(made, version=made.version)


@router.get("/versions")
def versions(who: Who) -> Response:
    """All versions, newest first, each with what it changed."""
    rows = see_policy_versions(who.records)
    return who.answer({"rows": rows, "total": len(rows)})


@router.post("/rollback", openapi_extra=body_schema(form.schema(_BACK)))
def roll_back(who: Who, body: Body) -> Response:
    """Bring back the numbers of an earlier version, as a new one. For admins."""
    context = who.context
    asked = read_edit(_BACK, body, context.zone_name, whole=True)
    made = roll_back_policy(
        context.store, context.clock, who.actor, asked.values["to"], why=asked.why, if_version=who.if_version
    )
    return who.answer(made, version=made.version)
