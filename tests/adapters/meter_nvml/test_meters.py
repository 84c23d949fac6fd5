"""NVIDIA meters: through the library (a module that answers as the real one does) and through the tool."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.ports.meter_promises import T0, MeterPromises

from paika.adapters.meter_nvml.nvml import NO_DEVICES, NO_LIBRARY, NvmlMeter
from paika.adapters.meter_nvml.process_owner import process_owner
from paika.adapters.meter_nvml.smi import NvidiaSmiMeter, run_tool
from paika.domain.card import Health
from paika.ports.meter import Meter

MIB = 1024 * 1024
NOT_SUPPORTED, NO_PERMISSION, LOST, RESET, UNKNOWN, MISMATCH = 3, 4, 15, 16, 999, 18


class Refusal(Exception):
    """As pynvml.NVMLError: a number and words."""

    def __init__(self, value: int, words: str = "") -> None:
        super().__init__(words or f"error {value}")
        self.value = value


class Library:
    """A driver with cards. `refuse` maps (call, card index or None) to the error that the call meets."""

    NVML_TEMPERATURE_GPU = 0
    NVML_ERROR_GPU_IS_LOST = LOST
    NVML_ERROR_RESET_REQUIRED = RESET
    nvmlMemory_v2 = 0x2000028

    def __init__(self, cards: int = 2, refuse: dict[tuple[str, int | None], int] | None = None) -> None:
        self.cards = cards
        self.refuse = refuse or {}
        self.open = 0

    def _met(self, call: str, handle: int | None = None) -> None:
        error = self.refuse.get((call, handle), self.refuse.get(("*", handle)) if handle is not None else None)
        if error is not None:
            raise Refusal(error)

    def nvmlInit(self) -> None:
        self._met("nvmlInit")
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:
        self._met("nvmlDeviceGetCount")
        return self.cards

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        self._met("nvmlDeviceGetHandleByIndex", index)
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return f"GPU-{handle}"

    def __getattr__(self, call: str) -> Callable[..., Any]:
        answers: dict[str, Any] = {
            "nvmlDeviceGetName": b"NVIDIA L40S",
            "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=97, memory=41),
            "nvmlDeviceGetPowerUsage": 71150,
            "nvmlDeviceGetTemperature": 44,
            "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=77, usedGpuMemory=None)],
            "nvmlDeviceGetMigMode": [0, 0],
        }
        if call == "nvmlDeviceGetMemoryInfo":
            return self._memory
        if call not in answers:
            raise AttributeError(call)

        def answer(handle: int, *_: object) -> Any:
            self._met(call, handle)
            return answers[call]

        return answer

    def _memory(self, handle: int, version: int | None = None) -> SimpleNamespace:
        self._met("nvmlDeviceGetMemoryInfo", handle)
        if version is not None:
            self._met("memory v2", handle)
            return SimpleNamespace(total=46068 * MIB, reserved=609 * MIB, used=1024 * MIB - 1, free=44435 * MIB)
        return SimpleNamespace(total=46068 * MIB, used=1633 * MIB, free=44435 * MIB)


class TestNvml(MeterPromises):
    def whole(self) -> Meter:
        return NvmlMeter("n1", library=Library())

    def odd(self) -> Meter:
        return NvmlMeter("n1", library=Library(refuse={("nvmlDeviceGetUtilizationRates", 1): NOT_SUPPORTED}))

    def with_lost(self) -> Meter:
        return NvmlMeter("n1", library=Library(refuse={("*", 1): LOST}))

    def broken(self) -> Meter:
        return NvmlMeter("n1", library=Library(refuse={("nvmlInit", None): MISMATCH}))


CALLS = [
    ("nvmlDeviceGetUtilizationRates", "busy_percent"),
    ("nvmlDeviceGetPowerUsage", "power_w"),
    ("nvmlDeviceGetTemperature", "temperature_c"),
    ("nvmlDeviceGetName", "name"),
    ("nvmlDeviceGetMemoryInfo", "vram_used_mib"),
    ("nvmlDeviceGetComputeRunningProcesses", "processes"),
]


@pytest.mark.parametrize(("call", "value"), CALLS)
@pytest.mark.parametrize("error", [NOT_SUPPORTED, NO_PERMISSION, UNKNOWN])
def test_one_refused_call_costs_one_value(call: str, value: str, error: int) -> None:
    library = Library(refuse={(call, 0): error})
    (look,) = NvmlMeter("n1", library=library).look(T0)
    hurt, well = look.readings
    assert getattr(hurt, value) is None
    assert getattr(well, value) is not None
    lost = {name for _, name in CALLS if getattr(hurt, name) is None}
    assert lost == {value}
    assert hurt.health is Health.OK
    assert library.open == 0


def test_figures_are_in_the_units_of_the_house() -> None:
    (look,) = NvmlMeter("n1", lambda pid: ("li", f"train {pid}"), Library()).look(T0)
    reading = look.readings[0]
    assert (reading.vram_total_mib, reading.vram_reserved_mib, reading.vram_used_mib) == (46068, 609, 1024)
    assert (reading.power_w, reading.busy_percent, reading.name) == (71.15, 97, "NVIDIA L40S")
    assert reading.processes is not None
    assert [(p.pid, p.vram_mib, p.user, p.command) for p in reading.processes] == [(77, None, "li", "train 77")]


def test_an_old_driver_knows_no_reserved_part() -> None:
    (look,) = NvmlMeter("n1", library=Library(refuse={("memory v2", 0): NOT_SUPPORTED})).look(T0)
    assert (look.readings[0].vram_reserved_mib, look.readings[0].vram_used_mib) == (None, 1633)


def test_a_card_without_a_handle_is_left_out_and_told() -> None:
    (look,) = NvmlMeter("n1", library=Library(3, {("nvmlDeviceGetHandleByIndex", 1): UNKNOWN})).look(T0)
    assert [reading.card for reading in look.readings] == ["GPU-0", "GPU-2"]
    assert len(look.oddities) == 1


def test_a_card_that_wants_a_reset_says_so() -> None:
    (look,) = NvmlMeter("n1", library=Library(refuse={("nvmlDeviceGetPowerUsage", 0): RESET})).look(T0)
    assert [reading.health for reading in look.readings] == [Health.NEEDS_RESET, Health.OK]


def test_no_device_is_no_answer() -> None:
    (look,) = NvmlMeter("n1", library=Library(0)).look(T0)
    assert (look.failed, look.readings) == (NO_DEVICES, ())


def test_a_library_that_raises_strange_things_ends_no_look() -> None:
    class Strange(Library):
        def nvmlDeviceGetCount(self) -> int:
            raise OSError("libnvidia-ml.so.1")

    (look,) = NvmlMeter("n1", library=Strange()).look(T0)
    assert look.failed == "libnvidia-ml.so.1"


def test_without_the_binding_the_look_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    (look,) = NvmlMeter("n1").look(T0)
    assert look.failed == NO_LIBRARY


def test_with_the_real_binding_a_look_never_raises() -> None:
    (look,) = NvmlMeter("n1").look(T0)
    assert bool(look.failed) != bool(look.readings)


def test_a_process_has_an_owner_while_it_lives() -> None:
    assert process_owner(os.getpid())[0] == getpass.getuser()
    assert process_owner(os.getpid())[1]
    assert process_owner(2**22 + 1) == (None, None)
    assert process_owner(-1) == (None, None)


XML = """<nvidia_smi_log>{}</nvidia_smi_log>"""
CARD = """<gpu><uuid>GPU-{}</uuid><product_name>NVIDIA L40S</product_name>
<temperature><gpu_temp>{}</gpu_temp></temperature>
<fb_memory_usage><total>46068 MiB</total><used>{}</used></fb_memory_usage></gpu>"""


class TestSmi(MeterPromises):
    def meter(self, text: str) -> Meter:
        return NvidiaSmiMeter("n1", lambda argv: text)

    def whole(self) -> Meter:
        return self.meter(XML.format("".join(CARD.format(n, "40 C", "9 MiB") for n in range(2))))

    def odd(self) -> Meter:
        return self.meter(XML.format(CARD.format(0, "N/A", "[N/A]") + CARD.format(1, "40 C", "ERR!")))

    def with_lost(self) -> Meter:
        return self.meter(XML.format(CARD.format(0, "40 C", "9 MiB") + CARD.format(1, "GPU is lost", "GPU is lost")))

    def broken(self) -> Meter:
        def fail(argv: object) -> str:
            raise OSError("no route to host")

        return NvidiaSmiMeter("n1", fail)


def test_where_the_tool_is_not_there_nothing_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert NvidiaSmiMeter("n1").look(T0) == ()


def test_the_tool_is_run_without_a_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'\nexit 18\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (look,) = NvidiaSmiMeter("n1").look(T0)
    assert look.failed is not None
    assert "version mismatch" in look.failed
    assert run_tool(["echo", "$HOME; x"]).strip() == "$HOME; x"
