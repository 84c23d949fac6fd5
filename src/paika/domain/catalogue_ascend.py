"""Ascend card types.

The vendor publishes few figures per chip; what stands here is what server datasheets and public
talks say, and is marked "unverified" where no datasheet of the chip itself was at hand.
"""

from __future__ import annotations

from paika.domain.card import CardType, Vendor
from paika.domain.weight import weight_milli

_UNVERIFIED = "public talks and server datasheets: unverified"


def _type(
    name: str,
    vram_mib: int,
    bandwidth_gb_s: int | None,
    half_tflops: float | None,
    *,
    family: str = "",
    bf16: bool = True,
    aliases: tuple[str, ...] = (),
    source: str = _UNVERIFIED,
) -> CardType:
    return CardType(
        id=name,
        family=family or name,
        vendor=Vendor.ASCEND,
        vram_mib=vram_mib,
        bandwidth_gb_s=bandwidth_gb_s,
        weight_milli=weight_milli(vram_mib, bandwidth_gb_s, half_tflops),
        capabilities=("bf16",) if bf16 else (),
        bf16_tflops=half_tflops if bf16 else None,
        aliases=aliases,
        source=source,
    )


ASCEND = (
    _type(
        "310P",
        21527,
        204,
        70.0,
        bf16=False,
        aliases=("310P1", "310P3"),
        source="Huawei Atlas 300I Pro datasheet (no bf16; fp16 70); VRAM as printed by the tool: unverified",
    ),
    _type(
        "310P-48G",
        44280,
        204,
        70.0,
        family="310P",
        bf16=False,
        aliases=("310P1", "310P3"),
        source="Huawei Atlas 300I Duo datasheet, per chip (no bf16; fp16 70); VRAM as printed by the tool: unverified",
    ),
    _type(
        "910A",
        32768,
        1200,
        256.0,
        bf16=False,
        aliases=("910ProA", "910PremiumA"),
        source="Huawei Atlas 800 datasheet (no bf16; fp16 256); bandwidth: unverified",
    ),
    _type("910B1", 65536, 1600, 414.0, family="910B"),
    _type("910B2", 65536, 1600, 376.0, family="910B"),
    _type("910B2C", 65536, 1600, None, family="910B"),
    _type("910B3", 65536, 1600, 313.0, family="910B"),
    _type("910B4", 32768, 800, 280.0, family="910B"),
    _type("910B4-1", 65536, None, 280.0, family="910B"),
    _type(
        "910C",
        65536,
        1600,
        376.0,
        aliases=("910_9391", "910_9392"),
        source=f"{_UNVERIFIED}; per each of the two chips of a package",
    ),
)
