"""Cards and nodes as a list: figures, filters, and out of use and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.card import Health
from paika.domain.node import NodeState
from paika.domain.problem import NotFound, Problem
from paika.interfaces.board.cell import Cell, cell_of
from paika.interfaces.board.entry import Posted, by_field, version_of
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.hold_card import drain_card, drain_node, undrain_card, undrain_node
from paika.services.see_cards import CardCell, CardsView, NodeRow, Shows, see_card, see_cards

router = APIRouter(route_class=BoardRoute)


@dataclass(frozen=True, slots=True)
class CardLine:
    """A card as a row: its figures, and its cell's words."""

    card: CardCell
    cell: Cell
    can_drain: bool


@router.get("/cards")
def cards(visit: Guest, text: str = "", shows: str = "", card_type: str = "", pool: str = "") -> Response:
    """All cards, node by node."""
    view = see_cards(visit.records, visit.live, visit.now, free_since=visit.free_since)
    found = _found(view, text.casefold(), shows, card_type, pool)
    nodes = [(node, [_line(visit, cell) for cell in cells]) for node, cells in found if cells]
    return visit.page(
        "cards.html",
        "c",
        nodes=nodes,
        count=sum(len(lines) for _, lines in nodes),
        view=view,
        text=text,
        shows=shows,
        card_type=card_type,
        pool=pool,
        kinds=[kind.value for kind in Shows],
        pools=sorted({node.pool for node in view.nodes}),
    )


@router.get("/cards/{card}/ask")
def ask_card(visit: Guest, card: str) -> Response:
    """Take a card out of use or give it back: the question, with whom it hits."""
    visit.who.must(Act.CHANGE_CARD)
    return _ask_card(visit, see_card(visit.records, visit.live, visit.now, card), "", {})


@router.post("/cards/{card}/drain")
def drain(visit: Guest, card: str, fields: Posted) -> Response:
    """No new runs on this card."""
    return _card_act(visit, card, fields)


@router.post("/cards/{card}/undrain")
def undrain(visit: Guest, card: str, fields: Posted) -> Response:
    """The card takes runs again."""
    return _card_act(visit, card, fields)


@router.get("/nodes/{node}/ask")
def ask_node(visit: Guest, node: str) -> Response:
    """Take a node out of use or give it back."""
    visit.who.must(Act.CHANGE_CARD)
    return _ask_node(visit, node, "", {})


@router.post("/nodes/{node}/drain")
def drain_whole(visit: Guest, node: str, fields: Posted) -> Response:
    """No new runs on this node."""
    return _node_act(visit, node, fields)


@router.post("/nodes/{node}/undrain")
def undrain_whole(visit: Guest, node: str, fields: Posted) -> Response:
    """The node takes runs again."""
    return _node_act(visit, node, fields)


def _card_act(visit: Visit, card: str, fields: dict[str, str]) -> Response:
    context, why, version = visit.context, fields.get("reason", ""), version_of(fields)
    try:
        if visit.request.url.path.endswith("/undrain"):
            readings = visit.live.readings
            undrain_card(context.store, context.clock, visit.who, card, readings, why, if_version=version)
        else:
            drain_card(context.store, context.clock, visit.who, card, why, if_version=version)
    except Problem as problem:
        cell = see_card(visit.records, visit.live, visit.now, card)
        return _ask_card(visit, cell, why, by_field(visit, problem))
    return visit.done()


def _node_act(visit: Visit, node: str, fields: dict[str, str]) -> Response:
    context, why, version = visit.context, fields.get("reason", ""), version_of(fields)
    act = undrain_node if visit.request.url.path.endswith("/undrain") else drain_node
    try:
        act(context.store, context.clock, visit.who, node, why, if_version=version)
    except Problem as problem:
        return _ask_node(visit, node, why, by_field(visit, problem))
    return visit.done()


def _ask_card(visit: Visit, card: CardCell, why: str, wrong: dict[str, dict[str, object]]) -> Response:
    out = card.health is not Health.OK
    return _ask(visit, f"/cards/{card.id}", f"{card.node} {card.index}", out, card.version, (card,), why, wrong)


def _ask_node(visit: Visit, node_id: str, why: str, wrong: dict[str, dict[str, object]]) -> Response:
    view = see_cards(visit.records, visit.live, visit.now, free_since=visit.free_since)
    node = next((row for row in view.nodes if row.id == node_id), None)
    if node is None:
        raise NotFound(field=None, noun="node", id=node_id)
    out = node.state is NodeState.DRAINED
    return _ask(visit, f"/nodes/{node_id}", node_id, out, node.version, node.cells, why, wrong)


def _ask(
    visit: Visit,
    path: str,
    name: str,
    out: bool,
    version: int,
    cells: tuple[CardCell, ...],
    why: str,
    wrong: dict[str, dict[str, object]],
) -> Response:
    hits = {o.run: o for cell in cells for o in cell.occupants}
    return visit.part(
        "dialog_drain.html",
        422 if wrong else 200,
        path=path,
        name=name,
        out=out,
        version=version,
        hits=list(hits.values()),
        why=why,
        wrong=wrong,
    )


def _line(visit: Visit, card: CardCell) -> CardLine:
    return CardLine(card, cell_of(visit, card), visit.who.may(Act.CHANGE_CARD))


def _found(
    view: CardsView, text: str, shows: str, card_type: str, pool: str
) -> Iterator[tuple[NodeRow, list[CardCell]]]:
    for node in view.nodes:
        if pool in ("", node.pool):
            yield node, [cell for cell in node.cells if _fits(cell, text, shows, card_type)]


def _fits(cell: CardCell, text: str, shows: str, card_type: str) -> bool:
    names = [n for o in cell.occupants for n in (o.owner.name, o.task.name, o.task.id, o.team.name)]
    said = "\n".join((cell.id, cell.node, cell.type, cell.note, *names)).casefold()
    return text in said and shows in ("", cell.shows.value) and card_type in ("", cell.type)
