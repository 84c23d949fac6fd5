"""Virtual cards: what they use, and what is played with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.ports.meter_promises import T0, MeterPromises

from paika.adapters.meter_virtual.meter import FAULTS, CardUse, VirtualMeter
from paika.domain.card import Card, Health
from paika.ports.meter import Meter
from paika.services.observe_cards import external_use

CARDS = (Card("v1-0", "v1", 0, "L4", 23034), Card("v1-1", "v1", 1, "L4", 23034))


def meter(folder: Path, faults: object = None, use: dict[str, CardUse] | None = None) -> VirtualMeter:
    if faults is not None:
        (folder / FAULTS).write_text(faults if isinstance(faults, str) else json.dumps(faults))
    return VirtualMeter(lambda: CARDS, lambda: use or {}, folder)


class TestVirtual(MeterPromises):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def whole(self) -> Meter:
        return meter(self.folder)

    def odd(self) -> Meter:
        return meter(self.folder, "{not json")

    def with_lost(self) -> Meter:
        return meter(self.folder, {"lost": ["v1-1"]})

    def broken(self) -> Meter:
        return meter(self.folder, {"tool_fails": {"v1": "driver mismatch"}})


def test_a_card_uses_what_our_runs_ask(tmp_path: Path) -> None:
    (look,) = meter(tmp_path, use={"v1-0": CardUse(8000, (7, 8))}).look(T0)
    busy, free = look.readings
    assert (busy.vram_used_mib, busy.vram_free_mib, free.vram_used_mib) == (8000, 15034, 0)
    assert busy.processes is not None
    assert [p.pid for p in busy.processes] == [7, 8]
    assert external_use(busy, {7, 8}, T0, ours=True) is None


def test_an_outsider_appears_and_goes(tmp_path: Path) -> None:
    played = {"external": [{"card": "v1-1", "pid": 42, "user": "wang", "vram_mib": 20000}]}
    (look,) = meter(tmp_path, played).look(T0)
    use = external_use(look.readings[1], set(), T0, ours=False)
    assert use is not None
    assert (use.users, use.vram_mib) == (("wang",), 20000)
    (tmp_path / FAULTS).unlink()
    (look,) = meter(tmp_path).look(T0)
    assert external_use(look.readings[1], set(), T0, ours=False) is None


def test_a_card_may_want_a_reset(tmp_path: Path) -> None:
    (look,) = meter(tmp_path, {"needs_reset": ["v1-0"]}).look(T0)
    assert [r.health for r in look.readings] == [Health.NEEDS_RESET, Health.OK]


@pytest.mark.parametrize("bad", ["", "[]", "null", '{"external": [{"card": "v1-0"}]}', '{"lost": 7}'])
def test_a_bad_file_plays_nothing_and_is_told(tmp_path: Path, bad: str) -> None:
    (look,) = meter(tmp_path, bad).look(T0)
    assert [r.health for r in look.readings] == [Health.OK, Health.OK]
    assert look.oddities
