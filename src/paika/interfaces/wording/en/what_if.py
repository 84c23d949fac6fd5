"""What if: planned once more with some edits, who is sooner and who later; nothing is written."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "preview.busy": (
        "Previews are worked out one at a time and {waiting} are waiting already, so this one was not begun.",
        "Try again in a few seconds.",
    ),
}

WORDS: dict[str, str] = {
    "whatif.only_told": "Only a preview: nothing was written.",
    "whatif.on": "On",
    "whatif.stands.parked": "parked: it can never fit as things are",
    "whatif.stands.on_cards": "running",
    "whatif.stands.gone": "no longer in the queue",
    "whatif.sooner": "Who starts sooner ({count}):",
    "whatif.earlier": "sooner by",
    "whatif.spared": "Runs that would be stopped as things are, and no longer: {count}",
    "whatif.closed": "Can never run any more and would be closed: {tasks}",
    "whatif.ends": "{task} would be cut off ({owner}; cards: {cards}); {hours} card-hours of work lost",
    "whatif.again": "starts again: {start}",
    "whatif.not_again": "does not go back to the queue",
    "whatif.booked": "can be booked: {count} cards, {window}",
    "whatif.count.cards": "Usable cards",
    "whatif.count.waiting": "Tasks in the queue",
    "whatif.count.starts": "Start now",
    "whatif.count.told": "Have a start told",
    "whatif.count.untold": "Start unknown",
    "whatif.count.parked": "Parked",
    "whatif.count.stops": "Runs to stop",
    "whatif.count.misses": "Would miss their milestone",
    "whatif.count.last_start": "Last start",
    "cli.do.plan.preview": "What would be if: planned for real, who is sooner and who later; nothing is written",
    "cli.opt.what_if.change": "change this task: the task's fields given are the change; without it they are a new task",
    "cli.opt.what_if.cancel": "this task cancelled",
    "cli.opt.what_if.move": "this task moved in the order (admins)",
    "cli.opt.what_if.lost_node": "this machine down",
    "cli.opt.what_if.lost_card": "this card lost",
    "cli.opt.what_if.node_back": "this machine back, with its cards",
    "cli.opt.what_if.card_back": "this card back",
    "cli.opt.what_if.more_cards": 'so many more cards on a new virtual machine; on several: "cards=16 type=… nodes=2"',
    "cli.opt.what_if.ready": "this dataset ready",
    "cli.opt.what_if.quota": "the team's quota set to N; nothing after = lifts it",
    "cli.opt.what_if.book": 'a booking, fields as in paika booking add: "from=… for=8h cards=8"',
    "cli.opt.what_if.guarantee": "a guarantee, fields as in paika guarantee set",
    "cli.opt.what_if.withdraw": "this guarantee taken back",
    "cli.opt.what_if.policy": "a number of the policy, names as in paika policy show",
    "cli.opt.what_if.policy_file": "a JSON file of the policy, all of it or a part",
    "cli.opt.what_if.edits": "a JSON file of edits as the REST API takes them; - is standard input",
    "cli.opt.what_if.rows": "how many tasks are listed at most, 1 to 500",
}
