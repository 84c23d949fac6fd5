"""Names of card types: the listed field case, and laws over every name of the catalogue."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paika.domain.card import CardType, Vendor
from paika.domain.catalogue import CATALOGUE
from paika.domain.problem import Several
from paika.domain.type_names import (
    AmbiguousCardType,
    UnknownCardType,
    normal,
    one_type,
    resolve_types,
    type_of_vendor_name,
    unlisted_type,
)

CASE = Path(__file__).parent.parent / "cases" / "C07"


def rows(name: str) -> list[dict[str, str]]:
    with (CASE / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def house() -> tuple[dict[str, CardType], dict[str, int]]:
    """Card -> its type, and card -> its VRAM, as a meter would find them."""
    types, vram = {}, {}
    for row in rows("cards.csv"):
        name, mib = row["vendor_name"], int(row["vram_mib"])
        found = type_of_vendor_name(name, mib, CATALOGUE)
        types[row["card"]] = found or unlisted_type(name, mib, Vendor.NVIDIA, CATALOGUE)
        vram[row["card"]] = mib
    return types, vram


def asked_of(request: str) -> tuple[str, int]:
    """The type part and the VRAM floor in MiB of a listed request."""
    text, _, floor = request.partition(" vram>=")
    return text.removeprefix("type="), int(floor.removesuffix("G")) * 1024 if floor else 0


NAMED = [row for row in rows("requests_expected.csv") if row["request"].startswith("type=")]


@pytest.mark.parametrize("row", [row for row in NAMED if row["must_match"]], ids=lambda row: row["request"])
def test_a_request_finds_its_cards_and_no_others(row: dict[str, str]) -> None:
    types, vram = house()
    asked, floor = asked_of(row["request"])
    allowed = resolve_types(asked, tuple({t.id: t for t in types.values()}.values()))
    found = {card for card, kind in types.items() if kind.id in allowed and vram[card] >= floor}
    assert found == set(row["must_match"].split())
    assert not found & set(row["must_not_match"].split())


@pytest.mark.parametrize("row", [row for row in NAMED if not row["must_match"]], ids=lambda row: row["request"])
def test_an_unknown_name_is_refused_with_real_names(row: dict[str, str]) -> None:
    types, _ = house()
    known = tuple(types.values())
    with pytest.raises(UnknownCardType) as refused:
        resolve_types(asked_of(row["request"])[0], known)
    assert refused.value.nearest
    assert set(refused.value.nearest) <= {name for t in known for name in (t.id, t.family)}


def test_h10_is_answered_with_h100_and_h20() -> None:
    with pytest.raises(UnknownCardType) as refused:
        resolve_types("H10", CATALOGUE)
    assert {"H100", "H20"} <= set(refused.value.nearest)
    assert refused.value.field == "types"


def test_a_doubled_maker_is_answered_with_the_real_name_first() -> None:
    types, _ = house()
    with pytest.raises(UnknownCardType) as refused:
        resolve_types("NVIDIA-NVIDIA T1000 8GB", tuple(types.values()))
    assert refused.value.asked == "NVIDIA-NVIDIA T1000 8GB"
    assert refused.value.nearest[0] == "T1000 8GB"


def test_an_unlisted_board_is_found_by_the_name_the_tool_prints() -> None:
    types, _ = house()
    assert resolve_types("NVIDIA T1000 8GB", tuple(types.values())) == ("T1000 8GB",)
    assert types["c17"].bandwidth_gb_s is None
    assert types["c17"].bf16_tflops is None


def test_one_bad_alternative_refuses_the_whole_and_two_are_both_told() -> None:
    with pytest.raises(UnknownCardType):
        resolve_types("A10|A1OO", CATALOGUE)
    with pytest.raises(Several) as refused:
        resolve_types("A1O|A1OO", CATALOGUE)
    assert [p.asked for p in refused.value.problems if isinstance(p, UnknownCardType)] == ["A1O", "A1OO"]


def test_no_name_means_any_card() -> None:
    assert resolve_types("  ", CATALOGUE) == ()


@pytest.mark.parametrize(
    ("asked", "model"),
    [
        ("rtx4090", "RTX 4090"),
        ("４０９０", "RTX 4090"),
        ("RTX-4090-D", "RTX 4090 D"),
        ("a100 80 GiB", "A100-80G"),
        ("A100_80gb", "A100-80G"),
        ("NVIDIA GeForce RTX 3090 Ti", "RTX 3090 Ti"),
        ("Ascend 910B3", "910B3"),
        ("H20", "H20"),
    ],
)
def test_one_model_is_meant(asked: str, model: str) -> None:
    assert one_type(asked, CATALOGUE).id == model


def test_a_family_of_two_is_no_model() -> None:
    with pytest.raises(AmbiguousCardType) as refused:
        one_type("A100", CATALOGUE)
    assert refused.value.models == ("A100-40G", "A100-80G")


@pytest.mark.parametrize(
    ("name", "vram_mib", "model"),
    [
        ("NVIDIA H20", 97871, "H20"),
        ("NVIDIA H20", 143771, "H20-141G"),
        ("NVIDIA H20", None, None),
        ("NVIDIA A100-PCIE-40GB", 40536, "A100-40G"),
        ("Tesla T4", 15109, "T4"),
        ("NVIDIA GeForce RTX 4090", 49140, None),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", 4864, None),
        ("310P3", 43693, "310P-48G"),
    ],
)
def test_boards_of_one_name_are_told_apart_by_vram(name: str, vram_mib: int | None, model: str | None) -> None:
    found = type_of_vendor_name(name, vram_mib, CATALOGUE)
    assert (found.id if found else None) == model


def test_a_known_model_with_doubled_memory_stays_in_its_family() -> None:
    made = unlisted_type("NVIDIA GeForce RTX 4090", 49140, Vendor.NVIDIA, CATALOGUE)
    assert (made.id, made.family, made.vram_mib) == ("RTX 4090-48G", "RTX 4090", 49140)
    assert resolve_types("RTX 4090", (*CATALOGUE, made)) == ("RTX 4090", "RTX 4090-48G")
    assert resolve_types("RTX 4090 D", (*CATALOGUE, made)) == ("RTX 4090 D",)
    assert type_of_vendor_name("NVIDIA GeForce RTX 4090", 49140, (*CATALOGUE, made)) == made


@pytest.mark.parametrize("one", CATALOGUE, ids=lambda one: one.id)
def test_every_name_of_the_catalogue_finds_its_type(one: CardType) -> None:
    assert one_type(one.id, CATALOGUE) == one
    for name in (one.id, *one.aliases):
        assert type_of_vendor_name(name, one.vram_mib, CATALOGUE) == one
        assert one.id in resolve_types(name, CATALOGUE)
    assert one.source
    assert one.weight_milli > 0


def test_ids_are_unique_also_in_the_form_that_is_compared() -> None:
    names = [normal(one.id) for one in CATALOGUE]
    assert len(names) == len(set(names))


@given(st.sampled_from([name for one in CATALOGUE for name in (one.id, one.family)]), st.data())
def test_a_longer_or_shorter_name_is_another_name(name: str, data: st.DataObject) -> None:
    """Only equality counts: no type is found whose names all differ from what was asked."""
    cut = data.draw(st.integers(1, len(name)))
    asked = data.draw(st.sampled_from([name[:cut], name + "0", name + "S", name[cut:] or name]))
    try:
        found = resolve_types(asked, CATALOGUE)
    except (UnknownCardType, Several):
        return
    wanted = normal(asked)
    for one in CATALOGUE:
        if one.id in found:
            assert wanted in {normal(n) for n in (one.id, one.family, *one.aliases)}
