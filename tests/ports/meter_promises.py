"""What every meter promises. Inherit, and supply the four makers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from paika.domain.card import Health
from paika.ports.meter import Look, Meter

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)


class MeterPromises:
    """`whole` sees 2 cards in good order; `odd` the same with values missing; `broken` a tool that fails."""

    def whole(self) -> Meter:
        raise NotImplementedError

    def odd(self) -> Meter:
        raise NotImplementedError

    def with_lost(self) -> Meter:
        """The second card is lost."""
        raise NotImplementedError

    def broken(self) -> Meter:
        raise NotImplementedError

    def one(self, meter: Meter) -> Look:
        (look,) = meter.look(T0)
        return look

    def test_all_cards_are_seen_each_under_its_own_id(self) -> None:
        look = self.one(self.whole())
        assert look.failed is None
        assert len({reading.card for reading in look.readings}) == 2
        assert [reading.health for reading in look.readings] == [Health.OK, Health.OK]
        assert all(reading.vram_total_mib for reading in look.readings)

    def test_a_look_bears_the_time_it_was_given(self) -> None:
        meter = self.whole()
        for now in (T0, T0 + timedelta(minutes=1)):
            (look,) = meter.look(now)
            assert {look.at, *(reading.read_at for reading in look.readings)} == {now}

    def test_looking_twice_finds_the_same_cards(self) -> None:
        meter = self.whole()
        assert [r.card for r in self.one(meter).readings] == [r.card for r in self.one(meter).readings]

    def test_missing_values_cost_no_card(self) -> None:
        look = self.one(self.odd())
        assert look.failed is None
        assert len(look.readings) == 2
        assert any(
            None in (r.vram_used_mib, r.busy_percent, r.temperature_c, r.power_w, r.processes) for r in look.readings
        )

    def test_a_lost_card_is_told_or_left_out_and_the_other_stays(self) -> None:
        look = self.one(self.with_lost())
        assert look.failed is None
        first, *rest = look.readings
        assert first.health is Health.OK
        for lost in rest:
            assert lost.health is Health.LOST
            assert (lost.vram_used_mib, lost.busy_percent) == (None, None)

    def test_a_broken_tool_says_so_and_shows_no_card(self) -> None:
        look = self.one(self.broken())
        assert look.failed
        assert look.readings == ()
