"""What if: edits put together one by one, and after each what the plan would make of them all. Nothing is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.form import FieldKind, FormField, Group
from paika.domain.node import NodeState
from paika.domain.policy_form import POLICY
from paika.domain.problem import BadValue, Problem, Several
from paika.domain.quantity import duration_text
from paika.domain.task import QUEUED
from paika.domain.task_form import FORM
from paika.interfaces.board.entry import Fields, Posted
from paika.interfaces.board.outcome import fate_words, landing, start_words
from paika.interfaces.board.submit import Shown, is_default, shown_field
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.change_task import may_change
from paika.services.preview_edits import WhatIf
from paika.services.what_if_form import EDITS, MOST_EDITS, RIGHTS, EditKind, read_edits

router = APIRouter(route_class=BoardRoute)
MOST = 20  # rows of each list of others
MOST_HINTS = 300
COUNTS = ("cards", "waiting", "starts", "told", "untold", "parked", "stops", "misses")
SETTING, VALUE = "setting", "value"
_DECIDES_NOTHING = frozenset(
    {"command", "script", "workdir", "environment", "env", "note", "tags", "milestone", "stop_signal", "log_budget"}
)  # fields of a task that no plan looks at
Edit = dict[str, Any]
Wrong = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Chip:
    """An edit that was put together, as the page lists it."""

    kind: str
    about: str


@router.get("/what-if")
def ask(visit: Guest, what: str = "", whose: str = "") -> Response:
    """The page with nothing thought yet; `what` and `whose` fill in the first edit."""
    visit.who.must(Act.SUBMIT_TASK)
    return _page(visit, [], _kind(visit, what), {"whose": whose})


@router.get("/what-if/fields")
def fields(visit: Guest, what: str = "") -> Response:
    """The fields of another kind of edit."""
    visit.who.must(Act.SUBMIT_TASK)
    kind = _kind(visit, what)
    return visit.part("what_if_fields.html", wrong={}, **_form(visit, kind, {}, {}))


@router.post("/what-if")
def look(visit: Guest, posted: Posted) -> Response:
    """Add the edit of the form, or drop one, and tell what all of them would do."""
    visit.who.must(Act.SUBMIT_TASK)
    kind, edits = _kind(visit, posted.get("what", "")), _kept(posted.get("edits", ""))
    adds = not {"drop", "again"} & posted.keys()
    if "drop" in posted:
        edits = [edit for n, edit in enumerate(edits) if str(n) != posted["drop"]]
    asked = [*edits, _written(kind, posted)] if adds else edits
    if not asked:
        return _page(visit, [], kind, {})
    try:
        told = _planned(visit, asked)
    except Problem as problem:
        wrong = _wrong(visit, problem, len(asked) if adds else 0, kind)
        return _page(visit, edits, kind, posted, wrong)
    return _page(visit, asked, kind, {}, told=told)


def _planned(visit: Visit, edits: Sequence[Edit]) -> WhatIf:
    context = visit.context
    asked = read_edits(edits, context.zone_name)
    return context.what_ifs.of(context.store, visit.records, visit.live, visit.who, asked, visit.now, most=MOST)


def _page(
    visit: Visit,
    edits: Sequence[Edit],
    kind: EditKind,
    values: Mapping[str, str],
    wrong: Wrong | None = None,
    told: WhatIf | None = None,
) -> Response:
    wrong = wrong or {}
    form = _form(visit, kind, values, wrong)
    known = {it.key for it in (*form["basic"], *form["advanced"])} | {"whose"}
    return visit.page(
        "what_if.html",
        "w",
        status=422 if wrong else 200,
        lives=False,
        kinds=[(one.value, visit.t(f"whatif.kind.{one}")) for one in _offered(visit)],
        chips=[_chip(visit, edit) for edit in edits],
        full=len(edits) >= MOST_EDITS,
        edits=json.dumps(edits, ensure_ascii=False),
        whole=[says for key, says in wrong.items() if key not in known],
        wrong=wrong,
        told=told,
        **(_told(visit, told) if told else {}),
        **form,
    )


def _told(visit: Visit, told: WhatIf) -> dict[str, object]:
    """The answer in words."""
    pairs = [(name, getattr(told.before, name), getattr(told.after, name)) for name in COUNTS]
    ended = [(one.run, fate_words(visit, one.again, told.at) if one.again else "") for one in told.ended]
    return {
        "start": start_words(visit, told.at),
        "landings": [landing(visit, subject, told.at) for subject in told.subjects],
        "ended": ended[:MOST],
        "ended_left": max(0, len(ended) - MOST),
        "counts": [(visit.t(f"whatif.count.{name}"), was, becomes) for name, was, becomes in pairs],
    }


# -- the form of one edit ------------------------------------------------------------------------------


def _form(visit: Visit, kind: EditKind, values: Mapping[str, str], wrong: Wrong) -> dict[str, Any]:
    how = EDITS[kind]
    made = list(_fields(visit, kind, values, wrong))
    return {
        "kind": kind.value,
        "about": visit.t(f"whatif.about.{kind}"),
        "whose": _whose(visit, kind, values, wrong) if how.of else None,
        "basic": [it for it, group in made if group is Group.BASIC and it.control != "none"],
        "advanced": [it for it, group in made if group is not Group.BASIC and it.control != "none"],
        "unfold": any(
            it.wrong or it.value not in ("", _default(kind, it.key)) for it, group in made if group is not Group.BASIC
        ),
    }


def _default(kind: EditKind, key: str) -> str:
    form = EDITS[kind].form
    field = form.by_key.get(key) if form else None
    return "" if field is None or kind is EditKind.CHANGED_TASK else field.default


def _fields(visit: Visit, kind: EditKind, values: Mapping[str, str], wrong: Wrong) -> Iterator[tuple[Shown, Group]]:
    form = EDITS[kind].form
    if form is None:
        return
    if kind is EditKind.POLICY:
        yield _setting(visit, values, wrong), Group.BASIC
        yield _plain(visit, VALUE, values, wrong), Group.BASIC
        return
    noun = "" if form is FORM else kind.value
    for field in form.fields:
        if form is FORM and (field.key in _DECIDES_NOTHING or (kind is EditKind.CHANGED_TASK and field.key == "owner")):
            continue
        shown = shown_field(visit, _as_asked(kind, field), values, wrong, noun)
        yield (_unchanged(visit, shown) if kind is EditKind.CHANGED_TASK else shown), field.group


def _as_asked(kind: EditKind, field: FormField) -> FormField:
    """A change has no defaults, and name and command of a new task may stay empty."""
    if kind is EditKind.CHANGED_TASK:
        choices = field.choices
        kept = FieldKind.CHOICE if field.kind is FieldKind.FLAG else field.kind
        flags = (("true", True), ("false", False)) if field.kind is FieldKind.FLAG else choices
        return replace(field, default="", required=False, kind=kept, choices=flags)
    return replace(field, required=field.required and kind is not EditKind.NEW_TASK)


def _unchanged(visit: Visit, shown: Shown) -> Shown:
    if shown.control != "choice" or any(value == "" for value, _ in shown.options):
        options = tuple(
            (value, visit.t("whatif.unchanged") if value == "" else words) for value, words in shown.options
        )
        return replace(shown, options=options)
    return replace(shown, options=(("", visit.t("whatif.unchanged")), *shown.options))


def _setting(visit: Visit, values: Mapping[str, str], wrong: Wrong) -> Shown:
    """Which number of the policy, each with what it is now."""
    now = {field.key: _now(visit, field) for field in POLICY.fields}
    options = tuple((key, f"{visit.t(f'whatif.policy.{key}')} ({value})") for key, value in now.items())
    return replace(_plain(visit, SETTING, values, wrong), control="choice", options=options)


def _now(visit: Visit, field: FormField) -> str:
    value = getattr(visit.records.policy, field.key)
    if field.kind is FieldKind.DURATION:
        return duration_text(value)
    if isinstance(value, bool):
        return visit.t("word.yes" if value else "word.no")
    return "—" if value in (None, ()) else str(len(value)) if isinstance(value, tuple) else str(value)


def _plain(visit: Visit, key: str, values: Mapping[str, str], wrong: Wrong, hints: tuple[str, ...] = ()) -> Shown:
    about = visit.maybe(f"whatif.{key}.about", "")
    return Shown(key, "line", visit.t(f"whatif.{key}"), about, values.get(key, ""), False, (), hints, wrong.get(key))


def _whose(visit: Visit, kind: EditKind, values: Mapping[str, str], wrong: Wrong) -> Shown:
    """The noun that the edit is about: written, with those that it may mean as hints."""
    noun = EDITS[kind].of
    shown = _plain(visit, "whose", values, wrong, tuple(_hints(visit, kind, noun)))
    return replace(shown, label=visit.t(f"whatif.of.{noun}"), about=visit.maybe(f"whatif.of.{noun}.about", ""))


def _hints(visit: Visit, kind: EditKind, noun: str) -> Iterator[str]:
    records = visit.records
    if noun == "node":
        down = kind is EditKind.NODE_BACK
        nodes = sorted(records.nodes.values(), key=lambda one: ((one.state is NodeState.UP) is down, one.id))
        yield from (one.id for one in nodes[:MOST_HINTS])
    elif noun == "card":
        yield from sorted(records.cards)[:MOST_HINTS]
    elif noun == "team":
        yield from sorted(one.name for one in records.teams.values())
    elif noun == "guarantee":
        yield from sorted(records.guarantees)
    elif noun == "dataset":
        yield from sorted(one.name for one in records.datasets.values() if one.readiness != "ready")[:MOST_HINTS]
    elif noun == "task":
        mine = (one for one in records.tasks.values() if may_change(visit.who, one))
        running = kind is EditKind.CANCELLED_TASK
        yield from [one.id for one in mine if running or one.state in QUEUED][:MOST_HINTS]


# -- edits as they travel with the page ----------------------------------------------------------------


def _offered(visit: Visit) -> list[EditKind]:
    return [kind for kind in EDITS if visit.who.may(RIGHTS[kind])]


def _kind(visit: Visit, what: str) -> EditKind:
    offered = _offered(visit)
    return EditKind(what) if what in offered else offered[0]


def _kept(text: str) -> list[Edit]:
    """The edits that came with the page. Raises BadValue for what no page sends."""
    try:
        edits = json.loads(text or "[]")
    except (ValueError, RecursionError):
        edits = None
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        raise BadValue(field="edits", value=text[:80], allowed="[]")
    return edits


def _written(kind: EditKind, posted: Fields) -> Edit:
    """The edit of the form, as every door writes it."""
    how = EDITS[kind]
    edit: Edit = {"kind": kind.value}
    if how.of:
        edit["of"] = posted.get("whose", "").strip()
    if kind is EditKind.POLICY:
        edit["form"] = {posted.get(SETTING, ""): posted.get(VALUE, "").strip() or None}
    elif how.form is not None:
        edit["form"] = {key: value.strip() for key, value in posted.items() if _says(kind, key, value)}
    if kind is EditKind.QUOTA:
        edit["form"] = {"max_cards": posted.get("max_cards", "").strip() or None}
    return edit


def _says(kind: EditKind, key: str, value: str) -> bool:
    form = EDITS[kind].form
    if form is None or key not in form.by_key or not value.strip():
        return False
    return kind is EditKind.CHANGED_TASK or not is_default(form, key, value)


def _wrong(visit: Visit, problem: Problem, last: int, kind: EditKind) -> dict[str, Mapping[str, object]]:
    """Problems in words; those of the edit in the form, which is number `last`, by the field of the page."""
    told: dict[str, Mapping[str, object]] = {}
    for one in problem.problems if isinstance(problem, Several) else (problem,):
        key = (one.field or "").removeprefix(f"edits[{last - 1}].")
        if last and not key.startswith("edits["):
            key = "whose" if key == "of" else VALUE if kind is EditKind.POLICY and key in POLICY.by_key else key
        told.setdefault(key, visit.spoken(replace(one, field=key or None)))
    return told


def _chip(visit: Visit, edit: Edit) -> Chip:
    kind, form = str(edit.get("kind", "")), edit.get("form")
    said = [str(edit["of"])] if edit.get("of") else []
    for key, value in form.items() if isinstance(form, dict) else ():
        word = f"whatif.policy.{key}" if kind == EditKind.POLICY else f"field.{key}"
        booked = visit.maybe(f"field.booking.{key}", "") if kind == EditKind.BOOKING else ""
        said.append(f"{booked or visit.maybe(word, str(key))} {'—' if value is None else value}")
    return Chip(visit.maybe(f"whatif.kind.{kind}", kind), visit.t("list.comma").join(said))
