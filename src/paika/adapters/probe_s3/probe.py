"""S3_PREFIX: what lies below a prefix. Endpoints and keys come from profiles of the settings, never from a dataset.

A target is `s3://bucket/prefix`, for the profile called 'default', or `s3://profile@bucket/prefix`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paika.adapters.patience.within import Patience
from paika.domain.dataset import ProbeKind, ProbeResult, ProbeSpec, Readiness

DEFAULT = "default"
_TARGET = re.compile(r"s3://(?:([A-Za-z0-9_-]{1,40})@)?([A-Za-z0-9][A-Za-z0-9._-]{1,62})(?:/(.*))?")
_GONE = frozenset({"NoSuchBucket", "NoSuchKey", "404"})


@dataclass(frozen=True, slots=True)
class S3Profile:
    """How to reach one store. `buckets` limits what may be looked at; empty means all that the key may see."""

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = "us-east-1"
    path_style: bool = True
    buckets: tuple[str, ...] = ()


class S3Probe:
    """Counts objects and bytes below a prefix."""

    kinds = (ProbeKind.S3_PREFIX,)

    def __init__(self, profiles: Mapping[str, S3Profile]) -> None:
        self._profiles = dict(profiles)
        self._clients: dict[tuple[str, int], Any] = {}
        self._patience: Patience[ProbeResult] = Patience()

    def check(self, spec: ProbeSpec) -> ProbeResult:
        """Look once, within the spec's timeout."""
        found = _TARGET.fullmatch(spec.target)
        if spec.kind not in self.kinds or found is None:
            return _unknown("no s3://bucket/prefix")
        name, bucket, prefix = found[1] or DEFAULT, found[2], found[3] or ""
        profile = self._profiles.get(name)
        if profile is None:
            return _unknown(f"no S3 profile called {name}")
        if profile.buckets and bucket not in profile.buckets:
            return _unknown(f"the profile {name} does not reach this bucket")
        return self._patience.within(
            spec.timeout_s,
            spec.target,
            lambda: self._guarded(spec, name, profile, bucket, prefix),
            lambda: _unknown(f"no answer within {spec.timeout_s} s"),
        )

    def _guarded(self, spec: ProbeSpec, name: str, profile: S3Profile, bucket: str, prefix: str) -> ProbeResult:
        try:
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError:
            return _unknown("boto3 is not installed (paika[s3])")
        try:
            return self._count(spec, self._client(name, profile, spec.timeout_s), bucket, prefix)
        except ClientError as fault:
            code = str(fault.response.get("Error", {}).get("Code", ""))
            return ProbeResult(Readiness.BLOCKED if code in _GONE else Readiness.UNKNOWN, None, code[:100])
        except (BotoCoreError, ValueError, OSError) as fault:
            return _unknown(type(fault).__name__)

    def _count(self, spec: ProbeSpec, client: Any, bucket: str, prefix: str) -> ProbeResult:
        deadline = time.monotonic() + spec.timeout_s * 0.9
        files = size = 0
        wants = [want for want in (spec.want_bytes, spec.want_files) if want]
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            for one in page.get("Contents", ()):
                files += 1
                size += int(one["Size"])
            if wants and _percent(spec, size, files) == 100:
                break
            if time.monotonic() > deadline:
                detail = f"time was up after {files} objects, {size} bytes"
                return ProbeResult(Readiness.UNKNOWN, _percent(spec, size, files) if wants else None, detail)
        percent = _percent(spec, size, files) if wants else None
        if not files:
            return ProbeResult(Readiness.BLOCKED, percent, "nothing there")
        if percent in (None, 100):
            return ProbeResult(Readiness.READY, 100, f"{files} objects, {size} bytes")
        return ProbeResult(Readiness.PREPARING, percent, f"{files} objects, {size} bytes")

    def _client(self, name: str, profile: S3Profile, timeout_s: int) -> Any:
        wait = max(1, min(timeout_s, 10))
        if (name, wait) not in self._clients:
            import boto3
            from botocore.config import Config

            self._clients[name, wait] = boto3.session.Session().client(
                "s3",
                endpoint_url=profile.endpoint,
                aws_access_key_id=profile.access_key,
                aws_secret_access_key=profile.secret_key,
                region_name=profile.region,
                config=Config(
                    signature_version="s3v4",
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                    s3={
                        "payload_signing_enabled": True,
                        "addressing_style": "path" if profile.path_style else "virtual",
                    },
                    connect_timeout=wait,
                    read_timeout=wait,
                    retries={"max_attempts": 1},
                    proxies={},
                ),
            )
        return self._clients[name, wait]


def _percent(spec: ProbeSpec, size: int, files: int) -> int:
    pairs = ((size, spec.want_bytes), (files, spec.want_files))
    return min((min(100, have * 100 // want) for have, want in pairs if want), default=100)


def _unknown(detail: str) -> ProbeResult:
    return ProbeResult(Readiness.UNKNOWN, None, detail)
