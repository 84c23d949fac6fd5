"""Forecasts: how often they came true."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from paika.interfaces.api.doors import Who
from paika.services.see_accuracy import see_accuracy

router = APIRouter(prefix="/forecasts", tags=["forecasts"])


@router.get("/hit-rate")
def hit_rate(who: Who) -> Response:
    """By how far ahead a start was told: how many were seen, P10 and P90 of lateness, how many ranges held."""
    return who.answer(see_accuracy(who.live, who.now))
