"""Fixtures for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, database=None)  # `make laws` rolls new worlds
if os.environ.get("CI"):
    settings.load_profile("ci")

os.environ.setdefault("PAIKA_RUN_AS_ROOT", "1")  # where tests are root, so are the tasks of the servers they start

pytest_plugins = ["tests.servers.fixtures"]
