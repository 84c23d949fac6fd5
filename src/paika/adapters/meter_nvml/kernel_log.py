"""Lines of the NVIDIA driver in the kernel log: Xid events and cards that fell off the bus."""

from __future__ import annotations

import re
from dataclasses import dataclass

XID_LOST = 79
_XID = re.compile(r"NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+), (.*)")
_FELL = re.compile(r"NVRM: The NVIDIA GPU ([0-9a-fA-F:.]+)")
_OFF_THE_BUS = re.compile(r"fallen off the bus")


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One event. `bus` is in the tool's form (00000000:3D:00.0); `xid` is None where the driver gave no number."""

    bus: str
    xid: int | None
    text: str

    @property
    def lost(self) -> bool:
        """The card is gone from the bus."""
        return self.xid == XID_LOST or _OFF_THE_BUS.search(self.text) is not None


def bus_id(written: str) -> str:
    """A PCI address as nvidia-smi writes it: 0000:3d:00 and 0000:3d:00.0 become 00000000:3D:00.0."""
    place, _, function = written.partition(".")
    parts = place.split(":")
    domain, bus, device = parts if len(parts) == 3 else ("0", *parts[-2:])
    return f"{int(domain, 16):08X}:{int(bus, 16):02X}:{int(device, 16):02X}.{function or '0'}"


def read_kernel_log(text: str) -> tuple[KernelEvent, ...]:
    """All events, in order. A message over several lines is one event."""
    events: list[KernelEvent] = []
    falling: str | None = None
    for line in text.splitlines():
        if found := _XID.search(line):
            events.append(KernelEvent(bus_id(found[1]), int(found[2]), found[3].strip()))
        elif found := _FELL.search(line):
            falling = bus_id(found[1])
        elif falling and _OFF_THE_BUS.search(line):
            events.append(KernelEvent(falling, None, line.partition("NVRM:")[2].strip()))
            falling = None
    return tuple(events)
