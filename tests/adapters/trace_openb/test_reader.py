"""Pods, machines and orders of arrival of openb."""

from __future__ import annotations

import pytest

from paika.adapters.trace_openb.reader import OpenbTraceReader, ordered, read_machines
from paika.domain.trace import FlawKind, Job, Trace, UnreadableTrace

HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"


def read(*rows: str, head: str = HEAD) -> Trace:
    return OpenbTraceReader().read("\n".join([head, *rows, ""]).encode(), "pods.csv")


def test_pods():
    trace = read(
        "openb-pod-0017,88000,327680,8,1000,V100M16|V100M32,LS,Running,9437497,10769854,9437497",
        "openb-pod-0002,1,1,1,460,,BE,Failed,5,15,",
        "openb-pod-0003,1,1,0,0,,LS,Running,6,16,6",
        "openb-pod-0004,1,1,1,1000,,LS,Running,7,7,7",
    )
    assert trace.jobs[3] == Job("openb-pod-0017", 9437497, 1332357, 8, types=("V100M16", "V100M32"), line=2)
    assert [(job.id[-1], job.cards, job.milli, job.playable) for job in trace.jobs[:3]] == [
        ("2", 1, 460, True),
        ("3", 0, None, False),
        ("4", 1, None, False),
    ]
    assert [(flaw.line, flaw.kind) for flaw in trace.flaws] == [
        (3, FlawKind.PART),
        (4, FlawKind.NO_CARDS),
        (5, FlawKind.NO_LENGTH),
    ]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("a,1,1,one,1000,,LS,Running,0,5,0", FlawKind.VALUE),
        ("a,1,1,1,1000,,LS,Running,,5,0", FlawKind.VALUE),
        (",1,1,1,1000,,LS,Running,0,5,0", FlawKind.VALUE),
        ("a,1,1,1,1000,,LS,Running,0,-5,0", FlawKind.VALUE),
        ("a,1,1", FlawKind.FIELDS),
    ],
)
def test_a_bad_line_costs_that_line(row: str, kind: FlawKind):
    trace = read(row, "b,1,1,1,1000,,LS,Running,0,5,0", "b,1,1,1,1000,,LS,Running,0,5,0")
    assert [job.id for job in trace.jobs] == ["b", "b~2"]
    assert sorted((flaw.line, flaw.kind, flaw.lost) for flaw in trace.flaws) == [
        (2, kind, True),
        (4, FlawKind.TWICE, False),
    ]


def test_machines_in_both_spellings():
    for text in ("sn,cpu_milli,memory_mib,gpu,model\nn0,1,1,2,V100M16\nn1,1,1,8,G2\nn2,1,1,0,\n",
                 "node_id,gpu_type,gpus,cpu_milli,mem_mib\nn0,V100M16,2,1,1\nn1,G2,8,1,1\n"):  # fmt: skip
        (two, v100), (eight, g2) = read_machines(text.encode(), "nodes.csv")
        assert (two, v100.id, v100.vram_mib, eight, g2.id, g2.vram_mib) == (2, "V100M16", 16384, 8, "G2", 0)


@pytest.mark.parametrize(
    ("text", "cause", "detail"),
    [("a,b\n1,2\n", "columns", "sn, gpu, model"), ("sn,gpu,model\nn0,two,T4\n", "machines", "2")],
)
def test_a_bad_line_of_machines_is_refused(text: str, cause: str, detail: str):
    with pytest.raises(UnreadableTrace) as refused:
        read_machines(text.encode(), "nodes.csv")
    assert (refused.value.cause, refused.value.detail) == (cause, detail)


def test_an_order_of_arrival():
    pods = read("openb-pod-0010,1,1,1,1000,,LS,Running,50,55,0", "openb-pod-0020,1,1,2,1000,,LS,Running,70,80,0")
    order = b"pos,seed42,seed43\n0,20,10\n1,10,20\n2,20,\n"
    jobs = ordered(pods, order, "order.csv", "seed42").jobs
    assert [(job.id, job.submit_s, job.duration_s) for job in jobs] == [
        ("openb-pod-0020", 0, 10),
        ("openb-pod-0010", 1, 5),
        ("openb-pod-0020~2", 2, 10),
    ]
    assert len(ordered(pods, order, "order.csv", "seed43").jobs) == 2
    for text, column in ((order, "seed9"), (b"pos,seed42\n0,7\n", "seed42")):
        with pytest.raises(UnreadableTrace):
            ordered(pods, text, "order.csv", column)


def test_what_is_no_list_of_pods():
    with pytest.raises(UnreadableTrace):
        read(head="name,num_gpu")
