"""What a list would bring in: columns, rows, and every problem with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from paika.domain.dataset_form import Mark
from paika.domain.problem import Kind, Problem
from paika.domain.task_draft import TaskDraft


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, the field it fills ('' if it is left out), and the likeliest fields meant then."""

    heading: str
    field: str
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowProblem:
    """What is wrong with a row: its line in the file, the heading of the column ('' for the whole row)."""

    line: int
    column: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class Accepted:
    """A row that may become a task."""

    line: int
    draft: TaskDraft


@dataclass(frozen=True, slots=True)
class DataMark:
    """What a row says of the readiness of its one input."""

    line: int
    dataset: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What would come in. `notes` are rows worth a look that are accepted all the same."""

    columns: tuple[Column, ...]
    rows: int
    accepted: tuple[Accepted, ...]
    problems: tuple[RowProblem, ...]
    notes: tuple[RowProblem, ...] = ()
    marks: tuple[DataMark, ...] = ()
    encoding: str = ""
    header_line: int | None = None

    @property
    def drafts(self) -> tuple[TaskDraft, ...]:
        """The drafts of the accepted rows, in the order of the file."""
        return tuple(row.draft for row in self.accepted)


@dataclass(eq=False)
class NoHeaderRow(Problem):
    """No row has two headings that are known. `looked_at` are the cells of the first row, `known` some headings."""

    code: ClassVar[str] = "import.no_header"
    kind: ClassVar[Kind] = Kind.INVALID
    looked_at: tuple[str, ...]
    known: tuple[str, ...]


@dataclass(eq=False)
class SpareCells(Problem):
    """The row has more cells than there are headings: mostly an unquoted separator. `value` is the first."""

    code: ClassVar[str] = "import.spare_cells"
    kind: ClassVar[Kind] = Kind.INVALID
    value: str


@dataclass(eq=False)
class DuplicateRow(Problem):
    """The very same task stands in an earlier line."""

    code: ClassVar[str] = "import.duplicate_row"
    kind: ClassVar[Kind] = Kind.INVALID
    name: str
    first_line: int


@dataclass(eq=False)
class SameName(Problem):
    """Another task of this name stands in an earlier line (0: waits or runs already); only a note."""

    code: ClassVar[str] = "import.same_name"
    kind: ClassVar[Kind] = Kind.INVALID
    name: str
    first_line: int


@dataclass(eq=False)
class ParentRowBad(Problem):
    """The task waits for a task of this list whose row is refused."""

    code: ClassVar[str] = "import.parent_row_bad"
    kind: ClassVar[Kind] = Kind.INVALID
    parent: str
    parent_line: int


@dataclass(eq=False)
class ReadinessOfWhat(Problem):
    """The row tells a readiness but names no input, or several."""

    code: ClassVar[str] = "import.readiness_of_what"
    kind: ClassVar[Kind] = Kind.INVALID
    inputs: tuple[str, ...]


@dataclass(eq=False)
class ReadinessDiffers(Problem):
    """An earlier line tells another readiness of the same dataset."""

    code: ClassVar[str] = "import.readiness_differs"
    kind: ClassVar[Kind] = Kind.INVALID
    dataset: str
    first_line: int
