"""Datasets by people's word: rights, ranges, versions and the trail of each change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from paika.adapters.in_memory.store import InMemoryStore
from paika.domain.access import Actor, Forbidden, Scope
from paika.domain.dataset import ProbeKind, ProbeSpec, Readiness
from paika.domain.dataset_form import Mark, read_dataset_form, read_mark
from paika.domain.person import Person, Role
from paika.domain.problem import BadValue, FieldMissing, NameTaken, NotFound, Several, VersionConflict
from paika.domain.records import Records
from paika.ports.store import AuditQuery
from paika.services.editing import UnknownNoun
from paika.services.mark_ready import change_dataset, create_dataset, mark_dataset

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
LI = Actor("li", Role.MEMBER, (Scope.SUBMIT,), door="api", address="127.0.0.1")
ADMIN = Actor("root", Role.ADMIN, (Scope.ADMIN,), door="cli")
VIEWER = Actor("v", Role.VIEWER, (Scope.READ,))
ZONE = "Asia/Shanghai"


class Noon:
    def now(self) -> datetime:
        return T0


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore(Records(people={"li": Person("li", "李四"), "wang": Person("wang", "王五")}))


def made(store: InMemoryStore, **raw: object) -> str:
    return create_dataset(store, Noon(), LI, read_dataset_form({"name": "coco", **raw}, ZONE)).id


def test_a_dataset_is_made_numbered_and_audited(store):
    assert made(store, id="d-2") == "d-2"
    assert made(store) == "d-1"
    assert made(store, owner="李四", percent="30%") == "d-3"
    dataset = store.read().datasets["d-3"]
    assert (dataset.readiness, dataset.percent, dataset.owner) == (Readiness.PREPARING, 30, "li")
    assert (dataset.set_by, dataset.changed_at, dataset.version) == ("li", T0, 1)
    trail = store.audit(AuditQuery(subject="d-3")).rows
    assert [(line.act, line.person, line.door, line.new["percent"]) for line in trail] == [
        ("create_dataset", "li", "api", "30")
    ]


def test_an_id_is_taken_once(store):
    made(store, id="coco")
    with pytest.raises(NameTaken):
        made(store, id="coco")


def test_marking_moves_the_version_and_a_stale_editor_is_told(store):
    key = made(store)
    eta = T0 + timedelta(hours=2)
    marked = mark_dataset(store, Noon(), LI, key, Readiness.PREPARING, 40, eta, "copying", "wang", if_version=1)
    assert (marked.version, marked.percent, marked.eta, marked.owner) == (2, 40, eta, "wang")
    with pytest.raises(VersionConflict) as caught:
        mark_dataset(store, Noon(), LI, key, Readiness.READY, if_version=1)
    assert (caught.value.read, caught.value.current) == (1, 2)
    ready = mark_dataset(store, Noon(), LI, key, Readiness.READY, if_version=2)
    assert (ready.percent, ready.eta, ready.owner, ready.version) == (100, None, "wang", 3)


def test_marking_what_it_already_is_moves_nothing_but_leaves_a_line(store):
    key = made(store, readiness="ready")
    assert mark_dataset(store, Noon(), LI, key, Readiness.READY).version == 1
    line = store.audit(AuditQuery(subject=key)).rows[0]
    assert (line.act, line.old, line.new) == ("mark_dataset", {}, {})


@pytest.mark.parametrize(
    ("mark", "field"),
    [
        (Mark(Readiness.PREPARING, 101), "percent"),
        (Mark(Readiness.PREPARING, -1), "percent"),
        (Mark(Readiness.READY, 99), "percent"),
        (Mark(Readiness.READY, 100, T0 + timedelta(hours=1)), "eta"),
        (Mark(Readiness.PREPARING, 1, T0), "eta"),
    ],
)
def test_impossible_marks_are_refused(store, mark, field):
    key = made(store)
    with pytest.raises(BadValue) as caught:
        mark_dataset(store, Noon(), LI, key, mark.readiness, mark.percent, mark.eta)
    assert caught.value.field == field
    assert store.read().datasets[key].version == 1


def test_unknown_people_and_datasets_are_refused(store):
    key = made(store)
    with pytest.raises(UnknownNoun):
        mark_dataset(store, Noon(), LI, key, Readiness.READY, owner="nobody")
    with pytest.raises(NotFound):
        mark_dataset(store, Noon(), LI, "none", Readiness.READY)


def test_a_viewer_may_not_and_the_refusal_is_kept(store):
    key = made(store)
    with pytest.raises(Forbidden):
        mark_dataset(store, Noon(), VIEWER, key, Readiness.READY)
    assert store.audit(AuditQuery(subject=key)).rows[0].result == "access.forbidden"


def test_a_command_probe_needs_a_right_of_its_own(store):
    draft = read_dataset_form({"name": "x", "probe": "command", "argv": "test -f /data/x"}, ZONE)
    assert draft.probe == ProbeSpec(ProbeKind.COMMAND, argv=("test", "-f", "/data/x"))
    with pytest.raises(Forbidden):
        create_dataset(store, Noon(), LI, draft)
    key = create_dataset(store, Noon(), ADMIN, draft).id
    with pytest.raises(Forbidden):
        change_dataset(store, Noon(), LI, key, "x", draft.probe)
    assert change_dataset(store, Noon(), LI, key, "y", None).name == "y"


def test_changing_keeps_what_is_known(store):
    key = made(store, readiness="ready")
    before = store.read().datasets[key]
    probe = ProbeSpec(ProbeKind.MARKER, "/data/done")
    assert change_dataset(store, Noon(), LI, key, "coco", probe) == replace(before, probe=probe, version=2)


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ({}, [(FieldMissing, "name")]),
        ({"name": "a", "probe": "path"}, [(FieldMissing, "target")]),
        ({"name": "a", "probe": "path", "target": "rel"}, [(BadValue, "target")]),
        ({"name": "a", "probe": "url", "target": "file:///etc/passwd"}, [(BadValue, "target")]),
        ({"name": "a", "probe": "s3_prefix", "target": "/x"}, [(BadValue, "target")]),
        ({"name": "a", "probe": "command"}, [(FieldMissing, "argv")]),
        ({"name": "a", "target": "/x"}, [(FieldMissing, "probe")]),
        ({"name": "a", "percent": "101%", "timeout": "1h"}, [(BadValue, "percent"), (BadValue, "timeout")]),
        ({"name": "a", "readiness": "ready", "eta": "2026-12-02"}, [(BadValue, "eta")]),
    ],
)
def test_the_form_of_a_dataset_names_every_problem(raw, found):
    with pytest.raises(Several) as caught:
        read_dataset_form(raw, ZONE)
    assert [(type(p), p.field) for p in caught.value.problems] == found


def test_the_form_of_a_mark():
    assert read_mark({"就绪度": "30.9％"}, ZONE) == Mark(Readiness.PREPARING, 30)
    assert read_mark({"状态": "就绪"}, ZONE) == Mark(Readiness.READY, 100)
    assert read_mark({"percent": 100}, ZONE) == Mark(Readiness.READY, 100)
    with pytest.raises(Several):
        read_mark({}, ZONE)
