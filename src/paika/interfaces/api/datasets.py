"""Datasets and readiness."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from paika.domain import form
from paika.domain.dataset import Readiness
from paika.domain.dataset_form import DATASET_FORM, MARK_FORM, read_dataset_form, read_mark
from paika.interfaces.api.doors import Body, Who, body_schema
from paika.services.editing import found
from paika.services.mark_ready import change_dataset, create_dataset, mark_dataset
from paika.services.see_readiness import see_dataset, see_readiness

router = APIRouter(tags=["datasets"])
_NEW: dict[str, Any] = form.schema(DATASET_FORM)
_MARK: dict[str, Any] = form.schema(MARK_FORM)


@router.get("/datasets")
def list_datasets(who: Who, readiness: Annotated[list[Readiness] | None, Query()] = None, text: str = "") -> Response:
    """All datasets, those that block the most cards first, with who waits for each."""
    wanted = text.casefold()
    rows = [
        row
        for row in see_readiness(who.records, who.now).datasets
        if (not readiness or row.readiness in readiness) and wanted in f"{row.id}\n{row.name}".casefold()
    ]
    return who.answer({"at": who.now, "rows": rows, "total": len(rows)})


@router.get("/readiness")
def readiness_view(who: Who) -> Response:
    """What is ready, what waits for data, who owes it."""
    return who.answer(see_readiness(who.records, who.now))


@router.post("/datasets", status_code=201, openapi_extra=body_schema(_NEW))
def create(who: Who, body: Body) -> Response:
    """A new dataset, with how it is probed and how ready it is."""
    draft = read_dataset_form(body, who.context.zone_name)
    made = create_dataset(who.context.store, who.context.clock, who.actor, draft)
    return who.answer(made, 201, version=made.version, location=f"/api/v1/datasets/{made.id}")


@router.get("/datasets/{dataset_id}")
def one(who: Who, dataset_id: str) -> Response:
    """One dataset with who waits for it."""
    row = see_dataset(who.records, who.now, dataset_id)
    return who.answer({"dataset": who.records.datasets[dataset_id], "row": row}, version=row.version)


@router.patch("/datasets/{dataset_id}", openapi_extra=body_schema(_MARK))
def mark(who: Who, dataset_id: str, body: Body) -> Response:
    """Say how ready it is: readiness, percent, eta, detail, owner."""
    said = read_mark(body, who.context.zone_name)
    marked = mark_dataset(
        who.context.store,
        who.context.clock,
        who.actor,
        dataset_id,
        said.readiness,
        said.percent,
        said.eta,
        said.detail,
        said.owner,
        if_version=who.if_version,
    )
    return who.answer(marked, version=marked.version)


@router.put("/datasets/{dataset_id}/probe", openapi_extra=body_schema(_NEW))
def probe(who: Who, dataset_id: str, body: Body) -> Response:
    """Give it another name and another probe; without a probe in the body it has none."""
    old = found(who.records.datasets, "dataset", dataset_id)
    draft = read_dataset_form({"name": old.name} | dict(body), who.context.zone_name)
    changed = change_dataset(
        who.context.store,
        who.context.clock,
        who.actor,
        dataset_id,
        draft.name,
        draft.probe,
        if_version=who.if_version,
    )
    return who.answer(changed, version=changed.version)


@router.get("/datasets/{dataset_id}/history")
def history(who: Who, dataset_id: str, limit: Annotated[int, Query(ge=1, le=1000)] = 200) -> Response:
    """Its states over time, newest first."""
    found(who.records.datasets, "dataset", dataset_id)
    rows = who.context.store.dataset_history(dataset_id, limit)
    return who.answer({"rows": rows, "total": len(rows)})
