"""Units of the house: MiB for VRAM, GB/s for bandwidth, integer card-seconds for card time.

A whole card is 100 card parts; a share is charged the larger of its VRAM part and its bandwidth
part, rounded up, so that the shares which fit one card never cost less than the card they use up.
"""

from __future__ import annotations

from datetime import UTC, datetime

MIB_PER_GIB = 1024
PARTS_PER_CARD = 100
SECONDS_PER_HOUR = 3600
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def whole_seconds(start: datetime, end: datetime) -> int:
    """Whole seconds from start to end; 0 when end lies before start."""
    return max(0, int((end - start).total_seconds()))


def card_seconds(parts: int, seconds: int) -> int:
    """Card time of `parts` card parts held for `seconds`, rounded down once on the total."""
    return parts * seconds // PARTS_PER_CARD


def share_parts(share_vram_mib: int, card_vram_mib: int, bandwidth_percent: int) -> int:
    """Card parts (1 to 100) that a share is charged on a card of `card_vram_mib`."""
    by_vram = -(-share_vram_mib * PARTS_PER_CARD // card_vram_mib) if card_vram_mib else PARTS_PER_CARD
    return max(1, min(PARTS_PER_CARD, max(by_vram, bandwidth_percent)))
