"""The API of a small lab, with a client for each person and scope."""

from __future__ import annotations

import warnings
from typing import Any

from fastapi import FastAPI
from tests.lab import Lab

from paika.adapters.snapshot_json import JsonSnapshotFile
from paika.adapters.table_reader.reader import FileTableReader
from paika.adapters.task_yaml.reader import read_task_list_yaml
from paika.domain.access import Scope
from paika.interfaces.api.app import PREFIX, build_api
from paika.interfaces.api.context import Context
from paika.services.live import LiveBox
from paika.services.manage_access import create_token

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient


class Door:
    """A lab with its API in front."""

    def __init__(self, lab: Lab | None = None, **settings: Any) -> None:
        self.lab = lab or Lab()
        self.box = LiveBox()
        self.context = Context(
            store=self.lab.store,
            live=self.box,
            clock=self.lab.clock,
            ids=self.lab.ids,
            engine=self.lab.engine,
            session_key="a key for tests",
            tables=FileTableReader(),
            task_lists=read_task_list_yaml,
            snapshots=JsonSnapshotFile(),
            **settings,
        )
        self.app: FastAPI = build_api(self.context)

    def secret(self, person: str, *scopes: Scope) -> str:
        made = create_token(
            self.lab.store, self.lab.clock, self.lab.ids, self.lab.actor("ann"), person, scopes or (Scope.ADMIN,)
        )
        return made.secret

    def anybody(self) -> TestClient:
        return TestClient(self.app, base_url="http://testserver" + PREFIX, raise_server_exceptions=False)

    def client(self, person: str = "mia", *scopes: Scope) -> TestClient:
        client = self.anybody()
        client.headers["Authorization"] = f"Bearer {self.secret(person, *scopes)}"
        client.headers["Accept-Language"] = "en"
        return client
