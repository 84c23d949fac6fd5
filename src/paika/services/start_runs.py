"""From a plan's starts to runs: intent is written before the engine hears of it, and carries its id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from paika.domain.card import Vendor
from paika.domain.ledger import LedgerEntry, hold
from paika.domain.plan import Plan, Start
from paika.domain.records import Change, Noun, Records
from paika.domain.run import Run
from paika.domain.task import Task, TaskState
from paika.domain.task import step as task_step
from paika.ports.engine import Launch, LaunchPart


def intend(records: Records, plan: Plan, new_token: Callable[[], str], now: datetime) -> Change:
    """Runs for every start that still holds in these records; what changed meanwhile is left to the next cycle."""
    taken = {card for run in records.runs.values() if run.share is None for card in run.cards}
    shared = {card for run in records.runs.values() if run.share is not None for card in run.cards}
    number = records.counters.get("run", 0)
    puts: list[Noun] = []
    ledger: list[LedgerEntry] = []
    for start in plan.starts:
        task = records.tasks.get(start.task)
        if task is None or not _holds(records, task, start, taken, shared, plan):
            continue
        number += 1
        run = _run_of(records, task, start, f"r-{number}", new_token(), now)
        puts += [run, _starting(task, now)]
        ledger.append(hold(run, start.card_type, now))
        (shared if run.share else taken).update(run.cards)
    return Change(puts=tuple(puts), ledger=tuple(ledger), counters={"run": number} if puts else {})


def _holds(records: Records, task: Task, start: Start, taken: set[str], shared: set[str], plan: Plan) -> bool:
    """The task is as the plan saw it, and its cards are still there for it.

    Shares beside new shares are only safe in the very version the plan was made on.
    """
    if task.version != start.task_version or task.state not in {TaskState.WAITING, TaskState.PARKED}:
        return False
    if any(card in taken or card not in records.cards for card in start.cards):
        return False
    if task.demand.share is None:
        return not shared.intersection(start.cards)
    return records.version == plan.read_version or not shared.intersection(start.cards)


def _run_of(records: Records, task: Task, start: Start, run_id: str, token: str, now: datetime) -> Run:
    return Run(
        id=run_id,
        task=task.id,
        attempt=task.attempts + 1,
        token=token,
        owner=task.owner,
        team=task.team,
        tier=task.tier,
        parts=start.parts,
        parts_held=start.parts_held,
        intended_at=now,
        engine=records.nodes[start.parts[0].node].engine or "",
        share=task.demand.share,
        limit_s=task.limit_s,
        high_s=task.estimate.high_s if task.estimate else None,
        preemptible=task.preemptible,
        grace_s=max(task.grace_s, records.policy.minimum_grace_s),
        checkpoint=task.checkpoint,
        borrowed=start.borrowed,
        preempted_at=task.preempted_at,
        oversized=start.oversized,
        policy_version=records.policy.version,
    )


def _starting(task: Task, now: datetime) -> Task:
    state = task_step(task.state, "unpark") if task.state is TaskState.PARKED else task.state
    return replace(
        task,
        state=task_step(state, "intend"),
        state_since=now,
        state_cause="",
        attempts=task.attempts + 1,
        retry_at=None,
        version=task.version + 1,
    )


def launch_of(records: Records, run: Run, task: Task) -> Launch:
    """The order that the engine gets for an intended run."""
    parts = tuple(
        LaunchPart(
            rank=rank,
            node=part.node,
            cards=part.cards,
            vendor=_vendor(records, part.node, part.cards),
            indexes=tuple(records.cards[card].index for card in part.cards),
        )
        for rank, part in enumerate(run.parts)
    )
    budget = task.log_budget_mib if task.log_budget_mib is not None else records.policy.log_budget_mib
    return Launch(
        run=run.id,
        token=run.token,
        task=task.id,
        name=task.name,
        owner=task.owner,
        team=task.team,
        program=task.program,
        parts=parts,
        limit_s=run.limit_s,
        stop_signal=task.stop_signal,
        grace_s=max(task.grace_s, records.policy.minimum_grace_s),
        log_budget_bytes=budget << 20,
        share_vram_mib=run.share.vram_mib if run.share else None,
        share_bandwidth_percent=run.share.bandwidth_percent if run.share else None,
    )


def _vendor(records: Records, node: str, cards: tuple[str, ...]) -> Vendor:
    """How processes are pinned there; cards of a virtual node never touch a real one."""
    if records.nodes[node].virtual:
        return Vendor.VIRTUAL
    card_type = records.card_types.get(records.cards[cards[0]].type)
    return card_type.vendor if card_type else Vendor.NVIDIA
