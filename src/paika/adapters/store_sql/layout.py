"""The layout of the tables has a number; an older one is brought up step by step, a newer one is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, insert, inspect, select, update

from paika.adapters.store_sql.tables import META, METADATA, OUTCOMES
from paika.ports.store import StoreNewer


def _first(connection: Connection) -> None:
    METADATA.create_all(connection)
    connection.execute(insert(META), [{"name": "layout", "value": 0}, {"name": "version", "value": 0}])


def _outcomes(connection: Connection) -> None:
    METADATA.create_all(connection, tables=[OUTCOMES])


STEPS: Mapping[int, Callable[[Connection], None]] = {1: _first, 2: _outcomes}
LAYOUT = max(STEPS)


def bring_up(connection: Connection) -> None:
    """Make the tables what this version expects. Raises StoreNewer and touches nothing if they are newer."""
    layout = _layout(connection)
    if layout > LAYOUT:
        raise StoreNewer(field="database", layout=layout, known=LAYOUT)
    for number in range(layout + 1, LAYOUT + 1):
        STEPS[number](connection)
        connection.execute(update(META).where(META.c.name == "layout").values(value=number))


def _layout(connection: Connection) -> int:
    if not inspect(connection).has_table(META.name):
        return 0
    return int(connection.scalar(select(META.c.value).where(META.c.name == "layout")) or 0)
