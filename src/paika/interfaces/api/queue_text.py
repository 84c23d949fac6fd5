"""A page of the queue as JSON text. Most rows are the same from one read to the next; their text is kept."""

from __future__ import annotations

from dataclasses import fields, replace

from paika.interfaces.api.render import plain, text_of
from paika.interfaces.wording.say import Speaker
from paika.services.see_queue import QueueRow, QueueView, facts_of_row

_NO_ROWS = '"rows":[]'


def queue_text(view: QueueView, speaker: Speaker) -> str:
    """The same text as that of `plain(view)`."""
    around = text_of(plain(replace(view, rows=()), speaker))
    before, _, after = around.partition(_NO_ROWS)  # before it stands nothing but an instant
    rows = ",".join([_row(row, speaker) for row in view.rows])
    return f'{before}"rows":[{rows}]{after}'


def _row(row: QueueRow, speaker: Speaker) -> str:
    rest = speaker.memory.row(("json", row.id), facts_of_row(row), lambda: _rest(row, speaker))
    return f'{{"position":{"null" if row.position is None else row.position},{rest}'


def _rest(row: QueueRow, speaker: Speaker) -> str:
    """All but the position, which changes for everybody when somebody comes or goes."""
    told = {f.name: plain(getattr(row, f.name), speaker) for f in fields(row) if f.name != "position"}
    return text_of(told)[1:]
