"""The login kept for this user: one file that nobody else can read, a token for each server."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from paika.domain.problem import Kind, Problem

DEFAULT_URL = "http://127.0.0.1:8750"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(eq=False)
class LoginFileOpen(Problem):
    """Others than the user may read the file with the tokens."""

    code: ClassVar[str] = "cli.login_file_open"
    kind: ClassVar[Kind] = Kind.REFUSED
    path: str


@dataclass(eq=False)
class LoginFileBroken(Problem):
    """The file with the tokens cannot be read."""

    code: ClassVar[str] = "cli.login_file_broken"
    kind: ClassVar[Kind] = Kind.INVALID
    path: str


@dataclass(eq=False)
class TokenFileUnreadable(Problem):
    """The file that should hold a token cannot be read, or holds none."""

    code: ClassVar[str] = "cli.token_file_unreadable"
    kind: ClassVar[Kind] = Kind.INVALID
    path: str


@dataclass(frozen=True, slots=True)
class Logins:
    """The server used when none is named, and the token for each server. A token goes to its own server only."""

    url: str = ""
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)


def login_path(environ: Mapping[str, str]) -> Path:
    """$XDG_CONFIG_HOME/paika/login.json, usually ~/.config/paika/login.json."""
    base = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME") or Path.home()) / ".config"
    return Path(base) / "paika" / "login.json"


def tidy_url(url: str) -> str:
    """The address of a server as compared: with a scheme, without a slash at its end."""
    bare = url.strip().rstrip("/").removesuffix("/api/v1")
    return bare if "://" in bare or not bare else f"http://{bare}"


def read_logins(path: Path) -> Logins:
    """What is stored; nothing if there is no file. Raises LoginFileOpen, LoginFileBroken."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise LoginFileOpen(field=None, path=str(path))
            told = json.load(file)
        return Logins(str(told["url"]), {str(url): str(token) for url, token in dict(told["tokens"]).items()})
    except FileNotFoundError:
        return Logins()
    except (OSError, ValueError, TypeError, KeyError):
        raise LoginFileBroken(field=None, path=str(path)) from None


def write_logins(path: Path, logins: Logins) -> None:
    """Replace the file as a whole; only the user may read it from the first byte on."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"url": logins.url, "tokens": dict(logins.tokens)}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def token_in(path: Path) -> str:
    """The first line of a file that holds a token. Raises TokenFileUnreadable."""
    try:
        token = path.read_text(encoding="utf-8").strip().partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError):
        token = ""
    if not token:
        raise TokenFileUnreadable(field=None, path=str(path))
    return token


def server_and_token(
    environ: Mapping[str, str], url: str | None = None, token_file: Path | None = None
) -> tuple[str, str | None]:
    """Which server, and the token for it: what is said, else PAIKA_URL and PAIKA_TOKEN, else the stored login.

    Raises LoginFileOpen, LoginFileBroken, TokenFileUnreadable.
    """
    named = tidy_url(url or environ.get("PAIKA_URL", ""))
    token = token_in(token_file) if token_file else environ.get("PAIKA_TOKEN", "").strip() or None
    if named and token:
        return named, token
    stored = read_logins(login_path(environ))
    server = named or stored.url or DEFAULT_URL
    return server, token or stored.tokens.get(server)
