"""The supervisor of one part of a run; the standard library alone.

It outlives the server and needs nothing of it: it starts the program once all parts can start, keeps the log
within its budget, enforces the limit, ends the whole tree, and leaves the exit record.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from dataclasses import replace
from types import FrameType

from paika.adapters.engine_local import cgroup, child, endings, identity, logbook, processes, records
from paika.adapters.engine_local.detail import Detail

CHUNK_BYTES = 64 * 1024
CHUNKS_A_TURN = 16
DRAIN_TURNS = 32  # bounds what a stranger who holds the pipe can still say
LONGEST_TURN_S = 1.0
HEARTBEAT_S = 15.0
LEFTOVER_GRACE_S = 10.0
GIVE_UP_S = 10.0  # on processes that we may not signal
RECORD_TRIES = 1200


def main(folder: str, lock: int) -> None:
    """Live through one part. `lock` is the open, locked file that tells others that we live."""
    os.closerange(lock + 1, os.sysconf("SC_OPEN_MAX"))  # the server's sockets and devices are none of ours
    os.set_inheritable(lock, False)
    os.chdir("/")
    supervisor = Supervisor(folder, lock)
    try:
        supervisor.live()
    except BaseException as fault:
        supervisor.fail(repr(fault))
        raise
    finally:
        with contextlib.suppress(OSError):  # it holds the task's environment, secrets and all
            os.unlink(os.path.join(folder, records.ORDER))


def elapsed() -> float:
    """Seconds on a clock that nobody can set and that goes on while the host sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Supervisor:
    """One part of a run, from the order to the exit record."""

    def __init__(self, folder: str, lock: int) -> None:
        order = records.read(folder, records.ORDER)
        assert order is not None, "the order is written before the supervisor starts"
        self.folder, self.lock, self.order = folder, lock, order
        self.run = os.path.dirname(folder)
        self.rank, self.token = int(order["rank"]), str(order["token"])
        self.log = logbook.LogWriter(os.path.join(folder, "log"), int(order["log_budget_bytes"]))
        self.output, self.input = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.output, False)
        self.waker, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self.poll = select.poll()
        self.poll.register(self.waker, select.POLLIN)
        self._heed_signals(wake)
        self.cgroup: cgroup.Cgroup | None = None
        self.pid: int | None = None
        self.status: int | None = None
        self.started_at: float | None = None
        self.started = elapsed()
        self.beat_at = 0.0
        self.reason: str | None = None
        self.detail = ""
        self.kill_at: float | None = None
        self.terminated = False
        self.memory_kills_before = processes.out_of_memory_kills()

    def live(self) -> None:
        """The whole story."""
        # 1. Be the parent of all that comes, and say that we are here and able.
        child.become_subreaper()
        command = self._command()
        try:
            child.check(command)
        except child.StartFailed as trouble:
            records.claim(self._of_run(records.DECISION), records.refusal(time.time(), str(trouble)))
            return
        records.publish(self.folder, records.READY, identity.mine(self.token))
        # 2. Nobody starts before all can.
        if not self._all_can_start():
            return
        # 3. Start, unless somebody changed their mind.
        stop = records.claimed(self._of_run(records.STOP))
        if stop is not None or records.claimed(self._of_run(records.FAILED)) is not None:
            self._end(endings.Ending(stop or endings.SIBLING, detail=Detail.STOPPED_BEFORE_START))
            return
        try:
            self._start(command)
        except child.StartFailed as trouble:
            self._end(endings.Ending(endings.START_FAILED, detail=str(trouble)))
            return
        # 4. Stay with it, and leave nothing of it behind.
        self._stay()
        self._clear_leftovers()
        self._drain()
        # 5. Say how it ended.
        self._end(endings.ending(self._seen()))

    def fail(self, story: str) -> None:
        """We have a fault: end the tree and say so, as well as we can."""
        if self.pid is not None:
            self._kill_tree()
            self._end(endings.Ending(endings.UNKNOWN, detail=Detail.SUPERVISOR_FAILED.of(story[:300])))

    # Before the start

    def _command(self) -> child.Command:
        script = os.path.join(self.folder, records.SCRIPT)
        argv = ["bash", script] if self.order["script"] else self.order["argv"]
        command = child.Command(argv, self.order["workdir"], self.order["environment"])
        account = self.order.get("account")
        if account is None:
            return command
        whose = (account["uid"], account["gid"], tuple(account["groups"]))
        if not self.order["script"]:
            return replace(command, account=whose)
        return replace(command, argv=["bash", f"/dev/fd/{child.SCRIPT_FD}"], account=whose, script=script)

    def _all_can_start(self) -> bool:
        while True:
            decision = records.claimed(self._of_run(records.DECISION))
            if decision is not None:
                return decision == records.GO
            verdict = self._verdict()
            if verdict is None:
                self._turn(0.02)
            else:
                records.claim(self._of_run(records.DECISION), verdict)

    def _verdict(self) -> str | None:
        if records.claimed(self._of_run(records.STOP)) is not None or self.terminated:
            return records.refusal(time.time(), Detail.STOPPED_BEFORE_START)
        if elapsed() - self.started > float(self.order["start_timeout_s"]):
            return records.refusal(time.time(), Detail.START_TIMED_OUT)
        if self.rank == 0 and all(os.path.exists(self._of_part(r, records.READY)) for r in range(self.order["ranks"])):
            return records.GO
        return None

    def _start(self, command: child.Command) -> None:
        if self.order["cgroup"]:
            self.cgroup = cgroup.make(f"paika-{self.order['run']}-{self.rank}-{os.getpid()}")
        door = self.cgroup.door if self.cgroup else None
        self.started_at, self.started = time.time(), elapsed()
        self.pid = child.spawn(replace(command, door=door), self.input)
        os.close(self.input)
        self.poll.register(self.output, select.POLLIN)
        process = processes.look(self.pid)
        ticks = process.start_ticks if process else None
        group = self.cgroup.folder if self.cgroup else None
        facts = {"at": self.started_at, "pid": self.pid, "start_ticks": ticks, "cgroup": group}
        records.publish(self.folder, records.STARTED, facts)

    # While it runs

    def _stay(self) -> None:
        while self.status is None:
            self._turn(self._patience())
            if self.status is None and self.reason is None:
                self._consider()
            elif self.kill_at is not None and elapsed() >= self.kill_at:
                self._kill_tree()

    def _patience(self) -> float:
        """Seconds until something is due at the latest."""
        due = self.kill_at
        if self.reason is None and self.order["limit_s"] is not None:
            due = self.started + float(self.order["limit_s"])
        return LONGEST_TURN_S if due is None else min(LONGEST_TURN_S, due - elapsed())

    def _consider(self) -> None:
        stop = records.claimed(self._of_run(records.STOP))
        if stop is not None:
            self._begin_stop(stop)
        elif records.claimed(self._of_run(records.FAILED)) is not None:
            self._begin_stop(endings.SIBLING)
        elif self.order["limit_s"] is not None and elapsed() - self.started >= self.order["limit_s"]:
            self._begin_stop(endings.LIMIT)
        elif self.terminated:
            self._begin_stop(endings.UNKNOWN, Detail.SUPERVISOR_TERMINATED)

    def _begin_stop(self, reason: str, detail: str = "") -> None:
        self.reason, self.detail = reason, detail
        self._end_softly(processes.signal_number(self.order["stop_signal"]) or signal.SIGTERM, self.order["grace_s"])

    def _end_softly(self, number: int, grace_s: float) -> None:
        with contextlib.suppress(OSError):
            records.claim(os.path.join(self.folder, records.STOPPING), self.reason or "leftovers")
        tree = self._tree()
        processes.send(tree, number)
        processes.send(tree, signal.SIGCONT)
        self.kill_at = elapsed() + grace_s

    def _clear_leftovers(self) -> None:
        if self._reap():
            return
        if self.kill_at is None:
            self._end_softly(signal.SIGTERM, min(float(self.order["grace_s"]), LEFTOVER_GRACE_S))
            self.detail = Detail.LEFTOVERS_ENDED
        while not self._reap() and self.kill_at is not None and elapsed() < self.kill_at:
            self._turn(0.05)
        self._kill_tree()

    def _kill_tree(self) -> None:
        """Kill until nobody is left; a storm of forks is frozen first."""
        began = elapsed()
        while not self._reap():
            if self.cgroup is not None:
                self.cgroup.kill()
            tree = self._frozen_tree()
            forbidden = processes.send(tree, signal.SIGKILL)
            if tree and tree == forbidden and elapsed() - began > GIVE_UP_S:
                self.detail = Detail.LEFT_UNKILLABLE.of(",".join(map(str, sorted(tree))))
                return
            self._turn(0.01)

    def _frozen_tree(self) -> set[int]:
        seen: set[int] = set()
        for _ in range(20):
            fresh = self._tree() - seen
            if not fresh:
                break
            processes.send(fresh, signal.SIGSTOP)
            seen |= fresh
        return seen

    def _tree(self) -> set[int]:
        return processes.Table().below(os.getpid())

    # The end

    def _seen(self) -> endings.Seen:
        assert self.status is not None, "it has ended"
        now, before = processes.out_of_memory_kills(), self.memory_kills_before
        tail = logbook.read(os.path.join(self.folder, "log"), -endings.LOG_TAIL_BYTES, endings.LOG_TAIL_BYTES)
        return endings.Seen(
            status=self.status,
            stopped=self.reason,
            log_tail=tail.data if self.status else b"",
            memory_kills=self.cgroup.memory_kills() if self.cgroup else None,
            host_memory_kills=None if now is None or before is None else now - before,
            detail=self.detail,
        )

    def _end(self, end: endings.Ending) -> None:
        """Leave the exit record, and let the other parts know of a bad end."""
        ended_at = max(time.time(), self.started_at or 0.0)
        if end.cause not in (endings.DONE, endings.SIBLING):
            with contextlib.suppress(OSError):
                records.claim(self._of_run(records.FAILED), str(self.rank))
        self.log.close()
        self._record(
            {
                "cause": end.cause,
                "exit_code": end.exit_code,
                "signal": end.signal,
                "detail": end.detail[: records.TEXT_CHARS],
                "started_at": self.started_at,
                "ended_at": ended_at,
            }
        )
        for rank in range(self.order["ranks"]):
            if rank != self.rank:
                identity.wake(self._of_part(rank), self.token)
        if self.cgroup is not None:
            self.cgroup.remove()

    def _record(self, facts: records.Facts) -> None:
        for attempt in range(RECORD_TRIES):
            try:
                records.publish(self.folder, records.EXIT, facts, durable=True)
                return
            except OSError:
                if attempt == RECORD_TRIES - 1 or not os.path.isdir(self.folder):
                    raise  # a folder that is gone takes no record, however long we wait
                time.sleep(0.5)

    # One turn of the loop

    def _turn(self, timeout_s: float) -> None:
        """Wait for output, a signal or the time; take output in; reap; show that we live."""
        for descriptor, _ in self.poll.poll(max(timeout_s, 0.0) * 1000 + 1):
            if descriptor == self.waker:
                os.read(self.waker, 4096)
            else:
                self._pump()
        self._reap()
        if elapsed() - self.beat_at >= HEARTBEAT_S:
            self.beat_at = elapsed()
            with contextlib.suppress(OSError):
                os.utime(self.lock)

    def _pump(self) -> bool:
        """Take output in, a bounded amount; False when there is none at the moment or will be none ever."""
        for _ in range(CHUNKS_A_TURN):
            try:
                data = os.read(self.output, CHUNK_BYTES)
            except BlockingIOError:
                return False
            if not data:
                self.poll.unregister(self.output)
                return False
            self.log.append(data)
        return True

    def _drain(self) -> None:
        with contextlib.suppress(KeyError):  # the pipe had ended already
            for _ in range(DRAIN_TURNS):
                if not self._pump():
                    break

    def _reap(self) -> bool:
        """Collect the dead; True when no descendant is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self.pid:
                self.status = status

    # Small things

    def _of_run(self, name: str) -> str:
        return os.path.join(self.run, name)

    def _of_part(self, rank: int, name: str = "") -> str:
        return os.path.join(self.run, str(rank), name)

    def _heed_signals(self, wake: int) -> None:
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGTERM, self._terminate)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR2):
            signal.signal(number, signal.SIG_IGN)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        self.terminated = True
