"""A card as a cell of the grid: what it shows at a glance, and all of it for hover and focus."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote

from paika.domain.visible import shown
from paika.interfaces.board.marks import Bar, hue
from paika.interfaces.board.visit import Visit
from paika.interfaces.wording.say import gib
from paika.services.see_cards import BUSY, CardCell, Occupant, Shows
from paika.services.seen import Ending

ID_CHARS = 8


@dataclass(frozen=True, slots=True)
class Cell:
    """Ready words. `hue` None: nobody holds it. `facts` are (label, value); `label` reads it all aloud."""

    id: str
    shows: str
    letter: str
    index: str
    type: str
    title: str
    what: str
    until: str
    hue: int | None
    bars: tuple[Bar, ...]
    facts: tuple[tuple[str, str], ...]
    href: str
    label: str


def cell_of(visit: Visit, card: CardCell) -> Cell:
    """The words of one card."""
    title, what, until = _words(visit, card)
    facts = tuple((visit.t(f"fact.{name}"), value) for name, value in _facts(visit, card) if value)
    state = visit.t(f"shows.{card.shows}")
    index = "" if card.index is None else str(card.index)
    said = [state, f"{card.node} {index}".strip(), *(f"{name} {value}" for name, value in facts)]
    return Cell(
        id=card.id,
        shows=card.shows.value,
        letter=visit.t(f"letter.{card.shows}"),
        index=index,
        type=card.type,
        title=title,
        what=what,
        until=until,
        hue=hue(card.occupants[0].owner.id) if card.occupants else None,
        bars=_bars(visit, card),
        facts=((visit.t("fact.state"), state), *facts),
        href=_href(visit, card),
        label=shown(visit.t("list.comma").join(said)),
    )


def ending_words(visit: Visit, ending: Ending) -> str:
    """'until 14:20 (limit)', 'about 14:20 (estimate)', 'over the estimate', 'end unknown'."""
    if ending.at is None:
        return visit.t("ending.unknown")
    if ending.overrun:
        return visit.t("ending.overrun", over=visit.ago(ending.at))
    return visit.t("ending.limit" if ending.by_limit else "ending.estimate", at=ending.at)


def short_ending(visit: Visit, ending: Ending) -> str:
    """The same in few signs: 'until' is a limit, '~' an estimate."""
    if ending.at is None or ending.overrun:
        return ending_words(visit, ending)
    return visit.t("cell.until_limit" if ending.by_limit else "cell.until_estimate", at=ending.at)


def _words(visit: Visit, card: CardCell) -> tuple[str, str, str]:
    if card.occupants:
        return _held(visit, card)
    state = visit.t(f"shows.{card.shows}")
    if card.shows is Shows.FREE:
        since = visit.t("cell.idle_for", span=visit.ago(card.free_since)) if card.free_since else ""
        return state, gib(card.vram_total_mib), since or _lease(visit, card)
    if card.shows is Shows.PROMISED and card.promised:
        return (
            visit.t("cell.promised_to", who=card.promised.owner.name),
            card.promised.task.name,
            visit.t("cell.start_by", at=card.promised.at),
        )
    if card.external:
        users = visit.t("list.comma").join(card.external.users)
        return users or state, visit.t("cell.external"), visit.t("cell.since", at=card.external.since)
    since = visit.t("cell.since", at=card.health_since) if card.health_since else ""
    return state, visit.cause(card), since


def _held(visit: Visit, card: CardCell) -> tuple[str, str, str]:
    first = card.occupants[0]
    owners = dict.fromkeys(occupant.owner.name for occupant in card.occupants)
    many = len(card.occupants) > 1
    what = visit.t("cell.shared_by", count=len(card.occupants)) if many else first.task.name
    if card.shows in (Shows.LOST, Shows.NEEDS_RESET):
        return visit.t(f"shows.{card.shows}"), f"{first.owner.name} · {first.task.name}", visit.cause(card)
    until = visit.t(f"cell.{card.shows}") if card.shows in (Shows.STARTING, Shows.STOPPING) else ""
    last = max((o.ending for o in card.occupants), key=lambda e: (e.at is None, e.at or visit.now))
    return visit.t("list.comma").join(owners), what, until or short_ending(visit, last)


def _lease(visit: Visit, card: CardCell) -> str:
    if card.lease_ends_at is None or card.lease_ends_at - visit.now > timedelta(days=30):
        return ""
    return visit.t("cell.lease", at=card.lease_ends_at)


def _bars(visit: Visit, card: CardCell) -> tuple[Bar, ...]:
    if card.shows is Shows.SHARED and card.occupants and card.vram_total_mib:
        asked = sum(occupant.share_vram_mib or 0 for occupant in card.occupants)
        bandwidth = sum(occupant.share_bandwidth_percent or 0 for occupant in card.occupants)
        return (
            Bar(asked * 100 / card.vram_total_mib, f"{gib(asked)} / {gib(card.vram_total_mib)}"),
            Bar(bandwidth, f"{bandwidth} %"),
        )
    if card.fill_percent is None or card.shows in (Shows.FREE, Shows.PROMISED):
        return ()
    return (Bar(card.fill_percent, _vram(card)),)


def _vram(card: CardCell) -> str:
    return f"{gib(card.vram_used_mib)} / {gib(card.vram_total_mib)}"


def _facts(visit: Visit, card: CardCell) -> list[tuple[str, str]]:
    facts = [
        ("card", card.id if len(card.id) <= 20 else card.id[: ID_CHARS + 8] + "…"),
        ("type", card.type),
        ("vram", f"{_vram(card)}"),
        ("busy", "" if card.busy_percent is None else f"{card.busy_percent} %"),
        ("heat", _heat(card)),
        ("read", visit.t("fact.not_read") if card.reading_age_s is None else _age(visit, card.reading_age_s)),
    ]
    for occupant in card.occupants:
        facts += _occupant(visit, occupant)
    if card.promised:
        facts += [("next", f"{card.promised.task.name} · {card.promised.owner.name}")]
        facts += [("start_by", visit.when(card.promised.at))]
    if card.external:
        facts += [("outside", ", ".join(card.external.users) or "—"), ("pids", ", ".join(map(str, card.external.pids)))]
    facts += [("free_since", visit.when(card.free_since) if card.free_since else "")]
    facts += [("cause", visit.cause(card)), ("lease", visit.when(card.lease_ends_at) if card.lease_ends_at else "")]
    return [*facts, ("draining", visit.t("word.yes") if card.draining else ""), ("note", card.note)]


def _occupant(visit: Visit, occupant: Occupant) -> list[tuple[str, str]]:
    share = "" if occupant.share_vram_mib is None else gib(occupant.share_vram_mib)
    if occupant.share_bandwidth_percent is not None:
        share += f" · {occupant.share_bandwidth_percent} %"
    return [
        ("owner", f"{occupant.owner.name} · {occupant.team.name}"),
        ("task", f"{occupant.task.name} ({occupant.task.id} · {occupant.run})"),
        ("tier", visit.t(f"tier.{occupant.tier}")),
        ("share", share),
        ("since", f"{visit.when(occupant.since)} · {visit.ago(occupant.since)}"),
        ("until", ending_words(visit, occupant.ending)),
        ("oversized", visit.t("word.yes") if occupant.oversized else ""),
        ("preemptible", visit.t("word.yes") if occupant.preemptible else ""),
    ]


def _heat(card: CardCell) -> str:
    said = [] if card.temperature_c is None else [f"{card.temperature_c} °C"]
    return " · ".join(said + ([] if card.power_w is None else [f"{card.power_w:.0f} W"]))


def _age(visit: Visit, seconds: int) -> str:
    return visit.t("time.ago", span=visit.span(seconds))


def _href(visit: Visit, card: CardCell) -> str:
    if card.occupants and card.shows in BUSY | {Shows.LOST, Shows.NEEDS_RESET}:
        return f"/tasks/{quote(card.occupants[0].task.id, safe='')}"
    if card.shows is Shows.PROMISED and card.promised:
        return f"/tasks/{quote(card.promised.task.id, safe='')}"
    return f"/cards?text={quote(card.id, safe='')}"
