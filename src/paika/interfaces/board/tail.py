"""The end of a run's log for the task page, and what came since, in signs that can be seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starlette.responses import JSONResponse, Response, StreamingResponse

from paika.domain.access import Forbidden
from paika.domain.visible import shown
from paika.interfaces.board.look import HEADERS
from paika.interfaces.board.visit import Visit
from paika.services.read_log import PIECE_BYTES, LogView, read_log, stream_log

TAIL_BYTES = 64 * 1024
LINE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Tail:
    """A piece of a log. `text` follows `skipped` bytes that are left out; `next` is the byte to go on from.

    `over`: no more will come; `known` False: the engine has nothing of this run.
    """

    text: str
    next: int
    skipped: int
    over: bool
    known: bool = True

    def response(self) -> Response:
        """As JSON, for the page's script."""
        return JSONResponse(asdict(self), headers=HEADERS | {"Cache-Control": "no-store"})


def tail_of(visit: Visit, task: str, run: str, start: int | None = None) -> Tail:
    """What came since byte `start`, or the end of the log when None or when more came than a page can show.

    Raises NotFound, Forbidden.
    """
    view = _read(visit, task, run, start)
    if start is not None and view.size - view.next_offset > PIECE_BYTES:
        view = _read(visit, task, run, None)
    asked = start or 0
    over = view.ended and view.next_offset >= view.size
    return Tail(readable(view.text), view.next_offset, max(0, view.offset - asked), over, view.kept)


def tail_if_allowed(visit: Visit, task: str, run: str) -> Tail | None:
    """The end of the log; None for those who may not read it."""
    try:
        return tail_of(visit, task, run)
    except Forbidden:
        return None


def readable(text: str) -> str:
    """Carriage returns as overwriting, colours dropped, unseen signs named, endless lines cut."""
    return "\n".join(_line(line) for line in text.replace("\r\n", "\n").split("\n"))


def download(visit: Visit, task: str, run: str) -> Response:
    """The log byte for byte, streamed in pieces."""
    pieces = stream_log(visit.context.store, visit.context.engine, visit.who, task, run_id=run)
    name = "".join(sign for sign in run if sign.isascii() and (sign.isalnum() or sign in "-_"))
    headers = HEADERS | {"Content-Disposition": f'attachment; filename="{name}.log"'}
    return StreamingResponse(pieces, media_type="text/plain; charset=utf-8", headers=headers)


def _read(visit: Visit, task: str, run: str, offset: int | None) -> LogView:
    context = visit.context
    return read_log(context.store, context.engine, visit.who, task, run_id=run, offset=offset, tail_bytes=TAIL_BYTES)


def _line(line: str) -> str:
    plain = _without_colours(line.rstrip("\r").rpartition("\r")[2])
    said = "\t".join(shown(cell) for cell in plain.split("\t"))
    return said if len(said) <= LINE_CHARS else f"{said[:LINE_CHARS]} … (+{len(said) - LINE_CHARS})"


def _without_colours(text: str) -> str:
    first, *rest = text.split("\x1b[")
    return first + "".join(part.lstrip("0123456789;?")[1:] for part in rest)
