"""What must hold in a living house at any instant, counted anew in the plainest way from what is written down.

Shares no code with the planner or the cycle.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from paika.domain.ledger import EntryKind
from paika.domain.records import Records
from paika.domain.run import Run
from paika.domain.task import Task
from paika.ports.store import LedgerQuery, Store

QUEUED = ("waiting", "held", "parked")
STATED = {"wait.promised", "wait.oversize", "wait.quota", "wait.quota_promised", "wait.lease"}
GATES = {"wait.held", "wait.parent", "wait.not_before", "wait.retry", "wait.data", "wait.team_inactive",
         "wait.person_inactive"}  # fmt: skip


def queued(records: Records) -> list[Task]:
    """Tasks that are not on cards."""
    return [task for task in records.tasks.values() if task.state.value in QUEUED]


# -- cards, runs and the ledger --------------------------------------------------------------------


def cards_are_held_once(records: Records) -> None:
    users: dict[str, list[Run]] = {}
    for run in records.runs.values():
        for card in run.cards:
            users.setdefault(card, []).append(run)
    for card, runs in users.items():
        shares = [run.share for run in runs if run.share is not None]
        if len(shares) < len(runs):
            assert len(runs) == 1, f"{card} is given to {[run.id for run in runs]}"
            continue
        room = records.cards[card].vram_mib - records.policy.vram_safety_mib
        assert sum(share.vram_mib for share in shares) <= room, card
        assert sum(share.bandwidth_percent for share in shares) <= 100, card
        assert sum(share.bandwidth_percent >= records.policy.bandwidth_heavy_percent for share in shares) <= 1, card


def tasks_and_runs_agree(records: Records) -> None:
    """A queued task has no cards; one on cards has exactly one open run, with all that it asked for."""
    runs_of = Counter(run.task for run in records.runs.values())
    for task in records.tasks.values():
        assert runs_of[task.id] == (task.state.value not in QUEUED), f"{task.id} is {task.state}: {runs_of[task.id]}"
    for run in records.runs.values():
        demand = records.tasks[run.task].demand
        assert len(run.parts) == len({part.node for part in run.parts}) == demand.nodes
        assert {len(set(part.cards)) for part in run.parts} == {demand.cards // demand.nodes}
        assert len({records.cards[card].type for card in run.cards}) == 1


def no_new_start_exceeds_a_quota(records: Records, seen: set[str]) -> None:
    """Runs whose ids are not in `seen` are new; what already ran may lie above a ceiling that was cut."""
    for team in {run.team for run in records.runs.values() if run.id not in seen}:
        ceiling = records.quotas[team].max_cards if team in records.quotas else None
        held = sum(run.parts_held for run in records.runs.values() if run.team == team and not run.borrowed)
        assert ceiling is None or held <= 100 * ceiling, f"{team} holds {held} of {ceiling}"


def the_ledger_is_right(store: Store, records: Records, all_runs: list[Run]) -> None:
    entries = store.ledger(LedgerQuery(limit=100_000)).rows
    held = Counter[str]()
    for run in records.runs.values():
        held[run.team] += 0 if run.borrowed else run.parts_held
    booked = Counter[str]()
    for entry in entries:
        booked[entry.team] += 0 if entry.kind in (EntryKind.BORROW, EntryKind.RETURN) else entry.parts
    for team in {*held, *booked, *records.balances}:
        balance = records.balances.get(team)
        assert booked[team] == held[team] == (balance.held_parts if balance else 0), team
    spent = sum(entry.card_seconds for entry in entries if entry.kind in (EntryKind.SPEND, EntryKind.LOST))
    assert spent == sum(card_seconds(run) for run in all_runs if run.ended)
    kinds = Counter((entry.run, entry.kind) for entry in entries)
    assert max(kinds.values(), default=1) == 1, "a line of the ledger was written twice"


def card_seconds(run: Run) -> int:
    if run.started_at is None or run.ended_at is None:
        return 0
    return int((run.ended_at - run.started_at).total_seconds()) * run.parts_held // 100


# -- reasons ---------------------------------------------------------------------------------------


def reasons_are_true(
    records: Records, task: Task, told: list[dict[str, Any]], now: datetime, *, outside: set[str], silent: bool
) -> None:
    """`told` are reasons as the API gives them: a code and facts. What can be counted is counted again."""
    codes = [reason["code"] for reason in told]
    facts = {reason["code"]: reason["facts"] for reason in told}
    assert codes, f"{task.id} waits and nobody says why"
    unready = {key for key in task.inputs if records.datasets[key].readiness.value != "ready"}
    assert {r["facts"]["dataset"] for r in told if r["code"] == "wait.data"} == unready
    for reason in told:
        if reason["code"] == "wait.data":
            assert reason["facts"]["readiness"] == records.datasets[reason["facts"]["dataset"]].readiness.value
    assert ("wait.held" in codes) == (task.state.value == "held")
    assert ("wait.retry" in codes) == (task.retry_at is not None and task.retry_at > now)
    unmet = {d.task for d in task.after if d.outcome is None}
    assert {r["facts"]["parent"] for r in told if r["code"] == "wait.parent"} == unmet
    parks = [code for code in codes if code.startswith("park.")]
    free, together, able = _room(records, task, outside, silent=silent)
    ceiling = records.quotas[task.team].max_cards if task.team in records.quotas else None
    least = _least_parts(records, task)
    borrows = records.policy.idle_borrows and task.preemptible and task.tier.value == "idle"
    hopeless = not able or (ceiling is not None and least > 100 * ceiling and not borrows)
    assert bool(parks) == hopeless, f"{task.id}: {codes}"
    assert (task.state.value == "parked") == (bool(parks) and task.state.value != "held")
    if parks or GATES & set(codes):
        return
    held = sum(run.parts_held for run in records.runs.values() if run.team == task.team and not run.borrowed)
    if task.demand.share is None:
        assert ("wait.quota" in codes) == (ceiling is not None and held + least > 100 * ceiling), f"{task.id}: {codes}"
    if "wait.quota" in codes:
        assert (facts["wait.quota"]["held_parts"], facts["wait.quota"]["max_cards"]) == (held, ceiling)
    if "wait.cards" in codes:
        assert facts["wait.cards"]["free"] == free, f"{task.id}: {facts['wait.cards']} but {free} are free"
        assert facts["wait.cards"]["need"] == task.demand.cards
        assert not together
    elif task.demand.share is None:
        assert together
    if together:
        assert STATED & set(codes), f"{task.id} waits beside {free} free cards: {codes}"


def _least_parts(records: Records, task: Task) -> int:
    share = task.demand.share
    if share is None:
        return 100 * task.demand.cards
    sizes = [card.vram_mib for card in records.cards.values() if _suits(records, task, card.id)]
    charged = [max(-(-share.vram_mib * 100 // size), share.bandwidth_percent) for size in sizes]
    return min(charged, default=0)


def _suits(records: Records, task: Task, card_id: str) -> bool:
    card, demand = records.cards[card_id], task.demand
    need = demand.share.vram_mib + records.policy.vram_safety_mib if demand.share else demand.vram_mib
    return (not demand.types or card.type in demand.types) and card.vram_mib >= need


def _room(records: Records, task: Task, outside: set[str], *, silent: bool) -> tuple[int, bool, bool]:
    """Free cards that could serve the task; whether they lie together as it needs; whether it could ever fit."""
    each, nodes = task.demand.cards // task.demand.nodes, task.demand.nodes
    every, free = Counter[tuple[str, int, str]](), Counter[tuple[str, int, str]]()
    busy = {card for run in records.runs.values() for card in run.cards} | outside
    for card in records.cards.values():
        if _suits(records, task, card.id):
            every[card.type, card.vram_mib, card.node] += 1
            served = records.nodes[card.node].engine is not None and not silent
            free[card.type, card.vram_mib, card.node] += served and card.health.value == "ok" and card.id not in busy
    kinds = {(kind, size) for kind, size, _ in every}
    able = {k for k in kinds if sum(n >= each for (*key, _), n in every.items() if tuple(key) == k) >= nodes}
    ready = {k for k in able if sum(n >= each for (*key, _), n in free.items() if tuple(key) == k) >= nodes}
    usable = sum(n for (*key, _), n in free.items() if tuple(key) in able)
    return usable, bool(ready) and task.demand.share is None, bool(able)
