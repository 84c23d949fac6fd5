"""The catalogue: code -> message and hint, key -> word, for each language.

Modules below `zh` and `en` each bring MESSAGES (code -> (message, hint)) and WORDS (key -> text);
here they become one mapping a language. A key that two modules bring is a fault and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules


class Lang(StrEnum):
    """Languages of the house."""

    ZH = "zh"
    EN = "en"


def _merged(lang: Lang, part: str) -> dict[str, object]:
    package = import_module(f"paika.interfaces.wording.{lang.value}")
    merged: dict[str, object] = {}
    for module in sorted(m.name for m in iter_modules(package.__path__)):
        for key, text in getattr(import_module(f"{package.__name__}.{module}"), part, {}).items():
            if key in merged:
                raise ValueError(f"{lang}: {key} stands twice")
            merged[key] = text
    return merged


@cache
def messages(lang: Lang) -> Mapping[str, tuple[str, str]]:
    """Code -> (message, hint) of reasons, problems and notices."""
    return {code: (text[0], text[1]) for code, text in _merged(lang, "MESSAGES").items()}  # type: ignore[index]


@cache
def words(lang: Lang) -> Mapping[str, str]:
    """Key -> text of pages and command line."""
    return {key: str(text) for key, text in _merged(lang, "WORDS").items()}
