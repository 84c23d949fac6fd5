"""Write the generated parts of the pages in docs/: life-cycle diagrams and what each reason to wait says.

    python tools/pages.py

Generated parts stand between `<!-- made: NAME -->` and `<!-- end -->`; a test compares.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from paika.domain import reason, run, task
from paika.domain.reason import Holder, Reason
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import Speaker

S = TypeVar("S", bound=StrEnum)
DOCS = Path(__file__).parents[1] / "docs"
PAGES = (DOCS / "concepts.md", DOCS / "howto/what-a-wait-means.md")
PART = re.compile(r"(<!-- made: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
NOON = datetime(2026, 3, 2, 14, 20, tzinfo=UTC)
# Made-up figures for the sentences; a reason with a field of a new name needs one here.
EXAMPLE: dict[str, object] = {
    "ahead": False,
    "cause": "overrun",
    "subject": "r-318",
    "was": NOON,
    "allowed_at": NOON,
    "asked": "H100",
    "because": "node_fit",
    "at": NOON,
    "best_free": 2,
    "best_free_bandwidth_percent": 20,
    "best_free_mib": 6 * 1024,
    "by": "zhangsan",
    "card_type": "A100-80G",
    "cards": 2,
    "cards_each": 8,
    "dataset": "corpus",
    "ends_at": NOON,
    "eta": NOON,
    "failed_starts": 1,
    "first_at": NOON,
    "fitting": 8,
    "fitting_type": "RTX 4090",
    "floor_cards": 8,
    "free": 3,
    "have": ("A100-80G", "RTX 4090"),
    "health": "lost",
    "held_cards": 4,
    "held_parts": 600,
    "holders": (Holder("r-318", "t-90", "zhangsan", 4, NOON, True),),
    "largest": 4,
    "largest_mib": 81_559,
    "largest_type": "A100-80G",
    "limit_would_fit_s": 1800,
    "max_cards": 8,
    "need": 4,
    "need_bandwidth_percent": 30,
    "need_mib": 81_920,
    "need_parts": 400,
    "node": "gpu-a1",
    "nodes": ("gpu-a1",),
    "owes": "lisi",
    "parent": "t-17",
    "percent": 62,
    "person": "lisi",
    "pressure_percent": 340,
    "purpose": "booking",
    "readiness": "preparing",
    "reservation": "b-7",
    "rules": ("a card is given once",),
    "runs": ("r-318",),
    "starts_at": NOON,
    "tasks": ("t-41",),
    "team": "nlp",
    "until": NOON,
    "wanted_by": ("t-41",),
    "when": "success",
    "why": "check first",
}
# Where a name means something else, or the figures must differ to make sense.
SPECIAL: dict[tuple[str, str], object] = {
    ("park.node_too_small", "need"): 8,
    ("park.quota", "need_parts"): 1200,
    ("park.too_few_nodes", "have"): 1,
    ("wait.cards", "nodes"): 1,
    ("wait.reserved", "ends_at"): NOON.replace(hour=18),
    ("wait.share_room", "need_mib"): 10 * 1024,
}


def life(title: str, steps: Mapping[tuple[S, str], S], first: S) -> list[str]:
    """One diagram in Mermaid: states, and events on the arrows."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (start, event), end in steps.items():
        arrows.setdefault((start.value, end.value), []).append(event)
    last = sorted({end.value for end in steps.values()} - {start.value for start, _ in steps})
    return [
        "```mermaid",
        "---",
        f"title: {title}",
        "---",
        "stateDiagram-v2",
        f"  [*] --> {first.value}",
        *(f"  {start} --> {end}: {', '.join(events)}" for (start, end), events in arrows.items()),
        *(f"  {state} --> [*]" for state in last),
        "```",
    ]


def kinds() -> list[type[Reason]]:
    """All reasons, in the order of domain/reason.py."""
    return [
        kind
        for _, kind in sorted(inspect.getmembers(reason, inspect.isclass), key=lambda found: _line(found[1]))
        if issubclass(kind, Reason) and kind is not Reason
    ]


def _line(kind: type) -> int:
    try:
        return inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return 0


def _facts(kind: type[Reason]) -> dict[str, object]:
    return {f.name: SPECIAL.get((kind.code, f.name)) or EXAMPLE[f.name] for f in fields(kind)}


def waits(codes: Iterable[type[Reason]]) -> list[str]:
    """A section for each reason: what it means, and how it is said in both languages with made-up figures."""
    speakers = [Speaker(lang, UTC, NOON) for lang in (Lang.ZH, Lang.EN)]
    lines: list[str] = []
    for kind in codes:
        about = " ".join((kind.__doc__ or "").split())
        lines += [f"### `{kind.code}`", "", about, ""]
        for speaker in speakers:
            message, hint = speaker.say(kind.code, _facts(kind))
            lines.append(f"- {message}")
            lines.append(f"  - → {hint}")
        lines.append("")
    return lines[:-1]


def parts() -> dict[str, list[str]]:
    """Everything that is generated, by name."""
    gates = ["held", "parent", "not_before", "retry", "data", "team_inactive", "person_inactive"]
    behind = [kind for kind in kinds() if kind.code in {f"wait.{gate}" for gate in gates}]
    parked = [kind for kind in kinds() if kind.parks]
    return {
        "task-life": life("task", task.STEPS, task.TaskState.WAITING),
        "run-life": life("run", run.STEPS, run.RunState.INTENDED),
        "waits-gates": waits(behind),
        "waits-parked": waits(parked),
        "waits-cards": waits(kind for kind in kinds() if kind not in behind and kind not in parked),
    }


def filled(page: str) -> str:
    """The page with its generated parts as they should be. Raises KeyError for a part of an unknown name."""
    made = parts()
    return PART.sub(lambda found: f"{found[1]}\n" + "\n".join(made[found[2]]) + f"\n\n{found[3]}", page)


def main() -> None:
    """Write the pages anew."""
    for path in PAGES:
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
