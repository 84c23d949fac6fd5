"""The servers that tests rely on do start, serve and listen on loopback only."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

import pytest

from tests.servers.fixtures import had
from tests.servers.machine import ServerMissing
from tests.servers.postgres import PostgresServer
from tests.servers.seaweedfs import S3Server

pytestmark = pytest.mark.server


def _listening(port: int) -> set[str]:
    """Local addresses (hex of /proc/net/tcp) that listen on the port."""
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    rows += Path("/proc/net/tcp6").read_text().splitlines()[1:]
    local = (row.split()[1].split(":") for row in rows if row.split()[3] == "0A")
    return {address for address, number in local if int(number, 16) == port}


def test_postgres_answers_on_loopback_only(postgres_server: PostgresServer) -> None:
    postgres_server.sql("SELECT 1")
    assert _listening(postgres_server.port) == {"0100007F"}


def test_each_postgres_database_is_fresh(postgres_server: PostgresServer) -> None:
    assert postgres_server.fresh_database() != postgres_server.fresh_database()


def test_s3_keeps_versions_and_listens_on_loopback_only(s3_server: S3Server) -> None:
    s3, bucket = s3_server.client(), f"b-{uuid.uuid4().hex}"
    s3.create_bucket(Bucket=bucket)
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    first = s3.put_object(Bucket=bucket, Key="k", Body=b"one")["VersionId"]
    s3.put_object(Bucket=bucket, Key="k", Body=b"two")
    assert s3.get_object(Bucket=bucket, Key="k", VersionId=first)["Body"].read() == b"one"
    assert _listening(int(s3_server.endpoint.rsplit(":", 1)[1])) == {"0100007F"}


def test_chromium_runs_and_chinese_has_a_font(chromium_path: Path) -> None:
    told = subprocess.run([chromium_path, "--version"], capture_output=True, text=True, timeout=120, check=True)
    fonts = subprocess.run(["fc-list", ":lang=zh-cn"], capture_output=True, text=True, timeout=60, check=True)
    assert "Chromium" in told.stdout
    assert "Noto" in fonts.stdout


def _missing() -> None:
    raise ServerMissing("no such package")


def test_a_missing_server_is_a_loud_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PAIKA_REQUIRE_SERVERS", raising=False)
    with pytest.warns(UserWarning, match="SKIPPED, a server"), pytest.raises(pytest.skip.Exception):
        had("a server", _missing)


def test_a_missing_server_is_a_failure_where_servers_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIKA_REQUIRE_SERVERS", "1")
    with pytest.raises(pytest.fail.Exception, match="no such package"):
        had("a server", _missing)
