"""Settings of a server: one YAML file, each value also from the environment; everything has a default."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar
from zoneinfo import ZoneInfo, available_timezones

from paika.adapters.probe_s3.probe import S3Profile
from paika.domain.problem import Kind, Problem, UnknownField
from paika.interfaces.wording.catalogue import Lang

DEFAULT_PORT = 8750


@dataclass(eq=False)
class BadSettings(Problem):
    """The settings file or an environment variable says something that cannot be used."""

    code: ClassVar[str] = "settings.bad"
    kind: ClassVar[Kind] = Kind.INVALID
    detail: str


def default_data() -> Path:
    """$XDG_DATA_HOME/paika, usually ~/.local/share/paika."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "paika"


def local_zone() -> str:
    """The machine's time zone by name, UTC if it has none."""
    name = os.environ.get("TZ", "").lstrip(":")
    if not name:
        target = os.path.realpath("/etc/localtime")
        name = target.partition("zoneinfo/")[2]
    try:
        return ZoneInfo(name).key if name else "UTC"
    except (KeyError, ValueError, OSError):
        return "UTC"


def host_slug() -> str:
    """The host's name as an id."""
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in socket.gethostname().lower())
    return name.strip("-")[:40] or "local"


@dataclass(frozen=True, slots=True)
class Settings:
    """`data` holds runs, the SQLite file and keys. `node` is this host's id in the inventory.

    `probe_roots` are the folders that path probes may look below. A server that runs as root runs tasks as the
    Unix account that `accounts` maps their owner to, and nobody else's; `run_as_root` gives all tasks root's
    rights instead, for a machine of one's own. Environment: PAIKA_DATA, PAIKA_HOST, ...
    """

    data: Path = field(default_factory=default_data)
    database: str = ""
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    zone: str = field(default_factory=local_zone)
    lang: str = "zh"
    site: str = ""
    inventory: Path | None = None
    node: str = field(default_factory=host_slug)
    team: str = "lab"
    meter_every_s: int = 5
    probe_roots: tuple[Path, ...] = field(default_factory=lambda: (Path.home(),))
    probe_private_urls: bool = False
    https: bool = False
    s3: Mapping[str, S3Profile] = field(default_factory=dict)
    accounts: Mapping[str, str] = field(default_factory=dict)
    run_as_root: bool = False

    @property
    def database_url(self) -> str:
        """Where the records are: the setting, else SQLite in the data folder."""
        return self.database or f"sqlite:///{self.data / 'paika.db'}"


def load_settings(path: Path | None, environment: Mapping[str, str] | None = None) -> Settings:
    """Defaults, then the file, then PAIKA_<NAME>; an empty value says nothing. Raises BadSettings, UnknownField."""
    import yaml

    raw: dict[str, Any] = {}
    if path is not None:
        try:
            loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as fault:
            raise BadSettings(field=None, detail=str(fault)[:300]) from fault
        if loaded is not None and not isinstance(loaded, dict):
            raise BadSettings(field=None, detail="the top level is no mapping")
        raw = dict(loaded or {})
    names = {f.name for f in fields(Settings)}
    for unknown in raw.keys() - names:
        raise UnknownField(field=str(unknown), nearest=tuple(sorted(names)))
    env = os.environ if environment is None else environment
    for name in names - {"s3", "probe_roots", "accounts"}:
        if value := env.get(f"PAIKA_{name.upper()}"):
            raw[name] = value
    if roots := env.get("PAIKA_PROBE_ROOTS"):
        raw["probe_roots"] = roots.split(os.pathsep)
    return replace(Settings(), **{name: _read(name, value) for name, value in raw.items() if value is not None})


def _read(name: str, value: Any) -> Any:
    try:
        return _READERS.get(name, str)(value)
    except (TypeError, ValueError) as fault:
        raise BadSettings(field=name, detail=str(fault)[:300]) from fault


def _path(value: Any) -> Path:
    return Path(str(value)).expanduser().absolute()


def _paths(value: Any) -> tuple[Path, ...]:
    """A list; a single text would be taken for a list of its characters, the root folder among them."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return tuple(_path(one) for one in value)


def _number(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(str(value))
        if not low <= number <= high:
            raise ValueError(f"{number} is not within {low}..{high}")
        return number

    return read


def _switch(value: Any) -> bool:
    word = str(value).lower()
    if word not in _ON | _OFF:
        raise ValueError(f"{value} is neither yes nor no")
    return word in _ON


def _zone(value: Any) -> str:
    if str(value) not in available_timezones():
        raise ValueError(f"{value} is no time zone")
    return str(value)


def _lang(value: Any) -> str:
    return Lang(str(value)).value


def _profiles(value: Any) -> dict[str, S3Profile]:
    return {str(key): S3Profile(**profile) for key, profile in dict(value).items()}


def _accounts(value: Any) -> dict[str, str]:
    return {str(person): str(account) for person, account in dict(value).items()}


_ON, _OFF = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "data": _path,
    "inventory": _path,
    "probe_roots": _paths,
    "port": _number(1, 65_535),
    "meter_every_s": _number(1, 3_600),
    "probe_private_urls": _switch,
    "https": _switch,
    "run_as_root": _switch,
    "zone": _zone,
    "lang": _lang,
    "s3": _profiles,
    "accounts": _accounts,
}
