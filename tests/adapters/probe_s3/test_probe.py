"""Prefixes of a bucket on a real S3 server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from uuid import uuid4

import pytest
from tests.ports.probe_promises import ProbePromises

from paika.adapters.probe_s3.probe import S3Probe, S3Profile
from paika.domain.dataset import ProbeKind, ProbeSpec, Readiness

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def bucket(s3_server) -> Iterator[str]:
    name = f"probe-{uuid4().hex[:12]}"
    client = s3_server.client()
    client.create_bucket(Bucket=name)
    for number in range(3):
        client.put_object(Bucket=name, Key=f"coco/{number}", Body=b"x" * 10)
    return name


@pytest.fixture
def silent() -> Iterator[str]:
    """An endpoint that takes the connection and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def probe(s3_server, silent) -> S3Probe:
    keys = (s3_server.access_key, s3_server.secret_key, s3_server.region)
    return S3Probe(
        {
            "default": S3Profile(s3_server.endpoint, *keys),
            "silent": S3Profile(silent, *keys),
            "wrong": S3Profile(s3_server.endpoint, s3_server.access_key, "not the secret", s3_server.region),
            "narrow": S3Profile(s3_server.endpoint, *keys, buckets=("other",)),
        }
    )


class TestS3Probe(ProbePromises):
    @pytest.fixture
    def probe(self, probe) -> S3Probe:  # the one above
        return probe

    @pytest.fixture
    def ready(self, bucket) -> ProbeSpec:
        return ProbeSpec(ProbeKind.S3_PREFIX, f"s3://{bucket}/coco/", want_bytes=30, want_files=3, timeout_s=30)

    @pytest.fixture
    def endless(self, bucket) -> ProbeSpec:
        return ProbeSpec(ProbeKind.S3_PREFIX, f"s3://silent@{bucket}/coco/", timeout_s=1)


@pytest.mark.parametrize(
    ("target", "wants", "readiness", "percent"),
    [
        ("s3://{b}/coco/", {}, Readiness.READY, 100),
        ("s3://{b}", {"want_files": 3}, Readiness.READY, 100),
        ("s3://{b}/coco/", {"want_bytes": 60, "want_files": 3}, Readiness.PREPARING, 50),
        ("s3://{b}/none/", {}, Readiness.BLOCKED, None),
        ("s3://{b}/none/", {"want_files": 1}, Readiness.BLOCKED, 0),
        ("s3://no-such-bucket-here/x", {}, Readiness.BLOCKED, None),
        ("s3://wrong@{b}/coco/", {}, Readiness.UNKNOWN, None),
        ("s3://narrow@{b}/coco/", {}, Readiness.UNKNOWN, None),
        ("s3://nobody@{b}/coco/", {}, Readiness.UNKNOWN, None),
    ],
)
def test_verdicts(probe, bucket, target, wants, readiness, percent):
    result = probe.check(ProbeSpec(ProbeKind.S3_PREFIX, target.format(b=bucket), timeout_s=30, **wants))
    assert (result.readiness, result.percent) == (readiness, percent), result.detail
    assert "secret" not in result.detail


def test_a_profile_does_not_tell_its_secret():
    assert "hush" not in repr(S3Profile("http://127.0.0.1:1", "key", "hush"))
