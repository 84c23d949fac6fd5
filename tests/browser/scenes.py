"""What a lab holds: people, machines in every state, runs, data, a queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

from paika.domain.access import Scope, Token
from paika.domain.card import Card, CardProcess, CardReading, CardType, ExternalUse, Health, Vendor
from paika.domain.dataset import Dataset, ProbeKind, ProbeSpec, Readiness
from paika.domain.ledger import EntryKind, LedgerEntry, hold
from paika.domain.node import Node, NodeState
from paika.domain.person import Person, Role
from paika.domain.plan import ReasonRecord
from paika.domain.quota import Quota
from paika.domain.run import Run, RunPart, RunState
from paika.domain.task import Demand, Dependency, Estimate, Program, Share, Task, TaskState, Tier, When
from paika.domain.team import Team
from paika.planning.planner import plan
from paika.ports.engine import Launch, LaunchPart
from paika.services.take_snapshot import take_snapshot
from tests.browser.lab import T0, Lab

HOUR = timedelta(hours=1)
GIB = 1024
SECRETS = {role: f"paika_k{n}_{role.value * 4}" for n, role in enumerate(Role, start=1)}
TYPES = (
    CardType("A100-80G", "A100", Vendor.NVIDIA, 81920, 2039, 1300, ("bf16", "nvlink")),
    CardType("H20", "H20", Vendor.NVIDIA, 97871, 4000, 1500, ("bf16", "fp8", "nvlink")),
    CardType("RTX 4090", "RTX 4090", Vendor.NVIDIA, 24564, 1008, 500, ("bf16", "fp8")),
    CardType("910B3", "910B", Vendor.ASCEND, 65536, 1600, 900, ("bf16",)),
)
PEOPLE = (
    Person("viewer", "大屏", Role.VIEWER),
    Person("li-si", "李四", Role.MEMBER, ("vision",)),
    Person("wang-min", "王敏", Role.LEAD, ("vision",), ("vision",)),
    Person("admin", "陈管理", Role.ADMIN, ("vision", "speech", "llm")),
    Person("zhang-san", "张三", Role.MEMBER, ("llm",)),
    Person("zhao-lei", "赵磊", Role.MEMBER, ("llm",)),
    Person("sun-yue", "孙悦", Role.MEMBER, ("speech",)),
    Person("maria", "María Peña", Role.MEMBER, ("speech",)),
    Person("kowalski", "Jan Kowalski", Role.MEMBER, ("vision", "llm")),
)
TEAMS = (Team("vision", "视觉组"), Team("speech", "语音组"), Team("llm", "大模型组"))


def founded(lab: Lab) -> Lab:
    """People, teams, tokens, types; neither machines nor tasks."""
    tokens = [
        Token(f"k{n}", person.id, sha256(SECRETS[role].encode()).hexdigest(), (Scope.ADMIN,), T0 - 24 * HOUR)
        for n, (role, person) in enumerate(zip(Role, PEOPLE[:4], strict=True), start=1)
    ]
    lab.put(*TYPES, *TEAMS, *PEOPLE, *tokens, counters={"token": 4})
    return lab


def busy(lab: Lab) -> Lab:
    """Machines in every state, runs of all kinds, data in every state, a dozen tasks that wait."""
    founded(lab)
    lab.put(*_nodes(), *_datasets(), Quota("vision", 8), Quota("llm", 16))
    lab.put(*(card for node in _CARDS for card in node))
    _run_all(lab)
    lab.put(*_waiting(), counters={"task": 60, "run": 30})
    _history(lab)
    _look_at_cards(lab)
    lab.plan()
    return lab


def crowded(lab: Lab, tasks: int = 1000) -> Lab:
    """The busy lab with a long queue."""
    busy(lab)
    owners = PEOPLE[4:]
    many = []
    for n in range(tasks):
        person = owners[n % len(owners)]
        demand = (Demand(1 + n % 4), Demand(2, vram_mib=40 * GIB), Demand(8, types=("A100-80G",), asked_types="A100"))[
            n % 3
        ]
        limit_s = None if n % 5 == 0 else 3600 * (1 + n % 9)
        many.append(_task(100 + n, f"sweep-{n:04d}", person.id, person.teams[0], demand, limit_s=limit_s, ago=n / 60))
    lab.put(*many, counters={"task": 2000})
    lab.plan()
    return lab


def _node_cards(node: str, card_type: CardType, count: int) -> tuple[Card, ...]:
    prefix = "NPU" if card_type.vendor is Vendor.ASCEND else "GPU"
    return tuple(
        Card(
            f"{prefix}-{sha256(f'{node}{n}'.encode()).hexdigest()[:12]}-{n}", node, n, card_type.id, card_type.vram_mib
        )
        for n in range(count)
    )


_A1 = _node_cards("gpu-a1", TYPES[0], 8)
_A2 = _node_cards("gpu-a2", TYPES[0], 8)
_H1 = _node_cards("gpu-h1", TYPES[1], 8)
_W1 = _node_cards("ws-4090", TYPES[2], 4)
_N1 = _node_cards("npu-1", TYPES[3], 8)
_CARDS = (
    _A1,
    (
        *_A2[:6],
        replace(_A2[6], health=Health.DRAINING, health_since=T0 - 3 * HOUR, health_cause="wang-min: 换风扇"),
        _A2[7],
    ),
    (
        *_H1[:7],
        replace(
            _H1[7], health=Health.LOST, health_since=T0 - HOUR / 2, health_cause="Xid 79: GPU has fallen off the bus"
        ),
    ),
    (
        *_W1[:3],
        replace(_W1[3], health=Health.NEEDS_RESET, health_since=T0 - 5 * HOUR, health_cause="ECC: 2 uncorrectable"),
    ),
    _N1,
)


def _nodes() -> tuple[Node, ...]:
    return (
        Node("gpu-a1", "训练池", "local"),
        Node("gpu-a2", "训练池", "local"),
        Node("gpu-h1", "训练池", "local", lease_ends_at=T0 + timedelta(days=12), note="租用，到期前要续"),
        Node("ws-4090", "工作站", "local"),
        Node("npu-1", "工作站", None, state=NodeState.UP, note="还没有接入引擎"),
    )


def _datasets() -> tuple[Dataset, ...]:
    probe = ProbeSpec(ProbeKind.PATH, "/data/laion")
    minute = timedelta(minutes=1)
    return (
        Dataset(
            "d-1",
            "laion-clean-v2",
            Readiness.PREPARING,
            62,
            T0 + 5 * HOUR,
            "sun-yue",
            "11.2 TB / 18 TB",
            probe,
            "probe",
            T0 - 9 * minute,
            T0 - minute,
        ),
        Dataset("d-2", "aishell-4", Readiness.READY, 100, None, "maria", "", None, "maria", T0 - 30 * HOUR),
        Dataset(
            "d-3", "路口视频 2026-02", Readiness.BLOCKED, 10, None, "li-si", "等脱敏审批", None, "li-si", T0 - 50 * HOUR
        ),
        Dataset(
            "d-4",
            "代码语料 v5",
            Readiness.UNKNOWN,
            None,
            None,
            "",
            "",
            ProbeSpec(ProbeKind.MARKER, "/data/code/_READY"),
            "",
            None,
            None,
        ),
        Dataset(
            "d-5",
            "中文网页 2025Q4",
            Readiness.PREPARING,
            91,
            T0 - HOUR,
            "zhao-lei",
            "去重中",
            None,
            "zhao-lei",
            T0 - 4 * HOUR,
        ),
        Dataset(
            "d-6",
            "imagenet-1k",
            Readiness.READY,
            100,
            None,
            "wang-min",
            "",
            ProbeSpec(ProbeKind.MANIFEST, "/data/imagenet/SHA256"),
            "probe",
            T0 - 90 * HOUR,
            T0 - minute,
        ),
    )


def _task(number: int, name: str, owner: str, team: str, demand: Demand, *, ago: float = 1.0, **more: object) -> Task:
    at = T0 - ago * HOUR
    program = Program(("python", "train.py", "--config", f"configs/{number}.yaml"), workdir=f"/home/{owner}")
    fields = {"estimate": None, "limit_s": None} | more
    return Task(f"t-{number}", name, owner, team, at, program, demand, state_since=at, **fields)  # type: ignore[arg-type]


def _run_all(lab: Lab) -> None:
    hours = 3600
    whole = Demand
    _start(
        lab,
        1,
        "预训练 7B 第三轮",
        "zhang-san",
        "llm",
        whole(8, types=("H20",)),
        _H1[:7] + _H1[7:8],
        9.5,
        30 * hours,
        Tier.CORE,
    )
    _start(lab, 2, "sft-math-v4", "zhao-lei", "llm", whole(4), _A1[:4], 2.2, 6 * hours)
    _start(
        lab,
        3,
        "路口检测 baseline",
        "wang-min",
        "vision",
        whole(2),
        _A1[4:6],
        5.0,
        None,
        estimate=Estimate(4 * hours, 6 * hours, 7 * hours),
    )
    _start(lab, 4, "asr-conformer", "sun-yue", "speech", whole(1), _A1[6:7], 1.1, 3 * hours)
    _start(
        lab,
        5,
        "消融实验 12/16",
        "kowalski",
        "vision",
        whole(1),
        _A1[7:8],
        7.0,
        None,
        estimate=Estimate(3 * hours, 5 * hours, 6 * hours),
        preemptible=True,
    )
    _start(lab, 6, "rm-debug", "maria", "speech", whole(1), _A2[:1], 0.4, None)
    _start(lab, 7, "eval-mmlu", "zhao-lei", "llm", whole(2), _A2[1:3], 0.0, hours, state=RunState.STARTING)
    _start(lab, 8, "旧检查点导出", "kowalski", "llm", whole(1), _A2[3:4], 11.0, 12 * hours, state=RunState.STOPPING)
    for n, (name, owner, team, gib) in enumerate(
        (("标注服务", "maria", "speech", 8), ("notebook", "sun-yue", "speech", 6))
    ):
        share = Share(gib * GIB, 30)
        _start(lab, 9 + n, name, owner, team, whole(1, share=share), _W1[:1], 3.0 + n, 8 * hours)
    _start(lab, 11, "数据增强小试", "li-si", "vision", whole(1), _W1[1:2], 0.8, 2 * hours)


def _start(
    lab: Lab,
    number: int,
    name: str,
    owner: str,
    team: str,
    demand: Demand,
    cards: Sequence[Card],
    ago_h: float,
    limit_s: int | None,
    tier: Tier = Tier.NORMAL,
    *,
    estimate: Estimate | None = None,
    preemptible: bool = False,
    state: RunState = RunState.RUNNING,
) -> None:
    begun = T0 - ago_h * HOUR
    task_state = TaskState(state.value)
    task = _task(
        number,
        name,
        owner,
        team,
        demand,
        ago=ago_h + 1,
        tier=tier,
        limit_s=limit_s,
        estimate=estimate,
        state=task_state,
        preemptible=preemptible,
        attempts=1,
    )
    parts = tuple(
        RunPart(node, tuple(c.id for c in cards if c.node == node)) for node in dict.fromkeys(c.node for c in cards)
    )
    held = 33 if demand.share else 100 * len(cards)
    run = Run(
        f"r-{number}",
        task.id,
        1,
        f"token-{number}",
        owner,
        team,
        tier,
        parts,
        held,
        begun,
        "local",
        share=demand.share,
        limit_s=limit_s,
        high_s=estimate.high_s if estimate else None,
        preemptible=preemptible,
        state=state,
        started_at=None if state is RunState.STARTING else begun,
    )
    lab.put(task, run, ledger=(hold(run, cards[0].type, begun),))
    launch_parts = tuple(LaunchPart(n, p.node, p.cards, Vendor.NVIDIA) for n, p in enumerate(parts))
    lab.engine.start(
        Launch(run.id, run.token, task.id, name, owner, team, task.program, launch_parts, None, "TERM", 30, 1 << 20)
    )
    for step in range(400):
        lab.engine.write(run.id, f"step {step:05d}  loss {3.2 - step * 0.004:.4f}  lr 2.0e-04  18.4k tok/s\n".encode())


def _waiting() -> tuple[Task, ...]:
    hours = 3600
    estimate = Estimate(2 * hours, 4 * hours, 6 * hours)
    return (
        _task(
            41,
            "预训练 7B 长上下文",
            "zhang-san",
            "llm",
            Demand(8, vram_mib=80 * GIB),
            ago=20,
            tier=Tier.CORE,
            limit_s=24 * hours,
            milestone="投稿",
            milestone_at=T0 + timedelta(days=4),
        ),
        _task(
            42,
            "sft-code-v2",
            "zhao-lei",
            "llm",
            Demand(4, types=("A100-80G",), asked_types="A100"),
            ago=6,
            limit_s=8 * hours,
            priority=60,
        ),
        _task(
            43,
            "clip-laion",
            "wang-min",
            "vision",
            Demand(8, vram_mib=40 * GIB),
            ago=30,
            estimate=estimate,
            inputs=("d-1",),
        ),
        _task(
            44,
            "路口检测 微调",
            "li-si",
            "vision",
            Demand(1, vram_mib=20 * GIB),
            ago=3,
            limit_s=3 * hours,
            inputs=("d-3", "d-6"),
        ),
        _task(45, "asr 多方言", "sun-yue", "speech", Demand(2), ago=2.5, estimate=estimate, inputs=("d-2",)),
        _task(46, "代码模型 去污染", "kowalski", "llm", Demand(2), ago=9, limit_s=4 * hours, inputs=("d-4",)),
        _task(
            47,
            "tts-vits",
            "maria",
            "speech",
            Demand(1, vram_mib=10 * GIB),
            ago=1.2,
            limit_s=2 * hours,
            tier=Tier.IDLE,
            preemptible=True,
        ),
        _task(
            48,
            "评测 全套",
            "zhao-lei",
            "llm",
            Demand(2, vram_mib=40 * GIB),
            ago=1,
            limit_s=hours,
            after=(Dependency("t-42", When.SUCCESS),),
        ),
        _task(49, "大图分割", "li-si", "vision", Demand(1, vram_mib=160 * GIB), ago=4, state=TaskState.PARKED),
        _task(
            50,
            "检查点对比",
            "wang-min",
            "vision",
            Demand(1),
            ago=0.5,
            state=TaskState.HELD,
            held_by="wang-min",
            state_cause="等导师确认",
        ),
        _task(51, "网页语料 困惑度", "zhao-lei", "llm", Demand(4), ago=5, limit_s=5 * hours, inputs=("d-5",)),
        _task(52, "双机对齐训练", "zhang-san", "llm", Demand(16, nodes=2), ago=8, limit_s=10 * hours),
    )


def _history(lab: Lab) -> None:
    entries, reasons = [], []
    for n in range(60):
        person = PEOPLE[4 + n % 5]
        kind = EntryKind.LOST if n % 11 == 0 else EntryKind.SPEND
        cause = "node_lost" if kind is EntryKind.LOST else ("done", "exit_code", "limit")[n % 3]
        card_type = TYPES[n % 3].id
        at = T0 - timedelta(hours=3 * n + 2)
        entries.append(
            LedgerEntry(
                kind,
                at,
                f"r-old{n}",
                f"t-old{n}",
                person.teams[0],
                person.id,
                card_type,
                0,
                3600 * (7 + n * 5 % 31),
                cause,
            )
        )
    records = lab.store.read()
    made = plan(take_snapshot(records, {}, T0 - HOUR), records.policy, T0 - HOUR)
    reasons = [ReasonRecord(wait.task, T0 - HOUR, wait.reasons) for wait in made.waits]
    lab.put(ledger=tuple(reversed(entries)), reasons=tuple(reasons))


def _look_at_cards(lab: Lab) -> None:
    records, at = lab.store.read(), T0 - timedelta(seconds=4)
    held = {card: run for run in records.runs.values() for card in run.cards}
    readings = {}
    for n, card in enumerate(records.cards.values()):
        fill = (0.93, 0.71, 0.52, 0.88, 0.37)[n % 5] if card.id in held else 0.01
        used = int(card.vram_mib * fill)
        readings[card.id] = CardReading(
            card.id,
            at,
            card.health,
            "",
            card.index,
            card.type,
            card.vram_mib,
            0,
            used,
            card.vram_mib - used,
            98 - n % 7 if card.id in held else 0,
            41 + n % 30,
            90.0 + 11 * n % 300,
            (),
        )
    outsider = _A2[4].id
    readings[outsider] = replace(
        readings[outsider],
        vram_used_mib=30_000,
        busy_percent=64,
        processes=(CardProcess(4242, 30_000, "guest", "python"),),
    )
    external = {outsider: ExternalUse(outsider, T0 - 2 * HOUR, 30_000, ("guest",), (4242,))}
    lab.live.set(readings=readings, external=external, meter_failures={}, log_bytes=dict.fromkeys(records.runs, 20000))
