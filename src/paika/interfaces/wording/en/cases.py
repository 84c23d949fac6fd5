"""Support cases: a snapshot saved, and planned anew elsewhere."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "case.unreadable": (
        "{path} is no snapshot of paika, or cannot be read: {detail}.",
        "A file of paika plan save is wanted, or one from the folder cases of the data; of this version or an older one.",
    ),
    "plan.no_snapshots": (
        "This server cannot write snapshots.",
        "A server started with paika server start can.",
    ),
}

WORDS: dict[str, str] = {
    "api.act.save_snapshot": "save snapshots of the plan",
    "trouble.case": "The plan that broke a rule was kept as {case}; paika replay-snapshot plans it anew.",
    "cli.do.plan.save": "Save what the next plan looks at to a file, for a support case (admins); without programs, variables, tokens and notes",
    "cli.do.replay-snapshot": "Plan a saved snapshot anew on this machine: the rules it breaks, or the plan if it breaks none",
    "cli.arg.case": "file of a snapshot, packed (.gz) or not; - is standard input",
    "cli.arg.case_to": "file to write; packed if its name ends in .gz",
    "cli.opt.case_force": "overwrite the file if it is there",
    "cli.case.saved": "Saved to {path} ({size} bytes), readable by you alone.",
    "cli.case.at": "Taken at",
    "cli.case.holds": "Holds",
    "cli.case.counts": "tasks in the queue: {tasks}, runs: {runs}, cards: {cards}",
    "cli.case.recorded": "Faults then",
    "cli.case.faults": "The plan breaks rules ({count}):",
    "cli.case.sound": "The plan breaks no rule:",
    "cli.case.rule": "Rule",
    "cli.case.blocks": "not carried out",
    "cli.case.alarms": "alarm only",
}
