"""The policy: its numbers, its versions, and how it is changed and taken back."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain import form
from paika.domain.form import FieldKind, Form, FormField
from paika.domain.policy_form import POLICY
from paika.domain.problem import FieldMissing, Several
from paika.interfaces.api.doors import Body, Who, body_schema
from paika.services.change_policy import roll_back_policy, see_policy_versions, set_policy

router = APIRouter(prefix="/policy", tags=["policy"])
_REASON = FormField("reason", FieldKind.TEXT, ("理由",), 0, 500)
_BACK = Form((FormField("to", FieldKind.WHOLE, (), 1, 1 << 31, required=True), _REASON))
_NUMBERS: dict[str, Any] = form.schema(Form((*POLICY.fields, _REASON)))


@router.get("")
def policy(who: Who) -> Response:
    """The numbers and switches of the rules."""
    return who.answer(who.records.policy, version=who.records.policy.version)


@router.patch("", openapi_extra=body_schema(_NUMBERS))
def set_numbers(who: Who, body: Body) -> Response:
    """Change the numbers that are named, from the next plan on; what they would do: /plan/preview. For admins."""
    context, numbers = who.context, dict(body)
    why = numbers.pop("reason", None)
    made = set_policy(
        context.store,
        context.clock,
        who.actor,
        numbers,
        context.zone_name,
        why=why if isinstance(why, str) else "",
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
    read, problems = _BACK.read(body, context.zone_name)
    asked: dict[str, Any] = dict(read)
    if problems:
        raise Several(field=None, problems=tuple(problems))
    if "to" not in asked:
        raise FieldMissing(field="to")
    why, version = asked.get("reason") or "", who.if_version
    made = roll_back_policy(context.store, context.clock, who.actor, asked["to"], why=why, if_version=version)
    return who.answer(made, version=made.version)
