"""The entry point `paika`."""

from __future__ import annotations

from paika.interfaces.cli.app import build_cli
from paika.wiring.local import ThisMachine


def run() -> None:
    """Run the command line."""
    build_cli(ThisMachine())()


if __name__ == "__main__":
    run()
