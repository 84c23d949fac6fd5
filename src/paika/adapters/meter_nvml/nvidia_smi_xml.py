"""`nvidia-smi -q -x`: every driver has other tags; a tag that is missing is an unknown value.

The document type that the tool writes is skipped unread. A text that declares entities is refused whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from paika.adapters.meter_nvml.figure import figure, health_said, says_nothing, whole
from paika.adapters.meter_nvml.whole_tool import failure
from paika.domain.card import CardProcess, CardReading, Vendor
from paika.ports.meter import Look

LONGEST = 16 * 1024 * 1024
_POWER = (
    "gpu_power_readings/instant_power_draw",
    "gpu_power_readings/power_draw",
    "gpu_power_readings/average_power_draw",
    "power_readings/instant_power_draw",
    "power_readings/power_draw",
)


class _Refused(Exception):
    """The text declares entities, which no card report needs."""


def _root(text: str) -> Element:
    """The parsed text. Raises ExpatError, or _Refused for entity declarations, before any is expanded."""
    tree = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = tree.start
    parser.EndElementHandler = tree.end
    parser.CharacterDataHandler = tree.data
    parser.EntityDeclHandler = _refuse
    parser.ExternalEntityRefHandler = _refuse
    parser.Parse(text, True)
    return tree.close()


def _refuse(*_: object) -> int:
    raise _Refused


def read_xml(text: str, node: str, now: datetime) -> Look:
    """A look at the cards of one host."""
    if len(text) > LONGEST:
        return Look(node, Vendor.NVIDIA, now, failed=f"more than {LONGEST} characters")
    if not text.lstrip().startswith("<"):
        return Look(node, Vendor.NVIDIA, now, failed=failure(text) or "not XML")
    try:
        root = _root(text.lstrip())
    except _Refused:
        return Look(node, Vendor.NVIDIA, now, failed="the text declares entities")
    except expat.ExpatError as error:
        return Look(node, Vendor.NVIDIA, now, failed=f"not XML: {error}")
    readings = tuple(_reading(gpu, n, node, now) for n, gpu in enumerate(root.iter("gpu")))
    if not readings:
        return Look(node, Vendor.NVIDIA, now, failed="no devices were found")
    return Look(node, Vendor.NVIDIA, now, readings)


def _text(gpu: Element, *paths: str) -> str | None:
    """The first of these tags that says something."""
    for path in paths:
        text = (gpu.findtext(path) or "").strip()
        if not says_nothing(text) and not text.startswith("["):
            return text
    return None


def _reading(gpu: Element, position: int, node: str, now: datetime) -> CardReading:
    health, cause = health_said([text for text in (one.text for one in gpu.iter()) if text])
    return CardReading(
        card=_text(gpu, "uuid") or f"{node}-{position}",
        read_at=now,
        health=health,
        health_cause=cause,
        index=position,  # the tool lists cards in the order of their indexes
        name=_text(gpu, "product_name"),
        vram_total_mib=whole(_text(gpu, "fb_memory_usage/total")) or None,
        vram_reserved_mib=whole(_text(gpu, "fb_memory_usage/reserved")),
        vram_used_mib=whole(_text(gpu, "fb_memory_usage/used")),
        vram_free_mib=whole(_text(gpu, "fb_memory_usage/free")),
        busy_percent=whole(_text(gpu, "utilization/gpu_util")),
        temperature_c=whole(_text(gpu, "temperature/gpu_temp")),
        power_w=figure(_text(gpu, *_POWER)),
        processes=_processes(gpu.find("processes")),
        partitioned=(_text(gpu, "mig_mode/current_mig") or "").lower() == "enabled",
    )


def _processes(listed: Element | None) -> tuple[CardProcess, ...] | None:
    """Processes that compute; a desktop's drawing ones (type G) are none of a queue's business."""
    if listed is None or (listed.text or "").strip().strip("[]").lower() in {"n/a", "insufficient permissions"}:
        return None
    return tuple(_process_of(listed.iter("process_info")))


def _process_of(infos: Iterable[Element]) -> Iterable[CardProcess]:
    for info in infos:
        pid = whole(_text(info, "pid"))
        if pid is not None and (_text(info, "type") or "C").upper() != "G":
            yield CardProcess(pid, whole(_text(info, "used_memory")), None, _text(info, "process_name"))
