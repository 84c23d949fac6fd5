"""The server's JSON in words: times, spans, sizes, needs, starts. Unknown is a dash, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from paika.domain.units import MIB_PER_GIB, PARTS_PER_CARD, SECONDS_PER_HOUR
from paika.interfaces.cli.language import MACHINE_ZONE, Tongue
from paika.interfaces.cli.sheet import Part
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import gib, span, told_of, when
from paika.interfaces.wording.starts import ToldStart, hit_said, start_said

DASH = "—"
Told = Mapping[str, Any]
TONES = {
    "free": "bold green",
    "promised": "green",
    "running": "cyan",
    "starting": "cyan",
    "shared": "cyan",
    "stopping": "yellow",
    "held": "yellow",
    "preparing": "yellow",
    "draining": "yellow",
    "parked": "yellow",
    "external": "magenta",
    "lost": "red",
    "needs_reset": "red",
    "failed": "red",
    "blocked": "red",
    "unknown": "red",
    "ready": "green",
    "done": "green",
}


def instant(text: str | None) -> datetime | None:
    """An instant of the API; None stays None."""
    return None if text is None else datetime.fromisoformat(text)


class Phrases:
    """Words for one answer; `at` is its instant, against which times of the same day are short."""

    def __init__(self, tongue: Tongue, at: str | None = None) -> None:
        self.tongue, self.now = tongue, instant(at)

    def t(self, key: str, **facts: object) -> str:
        """A word with its facts."""
        return self.tongue.t(key, **facts)

    def told(self, prefix: str, text: str) -> str:
        """Machine text in words; nothing for nothing."""
        return told_of(prefix, text, self.tongue.lang) if text else ""

    def when(self, text: str | None) -> str:
        """An instant in the machine's zone."""
        return when(instant(text), MACHINE_ZONE, self.now)

    def span(self, seconds: int | None) -> str:
        """A span of seconds."""
        return span(seconds, self.tongue.lang)

    def since(self, text: str | None) -> str:
        """How long ago, measured at the answer's instant."""
        at = instant(text)
        if at is None or self.now is None:
            return DASH
        return self.span(int((self.now - at).total_seconds()))

    def hours(self, card_seconds: int | None) -> str:
        """Card-hours with one decimal."""
        return DASH if card_seconds is None else f"{card_seconds / SECONDS_PER_HOUR:,.1f}"

    def state(self, word: str, prefix: str = "state") -> Part:
        """A state in words and in its colour."""
        return self.tongue.maybe(f"{prefix}.{word}", word), TONES.get(word, "")

    def person(self, named: Told | None) -> str:
        """Somebody by name."""
        return DASH if named is None else str(named["name"])

    def both(self, named: Told | None) -> str:
        """A noun by name, with its id where that differs."""
        if named is None:
            return DASH
        return str(named["name"]) if named["name"] == named["id"] else f"{named['name']} ({named['id']})"

    def need(self, demand: Told) -> str:
        """'2 × A100-80G', '4 × ≥ 40 GiB', '10 GiB + 50 % of a card', '16 on 2 machines'."""
        if share := demand["share"]:
            return self.t("need.share", vram=gib(share["vram_mib"]), bandwidth=share["bandwidth_percent"])
        kind = demand["asked_types"] or self.t("list.or").join(demand["types"])
        vram = f"≥ {gib(demand['vram_mib'])}" if demand["vram_mib"] else ""
        said = f"{demand['cards']} × {' · '.join(part for part in (kind, vram) if part) or self.t('need.any')}"
        return self.t("need.gang", need=said, nodes=demand["nodes"]) if demand["nodes"] > 1 else said

    def lasts(self, limit_s: int | None, estimate: Told | None) -> str:
        """'limit 6 h', 'about 4 h', or that neither is known."""
        if limit_s is not None:
            return self.t("need.limit", span=self.span(limit_s))
        return self.t("need.estimate", span=self.span(estimate["likely_s"])) if estimate else self.t("need.unlimited")

    def start(self, row: Told) -> str:
        """The latest start, or why none can be told."""
        if row["forecast"] is not None:
            return self.forecast(row["forecast"])
        if row["unseen_since"] is not None:
            return self.t("cli.start.unseen")
        code = row["reasons"][0]["code"] if row["reasons"] else ""
        parked = self.t("start.parked") if row.get("state") == "parked" else self.t("start.untold")
        return self.tongue.maybe(f"start.{code}", parked)

    def forecast(self, forecast: Told) -> str:
        """'14:20–15:10 (82 % of such ranges held)', 'by 15:10 at the latest', 'in about 4–6 days'."""
        start_by = instant(forecast["start_by"])
        assert start_by is not None
        told = ToldStart(
            start_by,
            instant(forecast["start_from"]),
            forecast["hit_permille"],
            forecast["holds"],
            forecast["rough"],
        )
        start, hit = start_said(self.t, told, MACHINE_ZONE, self.now), hit_said(self.t, told)
        return self.t("start.with_hit", start=start, hit=hit) if hit else start

    def slip(self, slip: Told | None) -> str:
        """Why a start is later than promised; '' if it is not."""
        if slip is None:
            return ""
        return self.t(f"slip.{slip['cause']}", was=self.when(slip["was"]), subject=slip["subject"])

    def reason(self, row: Told) -> str:
        """The first reason with how many stand behind it."""
        reasons = row["reasons"]
        if not reasons:
            return ""
        return str(reasons[0]["message"]) + (f" +{len(reasons) - 1}" if len(reasons) > 1 else "")

    def until(self, ending: Told | None) -> str:
        """When a run is over, and whether by limit or by estimate."""
        if ending is None or ending["at"] is None:
            return DASH
        at = self.when(ending["at"])
        if ending["overrun"]:
            return self.t("cli.overrun", at=at)
        return self.t("cell.until_limit" if ending["by_limit"] else "cell.until_estimate", at=at)

    def percent(self, value: float | None) -> str:
        """A percentage."""
        return DASH if value is None else f"{value:.0f} %"

    def filled(self, used: int | None, total: int) -> str:
        """Used and all VRAM in GiB: '31/79'; used is rounded up and all of it down, so that no room is promised."""
        return f"{DASH if used is None else -(-used // MIB_PER_GIB)}/{total // MIB_PER_GIB}"

    def parts(self, parts: int) -> str:
        """Card parts as cards."""
        return f"{parts / PARTS_PER_CARD:g}"

    def listed(self, words: list[str]) -> str:
        """Words after each other."""
        return ("、" if self.tongue.lang is Lang.ZH else ", ").join(words) or DASH
