"""Settings."""

MESSAGES: dict[str, tuple[str, str]] = {
    "settings.bad": (
        "The settings cannot be used ({field}): {detail}",
        "Mend the settings file or the environment variable and start again.",
    ),
}

WORDS: dict[str, str] = {}
