"""Since when cards are free."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lab import Lab

from paika.domain.ledger import hold, settle
from paika.domain.records import Change
from paika.domain.run import EndCause, RunState
from paika.domain.task import TaskState
from paika.services import last_ends
from paika.services.last_ends import LastEnds
from paika.services.live import Live
from paika.services.see_cards import see_card


def ran(lab: Lab, *cards: str) -> None:
    """A task ran an hour on the cards and is over."""
    task = lab.submit("mia")
    run = lab.run(task, *cards)
    ended = replace(run, state=RunState.ENDED, ended_at=lab.clock.move(hours=1), cause=EndCause.DONE, version=2)
    done = replace(lab.task(task.id), state=TaskState.DONE, version=3)
    lines = (hold(run, "A100-80G", run.intended_at), *settle(ended, "A100-80G", lab.clock.now()))
    lab.store.update(lambda _: Change(puts=(done, ended), ledger=lines))


@pytest.mark.parametrize("piece", [1, 50])
def test_a_card_is_free_since_its_last_run_left_it(monkeypatch, piece):
    monkeypatch.setattr(last_ends, "PIECE", piece)
    lab, ends = Lab(), LastEnds()
    assert ends.of(lab.store, lab.records) == {}
    ran(lab, "a0", "a1")
    first = lab.clock.now()
    assert ends.of(lab.store, lab.records) == {"a0": first, "a1": first}
    ran(lab, "a1")
    ran(lab, "a2")
    told = ends.of(lab.store, lab.records)
    assert told == LastEnds().of(lab.store, lab.records)
    assert (told["a0"], told["a2"]) == (first, lab.clock.now())
    lab.run(lab.submit("mia"), "a2")
    cells = {key: see_card(lab.records, Live(), lab.clock.now(), key, free_since=told) for key in ("a0", "a2", "a3")}
    assert [cells[key].free_since for key in ("a0", "a2", "a3")] == [first, None, None]
