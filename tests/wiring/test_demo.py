"""The demo plays to its end: about a minute of real processes, with a real kill -9 in the middle."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.timeout(300)
def test_the_demo_holds_what_it_says(tmp_path):
    argv = [sys.executable, "-m", "paika.wiring.main", "demo", "--once", "--data", str(tmp_path / "demo")]
    played = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=280)
    assert played.returncode == 0, played.stdout[-4000:] + played.stderr[-2000:]
    assert "✗" not in played.stdout
    assert played.stdout.count("✓") >= 14
