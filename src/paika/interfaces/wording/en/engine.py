"""What the engines have to say."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "engine.unavailable": (
        "The engine {engine} does not answer: {detail}",
        "What runs goes on. Is the engine's service up, may its data folder be written, is the disk full?",
    ),
}

WORDS: dict[str, str] = {
    "engine.detail.account_is_root": "the Unix account is root, which runs no tasks",
    "engine.detail.account_missing": "no such Unix account",
    "engine.detail.account_refused": "the system does not allow the change to the Unix account",
    "engine.detail.account_unmapped": "its owner is mapped to no Unix account",
    "engine.detail.arguments_too_long": "command line or environment too long",
    "engine.detail.card_index_unknown": "the card's index is not known, so nothing can be pinned to it",
    "engine.detail.command_not_found": "command not found",
    "engine.detail.environment_missing": "environment not found",
    "engine.detail.environment_unknown": "no such kind of environment",
    "engine.detail.host_restarted": "the host restarted; the end is when the run was last seen alive",
    "engine.detail.killed_cause_unknown": "killed, cause unknown",
    "engine.detail.killed_while_host_out_of_memory": "killed; during the run this host killed for memory (times)",
    "engine.detail.leftovers_ended": "processes that the program left behind were ended",
    "engine.detail.left_unkillable": "processes that may not be killed (numbers)",
    "engine.detail.log_says": "the log says that memory ran out",
    "engine.detail.memory_kills": "killed by the system for memory (times)",
    "engine.detail.node_not_here": "the node is not this engine's",
    "engine.detail.node_unreachable": "the node's agent does not answer",
    "engine.detail.not_executable": "the file cannot be executed",
    "engine.detail.ranks_unfit": "the ranks of the parts have gaps",
    "engine.detail.run_id_taken": "the run id is taken",
    "engine.detail.shell_saw_signal": "a command of the script was ended by a signal",
    "engine.detail.signal_unknown": "no such stop signal",
    "engine.detail.start_interrupted": "the start broke off; the program never ran",
    "engine.detail.start_refused": "the system refused the start",
    "engine.detail.start_timed_out": "not all parts were ready in time",
    "engine.detail.stopped_before_start": "asked to stop before it started",
    "engine.detail.supervisor_failed": "the supervisor failed",
    "engine.detail.supervisor_lost": "the supervisor was killed; what it left was ended",
    "engine.detail.supervisor_not_started": "the supervisor could not be started",
    "engine.detail.supervisor_terminated": "the supervisor was asked to end",
    "engine.detail.text_unfit": "command, script or folder hold characters that the system does not take",
    "engine.detail.variable_unfit": "an environment variable's name or value is not fit",
    "engine.detail.workdir_forbidden": "the working folder may not be entered",
    "engine.detail.workdir_missing": "no such working folder",
}
