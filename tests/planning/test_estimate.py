"""What match records teach about speeds."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count

from paika.domain.match import MatchRecord
from paika.domain.run import EndCause
from paika.domain.snapshot import Speed
from paika.planning.estimate import ENOUGH, speeds

T0 = datetime(2026, 1, 5, 9, tzinfo=UTC)
NUMBERS = count(1)


def runs(kind: str, card_type: str, *seconds: int, cards: int = 1, cause: EndCause = EndCause.DONE):
    """A match record for each of the run times."""
    return [
        MatchRecord(f"r-{next(NUMBERS)}", kind, card_type, cards, lasted, cause, None, None, False, T0)
        for lasted in seconds
    ]


def test_half_the_time_is_twice_the_speed():
    seen = [*runs("train", "A", 100, 110, 90, 100), *runs("train", "B", 50, 40, 60)]
    assert speeds(seen) == (Speed("train", "A", 1000), Speed("train", "B", 2000))


def test_the_order_of_the_records_does_not_matter():
    seen = [
        *runs("x", "A", 100, 110, 90),
        *runs("x", "B", 50, 40, 60),
        *runs("y", "A", 5, 5, 5),
        *runs("y", "C", 9, 9, 9),
    ]
    assert speeds(reversed(seen)) == speeds(seen)


def test_too_few_runs_prove_nothing():
    assert ENOUGH == 3
    assert speeds([*runs("train", "A", 100, 100, 100), *runs("train", "B", 50, 50)]) == ()


def test_one_type_alone_has_nothing_to_be_compared_with():
    assert speeds(runs("train", "A", 100, 100, 100)) == ()


def test_runs_that_did_not_end_well_teach_nothing():
    bad = [runs("train", "B", 1, 1, 1, cause=cause) for cause in EndCause if cause is not EndCause.DONE]
    never = runs("train", "B", 0, 0, 0)
    assert speeds([*runs("train", "A", 100, 100, 100), *(m for group in bad for m in group), *never]) == ()


def test_runs_of_other_sizes_are_not_compared():
    assert speeds([*runs("train", "A", 100, 100, 100), *runs("train", "B", 50, 50, 50, cards=2)]) == ()


def test_all_speeds_of_a_kind_are_on_one_scale():
    """A against B with one card, B against C with two: C has no place on the scale of A."""
    one = [*runs("train", "A", 100, 100, 100, 100), *runs("train", "B", 200, 200, 200)]
    two = [*runs("train", "B", 200, 200, 200, cards=2), *runs("train", "C", 100, 100, 100, cards=2)]
    assert speeds([*one, *two]) == (Speed("train", "A", 1000), Speed("train", "B", 500))


def test_the_size_that_tells_of_most_types_is_taken():
    one = [*runs("train", "A", 100, 100, 100, 100), *runs("train", "B", 200, 200, 200)]
    two = [m for name, s in (("A", 60), ("B", 60), ("C", 30)) for m in runs("train", name, s, s, s, cards=2)]
    assert speeds([*one, *two]) == (Speed("train", "A", 500), Speed("train", "B", 500), Speed("train", "C", 1000))
