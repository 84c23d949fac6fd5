"""Where the pages of a replay are written: one for each language, and the figures for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from paika.domain.problem import Kind, Problem
from paika.interfaces.report.page import report_page
from paika.interfaces.wording.catalogue import Lang

if TYPE_CHECKING:
    from paika.interfaces.report.page import Words
    from paika.services.replay_trace import Comparison


@dataclass(eq=False)
class ReportNotWritten(Problem):
    """The folder takes no files; `detail` is the system's word."""

    code: ClassVar[str] = "replay.report_not_written"
    kind: ClassVar[Kind] = Kind.SYSTEM
    folder: str
    detail: str


def made_ready(folder: Path) -> Path:
    """The folder, made if it is not there. Raises ReportNotWritten."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise _refused(folder, fault) from None
    return folder


def write_report(folder: Path, found: Comparison, figures: dict[str, Any], words: dict[Lang, Words]) -> list[Path]:
    """replay.zh.html, replay.en.html and replay.json; their paths. Raises ReportNotWritten."""
    texts = {f"replay.{lang.value}.html": report_page(found, lang, t) for lang, t in words.items()}
    texts["replay.json"] = json.dumps(figures, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    try:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as fault:
        raise _refused(folder, fault) from None
    return [folder / name for name in texts]


def _refused(folder: Path, fault: OSError) -> ReportNotWritten:
    return ReportNotWritten(field="report", folder=str(folder), detail=fault.strerror or "")
