"""The tables: a body in JSON, and beside it the columns that queries need. Times are microseconds since 1970, UTC."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Dialect, Index, MetaData, String, Table, Text
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.types import TypeDecorator, TypeEngine

from paika.domain.units import EPOCH

_AWKWARD = re.compile(r"[\\\x00\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")
_BOUNDED = ("mysql", "mariadb")
_BYTE_ORDER = {"postgresql": "C", "mysql": "utf8mb4_bin", "mariadb": "utf8mb4_bin"}


class Exact(TypeDecorator[str]):
    """Text that compares by code point and comes back unchanged, NUL and lone surrogates included."""

    impl = String
    cache_ok = True

    def __init__(self, size: int) -> None:
        """`size` in characters bounds the column only where a key must be bounded."""
        super().__init__(size)
        self.size = size

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The column type with a collation that neither folds case nor ignores blanks."""
        size = self.size if dialect.name in _BOUNDED else None
        return dialect.type_descriptor(String(size, _BYTE_ORDER.get(dialect.name)))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape what some database refuses."""
        return value if value is None else exact(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Undo the escapes."""
        if value is None or "\\" not in value:
            return value
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)


def exact(text: str) -> str:
    """The text with backslashes, NUL and lone surrogates as \\uXXXX."""
    return _AWKWARD.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def micros(at: datetime | None) -> int | None:
    """Whole microseconds since 1970 in UTC; None stays None."""
    return None if at is None else (at - EPOCH) // timedelta(microseconds=1)


def moment(at_us: int) -> datetime:
    """The aware UTC time of so many microseconds since 1970."""
    return EPOCH + timedelta(microseconds=at_us)


METADATA = MetaData()
_LONG = Text().with_variant(LONGTEXT(), "mysql", "mariadb")


def _table(name: str, *parts: Column[Any] | Index) -> Table:
    return Table(f"paika_{name}", METADATA, *parts, mysql_charset="utf8mb4", mysql_engine="InnoDB")


def _text(name: str, size: int = 191, **options: Any) -> Column[str]:
    return Column(name, Exact(size), nullable=False, **options)


def _body() -> Column[str]:
    return Column("body", _LONG, nullable=False)


def _line_number() -> Column[int]:
    return Column("seq", BigInteger, primary_key=True, autoincrement=False)


def _at() -> Column[int]:
    return Column("at_us", BigInteger, nullable=False, index=True)


META = _table("meta", _text("name", 32, primary_key=True), Column("value", BigInteger, nullable=False))
COUNTERS = _table("counters", _text("noun", 64, primary_key=True), Column("last", BigInteger, nullable=False))
NOUNS = _table(
    "nouns",
    _text("kind", 32, primary_key=True),
    _text("id", primary_key=True),
    Column("version", BigInteger, nullable=False),
    _body(),
)
TASKS = _table(
    "tasks",
    _text("id", primary_key=True),
    Column("version", BigInteger, nullable=False),
    _text("state", 16),
    Column("is_open", Boolean, nullable=False),
    _text("tier", 16),
    _text("team"),
    _text("owner"),
    Column("ended_us", BigInteger),
    Column("search", _LONG, nullable=False),
    _body(),
    Index("paika_tasks_by_end", "is_open", "ended_us", "id"),
    Index("paika_tasks_by_team", "team", "ended_us"),
    Index("paika_tasks_by_owner", "owner", "ended_us"),
)
RUNS = _table(
    "runs",
    _text("id", primary_key=True),
    Column("version", BigInteger, nullable=False),
    _text("task", index=True),
    Column("attempt", BigInteger, nullable=False),
    _text("state", 16),
    Column("is_open", Boolean, nullable=False, index=True),
    _text("team"),
    Column("ended_us", BigInteger),
    _body(),
)
LEDGER = _table(
    "ledger",
    _line_number(),
    _text("kind", 16),
    _at(),
    _text("run", index=True),
    _text("task", index=True),
    _text("team", index=True),
    _text("person", index=True),
    _text("card_type"),
    Column("parts", BigInteger, nullable=False),
    Column("card_seconds", BigInteger, nullable=False),
    _text("cause"),
)
AUDIT = _table(
    "audit",
    _line_number(),
    _at(),
    _text("noun", 64),
    _text("subject", index=True),
    _text("person", index=True),
    _body(),
)
REASONS = _table("reasons", _line_number(), _text("task", index=True), _body())
OUTCOMES = _table("outcomes", _line_number(), _body())
DATASETS = _table("dataset_history", _line_number(), _text("dataset", index=True), _body())
MATCHES = _table("matches", _line_number(), _text("task_kind", index=True), _body())
RECEIPTS = _table("receipts", _text("person", primary_key=True), _text("key", primary_key=True), _body())
LINES = (LEDGER, AUDIT, REASONS, OUTCOMES, DATASETS, MATCHES)
