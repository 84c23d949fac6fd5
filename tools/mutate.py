"""Break the planner on purpose, one way at a time, and see that the tests notice.

    python tools/mutate.py            all mutants
    python tools/mutate.py quota      only those whose name holds 'quota'

Each mutant is an edit of a line in the planner. A mutant that survives means a law or a story is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ["tests/scenarios", "tests/planning", "tests/laws/test_oracle.py", "tests/laws/test_plan_laws.py"]
MUTANTS = [
    # who goes first
    ("lost tie-break", "order.py", "task.submitted_at, task.id)", "task.submitted_at)"),
    ("tier ignored", "order.py", "return (tiers[task.id], -terms", "return (0, -terms"),
    ("points upside down", "order.py", "-terms[task.id].total, task.submitted_at", "terms[task.id].total, task.submitted_at"),
    ("urgency not inherited", "order.py", "            if urgent < ", "            if False and urgent < "),
    ("waiting lowers", "order.py", "waited * policy.age_points_per_hour", "-waited * policy.age_points_per_hour"),
    ("fair share upside down", "fairness.py", "- used * 1000 // spent", "+ used * 1000 // spent"),
    ("floor not ahead", "planner.py", "        order = ahead_of_all(", "        ahead_of_all("),
    ("floor for everybody", "floors.py", "        if task.tier is not Tier.CORE:\n            continue\n", ""),
    ("no cap when dense", "density.py", "        Level.STRICT: policy.strict_cards_per_person,", "        Level.STRICT: None,"),
    ("core capped too", "draft.py", "        if task.tier is not Tier.CORE:\n            found.append", "        if True:\n            found.append"),
    # gates
    ("unready passes", "gates.py", "elif dataset.readiness is not Readiness.READY:", "elif dataset.readiness is Readiness.BLOCKED:"),
    ("unknown dataset passes", "gates.py", "        if dataset is None:", "        if dataset is None and not name:"),
    ("parents forgotten", "gates.py", "for d in task.after if not d.met]", "for d in task.after if d.dead]"),
    ("before its time", "gates.py", "task.not_before > now", "task.not_before < now"),
    ("inactive owner", "gates.py", "person is None or not person.active", "person is None"),
    # ceilings
    ("quota off by one", "entitle.py", "if self.used[i] > limit:", "if self.used[i] > limit + 100:"),
    ("quota only at the start", "entitle.py", "elif i + 1 == count or self.times[i + 1] >= start + lasts_s:", "else:"),
    ("release forgotten", "draft.py", "self.teams[run.team].add(-run.parts_held, until, NEVER)", "pass"),
    ("borrowing unbounded", "placing.py", 'if limit[0] != "team")', "if False)"),
    ("everybody borrows", "cases.py", "policy.idle_borrows and task.preemptible and task.tier is Tier.IDLE", "policy.idle_borrows"),
    # which card
    ("types ignored", "feasible.py", "if demand.types and group.type.id not in demand.types:", "if False:"),
    ("vram ignored", "feasible.py", "if group.vram_mib >= vram]", "if group.vram_mib >= 0]"),
    ("most waste first", "feasible.py", "fits.sort(key=lambda fit: (fit.waste,", "fits.sort(key=lambda fit: (-fit.waste,"),
    ("oversize at once", "placing.py", "        if fit.waste > least and fit.group.key in peers:", "        if False:"),
    ("sick cards given", "house.py", "fit = house_node.schedulable and card.health is Health.OK", "fit = house_node.schedulable"),
    ("no engine needed", "house.py", "self.node.state is NodeState.UP and self.node.engine is not None", "self.node.state is NodeState.UP"),
    ("outsiders ignored", "draft.py", '            self._bar(use.card, ", ".join(use.users))', "            pass"),
    ("gang one node short", "place.py", "            if len(found) < count:", "            if len(found) < count - 1:"),
    ("gang at different times", "place.py", "            if common == found[0][0]:", "            if True:"),
    # a better order
    ("cap of a better order ignored", "improve.py", "starts[task] <= latest for", "True for"),
    ("a better order is worse", "improve.py", "cost >= self._cost or", "cost <= self._cost or"),
    ("a better order forgets promises", "improve.py", "if case.kept and promise is not None and", "if False and promise is not None and"),
    ("a better order crosses tiers", "improve.py", "found.setdefault(case.tier, [])", "found.setdefault(0, [])"),
    # time
    ("lease ignored", "timeline.py", "            if self.leased and mask:", "            if False and mask:"),
    ("window not checked", "timeline.py", "                mask &= free[j]\n", ""),
    ("one card short", "timeline.py", "            if mask.bit_count() < cards:\n                continue", "            if mask.bit_count() < cards - 1:\n                continue"),
    ("estimate trusted as limit", "place.py", "fit_s=rounded_up(task.limit_s)", "fit_s=rounded_up(task.occupies_s)"),
    ("reservation open to all", "reserve.py", "return not self.reservation.open_to(key[1], key[2])", "return False"),
    ("headroom open to all", "reserve.py", "            return not key[0]", "            return False"),
    ("headroom on busy cards", "headroom.py", "            blocks.sort(key=", "            sorted(blocks, key="),
    ("unknown end not held", "placing.py", "if not book.policy.hold_for_unknown_end or", "if True or"),
    ("depth ignored", "placing.py", "        return book.now + 1", "        return book.horizon"),
    ("unknown end invented", "house.py", "    return NEVER, False", "    return now + 3600, False"),
    # shares
    ("share room ignores others", "timeline.py", " - sum(u.vram_mib for u in there)\n            if room", "\n            if room"),
    ("bandwidth ignored", "timeline.py", " or need.bandwidth_percent + sum(u.bandwidth_percent for u in there) > 100", ""),
    ("heavy shares meet", "timeline.py", "if need.bandwidth_percent >= need.heavy_percent and any(", "if False and any("),
    ("share on a whole card", "timeline.py", "            if not opened[i] & bit:\n                was_open", "            if False:\n                was_open"),
    ("whole over share", "timeline.py", "            self.free[i] &= ~(1 << card)", "            pass"),
    # promises
    ("promises forgotten", "keep.py", "            if spot is not None:\n                seat(book.search", "            if False:\n                seat(book.search"),
    ("nobody moves up", "placing.py", "    if not book.lifted:\n        return\n", "    return\n"),
    ("new ones before those ahead", "placing.py", "        _lift_all(book, case.rank)", "        pass"),
    ("arrivals push nobody", "keep.py", "    unseat(book.search, case, book.kept.pop(case.task.id))", "    pass"),
    ("due promises dropped", "keep.py", "    start = max(book.now, promised_start(promise))\n    masks = masks_of(book.draft", "    start = promised_start(promise) if promised_start(promise) > book.now else NEVER\n    masks = masks_of(book.draft"),
    ("slips without cause", "telling.py", "slip=later(case.slip, case.spot), at_latest", "slip=None, at_latest"),
    ("withdrawn in silence", "telling.py", "    if told is None and case.slip is not None", "    if False and case.slip is not None"),
    ("stale bounds", "place.py", "again.append((bound if not fresh else limit if seat is None else seat.start, at))", "again.append((bound if not fresh else limit if seat is None else seat.start + 60, at))"),
    ("freed time unseen", "place.py", "        if bound < self.bound[at]:\n            self.put", "        if False:\n            self.put"),
    # stopping work
    ("core stopped", "preempt.py", "if run.tier is Tier.CORE or not run.preemptible", "if not run.preemptible"),
    ("unwilling stopped", "preempt.py", "if run.tier is Tier.CORE or not run.preemptible or", "if run.tier is Tier.CORE or"),
    ("young stopped", "preempt.py", "whole_seconds(run.started_at, now) < policy.preempt_after_s", "False"),
    ("stopped again at once", "preempt.py", "if any(whole_seconds(at, now) < policy.preempt_cooldown_s for at in before):", "if False:"),
    ("more stopped than needed", "preempt.py", "                chosen = rest", "                pass"),
    ("costly stopped first", "preempt.py", "found[0] < best[0]", "found[0] > best[0]"),
    ("unsaved work thrown away", "preempt.py", "if not run.checkpoint and not policy.preempt_without_checkpoint:", "if False:"),
    # reasons
    ("free count wrong", "explain.py", "free=sum(counts),", "free=sum(counts) + 1,"),
    ("gaps unexplained", "explain.py", "open_now.get(node, 0) | place.ready & self._given(place)", "open_now.get(node, 0)"),
    ("promise unexplained", "explain.py", "        return [] if shape.promised is None else [shape.promised]", "        return []"),
]  # fmt: skip


PASSED, FAILED = 0, 1  # what pytest returns


def main() -> int:
    """Run every wanted mutant; exit 1 if one survives."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "paika_copy"
        shutil.copytree(ROOT / "src", copy / "src")
        shutil.copytree(ROOT / "tests", copy / "tests")
        shutil.copy(ROOT / "pyproject.toml", copy)
        if not wanted and _outcome(copy) != PASSED:
            print("the tests fail without a mutant; see to that first")
            return 2
        for name, file, old, new in MUTANTS:
            if wanted not in name:
                continue
            target = copy / "src/paika/planning" / file
            source = target.read_text()
            if source.count(old) != 1:
                print(f"?? {name}: the line to break stands {source.count(old)} times", flush=True)
                survivors.append(name)
                continue
            target.write_text(source.replace(old, new))
            outcome = _outcome(copy)
            target.write_text(source)
            words = {FAILED: "ok", PASSED: "!! SURVIVED"}.get(outcome, f"?? the tests did not run ({outcome})")
            print(f"{words}: {name}", flush=True)
            survivors += [] if outcome == FAILED else [name]
    print(f"{len(survivors)} survived: {', '.join(survivors)}" if survivors else "all caught")
    return 1 if survivors else 0


def _outcome(copy: Path) -> int:
    """What pytest says of the tests, run against the copy."""
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy}"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *TESTS]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
