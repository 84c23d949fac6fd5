"""Words of how tasks and datasets come in."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "value.unit_missing": (
        '{field} says "{value}" without a unit.',
        (
            "Write the unit: 80G or 81920M for VRAM, 2h or 90m for a duration; "
            "or put it into the heading, as in vram_mib."
        ),
    ),
    "value.fraction_of_card": (
        'The number of cards cannot be "{value}": whole cards are asked for in whole numbers.',
        "For part of one card, ask for 1 card and fill in share_vram and share_bandwidth.",
    ),
    "value.shell_word": (
        'The command has "{value}", which only a shell understands, and commands run without one.',
        "Put the lines into the field script, or quote the sign.",
    ),
    "field.given_twice": ("{field} is given more than once: {headings}.", "Keep one of them."),
    "task.command_or_script": (
        "A task needs either a command or a script, and not both.",
        "Use command for one line, script for several steps.",
    ),
    "task.not_with_share": (
        '{field} cannot be "{value}" in a task that shares a card (it may be: {allowed}).',
        (
            "A share is part of one card on one machine, its VRAM stands in "
            "share_vram. For whole cards clear both share fields."
        ),
    ),
    "task.cards_not_even": (
        "{cards} cards cannot be spread evenly over {nodes} machines.",
        "Change one of the numbers so that every machine carries as many cards.",
    ),
    "task.estimate_order": (
        "An estimate must rise: low {low_s:span}, likely {likely_s:span}, high {high_s:span}.",
        "Put the three in order; if in doubt give the likely one alone.",
    ),
    "task.limit_below_estimate": (
        "The limit of {limit_s:span} is shorter than the high estimate of {high_s:span}: the run would be cut off.",
        "Raise the limit to {high_s:span} or more, or lower the estimate.",
    ),
    "table.unreadable": (
        "The file {filename} cannot be read: {cause:word.table.cause} (line {line}).",
        "Save it as CSV in UTF-8 or as XLSX and import it again.",
    ),
    "table.too_big": (
        "The file {filename} is too big: {size} {what:word.table.what}, and the limit is {limit}.",
        "Split it into several files, and remove empty rows and columns.",
    ),
    "import.no_header": (
        "There are no headings: none of the first 30 rows has two that are known. The first row is: {looked_at}.",
        "Keep one row of headings, such as: {known}.",
    ),
    "import.spare_cells": (
        'The row has more cells than there are headings; the first one left over is "{value}".',
        "Mostly a comma inside a cell that is not quoted: put that cell into double quotes.",
    ),
    "import.duplicate_row": (
        '"{name}" is the very same as line {first_line}.',
        "Remove one of them; to run it twice, give it another name.",
    ),
    "import.same_name": (
        '"{name}" is the name of another task too (line {first_line} of this list; 0: it is in the queue already).',
        "It comes in all the same; if the list was sent twice, remove this row.",
    ),
    "import.parent_row_bad": (
        'It waits for "{parent}" (line {parent_line}), which was not accepted.',
        "Mend line {parent_line} first, or remove the dependency.",
    ),
    "import.readiness_of_what": (
        "The row tells a readiness, but not of which dataset (inputs of this row: {inputs}).",
        "Name one dataset in a row that tells its readiness; mark several datasets one by one.",
    ),
    "import.readiness_differs": (
        "Line {first_line} tells another readiness of the dataset {dataset}.",
        "Tell it once, or the same in both lines.",
    ),
}

WORDS: dict[str, str] = {
    "field.name.help": "A name that people recognise. It need not be unique: every task has an id of its own.",
    "field.command.help": (
        "One line such as python train.py --lr 1e-3. It is split at blanks and quotes and runs "
        "without a shell: no pipes, redirections or variables."
    ),
    "field.script.help": (
        "Several steps, run by bash; parameters come as environment variables only. Either this or a command."
    ),
    "field.workdir.help": "The absolute path in which the task runs.",
    "field.environment.help": "plain, venv:/PATH or conda:NAME.",
    "field.env.help": "One NAME=value a line. The variables that pin cards are set by paika and cannot be given.",
    "field.cards.help": "Cards in all, a whole number. For part of one card say 1 and fill in the shared VRAM.",
    "field.nodes.help": "How many machines the cards are spread over evenly; 1 unless said otherwise.",
    "field.vram.help": (
        "The least VRAM each card must have, with its unit: 80G or 81920M. G, GB and GiB all mean 1024 MiB."
    ),
    "field.types.help": (
        "Allowed models or families, separated by commas; if empty, the smallest card that fits is taken."
    ),
    "field.capabilities.help": "What the card must be able to do, such as bf16, fp8, nvlink.",
    "field.pool.help": "Only cards of this pool.",
    "field.share_vram.help": "The VRAM asked for when sharing one card with others, with its unit, such as 10G.",
    "field.share_bandwidth.help": "Percent of the card's memory bandwidth when sharing; 50 unless said otherwise.",
    "field.estimate_low.help": "How long it takes if all goes well.",
    "field.estimate_likely.help": "How long it will likely run: 2h, 90m, 1d; a plain number means seconds.",
    "field.estimate_high.help": "The time within which nine of ten such runs end (P90).",
    "field.limit.help": (
        "The run is stopped then, done or not; no shorter than the longest estimate. "
        "Tasks with a limit fit into gaps more easily."
    ),
    "field.inputs.help": (
        "Names or ids of the datasets needed, separated by commas; until they are "
        "ready the task holds neither card nor quota."
    ),
    "field.after.help": (
        "Ids of tasks, or names within the same list, each with :success, "
        ":failure or :end; success unless said otherwise."
    ),
    "field.not_before.help": "It does not start earlier, such as 2026-12-01 09:00.",
    "field.tier.help": "core, normal or idle. Core tasks need the right to them.",
    "field.priority.help": "0 to 100, the higher the sooner; 50 unless said otherwise.",
    "field.owner.help": "Whose task it is; who submits it unless said otherwise.",
    "field.team.help": "Whose quota bears it; not needed by people who are in one team only.",
    "field.preemptible.help": "It may be stopped for more urgent work and then goes back to the queue.",
    "field.checkpoint.help": "It saves its work when it is warned by the stop signal, so stopping it loses little.",
    "field.stop_signal.help": "The signal sent first when the task is stopped; TERM unless said otherwise.",
    "field.grace.help": "How long it may take to end after the signal; 30 s unless said otherwise.",
    "field.milestone.help": "The goal the task serves, such as a paper.",
    "field.milestone_at.help": "When the milestone is due; a date alone means the end of that day.",
    "field.kind.help": "One word for tasks that behave alike: paika learns their time and VRAM from it.",
    "field.note.help": "Words for people.",
    "field.tags.help": "Separated by commas.",
    "field.log_budget.help": "How much of the log is kept, with its unit, such as 200M.",
    "field.dataset.name": "Dataset",
    "field.dataset.id": "Id",
    "field.dataset.readiness": "Readiness",
    "field.dataset.percent": "Percent ready",
    "field.dataset.eta": "Expected ready",
    "field.dataset.owner": "Owed by",
    "field.dataset.detail": "Detail",
    "field.dataset.probe": "Probe",
    "field.dataset.target": "Target",
    "field.dataset.argv": "Probe command",
    "field.dataset.want_bytes": "Bytes expected",
    "field.dataset.want_files": "Files expected",
    "field.dataset.every": "Every",
    "field.dataset.timeout": "Timeout",
    "field.group.basic": "Basic",
    "field.group.advanced": "More options",
    "field.ignored": "left out",
    "table.cause.empty": "it is empty",
    "table.cause.binary": "it is neither text nor a workbook",
    "table.cause.encoding": "its encoding is neither UTF-8 nor GBK",
    "table.cause.csv": "its CSV is malformed",
    "table.cause.quote": "a double quote is never closed",
    "table.cause.workbook": "the workbook is damaged or neither XLSX nor XLS",
    "table.cause.password": "it is protected by a password",
    "table.cause.yaml": "its YAML is malformed",
    "table.cause.shape": "it has not the shape of a task list",
    "table.what.bytes": "bytes",
    "table.what.rows": "rows",
    "table.what.columns": "columns",
    "probe.kind.path": "folder or file",
    "probe.kind.manifest": "manifest",
    "probe.kind.marker": "marker file",
    "probe.kind.s3_prefix": "S3 prefix",
    "probe.kind.url": "address",
    "probe.kind.command": "command",
    "allowed.# characters": "# characters",
    "allowed.# characters, one line": "# characters, one line",
    "allowed.# names, each # characters, separated by commas": "# names, each # characters, separated by commas",
    "allowed.a list of words, or one line split into words by quotes and blanks, without a shell": (
        "a list of words, or one line split into words by quotes and blanks, without a shell"
    ),
    "allowed.NAME=value pairs, at most #; not PAIKA_* and not the variables that pin cards": (
        "NAME=value pairs, at most #; not PAIKA_* and not the variables that pin cards"
    ),
    "allowed.ids or names of tasks, each with :success, :failure or :end, at most #": (
        "ids or names of tasks, each with :success, :failure or :end, at most #"
    ),
    "allowed.plain, venv:/PATH or conda:NAME": "plain, venv:/PATH or conda:NAME",
    "allowed.an absolute path, # characters": "an absolute path, # characters",
    "allowed.an absolute path": "an absolute path",
    "allowed.readiness: preparing": "only while it is being prepared",
}
