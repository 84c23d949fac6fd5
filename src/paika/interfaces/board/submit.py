"""Submitting a task by the form that all doors share; each problem stands beside its field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import join

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.form import FieldKind, Form, FormField, Group
from paika.domain.problem import Problem
from paika.domain.task import Task
from paika.domain.task_form import FIELDS, FORM, form_of, read_form
from paika.interfaces.board.entry import Fields, Posted, by_field
from paika.interfaces.board.outcome import planned
from paika.interfaces.board.rows import need_words
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.see_task import may_read_program
from paika.services.submit_task import prepare, submit_tasks
from paika.services.what_if_form import NewTask

router = APIRouter(route_class=BoardRoute)
BLOCKS = frozenset({"script", "env", "note"})
CHECK = "check"  # the button that only checks
KEYS = frozenset(field.key for field in FIELDS)


@dataclass(frozen=True, slots=True)
class Shown:
    """A field as the page shows it. `options` are (value, words) of a choice, `hints` what may be typed."""

    key: str
    control: str
    label: str
    about: str
    value: str
    required: bool
    options: tuple[tuple[str, str], ...]
    hints: tuple[str, ...]
    wrong: Mapping[str, object] | None


@router.get("/submit")
def ask(visit: Guest, like: str = "", types: str = "") -> Response:
    """The empty form, or one filled in like a task that was there before."""
    visit.who.must(Act.SUBMIT_TASK)
    task = (visit.records.tasks.get(like) or visit.context.store.task(like)) if like else None
    return _form(visit, _like(visit, task) if task else {"types": types}, {})


@router.post("/submit")
def submit(visit: Guest, fields: Posted) -> Response:
    """Submit, or with the other button only check."""
    raw = {
        key: value
        for key, value in fields.items()
        if key in KEYS and value.strip() and not is_default(FORM, key, value)
    }
    try:
        draft = read_form(raw, visit.context.zone_name)
        if CHECK in fields:
            task = prepare(visit.records, visit.who, [draft], visit.now, visit.context.store.task)[0]
            return _form(visit, fields, {}, checked=_checked(visit, task), **planned(visit, [NewTask(draft)]))
        key = fields.get("key") or None
        task = submit_tasks(visit.context.store, visit.context.clock, visit.who, [draft], key=key)[0]
    except Problem as problem:
        return _form(visit, fields, by_field(visit, problem))
    return visit.go(f"/tasks/{task.id}")


def _form(
    visit: Visit,
    values: Mapping[str, str],
    wrong: Mapping[str, Mapping[str, object]],
    checked: str = "",
    **lands: object,
) -> Response:
    made = [shown_field(visit, field, values, wrong) for field in FIELDS]
    groups = {group: [it for it, field in zip(made, FIELDS, strict=True) if field.group is group] for group in Group}
    return visit.page(
        "submit.html",
        "n",
        lives=False,
        status=422 if wrong else 200,
        basic=[it for it in groups[Group.BASIC] if it.control != "none"],
        advanced=[it for it in groups[Group.ADVANCED] if it.control != "none"],
        unfold=any(it.wrong or (it.value and not is_default(FORM, it.key, it.value)) for it in groups[Group.ADVANCED]),
        whole=[told for key, told in wrong.items() if key not in KEYS],
        wrong=wrong,
        checked=checked,
        **{"told": None, "landings": (), "start": None, "busy": None, **lands},
        key=values.get("key") or visit.context.ids.token(),
    )


def shown_field(
    visit: Visit,
    field: FormField,
    values: Mapping[str, str],
    wrong: Mapping[str, Mapping[str, object]],
    noun: str = "",
) -> Shown:
    """The field as a page shows it; a form of another `noun` may have words of its own."""
    options = tuple(_options(visit, field))
    label = visit.maybe(f"field.{noun}.{field.key}", "") or visit.t(f"field.{field.key}")
    return Shown(
        key=field.key,
        control=_control(field, options),
        label=label,
        about=visit.maybe(f"about.{noun}.{field.key}" if noun else f"about.{field.key}", ""),
        value=values.get(field.key, field.default),
        required=field.required,
        options=options,
        hints=tuple(_hints(visit, field.key)),
        wrong=wrong.get(field.key),
    )


def _control(field: FormField, options: tuple[tuple[str, str], ...]) -> str:
    if field.key in ("team", "owner"):
        return "choice" if len(options) > 1 else "none"
    if field.kind is FieldKind.CHOICE:
        return "choice"
    if field.kind is FieldKind.FLAG:
        return "flag"
    if field.kind in (FieldKind.WHOLE, FieldKind.CARDS, FieldKind.PERCENT):
        return "number"
    if field.kind in (FieldKind.INSTANT, FieldKind.DEADLINE):
        return "instant"
    return "block" if field.key in BLOCKS else "line"


def _options(visit: Visit, field: FormField) -> Iterable[tuple[str, str]]:
    records, who = visit.records, visit.who
    if field.key == "team":
        teams = records.teams if who.may(Act.CHANGE_ANY_TASK) else who.teams
        yield from (
            ("", visit.t("submit.own_team")),
            *((t, records.teams[t].name) for t in teams if t in records.teams),
        )
    elif field.key == "owner" and (who.may(Act.CHANGE_ANY_TASK) or who.leads):
        yield ("", visit.t("submit.myself"))
        yield from ((p.id, p.name) for p in records.people.values() if p.active and _may_submit_for(visit, p.teams))
    elif field.kind is FieldKind.CHOICE:
        words: dict[object, str] = {}
        for word, value in field.choices:
            words.setdefault(value, word)
        allowed = [
            w for w in words.values() if not (field.key == "tier" and w == "core" and not who.may(Act.MAKE_CORE_TASK))
        ]
        yield from ((word, _choice_words(visit, field, word)) for word in allowed)


def _choice_words(visit: Visit, field: FormField, word: str) -> str:
    if word in ("true", "false"):
        return visit.t("word.yes" if word == "true" else "word.no")
    return visit.maybe(f"{field.key}.{word}", "") or visit.maybe(f"booking.{field.key}.{word}", word.upper())


def _may_submit_for(visit: Visit, teams: tuple[str, ...]) -> bool:
    return visit.who.may(Act.CHANGE_ANY_TASK) or bool(set(teams) & set(visit.who.leads))


def _hints(visit: Visit, key: str) -> Iterable[str]:
    records = visit.records
    if key == "types":
        return sorted({card.type for card in records.cards.values()})
    if key == "inputs":
        return sorted(dataset.name for dataset in records.datasets.values())
    return sorted({node.pool for node in records.nodes.values() if node.pool}) if key == "pool" else ()


def _like(visit: Visit, task: Task) -> Fields:
    """The form of a task as text. Values of its variables stay with those who may read them."""
    fields: Fields = {}
    for key, value in form_of(task).items():
        if key == "env" and isinstance(value, dict):
            fields[key] = "\n".join(f"{k}={v}" for k, v in value.items()) if may_read_program(visit.who, task) else ""
        elif key == "command" and isinstance(value, list):
            fields[key] = join(value)
        elif key not in ("after", "owner", "not_before"):
            fields[key] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return fields


def is_default(form: Form, key: str, value: str) -> bool:
    """Whether the field would have that value anyway."""
    field = form.by_key.get(key)
    return field is not None and field.default.lower() == value.lower()


def _checked(visit: Visit, task: Task) -> str:
    return visit.t("submit.checked", need=need_words(visit, task.demand))
