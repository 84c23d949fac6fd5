"""What somebody asks to be booked, read from a form: the window, how many cards or which, for whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from paika.domain.access import Actor
from paika.domain.problem import BadValue, FieldMissing, NotFound
from paika.domain.records import Records
from paika.domain.reservation import PastWindow, Purpose, Reservation, ReservationState
from paika.domain.type_names import resolve_types
from paika.services.access_form import Edited
from paika.services.booking_form import LONGEST_S
from paika.services.editing import UnknownNoun, by_id_or_name, found, nearest
from paika.services.submit_task import ChooseTeam, real_types

SHORTEST_BEGINNING = 4  # of a card's id
WISHES = (
    *("starts_at", "ends_at", "wanted", "asked_cards", "card_types", "pool", "together"),
    *("team", "task", "purpose"),
)  # what a new choice of cards depends on, or a new approval


def new_wish(records: Records, actor: Actor, edit: Edited, now: datetime, key: str) -> Reservation:
    """A listed reservation of this id, as the form asks for it. A window without a start starts now.

    Raises FieldMissing, BadValue, NotFound, UnknownNoun, UnknownCardType, ChooseTeam, PastWindow.
    """
    values = edit.values
    purpose = values.get("purpose", Purpose.BOOKING)
    starts_at = values.get("starts_at", now)
    blank = Reservation(
        id=key,
        purpose=purpose,
        team="",
        person=actor.person,
        cards=(),
        wanted=0,
        starts_at=starts_at,
        ends_at=starts_at,
        state=ReservationState.LISTED,
        state_since=now,
        created_at=now,
    )
    if starts_at < now:
        raise PastWindow(field="starts_at", at=starts_at, now=now)
    if "ends_at" not in values and "duration" not in values:
        raise FieldMissing(field="ends_at")
    asked = _with_cards(records, replace(blank, ends_at=_end(blank, edit)), edit)
    if asked.wanted == 0:
        raise FieldMissing(field="cards")
    return _sound(_for_whom(records, actor, replace(asked, title=values.get("title", "")), edit))


def changed_wish(records: Records, old: Reservation, edit: Edited) -> Reservation:
    """The reservation as the form changes it, still on its old cards. Raises as `new_wish`."""
    values = edit.values
    if "purpose" in values and values["purpose"] is not old.purpose:
        raise BadValue(field="purpose", value=values["purpose"].value, allowed=old.purpose.value)
    new = replace(old, starts_at=values.get("starts_at", old.starts_at))
    new = _with_cards(records, replace(new, ends_at=_end(new, edit)), edit)
    if "title" in edit.named:
        new = replace(new, title=values.get("title", ""))
    team = by_id_or_name(records.teams, "team", values["team"], "team") if values.get("team") else old.team
    task = values.get("task", "") if "task" in edit.named else old.task
    return _sound(_checked(records, replace(new, team=team, task=task), edit))


def _end(wish: Reservation, edit: Edited) -> datetime:
    """The end as given, or the start and the duration; else as it was."""
    if "ends_at" in edit.values:
        end: datetime = edit.values["ends_at"]
        return end
    if "duration" in edit.values:
        return wish.starts_at + timedelta(seconds=edit.values["duration"])
    return wish.ends_at


def _with_cards(records: Records, wish: Reservation, edit: Edited) -> Reservation:
    """The wish with its cards by name, or with how many of what."""
    values = edit.values
    named = _named_cards(records, values.get("card_ids", ()), values.get("nodes", ()))
    if named:
        if "cards" in values and values["cards"] != len(named):
            raise BadValue(field="cards", value=str(values["cards"]), allowed=str(len(named)))
        return replace(wish, asked_cards=named, wanted=len(named), card_types=(), pool="", together=1)
    by_count = {"cards", "types", "pool", "together"} & edit.named
    if not by_count:
        return wish
    types = types_here(records, values.get("types", "")) if "types" in edit.named else wish.card_types
    new = replace(
        wish,
        asked_cards=(),
        wanted=values.get("cards", wish.wanted),
        card_types=types,
        pool=values.get("pool", "") if "pool" in edit.named else wish.pool,
        together=values.get("together", 1 if "together" in edit.named else wish.together),
    )
    pools = {*records.pools, *(node.pool for node in records.nodes.values())}
    if new.pool and new.pool not in pools:
        raise UnknownNoun(field="pool", noun="pool", asked=new.pool, nearest=nearest(new.pool, sorted(pools)))
    return new


def types_here(records: Records, asked: str) -> tuple[str, ...]:
    """The card types of a request that the house has cards of; all that it names if it has none of them."""
    named = resolve_types(asked, real_types(records))
    here = {card.type for card in records.cards.values()}
    return tuple(kind for kind in named if kind in here) or named


def _named_cards(records: Records, card_ids: Iterable[str], nodes: Iterable[str]) -> tuple[str, ...]:
    """Cards by id or a beginning of it that only one has, and all cards of machines."""
    named = [card_named(records, asked) for asked in card_ids]
    for node in nodes:
        found(records.nodes, "node", node, "nodes")
        here = [card for card in records.cards.values() if card.node == node]
        if not here:
            raise BadValue(field="nodes", value=node, allowed="machines with cards")
        named += [card.id for card in sorted(here, key=lambda c: (-1 if c.index is None else c.index, c.id))]
    return tuple(dict.fromkeys(named))


def card_named(records: Records, asked: str, field: str = "card_ids") -> str:
    """The id of the card meant by its id, or by a beginning that only one has. Raises NotFound."""
    if asked in records.cards:
        return asked
    begin = asked.rstrip("…")
    alike = [key for key in records.cards if key.startswith(begin)] if len(begin) >= SHORTEST_BEGINNING else []
    if len(alike) != 1:
        raise NotFound(field=field, noun="card", id=asked)
    return alike[0]


def _for_whom(records: Records, actor: Actor, wish: Reservation, edit: Edited) -> Reservation:
    """With its team: the one named, else that of the task, else the only one of the actor."""
    values, task = edit.values, edit.values.get("task", "")
    if wish.purpose is Purpose.MAINTENANCE:
        return _checked(records, replace(wish, team=values.get("team", ""), task=task), edit)
    if values.get("team"):
        team = by_id_or_name(records.teams, "team", values["team"], "team")
    elif task:
        team = found(records.tasks, "task", task, "task").team
    elif len(actor.teams) == 1:
        team = actor.teams[0]
    elif actor.teams:
        raise ChooseTeam(field="team", teams=actor.teams)
    else:
        raise FieldMissing(field="team")
    return _checked(records, replace(wish, team=team, task=task), edit)


def _checked(records: Records, wish: Reservation, edit: Edited) -> Reservation:
    """Maintenance is for nobody; a task named is open and of the team."""
    if wish.purpose is Purpose.MAINTENANCE:
        for key, given in (("team", wish.team), ("task", wish.task)):
            if given:
                raise BadValue(field=key, value=given, allowed="purpose: booking")
    elif wish.task and "task" in edit.named | {"task" if "team" in edit.named else ""}:
        of = found(records.tasks, "task", wish.task, "task")
        if of.team != wish.team:
            raise BadValue(field="task", value=wish.task, allowed=f"team: {wish.team}")
    return wish


def _sound(wish: Reservation) -> Reservation:
    span = (wish.ends_at - wish.starts_at).total_seconds()
    if not 0 < span <= LONGEST_S:
        allowed = f"> {wish.starts_at.isoformat(timespec='minutes')}, <= {LONGEST_S // 86_400} d"
        raise BadValue(field="ends_at", value=wish.ends_at.isoformat(timespec="minutes"), allowed=allowed)
    if wish.wanted % wish.together:
        raise BadValue(field="together", value=str(wish.together), allowed=f"cards / together: {wish.wanted} / n")
    return wish
