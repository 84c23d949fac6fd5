"""What the command line can do on this machine itself; everything heavy is imported when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paika.services.examine_machine import Finding
    from paika.services.replay_snapshot import Replayed
    from paika.services.replay_trace import Comparison, Progress


class ThisMachine:
    """The local commands, for real."""

    def serve(
        self,
        *,
        data: Path | None,
        config: Path | None,
        host: str | None,
        port: int | None,
        inventory: Path | None,
        virtual: str | None,
    ) -> int:
        """Run a server here until it is stopped. `virtual` makes cards to try with, such as '4xA100-80G'."""
        from paika.wiring.serve import serve
        from paika.wiring.settings import load_settings
        from paika.wiring.virtual import write_virtual_inventory

        settings = load_settings(config)
        given = {"data": data, "host": host, "port": port, "inventory": inventory}
        settings = replace(settings, **{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]
        settings = replace(settings, data=settings.data.absolute())
        if virtual is not None:
            settings = replace(settings, inventory=write_virtual_inventory(settings.data, virtual))
        return serve(settings)

    def demo(self, *, once: bool, port: int | None, data: Path | None, keep: bool) -> int:
        """Play the demo lab; with `once` to its end, without a terminal."""
        from paika.wiring.demo import play

        return play(once=once, port=port, data=data, keep=keep)

    def examine(self, *, data: Path | None, config: Path | None, inventory: Path | None) -> Sequence[Finding]:
        """Findings about this machine; changes nothing."""
        from paika.adapters.clock_system import SystemClock
        from paika.adapters.machine_linux.machine import LinuxMachine
        from paika.adapters.meter_npu.meter import NpuSmiMeter
        from paika.adapters.meter_nvml.nvml import NvmlMeter
        from paika.services.examine_machine import examine_machine
        from paika.wiring.serve import read_inventory_file
        from paika.wiring.settings import load_settings

        settings = load_settings(config)
        path = inventory or settings.inventory
        return examine_machine(
            LinuxMachine(),
            (NvmlMeter(settings.node), NpuSmiMeter(settings.node)),
            SystemClock().now(),
            str(data or settings.data),
            settings.port,
            lambda: read_inventory_file(path, settings.zone) if path else None,
        )

    def replay_snapshot(self, file: Path) -> Replayed:
        """Plan a support case anew and check it."""
        from paika.services.replay_snapshot import replay_case
        from paika.wiring.cases import read_case

        return replay_case(read_case(file))

    def replay(
        self,
        *,
        trace: Path,
        cluster: str,
        policy: str | None,
        against: str | None,
        seeds: int | None,
        jobs: int | None,
        estimates: str | None,
        tiers: int | None,
        readiness: int | None,
        vram: int | None,
        every: int | None,
        absolute: bool,
        order: str | None,
        zone: str | None,
        dry_run: bool,
        progress: Progress | None,
    ) -> Comparison:
        """Play a trace again, under the planner and other rules."""
        from paika.wiring.replay import replay

        return replay(
            trace=trace,
            cluster=cluster,
            policy=policy,
            against=against,
            seeds=seeds,
            jobs=jobs,
            estimates=estimates,
            tiers=tiers,
            readiness=readiness,
            vram=vram,
            every=every,
            absolute=absolute,
            order=order,
            zone=zone,
            dry_run=dry_run,
            progress=progress,
        )
