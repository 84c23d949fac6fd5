"""The audit trail: each change, by whom, from where, old and new, and why; refusals too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One act. `old` and `new` hold the changed fields only, as text; `result` is 'done' or a problem code."""

    at: datetime
    person: str
    door: str
    address: str
    act: str
    noun: str
    subject: str
    old: dict[str, str]
    new: dict[str, str]
    why: str = ""
    result: str = "done"
