"""The machine that paika runs on, looked at without changing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """A folder, or the nearest one above it that exists. `filesystem` is the kernel's name of it ('ext4', 'nfs4')."""

    exists: bool
    writable: bool
    filesystem: str | None
    free_bytes: int | None


@dataclass(frozen=True, slots=True)
class CgroupFacts:
    """Whether this process may make control groups (v2) of its own, and which controllers it would have."""

    unified: bool
    writable: bool
    controllers: tuple[str, ...]


class Machine(Protocol):
    """Promises: nothing is written, nothing raises; what can't be found out is None."""

    def python(self) -> tuple[int, int, int]:
        """The version that runs."""
        ...

    def folder(self, path: str) -> FolderFacts:
        """What is known of the folder at `path`, whether it exists already or not."""
        ...

    def cgroup(self) -> CgroupFacts:
        """Control groups of this process."""
        ...

    def boot_id(self) -> str | None:
        """The kernel's id of this boot."""
        ...

    def clock_synced(self) -> bool | None:
        """Whether the kernel says that its clock is kept in step; None when it can't tell."""
        ...

    def port_free(self, port: int) -> bool:
        """Whether the port could be listened on, on loopback."""
        ...
