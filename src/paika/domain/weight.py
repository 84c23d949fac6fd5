"""Weights of card types: what an hour of one card counts, in thousandths of an A100 40GB hour."""

from __future__ import annotations

REFERENCE_VRAM_MIB = 40_960
REFERENCE_BANDWIDTH_GB_S = 1_555
REFERENCE_TFLOPS = 312.0
STEP_MILLI = 10


def weight_milli(vram_mib: int, bandwidth_gb_s: int | None, half_tflops: float | None) -> int:
    """The mean of VRAM, bandwidth and dense 16-bit TFLOPS, each relative to the A100 40GB, in thousandths.

    Unknown figures are left out of the mean. The result is a multiple of 10 and never below 10. It is
    a starting point that a lab may override in its inventory; it is no market price.
    """
    ratios = [vram_mib / REFERENCE_VRAM_MIB]
    if bandwidth_gb_s is not None:
        ratios.append(bandwidth_gb_s / REFERENCE_BANDWIDTH_GB_S)
    if half_tflops is not None:
        ratios.append(half_tflops / REFERENCE_TFLOPS)
    return max(STEP_MILLI, round(sum(ratios) / len(ratios) * 1000 / STEP_MILLI) * STEP_MILLI)
