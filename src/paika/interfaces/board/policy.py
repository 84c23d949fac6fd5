"""The policy: all its numbers, its versions; admins change one or take all back, after a look at who would slip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.form import FieldKind, FormField
from paika.domain.policy import Headroom, Policy
from paika.domain.policy_form import POLICY, read_numbers
from paika.domain.problem import NotFound, Problem
from paika.domain.quantity import duration_text
from paika.interfaces.board.entry import Fields, Posted, by_field, version_of
from paika.interfaces.board.outcome import planned
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.change_policy import NumberChanged, VersionRow, roll_back_policy, see_policy_versions, set_policy
from paika.services.seen import person_named
from paika.services.what_if_form import NewPolicy

router = APIRouter(route_class=BoardRoute)
CHECK = "check"  # the button that only looks
VALUE = "value"
MOST_VERSIONS = 100
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("order", ("step_s", "age_", "slack_", "fair_", "improve_")),
    ("cards", ("oversize_", "vram_", "bandwidth_", "headroom", "card_returns_")),
    ("time", ("hold_for_", "unknown_run_", "horizon_", "normal_depth", "idle_depth", "no_show_")),
    ("density", ("density_", "tight_", "strict_")),
    ("stops", ("preempt_", "minimum_grace_", "idle_borrows")),
    ("runs", ("retries_", "retry_", "start_timeout_", "log_budget_")),
)
Wrong = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Line:
    """A number of the policy as the page shows it; `default` is "" where it is the default."""

    name: str
    label: str
    value: str
    default: str


@dataclass(frozen=True, slots=True)
class Past:
    """A version in words: what it changed as (label, before, after)."""

    row: VersionRow
    who: Any
    changed: tuple[tuple[str, str, str], ...]


@router.get("/policy")
def policy(visit: Guest) -> Response:
    """All numbers in force, and the versions."""
    versions = see_policy_versions(visit.records)
    groups = [(name, [_line(visit, field) for field in _of(starts)]) for name, starts in GROUPS]
    return visit.page(
        "policy.html",
        "p",
        number=visit.records.policy.version,
        columns=[groups[::2], groups[1::2]],
        versions=[_past(visit, row) for row in versions[:MOST_VERSIONS]],
        left_out=max(0, len(versions) - MOST_VERSIONS),
    )


@router.get("/policy/edit/{name}")
def ask(visit: Guest, name: str) -> Response:
    """The form of one number."""
    visit.who.must(Act.CHANGE_POLICY)
    field = _field(name)
    now = visit.records.policy
    return _form(visit, field, {VALUE: _written(getattr(now, field.key)), "version": str(now.version)}, {})


@router.post("/policy/edit/{name}")
def edit(visit: Guest, name: str, fields: Posted) -> Response:
    """Change it, or with the other button only tell what that would do."""
    visit.who.must(Act.CHANGE_POLICY)
    field, context = _field(name), visit.context
    raw = {field.key: fields.get(VALUE, "").strip()}
    try:
        numbers = read_numbers(raw, context.zone_name)
        if CHECK in fields:
            return _form(visit, field, fields, {}, planned(visit, [NewPolicy(numbers)]))
        why, version = fields.get("reason", ""), version_of(fields)
        set_policy(context.store, context.clock, visit.who, raw, context.zone_name, why=why, if_version=version)
    except Problem as problem:
        wrong = by_field(visit, problem)
        return _form(visit, field, fields, {VALUE if key == field.key else key: told for key, told in wrong.items()})
    return visit.done()


@router.get("/policy/rollback/{number}")
def ask_back(visit: Guest, number: int) -> Response:
    """Whether that version is really to come back, and what it would do."""
    visit.who.must(Act.CHANGE_POLICY)
    return _back(visit, number, {"version": str(visit.records.policy.version)}, {})


@router.post("/policy/rollback/{number}")
def back(visit: Guest, number: int, fields: Posted) -> Response:
    """Bring it back."""
    context = visit.context
    try:
        why, version = fields.get("reason", ""), version_of(fields)
        roll_back_policy(context.store, context.clock, visit.who, number, why=why, if_version=version)
    except Problem as problem:
        return _back(visit, number, fields, by_field(visit, problem))
    return visit.done()


def _of(starts: tuple[str, ...]) -> list[FormField]:
    return [field for field in POLICY.fields if field.key.startswith(starts)]


def _field(name: str) -> FormField:
    field = POLICY.by_key.get(name)
    if field is None:
        raise NotFound(field=None, noun="policy", id=name)
    return field


def _line(visit: Visit, field: FormField) -> Line:
    now, usual = (getattr(one, field.key) for one in (visit.records.policy, Policy()))
    default = "" if now == usual else _said(visit, field, usual)
    return Line(field.key, visit.t(f"whatif.policy.{field.key}"), _said(visit, field, now), default)


def _past(visit: Visit, row: VersionRow) -> Past:
    changed = tuple(_change(visit, one) for one in row.changed)
    return Past(row, person_named(visit.records, row.version.person) if row.version.person else None, changed)


def _change(visit: Visit, one: NumberChanged) -> tuple[str, str, str]:
    field = POLICY.by_key[one.name]
    return visit.t(f"whatif.policy.{one.name}"), _said(visit, field, one.old), _said(visit, field, one.new)


def _said(visit: Visit, field: FormField, value: Any) -> str:
    """A value in the reader's words."""
    if value is None:
        return visit.t("policy.unbounded")
    if isinstance(value, bool):
        return visit.t("word.yes" if value else "word.no")
    if field.kind is FieldKind.DURATION:
        return visit.span(value)
    if field.kind is FieldKind.CHOICE:
        return visit.t(f"policy.{field.key}.{value}")
    return _written(value) or visit.t("policy.none")


def _written(value: Any) -> str:
    """A value as the form takes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "; ".join(_headroom(one) for one in value)
    return str(value)


def _headroom(one: Headroom) -> str:
    where = f"@{one.pool}" if one.pool else ""
    types = f":{'+'.join(one.card_types)}" if one.card_types else ""
    return f"{one.units}x{one.together}{where}{types}{'' if one.refill else '!'}"


def _choices(visit: Visit, field: FormField) -> list[tuple[str, str]]:
    if field.kind is FieldKind.FLAG:
        return [("true", visit.t("word.yes")), ("false", visit.t("word.no"))]
    return [(value, visit.t(f"policy.{field.key}.{value}")) for value, _ in field.choices]


def _form(
    visit: Visit, field: FormField, values: Fields, wrong: Wrong, told: Mapping[str, object] | None = None
) -> Response:
    values = dict(values)
    if field.kind is FieldKind.DURATION and values.get(VALUE, "").isdigit():
        values[VALUE] = duration_text(int(values[VALUE]))
    return visit.part(
        "dialog_policy.html",
        422 if wrong else 200,
        field_name=field.key,
        label=visit.t(f"whatif.policy.{field.key}"),
        now=_said(visit, field, getattr(visit.records.policy, field.key)),
        choices=_choices(visit, field),
        values=values,
        wrong=wrong,
        **(told or {"told": None, "busy": None}),
    )


def _back(visit: Visit, number: int, values: Fields, wrong: Wrong) -> Response:
    row = next((one for one in see_policy_versions(visit.records) if one.version.number == number), None)
    if row is None:
        raise NotFound(field=None, noun="policy_version", id=str(number))
    old = {field.key: getattr(row.version.policy, field.key) for field in POLICY.fields}
    return visit.part(
        "dialog_policy_back.html",
        422 if wrong else 200,
        number=number,
        values=values,
        wrong=wrong,
        **planned(visit, [NewPolicy(old)]),
    )
