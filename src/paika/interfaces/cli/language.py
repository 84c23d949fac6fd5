"""Which language the command line speaks, and the words of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import cast

from paika.interfaces.wording.catalogue import Lang, words
from paika.interfaces.wording.say import Speaker

MACHINE_ZONE = cast(tzinfo, None)  # astimezone(None) is the zone of the machine


def chosen_language(environ: Mapping[str, str], args: Sequence[str] = ()) -> Lang:
    """--lang among the arguments, else PAIKA_LANG, else the locale: Chinese where it says so, English otherwise."""
    asked = _asked(args) or environ.get("PAIKA_LANG", "")
    if asked:
        return Lang.ZH if asked.lower().startswith("zh") else Lang.EN
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if locale := environ.get(name, ""):
            return Lang.ZH if locale.lower().startswith("zh") else Lang.EN
    return Lang.EN


def _asked(args: Sequence[str]) -> str:
    """The value of the last --lang before a bare '--'."""
    before = list(args[: args.index("--")] if "--" in args else args)
    said = ""
    for place, arg in enumerate(before):
        if arg == "--lang" and place + 1 < len(before):
            said = before[place + 1]
        elif arg.startswith("--lang="):
            said = arg.partition("=")[2]
    return said


class Tongue:
    """Words in one language: `t` looks a key up and fills its facts in."""

    def __init__(self, lang: Lang) -> None:
        self.lang = lang
        self.speaker = Speaker(lang, MACHINE_ZONE)

    def t(self, key: str, **facts: object) -> str:
        """The word of a key with its facts."""
        return self.speaker.vformat(self.speaker.word(key), (), facts)

    def maybe(self, key: str, otherwise: str = "") -> str:
        """The word of a key, or something else where there is none."""
        return words(self.lang).get(key, otherwise)
