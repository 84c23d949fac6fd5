"""Moving a task in the order: points, who starts later, by how long."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "task.not_in_order": (
        'The task is "{state:word.api.state}" and not in the queue, so there is no order to move it in.',
        "Only queued tasks can be moved; on cards a move can only be taken back (0 points).",
    ),
}

WORDS: dict[str, str] = {
    "api.act.move_task": "move tasks in the order",
    "field.points": "Points",
    "move.act": "Move",
    "move.title": "Move {task} in the order",
    "move.about": "Points are added to its priority and count inside its tier; 0 takes the move back. See who slips first.",
    "move.points.about": "-1000 to 1000; the priority itself is 0 to 100.",
    "move.check": "See who slips",
    "move.again": "Look again",
    "move.do": "Move to {points}",
    "move.now": "moved: {points} points",
    "move.would": "{before} → {after} points. Nothing is written yet.",
    "move.place": "Place {before} → {after}",
    "move.position": "Place",
    "move.start": "Starts {before} → {after}",
    "move.later": "Who starts later ({count}):",
    "move.nobody": "Nobody starts later.",
    "move.sooner": "Who starts sooner: {count}",
    "move.misses_all": "Would miss their milestone by it: {count}",
    "move.misses": "would miss the milestone {at}",
    "move.before": "before",
    "move.after": "after",
    "move.by": "later by",
    "move.open": "unknown",
    "move.stops": "would stop {task} ({owner}; cards: {cards}), which saves its work",
    "move.stops_lost": "would stop {task} ({owner}; cards: {cards}); {hours} card-hours of work would be lost",
    "cli.do.move": "Move a task in the order (admins); first lists who slips, and by how long",
    "cli.do.task.move": "Move a task in the order, as paika move",
    "cli.opt.points": "points added to its priority, -1000 to 1000; 0 takes the move back",
    "cli.sure.move": "Move {task} to {points} points?",
}
