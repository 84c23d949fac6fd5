"""The form of a task: one table of fields for pages, command line, API, CSV, XLSX and YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from paika.domain import form
from paika.domain.form import FieldKind as K
from paika.domain.form import Form, FormField, Group
from paika.domain.problem import BadValue, FieldMissing, Problem, Several
from paika.domain.quantity import duration_text, given, memory_text, shown, tidy
from paika.domain.task import Demand, Program, Task, Tier, When
from paika.domain.task_draft import RULES, AfterDraft, TaskDraft, estimate_of, share_of
from paika.domain.written import allowed_names, names, text

MAX_CARDS = 4096
MAX_SECONDS = 365 * 86400
MAX_VRAM_MIB = 1024 * 1024
MAX_SCRIPT = 65536
MAX_VARIABLES = 100
MAX_AFTER = 100

TIERS = (
    ("core", Tier.CORE),
    ("normal", Tier.NORMAL),
    ("idle", Tier.IDLE),
    ("核心", Tier.CORE),
    ("常规", Tier.NORMAL),
    ("普通", Tier.NORMAL),
    ("闲时", Tier.IDLE),
)
SIGNALS = tuple(
    (prefix + name, name.upper()) for prefix in ("", "sig") for name in ("term", "int", "hup", "quit", "usr1", "usr2")
)
_WHENS = {
    **{when.value: when for when in When},
    **{"成功": When.SUCCESS, "失败": When.FAILURE, "结束": When.END, "完成": When.SUCCESS},
}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_PINNING = frozenset(
    {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"}
)
_PLACE = re.compile(r"venv:/[^\n\0]{1,4000}|conda:[A-Za-z0-9._-]{1,100}|conda:/[^\n\0]{1,4000}")
ALLOWED_VARIABLES = "NAME=value pairs, at most 100; not PAIKA_* and not the variables that pin cards"
ALLOWED_AFTER = "ids or names of tasks, each with :success, :failure or :end, at most 100"
ALLOWED_PLACE = "plain, venv:/PATH or conda:NAME"
ALLOWED_PATH = "an absolute path, 1..4096 characters"
ALLOWED_CAPABILITIES = allowed_names(20, 40)
ALLOWED_TYPES = allowed_names(50, 80)


def _refuse(field: str, value: object, allowed: str) -> BadValue:
    return BadValue(field=field, value=shown(value), allowed=allowed)


def _pairs(field: str, value: object) -> list[tuple[object, object]]:
    if isinstance(value, Mapping):
        return list(value.items())
    parts = value if isinstance(value, list | tuple) else None
    if isinstance(value, str):
        lines = [line.strip() for line in value.splitlines() if line.strip()]
        parts = lines if len(lines) > 1 else re.split(r"[,，;；]\s*(?=[A-Za-z_][A-Za-z0-9_]*=)", lines[0])
    if parts is None or not all(isinstance(part, str) and "=" in part for part in parts):
        raise _refuse(field, value, ALLOWED_VARIABLES)
    return [(key.strip(), word) for key, _, word in (part.partition("=") for part in parts)]


def variables(field: str, value: object) -> tuple[tuple[str, str], ...]:
    """Environment variables from a mapping, a list of 'A=1', lines of them, or 'A=1, B=2'; sorted by name."""
    read: dict[str, str] = {}
    for key, word in _pairs(field, value):
        name = key if isinstance(key, str) else ""
        taken = name in read or name in _PINNING or name.startswith("PAIKA_")
        if taken or not _VARIABLE.fullmatch(name):
            raise _refuse(field, key, ALLOWED_VARIABLES)
        read[name] = text(field, word, 32768, lines=True) if given(word) else ""
    if len(read) > MAX_VARIABLES:
        raise _refuse(field, len(read), ALLOWED_VARIABLES)
    return tuple(sorted(read.items()))


def _after_one(field: str, value: object) -> AfterDraft:
    if isinstance(value, Mapping):
        if set(value) - {"task", "when"} or not given(value.get("task")):
            raise _refuse(field, value, ALLOWED_AFTER)
        when = tidy(str(value.get("when") or "success")).lower()
        name = text(field, value["task"], 200)
    else:
        name = text(field, value, 220)
        head, colon, tail = name.replace("：", ":").rpartition(":")
        when = tidy(tail).lower() if colon else "success"
        known = colon and head and when in _WHENS
        name, when = (head.strip(), when) if known else (name, "success")
    if when not in _WHENS or not name:
        raise _refuse(field, value, ALLOWED_AFTER)
    return AfterDraft(name, _WHENS[when])


def after(field: str, value: object) -> tuple[AfterDraft, ...]:
    """Parents: 'prep, eval:end', a list of such words, or a list of {task, when}. A name may hold colons."""
    if isinstance(value, str):
        value = names(field, value, MAX_AFTER, 220)
    parts = value if isinstance(value, list | tuple) else [value]
    try:
        read = dict.fromkeys(_after_one(field, part) for part in parts if given(part))
    except BadValue as bad:
        raise BadValue(field=field, value=bad.value, allowed=ALLOWED_AFTER) from None
    if len(read) > MAX_AFTER:
        raise _refuse(field, len(read), ALLOWED_AFTER)
    return tuple(read)


def environment(field: str, value: object) -> str:
    """'' for plain, 'venv:/PATH' or 'conda:NAME'."""
    place = value.strip() if isinstance(value, str) else ""
    if place.lower() in ("plain", "无"):
        return ""
    if not _PLACE.fullmatch(place):
        raise _refuse(field, value, ALLOWED_PLACE)
    return place


def path(field: str, value: object) -> str:
    """An absolute path."""
    place = value.strip() if isinstance(value, str) else ""
    if not place.startswith("/") or len(place) > 4096 or any(ch < " " or "\ud800" <= ch <= "\udfff" for ch in place):
        raise _refuse(field, value, ALLOWED_PATH)
    return place


def types(field: str, value: object) -> str:
    """Card types as written, as one text with commas; a comma inside a list's item separates too."""
    return ", ".join(names(field, ", ".join(names(field, value, 50, 80)), 50, 80))


def capabilities(field: str, value: object) -> tuple[str, ...]:
    """Capabilities in lower case."""
    return tuple(dict.fromkeys(name.lower() for name in names(field, value, 20, 40)))


def _field(key: str, kind: K, aliases: str, low: int = 1, high: int = 200, **more: Any) -> FormField:
    return FormField(key, kind, tuple(aliases.split()), low, high, **more)


def _other(key: str, aliases: str, allowed: str, read: Any, **more: Any) -> FormField:
    return FormField(key, K.OTHER, tuple(aliases.split()), allowed_as=allowed, read=read, **more)


_BASIC = Group.BASIC
_CARDS = "卡数 gpu数 gpu数量 gpu卡数 卡数量 npu数 总卡数 需要卡数 申请卡数 gpus num_gpus"
_TYPES = "卡型 gpu型号 卡型号 显卡型号 gpu类型 型号 gpu_type card_type npu型号"
_LIKELY = "预计时长 预计时间 预估时长 预估时间 预计用时 预计耗时 预计运行时间 时长 estimate duration"
_LIMIT = "最长时间 时限 时间上限 最大时长 最长时长 最长运行时间 time_limit walltime"
_DEADLINE = "截止时间 截止日期 里程碑时间 期望完成时间 要求完成时间 ddl deadline"
FIELDS: tuple[FormField, ...] = (
    _field("name", K.TEXT, "任务名 任务名称 名称 任务 作业名 task task_name job_name", required=True, group=_BASIC),
    _field("command", K.ARGV, "命令 运行命令 启动命令 执行命令 cmd argv", group=_BASIC),
    _field("script", K.LINES, "脚本 脚本内容", high=MAX_SCRIPT, group=_BASIC),
    _other("workdir", "工作目录 运行目录 目录 cwd", ALLOWED_PATH, path),
    _other("environment", "运行环境 python环境 conda环境 conda", ALLOWED_PLACE, environment),
    _other("env", "环境变量 variables", ALLOWED_VARIABLES, variables),
    _field("cards", K.CARDS, _CARDS, 1, MAX_CARDS, default="1", group=_BASIC),
    _field("nodes", K.WHOLE, "机器数 节点数 机数 num_nodes", 1, 1024, default="1"),
    _field("vram", K.MEMORY, "显存 单卡显存 显存需求 每卡显存 gpu_memory memory", 1, MAX_VRAM_MIB, group=_BASIC),
    _other("types", _TYPES, ALLOWED_TYPES, types, group=_BASIC),
    _other("capabilities", "能力 所需能力 特性", ALLOWED_CAPABILITIES, capabilities),
    _field("pool", K.TEXT, "资源池 分区 partition", high=80),
    _field("share_vram", K.MEMORY, "共享显存 切分显存", 1, MAX_VRAM_MIB),
    _field("share_bandwidth", K.PERCENT, "共享带宽 带宽占比 share_bandwidth_percent", 1, 100, default="50"),
    _field("estimate_low", K.DURATION, "最短时长 最快时长 乐观时长", 1, MAX_SECONDS),
    _field("estimate_likely", K.DURATION, _LIKELY, 1, MAX_SECONDS, group=_BASIC),
    _field("estimate_high", K.DURATION, "最长预计 保守时长 悲观时长 p90", 1, MAX_SECONDS),
    _field("limit", K.DURATION, _LIMIT, 1, MAX_SECONDS, group=_BASIC),
    _field("inputs", K.NAMES, "数据集 输入数据 输入 数据 所需数据 dataset datasets", 50, 200, group=_BASIC),
    _other("after", "依赖 前置任务 依赖任务 前置 depends_on dependency", ALLOWED_AFTER, after),
    _field("not_before", K.INSTANT, "最早开始 最早开始时间 开始时间不早于 计划开始 计划开始时间 begin"),
    _field("tier", K.CHOICE, "档 级别 任务级别 等级 类别", default="normal", choices=TIERS, group=_BASIC),
    _field("priority", K.WHOLE, "优先级 优先度", 0, 100, default="50", group=_BASIC),
    _field("owner", K.TEXT, "负责人 提交人 申请人 使用人 姓名 用户 user", high=80, group=_BASIC),
    _field("team", K.TEXT, "团队 课题组 项目组 小组 部门 组 group account", high=80, group=_BASIC),
    _field("preemptible", K.FLAG, "可抢占 可被抢占 可让出", default="false"),
    _field(
        "checkpoint", K.FLAG, "停前存档 停止前存档 会存档 自动存档 支持断点 断点续训 saves_its_work", default="false"
    ),
    _field("stop_signal", K.CHOICE, "停止信号", default="term", choices=SIGNALS),
    _field("grace", K.DURATION, "宽限 宽限时间 停止宽限", 0, 86400, default="30s"),
    _field("milestone", K.TEXT, "里程碑 节点目标"),
    _field("milestone_at", K.DEADLINE, _DEADLINE),
    _field("kind", K.TEXT, "任务类型 类型 种类 task_kind", high=80),
    _field("note", K.LINES, "备注 说明 描述 comment description remark", high=4000),
    _field("tags", K.NAMES, "标签", 20, 80),
    _field("log_budget", K.MEMORY, "日志上限 日志预算", 1, MAX_VRAM_MIB),
)
FORM = Form(FIELDS)
_DEFAULTS: dict[str, Any] = FORM.read({f.key: word for f, word in FORM.defaults()}, "UTC")[0]


def _check(values: Mapping[str, object], problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The problems of single fields, and those between fields that have none of their own."""
    bad = {problem.field for problem in problems}
    found = list(problems)
    for rule, keys in RULES:
        if not bad.intersection(keys):
            found += rule(values)
    missing = (f.key for f in FIELDS if f.required and f.key not in values and f.key not in bad)
    return (*(FieldMissing(field=key) for key in missing), *found)


def read_form(raw: Mapping[str, object], zone: str) -> TaskDraft:
    """The task that `raw` (heading -> value as written) asks for. Raises Several with every problem.

    None, blanks and empty lists mean 'not given'. `zone` is the IANA name of naive times.
    """
    return draft_of(*FORM.read(raw, zone))


def draft_of(values: Mapping[str, object], problems: tuple[Problem, ...]) -> TaskDraft:
    """The draft from values by key and the problems met while reading them. Raises Several, as read_form."""
    if found := _check(values, problems):
        raise Several(field=None, problems=found)
    return _draft({**_DEFAULTS, **values})


def _draft(v: Mapping[str, Any]) -> TaskDraft:
    return TaskDraft(
        name=v["name"],
        program=Program(
            argv=v.get("command", ()),
            script=v.get("script", ""),
            workdir=v.get("workdir", ""),
            environment=v.get("environment", ""),
            variables=v.get("env", ()),
        ),
        demand=Demand(
            cards=v["cards"],
            nodes=v["nodes"],
            vram_mib=v.get("vram", 0),
            asked_types=v.get("types", ""),
            capabilities=v.get("capabilities", ()),
            share=share_of(v),
            pool=v.get("pool", ""),
        ),
        estimate=estimate_of(v),
        limit_s=v.get("limit"),
        grace_s=v["grace"],
        log_budget_mib=v.get("log_budget"),
        **{key: v[key] for key in _SAME if key in v},
    )


_SAME = (
    *("owner", "team", "tier", "priority", "inputs", "after", "not_before", "preemptible", "checkpoint"),
    *("stop_signal", "milestone", "milestone_at", "kind", "note", "tags"),
)


def form_of(task: TaskDraft | Task) -> dict[str, object]:
    """The task as the form reads it: read_form of this gives the same draft. Only what is not default."""
    demand, program, estimate, share = task.demand, task.program, task.estimate, task.demand.share
    written: dict[str, object] = {
        "name": task.name,
        "command": list(program.argv),
        "script": program.script,
        "workdir": program.workdir,
        "environment": program.environment,
        "env": dict(program.variables),
        "cards": demand.cards,
        "nodes": demand.nodes,
        "vram": memory_text(demand.vram_mib) if demand.vram_mib else None,
        "types": demand.asked_types,
        "capabilities": list(demand.capabilities),
        "pool": demand.pool,
        "share_vram": memory_text(share.vram_mib) if share else None,
        "share_bandwidth": share.bandwidth_percent if share else None,
        "estimate_low": duration_text(estimate.low_s) if estimate else None,
        "estimate_likely": duration_text(estimate.likely_s) if estimate else None,
        "estimate_high": duration_text(estimate.high_s) if estimate else None,
        "limit": None if task.limit_s is None else duration_text(task.limit_s),
        "grace": duration_text(task.grace_s),
        "after": [{"task": parent.task, "when": parent.when.value} for parent in task.after],
        "log_budget": None if task.log_budget_mib is None else memory_text(task.log_budget_mib),
        **{key: _plain(getattr(task, key)) for key in _SAME if key != "after"},
    }
    return {f.key: written[f.key] for f in FIELDS if given(written[f.key])}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def schema() -> dict[str, object]:
    """JSON schema of the form, for OpenAPI and the web form."""
    made = form.schema(FORM)
    properties: dict[str, Any] = dict(made["properties"])  # type: ignore[call-overload]
    words: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    properties["env"] |= {
        "anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "string"}}, {"type": "string"}]
    }
    properties["after"] |= {"anyOf": [{"type": "array"}, {"type": "string"}]}
    for key in ("workdir", "environment"):
        properties[key]["type"] = "string"
    for key in ("types", "capabilities"):
        properties[key] |= {"anyOf": [words, {"type": "string"}]}
    for key in ("vram", "share_vram", "log_budget"):
        bounds = {"type": "integer", "minimum": 1, "maximum": MAX_VRAM_MIB}
        properties[f"{key}_mib"] = {**bounds, "description": "MiB", "x-same-as": key}
    return {**made, "properties": properties}
