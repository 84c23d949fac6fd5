"""A task as somebody asks for it, before it has an id; and what must hold between its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from paika.domain.problem import FieldMissing, Kind, Problem
from paika.domain.task import Demand, Estimate, Program, Share, Tier, When


@dataclass(frozen=True, slots=True)
class AfterDraft:
    """A parent asked for: `task` is an id, or the name of a task in the same batch."""

    task: str
    when: When = When.SUCCESS


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """All of a task's own fields that a person may give. `owner` '' means who asks, `team` '' his team.

    `demand.types` is empty here: `demand.asked_types` is what the person wrote, resolved on submit.
    `inputs` are ids or names of datasets.
    """

    name: str
    program: Program
    demand: Demand = Demand()
    owner: str = ""
    team: str = ""
    tier: Tier = Tier.NORMAL
    priority: int = 50
    estimate: Estimate | None = None
    limit_s: int | None = None
    inputs: tuple[str, ...] = ()
    after: tuple[AfterDraft, ...] = ()
    not_before: datetime | None = None
    preemptible: bool = False
    checkpoint: bool = False
    stop_signal: str = "TERM"
    grace_s: int = 30
    milestone: str = ""
    milestone_at: datetime | None = None
    kind: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    log_budget_mib: int | None = None

    @property
    def asked_types(self) -> str:
        """Card types as the person wrote them."""
        return self.demand.asked_types


@dataclass(eq=False)
class CommandOrScript(Problem):
    """A task runs either a command or a script; `given` says which of them stood there ('both', 'none')."""

    code: ClassVar[str] = "task.command_or_script"
    kind: ClassVar[Kind] = Kind.INVALID
    given: str


@dataclass(eq=False)
class NotWithShare(Problem):
    """A share is part of one card on one machine; `value` of this field does not go with it."""

    code: ClassVar[str] = "task.not_with_share"
    kind: ClassVar[Kind] = Kind.INVALID
    value: str
    allowed: str


@dataclass(eq=False)
class CardsNotEven(Problem):
    """The cards cannot be spread evenly over the machines."""

    code: ClassVar[str] = "task.cards_not_even"
    kind: ClassVar[Kind] = Kind.INVALID
    cards: int
    nodes: int


@dataclass(eq=False)
class EstimateOrder(Problem):
    """An estimate must rise: low <= likely <= high (seconds)."""

    code: ClassVar[str] = "task.estimate_order"
    kind: ClassVar[Kind] = Kind.INVALID
    low_s: int
    likely_s: int
    high_s: int


@dataclass(eq=False)
class LimitBelowEstimate(Problem):
    """The hard limit would cut a run that takes as long as its high estimate (seconds)."""

    code: ClassVar[str] = "task.limit_below_estimate"
    kind: ClassVar[Kind] = Kind.INVALID
    limit_s: int
    high_s: int


def _whole(values: Mapping[str, object], key: str) -> int | None:
    value = values.get(key)
    return value if isinstance(value, int) else None


def estimate_of(values: Mapping[str, object]) -> Estimate | None:
    """The estimate given: a likely length alone stands for all three; None where none is given or it falls."""
    likely = _whole(values, "estimate_likely")
    if likely is None:
        return None
    low, high = _whole(values, "estimate_low"), _whole(values, "estimate_high")
    return Estimate(likely if low is None else low, likely, likely if high is None else high)


def program_rule(values: Mapping[str, object]) -> Iterator[Problem]:
    """Exactly one of command and script."""
    both, none = "command" in values and "script" in values, not ("command" in values or "script" in values)
    if both or none:
        yield CommandOrScript(field="script" if both else "command", given="both" if both else "none")


def share_rule(values: Mapping[str, object]) -> Iterator[Problem]:
    """A share names its VRAM and is of one card on one machine."""
    if not ("share_vram" in values or "share_bandwidth" in values):
        return
    if "share_vram" not in values:
        yield FieldMissing(field="share_vram")
    for key in ("cards", "nodes"):
        count = _whole(values, key)
        if count is not None and count != 1:
            yield NotWithShare(field=key, value=str(count), allowed="1")
    if "vram" in values:
        yield NotWithShare(field="vram", value=f"{values['vram']} MiB", allowed="share_vram")


def gang_rule(values: Mapping[str, object]) -> Iterator[Problem]:
    """The machines carry equally many cards."""
    cards, nodes = _whole(values, "cards") or 1, _whole(values, "nodes") or 1
    if cards % nodes:
        yield CardsNotEven(field="nodes", cards=cards, nodes=nodes)


def time_rule(values: Mapping[str, object]) -> Iterator[Problem]:
    """Estimates rise and the limit does not cut them."""
    estimate, limit = estimate_of(values), _whole(values, "limit")
    if estimate is None:
        if "estimate_low" in values or "estimate_high" in values:
            yield FieldMissing(field="estimate_likely")
        return
    low, likely, high = estimate.low_s, estimate.likely_s, estimate.high_s
    if not low <= likely <= high:
        yield EstimateOrder(field="estimate_likely", low_s=low, likely_s=likely, high_s=high)
    elif limit is not None and limit < high:
        yield LimitBelowEstimate(field="limit", limit_s=limit, high_s=high)


RULES = (
    (program_rule, ("command", "script")),
    (share_rule, ("share_vram", "share_bandwidth", "cards", "nodes", "vram")),
    (gang_rule, ("cards", "nodes")),
    (time_rule, ("estimate_low", "estimate_likely", "estimate_high", "limit")),
)


def share_of(values: Mapping[str, object]) -> Share | None:
    """The share asked for, or None."""
    vram, bandwidth = _whole(values, "share_vram"), _whole(values, "share_bandwidth")
    return Share(vram, bandwidth) if vram is not None and bandwidth is not None else None
