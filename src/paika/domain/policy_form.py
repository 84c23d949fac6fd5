"""The form of the policy's numbers and switches: read the same way at every door, a part of them or all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paika.domain.form import FieldKind as K
from paika.domain.form import Form, FormField
from paika.domain.policy import Headroom, Policy, PreemptFor
from paika.domain.problem import BadValue, Problem, Several
from paika.domain.quantity import given, shown, tidy, whole
from paika.domain.written import flag, names

MOST_POINTS = 1_000
MOST_CARDS = 100_000
MOST_HEADROOMS = 50
DAY_S, YEAR_S = 86_400, 366 * 86_400
ALLOWED_HEADROOM = "UNITSxCARDS@POOL:TYPE+TYPE, several with ';', at most 50"
_HEADROOM = re.compile(r"([0-9]{1,6})(?:[xX*×]([0-9]{1,5}))?(?:@([^:@;!]{1,64}))?(?::([^@;!]{1,400}))?(!)?")
_HEADROOM_KEYS = frozenset({"units", "together", "pool", "card_types", "refill"})
OPEN_ENDED = ("normal_depth", "tight_cards_per_person", "strict_cards_per_person")  # left empty: no bound


def headrooms(field: str, value: object) -> tuple[Headroom, ...]:
    """Headrooms from '1x8@main:A100-80G; 2', or from a list of objects; '!' at the end: not refilled."""
    parts = value if isinstance(value, list | tuple) else re.split("[;；]", value) if isinstance(value, str) else None
    if parts is None or len(parts) > MOST_HEADROOMS:
        raise BadValue(field=field, value=shown(value), allowed=ALLOWED_HEADROOM)
    return tuple(_headroom(field, part) for part in parts if given(part))


def _headroom(field: str, value: object) -> Headroom:
    if isinstance(value, Mapping) and set(value) <= _HEADROOM_KEYS and "units" in value:
        return Headroom(
            whole(field, value["units"], 0, MOST_CARDS),
            whole(field, value.get("together", 1), 1, 1024),
            str(value.get("pool") or ""),
            names(field, value["card_types"], 50, 80) if given(value.get("card_types")) else (),
            flag(field, value.get("refill", True)),
        )
    found = _HEADROOM.fullmatch(tidy(value)) if isinstance(value, str) else None
    if found is None:
        raise BadValue(field=field, value=shown(value), allowed=ALLOWED_HEADROOM)
    units, together, pool, types, once = found.groups()
    if not 1 <= int(together or 1) <= 1024:
        raise BadValue(field=field, value=shown(value), allowed=ALLOWED_HEADROOM)
    return Headroom(
        int(units), int(together or 1), pool or "", tuple((types or "").split("+")) if types else (), not once
    )


def _points(key: str) -> FormField:
    return FormField(key, K.WHOLE, (), 0, MOST_POINTS)


def _span(key: str, low: int = 0, high: int = YEAR_S) -> FormField:
    return FormField(key, K.DURATION, (), low, high)


def _count(key: str, low: int = 0, high: int = MOST_CARDS) -> FormField:
    return FormField(key, K.WHOLE, (), low, high)


def _switch(key: str) -> FormField:
    return FormField(key, K.FLAG)


POLICY = Form(
    (
        _span("step_s", 1, DAY_S),
        _points("age_points_per_hour"),
        _points("age_points_max"),
        _points("slack_points_max"),
        _span("slack_window_s", 1),
        _points("fair_points_max"),
        _span("fair_half_life_s", 60),
        _span("oversize_after_s"),
        _count("vram_safety_mib", 0, 1 << 20),
        _count("bandwidth_heavy_percent", 1, 100),
        _switch("hold_for_unknown_end"),
        _span("unknown_run_s"),
        _count("retries_not_own_fault", 0, 1000),
        _span("retry_delay_s"),
        _span("start_timeout_s", 1),
        _count("log_budget_mib", 1, 1 << 20),
        _span("minimum_grace_s", 0, DAY_S),
        _count("card_returns_after_looks", 0, 10_000),
        _span("horizon_s"),
        _count("normal_depth"),
        _count("idle_depth"),
        FormField("headroom", K.OTHER, (), allowed_as=ALLOWED_HEADROOM, read=headrooms),
        _span("density_window_s", 60),
        _count("tight_percent", 0, 100_000),
        _count("strict_percent", 0, 100_000),
        _count("density_hysteresis_percent", 0, 100_000),
        _count("tight_cards_per_person"),
        _count("strict_cards_per_person"),
        _count("strict_extra_headroom"),
        FormField("preempt_for", K.CHOICE, choices=tuple((one.value, one) for one in PreemptFor)),
        _switch("preempt_without_checkpoint"),
        _span("preempt_after_s"),
        _span("preempt_cooldown_s"),
        _count("preempt_per_day", 0, 10_000),
        _switch("idle_borrows"),
        _span("no_show_s"),
        _count("improve_rounds", 0, 1_000_000),
        _span("improve_delay_cap_s"),
    )
)


def read_numbers(raw: Mapping[str, object], zone: str) -> dict[str, Any]:
    """The numbers that `raw` names, by field of the policy; its `version` is passed over.

    A list of headrooms that is empty means none; an open-ended number left empty means no bound. Raises Several.
    """
    asked = {name: value for name, value in raw.items() if name != "version"}
    values, problems = POLICY.read(asked, zone)
    if problems:
        raise Several(field=None, problems=tuple(problems))
    blank: dict[str, object] = {**dict.fromkeys(OPEN_ENDED), "headroom": ()}
    for name, value in asked.items():
        found = POLICY.match(str(name))
        if found is not None and not given(value) and found.field.key in blank:
            values[found.field.key] = blank[found.field.key]
    return values


def with_numbers(policy: Policy, numbers: Mapping[str, Any]) -> Policy:
    """The policy with these numbers, one version on. Raises BadValue where two of them do not go together."""
    new = replace(policy, **numbers, version=policy.version + 1)
    if new.strict_percent < new.tight_percent:
        problem: Problem = BadValue(
            field="strict_percent", value=str(new.strict_percent), allowed=f">= {new.tight_percent}"
        )
        raise problem
    return new
