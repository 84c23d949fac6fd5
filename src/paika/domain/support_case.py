"""Support cases: all that a plan was made of, as a value that may leave the house, and what was wrong with the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.domain.task import Program


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that a plan broke, and on what; one that `blocks` kept the plan from being carried out."""

    rule: str
    subject: str
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class SupportCase:
    """A plan that can be made again elsewhere. `faults` are those that it had; () for one that was only saved."""

    at: datetime
    snapshot: Snapshot
    policy: Policy
    faults: tuple[Fault, ...] = ()
    paika: str = ""


def bare(snapshot: Snapshot) -> Snapshot:
    """The snapshot without what no plan looks at and nobody else should read; the plan of it is the very same.

    Programs with their variables, tokens of runs, probes, names of people and teams, notes and other free text go;
    names of tasks stay, as match records go by them.
    """
    return replace(
        snapshot,
        tasks=tuple(
            replace(task, program=Program(), note="", tags=(), milestone="", boost_why="") for task in snapshot.tasks
        ),
        runs=tuple(replace(run, token="", detail="") for run in snapshot.runs),
        datasets=tuple(replace(one, name=one.id, probe=None, detail="") for one in snapshot.datasets),
        people=tuple(replace(person, name=person.id) for person in snapshot.people),
        teams=tuple(replace(team, name=team.id, note="") for team in snapshot.teams),
        nodes=tuple(replace(node, note="", state_cause="") for node in snapshot.nodes),
        cards=tuple(replace(card, note="", health_cause="") for card in snapshot.cards),
        reservations=tuple(replace(one, title="", state_cause="") for one in snapshot.reservations),
        guarantees=tuple(replace(one, note="") for one in snapshot.guarantees),
        external=tuple(replace(use, pids=()) for use in snapshot.external),
    )
