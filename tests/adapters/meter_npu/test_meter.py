"""Ascend cards. The tables are written after public documents; no device was at hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ports.meter_promises import MeterPromises

from paika.adapters.meter_npu.meter import NpuSmiMeter
from paika.adapters.meter_npu.npu_smi import read_table
from paika.domain.card import Health
from paika.domain.catalogue import CATALOGUE
from paika.domain.type_names import type_of_vendor_name
from paika.ports.meter import Meter

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
HERE = Path(__file__).parent
B3 = (HERE / "npu_smi_910b3.txt").read_text()
P3 = (HERE / "npu_smi_310p3.txt").read_text()


class TestNpu(MeterPromises):
    def meter(self, text: str) -> Meter:
        return NpuSmiMeter("n6", lambda argv: text)

    def whole(self) -> Meter:
        return self.meter(B3)

    def odd(self) -> Meter:
        return self.meter(B3.replace("92.9 ", "NA   ").replace("3394 / 65536", "NA / NA     "))

    def with_lost(self) -> Meter:
        return self.meter(B3.replace("| Warning       |", "| Offline       |"))

    def broken(self) -> Meter:
        return self.meter("dcmi module initialize failed. ret is -8005\n")


def test_a_910b_host() -> None:
    look = read_table(B3, "n6", T0)
    first, second = look.readings
    assert (first.card, first.index, first.name) == ("n6-0000:C1:00.0", 0, "Ascend 910B3")
    assert (first.power_w, first.temperature_c, first.busy_percent) == (92.9, 38, 0)
    assert (first.vram_used_mib, first.vram_total_mib, first.vram_free_mib) == (3394, 65536, 62142)
    assert first.processes == ()
    assert second.processes is not None
    assert [(p.pid, p.vram_mib, p.command) for p in second.processes] == [(12345, 30011, "python3")]
    assert (second.health, look.oddities) == (Health.OK, ("NPU 1: Warning",))


def test_a_310p_host_with_two_chips_on_a_board() -> None:
    look = read_table(P3, "n6", T0)
    assert [(r.card, r.vram_used_mib, r.vram_total_mib, r.power_w) for r in look.readings] == [
        ("n6-0000:06:00.0", 1681, 44280, None),
        ("n6-0000:07:00.0", 1290, 43693, None),
    ]
    assert [r.processes for r in look.readings] != [None, None]
    kinds = [type_of_vendor_name(r.name or "", r.vram_total_mib, CATALOGUE) for r in look.readings]
    assert [kind.id if kind else None for kind in kinds] == ["310P-48G", "310P-48G"]


@pytest.mark.parametrize(
    ("cell", "used", "total"),
    [
        ("0    / 0          3394 / 65536", 3394, 65536),
        ("2703 / 15171      1    / 32768", 1, 32768),
        ("1681 / 44280      0    / 0    ", 1681, 44280),
        ("NA / NA", None, None),
    ],
)
def test_hbm_counts_where_there_is_hbm(cell: str, used: int | None, total: int | None) -> None:
    first = read_table(B3.replace("0    / 0          3394 / 65536", cell), "n6", T0).readings[0]
    assert (first.vram_used_mib, first.vram_total_mib) == (used, total)


@pytest.mark.parametrize(
    ("word", "health"), [("Critical", Health.NEEDS_RESET), ("Alarm  ", Health.NEEDS_RESET), ("UNKNOWN", Health.UNKNOWN)]
)
def test_health_is_as_the_tool_says(word: str, health: Health) -> None:
    assert read_table(B3.replace("Warning", word), "n6", T0).readings[1].health is health


def test_no_tool_means_nothing_to_see(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert NpuSmiMeter("n6").look(T0) == ()


def test_a_tool_that_ends_with_an_error_is_a_failed_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "npu-smi"
    tool.write_text("#!/bin/sh\necho 'driver not loaded' >&2\nexit 3\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (look,) = NpuSmiMeter("n6").look(T0)
    assert (look.failed, look.readings) == ("driver not loaded", ())


@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from([*B3.splitlines(), *P3.splitlines(), "|", "||||"])).map("\n".join),
    )
)
def test_no_text_makes_the_reader_fall_over(anything: str) -> None:
    look = read_table(anything, "n6", T0)
    assert bool(look.failed) != bool(look.readings)
