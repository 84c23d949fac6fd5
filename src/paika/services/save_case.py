"""All that the next plan would look at, as a support case for somebody else's eyes; for admins."""

from __future__ import annotations

from datetime import datetime

from paika.domain.access import Act, Actor
from paika.domain.records import Records
from paika.domain.support_case import SupportCase, bare
from paika.services.live import Live
from paika.services.take_snapshot import take_snapshot


def save_case(records: Records, live: Live, actor: Actor, now: datetime, version: str = "") -> SupportCase:
    """The case of this instant; nobody's programs, tokens or notes are in it. Raises Forbidden."""
    actor.must(Act.SAVE_SNAPSHOT)
    snapshot = take_snapshot(records, live.external, now, live.speeds, engines=live.engines, live=live)
    return SupportCase(now, bare(snapshot), records.policy, (), version)
