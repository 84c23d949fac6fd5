"""Words of playing an old load again."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "trace.unreadable": (
        "The trace {name} cannot be read: {cause:word.trace.cause}{detail:opt.trace.detail}.",
        "It is to be CSV (columns job_id, submit_time_s, duration_s, gpus) or SWF (18 numbers a line), packed with gzip or not.",
    ),
}

WORDS: dict[str, str] = {
    "trace.cause.missing": "no such file, or no right to read it",
    "trace.cause.encoding": "it is not UTF-8",
    "trace.cause.packed": "its gzip packing is broken",
    "trace.cause.quotes": "a quotation mark is never closed",
    "trace.cause.columns": "columns are missing",
    "trace.cause.empty": "not one line of it is a job",
    "trace.cause.too_big": "it is too big when unpacked",
    "opt.trace.detail": " ({value})",
    "opt.trace.detail.none": "",
}
