"""What people write that is no number: text, names, yes and no, command lines.

The same reading at every door; see quantity.py for numbers.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, TypeVar

from paika.domain.problem import BadValue
from paika.domain.quantity import FULL_WIDTH, INVISIBLE_EDGES, given, number, shown, tidy

T = TypeVar("T")

_FLAGS = {
    **dict.fromkeys(("true", "yes", "y", "on", "1", "是", "对", "可以"), True),
    **dict.fromkeys(("false", "no", "n", "off", "0", "否", "不", "不可以"), False),
}
_SHELL_OPERATORS = frozenset("|&;<>\n")
_SPLIT_NAMES = re.compile(r"[,;、\n]")


@dataclass(eq=False)
class ShellWord(BadValue):
    """A command line that only a shell would understand; `value` is the operator. Commands run without one."""

    code: ClassVar[str] = "value.shell_word"


ALLOWED_FLAG = "true/false, yes/no, 是/否"


def flag(field: str, value: object) -> bool:
    """A yes or no."""
    if isinstance(value, bool):
        return value
    read = number(value)
    key = str(int(read)) if read is not None and read in (0, 1) else tidy(str(value)).lower()
    if not isinstance(value, str | int | float) or key not in _FLAGS:
        raise BadValue(field=field, value=shown(value), allowed=ALLOWED_FLAG)
    return _FLAGS[key]


def choice(field: str, value: object, choices: Mapping[str, T], allowed: str) -> T:
    """One of the words in `choices` (lower case), whatever its case."""
    key = tidy(value).lower() if isinstance(value, str) else ""
    if key not in choices:
        raise BadValue(field=field, value=shown(value), allowed=allowed)
    return choices[key]


def allowed_text(longest: int, lines: bool) -> str:
    """Range text of `text`."""
    return f"1..{longest} characters" + ("" if lines else ", one line")


def text(field: str, value: object, longest: int, *, lines: bool = False) -> str:
    """Text without blanks around it; one line unless `lines`. Numbers and dates of cells become text."""
    as_written = value
    if isinstance(value, int | float) and not isinstance(value, bool):
        read = number(value)
        as_written = shown(int(read) if read is not None and abs(read) < 10**15 and read % 1 == 0 else value)
        as_written = None if read is None else as_written
    elif isinstance(value, date):
        as_written = value.isoformat()
    if isinstance(as_written, str):
        clean = as_written.replace("\r\n", "\n").strip().strip(INVISIBLE_EDGES).strip()
        if 0 < len(clean) <= longest and _printable(clean, lines):
            return clean
    raise BadValue(field=field, value=shown(value), allowed=allowed_text(longest, lines))


def _printable(clean: str, lines: bool) -> bool:
    kept = "\n\t" if lines else ""
    return not any((ch < " " and ch not in kept) or "\ud800" <= ch <= "\udfff" or ch == "\x7f" for ch in clean)


def allowed_names(most: int, longest: int) -> str:
    """Range text of `names`."""
    return f"1..{most} names, each 1..{longest} characters, separated by commas"


def names(field: str, value: object, most: int, longest: int) -> tuple[str, ...]:
    """Names from a list, or from text with commas, semicolons, 、 or line breaks; doubles fall away."""
    if isinstance(value, str):
        value = _SPLIT_NAMES.split(value.translate(FULL_WIDTH))
    if not isinstance(value, list | tuple):
        value = [value]
    try:
        read = dict.fromkeys(text(field, part, longest) for part in value if given(part))
    except BadValue as bad:
        raise BadValue(field=field, value=bad.value, allowed=allowed_names(most, longest)) from None
    if len(read) > most:
        raise BadValue(field=field, value=str(len(read)), allowed=allowed_names(most, longest))
    return tuple(read)


ALLOWED_ARGV = "a list of words, or one line split into words by quotes and blanks, without a shell"


def argv(field: str, value: object, longest: int = 32768) -> tuple[str, ...]:
    """A program and its arguments, from a list, or from one line split as shlex does. No shell is run:

    `$HOME`, `~` and `*` stay as written, and a line with pipes, redirections or several commands raises ShellWord.
    """
    parts: list[object] = []
    if isinstance(value, str):
        parts = list(_words(field, value.strip()))
    elif isinstance(value, list | tuple):
        parts = list(value)
    good = [part for part in parts if isinstance(part, str) and "\0" not in part and _encodes(part)]
    if not good or len(good) != len(parts) or not good[0].strip() or sum(map(len, good)) > longest:
        raise BadValue(field=field, value=shown(value), allowed=ALLOWED_ARGV)
    return tuple(good)


def _encodes(part: str) -> bool:
    return not any("\ud800" <= ch <= "\udfff" for ch in part)


def _words(field: str, line: str) -> list[str]:
    if odd := _unquoted_operator(line):
        raise ShellWord(field=field, value=shown(odd), allowed=ALLOWED_ARGV)
    try:
        return shlex.split(line)
    except ValueError:
        raise BadValue(field=field, value=shown(line), allowed=ALLOWED_ARGV) from None


def _unquoted_operator(line: str) -> str:
    """The first character outside quotes that a shell would act on as an operator, else ''."""
    quote, escaped = "", False
    for ch in line:
        if escaped:
            escaped = False
        elif ch == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if ch == quote else quote
        elif ch in "'\"":
            quote = ch
        elif ch in _SHELL_OPERATORS:
            return ch
    return ""
