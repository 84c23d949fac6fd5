"""Readiness: what can run, what waits for data, who owes it; states set by hand in place."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.dataset import Readiness
from paika.domain.dataset_form import DATASET_FORM, read_dataset_form, read_mark
from paika.domain.form import Group
from paika.domain.problem import Problem
from paika.interfaces.board.entry import Fields, Posted, by_field, version_of
from paika.interfaces.board.rows import TONES, ready_words
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.mark_ready import create_dataset, mark_dataset
from paika.services.see_readiness import DatasetRow, see_dataset, see_readiness

router = APIRouter(route_class=BoardRoute)
NEEDS_MOST = 50


@router.get("/readiness")
def readiness(visit: Guest, text: str = "", state: str = "") -> Response:
    """All datasets with who waits for them."""
    view = see_readiness(visit.records, visit.now)
    rows = [row for row in view.datasets if _fits(row, text, state)]
    return visit.page(
        "readiness.html",
        "r",
        view=view,
        rows=rows,
        text=text,
        state=state,
        tones={key.value: tone for key, tone in TONES.items()},
        states=list(Readiness),
        needs=[(need, ready_words(visit, need.inputs)) for need in view.wait_for_data[:NEEDS_MOST]],
        names={row.id: row.name for row in view.datasets},
    )


@router.get("/datasets/new")
def ask_new(visit: Guest) -> Response:
    """The form of a new dataset."""
    visit.who.must(Act.CHANGE_DATASET)
    return _new(visit, {}, {})


@router.post("/datasets")
def make(visit: Guest, fields: Posted) -> Response:
    """A new dataset."""
    try:
        draft = read_dataset_form({key: value for key, value in fields.items() if value}, visit.context.zone_name)
        create_dataset(visit.context.store, visit.context.clock, visit.who, draft)
    except Problem as problem:
        return _new(visit, fields, by_field(visit, problem))
    return visit.done()


@router.get("/datasets/{dataset}/mark")
def ask_mark(visit: Guest, dataset: str) -> Response:
    """The form that says how ready a dataset is."""
    visit.who.must(Act.CHANGE_DATASET)
    row = see_dataset(visit.records, visit.now, dataset)
    now = {
        "readiness": row.readiness.value,
        "percent": "" if row.percent is None or row.readiness is Readiness.READY else str(row.percent),
        "eta": row.eta.astimezone(visit.context.zone).strftime("%Y-%m-%dT%H:%M") if row.eta else "",
        "owner": row.owes.id if row.owes else "",
        "detail": row.detail,
        "version": str(row.version),
    }
    return _mark(visit, row, now, {})


@router.post("/datasets/{dataset}/mark")
def mark(visit: Guest, dataset: str, fields: Posted) -> Response:
    """Say how ready a dataset is."""
    given = {key: value for key, value in fields.items() if key in _MARKED and value}
    try:
        said = read_mark(given, visit.context.zone_name)
        mark_dataset(
            visit.context.store,
            visit.context.clock,
            visit.who,
            dataset,
            said.readiness,
            said.percent,
            said.eta,
            said.detail,
            said.owner if said.owner is not None else "",
            if_version=version_of(fields),
        )
    except Problem as problem:
        return _mark(visit, see_dataset(visit.records, visit.now, dataset), fields, by_field(visit, problem))
    return visit.done()


_MARKED = frozenset({"readiness", "percent", "eta", "owner", "detail"})


def _mark(visit: Visit, row: DatasetRow, values: Fields, wrong: dict[str, dict[str, object]]) -> Response:
    people = sorted((p for p in visit.records.people.values() if p.active), key=lambda person: person.name)
    status = 422 if wrong else 200
    return visit.part(
        "dialog_mark.html", status, row=row, values=values, wrong=wrong, people=people, states=list(Readiness)
    )


def _new(visit: Visit, values: Fields, wrong: dict[str, dict[str, object]]) -> Response:
    people = sorted((p for p in visit.records.people.values() if p.active), key=lambda person: person.name)
    return visit.part(
        "dialog_dataset.html",
        422 if wrong else 200,
        values=values,
        wrong=wrong,
        people=people,
        basic=[field for field in DATASET_FORM.fields if field.group is Group.BASIC],
        advanced=[field for field in DATASET_FORM.fields if field.group is Group.ADVANCED],
    )


def _fits(row: DatasetRow, text: str, state: str) -> bool:
    said = f"{row.name}\n{row.id}\n{row.owes.name if row.owes else ''}".casefold()
    return text.casefold() in said and state in ("", row.readiness.value)
