"""NVIDIA card types.

VRAM is the total that nvidia-smi prints for an unpartitioned card (ECC as delivered); older drivers print a
few percent less. Bandwidth and TFLOPS are the datasheet's, dense, bf16 with 32-bit accumulation.
Cards without bf16 units have `bf16_tflops` None; their weight counts the dense fp16 figure instead.
"""

from __future__ import annotations

from paika.domain.card import CardType, Vendor
from paika.domain.weight import weight_milli

_AMPERE = ("bf16",)
_AMPERE_LINK = ("bf16", "nvlink")
_ADA = ("bf16", "fp8")
_HOPPER_LINK = ("bf16", "fp8", "nvlink")
_UNVERIFIED_VRAM = "VRAM as printed by the tool: unverified"


def _type(
    name: str,
    vram_mib: int,
    bandwidth_gb_s: int,
    tflops: float,
    source: str,
    *,
    family: str = "",
    can: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
) -> CardType:
    return CardType(
        id=name,
        family=family or name,
        vendor=Vendor.NVIDIA,
        vram_mib=vram_mib,
        bandwidth_gb_s=bandwidth_gb_s,
        weight_milli=weight_milli(vram_mib, bandwidth_gb_s, tflops),
        capabilities=can,
        bf16_tflops=tflops if "bf16" in can else None,
        aliases=aliases,
        source=source,
    )


_GEFORCE = (
    _type(
        "RTX 2080 Ti",
        11264,
        616,
        53.8,
        "NVIDIA Turing GPU architecture whitepaper (no bf16; fp16 53.8)",
        can=("nvlink",),
        aliases=("2080 Ti",),
    ),
    _type(
        "RTX 3090",
        24576,
        936,
        71.0,
        "NVIDIA Ampere GA102 whitepaper",
        can=_AMPERE_LINK,
        aliases=("3090",),
    ),
    _type(
        "RTX 3090 Ti",
        24564,
        1008,
        80.0,
        "NVIDIA GeForce RTX 3090 Ti specifications; TFLOPS scaled from GA102: unverified",
        can=_AMPERE_LINK,
        aliases=("3090 Ti",),
    ),
    _type("RTX 4090", 24564, 1008, 165.2, "NVIDIA Ada GPU architecture whitepaper", can=_ADA, aliases=("4090",)),
    _type(
        "RTX 4090 D",
        24564,
        1008,
        147.1,
        "NVIDIA GeForce RTX 4090 D specifications; TFLOPS scaled from AD102 by cores: unverified",
        can=_ADA,
        aliases=("4090 D",),
    ),
    _type(
        "RTX 5090",
        32607,
        1792,
        209.5,
        "NVIDIA RTX Blackwell GPU architecture whitepaper",
        can=_ADA,
        aliases=("5090",),
    ),
)

_WORKSTATION = (
    _type(
        "A6000",
        49140,
        768,
        154.8,
        "NVIDIA RTX A6000 datasheet",
        can=_AMPERE_LINK,
        aliases=("RTX A6000",),
    ),
    _type(
        "RTX 6000 Ada",
        49140,
        960,
        364.2,
        "NVIDIA RTX 6000 Ada datasheet",
        can=_ADA,
        aliases=("RTX 6000 Ada Generation",),
    ),
    _type(
        "RTX PRO 6000",
        97887,
        1792,
        503.8,
        "NVIDIA RTX PRO 6000 Blackwell datasheet; Server Edition 1597 GB/s; TFLOPS: unverified",
        can=_ADA,
        aliases=(
            "PRO 6000",
            "RTX PRO 6000 Blackwell",
            "RTX PRO 6000 Blackwell Workstation Edition",
            "RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            "RTX PRO 6000 Blackwell Server Edition",
        ),
    ),
)

_SMALL = (
    _type("T4", 15360, 320, 65.0, "NVIDIA T4 datasheet (no bf16; fp16 65)"),
    _type(
        "P100",
        16384,
        732,
        18.7,
        "NVIDIA Tesla P100 datasheet, PCIe figures; SXM2 fp16 21.2 (no bf16)",
        can=("nvlink",),
        aliases=("P100-PCIE-16GB", "P100-SXM2-16GB", "P100-16G"),
    ),
    _type("A2", 15356, 200, 18.0, f"NVIDIA A2 datasheet; {_UNVERIFIED_VRAM}", can=_AMPERE),
    _type("A10", 23028, 600, 125.0, "NVIDIA A10 datasheet", can=_AMPERE),
    _type("A10G", 23028, 600, 70.0, "NVIDIA A10G datasheet", can=_AMPERE),
    _type("A16", 15356, 200, 17.9, f"NVIDIA A16 datasheet, per each of its 4 chips; {_UNVERIFIED_VRAM}", can=_AMPERE),
    _type("A30", 24576, 933, 165.0, "NVIDIA A30 datasheet", can=_AMPERE_LINK),
    _type("A40", 46068, 696, 149.7, "NVIDIA A40 datasheet", can=_AMPERE_LINK),
    _type("L4", 23034, 300, 121.0, "NVIDIA L4 datasheet", can=_ADA),
    _type("L20", 46068, 864, 119.5, f"NVIDIA L20 figures as sold: unverified; {_UNVERIFIED_VRAM}", can=_ADA),
    _type("L40", 46068, 864, 181.0, "NVIDIA L40 datasheet", can=_ADA),
    _type("L40S", 46068, 864, 362.0, "NVIDIA L40S datasheet", can=_ADA),
)

_VOLTA = (
    _type(
        "V100-16G",
        16384,
        900,
        125.0,
        "NVIDIA V100 datasheet, SXM2 figures; PCIe fp16 112 (no bf16)",
        family="V100",
        can=("nvlink",),
        aliases=("V100-SXM2-16GB", "V100-PCIE-16GB", "V100-DGXS-16GB", "V100-FHHL-16GB"),
    ),
    _type(
        "V100-32G",
        32768,
        900,
        125.0,
        "NVIDIA V100 datasheet, SXM2 figures; PCIe fp16 112 (no bf16)",
        family="V100",
        can=("nvlink",),
        aliases=("V100-SXM2-32GB", "V100-SXM3-32GB", "V100-PCIE-32GB", "V100-DGXS-32GB"),
    ),
    _type(
        "V100S",
        32768,
        1134,
        130.0,
        "NVIDIA V100 datasheet (no bf16; fp16 130)",
        aliases=("V100S-PCIE-32GB", "V100S-32G"),
    ),
)

_A100 = (
    _type(
        "A100-40G",
        40960,
        1555,
        312.0,
        "NVIDIA A100 datasheet",
        family="A100",
        can=_AMPERE_LINK,
        aliases=("A100-SXM4-40GB", "A100-PCIE-40GB", "A100-SXM-40GB", "A100 40GB PCIe"),
    ),
    _type(
        "A100-80G",
        81920,
        2039,
        312.0,
        "NVIDIA A100 datasheet, SXM4 figures; PCIe 1935 GB/s",
        family="A100",
        can=_AMPERE_LINK,
        aliases=("A100-SXM4-80GB", "A100 80GB PCIe", "A100-PCIE-80GB", "A100-SXM-80GB"),
    ),
    _type(
        "A800-40G",
        40960,
        1555,
        312.0,
        "NVIDIA A800 40GB Active datasheet",
        family="A800",
        can=_AMPERE_LINK,
        aliases=("A800-SXM4-40GB", "A800-PCIE-40GB", "A800 40GB Active", "A800 40GB PCIe"),
    ),
    _type(
        "A800-80G",
        81920,
        2039,
        312.0,
        "A100 datasheet figures, NVLink cut to 400 GB/s; PCIe 1935 GB/s: unverified",
        family="A800",
        can=_AMPERE_LINK,
        aliases=("A800-SXM4-80GB", "A800 80GB PCIe", "A800-PCIE-80GB", "A800-SXM-80GB"),
    ),
)

_HOPPER = (
    _type(
        "H20",
        97871,
        4000,
        148.0,
        "NVIDIA H20 figures as sold: unverified",
        can=_HOPPER_LINK,
        aliases=("H20-96G", "H20-SXM"),
    ),
    _type(
        "H20-141G",
        143771,
        4800,
        148.0,
        "NVIDIA H20 141GB figures as sold: unverified",
        family="H20",
        can=_HOPPER_LINK,
        aliases=("H20-3e", "H20"),
    ),
    _type(
        "H100-SXM-80G",
        81559,
        3350,
        989.4,
        "NVIDIA H100 datasheet",
        family="H100",
        can=_HOPPER_LINK,
        aliases=("H100 80GB HBM3", "H100-SXM", "H100-SXM5-80GB"),
    ),
    _type(
        "H100-PCIe-80G",
        81559,
        2039,
        756.0,
        "NVIDIA H100 PCIe datasheet",
        family="H100",
        can=_HOPPER_LINK,
        aliases=("H100 PCIe", "H100-PCIE-80GB"),
    ),
    _type(
        "H100-NVL-94G",
        95830,
        3938,
        835.0,
        "NVIDIA H100 NVL datasheet",
        family="H100",
        can=_HOPPER_LINK,
        aliases=("H100 NVL",),
    ),
    _type(
        "H800",
        81559,
        3350,
        989.4,
        "H100 SXM datasheet figures, NVLink cut to 400 GB/s: unverified",
        can=_HOPPER_LINK,
        aliases=("H800-SXM-80G", "H800-SXM", "H800 80GB HBM3"),
    ),
    _type(
        "H800-PCIe",
        81559,
        2039,
        756.0,
        "H100 PCIe datasheet figures: unverified",
        family="H800",
        can=_HOPPER_LINK,
        aliases=("H800-PCIE-80GB",),
    ),
    _type("H200", 143771, 4800, 989.4, "NVIDIA H200 datasheet", can=_HOPPER_LINK, aliases=("H200-SXM", "H200-141G")),
    _type("H200-NVL", 143771, 4800, 835.0, "NVIDIA H200 datasheet, NVL column", family="H200", can=_HOPPER_LINK),
    _type(
        "GH200",
        97871,
        4000,
        989.4,
        "NVIDIA GH200 datasheet, 96GB HBM3",
        can=_HOPPER_LINK,
        aliases=("GH200 480GB", "GH200-96G"),
    ),
    _type("B200", 183359, 8000, 2250.0, "NVIDIA DGX B200 datasheet, an eighth of it", can=_HOPPER_LINK),
)

NVIDIA = _GEFORCE + _WORKSTATION + _SMALL + _VOLTA + _A100 + _HOPPER
