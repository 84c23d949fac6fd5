"""A team's ceiling: how many cards it may hold at once."""

from __future__ import annotations

from dataclasses import replace

from paika.domain.access import Act, Actor
from paika.domain.problem import BadValue
from paika.domain.quota import Quota
from paika.domain.records import Change, Records
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.editing import found, must_be_read
from paika.services.keep_audit import Attempt, entry, refusals_kept

MOST_CARDS = 100_000


def set_quota(
    store: Store,
    clock: Clock,
    actor: Actor,
    team: str,
    max_cards: int | None,
    *,
    if_version: int | None = None,
    why: str = "",
) -> Quota:
    """Set or lift (None) a team's ceiling. A cut stops no run. The value it already had is audited, not written."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_TEAM)
        found(records.teams, "team", team, "team")
        if max_cards is not None and not 0 <= max_cards <= MOST_CARDS:
            raise BadValue(field="max_cards", value=str(max_cards), allowed=f"0..{MOST_CARDS}")
        old = records.quotas.get(team)
        must_be_read("quota", team, old.version if old else 0, if_version)
        new = Quota(team, max_cards, old.version + 1 if old else 1)
        written = entry(actor, clock.now(), "set_quota", "quota", team, old=old, new=new, why=why)
        if old is not None and old.max_cards == max_cards:
            same = {"max_cards": "" if max_cards is None else str(max_cards)}
            return Change(audit=(replace(written, old=same, new=same),))
        return Change(puts=(new,), audit=(written,))

    with refusals_kept(store, clock, actor, Attempt("set_quota", "quota", team)):
        return store.update(decide).quotas[team]
