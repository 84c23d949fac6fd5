"""Support cases as packed files in a folder, readable by the server's user alone."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from paika.domain.support_case import SupportCase
from paika.ports.case_shelf import too_many

MOST = 20
LEVEL = 3  # packs nearly as well as the tightest and takes a fifth of the time
SUFFIX = ".json.gz"
_NAME = re.compile(r"\d{8}T\d{6}Z-(?P<kind>[a-z0-9-]+)\.json\.gz")


class CaseFolder:
    """The CaseShelf port on a folder, which is made when the first case comes."""

    def __init__(
        self,
        folder: Path,
        encode: Callable[[SupportCase], str],
        decode: Callable[[str], SupportCase],
        most: int = MOST,
    ) -> None:
        self._folder, self._encode, self._decode, self._most = folder, encode, decode, most

    def put(self, case: SupportCase) -> str | None:
        """The path of its file; None if it could not be written."""
        name = f"{case.at:%Y%m%dT%H%M%SZ}-{_kind(case)}{SUFFIX}"
        path, part = self._folder / name, self._folder / f".{name}.part"
        data = gzip.compress(self._encode(case).encode(), LEVEL)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
            part.replace(path)
            self._thin()
        except OSError:
            with suppress(OSError):
                part.unlink()
            return None
        return str(path)

    def names(self) -> tuple[str, ...]:
        """Names of the files, oldest first. Files of other names are not ours."""
        try:
            return tuple(sorted(entry for entry in os.listdir(self._folder) if _NAME.fullmatch(entry)))
        except OSError:
            return ()

    def read(self, name: str) -> SupportCase | None:
        """The case in the file of that name."""
        if name not in self.names():
            return None
        return self._decode(gzip.decompress((self._folder / name).read_bytes()).decode())

    def _thin(self) -> None:
        kinds = [(name, found["kind"]) for name in self.names() if (found := _NAME.fullmatch(name))]
        for name in too_many(kinds, self._most):
            (self._folder / name).unlink(missing_ok=True)


def _kind(case: SupportCase) -> str:
    """The first rule that was broken, as part of a file's name."""
    rule = case.faults[0].rule if case.faults else "saved"
    return re.sub("[^a-z0-9]+", "-", rule.lower()).strip("-")[:60] or "fault"
