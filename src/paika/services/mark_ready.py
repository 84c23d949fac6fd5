"""Datasets by people's word: made, changed, and marked ready or not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from paika.domain.access import Act, Actor
from paika.domain.dataset import Dataset, ProbeKind, ProbeSpec, Readiness
from paika.domain.dataset_form import DatasetDraft, Mark
from paika.domain.problem import BadValue, NameTaken
from paika.domain.records import Change, Records
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.editing import by_id_or_name, found, must_be_name, must_be_read, must_be_slug
from paika.services.keep_audit import Attempt, entry, refusals_kept


def create_dataset(store: Store, clock: Clock, actor: Actor, draft: DatasetDraft) -> Dataset:
    """A new dataset. Raises Forbidden (a command probe needs a right of its own), NameTaken, UnknownNoun, BadValue."""
    made: list[str] = []

    def decide(records: Records) -> Change:
        _must_be_allowed(actor, draft.probe)
        now = clock.now()
        number = records.counters.get("dataset", 0) + 1
        while not draft.id and f"d-{number}" in records.datasets:  # somebody chose that very id
            number += 1
        key = must_be_slug(draft.id) if draft.id else f"d-{number}"
        if key in records.datasets:
            raise NameTaken(field="id", noun="dataset", id=key)
        blank = Dataset(id=key, name=must_be_name(draft.name), probe=draft.probe)
        new = replace(_marked(records, blank, draft.mark, now), set_by=actor.person, changed_at=now)
        made[:] = [key]
        return Change(
            puts=(new,),
            counters={} if draft.id else {"dataset": number},
            audit=(entry(actor, now, "create_dataset", "dataset", key, new=new),),
        )

    with refusals_kept(store, clock, actor, Attempt("create_dataset", "dataset", draft.id or draft.name)):
        return store.update(decide).datasets[made[0]]


def mark_dataset(
    store: Store,
    clock: Clock,
    actor: Actor,
    dataset_id: str,
    readiness: Readiness,
    percent: int | None = None,
    eta: datetime | None = None,
    detail: str = "",
    owner: str | None = None,
    *,
    if_version: int | None = None,
) -> Dataset:
    """Say how ready a dataset is, by hand or by API. `owner` None leaves who owes it; '' names nobody.

    `percent` is 0..100 or None (unknown), `eta` lies ahead and only goes with PREPARING. A probe of the
    dataset looks again at its next turn and then says what it finds.
    Raises NotFound, VersionConflict, BadValue, Forbidden, UnknownNoun.
    """
    mark = Mark(readiness, percent, eta, detail, owner)

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_DATASET)
        now = clock.now()
        old = found(records.datasets, "dataset", dataset_id)
        must_be_read("dataset", dataset_id, old.version, if_version)
        new = _marked(records, old, mark, now)
        if new == old:
            return Change(audit=(entry(actor, now, "mark_dataset", "dataset", old.id, old=old, new=old),))
        new = replace(new, set_by=actor.person, changed_at=now, version=old.version + 1)
        return Change(puts=(new,), audit=(entry(actor, now, "mark_dataset", "dataset", old.id, old=old, new=new),))

    with refusals_kept(store, clock, actor, Attempt("mark_dataset", "dataset", dataset_id)):
        return store.update(decide).datasets[dataset_id]


def change_dataset(
    store: Store,
    clock: Clock,
    actor: Actor,
    dataset_id: str,
    name: str,
    probe: ProbeSpec | None,
    *,
    if_version: int | None = None,
) -> Dataset:
    """Give a dataset another name and another probe (None: none). What is known of its readiness stays."""

    def decide(records: Records) -> Change:
        _must_be_allowed(actor, probe)
        old = found(records.datasets, "dataset", dataset_id)
        must_be_read("dataset", dataset_id, old.version, if_version)
        new = replace(old, name=must_be_name(name), probe=probe)
        audit = (entry(actor, clock.now(), "change_dataset", "dataset", old.id, old=old, new=new),)
        return Change(audit=audit) if new == old else Change((replace(new, version=old.version + 1),), audit=audit)

    with refusals_kept(store, clock, actor, Attempt("change_dataset", "dataset", dataset_id)):
        return store.update(decide).datasets[dataset_id]


def _must_be_allowed(actor: Actor, probe: ProbeSpec | None) -> None:
    actor.must(Act.CHANGE_DATASET)
    if probe is not None and probe.kind is ProbeKind.COMMAND:
        actor.must(Act.USE_COMMAND_PROBE)


def _marked(records: Records, old: Dataset, mark: Mark, now: datetime) -> Dataset:
    """`old` with the mark on it. Raises BadValue, UnknownNoun."""
    percent = 100 if mark.readiness is Readiness.READY and mark.percent is None else mark.percent
    if percent is not None and not 0 <= percent <= 100:
        raise BadValue(field="percent", value=str(percent), allowed="0..100")
    if mark.readiness is Readiness.READY and percent != 100:
        raise BadValue(field="percent", value=str(percent), allowed="100")
    if mark.eta is not None and mark.readiness is not Readiness.PREPARING:
        raise BadValue(field="eta", value=mark.eta.isoformat(), allowed="readiness: preparing")
    if mark.eta is not None and mark.eta <= now:
        raise BadValue(field="eta", value=mark.eta.isoformat(), allowed=f"> {now.isoformat(timespec='seconds')}")
    owner = old.owner if mark.owner is None else mark.owner
    if mark.owner:
        owner = by_id_or_name(records.people, "person", mark.owner, "owner")
    return replace(old, readiness=mark.readiness, percent=percent, eta=mark.eta, detail=mark.detail[:500], owner=owner)
