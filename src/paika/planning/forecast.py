"""Forecasts of those who hold nothing: they come after everybody who holds a place, and delay nobody."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from paika.domain.plan import Forecast
from paika.domain.promise import Calibration
from paika.domain.units import EPOCH, PARTS_PER_CARD, SECONDS_PER_HOUR, whole_seconds
from paika.planning import gates
from paika.planning.cases import Book, Case
from paika.planning.house import GroupKey
from paika.planning.keep import later
from paika.planning.place import Spot, Want
from paika.planning.placing import best_spot
from paika.planning.timeline import NEVER


def look_ahead(book: Book) -> None:
    """Exact starts inside the horizon beside all that is held; rough ones beyond; shadows behind dated gates."""
    deep: list[Case] = []
    for case in book.cases:
        if not case.open or case.spot is not None or case.task.id in book.draft.spans:
            continue
        case.holds = False
        case.spot = best_spot(book, book.search, case, book.now, book.horizon)
        if case.spot is None:
            deep.append(case)
        else:
            assert case.want is not None
            end = min(NEVER, case.spot.start + case.want.times.occupies_s)
            book.draft.seat(case.task, case.spot.masks, case.spot.start, end, case.spot.fit.parts, case.want.limits)
    _rough(book, deep)
    for case in book.cases:
        if case.gates and not case.parked:
            case.spot = _shadow(book, case)
            case.holds = False


def _shadow(book: Book, case: Case) -> Spot | None:
    """When a task behind a dated gate could start; lower ranks may come before."""
    opens = gates.opens_at(case.gates)
    if opens is None:
        return None
    case.want = book.search.wants.of(case.task)
    return best_spot(book, book.search, case, max(book.now, int((opens - EPOCH).total_seconds()) + 1))


def _rough(book: Book, deep: list[Case]) -> None:
    """Starts beyond the horizon: the work of those ahead, done by all cards of the kind, from when one could start.

    None where no start can be told at all, or where somebody ahead tells no length.
    """
    first: dict[Want, int | None] = {}
    ahead: dict[GroupKey, int | None] = {}
    for case in deep:
        want, fit = case.want, case.verdict.fits[0]
        assert want is not None
        if want not in first:
            spot = best_spot(book, book.search, case, book.now)
            first[want] = None if spot is None else spot.start
        possible, work = first[want], ahead.get(fit.group.key, 0)
        if possible is not None and work is not None:
            cards = fit.group.ready
            case.rough_at = max(book.horizon, possible) + work // max(1, cards)
        lasts = case.task.occupies_s
        ahead[fit.group.key] = None if work is None or lasts is None else work + lasts * fit.parts // PARTS_PER_CARD


def rough_forecast(book: Book, case: Case, at: int) -> Forecast:
    """A start beyond the horizon as a range of whole hours: half as far again, for those who may come before."""
    hour = SECONDS_PER_HOUR
    first = at // hour * hour
    last = -(-(at + (at - book.now) // 2) // hour) * hour
    slip = later(case.slip, case.spot)
    return Forecast(_date(last), (), False, start_from=_date(first), holds=False, rough=True, slip=slip)


def ranged(forecast: Forecast, now: datetime, calibrations: tuple[Calibration, ...]) -> Forecast:
    """The forecast with the range that past starts teach for one so far ahead; as it is when they teach nothing."""
    lead = whole_seconds(now, forecast.start_by)
    for one in calibrations:
        if one.lead_from_s <= lead < one.lead_to_s:
            start_from = max(now, forecast.start_by + timedelta(seconds=min(0, one.early_s)))
            return replace(forecast, start_from=start_from, hit_permille=one.hit_permille)
    return forecast


def _date(at: int) -> datetime:
    return EPOCH + timedelta(seconds=at)
