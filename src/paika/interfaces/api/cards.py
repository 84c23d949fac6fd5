"""Cards, nodes and card types."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from paika.interfaces.api.doors import Body, Caller, Who, body_schema
from paika.services.access_form import read_reason
from paika.services.hold_card import drain_card, drain_node, undrain_card, undrain_node
from paika.services.see_cards import Shows, see_card, see_cards

router = APIRouter(tags=["cards"])
_REASON = body_schema({"type": "object", "properties": {"reason": {"type": "string"}}}, required=False)


@router.get("/cards")
def list_cards(
    who: Who,
    node: str = "",
    pool: str = "",
    card_type: Annotated[str, Query(alias="type")] = "",
    shows: Annotated[list[Shows] | None, Query()] = None,
) -> Response:
    """All cards, flat, with the totals of the whole house."""
    view = see_cards(who.records, who.live, who.now, free_since=_free_since(who))
    rows = [
        cell
        for row in view.nodes
        for cell in row.cells
        if node in ("", cell.node)
        and pool in ("", cell.pool)
        and card_type in ("", cell.type, cell.family)
        and (not shows or cell.shows in shows)
    ]
    return who.answer({"at": view.at, "rows": rows, "total": len(rows), "totals": view.totals})


@router.get("/cards/{card_id}")
def one_card(who: Who, card_id: str) -> Response:
    """One card."""
    cell = see_card(who.records, who.live, who.now, card_id, free_since=_free_since(who))
    return who.answer(cell, version=cell.version)


@router.post("/cards/{card_id}/drain", openapi_extra=_REASON)
def drain_one_card(who: Who, card_id: str, body: Body) -> Response:
    """No new runs on this card; a reason is needed."""
    why, context = read_reason(body, who.context.zone_name), who.context
    card = drain_card(context.store, context.clock, who.actor, card_id, why, if_version=who.if_version)
    return who.answer(card, version=card.version)


@router.post("/cards/{card_id}/release", openapi_extra=_REASON)
def release_card(who: Who, card_id: str, body: Body) -> Response:
    """Give a card back; one that was lost or wanted a reset must have been seen well since."""
    why, context = read_reason(body, who.context.zone_name), who.context
    card = undrain_card(
        context.store, context.clock, who.actor, card_id, who.live.readings, why, if_version=who.if_version
    )
    return who.answer(card, version=card.version)


@router.get("/nodes")
def list_nodes(who: Who) -> Response:
    """All nodes with their cards."""
    view = see_cards(who.records, who.live, who.now, free_since=_free_since(who))
    return who.answer({"at": view.at, "rows": view.nodes, "total": len(view.nodes), "totals": view.totals})


@router.post("/nodes/{node_id}/drain", openapi_extra=_REASON)
def drain_one_node(who: Who, node_id: str, body: Body) -> Response:
    """No new runs on this node; a reason is needed."""
    why, context = read_reason(body, who.context.zone_name), who.context
    node = drain_node(context.store, context.clock, who.actor, node_id, why, if_version=who.if_version)
    return who.answer(node, version=node.version)


@router.post("/nodes/{node_id}/release", openapi_extra=_REASON)
def release_node(who: Who, node_id: str, body: Body) -> Response:
    """Give a drained node back."""
    why, context = read_reason(body, who.context.zone_name), who.context
    node = undrain_node(context.store, context.clock, who.actor, node_id, why, if_version=who.if_version)
    return who.answer(node, version=node.version)


@router.get("/card-types")
def list_types(who: Who) -> Response:
    """The card types of the house."""
    rows = [who.records.card_types[key] for key in sorted(who.records.card_types)]
    return who.answer({"rows": rows, "total": len(rows)})


def _free_since(who: Caller) -> Mapping[str, datetime]:
    return who.context.last_ends.of(who.context.store, who.records)
