"""Lists of tasks come in: a table or a YAML list becomes drafts, row by row.

One bad row costs one row, and is named with line, column and value. Nothing is saved here: a preview
is all there is until somebody hands `import_tasks` the way to submit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from paika.domain.dataset_form import READINESSES, mark_of, mark_rule
from paika.domain.form import FieldKind, Form, FormField, Match, read_cells
from paika.domain.problem import Kind, Problem, Several, UnknownField
from paika.domain.quantity import given, shown
from paika.domain.task import DependencyLoop
from paika.domain.task_draft import TaskDraft
from paika.domain.task_form import FORM, draft_of
from paika.ports.table import Table
from paika.services.import_report import (
    Accepted,
    Column,
    DataMark,
    DuplicateRow,
    ImportReport,
    NoHeaderRow,
    ParentRowBad,
    ReadinessDiffers,
    ReadinessOfWhat,
    RowProblem,
    SameName,
    SpareCells,
)

S = TypeVar("S")
HEADER_ROWS = 30  # rows in which the headings are looked for; labs put titles and remarks above them
HEADER_CELLS = 2
_NUMBERED = re.compile(r"tasks\[([0-9]+)\]\.?(.*)")

DATA_FORM = Form(
    (
        FormField("data_readiness", FieldKind.CHOICE, ("数据状态", "就绪状态"), choices=READINESSES),
        FormField(
            "data_percent", FieldKind.PROGRESS, ("就绪度", "数据就绪度", "就绪率", "数据进度", "readiness"), 0, 100
        ),
        FormField("data_eta", FieldKind.DEADLINE, ("预计就绪", "预计就绪时间", "数据到位时间", "预计到位时间")),
        FormField("data_owner", FieldKind.TEXT, ("数据负责人", "备数人"), high=80),
    )
)
_MARK_KEYS = {"data_readiness": "readiness", "data_percent": "percent", "data_eta": "eta", "data_owner": "owner"}


Check = Callable[[Sequence[TaskDraft]], object]  # raises as submit_tasks does, writes nothing


def preview_import(table: Table, zone: str, check: Check | None = None, open_names: Iterable[str] = ()) -> ImportReport:
    """What of a table may come in. Raises NoHeaderRow.

    `zone` is the IANA name of naive times; `check` judges all drafts together as the submit would;
    `open_names` are names of tasks that wait or run, to point out what may have come in before.
    """
    header_line, headings, rows = _with_header(table)
    columns, matches = _columns(headings)
    reader = _Reader(zone, set(open_names))
    for line, cells in rows:
        reader.row(line, [(name, found, cells[at]) for at, name, found in matches if at < len(cells)], columns, cells)
    return _settled(reader.report(columns, table.encoding, header_line), check)


def preview_rows(
    rows: Iterable[tuple[int, Mapping[str, object]]],
    zone: str,
    check: Check | None = None,
    open_names: Iterable[str] = (),
) -> ImportReport:
    """The same for (line, fields as written), as a YAML list gives them. An unknown field costs its row."""
    reader = _Reader(zone, set(open_names))
    headings: dict[str, Column] = {}
    for line, raw in rows:
        cells, unknown = [], []
        for name, value in raw.items():
            found = FORM.match(name) or DATA_FORM.match(name)
            headings.setdefault(name, Column(shown(name), found.field.key if found else "", ()))
            if found:
                cells.append((name, found, value))
            else:
                unknown.append(RowProblem(line, shown(name), UnknownField(shown(name), FORM.nearest(name))))
        reader.row(line, cells, tuple(headings.values()), (), unknown)
    return _settled(reader.report(tuple(headings.values()), "utf-8", None), check)


def import_tasks(report: ImportReport, submit: Callable[[Sequence[TaskDraft]], S]) -> S | None:
    """Hand the accepted drafts to `submit`, all or none; None if no row was accepted."""
    return submit(report.drafts) if report.accepted else None


# -- headings --------------------------------------------------------------------------------------


def _known(cell: object) -> Match | None:
    return FORM.match(str(cell)) or DATA_FORM.match(str(cell)) if given(cell) else None


def _with_header(table: Table) -> tuple[int | None, tuple[str, ...], list[tuple[int, tuple[object, ...]]]]:
    """Line of the heading row (None: the first), its cells, and the rows below it."""
    rows: list[tuple[int | None, tuple[object, ...]]] = [(None, table.headers)]
    rows += zip(table.lines, table.rows, strict=True)
    for at, (line, cells) in enumerate(rows[:HEADER_ROWS]):
        fields = {found.field.key for cell in cells if (found := _known(cell))}
        if len(fields) >= HEADER_CELLS:
            below = [(row_line or 0, row) for row_line, row in rows[at + 1 :]]
            return line, tuple("" if cell is None else str(cell) for cell in cells), below
    looked_at = tuple(shown(cell) for cell in table.headers[:8])
    raise NoHeaderRow(field="file", looked_at=looked_at, known=tuple(f.aliases[0] for f in FORM.fields[:8]))


def _columns(headings: tuple[str, ...]) -> tuple[tuple[Column, ...], list[tuple[int, str, Match]]]:
    """All columns as shown, and those that are read; a second column for one field is left out."""
    columns: list[Column] = []
    read: list[tuple[int, str, Match]] = []
    taken: set[str] = set()
    for at, name in enumerate(headings):
        found = _known(name)
        if found and found.field.key not in taken:
            taken.add(found.field.key)
            read.append((at, name, found))
            columns.append(Column(shown(name), found.field.key))
        else:
            near = (found.field.key,) if found else FORM.nearest(name) if given(name) else ()
            columns.append(Column(shown(name), "", near))
    return tuple(columns), read


# -- rows ------------------------------------------------------------------------------------------


class _Reader:
    """Reads row by row and remembers names, doubles and what was said of datasets."""

    def __init__(self, zone: str, open_names: set[str]) -> None:
        self._zone, self._open = zone, open_names
        self.rows = 0
        self.accepted: list[Accepted] = []
        self.problems: list[RowProblem] = []
        self.notes: list[RowProblem] = []
        self.marks: dict[str, DataMark] = {}
        self._seen: dict[TaskDraft, int] = {}
        self._lines: dict[str, int] = {}
        self.bad_names: dict[str, int] = {}

    def row(
        self,
        line: int,
        cells: Sequence[tuple[str, Match, object]],
        columns: Sequence[Column],
        all_cells: Sequence[object],
        unknown: Sequence[RowProblem] = (),
    ) -> None:
        """Read one row: (heading, its match, value) triples."""
        if not any(given(value) for _, _, value in cells) and not unknown:
            return
        self.rows += 1
        headings = {found.field.key: shown(name) for name, found, _ in cells}
        bad = [*unknown, *self._spare(line, columns, all_cells)]
        task_cells = [cell for cell in cells if cell[1].field.key in FORM.by_key]
        data_cells = [cell for cell in cells if cell[1].field.key in DATA_FORM.by_key]
        values, problems = read_cells(task_cells, self._zone)
        data, data_problems = read_cells(data_cells, self._zone)
        draft = None
        try:
            draft = draft_of(values, problems)
        except Several as several:
            problems = several.problems
        mark_problems = () if data_problems or draft is None else self._mark_problems(line, draft, data)
        bad += [
            RowProblem(line, headings.get(problem.field or "", ""), problem)
            for problem in (*problems, *data_problems, *mark_problems)
        ]
        if draft is not None and not bad and (double := self._seen.get(draft)):
            bad.append(RowProblem(line, "", DuplicateRow("name", draft.name, double)))
        if draft is None or bad:
            self.problems += bad
            self.bad_names.setdefault(str(values.get("name", "")), line)
        else:
            self._accept(line, draft, data)

    def _spare(self, line: int, columns: Sequence[Column], cells: Sequence[object]) -> list[RowProblem]:
        spare = next((cell for cell in cells[len(columns) :] if given(cell)), None)
        return [] if spare is None else [RowProblem(line, "", SpareCells(None, shown(spare)))]

    def _mark_problems(self, line: int, draft: TaskDraft, data: Mapping[str, object]) -> tuple[Problem, ...]:
        if not data:
            return ()
        if len(draft.inputs) != 1:
            return (ReadinessOfWhat(field="inputs", inputs=draft.inputs),)
        said = _mark_values(data)
        if wrong := tuple(mark_rule(said)):
            for problem in wrong:
                problem.field = f"data_{problem.field}"
            return wrong
        earlier = self.marks.get(draft.inputs[0])
        if earlier and earlier.mark != mark_of(said):
            return (ReadinessDiffers(field="data_percent", dataset=draft.inputs[0], first_line=earlier.line),)
        return ()

    def _accept(self, line: int, draft: TaskDraft, data: Mapping[str, object]) -> None:
        if draft.name in self._lines or draft.name in self._open:
            first = self._lines.get(draft.name, 0)
            self.notes.append(RowProblem(line, "", SameName("name", draft.name, first)))
        if data:
            said = DataMark(line, draft.inputs[0], mark_of(_mark_values(data)))
            self.marks.setdefault(said.dataset, said)
        self._seen[draft] = line
        self._lines.setdefault(draft.name, line)
        self.accepted.append(Accepted(line, draft))

    def report(self, columns: tuple[Column, ...], encoding: str, header_line: int | None) -> ImportReport:
        """What was read, without rows whose parents in the list are refused."""
        report = ImportReport(
            columns=columns,
            rows=self.rows,
            accepted=tuple(self.accepted),
            problems=tuple(self.problems),
            notes=tuple(self.notes),
            marks=tuple(self.marks.values()),
            encoding=encoding,
            header_line=header_line,
        )
        return _without(report, {}, {name: line for name, line in self.bad_names.items() if name})


def _mark_values(data: Mapping[str, object]) -> dict[str, object]:
    return {_MARK_KEYS[key]: value for key, value in data.items()}


# -- all rows together -----------------------------------------------------------------------------


def _without(report: ImportReport, bad: Mapping[int, Sequence[Problem]], bad_names: Mapping[str, int]) -> ImportReport:
    """The report without the accepted rows at these places, and without those that wait for a refused one."""
    kept: list[Accepted] = []
    problems = list(report.problems)
    names = dict(bad_names)
    headings = {column.field: column.heading for column in report.columns if column.field}
    for at, row in enumerate(report.accepted):
        if at in bad:
            found = [RowProblem(row.line, headings.get(problem.field or "", ""), problem) for problem in bad[at]]
            problems += found
            names.setdefault(row.draft.name, row.line)
        else:
            kept.append(row)
    while True:
        good = {row.draft.name for row in kept}
        orphans = {
            row.line: parent.task
            for row in kept
            for parent in row.draft.after
            if parent.task in names and parent.task not in good
        }
        if not orphans:
            break
        for row in [row for row in kept if row.line in orphans]:
            parent_name = orphans[row.line]
            problem = ParentRowBad(field="after", parent=parent_name, parent_line=names[parent_name])
            problems.append(RowProblem(row.line, headings.get("after", ""), problem))
            names.setdefault(row.draft.name, row.line)
        kept = [row for row in kept if row.line not in orphans]
    lines = {row.line for row in kept}
    return replace(
        report,
        accepted=tuple(kept),
        problems=tuple(sorted(problems, key=lambda one: one.line)),
        notes=tuple(note for note in report.notes if note.line in lines),
        marks=tuple(mark for mark in report.marks if mark.line in lines),
    )


def _settled(report: ImportReport, check: Check | None) -> ImportReport:
    """Put the drafts to `check` until what is left passes; each round costs at least one row."""
    while check is not None and report.accepted:
        try:
            check(report.drafts)
        except Problem as refusal:
            if refusal.kind is Kind.SYSTEM:
                raise
            bad = _placed(refusal, report) or _alone(report, check)
            if not bad:
                raise
            report = _without(report, bad, {})
        else:
            break
    return report


def _placed(refusal: Problem, report: ImportReport) -> dict[int, list[Problem]]:
    """Problems by the place of their draft, where their field tells it; the field loses the place.

    A ring is laid to all tasks that are in it.
    """
    if isinstance(refusal, DependencyLoop):
        return {at: [refusal] for at, row in enumerate(report.accepted) if row.draft.name in refusal.loop}
    placed: dict[int, list[Problem]] = {}
    for problem in refusal.problems if isinstance(refusal, Several) else (refusal,):
        found = _NUMBERED.fullmatch(problem.field or "")
        if found is None and len(report.accepted) > 1:
            return {}
        if found is not None:
            problem.field = found[2] or None
        placed.setdefault(int(found[1]) if found else 0, []).append(problem)
    return placed


def _alone(report: ImportReport, check: Check) -> dict[int, list[Problem]]:
    """Refusals that name no draft are of rights: drafts that are refused even by themselves, one look per kind."""
    verdicts: dict[tuple[str, str, str], Problem | None] = {}
    for row in report.accepted:
        who = (row.draft.owner, row.draft.team, row.draft.tier.value)
        if who not in verdicts:
            verdicts[who] = _verdict(row.draft, check)
    found = [verdicts[row.draft.owner, row.draft.team, row.draft.tier.value] for row in report.accepted]
    return {at: [problem] for at, problem in enumerate(found) if problem is not None}


def _verdict(draft: TaskDraft, check: Check) -> Problem | None:
    try:
        check((replace(draft, after=(), inputs=()),))
    except Problem as problem:
        return problem if problem.kind is Kind.FORBIDDEN else None
    return None
