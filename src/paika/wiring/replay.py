"""Replays on this machine: which file is read how, and what the words of a command line mean."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from paika.adapters.codec.nouns import decode
from paika.adapters.inventory_yaml.reader import read_inventory
from paika.adapters.trace_csv.reader import CsvTraceReader
from paika.adapters.trace_openb.reader import OpenbTraceReader, ordered, read_machines
from paika.adapters.trace_sacct.reader import SacctTraceReader
from paika.adapters.trace_swf.reader import SwfTraceReader
from paika.domain.card import CardType
from paika.domain.catalogue import CATALOGUE
from paika.domain.inventory import Inventory
from paika.domain.policy import Policy
from paika.domain.problem import BadValue
from paika.domain.trace import Trace, UnreadableTrace
from paika.ports.store import Unreadable
from paika.ports.trace import TraceReader
from paika.services.replay_trace import Comparison, Lengths, Progress, Question, replay_trace
from paika.simulation.baselines import rules_of
from paika.simulation.load import CLUSTER_LIKE, Cluster, Machines, cluster_of
from paika.simulation.policies import DEFAULT, POLICIES, UnknownPolicy, UnreadablePolicy
from paika.simulation.replay import NAME

GZIP_MAGIC = b"\x1f\x8b"
MOST_BYTES = 512 * 1024 * 1024
GZIP_WINDOW = 31
MOST_OF_HEAD = 10_000
LONGEST_STEP_S = 86_400


def read_trace(path: Path, *, absolute: bool = False, zone: str | None = None) -> Trace:
    """The trace in a file; .swf is SWF by its name, others are told by their first line. Raises UnreadableTrace."""
    return _reader(path.name, data := read_file(path), absolute, zone).read(data, path.name)


def read_file(path: Path, field: str = "trace") -> bytes:
    """What a file holds, unpacked. Raises UnreadableTrace."""
    name = path.name
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as fault:
        raise UnreadableTrace(field, name, "missing", fault.strerror or "") from None
    if data.startswith(GZIP_MAGIC):
        data = _unpacked(data, name)
    if len(data) > MOST_BYTES:
        raise UnreadableTrace("trace", name, "too_big", f"{MOST_BYTES} B")
    return data


def _reader(name: str, data: bytes, absolute: bool, zone: str | None) -> TraceReader:
    if name.lower().removesuffix(".gz").endswith(".swf"):
        return SwfTraceReader(absolute=absolute)
    head = data.lstrip()[:MOST_OF_HEAD].splitlines()[:1]
    if head and b"|" in head[0] and b"JobID" in head[0]:
        return SacctTraceReader(_zone(zone))
    if head and b"num_gpu" in head[0]:
        return OpenbTraceReader()
    return CsvTraceReader()


def _zone(asked: str | None) -> ZoneInfo:
    try:
        return ZoneInfo(asked or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        raise BadValue(field="zone", value=(asked or "")[:80], allowed="Asia/Shanghai, UTC") from None


def _in_order(trace: Trace, asked: str) -> Trace:
    """The pods of a trace in the order of FILE:COLUMN. Raises BadValue, UnreadableTrace."""
    file, _, column = asked.rpartition(":")
    if not file:
        raise BadValue(field="order", value=asked[:80], allowed="FILE:COLUMN")
    return ordered(trace, read_file(Path(file), "order"), Path(file).name, column)


def read_cluster(asked: str) -> Cluster:
    """'64x8:A100-80G', or a file: an inventory (.yaml, .yml), or machines of openb (.csv). Raises their problems."""
    path = Path(asked)
    name = asked.lower().removesuffix(".gz")
    if name.endswith((".yaml", ".yml")):
        return cluster_in(read_inventory(read_file(path, "cluster").decode("utf-8", "replace"), "UTC"))
    if name.endswith(".csv"):
        return cluster_from(read_machines(read_file(path, "cluster"), path.name))
    return cluster_of(asked)


def cluster_in(inventory: Inventory) -> Cluster:
    """The declared cards of an inventory; a machine with cards of several types counts as one for each of them."""
    known = {kind.id: kind for kind in (*CATALOGUE, *inventory.card_types)}
    counted = Counter((card.node, card.type) for card in inventory.cards)
    return cluster_from((count, known[type_id]) for (_, type_id), count in counted.items())


def cluster_from(machines: Iterable[tuple[int, CardType]]) -> Cluster:
    """Machines by cards and type. Raises BadValue if there is none."""
    listed = list(machines)
    kinds = {kind.id: kind for _, kind in listed}
    counted = Counter((cards, kind.id) for cards, kind in listed)
    if not counted:
        raise BadValue(field="cluster", value="0", allowed=CLUSTER_LIKE)
    return Cluster(tuple(Machines(count, cards, kinds[type_id]) for (cards, type_id), count in counted.items()))


def _unpacked(data: bytes, name: str) -> bytes:
    """At most one byte more than is allowed, whatever the packed file would grow to. Raises UnreadableTrace."""
    made = bytearray()
    try:
        while data and len(made) <= MOST_BYTES:
            unpacker = zlib.decompressobj(GZIP_WINDOW)
            made += unpacker.decompress(data, MOST_BYTES + 1 - len(made))
            if not unpacker.eof and len(made) <= MOST_BYTES:
                raise UnreadableTrace("trace", name, "packed")
            data = unpacker.unused_data
    except zlib.error:
        raise UnreadableTrace("trace", name, "packed") from None
    return bytes(made)


def replay(
    *,
    trace: Path,
    cluster: str,
    policy: str | None,
    against: str | None,
    seeds: int | None,
    jobs: int | None,
    estimates: str | None,
    tiers: int | None,
    readiness: int | None,
    vram: int | None,
    every: int | None,
    absolute: bool,
    order: str | None,
    zone: str | None,
    dry_run: bool,
    progress: Progress | None,
) -> Comparison:
    """Play a trace as the command line asks. Raises problems of the file and of what was asked."""
    lengths, seed = lengths_of(estimates)
    question = Question(
        cluster=read_cluster(cluster),
        rules=rules_of(against or ""),
        lengths=lengths,
        length_seed=seed,
        tier_seed=tiers,
        readiness_seed=readiness,
        vram_seed=vram,
        orders=1 if seeds is None else seeds,
        most=_within(jobs, "jobs", None),
        every_s=_within(every, "every", LONGEST_STEP_S),
    )
    policies = policies_of(policy or DEFAULT)
    read = read_trace(trace, absolute=absolute, zone=zone)
    if order is not None:
        read = _in_order(read, order)
    return replay_trace(read, question, policies, dry_run=dry_run, progress=progress)


def policies_of(asked: str) -> dict[str, Policy]:
    """Names of known policies or JSON files, joined by commas; as rules they are 'paika' or 'paika:NAME'.

    A file holds what `paika policy show --json` prints, or a part of it. Raises UnknownPolicy, UnreadablePolicy.
    """
    found: dict[str, Policy] = {}
    for name in filter(None, map(str.strip, asked.split(","))):
        path = Path(name)
        if name in POLICIES:
            found[NAME if name == DEFAULT else f"{NAME}:{name}"] = POLICIES[name]
        elif path.suffix == ".json":
            found[f"{NAME}:{path.stem}"] = _policy_in(path)
        else:
            raise UnknownPolicy(field="policy", asked=name[:80], policies=tuple(POLICIES))
    return found or {NAME: POLICIES[DEFAULT]}


def _policy_in(path: Path) -> Policy:
    try:
        return decode(Policy, path.read_text(encoding="utf-8"))
    except Unreadable as fault:
        raise UnreadablePolicy(field="policy", name=path.name, detail=fault.detail) from None
    except (OSError, UnicodeDecodeError) as fault:
        raise UnreadablePolicy(field="policy", name=path.name, detail=str(fault)[:200]) from None


def lengths_of(asked: str | None) -> tuple[Lengths, int]:
    """'exact', or the seed of synthetic lengths; nothing: what the trace knows. Raises BadValue."""
    if not asked:
        return Lengths.TRACE, 0
    if asked == Lengths.EXACT:
        return Lengths.EXACT, 0
    if not (asked.isascii() and asked.isdigit() and len(asked) <= 9):
        raise BadValue(field="estimates", value=asked[:80], allowed="exact|0..999999999")
    return Lengths.SYNTHETIC, int(asked)


def _within(value: int | None, field: str, most: int | None) -> int | None:
    if value is not None and (value < 1 or (most is not None and value > most)):
        raise BadValue(field=field, value=str(value), allowed=f"1..{most}" if most else "≥ 1")
    return value
