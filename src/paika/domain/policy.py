"""The policy 排程口径: every number and switch of the scheduling rules, as one versioned value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PreemptFor(StrEnum):
    """For whom preemptible runs may be stopped: nobody, core tasks under their team's floor, or every core task."""

    NOBODY = "nobody"
    GUARANTEE = "guarantee"
    CORE = "core"


@dataclass(frozen=True, slots=True)
class Headroom:
    """Cards of a pool kept free for core tasks, in units that fit: `units` blocks of `together` cards on one machine.

    `pool` "" means every machine. With `refill` freed blocks are kept back again before anybody else gets
    them; without it the blocks stay the same ones, in use by core tasks or not.
    """

    units: int
    together: int = 1
    pool: str = ""
    card_types: tuple[str, ...] = ()
    refill: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """Numbers of the rules. Priority terms are in points; times in seconds.

    age_points_per_hour, up to age_points_max, are added while a task waits. slack_points_max is added as a
    milestone comes near, over slack_window_s. fair_points_max goes to the team that used least of its part.
    Exactly planned are the next horizon_s; later starts are told roughly and hold nothing below core.
    """

    version: int = 1
    step_s: int = 300  # time-varying terms change at multiples of this
    age_points_per_hour: int = 1
    age_points_max: int = 40
    slack_points_max: int = 30
    slack_window_s: int = 7 * 86_400
    oversize_after_s: int = 600  # how long a task waits for its own card type before a bigger one
    vram_safety_mib: int = 512  # kept free on a shared card
    bandwidth_heavy_percent: int = 51  # two shares at or above never meet
    hold_for_unknown_end: bool = True  # core tasks keep free cards while the rest ends "unknown"
    unknown_run_s: int = 86_400  # a run of unknown length wants a lease to last at least this long
    retries_not_own_fault: int = 3
    retry_delay_s: int = 30
    start_timeout_s: int = 120
    log_budget_mib: int = 1024
    minimum_grace_s: int = 5
    card_returns_after_looks: int = 0  # good looks in a row that bring a withdrawn card back; 0: a person does
    fair_points_max: int = 20
    fair_half_life_s: int = 7 * 86_400
    horizon_s: int = 72 * 3600
    normal_depth: int | None = None  # how many normal tasks hold a place ahead; None: all of them, 1: EASY, 0: none
    idle_depth: int = 0
    headroom: tuple[Headroom, ...] = ()
    density_window_s: int = 86_400
    tight_percent: int = 100  # pressure from which the level is tight
    strict_percent: int = 300
    density_hysteresis_percent: int = 20  # so much below the threshold brings the level down again
    tight_cards_per_person: int | None = None
    strict_cards_per_person: int | None = None  # non-core cards that one person may hold when strict
    strict_extra_headroom: int = 0  # units more for each headroom when strict
    preempt_for: PreemptFor = PreemptFor.GUARANTEE
    preempt_without_checkpoint: bool = False
    preempt_after_s: int = 900  # a run is let alone so long after its start
    preempt_cooldown_s: int = 3600  # and a task so long after its last preemption
    preempt_per_day: int = 3
    idle_borrows: bool = True  # preemptible idle tasks may go beyond their team's ceiling
    no_show_s: int = 1800
    improve_rounds: int = 0  # tries to find a better order inside tiers; 0: off
    improve_delay_cap_s: int = 3600  # nobody is made later than this by them
