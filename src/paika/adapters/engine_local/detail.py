"""Details of a report: a word, and often a fact behind it; the standard library alone.

The words are translated under `engine.detail.WORD`; a report's `detail` is `word` or `word: fact`.
"""

from __future__ import annotations

from enum import StrEnum


class Detail(StrEnum):
    """What can be told beside a cause."""

    ACCOUNT_IS_ROOT = "account_is_root"
    ACCOUNT_MISSING = "account_missing"
    ACCOUNT_REFUSED = "account_refused"
    ACCOUNT_UNMAPPED = "account_unmapped"
    ARGUMENTS_TOO_LONG = "arguments_too_long"
    CARD_INDEX_UNKNOWN = "card_index_unknown"
    COMMAND_NOT_FOUND = "command_not_found"
    ENVIRONMENT_MISSING = "environment_missing"
    ENVIRONMENT_UNKNOWN = "environment_unknown"
    HOST_RESTARTED = "host_restarted"
    KILLED_CAUSE_UNKNOWN = "killed_cause_unknown"
    KILLED_WHILE_HOST_OUT_OF_MEMORY = "killed_while_host_out_of_memory"
    LEFT_UNKILLABLE = "left_unkillable"
    LEFTOVERS_ENDED = "leftovers_ended"
    LOG_SAYS = "log_says"
    MEMORY_KILLS = "memory_kills"
    NODE_NOT_HERE = "node_not_here"
    NODE_UNREACHABLE = "node_unreachable"
    NOT_EXECUTABLE = "not_executable"
    RANKS_UNFIT = "ranks_unfit"
    RUN_ID_TAKEN = "run_id_taken"
    SHELL_SAW_SIGNAL = "shell_saw_signal"
    SIGNAL_UNKNOWN = "signal_unknown"
    START_INTERRUPTED = "start_interrupted"
    START_REFUSED = "start_refused"
    START_TIMED_OUT = "start_timed_out"
    STOPPED_BEFORE_START = "stopped_before_start"
    SUPERVISOR_FAILED = "supervisor_failed"
    SUPERVISOR_LOST = "supervisor_lost"
    SUPERVISOR_NOT_STARTED = "supervisor_not_started"
    SUPERVISOR_TERMINATED = "supervisor_terminated"
    TEXT_UNFIT = "text_unfit"
    VARIABLE_UNFIT = "variable_unfit"
    WORKDIR_FORBIDDEN = "workdir_forbidden"
    WORKDIR_MISSING = "workdir_missing"

    def of(self, fact: object) -> str:
        """The word with its fact."""
        return f"{self}: {fact}"
