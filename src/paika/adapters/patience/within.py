"""Work that may hang for ever (a dead mount, a name server) behind a wait that does not."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Patience(Generic[T]):
    """Runs work in threads that nobody joins. What hangs goes on hanging, but once per key only."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._hanging: dict[str, Thread] = {}

    def within(self, seconds: float, key: str, work: Callable[[], T], late: Callable[[], T]) -> T:
        """What `work` gives within `seconds`, else `late()`; also if the last work of this key still hangs.

        Whatever `work` raises is raised here.
        """
        done: list[T] = []
        raised: list[BaseException] = []

        def run() -> None:
            try:
                done.append(work())
            except BaseException as fault:  # handed to the one who waits
                raised.append(fault)

        with self._lock:
            self._hanging = {one: thread for one, thread in self._hanging.items() if thread.is_alive()}
            if key in self._hanging:
                return late()
            thread = Thread(target=run, name=f"probe {key[:40]}", daemon=True)
            self._hanging[key] = thread
            thread.start()
        thread.join(seconds)
        if raised:
            raise raised[0]
        return done[0] if done else late()
