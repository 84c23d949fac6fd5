"""`paika top`: one look where nobody watches, live in a terminal until q."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import CODE, House

from paika.interfaces.cli.top import bar


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("args", [["--once"], []])
def test_one_look(house: House, lang: str, args: list[str]):
    house.lab.run(house.lab.submit("mia", name="训练七十亿参数的大模型第三轮对照实验", cards=2, limit="2h"), "a0", "a1")
    for n in range(12):
        house.lab.submit("max", name=f"等待中的任务{n}", cards=4)
    said = house.paika("top", *args, lang=lang)
    assert said.code == 0
    lines = said.out.splitlines()
    assert all(cell_len(line) <= 80 for line in lines)
    assert "韩梅梅" in said.out
    assert "4" in lines[-1]
    assert "paika task ls --all" in said.out


def test_json_is_one_look(house: House):
    told = house.paika("top", "--json").json
    assert {"at", "nodes", "totals", "queue"} == told.keys()


def test_bars():
    assert bar(None) == "—"
    assert (bar(0), bar(100), bar(120)) == ("░" * 8, "█" * 8, "█" * 8)
    assert bar(50).count("█") == 4


def watched(house: House) -> tuple[subprocess.Popen[bytes], int]:
    master, slave = pty.openpty()
    env = {**house.outside_env(TERM="xterm"), "COLUMNS": "80", "LINES": "24"}
    command = [sys.executable, "-c", CODE, "top", "--every", "0.5"]
    watcher = subprocess.Popen(command, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    return watcher, master


def read_until(master: int, part: str, seconds: float = 60.0) -> str:
    end, seen = time.monotonic() + seconds, b""
    while time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                seen += os.read(master, 65536)
            except OSError:
                break
        if part in seen.decode("utf-8", "ignore"):
            return seen.decode("utf-8", "ignore")
    raise AssertionError(f"{part!r} was not shown: {seen[-2000:]!r}")


@pytest.mark.parametrize("how", ["q", "interrupt"])
def test_live_until_somebody_ends_it(house: House, how: str):
    watcher, master = watched(house)
    try:
        read_until(master, "cards free")
        house.lab.submit("mia", name="comes-in-later")
        read_until(master, "comes-in-later")
        if how == "q":
            os.write(master, b"q")
        else:
            os.killpg(watcher.pid, signal.SIGINT)
        read_until(master, "\x1b[?1049l")  # the terminal is as it was
        assert watcher.wait(60) == 0
    finally:
        watcher.kill()
        watcher.wait()
        os.close(master)
