"""Names of card types: exact models and named families, never parts of a name.

A name matches when it is the same after `normal`. Nothing is ever matched as a piece of text, so A10
does not find an A100, nor RTX 4090 an RTX 4090 D.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import ClassVar
from unicodedata import normalize

from paika.domain.card import CardType, Vendor
from paika.domain.problem import Kind, Problem, Several
from paika.domain.units import MIB_PER_GIB
from paika.domain.weight import weight_milli

VRAM_TOLERANCE = 0.12  # drivers and ECC move the total by a few percent; other models differ by more
NEAREST = 6

_MAKER = re.compile(r"^(nvidia[\s_-]+|huawei[\s_-]+)")
_LINE = re.compile(r"^((geforce|tesla|quadro)[\s_-]+|ascend[\s_-]*)")
_SIZE = re.compile(r"(?<=\d)\s?(gib|gb)\b")
_GAPS = re.compile(r"[\s_-]+")
_GAP_NOT_IN_NUMBER = re.compile(r"(?<!\d) | (?!\d)")
_OR = re.compile(r"[|｜,，、]")


@dataclass(eq=False)
class UnknownCardType(Problem):
    """No model or family of that name; `nearest` are real names, likeliest first."""

    code: ClassVar[str] = "card_type.unknown"
    kind: ClassVar[Kind] = Kind.INVALID
    asked: str
    nearest: tuple[str, ...]


@dataclass(eq=False)
class AmbiguousCardType(Problem):
    """A family where one exact model is needed; `models` are those it may mean."""

    code: ClassVar[str] = "card_type.ambiguous"
    kind: ClassVar[Kind] = Kind.INVALID
    asked: str
    models: tuple[str, ...]


def normal(name: str) -> str:
    """The form in which names are compared.

    Case, width, blanks, hyphens and one leading maker and product line do not matter; GB, GiB and G are one.
    Digits that were apart stay apart.
    """
    text = normalize("NFKC", name).strip().lower()
    text = _LINE.sub("", _MAKER.sub("", text, count=1), count=1)
    return _GAP_NOT_IN_NUMBER.sub("", _GAPS.sub(" ", _SIZE.sub("g", text)).strip())


@lru_cache(maxsize=4096)
def _model_names(card_type: CardType) -> frozenset[str]:
    return frozenset(normal(name) for name in (card_type.id, *card_type.aliases))


def _by_model(name: str, types: Iterable[CardType]) -> list[CardType]:
    wanted = normal(name)
    return [one for one in types if wanted in _model_names(one)]


def _by_family(name: str, types: Iterable[CardType]) -> list[CardType]:
    wanted = normal(name)
    return [one for one in types if wanted == normal(one.family)]


def nearest_names(asked: str, types: Iterable[CardType]) -> tuple[str, ...]:
    """Real models and families, the most alike first."""
    names = sorted({name for one in types for name in (one.family, one.id)})
    wanted = normal(asked)
    alike = {name: SequenceMatcher(None, wanted, normal(name)).ratio() for name in names}
    return tuple(sorted(names, key=lambda name: (-alike[name], len(name), name))[:NEAREST])


def resolve_types(asked: str, types: Iterable[CardType]) -> tuple[str, ...]:
    """Ids of all card types that a request such as "A10|A100" allows, in the order of `types`.

    Each alternative is an exact model or a family, case-blind. "" gives (), which means any. Raises
    UnknownCardType, or Several of them; an unknown alternative is never passed over.
    """
    known = tuple(types)
    if not asked.strip():
        return ()
    allowed: set[str] = set()
    unknown: list[Problem] = []
    for part in (piece.strip() for piece in _OR.split(asked)):
        found = [*_by_model(part, known), *_by_family(part, known)] if part else []
        allowed.update(one.id for one in found)
        if not found:
            unknown.append(UnknownCardType(field="types", asked=part or asked, nearest=nearest_names(part, known)))
    if unknown:
        raise unknown[0] if len(unknown) == 1 else Several(field="types", problems=tuple(unknown))
    return tuple(one.id for one in known if one.id in allowed)


def one_type(asked: str, types: Iterable[CardType], field: str = "type") -> CardType:
    """The one card type of that name, for places where a card is declared.

    An id goes before an alias, an alias before a family of one model. Raises UnknownCardType or AmbiguousCardType.
    """
    known = tuple(types)
    exact = [one for one in known if normal(one.id) == normal(asked)]
    found = exact or _by_model(asked, known) or _by_family(asked, known)
    if not found:
        raise UnknownCardType(field=field, asked=asked, nearest=nearest_names(asked, known))
    if len(found) > 1:
        raise AmbiguousCardType(field=field, asked=asked, models=tuple(one.id for one in found))
    return found[0]


def _distance(card_type: CardType, vram_mib: int) -> float:
    return abs(card_type.vram_mib - vram_mib) / card_type.vram_mib


def type_of_vendor_name(name: str, vram_mib: int | None, types: Iterable[CardType]) -> CardType | None:
    """The card type behind the name that a tool prints, or None.

    Boards of one name are told apart by VRAM (MiB). A board whose VRAM is far from the model's, such as one
    with doubled memory, is not that model.
    """
    found = _by_model(name, types)
    if vram_mib is None:
        return found[0] if len(found) == 1 else None
    near = [one for one in found if one.vram_mib and _distance(one, vram_mib) <= VRAM_TOLERANCE]
    return min(near, key=lambda one: (_distance(one, vram_mib), one.id)) if near else None


def unlisted_type(vendor_name: str, vram_mib: int, vendor: Vendor, types: Sequence[CardType] = ()) -> CardType:
    """A card type made from what the tool says of a board that `types` does not have.

    Only name and VRAM are known of it. A known model with other VRAM keeps the model's family and is
    named by its VRAM as well ("RTX 4090-48G").
    """
    bare = _LINE.sub("", _MAKER.sub("", vendor_name.strip().lower(), count=1), count=1)
    name = vendor_name.strip()[-len(bare) :] if bare else vendor_name.strip()
    made = CardType(
        id=name,
        family=name,
        vendor=vendor,
        vram_mib=vram_mib,
        bandwidth_gb_s=None,
        weight_milli=weight_milli(vram_mib, None, None),
        aliases=(vendor_name,),
        source="the card's own reading; weight from VRAM alone",
    )
    kin = _by_model(vendor_name, types)
    return _like_its_kin(made, kin[0]) if kin else made


def _like_its_kin(made: CardType, kin: CardType) -> CardType:
    return replace(
        made,
        id=f"{kin.family}-{round(made.vram_mib / MIB_PER_GIB)}G",
        family=kin.family,
        bandwidth_gb_s=kin.bandwidth_gb_s,
        bf16_tflops=kin.bf16_tflops,
        capabilities=kin.capabilities,
        weight_milli=weight_milli(made.vram_mib, kin.bandwidth_gb_s, kin.bf16_tflops),
        source=f"VRAM as the card reads; the rest as {kin.id}: unverified",
    )
