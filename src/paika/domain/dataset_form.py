"""The forms of a dataset: what it is and how it is probed, and how ready it is by a person's word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paika.domain.dataset import ProbeKind, ProbeSpec, Readiness
from paika.domain.form import FieldKind as K
from paika.domain.form import Form, FormField, Group
from paika.domain.problem import BadValue, FieldMissing, Problem, Several
from paika.domain.quantity import shown

MAX_BYTES = 1 << 50
MAX_FILES = 1_000_000_000
TARGETS: dict[ProbeKind, tuple[str, tuple[str, ...]]] = {
    ProbeKind.PATH: ("an absolute path", ("/",)),
    ProbeKind.MANIFEST: ("an absolute path", ("/",)),
    ProbeKind.MARKER: ("an absolute path", ("/",)),
    ProbeKind.S3_PREFIX: ("s3://bucket/prefix", ("s3://",)),
    ProbeKind.URL: ("http://… or https://…", ("http://", "https://")),
}
READINESSES = (
    *((state.value, state) for state in Readiness),
    ("就绪", Readiness.READY),
    ("已就绪", Readiness.READY),
    ("准备中", Readiness.PREPARING),
    ("未就绪", Readiness.PREPARING),
    ("受阻", Readiness.BLOCKED),
    ("阻塞", Readiness.BLOCKED),
    ("未知", Readiness.UNKNOWN),
)


@dataclass(frozen=True, slots=True)
class Mark:
    """How ready a dataset is. `eta` only while preparing; `percent` None when unknown; `owner` None: as it was."""

    readiness: Readiness
    percent: int | None = None
    eta: datetime | None = None
    detail: str = ""
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class DatasetDraft:
    """A dataset as somebody asks for it. `id` '' lets the records number it."""

    name: str
    id: str = ""
    mark: Mark = field(default_factory=lambda: Mark(Readiness.UNKNOWN))
    probe: ProbeSpec | None = None


def _field(key: str, kind: K, aliases: str, low: int = 1, high: int = 200, **more: Any) -> FormField:
    return FormField(key, kind, tuple(aliases.split()), low, high, **more)


_B = Group.BASIC
_MARK_FIELDS: tuple[FormField, ...] = (
    _field("readiness", K.CHOICE, "状态 就绪状态 数据状态", choices=READINESSES, group=_B),
    _field("percent", K.PROGRESS, "就绪度 就绪率 完成度 进度 数据就绪度 数据进度", 0, 100, group=_B),
    _field("eta", K.DEADLINE, "预计就绪 预计就绪时间 就绪时间 预计完成时间 预计到位时间", group=_B),
    _field("owner", K.TEXT, "负责人 数据负责人 owes", high=80, group=_B),
    _field("detail", K.LINES, "说明 备注 note", high=500),
)
DATASET_FIELDS: tuple[FormField, ...] = (
    _field("name", K.TEXT, "名称 数据集 数据集名称 dataset", required=True, group=_B),
    _field("id", K.TEXT, "编号 数据集编号", high=40),
    *_MARK_FIELDS,
    _field("probe", K.CHOICE, "检查方式 探测方式", choices=tuple((kind.value, kind) for kind in ProbeKind)),
    _field("target", K.TEXT, "路径 位置 地址 path url", high=4096),
    _field("argv", K.ARGV, "检查命令 探测命令 command"),
    _field("want_bytes", K.WHOLE, "应有字节数", 1, MAX_BYTES),
    _field("want_files", K.WHOLE, "应有文件数", 1, MAX_FILES),
    _field("every", K.DURATION, "检查间隔 every_s", 10, 7 * 86400, default="60s"),
    _field("timeout", K.DURATION, "检查时限 timeout_s", 1, 600, default="30s"),
)
MARK_FORM = Form(_MARK_FIELDS)
DATASET_FORM = Form(DATASET_FIELDS)


def read_mark(raw: Mapping[str, object], zone: str) -> Mark:
    """A mark. Raises Several. A percent alone says ready at 100 and preparing below; nothing at all is refused."""
    values, problems = MARK_FORM.read(raw, zone)
    found = list(problems)
    if not problems:
        found += mark_rule(values)
        if not ("readiness" in values or "percent" in values):
            found.append(FieldMissing(field="readiness"))
    if found:
        raise Several(field=None, problems=tuple(found))
    return mark_of(values)


def mark_of(values: Mapping[str, Any]) -> Mark:
    """The mark that read values say, UNKNOWN when they say nothing of it."""
    percent = values.get("percent")
    readiness = values.get("readiness")
    if readiness is None:
        readiness = Readiness.UNKNOWN
        if percent is not None:
            readiness = Readiness.READY if percent == 100 else Readiness.PREPARING
    if readiness is Readiness.READY:
        percent = 100
    return Mark(readiness, percent, values.get("eta"), values.get("detail", ""), values.get("owner"))


def mark_rule(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Ready means 100 percent; an ETA belongs to what is being prepared."""
    readiness, percent = values.get("readiness"), values.get("percent")
    if readiness is Readiness.READY and percent not in (None, 100):
        yield BadValue(field="percent", value=str(percent), allowed="100")
    if "eta" in values and mark_of(values).readiness is not Readiness.PREPARING:
        yield BadValue(field="eta", value=shown(values["eta"]), allowed="readiness: preparing")


def _probe_rule(values: Mapping[str, Any]) -> Iterator[Problem]:
    kind, target = values.get("probe"), values.get("target", "")
    if kind is None:
        given = [key for key in ("target", "argv", "want_bytes", "want_files") if key in values]
        if given:
            yield FieldMissing(field="probe")
    elif kind is ProbeKind.COMMAND:
        if "argv" not in values:
            yield FieldMissing(field="argv")
    elif not target:
        yield FieldMissing(field="target")
    elif not target.startswith(TARGETS[kind][1]):
        yield BadValue(field="target", value=shown(target), allowed=TARGETS[kind][0])


def _probe_of(v: Mapping[str, Any]) -> ProbeSpec | None:
    if "probe" not in v:
        return None
    return ProbeSpec(
        kind=v["probe"],
        target=v.get("target", ""),
        argv=v.get("argv", ()),
        want_bytes=v.get("want_bytes"),
        want_files=v.get("want_files"),
        every_s=v.get("every", 60),
        timeout_s=v.get("timeout", 30),
    )


def read_dataset_form(raw: Mapping[str, object], zone: str) -> DatasetDraft:
    """The dataset that `raw` asks for. Raises Several with every problem."""
    values, problems = DATASET_FORM.read(raw, zone)
    found = list(problems)
    bad = {problem.field for problem in problems}
    if "name" not in values and "name" not in bad:
        found.insert(0, FieldMissing(field="name"))
    if not bad.intersection(("readiness", "percent", "eta")):
        found += mark_rule(values)
    if not bad.intersection(("probe", "target", "argv")):
        found += _probe_rule(values)
    if found:
        raise Several(field=None, problems=tuple(found))
    return DatasetDraft(values["name"], values.get("id", ""), mark_of(values), _probe_of(values))  # type: ignore[arg-type]
