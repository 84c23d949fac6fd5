"""Words about cards, card types and the inventory file."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "card_type.unknown": (
        'There is no card type called "{asked}".',
        "Nearest names: {nearest}. Write a whole model or a family; parts of a name do not match.",
    ),
    "card_type.ambiguous": ('"{asked}" is a family; one exact model is needed here.', "Choose from: {models}."),
    "inventory.unreadable": (
        "The inventory file cannot be read (line {line}): {detail}.",
        "Mend the YAML; anchors and aliases are not supported.",
    ),
    "inventory.wrong_shape": (
        "{field} has the wrong shape; this is meant: {wanted}.",
        "Compare with the documented example.",
    ),
    "inventory.key_twice": ('{field}: "{key}" stands twice, one of its values would be lost.', "Remove one of them."),
    "inventory.unknown_name": (
        '{field}: neither the file nor the system has a {noun:word.api.noun} "{id}".',
        "Nearest: {nearest}. Correct the name, or declare it in the file.",
    ),
}

WORDS: dict[str, str] = {
    "card.cause.drained": "drained",
    "card.cause.missing": "the card was not there when its machine was looked at",
    "card.cause.not_seen_yet": "declared, not seen yet",
    "card.cause.not_in_inventory": "no longer in the inventory; its running task may finish",
    "card.cause.gpu is lost": "the driver says that the card is lost",
    "card.cause.gpu requires reset": "the driver says that the card needs a reset",
    "card.difference.added": "added",
    "card.difference.changed": "changed",
    "card.difference.removed": "removed",
    "card.difference.drained": "no new tasks",
}
