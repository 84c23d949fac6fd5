"""Task lists in YAML: every scalar stays the text that was written, so that this door reads as all others do.

    defaults: {team: vision, cards: 1}     # optional
    tasks:
      - {name: prep, command: python prep.py}
      - {name: train, command: [torchrun, train.py], cards: 8, after: [prep]}

A plain list of tasks will do too.
"""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from paika.ports.table import TableTooBig, UnreadableTable

MAX_BYTES = 1024 * 1024
MAX_TASKS = 10_000


class _Loader(yaml.SafeLoader):
    """No numbers, dates or truth values are guessed, no key stands twice, and nothing refers to anything."""

    yaml_implicit_resolvers: dict[str, list[object]] = {}  # noqa: RUF012 - the class attribute PyYAML reads

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "no aliases", self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        return super().compose_node(parent, index)


def read_task_list_yaml(data: bytes, filename: str = "") -> tuple[tuple[int, Mapping[str, object]], ...]:
    """(line, fields as written) of each task. Raises UnreadableTable, TableTooBig."""
    if len(data) > MAX_BYTES:
        raise TableTooBig("file", filename, "bytes", len(data), MAX_BYTES)
    try:
        root = yaml.compose(data.decode("utf-8-sig"), Loader=_Loader)
        return _tasks(root, filename)
    except UnicodeDecodeError:
        raise UnreadableTable("file", filename, "encoding") from None
    except RecursionError:
        raise UnreadableTable("file", filename, "shape") from None
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else None
        raise UnreadableTable("file", filename, "yaml", line) from None
    except yaml.YAMLError:
        raise UnreadableTable("file", filename, "yaml") from None


def _tasks(root: yaml.Node | None, filename: str) -> tuple[tuple[int, Mapping[str, object]], ...]:
    defaults: dict[str, object] = {}
    nodes = root
    if isinstance(root, yaml.MappingNode):
        top = {key.value: node for key, node in root.value}
        if set(top) - {"tasks", "defaults"} or "tasks" not in top:
            raise UnreadableTable("file", filename, "shape", _line(root))
        nodes = top["tasks"]
        defaults = _mapping(top["defaults"], filename) if "defaults" in top else {}
    if not isinstance(nodes, yaml.SequenceNode):
        raise UnreadableTable("file", filename, "empty" if nodes is None else "shape", _line(nodes))
    if len(nodes.value) > MAX_TASKS:
        raise TableTooBig("file", filename, "rows", len(nodes.value), MAX_TASKS)
    if not nodes.value:
        raise UnreadableTable("file", filename, "empty", _line(nodes))
    return tuple((_line(node) or 1, {**defaults, **_mapping(node, filename)}) for node in nodes.value)


def _line(node: yaml.Node | None) -> int | None:
    return None if node is None else node.start_mark.line + 1


def _mapping(node: yaml.Node, filename: str) -> dict[str, object]:
    value = _value(node, filename)
    if not isinstance(value, dict):
        raise UnreadableTable("file", filename, "shape", _line(node))
    return value


def _value(node: yaml.Node, filename: str) -> object:
    if isinstance(node, yaml.ScalarNode):
        plain_null = node.style is None and node.value in ("", "~", "null", "Null", "NULL")
        return None if plain_null else str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_value(one, filename) for one in node.value]
    read: dict[str, object] = {}
    for key, one in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in read:
            raise UnreadableTable("file", filename, "shape", _line(key))
        read[key.value] = _value(one, filename)
    return read
