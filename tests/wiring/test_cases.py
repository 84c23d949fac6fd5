"""`paika plan save` and `paika replay-snapshot`, from a server to a file and from the file to a plan."""

from __future__ import annotations

import gzip
import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.interfaces.api.door import Door
from tests.interfaces.cli.house import House, served
from typer.testing import CliRunner

from paika.adapters.snapshot_json import JsonSnapshotFile
from paika.domain.run import RunState
from paika.interfaces.cli.app import build_cli
from paika.services.live import Live
from paika.services.save_case import save_case
from paika.wiring.local import ThisMachine
from paika.wiring.server import build_server
from paika.wiring.settings import Settings

FILES = JsonSnapshotFile()


def replay(*args: object, lang: str = "en", stdin: bytes | None = None) -> tuple[int, str, str]:
    told = CliRunner().invoke(
        build_cli(ThisMachine()), ["--lang", lang, "replay-snapshot", *map(str, args)], input=stdin
    )
    return told.exit_code, told.stdout, told.stderr


@pytest.fixture
def house(tmp_path: Path):
    door = Door()
    lab = door.lab
    lab.run(lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    lab.submit("mia", name="waits", types="A100-80G", cards=4, limit="2h")
    lab.submit("max", name="starts", vram="20G", limit="1h")
    with served(door) as url:
        yield House(url, door, tmp_path)


@pytest.mark.parametrize("name", ["case.json", "case.json.gz"])
def test_from_a_server_to_a_file_to_a_plan(house: House, tmp_path: Path, name: str):
    file = tmp_path / name
    said = house.paika("plan", "save", str(file), by="ann")
    assert (said.code, str(file) in said.out.replace("\n", "")) == (0, True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    data = file.read_bytes()
    assert (gzip.decompress(data) if name.endswith("gz") else data).startswith(b'{"paika":"case"')

    code, out, _ = replay(file)
    assert code == 0
    for word in ("breaks no rule", "t-2", "10:00", "t-3", "1 × RTX4090 @ n2", "Waits for 4 cards"):
        assert word in out
    assert all(cell_len(line) <= 80 for line in out.splitlines()), out
    assert "排程没有违反规则" in replay(file, lang="zh")[1]
    told = json.loads(replay(file, "--json")[1])
    assert (told["sound"], told["faults"], told["tasks"], told["cards"]) == (True, [], 2, 7)
    assert [start["task"] for start in told["plan"]["starts"]] == ["t-3"]
    assert [wait["reasons"][0]["code"] for wait in told["plan"]["waits"]] == ["wait.cards"]
    assert replay("-", stdin=data)[0] == 0
    assert "1 more" in replay(file, "--rows", 1)[1]


def test_it_is_for_admins_and_overwrites_nothing_unasked(house: House, tmp_path: Path):
    file = tmp_path / "case.json"
    assert house.paika("plan", "save", str(file), "--json", by="lea").refusal["code"] == "access.forbidden"
    assert not file.exists()
    file.write_text("mine", encoding="utf-8")
    said = house.paika("plan", "save", str(file), "--json", by="ann")
    assert (said.code, said.refusal["code"], file.read_text("utf-8")) == (4, "cli.file_there", "mine")
    assert house.paika("plan", "save", str(file), "--force", "--json", by="ann").json["file"] == str(file)
    nowhere = house.paika("plan", "save", str(tmp_path / "no/such/case.json"), "--json", by="ann")
    assert (nowhere.code, nowhere.refusal["code"]) == (5, "cli.file_unwritable")


def test_a_fault_is_named_and_the_exit_code_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from paika.planning.check import Violation

    lab = Door().lab
    lab.submit("mia")
    case = save_case(lab.records, Live(), lab.actor("ann"), lab.clock.now())
    file = tmp_path / "case.json"
    file.write_text(FILES.encode_case(case), encoding="utf-8")
    broken = [Violation("a card is given once", "a0"), Violation("a wait has a reason", "t-1", blocks=False)]
    monkeypatch.setattr("paika.services.run_cycle.check", lambda *_: broken)
    code, out, _ = replay(file)
    assert code == 1
    for word in ("The plan breaks rules (2)", "a card is given once", "not carried out", "alarm only"):
        assert word in out
    told = json.loads(replay(file, "--json")[1])
    assert ([fault["rule"] for fault in told["faults"]], told["plan"]) == ([one.rule for one in broken], None)


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"paika":"plan","format":1,"plan":{}}', b"\x1f\x8bxx", b"\xff\xfe", b"[]"]
)
def test_what_is_no_case_is_refused(tmp_path: Path, data: bytes):
    file = tmp_path / "x"
    file.write_bytes(data)
    code, _, err = replay(file, "--json")
    assert (code, json.loads(err)["code"]) == (2, "case.unreadable")
    assert replay(tmp_path / "nothing")[0] == 2


def test_a_server_keeps_failing_plans_in_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from paika.planning.check import Violation

    server = build_server(Settings(data=tmp_path))
    try:
        monkeypatch.setattr(
            "paika.services.run_cycle.check", lambda *_: [Violation("a run that is stopping is left alone", "r-1")]
        )
        server.cycle.run()
        case = server.live.read().case
    finally:
        server.close()
    assert Path(case).parent == tmp_path / "cases"
    assert replay(case)[0] == 1
    monkeypatch.undo()
    assert replay(case)[0] == 0


def test_runs_that_end_are_in_no_case():
    lab = Door().lab
    run = lab.run(lab.submit("mia"), "r0")
    lab.put(replace(run, state=RunState.ENDED, version=run.version + 1))
    assert save_case(lab.records, Live(), lab.actor("ann"), lab.clock.now()).snapshot.runs == ()
