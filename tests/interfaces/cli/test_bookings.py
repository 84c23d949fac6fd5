"""Bookings, maintenance and guarantees on the command line."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import House

from paika.domain.guarantee import Guarantee
from paika.domain.reservation import Purpose, ReservationState

DAY = ("--from", "2026-12-02 09:00", "--for", "8h")


def state(house: House, key: str = "b-1") -> ReservationState:
    return house.lab.records.reservations[key].state


def test_a_member_asks_and_a_lead_approves(house: House):
    said = house.paika("booking", "add", *DAY, "-c", "2", "--types", "A100", "--title", "投稿", by="mia", lang="zh")
    assert said.code == 0
    assert "b-1  待批准" in said.out
    assert "待批准" in house.paika("booking", "ls", lang="zh").out
    assert house.paika("booking", "approve", "b-1", by="mia").code == 4
    said = house.paika("booking", "approve", "b-1", by="lea")
    assert "b-1  booked" in said.out
    assert "a0, a1" in said.out
    shown = house.paika("booking", "show", "b-1", lang="zh").out
    assert "投稿" in shown
    assert "韩梅梅" in shown


def test_a_booking_is_changed_and_cancelled_after_asking(house: House):
    house.paika("booking", "add", *DAY, "--card-ids", "a0,a1", by="lea")
    said = house.paika("booking", "edit", "b-1", "--nodes", "n1", "--if-version", "1", by="lea", lang="en")
    assert said.code == 0
    assert len(house.lab.records.reservations["b-1"].cards) == 4
    assert house.paika("booking", "edit", "b-1", "--title", "x", "--if-version", "1", by="lea").code == 4
    asked = house.paika("booking", "cancel", "b-1", "--reason", "moved", by="lea", stdin="n\n")
    assert (asked.code, state(house)) == (3, ReservationState.BOOKED)
    assert "视觉组" in asked.err
    assert house.paika("booking", "cancel", "b-1", "--yes", by="lea").code == 4  # a reason is needed
    assert house.paika("booking", "cancel", "b-1", "--reason", "moved", "--dry-run", by="lea").code == 0
    assert state(house) is ReservationState.BOOKED
    assert house.paika("booking", "cancel", "b-1", "--reason", "moved", by="lea", stdin="y\n").code == 0
    assert state(house) is ReservationState.CANCELLED


def test_a_dry_run_says_whom_it_meets_and_writes_nothing(house: House):
    house.lab.run(house.lab.submit("tim", name="训练"), "a0")
    said = house.paika("booking", "add", "--for", "1h", "--card-ids", "a0", "--dry-run", by="lea", lang="en")
    assert said.out.startswith("Dry run: nothing was written.")
    assert "Tim's 训练 (t-1) still holds 1 of the cards" in said.out.replace("\n", " ")
    assert house.lab.records.reservations == {}


def test_a_clash_is_refused_and_the_waiting_list_takes_it(house: House):
    house.paika("booking", "add", *DAY, "--card-ids", "a0", by="lea")
    refused = house.paika("booking", "add", *DAY, "--card-ids", "a0", "--json", by="lea")
    assert (refused.code, refused.refusal["code"]) == (4, "reservation.clash")
    assert house.paika("booking", "add", *DAY, "--card-ids", "a0", "--waitlist", by="lea").code == 0
    assert state(house, "b-2") is ReservationState.LISTED


def test_maintenance_takes_whole_machines_out(house: House):
    assert house.paika("maintenance", "add", "--nodes", "n1", "--for", "2h", by="lea").code == 4
    assert house.paika("maintenance", "add", "--nodes", "n1", "--for", "2h", "--title", "风扇", by="ann").code == 0
    made = house.lab.records.reservations["b-1"]
    assert (made.purpose, len(made.cards)) == (Purpose.MAINTENANCE, 4)
    assert "检修" in house.paika("booking", "ls", lang="zh").out


def test_the_same_key_books_once(house: House):
    for _ in range(2):
        assert house.paika("booking", "add", *DAY, "--card-ids", "a0", "--key", "k", by="lea").code == 0
    assert len(house.lab.records.reservations) == 1


def test_lists_are_filtered(house: House):
    house.paika("booking", "add", *DAY, "-c", "1", by="lea")

    def count(*more: str) -> int:
        return house.paika("booking", "ls", "--json", *more).json["total"]

    assert (count(), count("--team", "text"), count("--state", "booked")) == (1, 0, 1)
    assert (count("--from", "2026-12-03"), count("--until", "2026-12-02")) == (0, 0)


def test_guarantees_are_set_listed_and_taken_back(house: House):
    assert house.paika("guarantee", "set", "vision", "2", "--types", "A100", by="lea").code == 4
    said = house.paika("guarantee", "set", "vision", "2", "--types", "A100", "--together", "2", by="ann", lang="en")
    assert said.out == "vision/A100-80G  Floor 2\n"
    assert house.lab.records.guarantees == {
        "vision/A100-80G": Guarantee("vision/A100-80G", "vision", 2, ("A100-80G",), 2)
    }
    assert "vision/A100-80G" in house.paika("guarantee", "ls").out
    refused = house.paika("guarantee", "set", "text", "9", "--dry-run", "--json", by="ann")
    assert refused.refusal["code"] == "guarantee.no_room"
    assert house.paika("guarantee", "rm", "vision/A100-80G", by="ann", stdin="n\n").code == 3
    assert house.paika("guarantee", "rm", "vision/A100-80G", "--yes", by="ann").code == 0
    assert house.lab.records.guarantees == {}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_long_names_fit_eighty_cells(house: House, lang: str):
    title = "七十亿参数大模型投稿前最后一轮对照实验" * 3
    house.paika("booking", "add", *DAY, "--nodes", "n1,n2", "--title", title, by="ann", lang=lang)
    house.paika("booking", "add", *DAY, "--nodes", "n1,n2", "--title", title, "--team", "text", by="ann")
    house.paika("guarantee", "set", "text", "2", "--note", title, by="ann")
    for args in (("booking", "ls"), ("booking", "show", "b-1"), ("guarantee", "ls")):
        said = house.paika(*args, lang=lang)
        assert said.code == 0
        assert "text" in said.out.lower()
        assert all(cell_len(line) <= 80 for line in said.out.splitlines()), said.out
