"""The Meter port for virtual cards: they use what our runs on them ask for, and fail on demand.

`faults.json` in the data folder plays what goes wrong, and is read anew for each look:

    {"tool_fails": {"v1": "driver mismatch"}, "lost": ["v1-0"], "needs_reset": ["v1-1"],
     "external": [{"card": "v1-2", "pid": 4242, "user": "somebody", "vram_mib": 20000}]}
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from paika.domain.card import Card, CardProcess, CardReading, Health, Vendor
from paika.ports.meter import Look

FAULTS = "faults.json"
LONGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CardUse:
    """What our runs use on one card: MiB in all, and their processes."""

    used_mib: int
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Faults:
    tool_fails: Mapping[str, str]
    lost: frozenset[str]
    needs_reset: frozenset[str]
    external: Mapping[str, tuple[CardProcess, ...]]
    odd: tuple[str, ...] = ()


_NONE = _Faults({}, frozenset(), frozenset(), {})


class VirtualMeter:
    """`cards` gives the virtual cards as they are recorded, `use` what runs on them (card id -> use)."""

    def __init__(
        self, cards: Callable[[], Iterable[Card]], use: Callable[[], Mapping[str, CardUse]], data: Path
    ) -> None:
        self._cards = cards
        self._use = use
        self._path = data / FAULTS

    def look(self, now: datetime) -> tuple[Look, ...]:
        """One look for each node that has virtual cards."""
        faults = _read(self._path)
        use = self._use()
        by_node: dict[str, list[Card]] = defaultdict(list)
        for card in self._cards():
            by_node[card.node].append(card)
        return tuple(self._look(node, cards, faults, use, now) for node, cards in sorted(by_node.items()))

    def _look(self, node: str, cards: list[Card], faults: _Faults, use: Mapping[str, CardUse], now: datetime) -> Look:
        cause = faults.tool_fails.get(node)
        if cause is not None:
            return Look(node, Vendor.VIRTUAL, now, failed=cause, oddities=faults.odd)
        readings = tuple(_reading(card, faults, use.get(card.id, CardUse(0)), now) for card in cards)
        return Look(node, Vendor.VIRTUAL, now, readings, oddities=faults.odd)


def _reading(card: Card, faults: _Faults, use: CardUse, now: datetime) -> CardReading:
    if card.id in faults.lost:
        return CardReading(card.id, now, Health.LOST, "gpu is lost (played)", card.index)
    others = faults.external.get(card.id, ())
    each = use.used_mib // len(use.pids) if use.pids else 0
    ours = tuple(CardProcess(pid, each, None, None) for pid in use.pids)
    used = min(card.vram_mib, use.used_mib + sum(one.vram_mib or 0 for one in others))
    reset = card.id in faults.needs_reset
    return CardReading(
        card=card.id,
        read_at=now,
        health=Health.NEEDS_RESET if reset else Health.OK,
        health_cause="gpu requires reset (played)" if reset else "",
        index=card.index,
        vram_total_mib=card.vram_mib,
        vram_used_mib=used,
        vram_free_mib=card.vram_mib - used,
        processes=ours + others,
    )


def _read(path: Path) -> _Faults:
    """Faults to play; a file that can't be read plays none and is told as an oddity."""
    try:
        with path.open("rb") as file:
            document = json.loads(file.read(LONGEST))
        return _faults(document)
    except FileNotFoundError:
        return _NONE
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return _Faults({}, frozenset(), frozenset(), {}, (f"{FAULTS}: {type(error).__name__}: {error}"[:200],))


def _faults(document: Any) -> _Faults:
    external: dict[str, tuple[CardProcess, ...]] = {}
    for one in document.get("external", []):
        process = CardProcess(int(one["pid"]), one.get("vram_mib"), one.get("user"), one.get("command"))
        external[one["card"]] = (*external.get(one["card"], ()), process)
    return _Faults(
        {str(node): str(why) for node, why in document.get("tool_fails", {}).items()},
        frozenset(map(str, document.get("lost", []))),
        frozenset(map(str, document.get("needs_reset", []))),
        external,
    )
