"""Fixtures for all tests."""

from __future__ import annotations

import os

os.environ.setdefault("PAIKA_RUN_AS_ROOT", "1")  # where tests are root, so are the tasks of the servers they start

pytest_plugins = ["tests.servers.fixtures"]
