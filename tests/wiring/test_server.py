"""The real server as a process: killed, restarted, doubled, left idle, and fed with endless logs."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.wiring.served import Served, eventually

from paika.adapters.engine_local import logbook
from paika.interfaces.wire import Refused

MIB = 1 << 20


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path)
    yield served
    served.clean()


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests that leave it as it was."""
    served = Served(tmp_path_factory.mktemp("standing")).start()
    yield served
    served.clean()


def state(client, task) -> str:
    return client.task(task["id"])["task"]["state"]


def starts_of(folder: Path) -> Counter[str]:
    """How often each run began, by its own testimony."""
    path = folder / "starts"
    return Counter(path.read_text(encoding="ascii").split()) if path.exists() else Counter()


# -- the way of a task ---------------------------------------------------------------------------------


def test_submit_log_done(standing):
    with standing.client() as client:
        task = client.submit(standing.task("hello", 'echo "hello $PAIKA_RUN"; echo 第二行', cards=2))
        assert client.wait(task["id"], 60, every_s=0.2)["state"] == "done"
        run = client.task(task["id"])["runs"][0]
        assert "".join(client.logs(task["id"])) == f"hello {run['id']}\n第二行\n"
        assert (run["cause"], run["exit_code"], len(run["parts"][0]["cards"])) == ("done", 0, 2)


def test_a_cancelled_task_gets_its_grace(standing):
    with standing.client() as client:
        script = "trap 'echo saved; exit 0' TERM; echo ready; while true; do sleep 0.1; done"
        task = client.submit(standing.task("polite", script, grace="30s"))
        eventually(lambda: "ready" in "".join(client.logs(task["id"])), "it is ready")
        assert client.cancel(task["id"])["state"] == "stopping"
        assert client.wait(task["id"], 25, every_s=0.2)["state"] == "cancelled"
        assert "".join(client.logs(task["id"])).endswith("saved\n")


def test_a_stubborn_one_is_killed_after_it(standing):
    with standing.client() as client:
        task = client.submit(
            standing.task("stubborn", "trap '' TERM; echo ready; while true; do sleep 0.1; done", grace="5s")
        )
        eventually(lambda: "ready" in "".join(client.logs(task["id"])), "it is ready")
        client.cancel(task["id"])
        assert client.wait(task["id"], 60, every_s=0.2)["state"] == "cancelled"
        assert client.task(task["id"])["runs"][0]["signal"] == "KILL"
        assert client.usage()["rows"][0]["held_parts"] == 0


def test_when_nothing_happens_nothing_is_written(standing):
    """With a task that runs silently and one that waits: no event, no write, nothing told to viewers but readings."""
    with standing.client() as client:
        runs = client.submit(standing.task("silent", "sleep 600", cards=4, limit="1h"))
        waits = client.submit(standing.task("waits", "true", cards=4, types="A100-80G"))
        eventually(lambda: client.why(waits["id"])["reasons"], "it is told why it waits")
        eventually(lambda: state(client, runs) == "running", "it runs")
        before = client.get("overview")
        time.sleep(3)
        after = client.get("overview")
        assert after["version"] == before["version"]
        assert after["cycle"]["cycles"] - before["cycle"]["cycles"] <= 1
        for task in (waits, runs):
            client.cancel(task["id"])
        client.wait(runs["id"], 60, every_s=0.2)


# -- killed and restarted ------------------------------------------------------------------------------

WORK = "echo $PAIKA_RUN >> {folder}/starts; for i in $(seq 40); do echo step $i; sleep 0.1; done; echo end"


def test_killed_while_tasks_run_they_run_on_and_are_found_again(house, tmp_path):
    house.start()
    with house.client() as client:
        tasks = client.submit_many([house.task(f"w{n}", WORK.format(folder=tmp_path), cards=2) for n in range(4)])
        eventually(lambda: starts_of(tmp_path).total() >= 2, "some run")
    house.end(signal.SIGKILL)
    time.sleep(1)
    house.start()
    with house.client() as client:
        ended = [client.wait(task["id"], 90, every_s=0.2) for task in tasks]
        assert [task["state"] for task in ended] == ["done"] * 4
        runs = [run for task in tasks for run in client.task(task["id"])["runs"]]
        assert starts_of(tmp_path) == {run["id"]: 1 for run in runs}
        whole = "".join(f"step {n}\n" for n in range(1, 41)) + "end\n"
        assert all("".join(client.logs(task["id"])) == whole for task in tasks)
        rows = client.usage()["rows"]
        assert sum(row["spent_card_seconds"] for row in rows) == sum(run["card_seconds"] for run in runs) > 0
        assert {row["held_parts"] for row in rows} == {0}


def test_killed_while_it_starts_tasks_each_starts_once(house, tmp_path):
    """Three times over, at another point on the way."""
    script = f"echo $PAIKA_RUN >> {tmp_path}/starts; sleep 0.5"
    tasks = []
    for delay_s in (0.0, 0.04, 0.1):
        house.start()
        with house.client() as client:
            tasks += client.submit_many([house.task(f"s{n}", script) for n in range(6)])
        time.sleep(delay_s)
        house.end(signal.SIGKILL)
    house.start()
    with house.client() as client:
        assert {client.wait(task["id"], 90, every_s=0.2)["state"] for task in tasks} == {"done"}
        runs = [run for task in tasks for run in client.task(task["id"])["runs"] if run["started_at"]]
        assert starts_of(tmp_path) == {run["id"]: 1 for run in runs}
        assert len(runs) == len(tasks)


def test_told_to_stop_it_leaves_tasks_alone(house, tmp_path):
    """Even with a viewer whose stream is open, it ends by itself and at once."""
    house.start()
    with house.client() as client, house.client() as viewer:
        task = client.submit(house.task("long", WORK.format(folder=tmp_path)))
        eventually(lambda: starts_of(tmp_path), "it runs")
        with viewer.wire.http.stream("GET", "/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            assert house.end() == 0
            assert list(lines)[-1:] in ([], [""])  # the stream was closed in order
    assert starts_of(tmp_path).total() == 1
    house.start()
    with house.client() as client:
        assert client.wait(task["id"], 60, every_s=0.2)["state"] == "done"
    assert starts_of(tmp_path).total() == 1
    assert "Traceback" not in house.log.read_text(encoding="utf-8")


# -- doubled -------------------------------------------------------------------------------------------


def refused_start(served: Served) -> str:
    """What a server says that does not come up."""
    ended = subprocess.run(
        served.argv, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode not in (0, None)
    assert "Traceback" not in ended.stderr + ended.stdout
    return ended.stderr + ended.stdout


def test_a_second_server_on_the_same_data_is_refused(standing):
    second = Served(standing.data.parent)
    assert str(standing.data / "paika.db") in refused_start(second)
    with standing.client() as client:
        assert client.get("health")["ok"]


def test_a_server_whose_port_is_taken_is_refused_and_begins_nothing(standing, tmp_path):
    second = Served(tmp_path, port=standing.port)
    assert f"127.0.0.1:{standing.port}" in refused_start(second)
    assert not (second.data / "admin.token").exists()


# -- C49: a task that only writes ----------------------------------------------------------------------


def test_endless_and_huge_logs_do_not_fill_the_memory(standing):
    with standing.client() as client:
        small = client.submit(standing.task("huge", "true"))
        client.wait(small["id"], 60, every_s=0.2)
        huge = plant(standing, client.task(small["id"])["runs"][0]["id"], size=2560 * MIB)
        idle = standing.rss_mib()
        writer = client.submit(standing.task("writer", "yes a line without end", log_budget="8MiB"))
        gush = client.submit(standing.task("gush", "head -c 6291456 /dev/zero | tr '\\0' x"))
        eventually(lambda: client.log_piece(writer["id"], tail=10)["size"] > 32 * MIB, "it has written much")
        client.wait(gush["id"], 60, every_s=0.2)
        peak = [idle]
        faults: list[BaseException] = []
        viewers = [threading.Thread(target=view, args=(standing, [small, writer, gush], faults)) for _ in range(10)]
        for viewer in viewers:
            viewer.start()
        while any(viewer.is_alive() for viewer in viewers):
            peak.append(standing.rss_mib())
            time.sleep(0.05)
        assert not faults, faults[0]
        assert max(peak) < idle + 300, f"{idle:.0f} MiB idle, {max(peak):.0f} with ten viewers"
        piece = client.log_piece(small["id"], tail=1000)
        assert (piece["size"], piece["text"][-9:]) == (huge, "the end.\n")
        assert client.log_piece(writer["id"], offset=5 * MIB)["dropped_before"] > 0  # over the budget, and told
        client.cancel(writer["id"])
        assert client.wait(writer["id"], 60, every_s=0.2)["state"] == "cancelled"
        kept = sum(
            file.stat().st_size for file in standing.data.glob("runs/*/0/log/*") if file.stat().st_size < MIB * 1024
        )
        assert kept < 32 * MIB


def plant(served: Served, run: str, size: int) -> int:
    """Put a sparse log of `size` bytes in the place of a run's own."""
    folder = served.data / "runs" / run / "0" / "log"
    with (folder / f"{0:020d}").open("wb") as file:
        file.truncate(size)
        file.seek(-9, 2)
        file.write(b"the end.\n")
    (folder / logbook.COUNT).write_bytes(logbook.SUMS.pack(size, 0))
    return size


def view(served: Served, tasks, faults: list[BaseException]) -> None:
    """Look at the tails, page into the middle, and load some of the file."""
    try:
        with served.client() as client:
            for _ in range(3):
                for task in tasks:
                    piece = client.log_piece(task["id"], tail=256 * 1024)
                    assert len(piece["text"]) <= MIB
                    client.log_piece(task["id"], offset=piece["size"] // 2)
            taken = 0
            for part in client.log_file(tasks[0]["id"]):
                taken += len(part)
                if taken > 64 * MIB:
                    break
            with pytest.raises(Refused):
                client.log_piece(tasks[0]["id"], limit=1 << 40)
    except BaseException as fault:
        faults.append(fault)
