"""Replays on this machine: which file is read how, and what the words of a command line mean."""

from __future__ import annotations

import zlib
from pathlib import Path

from paika.adapters.codec.nouns import decode
from paika.adapters.trace_csv.reader import CsvTraceReader
from paika.adapters.trace_swf.reader import SwfTraceReader
from paika.domain.policy import Policy
from paika.domain.problem import BadValue
from paika.domain.trace import Trace, UnreadableTrace
from paika.ports.store import Unreadable
from paika.ports.trace import TraceReader
from paika.services.replay_trace import Comparison, Lengths, Progress, Question, replay_trace
from paika.simulation.baselines import rules_of
from paika.simulation.load import cluster_of
from paika.simulation.policies import DEFAULT, POLICIES, UnknownPolicy, UnreadablePolicy
from paika.simulation.replay import NAME

GZIP_MAGIC = b"\x1f\x8b"
MOST_BYTES = 512 * 1024 * 1024
GZIP_WINDOW = 31
LONGEST_STEP_S = 86_400


def read_trace(path: Path, *, absolute: bool = False) -> Trace:
    """The trace in a file; one named .swf or .swf.gz is SWF, any other CSV. Raises UnreadableTrace."""
    name = path.name
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as fault:
        raise UnreadableTrace("trace", name, "missing", fault.strerror or "") from None
    if data.startswith(GZIP_MAGIC):
        data = _unpacked(data, name)
    if len(data) > MOST_BYTES:
        raise UnreadableTrace("trace", name, "too_big", f"{MOST_BYTES} B")
    reader: TraceReader = CsvTraceReader()
    if name.lower().removesuffix(".gz").endswith(".swf"):
        reader = SwfTraceReader(absolute=absolute)
    return reader.read(data, name)


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
    dry_run: bool,
    progress: Progress | None,
) -> Comparison:
    """Play a trace as the command line asks. Raises problems of the file and of what was asked."""
    lengths, seed = lengths_of(estimates)
    question = Question(
        cluster=cluster_of(cluster),
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
    read = read_trace(trace, absolute=absolute)
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
