"""The Meter port on the driver's library, through nvidia-ml-py.

Each call is guarded by itself: a value that the card does not give costs that value. The library is opened for each
look and closed after it, because it counts the cards only when it is opened. Processes are those that compute.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Any

from paika.adapters.meter_nvml.process_owner import process_owner
from paika.domain.card import CardProcess, CardReading, Health, Vendor
from paika.ports.meter import Look

MIB = 1024 * 1024
NO_DEVICES = "No devices were found"
NO_LIBRARY = "nvidia-ml-py is not installed"
UserOf = Callable[[int], tuple[str | None, str | None]]


class NvmlMeter:
    """Looks at this host's NVIDIA cards. `user_of` tells (user, command) of a pid; `library` is pynvml or alike."""

    def __init__(self, node: str, user_of: UserOf = process_owner, library: Any | None = None) -> None:
        self._node = node
        self._user_of = user_of
        self._library = library

    def look(self, now: datetime) -> tuple[Look, ...]:
        """One look, at all cards of this host."""
        nvml = self._library
        if nvml is None:
            try:
                nvml = import_module("pynvml")
            except ImportError:
                return (Look(self._node, Vendor.NVIDIA, now, failed=NO_LIBRARY),)
        try:
            nvml.nvmlInit()
        except Exception as error:  # whatever a binding to a foreign library raises must not end the look
            return (Look(self._node, Vendor.NVIDIA, now, failed=_words(error)),)
        try:
            return (self._look(nvml, now),)
        finally:
            _asked(nvml.nvmlShutdown)

    def _look(self, nvml: Any, now: datetime) -> Look:
        try:
            count = int(nvml.nvmlDeviceGetCount())
        except Exception as error:  # as above
            return Look(self._node, Vendor.NVIDIA, now, failed=_words(error))
        if count == 0:
            return Look(self._node, Vendor.NVIDIA, now, failed=NO_DEVICES)
        readings: list[CardReading] = []
        oddities: list[str] = []
        for index in range(count):
            try:
                handle = nvml.nvmlDeviceGetHandleByIndex(index)
                uuid = _said(nvml.nvmlDeviceGetUUID(handle))
            except Exception as error:  # a card without a UUID is nobody's card; by its absence it counts as lost
                oddities.append(f"card {index}: {_words(error)}")
                continue
            readings.append(_Card(nvml, handle, index, self._user_of).reading(uuid, now))
        if not readings:
            return Look(self._node, Vendor.NVIDIA, now, failed="; ".join(oddities), oddities=tuple(oddities))
        return Look(self._node, Vendor.NVIDIA, now, tuple(readings), oddities=tuple(oddities))


class _Card:
    """The calls about one card."""

    def __init__(self, nvml: Any, handle: Any, index: int, user_of: UserOf) -> None:
        self._nvml, self._handle, self._index, self._user_of = nvml, handle, index, user_of
        self._refusals: set[int] = set()

    def reading(self, uuid: str, now: datetime) -> CardReading:
        """All that the card tells."""
        total, reserved, used, free = self._memory()
        busy = self._ask("nvmlDeviceGetUtilizationRates")
        power = self._ask("nvmlDeviceGetPowerUsage")
        name = self._ask("nvmlDeviceGetName")
        temperature = self._ask("nvmlDeviceGetTemperature", getattr(self._nvml, "NVML_TEMPERATURE_GPU", 0))
        processes = self._processes()
        partitioned = self._partitioned()
        health, cause = self._health()
        return CardReading(
            card=uuid,
            read_at=now,
            health=health,
            health_cause=cause,
            index=self._index,
            name=None if name is None else _said(name),
            vram_total_mib=total,
            vram_reserved_mib=reserved,
            vram_used_mib=used,
            vram_free_mib=free,
            busy_percent=None if busy is None else int(busy.gpu),
            temperature_c=None if temperature is None else int(temperature),
            power_w=None if power is None else power / 1000,
            processes=processes,
            partitioned=partitioned,
        )

    def _ask(self, call: str, *more: Any, **named: Any) -> Any:
        """The answer, or None; what kind of refusal it was is kept for the card's health."""
        try:
            return getattr(self._nvml, call)(self._handle, *more, **named)
        except Exception as error:  # one value costs one value, whatever the binding raises
            code = getattr(error, "value", None)
            if isinstance(code, int):
                self._refusals.add(code)
            return None

    def _memory(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Total, reserved, used, free in MiB. Old drivers know no reserved part and count it as used."""
        second = getattr(self._nvml, "nvmlMemory_v2", None)
        info = None if second is None else self._ask("nvmlDeviceGetMemoryInfo", version=second)
        if info is None:
            info = self._ask("nvmlDeviceGetMemoryInfo")
        if info is None:
            return None, None, None, None
        reserved = getattr(info, "reserved", None)
        return info.total // MIB, None if reserved is None else reserved // MIB, -(-info.used // MIB), info.free // MIB

    def _processes(self) -> tuple[CardProcess, ...] | None:
        listed = self._ask("nvmlDeviceGetComputeRunningProcesses")
        if listed is None:
            return None
        return tuple(self._process(int(one.pid), getattr(one, "usedGpuMemory", None)) for one in listed)

    def _process(self, pid: int, used: int | None) -> CardProcess:
        user, command = _asked(lambda: self._user_of(pid)) or (None, None)
        return CardProcess(pid, None if used is None else -(-used // MIB), user, command)

    def _partitioned(self) -> bool:
        mode = self._ask("nvmlDeviceGetMigMode")
        return bool(mode and mode[0] == 1)

    def _health(self) -> tuple[Health, str]:
        """What the refusals say: a lost card goes before one that wants a reset."""
        if getattr(self._nvml, "NVML_ERROR_GPU_IS_LOST", 15) in self._refusals:
            return Health.LOST, "gpu is lost"
        if getattr(self._nvml, "NVML_ERROR_RESET_REQUIRED", 16) in self._refusals:
            return Health.NEEDS_RESET, "gpu requires reset"
        return Health.OK, ""


def _asked(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception:  # a courtesy call, such as closing the library or naming a user
        return None


def _said(text: Any) -> str:
    """Old bindings answer in bytes."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:300]
