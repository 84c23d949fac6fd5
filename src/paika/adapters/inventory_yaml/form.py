"""Reading one mapping of the inventory: each key by name, each fault kept, nothing passed over."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import TypeVar

from paika.adapters.inventory_yaml.tree import Tree
from paika.domain.instant import instant
from paika.domain.inventory import WrongShape
from paika.domain.problem import BadValue, FieldMissing, Problem, UnknownField
from paika.domain.quantity import memory_mib, number, shown, whole

T = TypeVar("T")

NAME_LONGEST = 200
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
UUID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


@dataclass(slots=True)
class Faults:
    """All that is wrong with one file."""

    tree: Tree
    zone: str
    found: list[Problem] = field(default_factory=list)

    def guard(self, read: Callable[[], T], instead: T) -> T:
        """What `read` gives, or `instead` with the problem kept."""
        try:
            return read()
        except Problem as problem:
            self.found.append(problem)
            return instead


@dataclass(slots=True)
class Form:
    """One mapping at `path`; `keys` are those it may have."""

    faults: Faults
    path: str
    values: Mapping[str, object]

    def where(self, key: str) -> str:
        """The key's path with its line."""
        return self.faults.tree.where(f"{self.path}.{key}" if self.path else key)

    def only(self, *keys: str) -> Form:
        """Refuse keys of other names, with the nearest real ones."""
        for key in self.values:
            if key not in keys:
                near = tuple(get_close_matches(key.lower(), keys, n=3, cutoff=0.5)) or keys
                self.faults.found.append(UnknownField(field=self.where(key), nearest=near))
        return self

    def given(self, key: str) -> bool:
        """Whether a value stands there; an empty one does not count."""
        return self.values.get(key) is not None

    def text(self, key: str, default: str = "") -> str:
        """A line of up to 200 characters."""
        value = self.values.get(key)
        if value is None:
            return default
        if isinstance(value, dict | list):
            return self._wrong(key, "text", default)
        text = self._written(key).strip()
        if len(text) > NAME_LONGEST or "\n" in text:
            allowed = f"1..{NAME_LONGEST} characters, one line"
            self.faults.found.append(BadValue(field=self.where(key), value=shown(text), allowed=allowed))
        return text

    def name(self, key: str, pattern: re.Pattern[str], *, needed: bool = True) -> str:
        """An id of the pattern; "" when it is missing or wrong."""
        text = self.text(key)
        if not text:
            if needed:
                self.faults.found.append(FieldMissing(field=self.where(key)))
        elif not pattern.fullmatch(text):
            self.faults.found.append(BadValue(field=self.where(key), value=shown(text), allowed=pattern.pattern))
            return ""
        return text

    def flag(self, key: str) -> bool:
        """True or false; false when nothing is said."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.faults.found.append(BadValue(field=self.where(key), value=shown(value), allowed="true, false"))
        return False

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int | None:
        """A whole number of the range."""
        if not self.given(key):
            return default
        return self.faults.guard(lambda: whole(self.where(key), self.values[key], low, high), default)

    def decimal(self, key: str, low: float, high: float, default: float | None = None) -> float | None:
        """A number of the range."""
        if not self.given(key):
            return default
        read = number(self.values[key])
        if read is None or not low <= read <= high:
            value = shown(self.values[key])
            self.faults.found.append(BadValue(field=self.where(key), value=value, allowed=f"{low}..{high}"))
            return default
        return float(read)

    def memory(self, key: str, default: int | None = None) -> int | None:
        """VRAM in MiB; a unit must stand there."""
        if not self.given(key):
            return default
        return self.faults.guard(lambda: memory_mib(self.where(key), self.values[key], 1, 16 * 1024 * 1024), default)

    def lease(self, key: str) -> datetime | None:
        """When a lease ends; a date alone means the end of that day."""
        if not self.given(key):
            return None
        value = self.values[key]
        return self.faults.guard(lambda: instant(self.where(key), value, self.faults.zone, day_end=True), None)

    def names(self, key: str) -> tuple[str, ...]:
        """A list of names, or one name."""
        value = self.values.get(key)
        if value is None:
            return ()
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, dict | list) or item is None for item in items):
            return self._wrong(key, "list", ())
        if not isinstance(value, list):
            return (self._written(key).strip(),)
        return tuple(self._written(f"{key}[{n}]").strip() for n in range(len(items)))

    def forms(self, key: str) -> list[Form]:
        """The mappings of a list, or the one mapping that stands instead of it."""
        value = self.values.get(key)
        if value is None:
            return []
        inner = f"{self.path}.{key}" if self.path else key
        if isinstance(value, dict):
            return [Form(self.faults, inner, value)]
        if not isinstance(value, list):
            return self._wrong(key, "list", [])
        forms = [Form(self.faults, f"{inner}[{n}]", one) for n, one in enumerate(value) if isinstance(one, dict)]
        if len(forms) < len(value):
            self._wrong(key, "list of mappings", None)
        return forms

    def _written(self, key: str) -> str:
        return self.faults.tree.written.get(f"{self.path}.{key}" if self.path else key, "")

    def _wrong(self, key: str, wanted: str, instead: T) -> T:
        self.faults.found.append(WrongShape(field=self.where(key), wanted=wanted))
        return instead
