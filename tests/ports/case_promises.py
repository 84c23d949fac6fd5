"""What every shelf of support cases promises."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.domain.support_case import Fault, SupportCase
from paika.ports.case_shelf import CaseShelf
from tests.lab import T0

RULES = ("a card is given once", "no start delays a promise", "配额 / ../x")


def case(minute: int, rule: str = RULES[0]) -> SupportCase:
    at = T0 + timedelta(minutes=minute)
    return SupportCase(at, Snapshot(minute, at), Policy(), (Fault(rule, "t-1"), Fault("other", "c-1", False)), "1.2")


class CasePromises:
    """Inherit, supply make()."""

    def make(self, most: int) -> CaseShelf:
        raise NotImplementedError

    def test_a_case_comes_back_as_it_was(self):
        shelf = self.make(5)
        assert (shelf.names(), shelf.read("nothing")) == ((), None)
        for number, rule in enumerate(RULES):
            assert shelf.put(case(number, rule))
            assert shelf.read(shelf.names()[-1]) == case(number, rule)
        assert shelf.read("../" + shelf.names()[0]) is None

    def test_one_that_was_only_saved_has_a_place_too(self):
        shelf = self.make(5)
        assert shelf.put(replace(case(0), faults=()))
        assert len(shelf.names()) == 1

    def test_no_more_than_so_many_stay(self):
        shelf = self.make(3)
        for number in range(9):
            shelf.put(case(number))
        kept = [shelf.read(name).at for name in shelf.names()]
        assert kept == [T0 + timedelta(minutes=n) for n in (0, 7, 8)]  # the first of its kind, and the newest

    def test_the_first_of_each_kind_stays_longest(self):
        shelf = self.make(4)
        shelf.put(case(0, RULES[1]))
        for number in range(1, 9):
            shelf.put(case(number))
        kinds = [shelf.read(name).faults[0].rule for name in shelf.names()]
        assert kinds == [RULES[1], *RULES[:1] * 3]
        for number, rule in enumerate(("x", "y", "z", "w", "v"), start=20):
            shelf.put(case(number, rule))
        kinds = [shelf.read(name).faults[0].rule for name in shelf.names()]
        assert kinds == ["y", "z", "w", "v"]

    def test_names_come_oldest_first(self):
        shelf = self.make(20)
        for minute in (5, 1, 9):
            shelf.put(case(minute))
        times = [shelf.read(name).at for name in shelf.names()]
        assert all(one < other for one, other in pairwise(times))
