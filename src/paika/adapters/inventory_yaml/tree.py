"""YAML text as plain values that still know on which line they stand.

Only what the safe loader builds is accepted. Aliases are refused (a few of them can unfold to
gigabytes), and so are keys that stand twice, of which the loader would silently keep the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from paika.domain.inventory import KeyTwice, UnreadableInventory
from paika.domain.problem import Problem

LONGEST_BYTES = 4 * 1024 * 1024
DEEPEST = 12
_PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(slots=True)
class Tree:
    """`value` is built of dicts (with text keys), lists and plain values; `lines` tells where each path stands.

    `written` has the plain values as they were written, for names such as 007 or on that YAML takes for others.
    """

    value: object = None
    lines: dict[str, int] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def where(self, path: str) -> str:
        """The path with its line, such as 'nodes[2].lease_ends@14'; a missing value goes by what should hold it."""
        holder = path
        while holder and holder not in self.lines:
            holder = holder[: max(holder.rfind("."), holder.rfind("["), 0)]
        return f"{path}@{self.lines[holder]}" if holder else path


def read_tree(text: str) -> Tree:
    """Parse the one document of `text`. Raises UnreadableInventory when it is no YAML."""
    if len(text.encode("utf-8", "replace")) > LONGEST_BYTES:
        raise UnreadableInventory(field=None, line=None, detail=f"> {LONGEST_BYTES} bytes")
    try:
        _must_be_tame(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        detail = str(getattr(error, "problem", None) or type(error).__name__)
        raise UnreadableInventory(field=None, line=_line(mark), detail=detail) from None
    tree = Tree()
    tree.value = _plain(root, "", tree) if root is not None else None
    return tree


def _must_be_tame(text: str) -> None:
    """No aliases and no endless nesting, found before anything is built."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise UnreadableInventory(field=None, line=_line(event.start_mark), detail=f"*{event.anchor}")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise UnreadableInventory(field=None, line=_line(event.start_mark), detail="nested too deep")


def _line(mark: Any) -> int | None:
    return mark.line + 1 if mark is not None else None


def _plain(node: Node, path: str, tree: Tree) -> object:
    line = node.start_mark.line + 1
    tree.lines.setdefault(path, line)
    if not isinstance(node, ScalarNode) and node.tag not in _PLAIN_TAGS:
        raise UnreadableInventory(field=path, line=line, detail=node.tag[:80])
    if isinstance(node, MappingNode):
        return dict(_entries(node, path, tree))
    if isinstance(node, SequenceNode):
        return [_plain(one, f"{path}[{n}]", tree) for n, one in enumerate(node.value)]
    tree.written[path] = str(node.value)
    return _scalar(node, path, line)


def _entries(node: MappingNode, path: str, tree: Tree) -> Iterator[tuple[str, object]]:
    seen: set[str] = set()
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, ScalarNode):
            raise UnreadableInventory(field=path, line=line, detail="a key must be plain text")
        key = str(key_node.value)
        inner = f"{path}.{key}" if path else key
        tree.lines[inner] = line
        if key in seen:
            tree.problems.append(KeyTwice(field=tree.where(inner), key=key))
        seen.add(key)
        yield key, _plain(value_node, inner, tree)


def _scalar(node: Node, path: str, line: int) -> object:
    try:
        return SafeConstructor().construct_object(node)
    except (ValueError, OverflowError):
        return str(node.value)  # such as 2027-02-30: whoever wants a date there says what is wrong with it
    except yaml.YAMLError:
        raise UnreadableInventory(field=path, line=line, detail=str(node.value)[:80]) from None
