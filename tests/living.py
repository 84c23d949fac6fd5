"""The small lab with its server's cycle in it: it can crash between two steps and come up again on what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from paika.domain.access import Actor
from paika.domain.plan import Plan
from paika.domain.records import Change, Records
from paika.domain.run import Run
from paika.domain.task import Task
from paika.ports.engine import Launch
from paika.services.change_task import cancel_task
from paika.services.live import Live, LiveBox
from paika.services.run_cycle import Cycle
from tests.lab import Lab


class Crash(BaseException):
    """The process is gone at this very point; nobody gets to clean up."""


class FragileStore:
    """A store whose server dies just before or just after a write."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.dies: Callable[[Change], str] = lambda change: ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def update(self, decide: Callable[[Records], Change]) -> Records:
        told: list[Change] = []

        def decided(records: Records) -> Change:
            told[:] = [decide(records)]
            if self.dies(told[0]) == "before":
                raise Crash
            return told[0]

        after = self._inner.update(decided)
        if self.dies(told[0]) == "after":
            raise Crash
        return after


class CountingEngine:
    """An engine that counts what really begins, and whose server dies just before or just after a start."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.begun: Counter[str] = Counter()
        self.dies: Callable[[Launch], str] = lambda launch: ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def start(self, launch: Launch) -> None:
        if self.dies(launch) == "before":
            raise Crash
        known = launch.run in self._inner.lives
        self._inner.start(launch)
        self.begun[launch.run] += not known
        if self.dies(launch) == "after":
            raise Crash


class Living(Lab):
    """A lab that runs. `turn` is one turn of the server's loop."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = self.store
        self.fragile = FragileStore(self.store)
        self.counting = CountingEngine(self.engine)
        self.restart()

    def restart(self) -> None:
        """A new server on the same store and the same engine."""
        self.box = LiveBox()
        self.fragile.dies = lambda change: ""
        self.counting.dies = lambda launch: ""
        self.cycle = Cycle(self.fragile, {"memory": self.counting}, self.clock, self.ids, self.box)

    def turn(self, times: int = 1, **span: float) -> Plan | None:
        """Let time pass, then look, decide and act."""
        self.clock.move(**span)
        made = None
        for _ in range(times):
            made = self.cycle.run() or made
        return made

    def crash(self) -> None:
        """A turn that is expected to die; a new server comes up."""
        try:
            self.cycle.run()
        except Crash:
            self.restart()
        else:
            raise AssertionError("it did not die")

    def plan_while(self, act: Callable[[], object]) -> None:
        """Make a plan, and let `act` happen between its making and its writing."""
        write = self.fragile.update

        def rival_first(decide: Callable[[Records], Change]) -> Records:
            self.fragile.update = write  # type: ignore[method-assign]
            act()
            return write(decide)

        self.fragile.update = rival_first  # type: ignore[method-assign]
        self.cycle._plan()

    @property
    def live(self) -> Live:  # type: ignore[override]
        return self.box.read()

    def codes(self, task: Task) -> list[str]:
        """Codes of the reasons that are told of the task now."""
        wait = self.live.waits.get(task.id)
        return [] if wait is None else [reason.code for reason in wait.reasons]

    def state(self, task: Task) -> str:
        return self.task(task.id).state.value

    def runs(self, task: Task) -> tuple[Run, ...]:
        return self.store.runs_of(task.id)

    def cause(self, task: Task) -> str | None:
        """Why the last run ended."""
        cause = self.runs(task)[-1].cause
        return cause.value if cause else None

    def cancel(self, task: Task, person: str = "ann") -> Task:
        return cancel_task(self.store, self.clock, self.actor(person), task.id)

    def admin(self) -> Actor:
        return self.actor("ann")
