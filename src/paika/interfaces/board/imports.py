"""Importing a table: upload, look at what it would bring in, confirm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.problem import FieldMissing, NotFound, Problem
from paika.interfaces.board.rows import need_words
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.import_report import ImportReport
from paika.services.import_tasks import import_tasks, preview_import
from paika.services.mark_ready import mark_dataset
from paika.services.submit_task import prepare, submit_tasks

router = APIRouter(route_class=BoardRoute)
PATH = "/import"
SHOWN_ROWS = 200
CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Sent:
    """An uploaded table with its name, and whether the visitor has seen what it brings."""

    name: str
    data: bytes
    confirmed: bool
    key: str


async def read_sent(request: Request) -> Sent:
    """The posted file. Raises FieldMissing."""
    form = await request.form(max_files=1, max_fields=10)
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise FieldMissing(field="file")
    return Sent(file.filename[:200], await file.read(), CONFIRM in form, str(form.get("key", ""))[:64])


@router.get(PATH)
def ask(visit: Guest) -> Response:
    """Where a table is chosen."""
    visit.who.must(Act.SUBMIT_TASK)
    return _page(visit, None)


@router.post(PATH)
def take(visit: Guest, sent: Annotated[Sent, Depends(read_sent)]) -> Response:
    """Look at a table; with the second button, bring in what is good of it."""
    if visit.context.tables is None:
        raise NotFound(field=None, noun="page", id=PATH)
    try:
        report = _report(visit, sent)
        done = _bring_in(visit, sent, report) if sent.confirmed else None
    except Problem as problem:
        return _page(visit, None, told=visit.spoken(problem), status=422)
    return _page(visit, report, sent=sent, done=done)


def _report(visit: Visit, sent: Sent) -> ImportReport:
    context = visit.context
    assert context.tables is not None
    table = context.tables.read(sent.data, sent.name)
    names = [task.name for task in visit.records.tasks.values()]
    return preview_import(
        table,
        context.zone_name,
        lambda drafts: prepare(visit.records, visit.who, drafts, visit.now, context.store.task),
        names,
    )


def _bring_in(visit: Visit, sent: Sent, report: ImportReport) -> int:
    store, clock, who = visit.context.store, visit.context.clock, visit.who
    tasks = import_tasks(report, lambda drafts: submit_tasks(store, clock, who, drafts, key=sent.key or None))
    for said in report.marks if tasks else ():
        mark, dataset = said.mark, _dataset(visit, said.dataset)
        mark_dataset(store, clock, who, dataset, mark.readiness, mark.percent, mark.eta, mark.detail, mark.owner)
    return len(tasks or ())


def _dataset(visit: Visit, asked: str) -> str:
    """The id of a dataset that the table names by id or name."""
    by_name = {dataset.name: key for key, dataset in visit.records.datasets.items()}
    return asked if asked in visit.records.datasets else by_name.get(asked, asked)


def _page(visit: Visit, report: ImportReport | None, status: int = 200, **values: object) -> Response:
    problems = [(p, visit.spoken(p.problem)) for p in report.problems[:SHOWN_ROWS]] if report else []
    notes = [(p, visit.spoken(p.problem)) for p in report.notes[:SHOWN_ROWS]] if report else []
    common: dict[str, object] = {"sent": None, "done": None, "told": None}
    return visit.page(
        "import.html",
        "n",
        lives=False,
        status=status,
        report=report,
        problems=problems,
        notes=notes,
        accepted=report.accepted[:SHOWN_ROWS] if report else (),
        open=visit.context.tables is not None,
        key=visit.context.ids.token(),
        need=lambda demand: need_words(visit, demand),
        **common | values,
    )
