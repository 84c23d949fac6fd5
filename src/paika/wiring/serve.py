"""`paika server start`: first-time set-up, then the server until it is told to stop."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from pathlib import Path
from threading import Event
from types import FrameType

import structlog
import uvicorn

from paika.adapters.inventory_yaml.reader import read_inventory
from paika.adapters.meter_npu.meter import NpuSmiMeter
from paika.adapters.meter_nvml.nvml import NvmlMeter
from paika.domain.access import SERVER
from paika.domain.inventory import Inventory
from paika.domain.node import Node
from paika.domain.pool import Pool
from paika.services.load_inventory import load_inventory
from paika.services.manage_access import bootstrap_admin
from paika.wiring.server import LOCAL, Server, build_server
from paika.wiring.settings import BadSettings, Settings

TOKEN_FILE = "admin.token"  # noqa: S105 - a file name
SWITCH_S = 0.0005  # how long the planner keeps readers waiting at each handing over; 5 ms is the interpreter's own
# A look through all that a long queue keeps stops every reader for 0.1 s and frees nothing, so it is seldom. Looks at
# what is new are often, as each stops them for as long as there are new objects: 0.3 ms for a thousand.
GC_SELDOM = (3_000, 6, 2_000)
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(settings: Settings) -> int:
    """Run a server until SIGTERM or Ctrl-C; running tasks go on without it. Returns the exit code."""
    _log_to_stderr()
    sys.setswitchinterval(SWITCH_S)
    gc.set_threshold(*GC_SELDOM)
    server = build_server(settings)
    try:
        with bound(
            settings.host, settings.port
        ) as door:  # before anything is begun that a taken address would leave behind
            _load(server)
            _first_admin(server)
            server.start()
            _listen(server, door)
    finally:
        server.close()
    return 0


def read_inventory_file(path: Path, zone: str) -> Inventory:
    """The inventory in a file. Raises its problems; BadSettings if the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadSettings(field="inventory", detail=f"{path}: {fault}"[:300]) from fault
    return read_inventory(text, zone)


def _load(server: Server) -> None:
    settings, records = server.settings, server.store.read()
    if settings.inventory is not None:
        inventory = read_inventory_file(settings.inventory, settings.zone)
    elif records.nodes or not _sees_cards(server):
        return
    else:
        inventory = Inventory(pools=(Pool("lab"),), nodes=(Node(settings.node, "lab", LOCAL),))
    for difference in load_inventory(server.store, server.clock, SERVER, inventory):
        _say(f"  {difference.act} {difference.noun} {difference.id}")


def _sees_cards(server: Server) -> bool:
    """Whether this host has cards of its own; their node is made on the first start."""
    meters = (NvmlMeter(server.settings.node), NpuSmiMeter(server.settings.node))
    return any(look.readings for meter in meters for look in meter.look(server.clock.now()))


def _first_admin(server: Server) -> None:
    """Make the first admin; its token goes into a file that only the server's user can read."""
    token = bootstrap_admin(server.store, server.clock, server.ids, team=server.settings.team)
    path = server.settings.data / TOKEN_FILE
    if token is not None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(token.secret + "\n")
    settings = server.settings
    address = f"http://{settings.host}:{settings.port}"
    if settings.host not in _LOOPBACK:
        _say("! 监听非本机地址：请放在 HTTPS 反向代理之后。 Listening beyond loopback: put it behind HTTPS.")
    if os.geteuid() == 0 and not settings.run_as_root:
        mapped = len(settings.accounts)
        _say(f"! 以 root 运行：任务用提交人对应的系统账号跑（已配 {mapped} 个，见设置 accounts），没有对应的不能跑。")
        _say(f"  Running as root: tasks run as their owners' Unix accounts ({mapped} mapped, setting `accounts`).")
        _say("  只有自己用的机器 on a machine of your own: PAIKA_RUN_AS_ROOT=1")
    _say(f"paika 排卡  {address}   数据 data: {settings.data}")
    if path.exists():
        code = server.ids.token(16)
        server.context.once[code] = path.read_text(encoding="ascii").strip()
        _say(f"  浏览器登录（只能用一次） log in, once: {address}/login?once={code}")
        _say(f"  管理员令牌 admin token: {path}")
        _say(f"  命令行 command line:   paika login --url {address} < {path}")


def bound(host: str, port: int) -> socket.socket:
    """A listening socket. Raises BadSettings if the address cannot be had.

    With the protocol named, asyncio sends small answers at once; without, each one waits 40 ms for the client's word.
    """
    door = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, port))
        door.listen(2048)
    except OSError as fault:
        door.close()
        raise BadSettings(field="port", detail=f"{host}:{port}: {fault.strerror or fault}") from fault
    return door


class _Http(uvicorn.Server):
    """Uvicorn, which on a signal also ends open streams; it would wait for them otherwise."""

    def __init__(self, config: uvicorn.Config, closing: Event) -> None:
        super().__init__(config)
        self._closing = closing

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM or Ctrl-C."""
        self._closing.set()
        super().handle_exit(sig, frame)


def _listen(server: Server, door: socket.socket) -> None:
    """Serve HTTP in this thread until a signal comes."""
    config = uvicorn.Config(
        server.app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
        proxy_headers=False,
    )
    http = _Http(config, server.closing)

    def stop(number: int, frame: FrameType | None) -> None:
        server.closing.set()
        http.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)  # before uvicorn listens to signals, and again after it
    http.run(sockets=[door])


def _log_to_stderr() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
