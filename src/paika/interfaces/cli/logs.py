"""Logs: the end of one, or all of it, or as it grows."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any

from paika.domain.visible import shown
from paika.interfaces.cli.call import Call, json_text
from paika.interfaces.cli.command import Answer, Command, arg, opt, switch
from paika.interfaces.cli.exits import ExitCode
from paika.interfaces.client import Json

LINES = 200
TAIL_BYTES = 256 * 1024


def printable(text: str) -> str:
    """Text in which only newlines and tabs act; CR LF is a newline, every other control sign is shown."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(shown(part) for part in line.split("\t")) for line in lines)


def last_lines(text: str, count: int) -> str:
    """The last `count` lines; a line that has not ended counts."""
    if count <= 0:
        return ""
    place = len(text) - text.endswith("\n")
    for _ in range(count):
        place = text.rfind("\n", 0, place)
        if place < 0:
            return text
    return text[place + 1 :]


def logs(
    call: Call,
    *,
    task: str,
    follow: bool,
    tail: int | None,
    everything: bool,
    raw: bool,
    run: str | None,
    rank: int | None,
) -> Answer | int:
    """The log of a task's last run, or of `run`."""
    which: dict[str, Any] = {"run": run or "", "rank": rank or 0}
    if everything and not follow:
        return _everything(call, task, raw, which)
    piece = call.client.log_piece(task, tail=TAIL_BYTES, offset=0 if everything else None, **which)
    if not everything:
        piece = _cut(piece, LINES if tail is None else max(0, tail))
    if not follow:
        return _once(call, piece, raw)
    write(call, piece, raw)
    which["run"] = which["run"] or piece["run"] or ""
    offset = piece["next_offset"]
    if not (piece["ended"] and offset >= piece["size"]):
        for more in call.client.log_pieces(task, offset, follow=True, **which):
            write(call, more, raw)
    return ExitCode.OK


def _cut(piece: Json, lines: int) -> Json:
    kept = last_lines(piece["text"], lines)
    left = len(piece["text"].encode()) - len(kept.encode())
    return {**piece, "text": kept, "left_out_bytes": piece["offset"] + left}


def _once(call: Call, piece: Json, raw: bool) -> Answer | int:
    if call.json:
        return Answer(piece, lambda _: None)
    write(call, piece, raw)
    return ExitCode.OK


def write(call: Call, piece: Json, raw: bool) -> None:
    """A piece on standard output; what is missing before it on standard error."""
    if call.json:
        sys.stdout.write(" ".join(json_text(piece).split("\n")) + "\n")
    else:
        if piece["run"] is None:
            call.note("cli.log.never")
        elif not piece["kept"]:
            call.note("log.gone")
        if piece.get("left_out_bytes"):
            call.note("cli.log.left_out", bytes=piece["left_out_bytes"])
        if piece["dropped_before"]:
            call.note("cli.log.dropped", bytes=piece["dropped_before"])
        sys.stdout.write(piece["text"] if raw else printable(piece["text"]))
    sys.stdout.flush()


def _everything(call: Call, task: str, raw: bool, which: dict[str, Any]) -> Answer | int:
    pieces = call.client.log_file(task, **which)
    if call.json:
        return Answer({"task": task, **which, "text": b"".join(pieces).decode("utf-8", "replace")}, lambda _: None)
    if raw:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return ExitCode.OK
    for text in _texts(pieces):
        sys.stdout.write(printable(text))
    sys.stdout.flush()
    return ExitCode.OK


def _texts(pieces: Iterator[bytes]) -> Iterator[str]:
    """The bytes as text in which neither a character nor CR LF is cut."""
    decoder = getincrementaldecoder("utf-8")("replace")
    held = ""
    for piece in pieces:
        text = held + decoder.decode(piece)
        held = "\r" if text.endswith("\r") else ""
        yield text.removesuffix(held)
    yield held + decoder.decode(b"", final=True)


COMMANDS = (
    Command(
        "task logs",
        logs,
        (
            arg("task"),
            switch("follow", "-f", "--follow"),
            opt("tail", "-n", "--tail", kind=int),
            switch("everything", "--all", about="cli.opt.all_log"),
            switch("raw"),
            opt("run"),
            opt("rank", kind=int),
        ),
    ),
)
SHORTCUTS = (Command("logs", logs, COMMANDS[0].params),)
