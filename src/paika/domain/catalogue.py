"""The built-in catalogue of card types; a lab's own types and weights come from its inventory."""

from __future__ import annotations

from paika.domain.catalogue_ascend import ASCEND
from paika.domain.catalogue_nvidia import NVIDIA

CATALOGUE = NVIDIA + ASCEND
