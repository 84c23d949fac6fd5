"""Cards that exist only on paper, so that a laptop can try everything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from paika.domain.catalogue import CATALOGUE
from paika.domain.problem import BadValue
from paika.domain.type_names import one_type

_PIECE = re.compile(r"\s*(\d{1,3})\s*[x×*]\s*(.+?)\s*")


class VirtualCards:
    """The rule of `--virtual`: pieces such as 4xA100-80G, joined by commas; each piece is one machine."""

    ALLOWED: ClassVar[str] = "4xA100-80G,2x'RTX 4090'"


def write_virtual_inventory(data: Path, asked: str) -> Path:
    """Write an inventory of virtual machines below the data folder. Raises BadValue, UnknownCardType."""
    nodes = []
    for number, piece in enumerate(asked.split(","), start=1):
        found = _PIECE.fullmatch(piece)
        if found is None or not 1 <= int(found[1]) <= 64:
            raise BadValue(field="virtual", value=piece[:80], allowed=VirtualCards.ALLOWED)
        card_type = one_type(found[2], CATALOGUE)
        nodes.append(f"  - {{id: v{number}, virtual: true, cards: {{type: {card_type.id}, count: {int(found[1])}}}}}")
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = data / "virtual.yaml"
    path.write_text("\n".join(["nodes:", *nodes, ""]), encoding="utf-8")
    return path
