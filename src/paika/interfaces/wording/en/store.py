"""Words of the store."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "store.taken": (
        "Another paika server holds the database {place}.",
        "One server writes to a database: stop the other one first, or name another database.",
    ),
    "store.newer": (
        "The database has layout {layout}; this program knows layouts up to {known}.",
        "A newer paika wrote to it: upgrade this program, or restore the backup from before the upgrade.",
    ),
    "store.moved": (
        "Somebody else wrote to the database: this server left it at version {expected}, it is at {found}.",
        "Make sure that no other program writes to this database, then restart this server.",
    ),
    "store.failed": (
        "The database did not do the work: {detail}",
        "This change has not taken effect. Is the database running, the disk full, the address or password wrong?",
    ),
    "store.unreadable": (
        "A record of {noun} cannot be read: {detail}",
        "A newer version may have written it, or it is damaged: upgrade this program, or restore a backup.",
    ),
}

WORDS: dict[str, str] = {}
