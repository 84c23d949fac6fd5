"""The log of a task: pieces for watching, a stream for keeping."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from paika.interfaces.api.doors import Who
from paika.interfaces.api.render import HEADERS
from paika.services.read_log import PIECE_BYTES, read_log, stream_log

router = APIRouter(prefix="/tasks", tags=["tasks"])
_FAR = 2**60


@router.get("/{task_id}/log")
def log(
    who: Who,
    task_id: str,
    run: str = "",
    rank: Annotated[int, Query(ge=0, le=4096)] = 0,
    offset: Annotated[int | None, Query(ge=0, le=_FAR)] = None,
    tail: Annotated[int, Query(ge=1, le=PIECE_BYTES)] = 64 * 1024,
    limit: Annotated[int, Query(ge=4, le=PIECE_BYTES)] = PIECE_BYTES,
) -> Response:
    """A piece of the log of the last run (or of `run`): from `offset`, or the last `tail` bytes.

    `next_offset` asks for what follows; `dropped_before` bytes before `offset` are gone. With `Accept:
    text/plain` the text alone, with the same facts as X-Paika-* headers.
    """
    view = read_log(
        who.context.store,
        who.context.engine,
        who.actor,
        task_id,
        run_id=run,
        offset=offset,
        tail_bytes=tail,
        limit=limit,
        rank=rank,
    )
    if not who.request.headers.get("accept", "").startswith("text/plain"):
        return who.answer(view)
    facts = {
        "X-Paika-Offset": str(view.offset),
        "X-Paika-Next-Offset": str(view.next_offset),
        "X-Paika-Size": str(view.size),
        "X-Paika-Dropped-Before": str(view.dropped_before),
        "X-Paika-Ended": "true" if view.ended else "false",
    }
    text = view.text.encode("utf-8", "replace")
    return Response(text, headers=HEADERS | facts, media_type="text/plain; charset=utf-8")


@router.get("/{task_id}/log/file", response_class=StreamingResponse)
def download(
    who: Who, task_id: str, run: str = "", rank: Annotated[int, Query(ge=0, le=4096)] = 0
) -> StreamingResponse:
    """The whole log as a file, streamed; a gap is one line that says how many bytes are missing."""
    pieces = stream_log(who.context.store, who.context.engine, who.actor, task_id, run_id=run, rank=rank)
    safe = "".join(ch for ch in f"{task_id}-{run or 'last'}-{rank}" if ch.isascii() and (ch.isalnum() or ch in "-_"))
    headers = HEADERS | {"Content-Disposition": f'attachment; filename="{safe}.log"'}
    return StreamingResponse(pieces, headers=headers, media_type="text/plain; charset=utf-8")
