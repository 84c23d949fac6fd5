"""What nvidia-smi prints when it does not know: the listed field cases, line by line."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paika.adapters.meter_nvml.figure import figure
from paika.adapters.meter_nvml.kernel_log import bus_id, read_kernel_log
from paika.adapters.meter_nvml.nvidia_smi_csv import read_query, read_rows
from paika.adapters.meter_nvml.nvidia_smi_xml import read_xml
from paika.domain.alarm import vram_alarm
from paika.domain.card import CardReading, Health

CASES = Path(__file__).parents[2] / "cases"
T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)


def text(case: str, name: str) -> str:
    return (CASES / case / name).read_bytes().decode()


def columns_of(name: str) -> list[str]:
    return text("C35", name).split("--format")[0].strip().split(",")


def figures(reading: CardReading) -> list[object]:
    return [
        reading.vram_total_mib,
        reading.vram_reserved_mib,
        reading.vram_used_mib,
        reading.vram_free_mib,
        reading.busy_percent,
        reading.temperature_c,
        reading.power_w,
    ]


def test_a_unsupported_values_cost_themselves() -> None:
    (row,) = read_rows(text("C35", "a_not_supported.csv"), columns_of("a_query.txt")).rows
    told = {column: row.figure(column) for column in row.cells}
    assert {column for column, value in told.items() if value is not None} == {"temperature.gpu", "fan.speed"}
    assert (told["temperature.gpu"], told["fan.speed"]) == (52, 52)
    look = read_query(text("C35", "a_not_supported.csv"), "n1", T0, columns_of("a_query.txt"))
    assert (look.readings[0].name, look.readings[0].temperature_c) == ("GeForce GTX 770", 52)
    assert figures(look.readings[0]) == [None, None, None, None, None, 52, None]
    assert look.oddities == ()


def test_b_without_header_and_units() -> None:
    columns = columns_of("b_query.txt")
    (reading,) = read_query(text("C35", "b_na_nounits.csv"), "n1", T0, columns).readings
    assert (reading.vram_total_mib, reading.vram_used_mib, reading.vram_free_mib) == (2004, 0, 2004)
    assert (reading.busy_percent, reading.temperature_c) == (0, 44)
    assert read_rows(text("C35", "b_na_nounits.csv"), columns).rows[0].figure("fan.speed") is None


def test_c_a_figure_above_its_limit_is_kept() -> None:
    (row,) = read_rows(text("C35", "c_unknown_error.csv")).rows
    assert (row.figure("power.draw"), row.figure("power.limit"), row.figure("power.default_limit")) == (
        228.82,
        210,
        None,
    )


def test_d_a_card_that_is_partly_visible() -> None:
    (reading,) = read_query(text("C35", "d_no_permission.csv"), "n1", T0).readings
    assert (reading.name, reading.temperature_c) == ("NVIDIA A100-SXM4-80GB", 47)
    assert (reading.vram_total_mib, reading.vram_used_mib, reading.vram_free_mib) == (None, None, None)
    assert vram_alarm(reading, 90) is None


def test_e_a_blank_line_crlf_and_a_decimal_comma() -> None:
    rows = read_rows(text("C35", "e_leading_blank_and_crlf.csv"))
    assert [row.text("name") for row in rows.rows] == ["NVIDIA L40S", "NVIDIA L40S"]
    assert [row.figure("memory.used") for row in rows.rows] == [0, 44.1]
    assert rows.oddities == ()


def test_f_short_long_and_odd_rows() -> None:
    look = read_query(text("C35", "f_ragged.csv"), "n1", T0)
    assert [(r.index, r.vram_used_mib, r.power_w) for r in look.readings] == [
        (0, 0, None),
        (2, 12, None),
        (3, None, None),
    ]
    assert look.oddities == ("line 3: 5 values for 4 columns",)


def test_g_an_old_driver() -> None:
    (reading,) = read_xml(text("C35", "g_old_v9.xml"), "n1", T0).readings
    assert (reading.vram_total_mib, reading.busy_percent, reading.processes) == (1998, None, ())
    assert (reading.card, reading.temperature_c) == ("GPU-00000000-0000-4000-8000-000000000730", 33)


def test_h_a_new_driver_with_padding() -> None:
    (reading,) = read_xml(text("C35", "h_new_padded.xml"), "n1", T0).readings
    assert (reading.power_w, reading.temperature_c) == (66.84, 37)
    assert (reading.vram_total_mib, reading.processes) == (None, None)
    assert figure("-5 C") == -5


def test_memory_figures_and_the_alarm_at_90() -> None:
    look = read_query(text("C18", "vram.csv"), "n1", T0)
    expected = list(csv.DictReader(text("C18", "expected.csv").splitlines()))
    assert len(expected) == len(look.readings) == 6
    for reading, right in zip(look.readings, expected, strict=True):
        assert f"{reading.fill_percent:.2f}" == right["used_percent_of_usable"], right
        assert vram_alarm(reading, 90) is (right["alarm_at_90"] == "yes"), right
        assert reading.vram_free_mib == int(right["free_for_a_new_task_mib"]), right
    assert look.readings[2].busy_percent is None
    assert look.readings[1].vram_reserved_mib is None


def test_a_lost_card_has_no_figures_and_its_neighbours_have_theirs() -> None:
    look = read_query(text("C31", "query_with_lost.csv"), "n1", T0)
    assert [r.health for r in look.readings] == [Health.OK] * 2 + [Health.LOST] + [Health.OK] * 2 + [
        Health.NEEDS_RESET,
        Health.OK,
        Health.OK,
    ]
    lost = look.readings[2]
    assert lost.card.endswith("002")
    assert figures(lost) == [None] * 7
    assert look.readings[5].power_w is None
    assert look.readings[3].power_w == 61.7
    assert look.oddities == ()


@pytest.mark.parametrize("name", ["smi_driver_mismatch.txt", "smi_fail_stderr.txt", "smi_no_devices.txt"])
def test_a_tool_that_fails_as_a_whole_says_nothing_about_cards(name: str) -> None:
    for read in (read_query, read_xml):
        look = read(text("C31", name), "n1", T0)
        assert look.readings == ()
        assert look.failed is not None
        assert text("C31", name).splitlines()[0] in look.failed


def test_the_kernel_names_the_lost_card_by_its_place() -> None:
    events = read_kernel_log(text("C31", "kernel.txt"))
    assert [(e.bus, e.xid, e.lost) for e in events] == [
        ("00000000:3D:00.0", None, True),
        ("00000000:3D:00.0", 79, True),
    ]
    (row,) = [r for r in read_rows(text("C31", "query_with_lost.csv")).rows if r.cells["index"] == "2"]
    assert row.text("pci.bus_id") == events[1].bus
    assert bus_id("0001:e1:1f.7") == "00000001:E1:1F.7"
    assert read_kernel_log("NVRM: Xid (PCI:0000:3d:00): 13, pid=1, Graphics Exception")[0].lost is False


def test_cut_cards_are_known_as_cut() -> None:
    table = (
        "uuid, name, mig.mode.current\nGPU-1, NVIDIA A100-SXM4-40GB, Enabled\nGPU-2, NVIDIA A100-SXM4-40GB, Disabled"
    )
    assert [r.partitioned for r in read_query(table, "n1", T0).readings] == [True, False]
    xml = "<l><gpu><uuid>GPU-1</uuid><mig_mode><current_mig>Enabled</current_mig></mig_mode></gpu></l>"
    assert read_xml(xml, "n1", T0).readings[0].partitioned


def test_processes_that_only_draw_are_left_out() -> None:
    infos = "".join(
        f"<process_info><pid>{pid}</pid><type>{kind}</type><used_memory>{used}</used_memory></process_info>"
        for pid, kind, used in ((1, "G", "5 MiB"), (2, "C", "N/A"), (3, "C+G", "70 MiB"))
    )
    (reading,) = read_xml(f"<l><gpu><processes>{infos}</processes></gpu></l>", "n1", T0).readings
    assert reading.processes is not None
    assert [(p.pid, p.vram_mib) for p in reading.processes] == [(2, None), (3, 70)]


BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]><l><gpu><uuid>&c;</uuid></gpu></l>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><l><gpu><uuid>&x;</uuid></gpu></l>'


@pytest.mark.parametrize("bad", [BOMB, OUTSIDE])
def test_entities_are_refused(bad: str) -> None:
    look = read_xml(bad, "n1", T0)
    assert look.readings == ()
    assert look.failed == "the text declares entities"


@given(st.text(max_size=300))
def test_no_text_makes_a_reader_fall_over(anything: str) -> None:
    for look in (
        read_query(anything, "n1", T0),
        read_xml(anything, "n1", T0),
        read_query(anything, "n1", T0, ["uuid"]),
    ):
        assert look.failed is None or look.readings == ()
    read_kernel_log(anything)


@given(
    st.sampled_from(
        ["[N/A]", "[Not Supported]", "ERR!", "-", "", "[Insufficient Permissions]", "??", "1,234 MiB", "nan", "inf"]
    )
)
def test_what_is_no_number_is_unknown(odd: str) -> None:
    assert figure(odd) is None
    (reading,) = read_query(f"uuid, memory.total [MiB], memory.used [MiB]\nGPU-1, 100 MiB, {odd}", "n1", T0).readings
    assert (reading.vram_total_mib, reading.vram_used_mib) == (100, None)
