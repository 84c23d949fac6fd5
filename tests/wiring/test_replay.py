"""`paika replay` from the file to the table."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paika.domain.problem import BadValue
from paika.domain.trace import UnreadableTrace
from paika.interfaces.cli.app import build_cli
from paika.services.replay_trace import Lengths
from paika.wiring import replay
from paika.wiring.local import ThisMachine

SWF = Path(__file__).parents[1] / "cases/C42/trace.swf"
CSV = """\
job_id,team,submit_time_s,duration_s,gpus
a,x,0,100,6
big,y,1,10,8
long,x,2,200,2
short,y,3,50,2
bad,x,z,1,1
"""
ONE = ("--cluster", "1x8:A100-80G")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    return path


def run(*args: object, lang: str = "en") -> tuple[int, str, str]:
    told = CliRunner().invoke(build_cli(ThisMachine()), ["--lang", lang, *map(str, args)], env={"COLUMNS": "160"})
    return told.exit_code, told.stdout, told.stderr


def test_json(trace: Path):
    code, out, err = run("replay", trace, *ONE, "--against", "fifo,easy", "--estimates", "exact", "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["jobs"], told["played"], told["lengths"], told["orders"]) == (4, 4, "exact", 1)
    assert told["flaws"] == [
        {"line": 6, "kind": "value", "job": "bad", "field": "submit_time_s", "detail": "z", "lost": True}
    ]
    means = {rule: reports[0]["total"]["mean_wait_s"] for rule, reports in told["rules"].items()}
    assert means == {"paika": 51.75, "fifo": 78.5, "easy": 51.75}
    assert told["rules"]["easy"][0]["teams"]["y"]["mean_wait_s"] == 49.5
    assert told["spread"]["fifo"]["mean_wait_s"] == {"mean": 78.5, "least": 78.5, "most": 78.5, "deviation": None}


@pytest.mark.parametrize(
    ("lang", "words"),
    [("en", ("mean wait by team", "Value that cannot be read")), ("zh", ("平均等待，按团队", "值读不懂"))],
)
def test_tables(trace: Path, lang: str, words: tuple[str, ...]):
    code, out, err = run("replay", trace, *ONE, "--against", "sjf", "--tiers", 1, lang=lang)
    assert (code, err) == (0, "")
    for word in (*words, "sjf", "paika"):
        assert word in out


def test_nothing_is_played_in_a_dry_run():
    code, out, _ = run("replay", SWF, "--cluster", "8x8:A100-80G", "--dry-run", "--json")
    told = json.loads(out)
    assert (code, told["rules"], told["never_fit"], told["played"]) == (0, {}, ["9"], 11)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("--cluster", "8"), "value.bad"),
        (("--cluster", "8x8:X9"), "card_type.unknown"),
        (("--cluster", "8x8:H800", "--against", "best"), "replay.unknown_rule"),
        (("--cluster", "8x8:H800", "--every", "0"), "value.bad"),
        (("--cluster", "8x8:H800", "--jobs", "0"), "value.bad"),
        (("--cluster", "8x8:H800", "--estimates", "often"), "value.bad"),
        (("--cluster", "8x8:H800", "--seeds", "1000"), "value.bad"),
    ],
)
def test_what_cannot_be_played_is_refused(trace: Path, more: tuple[str, ...], code: str):
    exit_code, out, err = run("replay", trace, *more, "--json")
    assert (exit_code, out, json.loads(err)["code"]) == (2, "", code)


def test_files_that_are_no_traces(tmp_path: Path):
    packed = gzip.compress(CSV.encode())
    for name, data, cause in (
        ("cut.csv.gz", packed[:-12], "packed"),
        ("broken.csv.gz", packed[:15] + b"\xff\xff\xff" + packed[18:], "packed"),
        ("text.csv", b"hello", "columns"),
        ("text.swf", b"hello", "empty"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UnreadableTrace) as refused:
            replay.read_trace(tmp_path / name)
        assert refused.value.cause == cause, name
    with pytest.raises(UnreadableTrace):
        replay.read_trace(tmp_path / "none.csv")
    with pytest.raises(UnreadableTrace):
        replay.read_trace(tmp_path)


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(replay, "MOST_BYTES", 1000)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 100_000))
    with pytest.raises(UnreadableTrace) as refused:
        replay.read_trace(path)
    assert refused.value.cause == "too_big"


def test_a_file_packed_in_two_pieces_is_read_whole(tmp_path: Path):
    half = len(CSV) // 2
    path = tmp_path / "two.csv.gz"
    path.write_bytes(gzip.compress(CSV[:half].encode()) + gzip.compress(CSV[half:].encode()))
    assert len(replay.read_trace(path).jobs) == 4


def test_lengths():
    assert replay.lengths_of(None) == (Lengths.TRACE, 0)
    assert replay.lengths_of("exact") == (Lengths.EXACT, 0)
    assert replay.lengths_of("17") == (Lengths.SYNTHETIC, 17)
    with pytest.raises(BadValue):
        replay.lengths_of("-1")


def test_policies_are_played_beside_each_other(trace: Path, tmp_path: Path):
    (tmp_path / "mine.json").write_text('{"normal_depth": 0}')
    asked = f"default,easy,{tmp_path / 'mine.json'}"
    code, out, _ = run("replay", trace, *ONE, "--estimates", "exact", "--policy", asked, "--seeds", 2, "--json")
    told = json.loads(out)
    means = {rule: reports[0]["total"]["mean_wait_s"] for rule, reports in told["rules"].items()}
    assert (code, list(means)) == (0, ["paika", "paika:easy", "paika:mine"])
    assert told["differences"]["paika:easy"]["within_noise"] is True


def test_what_is_drawn_is_called_synthetic(trace: Path):
    asked = ("--estimates", 1, "--tiers", 1, "--readiness", 1, "--vram", 1)
    told = json.loads(run("replay", trace, *ONE, *asked, "--json")[1])
    assert told["synthetic"] == ["lengths", "tiers", "readiness", "vram"]
    assert run("replay", trace, *ONE, *asked)[1].count("synthetic") == 4


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("none.json", None, "replay.unreadable_policy"),
        ("bad.json", '{"norml_depth": 1}', "replay.unreadable_policy"),
        ("best", None, "replay.unknown_policy"),
    ],
)
def test_what_is_no_policy(trace: Path, tmp_path: Path, name: str, text: str | None, code: str):
    if text is not None:
        (tmp_path / name).write_text(text)
    asked = str(tmp_path / name) if "." in name else name
    exit_code, _, err = run("replay", trace, *ONE, "--policy", asked, "--json")
    assert (exit_code, json.loads(err)["code"]) == (2, code)


SACCT = """\
JobID|Submit|Start|End|AllocTRES
1|2026-01-05T09:00:00|2026-01-05T09:00:10|2026-01-05T10:00:10|cpu=1,gres/gpu=2
1.batch|2026-01-05T09:00:10|2026-01-05T09:00:10|2026-01-05T10:00:10|cpu=1
"""
PODS = """\
name,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time
openb-pod-0001,1,1000,T4|V100M16,0,50
openb-pod-0002,2,1000,,5,50
"""
INVENTORY = """\
pools: [{id: lab}]
nodes:
  - {id: a, pool: lab, virtual: true, cards: [{type: A100-80G, count: 8}]}
  - {id: b, pool: lab, virtual: true, cards: [{type: A100-80G, count: 8}, {type: H800, count: 2}]}
"""


def test_formats_are_told_by_their_first_line(tmp_path: Path):
    for name, text, cards in (("s.txt", SACCT, [2]), ("p.csv", PODS, [1, 2]), ("t.csv", CSV, [6, 8, 2, 2])):
        (tmp_path / name).write_text(text)
        assert [job.cards for job in replay.read_trace(tmp_path / name).jobs] == cards, name


def test_machines_of_a_file(tmp_path: Path):
    (tmp_path / "nodes.csv").write_text("sn,gpu,model\nn0,2,T4\nn1,2,T4\nn2,8,G2\nn3,0,\n")
    (tmp_path / "lab.yaml").write_text(INVENTORY)
    (tmp_path / "none.csv").write_text("sn,gpu,model\n")
    told = [(kind.count, kind.cards, kind.type.id) for kind in replay.read_cluster(f"{tmp_path}/nodes.csv").machines]
    assert told == [(2, 2, "T4"), (1, 8, "G2")]
    told = [(kind.count, kind.cards, kind.type.id) for kind in replay.read_cluster(f"{tmp_path}/lab.yaml").machines]
    assert told == [(2, 8, "A100-80G"), (1, 2, "H800")]
    with pytest.raises(BadValue):
        replay.read_cluster(f"{tmp_path}/none.csv")
    with pytest.raises(UnreadableTrace):
        replay.read_cluster(f"{tmp_path}/away.yaml")


def test_pods_in_an_order_of_arrival(tmp_path: Path):
    for name, text in (
        ("pods.csv", PODS),
        ("nodes.csv", "sn,gpu,model\nn0,2,T4\n"),
        ("order.csv", "pos,s1\n0,2\n1,1\n2,2\n"),
    ):
        (tmp_path / name).write_text(text)
    asked = ("replay", tmp_path / "pods.csv", "--cluster", tmp_path / "nodes.csv", "--order")
    code, out, _ = run(*asked, f"{tmp_path}/order.csv:s1", "--json")
    assert (code, json.loads(out)["played"], json.loads(out)["submit_window_s"]) == (0, 3, 2)
    assert json.loads(run(*asked, "s1", "--json")[2])["code"] == "value.bad"


def test_an_unknown_zone_is_refused(tmp_path: Path):
    (tmp_path / "s.txt").write_text(SACCT)
    with pytest.raises(BadValue):
        replay.read_trace(tmp_path / "s.txt", zone="Mars/Base")


def test_a_report_is_written(trace: Path, tmp_path: Path):
    folder = tmp_path / "out"
    code, out, _ = run("replay", trace, *ONE, "--against", "fifo", "--report", folder, "--json")
    assert (code, json.loads((folder / "replay.json").read_text())) == (0, json.loads(out))
    assert "重放 t.csv.gz" in (folder / "replay.zh.html").read_text(encoding="utf-8")
    refused = run("replay", trace, *ONE, "--report", trace, "--json")
    assert json.loads(refused[2])["code"] == "replay.report_not_written"
