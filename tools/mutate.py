"""Break the planner on purpose, one way at a time, and see that the tests notice.

    python tools/mutate.py            all mutants
    python tools/mutate.py quota      only those whose name holds 'quota'

Each mutant is an edit of one line. A mutant that survives means a law or a story is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = [
    ("lost tie-break", "planning/order.py", "t.submitted_at, t.id))\n    return", "t.submitted_at))\n    return"),
    ("tier ignored", "planning/order.py", "order = sorted(by_id.values(), key=lambda t: (tiers[t.id], ", "order = sorted(by_id.values(), key=lambda t: (0, "),
    ("urgency not inherited", "planning/order.py", "            if urgent < ", "            if False and urgent < "),
    ("unready passes", "planning/gates.py", "elif dataset.readiness is not Readiness.READY:", "elif dataset.readiness is Readiness.BLOCKED:"),
    ("unknown dataset passes", "planning/gates.py", "        if dataset is None:", "        if dataset is None and not name:"),
    ("parents forgotten", "planning/gates.py", "for d in task.after if not d.met]", "for d in task.after if d.dead]"),
    ("before its time", "planning/gates.py", "task.not_before > now", "task.not_before < now"),
    ("inactive owner", "planning/gates.py", "person is None or not person.active", "person is None"),
    ("quota off by one", "planning/entitle.py", "if self.used[i] > limit:", "if self.used[i] > limit + 100:"),
    ("release forgotten", "planning/draft.py", "self.teams[run.team].add(-run.parts_held, until, NEVER)", "pass"),
    ("lease ignored", "planning/timeline.py", "            if self.leased and mask:", "            if False and mask:"),
    ("window not checked", "planning/timeline.py", "                mask &= free[j]\n                if mask.bit_count() < cards:\n                    break\n                j += 1", "                j += 1"),
    ("one card short", "planning/timeline.py", "if mask.bit_count() < cards:\n                continue", "if mask.bit_count() < cards - 1:\n                continue"),
    ("share room ignores others", "planning/timeline.py", "- sum(u.vram_mib for u in there)\n            if room", "\n            if room"),
    ("bandwidth ignored", "planning/timeline.py", "or need.bandwidth_percent + sum(u.bandwidth_percent for u in there) > 100", ""),
    ("heavy shares meet", "planning/timeline.py", "if need.bandwidth_percent >= need.heavy_percent and any(", "if False and any("),
    ("share on a whole card", "planning/timeline.py", "            if not self.open[i] & bit:", "            if False:"),
    ("whole over share", "planning/timeline.py", "            self.free[i] &= ~(1 << card)", "            pass"),
    ("outsiders ignored", "planning/draft.py", "            self._bar(use.card, \", \".join(use.users))", "            pass"),
    ("sick cards given", "planning/house.py", "fit = house_node.schedulable and card.health is Health.OK", "fit = house_node.schedulable"),
    ("no engine needed", "planning/house.py", "self.node.state is NodeState.UP and self.node.engine is not None", "self.node.state is NodeState.UP"),
    ("estimate trusted as limit", "planning/place.py", "fit_s=rounded_up(task.limit_s)", "fit_s=rounded_up(task.occupies_s)"),
    ("promise not booked", "planning/planner.py", "    book.draft.place(task, case.spot.masks, case.spot.start, end, case.spot.fit.parts)", "    if case.spot.start <= book.draft.now:\n        book.draft.place(task, case.spot.masks, case.spot.start, end, case.spot.fit.parts)"),
    ("gated task placed", "planning/planner.py", "if not case.gates and not case.parked:\n            _place", "if not case.parked:\n            _place"),
    ("types ignored", "planning/feasible.py", "if demand.types and group.type.id not in demand.types:", "if False:"),
    ("vram ignored", "planning/feasible.py", "if group.vram_mib >= vram]", "if group.vram_mib >= 0]"),
    ("gang on one node", "planning/place.py", "        if demand.nodes > 1:", "        if demand.nodes > 99:"),
    ("most waste first", "planning/feasible.py", "fits.sort(key=lambda fit: (fit.waste,", "fits.sort(key=lambda fit: (-fit.waste,"),
    ("oversize at once", "planning/planner.py", "    if not peers:\n        return 0", "    return 0"),
    ("unknown end not held", "planning/planner.py", "if not book.policy.hold_for_unknown_end or", "if True or"),
    ("free count wrong", "planning/explain.py", "free=sum(counts),", "free=sum(counts) + 1,"),
    ("stale bounds", "planning/place.py", "seen.append((seat.start, at))", "seen.append((seat.start + 60, at))"),
]  # fmt: skip


def main() -> int:
    """Run every wanted mutant; exit 1 if one survives."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "paika_copy"
        shutil.copytree(ROOT / "src", copy / "src")
        shutil.copytree(ROOT / "tests", copy / "tests")
        shutil.copy(ROOT / "pyproject.toml", copy)
        for name, file, old, new in MUTANTS:
            if wanted not in name:
                continue
            target = copy / "src" / "paika" / file
            source = target.read_text()
            if source.count(old) != 1:
                print(f"?? {name}: the line to break stands {source.count(old)} times", flush=True)
                survivors.append(name)
                continue
            target.write_text(source.replace(old, new))
            caught = _tests_fail(copy)
            target.write_text(source)
            print(f"{'ok' if caught else '!! SURVIVED'}: {name}", flush=True)
            survivors += [] if caught else [name]
    print(f"{len(survivors)} survived: {', '.join(survivors)}" if survivors else "all caught")
    return 1 if survivors else 0


def _tests_fail(copy: Path) -> bool:
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy}"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "tests/laws", "tests/planning", "tests/scenarios"]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode == 1


if __name__ == "__main__":
    raise SystemExit(main())
