"""Words of the examination (paika doctor)."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "doctor.python": ("Python {version}.", "Nothing to do."),
    "doctor.python_old": ("Python {version} is too old.", "Use {oldest} or newer."),
    "doctor.folder": ("The data folder {path} is writable ({filesystem}).", "Nothing to do."),
    "doctor.folder_new": (
        "The data folder {path} does not exist yet and can be made ({filesystem}).",
        "The first start makes it.",
    ),
    "doctor.folder_not_writable": ("The data folder {path} is not writable.", "Change its rights, or use another one."),
    "doctor.folder_network": (
        "The data folder {path} lies on a network file system ({filesystem}): locks are not reliable there.",
        "Move it to a disk of this host; for a shared database use PostgreSQL.",
    ),
    "doctor.folder_volatile": (
        "The data folder {path} lies in memory ({filesystem}) and is gone after a restart.",
        "Good for a trial only; use a disk for real work.",
    ),
    "doctor.disk": ("{path} has {free_mib:gib} left.", "Below 10 GiB, remove old logs or add room."),
    "doctor.disk_full": ("{path} has only {free_mib:gib} left.", "Make at least 1 GiB free first."),
    "doctor.disk_unknown": ("The free room of {path} cannot be read.", "Look for yourself with df."),
    "doctor.nvidia_absent": (
        "No NVIDIA driver library: {cause}.",
        "Fine on a machine without NVIDIA cards; else install the driver.",
    ),
    "doctor.nvidia_no_cards": (
        "The NVIDIA driver is there but shows no card.",
        "Check seating, lost cards, or the devices given to the container.",
    ),
    "doctor.nvidia_mismatch": (
        "NVIDIA driver and library differ in version: {cause}.",
        "Restart the machine or reload the driver module.",
    ),
    "doctor.nvidia_fails": ("The NVIDIA driver does not answer: {cause}.", "Make nvidia-smi work first."),
    "doctor.ascend_absent": ("There is no npu-smi.", "Fine on a machine without Ascend cards."),
    "doctor.ascend_fails": ("npu-smi fails: {cause}.", "Make npu-smi info work first."),
    "doctor.cards": ("Machine {node} shows {cards} cards: {models}.", "Nothing to do."),
    "doctor.cards_unwell": (
        "{cards} cards of machine {node} are not well: {ids}.",
        "Reset or repair them; they get no tasks before.",
    ),
    "doctor.cards_cut": (
        "{cards} cards of machine {node} are cut into MIG slices: {ids}.",
        "Cut cards are shown as used by others and are not scheduled for now; switch MIG off to use them.",
    ),
    "doctor.cards_odd": (
        "Machine {node} gives values that cannot be read: {oddities}.",
        "They count as unknown; everything else goes on.",
    ),
    "doctor.cards_unseen": (
        "The inventory gives machine {node} {declared} cards, only {seen} are seen.",
        "Check the inventory, or look for lost cards.",
    ),
    "doctor.cgroup": ("Control groups v2 can be used ({controllers}).", "Nothing to do."),
    "doctor.cgroup_missing": (
        "No control groups v2 of our own can be made; running out of memory is then told from logs only.",
        "Start with systemd and Delegate=yes; it works without, too.",
    ),
    "doctor.boot_id": ("This boot has the id {boot_id}.", "Nothing to do."),
    "doctor.boot_id_missing": (
        "The boot id cannot be read; after a restart running tasks would not be recognised.",
        "Check that /proc is mounted whole.",
    ),
    "doctor.clock": ("The clock is kept in step.", "Nothing to do."),
    "doctor.clock_free": ("The clock is not kept in step and will drift.", "Switch on chrony or systemd-timesyncd."),
    "doctor.clock_unknown": ("It cannot be told whether the clock is kept in step.", "Check it on the host."),
    "doctor.clock_wrong": ("The clock is plainly wrong: {now}.", "Set the time before starting."),
    "doctor.port_free": ("Port {port} is free on this host.", "Nothing to do."),
    "doctor.port_taken": (
        "Port {port} is taken on this host.",
        "Use another port, or stop what has it (paika may be running already).",
    ),
    "doctor.inventory": ("The inventory is valid: {nodes} machines, {cards} cards.", "Nothing to do."),
    "doctor.inventory_absent": (
        "There is no inventory file.",
        "Write one; cards of this machine may be left out, they are found by looking.",
    ),
    "doctor.inventory_bad": ("The inventory has {problems} faults.", "Mend them as listed below."),
}

WORDS: dict[str, str] = {
    "doctor.level.ok": "fine",
    "doctor.level.warn": "note",
    "doctor.level.fail": "does not work",
}
