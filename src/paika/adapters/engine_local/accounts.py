"""Whose rights a task has: the server's own, or those of the Unix account that its owner is mapped to."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from paika.adapters.engine_local.child import StartFailed
from paika.adapters.engine_local.detail import Detail


@dataclass(frozen=True, slots=True)
class Account:
    """A Unix account: numbers for the kernel, home and shell for the environment."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    shell: str

    @property
    def variables(self) -> dict[str, str]:
        """What a login would set."""
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell}


AccountOf = Callable[[str], Account | None]  # the owner's account; None: the server's own user


def as_the_server(owner: str) -> Account | None:
    """Everybody's tasks run as the server's user."""
    return None


class MappedAccounts:
    """Person id -> Unix account, for a server that runs as root. Who is not mapped cannot run anything."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)

    def __call__(self, owner: str) -> Account:
        """The owner's account. Raises StartFailed if there is none, or if it is root's."""
        name = self._names.get(owner)
        if name is None:
            raise StartFailed(Detail.ACCOUNT_UNMAPPED.of(owner))
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            raise StartFailed(Detail.ACCOUNT_MISSING.of(name)) from None
        if entry.pw_uid == 0:
            raise StartFailed(Detail.ACCOUNT_IS_ROOT.of(name))
        groups = tuple(os.getgrouplist(name, entry.pw_gid))
        return Account(name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir, entry.pw_shell or "/bin/sh")
