"""The policy is changed number by number or taken back to an earlier version; every version is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from paika.domain.access import Act, Actor
from paika.domain.policy import Headroom, Policy
from paika.domain.policy_form import read_numbers, with_numbers
from paika.domain.policy_version import PolicyVersion, id_of
from paika.domain.problem import FieldMissing, NotFound, Several
from paika.domain.records import Change, Records
from paika.domain.type_names import UnknownCardType
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.ask_window import types_here
from paika.services.editing import UnknownNoun, must_be_name, must_be_read, nearest
from paika.services.keep_audit import Attempt, entry, refusals_kept

Next = Callable[[Records], Policy]


@dataclass(frozen=True, slots=True)
class NumberChanged:
    """One number of a version: its name, and its value before and in it."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version with what it changed against the one before; `current` says that it is in force."""

    version: PolicyVersion
    changed: tuple[NumberChanged, ...]
    current: bool


def set_policy(
    store: Store,
    clock: Clock,
    actor: Actor,
    raw: Mapping[str, object],
    zone: str,
    *,
    why: str,
    if_version: int | None = None,
) -> Policy:
    """Change the numbers that `raw` names, from the next plan on. The same numbers again make no version.

    Raises Several for bad numbers, UnknownNoun for a pool or type that is not there, VersionConflict.
    """

    def new(records: Records) -> Policy:
        numbers = read_numbers(raw, zone)
        if not numbers:
            raise FieldMissing(field="numbers")
        return with_numbers(records.policy, numbers_here(records, numbers))

    return _put(store, clock, actor, new, why, if_version, None)


def roll_back_policy(
    store: Store, clock: Clock, actor: Actor, to: int, *, why: str, if_version: int | None = None
) -> Policy:
    """Bring back the numbers of an earlier version, as a new one.

    Raises NotFound for a version that is not kept, UnknownNoun if it names a pool that is gone, VersionConflict.
    """

    def old(records: Records) -> Policy:
        kept = _with_current(records).get(id_of(to))
        if kept is None:
            raise NotFound(field="to", noun="policy_version", id=str(to))
        numbers = {f.name: getattr(kept.policy, f.name) for f in fields(Policy) if f.name != "version"}
        return with_numbers(records.policy, numbers_here(records, numbers))

    return _put(store, clock, actor, old, why, if_version, to)


def _put(
    store: Store, clock: Clock, actor: Actor, new: Next, why: str, if_version: int | None, back_to: int | None
) -> Policy:
    act = "set_policy" if back_to is None else "roll_back_policy"

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_POLICY)
        must_be_name(why, "reason")
        before = records.policy
        must_be_read("policy", "policy", before.version, if_version)
        after = new(records)
        if not changes(before, after):
            return Change()
        at = clock.now()
        made = PolicyVersion(id_of(after.version), after, at, actor.person, why.strip(), back_to)
        first = () if id_of(before.version) in records.policies else (_with_current(records)[id_of(before.version)],)
        written = entry(actor, at, act, "policy", str(after.version), old=before, new=after, why=why.strip())
        return Change(puts=(*first, made), policy=after, audit=(written,))

    with refusals_kept(store, clock, actor, Attempt(act, "policy", "policy")):
        return store.update(decide).policy


def see_policy_versions(records: Records) -> tuple[VersionRow, ...]:
    """All versions, newest first."""
    kept = sorted(_with_current(records).values(), key=lambda one: one.number)
    before = {one.number: earlier for earlier, one in zip([None, *kept], kept, strict=False)}
    return tuple(
        VersionRow(
            one,
            changes(earlier.policy, one.policy) if (earlier := before[one.number]) is not None else (),
            one.number == records.policy.version,
        )
        for one in reversed(kept)
    )


def changes(before: Policy, after: Policy) -> tuple[NumberChanged, ...]:
    """The numbers in which two policies differ, in the policy's order."""
    names = (f.name for f in fields(Policy) if f.name != "version")
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in names)
    return tuple(NumberChanged(name, old, new) for name, old, new in pairs if old != new)


def _with_current(records: Records) -> dict[str, PolicyVersion]:
    """The kept versions, and the one in force where nobody has changed it yet."""
    now = records.policy
    return {id_of(now.version): PolicyVersion(id_of(now.version), now, None, "", ""), **records.policies}


def numbers_here(records: Records, numbers: Mapping[str, Any]) -> Mapping[str, Any]:
    """The numbers with the pools and card types of headrooms as the house knows them."""
    if "headroom" not in numbers:
        return numbers
    pools = sorted({*records.pools, *(node.pool for node in records.nodes.values())})
    made: list[Headroom] = []
    for one in numbers["headroom"]:
        if one.pool and one.pool not in pools:
            raise UnknownNoun(field="headroom", noun="pool", asked=one.pool, nearest=nearest(one.pool, pools))
        made.append(replace(one, card_types=named_types(records, one.card_types, "headroom")))
    return {**numbers, "headroom": tuple(made)}


def named_types(records: Records, asked: Iterable[str], field: str) -> tuple[str, ...]:
    """The card types that these names mean here; a problem names the field."""
    try:
        return types_here(records, "|".join(asked))
    except (UnknownCardType, Several) as unknown:
        for one in unknown.problems if isinstance(unknown, Several) else (unknown,):
            one.field = field
        raise
