"""Small loads to play."""

from __future__ import annotations

from dataclasses import replace

from paika.domain.trace import Job
from paika.simulation.load import Load, Played, cluster_of, load_of, with_lengths

ONE_NODE = cluster_of("1x8:A100-80G")
TWO_NODES = cluster_of("2x8:A100-80G")


def job(name: str, submit: float, lasts: float, cards: int = 1, **more: object) -> Job:
    return replace(Job(name, submit, lasts, cards), **more)  # type: ignore[arg-type]


def load(*jobs: Job, cluster=ONE_NODE, told: bool = True) -> Load:
    """The jobs; with `told` their true length is known as their limit."""
    made = load_of(jobs, cluster)
    return with_lengths(made, [1.0] * len(made.works)) if told else made


def starts(played: Played) -> dict[str, int]:
    return {one.work.id: one.started_s for one in played.served}
