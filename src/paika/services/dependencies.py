"""Dependencies as people write them become links to tasks; rings and dead ends are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from paika.domain.problem import Kind, Problem
from paika.domain.task import Dependency, DependencyDead, DependencyLoop, Task
from paika.domain.task_draft import AfterDraft
from paika.services.editing import UnknownNoun, nearest

Find = Callable[[str], Task | None]  # a task by id, open or ended


@dataclass(eq=False)
class ParentAmbiguous(Problem):
    """Several tasks of the batch have the name by which a parent is meant."""

    code: ClassVar[str] = "task.parent_ambiguous"
    kind: ClassVar[Kind] = Kind.INVALID
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks that come in together: their new ids by name, in order."""

    ids: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, names: Sequence[str], ids: Sequence[str]) -> Batch:
        """Names and ids of the same tasks, side by side."""
        by_name: dict[str, tuple[str, ...]] = {}
        for name, key in zip(names, ids, strict=True):
            by_name[name] = (*by_name.get(name, ()), key)
        return cls(by_name)


NO_BATCH = Batch({})


def link(asked: Iterable[AfterDraft], batch: Batch, find: Find, known: Iterable[str]) -> tuple[Dependency, ...]:
    """Each parent by its name in the batch, else by its id; the outcome of one that has ended is filled in.

    Raises UnknownNoun (the nearest of `known` ids), ParentAmbiguous, DependencyDead.
    """
    links = {}
    for parent in asked:
        dependency = _link(parent, batch, find, known)
        links[dependency.task, dependency.when] = dependency
    return tuple(links.values())


def refuse_loops(edges: Mapping[str, Sequence[str]], names: Mapping[str, str] | None = None) -> None:
    """Raises DependencyLoop for the first ring in child id -> parent ids, with `names` instead of ids if given."""
    told = names or {}
    done: set[str] = set()
    for start in edges:
        ring = _ring(edges, start, done)
        if ring:
            raise DependencyLoop(field="after", loop=tuple(told.get(key, key) for key in ring))


def _link(asked: AfterDraft, batch: Batch, find: Find, known: Iterable[str]) -> Dependency:
    inside = batch.ids.get(asked.task, ())
    if len(inside) > 1:
        raise ParentAmbiguous(field="after", name=asked.task, count=len(inside))
    if inside:
        return Dependency(inside[0], asked.when)
    parent = find(asked.task)
    if parent is None:
        raise UnknownNoun(
            field="after", noun="task", asked=asked.task, nearest=nearest(asked.task, (*batch.ids, *known))
        )
    dependency = Dependency(parent.id, asked.when, parent.state if parent.ended else None)
    if dependency.dead:
        raise DependencyDead(field="after", parent=parent.id, outcome=parent.state.value, when=asked.when.value)
    return dependency


def _ring(edges: Mapping[str, Sequence[str]], start: str, done: set[str]) -> tuple[str, ...]:
    """A ring reached from `start`, its first member again at the end; () if there is none."""
    path: list[str] = []
    on_path: set[str] = set()
    todo: list[tuple[str, bool]] = [(start, False)]
    while todo:
        key, leaving = todo.pop()
        if leaving:
            path.pop()
            on_path.discard(key)
            done.add(key)
        elif key in on_path:
            return (*path[path.index(key) :], key)
        elif key not in done:
            path.append(key)
            on_path.add(key)
            todo.append((key, True))
            todo.extend((parent, False) for parent in reversed(edges.get(key, ())))
    return ()
