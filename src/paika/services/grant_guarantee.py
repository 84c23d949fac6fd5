"""A team's floor: cards that its core tasks get when they are ready, lent to others while unused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from paika.domain.access import Act, Actor
from paika.domain.guarantee import Guarantee, guarantee_id
from paika.domain.problem import BadValue
from paika.domain.records import Change, Records
from paika.domain.task import Tier
from paika.domain.units import PARTS_PER_CARD
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.access_form import Edited
from paika.services.ask_window import types_here
from paika.services.check_capacity import check_capacity
from paika.services.editing import found, must_be_read
from paika.services.keep_audit import Attempt, entry, refusals_kept
from paika.services.seen import Named, team_named

Step = Callable[[Records, datetime], tuple[Guarantee | None, Guarantee | None]]


@dataclass(frozen=True, slots=True)
class Granted:
    """A guarantee as it stands, or would with `dry_run`; None once removed. `held_parts` hold its core tasks now."""

    guarantee: Guarantee | None
    team: Named
    held_parts: int
    dry_run: bool = False


def set_guarantee(
    store: Store,
    clock: Clock,
    actor: Actor,
    team: str,
    edit: Edited,
    *,
    if_version: int | None = None,
    dry_run: bool = False,
) -> Granted:
    """Promise a team so many cards; the same team and card types again change what is promised.

    Raises Forbidden, NotFound, BadValue, UnknownCardType, VersionConflict, and NoRoomForGuarantee where floors,
    reservations and lease losses together need more than the house has at some future instant.
    """

    def step(records: Records, now: datetime) -> tuple[Guarantee | None, Guarantee]:
        actor.must(Act.CHANGE_TEAM)
        found(records.teams, "team", team, "team")
        new = asked_guarantee(records, team, edit)
        old = records.guarantees.get(new.id)
        must_be_read("guarantee", new.id, old.version if old else 0, if_version)
        if old is None or (new.cards, new.together) != (old.cards, old.together):
            must_fit(records, old, new, now)
        return old, replace(new, version=old.version + 1 if old else 1)

    return _carried_out(store, clock, actor, "set_guarantee", team, step, edit.why, dry_run)


def remove_guarantee(
    store: Store,
    clock: Clock,
    actor: Actor,
    key: str,
    *,
    if_version: int | None = None,
    why: str = "",
    dry_run: bool = False,
) -> Granted:
    """Take a promise back. What runs goes on. Raises Forbidden, NotFound, VersionConflict."""

    def step(records: Records, now: datetime) -> tuple[Guarantee, None]:
        actor.must(Act.CHANGE_TEAM)
        old = found(records.guarantees, "guarantee", key)
        must_be_read("guarantee", key, old.version, if_version)
        return old, None

    return _carried_out(store, clock, actor, "remove_guarantee", key, step, why, dry_run)


def see_guarantees(records: Records) -> tuple[Granted, ...]:
    """All guarantees, by id, with what the core tasks of their teams hold now."""
    return tuple(_seen(records, records.guarantees[key]) for key in sorted(records.guarantees))


def see_guarantee(records: Records, key: str) -> Granted:
    """One guarantee. Raises NotFound."""
    return _seen(records, found(records.guarantees, "guarantee", key))


def _seen(records: Records, one: Guarantee, *, dry_run: bool = False) -> Granted:
    return Granted(one, team_named(records, one.team), held_by_core(records, one), dry_run)


def held_by_core(records: Records, one: Guarantee) -> int:
    """Card parts of the guarantee's types that core runs of the team hold now."""
    held = 0
    for run in records.runs.values():
        if run.team != one.team or run.tier is not Tier.CORE or run.ended:
            continue
        cards = [card for key in run.cards if (card := records.cards.get(key)) is not None]
        fitting = [card for card in cards if not one.card_types or card.type in one.card_types]
        held += min(run.parts_held, len(fitting) * PARTS_PER_CARD)
    return held


def asked_guarantee(records: Records, team: str, edit: Edited) -> Guarantee:
    """The guarantee that the form asks for, of version 1. Raises BadValue, UnknownCardType."""
    cards, together = int(edit.values["cards"]), int(edit.values.get("together", 1))
    if cards % together:
        raise BadValue(field="together", value=str(together), allowed=f"{cards} / n")
    types = types_here(records, edit.values.get("types", ""))
    key = guarantee_id(team, types)
    old = records.guarantees.get(key)
    note = edit.values.get("note", "") if "note" in edit.named or old is None else old.note
    return Guarantee(key, team, cards, tuple(sorted(types)), together, note)


def must_fit(records: Records, old: Guarantee | None, new: Guarantee, now: datetime) -> None:
    """Raises NoRoomForGuarantee for the first instant that does not hold. Promising less is always possible."""
    if old is not None and new.cards <= old.cards and new.together <= old.together:
        return
    others = [records.guarantees[key] for key in sorted(records.guarantees) if key != new.id]
    reservations = records.reservations.values()
    short = check_capacity(records, [*others, new], reservations, now)
    if not short:
        return
    before = {(s.at, s.guarantee.id): s.room for s in check_capacity(records, others, reservations, now)}
    for one in short:
        if one.guarantee.id == new.id or one.room < before.get((one.at, one.guarantee.id), one.guarantee.cards):
            raise one.problem()


def _carried_out(
    store: Store, clock: Clock, actor: Actor, act: str, subject: str, step: Step, why: str, dry_run: bool
) -> Granted:
    told: list[Granted] = []

    def decide(records: Records) -> Change:
        old, new = step(records, now := clock.now())
        one = new or old
        assert one is not None
        told[:] = [replace(_seen(records, one, dry_run=dry_run), guarantee=new)]
        written = entry(actor, now, act, "guarantee", one.id, old=old, new=new, why=why)
        if old is not None and new is not None and replace(new, version=old.version) == old:
            told[:] = [_seen(records, old, dry_run=dry_run)]
            return Change(audit=(written,))
        if new is None and old is not None:
            return Change(removed=(old,), audit=(written,))
        return Change(puts=(one,), audit=(written,))

    if dry_run:
        decide(store.read())
    else:
        with refusals_kept(store, clock, actor, Attempt(act, "guarantee", subject)):
            store.update(decide)
    return told[0]
