"""The demo lab: virtual cards, teams and people, and the tasks that show what the rules do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

INVENTORY = """\
pools: [{id: lab, title: 演示机房 Demo lab}]
nodes:
  - {id: a, pool: lab, virtual: true, cards: {type: RTX 4090, count: 2}}
  - {id: b, pool: lab, virtual: true, cards: {type: A100-80G, count: 4}}
  - {id: c, pool: lab, virtual: true, cards: {type: A100-80G, count: 4}}
  - {id: d, pool: lab, virtual: true, cards: {type: 910B3, count: 4}}
teams:
  - {id: nlp, name: 自然语言组, quota_cards: 12}
  - {id: cv, name: 视觉组, quota_cards: 8}
people:
  - {id: zhangsan, name: 张三, role: lead, teams: [nlp], leads: [nlp]}
  - {id: lisi, name: 李四, role: member, teams: [nlp]}
  - {id: wangwu, name: 王五, role: lead, teams: [cv], leads: [cv]}
"""
WORKER = Path(__file__).with_name("demo_task.py")
Form = dict[str, Any]


class DemoLab:
    """Forms of the demo's tasks. `folder` is where they leave their marks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.starts = folder / "starts.txt"
        self.corpus = folder / "corpus.ready"

    def task(self, name: str, seconds: float, code: int = 0, **fields: Any) -> Form:
        """One task that takes `seconds` and exits with `code`."""
        return {
            "name": name,
            "command": [sys.executable, str(WORKER), str(seconds), str(code)],
            "workdir": str(self.folder),
            "env": {"DEMO_STARTS": str(self.starts)},
            "owner": "zhangsan",
            "team": "nlp",
            "limit": "90s",
            "grace": 5,
        } | fields

    def datasets(self) -> tuple[Form, ...]:
        """The corpus is ready once its marker file is there; the other one is marked by hand."""
        probe = {"probe": "marker", "target": str(self.corpus), "every": "10s"}
        return ({"id": "corpus", "name": "中文语料 corpus", "owner": "lisi", **probe},)

    def first(self) -> tuple[Form, ...]:
        """Work that fills the A100s, so that an order has to be decided."""
        big: Form = {"cards": 4, "types": "A100-80G"}
        return (self.task("warm-1", 9, **big), self.task("warm-2", 9, **big))

    def then(self) -> tuple[Form, ...]:
        """The wrong order on purpose: idle first, core last; and one of each thing the rules speak of."""
        big: Form = {"cards": 4, "types": "A100-80G"}
        return (
            self.task("idle-sweep", 3, tier="idle", **big),
            self.task("idle-sweep-2", 3, tier="idle", **big),
            self.task("normal-ablation", 3, tier="normal", owner="wangwu", team="cv", **big),
            self.task("normal-ablation-2", 3, tier="normal", **big),
            self.task("core-paper", 3, tier="core", **big),
            self.task("core-gang", 3, tier="core", priority=90, nodes=2, **big),
            self.task("small-eval", 6, vram="10G"),
            self.task("share-1", 6, share_vram="8G", share_bandwidth=30, owner="lisi"),
            self.task("share-2", 6, share_vram="8G", share_bandwidth=30, owner="wangwu", team="cv"),
            self.task("core-needs-corpus", 3, tier="core", inputs=["corpus"], types="910B"),
            self.task("breaks", 1, 3, types="910B", owner="lisi"),
            self.task("too-long", 60, types="910B", limit="3s", owner="lisi"),
            self.task("eval-after-share", 1, types="910B", after=["share-1"]),
            self.task("after-breaks", 1, types="910B", after=["breaks"]),
            self.task("dreams-of-a-huge-card", 1, vram="900G", owner="wangwu", team="cv"),
        )

    def stream(self, number: int) -> Form:
        """The endless mix of the open demo: the same number gives the same task."""
        kinds: tuple[Mapping[str, Any], ...] = (
            {"name": f"train-7b-{number}", "cards": 4, "types": "A100-80G", "tier": "core", "seconds": 60},
            {"name": f"finetune-{number}", "cards": 2, "types": "A100-80G", "seconds": 45},
            {"name": f"eval-{number}", "vram": "12G", "seconds": 25, "owner": "lisi"},
            {"name": f"sweep-{number}", "cards": 1, "types": "A100-80G|910B", "tier": "idle", "seconds": 40},
            {"name": f"notebook-{number}", "share_vram": "6G", "share_bandwidth": 25, "seconds": 50, "owner": "lisi"},
            {"name": f"detect-{number}", "cards": 2, "types": "910B", "seconds": 55, "owner": "wangwu", "team": "cv"},
            {"name": f"gang-{number}", "cards": 4, "nodes": 2, "types": "A100-80G", "seconds": 30},
            {"name": f"pretrain-{number}", "cards": 8, "nodes": 2, "types": "A100-80G", "inputs": ["corpus"],
             "tier": "core", "seconds": 40},
        )  # fmt: skip
        fields = dict(kinds[number % len(kinds)])
        seconds = float(fields.pop("seconds"))
        return self.task(str(fields.pop("name")), seconds, **{"estimate": f"{int(seconds)}s", **fields})
