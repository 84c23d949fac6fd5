"""Names for ids: a reason as people read it says the names of people, teams, tasks and datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from paika.domain.reason import Holder, Reason
from paika.domain.records import Records

_SHELF = {
    "by": "people",
    "person": "people",
    "owes": "people",
    "team": "teams",
    "parent": "tasks",
    "tasks": "tasks",
    "wanted_by": "tasks",
    "dataset": "datasets",
}


def named(reason: Reason, records: Records) -> Reason:
    """The reason with names where its fields hold ids; an id without a noun stays."""
    changed: dict[str, Any] = {}
    for name in (field.name for field in fields(reason)):
        value = getattr(reason, name)
        if name == "holders":
            changed[name] = tuple(_holder(holder, records) for holder in value)
        elif shelf := _SHELF.get(name):
            nouns = getattr(records, shelf)
            changed[name] = (
                tuple(_name(nouns, key) for key in value) if isinstance(value, tuple) else _name(nouns, value)
            )
    return replace(reason, **changed)


def dataset_names(records: Records, keys: str) -> str:
    """Names of datasets for ids written with commas."""
    return ", ".join(_name(records.datasets, key) for key in keys.split(", "))


def _holder(holder: Holder, records: Records) -> Holder:
    task = _name(records.tasks, holder.task) if holder.task else holder.task
    return replace(holder, task=task, owner=_name(records.people, holder.owner))


def _name(nouns: Mapping[str, Any], key: str) -> str:
    known = nouns.get(key)
    return known.name if known is not None else key
