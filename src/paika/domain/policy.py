"""The policy 排程口径: every number and switch of the scheduling rules, as one versioned value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """Numbers of the rules. Priority terms are in points; times in seconds.

    age_points_per_hour, up to age_points_max, are added while a gate-passed task waits.
    slack_points_max is added as a milestone comes near, over slack_window_s.
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
