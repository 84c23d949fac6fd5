"""Datasets: inputs of tasks, with a readiness that somebody owes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Readiness(StrEnum):
    """READY opens the gate; every other state keeps it shut."""

    READY = "ready"
    PREPARING = "preparing"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class ProbeKind(StrEnum):
    """How readiness is found out."""

    PATH = "path"  # target: a path; want_bytes and want_files: at least so much
    MANIFEST = "manifest"  # target: a file of 'sha256  relative/path' lines
    MARKER = "marker"  # target: a file whose existence means ready
    S3_PREFIX = "s3_prefix"  # target: s3://bucket/prefix
    URL = "url"  # target: http(s) address that answers 2xx
    COMMAND = "command"  # argv: exit 0 means ready, 75 means preparing; a number on stdout is the percent


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """What a probe looks at, how often (seconds) and how long it may take (seconds)."""

    kind: ProbeKind
    target: str = ""
    argv: tuple[str, ...] = ()
    want_bytes: int | None = None
    want_files: int | None = None
    every_s: int = 60
    timeout_s: int = 30


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe found. `percent` is None when unknown; `detail` is a short fact in plain text."""

    readiness: Readiness
    percent: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """An input. `eta` only while preparing; `owner` owes it; `set_by` is a person id or 'probe'."""

    id: str
    name: str
    readiness: Readiness = Readiness.UNKNOWN
    percent: int | None = None
    eta: datetime | None = None
    owner: str = ""
    detail: str = ""
    probe: ProbeSpec | None = None
    set_by: str = ""
    changed_at: datetime | None = None
    checked_at: datetime | None = None
    version: int = 1
