"""Why tasks wait, in words."""

MESSAGES: dict[str, tuple[str, str]] = {
    "wait.held": ("Held by {by}: {why}", "Its owner, the team's lead or an admin can release it."),
    "wait.parent": (
        "Waits until {parent} {when:word.parent_when}",
        "See how the parent task gets on; edit the dependency if it is not needed.",
    ),
    "wait.not_before": ("Asked not to start before {at:when}", "Edit “not before” to start sooner."),
    "wait.retry": (
        "Start number {failed_starts} did not succeed; next try at {at:when}",
        "See the log and the cause of the last run.",
    ),
    "wait.data": (
        "Dataset {dataset} {readiness:word.readiness_is}{percent:opt.percent}, {eta:opt.eta}, {owes:opt.owes}",
        "Mark it ready when it is; until then the task holds neither card nor quota.",
    ),
    "wait.team_inactive": ("Team {team} is switched off", "Ask an admin to switch it on."),
    "wait.person_inactive": (
        "Its owner {person} is switched off",
        "Ask an admin to switch the person on, or submit it under another owner.",
    ),
    "wait.quota": (
        "Team {team} may hold {max_cards} cards, holds {held_parts:cards}, needs {need_parts:cards} more: "
        "{holders:holders}",
        "Wait for a run of the team to end, ask an admin for more quota, or ask for fewer cards.",
    ),
    "wait.quota_promised": (
        "Team {team} may hold {max_cards} cards, and the rest is promised to {tasks} from {first_at:when} on",
        "Set a shorter limit, or ask an admin for more quota.",
    ),
    "park.no_such_card": ("No card here is “{asked}”; there are: {have}", "Change the type, capability or pool."),
    "park.vram": (
        "Needs {need_mib:gib} VRAM a card; the largest, {largest_type}, has {largest_mib:gib}",
        "Ask for less VRAM (at most {largest_mib:gib}), or add larger cards.",
    ),
    "park.node_too_small": (
        "Needs {need} cards of one type on one machine; {node} has the most, {largest}",
        "Spread it over several machines with “nodes”, or ask for fewer cards.",
    ),
    "park.too_few_nodes": (
        "Needs {need} machines with {cards_each} cards of one type each; there are {have}",
        "Ask for fewer machines or fewer cards on each.",
    ),
    "park.quota": (
        "Asks for {need_parts:cards} cards, more than team {team}'s whole quota of {max_cards}",
        "Ask for fewer cards, or ask an admin for more quota.",
    ),
    "park.share": (
        "The share asks for {need_mib:gib} VRAM; the largest card can give {largest_mib:gib} to shares",
        "Ask for less VRAM, or for a whole card.",
    ),
    "wait.cards": (
        "Waits for {need} cards: of {fitting} that fit {free} are free, at most {best_free} on one machine. "
        "{holders:holders}",
        "Ask for fewer cards, allow more types, or wait for the first to end.",
    ),
    "wait.promised": (
        "{cards} free cards are promised to {tasks}{first_at:opt.first_at}",
        "{limit_would_fit_s:opt.would_fit}",
    ),
    "wait.oversize": (
        "The free {card_type} is bigger than needed and {wanted_by} waits for it; allowed from {allowed_at:when}",
        "Wait for a {fitting_type}, or name {card_type} in the request.",
    ),
    "wait.share_room": (
        "The share asks for {need_mib:gib} VRAM and {need_bandwidth_percent}% bandwidth; "
        "the roomiest card has {best_free_mib:gib} and {best_free_bandwidth_percent}% left. {holders:holders}",
        "Ask for less VRAM or bandwidth, or wait for a neighbour to end.",
    ),
    "wait.lease": (
        "The lease of {cards} free cards ends at {ends_at:when}, before the run would",
        "Renew the lease, or set a shorter limit.",
    ),
    "wait.unfit": (
        "{cards} fitting cards cannot be used ({health:word.health}): {nodes}",
        "Ask an admin to look at these cards and machines.",
    ),
    "wait.no_engine": (
        "{cards} fitting cards are on {nodes}, where no engine can start tasks",
        "Set up an engine for these machines, or use others.",
    ),
    "wait.end_unknown": (
        "On fitting cards, neither limit nor estimate is set for {runs}, so no start can be told",
        "Ask their owners for an estimate or a limit.",
    ),
    "wait.reserved": (
        "From {starts_at:when} until {ends_at:when} {cards} fitting cards are "
        "{purpose:word.reserved_for}{team:opt.reserved_team} ({reservation})",
        "{limit_would_fit_s:opt.before_window}",
    ),
    "wait.headroom": (
        "{cards} free cards are headroom, which only core tasks may use: {nodes}",
        "Wait for others to come free; if it cannot wait, ask a team lead to make it a core task.",
    ),
    "wait.being_freed": (
        "Being stopped to free cards for it, {until:opt.freed_by}: {runs}",
        "Nothing to do: the freed cards are kept for it.",
    ),
    "wait.floor": (
        "Team {team} is guaranteed {floor_cards} cards, its core tasks have {held_cards}, and still it cannot start: "
        "{because:word.floor_because}",
        "{because:word.floor_helps}",
    ),
    "wait.idle_closed": (
        "So much work waits ({pressure_percent:opt.pressure}) that the idle tier takes nothing new",
        "Wait until less is queued, or make it a normal task if it cannot wait.",
    ),
    "wait.person_cap": (
        "While much work waits, a person may hold {max_cards} cards below core; "
        "{person} holds {held_parts:cards} and needs {need_parts:cards} more{ahead:word.cap_ahead}",
        "Wait for one of your runs to end, or ask for fewer cards.",
    ),
    "wait.withdrawn": (
        "It was to start by {was:when}, and now no start can be told: {cause:word.withdrawn}{subject:opt.subject}",
        "Wait: a new start is told as soon as one is known.",
    ),
    "wait.plan_refused": (
        "The plan broke a rule ({rules}), so nothing of it was started",
        "A fault of paika: tell the admin, who sees it as an alarm.",
    ),
}

WORDS: dict[str, str] = {
    "opt.percent": " ({value:percent})",
    "opt.percent.none": "",
    "opt.eta": "expected at {value:when}",
    "opt.eta.none": "nobody knows until when",
    "opt.owes": "owed by {value}",
    "opt.owes.none": "owed by nobody yet",
    "opt.first_at": ", from {value:when} on",
    "opt.first_at.none": ", from when on is unknown",
    "opt.would_fit": "A task with a limit of at most {value:span} may run first.",
    "opt.would_fit.none": "They go first; an admin can change the order.",
    "withdrawn.overrun": "a run overran",
    "withdrawn.lost_card": "a card was lost",
    "withdrawn.higher_rank": "a task came before",
    "withdrawn.policy": "the policy changed",
    "withdrawn.changed": "the task was changed",
    "withdrawn.reservation": "cards were booked",
    "withdrawn.quota": "the quota is used up",
    "withdrawn.unknown": "the cause is unknown",
    "opt.subject": " ({value})",
    "opt.subject.none": "",
    "cap_ahead.True": " (what is left is promised to earlier tasks of the same person)",
    "cap_ahead.False": "",
    "reserved_for.booking": "booked",
    "reserved_for.maintenance": "down for maintenance",
    "opt.reserved_team": " for {value}",
    "opt.reserved_team.none": "",
    "opt.before_window": "With a limit of at most {value:span} it ends before that; or ask whoever booked.",
    "opt.before_window.none": "Wait for the end of the window, allow more card types, or ask whoever booked.",
    "opt.freed_by": "by {value:when} at the latest",
    "opt.freed_by.none": "until when is unknown",
    "opt.pressure": "{value:percent} of the card-hours on offer",
    "opt.pressure.none": "and no card can take any",
    "floor_because.capacity": "too few cards fit, even if all that may be stopped were",
    "floor_because.node_fit": "the cards are there, but not together on one machine",
    "floor_because.reservation": "the fitting cards are booked or down for maintenance",
    "floor_because.lease": "the lease of the fitting cards ends too soon",
    "floor_because.quota": "the team's quota is used up",
    "floor_because.being_freed": "the runs on its cards are being stopped",
    "floor_helps.capacity": "Wait for a run to end, allow more card types, or ask for fewer cards.",
    "floor_helps.node_fit": "Spread the task over several machines, or ask for fewer cards on each.",
    "floor_helps.reservation": "Wait for the end of the window, set a shorter limit, or ask whoever booked.",
    "floor_helps.lease": "Renew the lease, or set a shorter limit.",
    "floor_helps.quota": "Wait for a run of the team to end, or ask an admin for more quota.",
    "floor_helps.being_freed": "Nothing to do: the freed cards are kept for it.",
    "holder.run": "{task} {run} has {cards} ({owner}, {until})",
    "holder.starting": "{task} is starting on {cards} ({owner}, {until})",
    "holder.external": "processes from outside have {cards} ({owner}, end unknown)",
    "holders.more": "{count} more",
    "until_limit": "limit at {until:when}",
    "until_estimate": "expected to end by {until:when}",
    "until_unknown": "end unknown",
    "parent_when.success": "succeeds",
    "parent_when.failure": "fails",
    "parent_when.end": "ends",
    "readiness_is.ready": "is ready",
    "readiness_is.preparing": "is being prepared",
    "readiness_is.blocked": "is blocked",
    "readiness_is.unknown": "is in an unknown state",
    "health.ok": "fine",
    "health.lost": "lost",
    "health.needs_reset": "needs a reset",
    "health.draining": "takes no new work",
    "health.unknown": "state unknown",
    "health.node_drained": "machine takes no new work",
    "health.node_down": "machine is down",
    "health.node_unknown": "state of the machine unknown",
    "unblock.ready_data": "dataset {value} is ready",
    "unblock.fewer_cards": "it asks for {value} cards only",
    "unblock.any_type": "any card type will do",
    "unblock.less_vram": "it asks for {value:gib} VRAM a card",
    "unblock.shorter_limit": "its limit is {value:span}",
    "unblock.more_quota": "the team's quota is {value} cards",
    "unblock.smaller_share": "its share is {value:gib} VRAM",
    "unblock.now": "it would start now if {change}",
    "unblock.by": "it would start by {at:when} if {change}",
    "unblock.none": "No single change was found that would start it sooner",
}
