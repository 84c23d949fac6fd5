"""The account of a demo run: what was seen every second, and whether all of it holds."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paika.interfaces.client import Client
from paika.wiring.demo_lab import DemoLab

Json = dict[str, Any]


@dataclass(slots=True)
class Account:
    """Findings so far. `unexplained` are waiting tasks that had no reason at a look."""

    looks: int = 0
    findings: list[tuple[str, bool]] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    said: dict[str, set[str]] = field(default_factory=dict)
    seen_running: set[str] = field(default_factory=set)
    corpus_at: float | None = None
    ran_unready: bool = False

    def note(self, finding: str, holds: bool) -> None:
        """One thing that was to be shown, and whether it was."""
        self.findings.append((finding, holds))

    def look(self, client: Client) -> None:
        """Ask why every waiting task waits, and what runs."""
        self.looks += 1
        plan_at = client.queue(1)["planned_at"]
        for row in client.tasks("queue"):
            why = client.why(row["id"])
            codes = {reason["code"] for reason in why["reasons"]}
            self.said.setdefault(row["name"], set()).update(codes)
            fresh = plan_at is None or row["waiting_since"] > plan_at
            if not codes and not fresh and client.task(row["id"])["task"]["state"] == "waiting":
                self.unexplained.append(row["name"])
        for row in client.tasks("running"):
            self.seen_running.add(row["name"])
            if row["name"] == "core-needs-corpus" and self.corpus_at is None:
                self.ran_unready = True

    def has_run(self, name: str) -> bool:
        """Whether the task was seen running."""
        return name in self.seen_running

    def corpus_ready(self) -> None:
        """The data is there from now on."""
        self.corpus_at = time.monotonic()


def account_of(account: Account, client: Client, lab: DemoLab) -> None:
    """Compare what happened with what the rules say."""
    details = {row["name"]: client.task(row["id"]) for row in client.tasks("ended")}
    runs = {name: detail["runs"] for name, detail in details.items()}
    note = account.note
    note(
        "所有任务都有结局 / every task has ended", not list(client.tasks("queue")) and not list(client.tasks("running"))
    )
    note("核心先于常规，常规先于闲时 / core before normal before idle", _in_order(runs))
    note("数据没到的核心任务一张卡也没占，到了才跑 / the unready core task held no card until its data came",
         not account.ran_unready and "wait.data" in account.said.get("core-needs-corpus", ())
         and _state(details, "core-needs-corpus") == "done")  # fmt: skip
    note("小任务用小卡 / the small task ran on a small card", _types(runs, "small-eval") == {"RTX 4090"})
    note("两个共享任务在同一张卡上 / two shares on one card",
         _cards(runs, "share-1") == _cards(runs, "share-2") and len(_cards(runs, "share-1")) == 1)  # fmt: skip
    note("多机任务同时占两台机器 / the gang had two machines at once", len(runs["core-gang"][0]["parts"]) == 2)
    note("失败各有其因：退出码、超时限 / failures told apart: exit code, limit",
         (_cause(runs, "breaks"), runs["breaks"][0]["exit_code"]) == ("exit_code", 3)
         and _cause(runs, "too-long") == "limit")  # fmt: skip
    note("前置失败的任务被关闭，前置成功的跑了 / a dead branch was closed, a met one ran",
         _state(details, "after-breaks") == "closed" and _state(details, "eval-after-share") == "done")  # fmt: skip
    note("放不下的任务说明缺什么 / what can never fit says what is missing",
         "park.vram" in account.said.get("dreams-of-a-huge-card", ()))  # fmt: skip
    note("每次看，每个在等的任务都有原因 / at every look every waiting task had a reason", not account.unexplained)
    started = Counter(lab.starts.read_text(encoding="ascii").split())
    known = {run["id"] for detail in runs.values() for run in detail if run["started_at"]}
    note("杀过服务器，没有一个运行丢失或跑两次 / after the kill no run was lost or run twice",
         set(started) == known and set(started.values()) == {1})  # fmt: skip
    spent = sum(run["card_seconds"] or 0 for detail in runs.values() for run in detail)
    usage = client.usage()
    booked = sum(row["spent_card_seconds"] + row["lost_card_seconds"] for row in usage["rows"])
    held = sum(row["held_parts"] for row in usage["rows"])
    note(f"台账等于运行之和：{booked} 卡秒 / the ledger equals the runs: {booked} card-seconds", booked == spent > 0)
    note("所有占用都已归还 / nothing is held any more", held == 0)


def print_account(account: Account) -> int:
    """Print the findings; 0 only if all hold."""
    print()
    for finding, holds in account.findings:
        print(f"{'✓' if holds else '✗'} {finding}")
    missing = sorted(set(account.unexplained))
    if missing:
        print(f"  没有原因的 without a reason: {', '.join(missing)}")
    good = sum(holds for _, holds in account.findings)
    print(f"\n{good}/{len(account.findings)}，看了 {account.looks} 次 / {account.looks} looks")
    return 0 if good == len(account.findings) and account.findings else 1


def _in_order(runs: dict[str, list[Json]]) -> bool:
    """The last core task was given its cards before the first normal one, that before the first idle one."""
    starts = {tier: [_decided(runs, name) for name in runs if name.startswith(f"{tier}-")] for tier in _TIERS}
    starts["core"] = [_decided(runs, name) for name in ("core-paper", "core-gang")]
    return max(starts["core"]) <= min(starts["normal"]) and max(starts["normal"]) <= min(starts["idle"])


_TIERS = ("core", "normal", "idle")


def _decided(runs: dict[str, list[Json]], name: str) -> datetime:
    return datetime.fromisoformat(runs[name][0]["intended_at"])


def _types(runs: dict[str, list[Json]], name: str) -> set[str]:
    return {run["card_type"] for run in runs[name]}


def _cards(runs: dict[str, list[Json]], name: str) -> set[str]:
    return {card for run in runs[name] for part in run["parts"] for card in part["cards"]}


def _cause(runs: dict[str, list[Json]], name: str) -> str:
    return str(runs[name][-1]["cause"])


def _state(details: dict[str, Json], name: str) -> str:
    return str(details[name]["task"]["state"])
