"""What the server's doors share: the parts of the running server, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from paika.interfaces.wording.catalogue import Lang
from paika.ports.clock import Clock
from paika.ports.engine import Engine
from paika.ports.ids import Ids
from paika.ports.snapshot_file import SnapshotFile
from paika.ports.store import Store
from paika.ports.table import TableReader
from paika.services.last_ends import LastEnds
from paika.services.live import LiveBox
from paika.services.preview_edits import WhatIfs
from paika.services.preview_move import MovePreviews
from paika.services.recall_unblock import Unblocks

ReadTaskList = Callable[[bytes, str], Sequence[tuple[int, Mapping[str, object]]]]  # data, name -> (line, fields)


@dataclass(frozen=True, slots=True)
class Context:
    """`zone` is the site's, `session_key` signs cookies, `https` says whether people come by https.

    `max_body_bytes` bounds a request's body, `max_upload_bytes` that of a file to import. `closing` turns
    true when the server shuts down, so that open streams end. `tables` reads CSV and XLSX files to import,
    `task_lists` YAML ones; None: no such import. `snapshots` writes support cases. `once` holds secrets by the
    code of a login link that works once.
    """

    store: Store
    live: LiveBox
    clock: Clock
    ids: Ids
    engine: Engine
    session_key: str = field(repr=False)
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    lang: Lang = Lang.ZH
    site: str = ""
    version: str = ""
    https: bool = False
    session_hours: int = 24 * 14
    max_body_bytes: int = 8 * 1024 * 1024
    max_upload_bytes: int = 32 * 1024 * 1024
    tables: TableReader | None = None
    task_lists: ReadTaskList | None = None
    closing: Callable[[], bool] = lambda: False
    once: dict[str, str] = field(default_factory=dict, repr=False)
    moves: MovePreviews = field(default_factory=MovePreviews)
    what_ifs: WhatIfs = field(default_factory=WhatIfs)
    snapshots: SnapshotFile | None = None
    unblocks: Unblocks = field(default_factory=Unblocks)
    last_ends: LastEnds = field(default_factory=LastEnds)

    @property
    def zone_name(self) -> str:
        """IANA name of the site's zone, for forms."""
        return self.zone.key or "UTC"
