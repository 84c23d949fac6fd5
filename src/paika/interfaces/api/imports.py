"""Lists of tasks as files: previewed, and let in row by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Header, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from paika.domain.dataset_form import Mark
from paika.domain.problem import Kind, Problem
from paika.domain.task_form import form_of
from paika.interfaces.api.doors import Caller, Who
from paika.services.import_report import ImportReport, RowProblem
from paika.services.import_tasks import import_tasks, preview_import, preview_rows
from paika.services.mark_ready import mark_dataset
from paika.services.submit_task import must_submit, prepare, submit_tasks

router = APIRouter(prefix="/tasks", tags=["tasks"])
_YAML = (".yaml", ".yml", ".json")
_FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


@dataclass(eq=False)
class NoUpload(Problem):
    """The request brings no file."""

    code: ClassVar[str] = "api.no_upload"
    kind: ClassVar[Kind] = Kind.INVALID


@dataclass(eq=False)
class NoTables(Problem):
    """This server reads no tables."""

    code: ClassVar[str] = "api.no_tables"
    kind: ClassVar[Kind] = Kind.REFUSED


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it came."""

    name: str
    data: bytes


async def upload(request: Request, _: Who) -> Upload:
    """The field 'file' of a multipart form. Raises NoUpload."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise NoUpload(field="file")
    async with request.form(max_files=1, max_fields=4) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise NoUpload(field="file")
        return Upload((file.filename or "")[:255], await file.read())


@router.post("/import", openapi_extra=_FILE)
def import_file(
    who: Who,
    file: Annotated[Upload, Depends(upload)],
    idempotency_key: Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)] = None,
    dry_run: bool = False,
) -> Response:
    """Good rows of a CSV, XLSX or YAML file become tasks, bad ones are named by line and column."""
    context = who.context
    must_submit(context.store, context.clock, who.actor)
    report = _preview(who, file)
    tasks, unmarked = None, []
    if not dry_run:
        submit = partial(submit_tasks, context.store, context.clock, who.actor, key=idempotency_key)
        tasks = import_tasks(report, submit)
        unmarked = _mark(who, report)
    told = _told(report)
    told["notes"] = [*(_placed(note) for note in report.notes), *unmarked]
    return who.answer({"tasks": [task.id for task in tasks or ()], "dry_run": dry_run, **told})


def _preview(who: Caller, file: Upload) -> ImportReport:
    context = who.context
    check = partial(prepare, who.records, who.actor, now=who.now, find=context.store.task)
    names = {task.name for task in who.records.tasks.values()}
    if file.name.lower().endswith(_YAML):
        if context.task_lists is None:
            raise NoTables(field=None)
        return preview_rows(context.task_lists(file.data, file.name), context.zone_name, check, names)
    if context.tables is None:
        raise NoTables(field=None)
    return preview_import(context.tables.read(file.data, file.name), context.zone_name, check, names)


def _mark(who: Caller, report: ImportReport) -> list[dict[str, object]]:
    """Say of known datasets what the accepted rows say of them; what is refused of it, as the tasks are in already."""
    refused: list[dict[str, object]] = []
    for said in report.marks:
        key = next((key for key, d in who.records.datasets.items() if said.dataset in (key, d.name)), None)
        if key is None:
            continue
        try:
            _mark_one(who, key, said.mark)
        except Problem as problem:
            refused.append({"line": said.line, "column": "", "problem": problem})
    return refused


def _mark_one(who: Caller, dataset: str, mark: Mark) -> None:
    mark_dataset(
        who.context.store,
        who.context.clock,
        who.actor,
        dataset,
        mark.readiness,
        mark.percent,
        mark.eta,
        mark.detail,
        mark.owner,
    )


def _told(report: ImportReport) -> dict[str, object]:
    return {
        "rows": report.rows,
        "columns": report.columns,
        "accepted": [{"line": row.line, "task": form_of(row.draft)} for row in report.accepted],
        "problems": [_placed(problem) for problem in report.problems],
        "encoding": report.encoding,
        "header_line": report.header_line,
    }


def _placed(row: RowProblem) -> dict[str, object]:
    return {"line": row.line, "column": row.column, "problem": row.problem}
