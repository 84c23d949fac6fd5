"""The local engine keeps the engine's promises, and some of its own: real processes throughout."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.ports.engine_promises import PATIENCE_S, TOKEN, EnginePromises, launch

from paika.adapters.engine_local import identity, processes, records
from paika.adapters.engine_local.engine import LocalEngine
from paika.domain.problem import BadValue
from paika.domain.run import EndCause
from paika.domain.task import Program
from paika.ports.engine import Engine, ReportState

NODES = frozenset({"n1", "n2"})


def bash(text: str) -> Program:
    return Program(argv=("bash", "-c", text))


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def marked(token: str = TOKEN) -> set[int]:
    """Every process of the host that carries the run's token, the supervisors not among them."""
    return processes.Table().carriers({"PAIKA_RUN_TOKEN": token})


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder; whatever a test left running in it is killed."""
    yield tmp_path / "data"
    for alive in (tmp_path / "data" / "runs").glob("*/*/alive"):
        pid = identity.live(records.read(os.fspath(alive.parent), records.READY), TOKEN)
        if pid is not None:
            processes.send((pid,), signal.SIGTERM)
            processes.send(processes.Table().below(pid), signal.SIGKILL)
        eventually(lambda alive=alive: not records.is_held(os.fspath(alive)))


def supervisor_of(data: Path, run: str = "r1", rank: int = 0) -> int:
    facts = records.read(os.fspath(data / "runs" / run / str(rank)), records.READY)
    assert facts is not None
    return int(facts["pid"])


class TestLocalEngine(EnginePromises):
    @pytest.fixture
    def engine(self, data: Path) -> LocalEngine:
        self.unreachable = set()
        self.data = data
        # Without control groups, as on most hosts: nothing but the tree itself helps to end a tree.
        return LocalEngine(data, NODES, lambda node: node not in self.unreachable, cgroups=False)

    def restarted(self, engine: Engine) -> Engine:
        return LocalEngine(self.data, NODES)

    def exits(self, code: int) -> Program:
        return bash(f"exit {code}")

    def dies_of(self, signal: str) -> Program:
        return bash(f"ulimit -c 0; kill -{signal} $$")

    def says(self, text: str, seconds: int) -> Program:
        return Program(argv=("bash", "-c", 'printf %s "$1"; exec sleep "$2"', "say", text, str(seconds)))

    def stubborn(self, seconds: int) -> Program:
        return bash(f"trap '' TERM; sleep {seconds}")

    def log(self, engine: Engine, run: str = "r1", rank: int = 0) -> str:
        chunk = engine.read_log(run, TOKEN, 0, 1 << 20, rank)
        assert chunk is not None
        return chunk.data.decode()

    # Trees

    def test_a_grandchild_in_a_session_of_its_own_that_heeds_nothing_dies_too(self, engine: LocalEngine) -> None:
        inner = 'trap "" TERM HUP INT; sleep 300 & sleep 300'
        engine.start(launch("r1", bash(f"trap '' TERM; (setsid bash -c '{inner}' &) ; sleep 300")))
        eventually(lambda: len(self.report(engine).pids) >= 4)
        pids = set(self.report(engine).pids)
        assert pids == marked()
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        assert self.ended(engine).cause is EndCause.CANCELLED
        assert not marked()

    def test_a_tree_that_hides_its_token_dies_too(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", bash("(env -i setsid bash -c \"trap '' TERM; sleep 300\" &) ; exec sleep 300")))
        eventually(lambda: len(marked()) == 1 < len(self.report(engine).pids))
        pids = self.report(engine).pids
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        self.ended(engine)
        assert not [pid for pid in pids if (p := processes.look(pid)) is not None and p.live]

    def test_processes_that_run_away_by_forking_are_ended(self, engine: LocalEngine) -> None:
        # Each forks its heir and ends at once; the race is over by itself after a while, should nobody win it.
        chain = "trap '' TERM; f() { [ $SECONDS -lt 40 ] && { (f) & } }; f; f; f; sleep 40"
        engine.start(launch("r1", bash(chain), limit_s=1, grace_s=0))
        report = self.ended(engine)
        assert report.cause is EndCause.LIMIT
        assert report.started_at is not None
        assert report.ended_at is not None
        assert (report.ended_at - report.started_at).total_seconds() < 30
        assert not marked()

    def test_what_the_program_leaves_behind_is_ended_and_cannot_hang_the_run(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", bash("(trap '' TERM; setsid sleep 300 &) ; echo bye; exit 4")))
        report = self.ended(engine)
        assert (report.cause, report.exit_code) == (EndCause.EXIT_CODE, 4)
        assert self.log(engine) == "bye\n"
        assert not marked()

    def test_a_control_group_goes_with_its_run(self, data: Path) -> None:
        engine = LocalEngine(data, NODES)
        for run, killed in (("r1", False), ("r2", True)):
            engine.start(launch(run, bash("trap '' TERM; sleep 300 & sleep 300"), grace_s=0))
            self.until(engine, ReportState.RUNNING, run)
            started = records.read(os.fspath(data / "runs" / run / "0"), records.STARTED)
            assert started is not None
            if started["cgroup"] is None:
                pytest.skip("NOT TRIED: control groups need a version 2 hierarchy that we may write")
            (group,) = Path(f"/proc/{started['pid']}/cgroup").read_text().splitlines()[-1:]
            assert group.startswith("0::")
            assert group.endswith(Path(started["cgroup"]).name)
            if killed:
                os.kill(supervisor_of(data, run), signal.SIGKILL)
            else:
                engine.stop(run, TOKEN, EndCause.CANCELLED)
            self.ended(engine, run)
            engine.forget(run, TOKEN)
            eventually(lambda group=started["cgroup"]: not os.path.exists(group))
        assert not marked()

    def test_a_stopped_program_can_be_ended(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", bash("kill -STOP $$; sleep 300")))
        self.until(engine, ReportState.RUNNING)
        self.pass_time(0.3)
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        assert self.ended(engine).signal == "TERM"

    def test_a_program_that_saves_on_the_signal_is_given_its_grace(self, engine: LocalEngine) -> None:
        script = "trap 'sleep 0.5; echo saved; exit 0' TERM\necho up\nwhile :; do sleep 0.1; done\n"
        engine.start(launch("r1", Program(script=script), grace_s=30))
        eventually(lambda: "up" in self.log(engine))
        engine.stop("r1", TOKEN, EndCause.PREEMPTED)
        report = self.ended(engine)
        assert (report.cause, report.exit_code) == (EndCause.PREEMPTED, 0)
        assert self.log(engine).endswith("saved\n")

    # Programs

    def test_a_script_runs_from_a_file_with_its_parameters_as_environment(self, engine: LocalEngine) -> None:
        nasty = "$(touch /tmp/never); `x`; \"'\n"
        program = Program(script='printf %s "$GREETING"', variables=(("GREETING", nasty),))
        engine.start(launch("r1", program))
        assert self.ended(engine).cause is EndCause.DONE
        assert self.log(engine) == nasty

    def test_an_argv_is_never_read_by_a_shell(self, engine: LocalEngine) -> None:
        words = ("$HOME", "a b", "; exit 9", "*", "卡", "")
        engine.start(launch("r1", Program(argv=("printf", "[%s]", *words))))
        assert self.ended(engine).cause is EndCause.DONE
        assert self.log(engine) == "".join(f"[{word}]" for word in words)

    def test_the_program_reads_nothing_and_runs_where_it_was_told(self, engine: LocalEngine, tmp_path: Path) -> None:
        engine.start(launch("r1", Program(argv=("bash", "-c", "cat; pwd"), workdir=os.fspath(tmp_path))))
        self.ended(engine)
        assert self.log(engine) == f"{tmp_path}\n"

    def test_a_file_that_is_no_program_says_so(self, engine: LocalEngine, tmp_path: Path) -> None:
        for name, mode, text in (("plain", 0o644, "x"), ("garbage", 0o755, "\x7fnot a program")):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(mode)
            engine.start(launch(name, Program(argv=(os.fspath(tmp_path / name),))))
            report = self.ended(engine, name)
            assert (report.cause, report.detail) == (EndCause.START_FAILED, f"not_executable: {tmp_path / name}")

    def test_an_unfit_order_fails_to_start(self, engine: LocalEngine) -> None:
        orders = {
            "signal_unknown: NOSUCH": launch("r1", self.sleeps(1), stop_signal="NOSUCH"),
            "environment_missing: venv:/no/such": launch("r2", Program(argv=("true",), environment="venv:/no/such")),
            "environment_unknown: shell:x": launch("r3", Program(argv=("true",), environment="shell:x")),
            "variable_unfit: A=B": launch("r4", Program(argv=("true",), variables=(("A=B", "c"),))),
            "text_unfit": launch("r5", Program(argv=("echo", "a\0b"))),
            "ranks_unfit": launch("r6", self.sleeps(1), nodes=()),
        }
        for detail, order in orders.items():
            engine.start(order)
            report = self.ended(engine, order.run)
            assert (report.cause, report.detail) == (EndCause.START_FAILED, detail)

    @pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\0b", "x" * 200])
    def test_a_name_that_leaves_the_folder_is_refused(self, engine: LocalEngine, name: str) -> None:
        with pytest.raises(BadValue):
            engine.start(launch(name, self.sleeps(1)))
        with pytest.raises(BadValue):
            engine.start(launch("r1", self.sleeps(1), token=name))
        assert self.report(engine, name).state is ReportState.ABSENT
        engine.stop(name, TOKEN, EndCause.CANCELLED)
        engine.forget(name, TOKEN)
        assert engine.read_log(name, TOKEN, 0, 1) is None

    def test_the_servers_secrets_are_not_inherited(self, data: Path) -> None:
        secrets = {"PAIKA_SECRET": "s1", "AWS_SECRET_ACCESS_KEY": "s2", "DATABASE_URL": "s3"}
        engine = LocalEngine(data, NODES, environ={**os.environ, **secrets})
        engine.start(launch("r1", Program(argv=("env",))))
        self.ended(engine)
        seen = dict(line.split("=", 1) for line in self.log(engine).splitlines())
        assert not set(secrets) & set(seen)
        assert seen["PATH"]
        assert (seen["PAIKA_RUN"], seen["PAIKA_RUN_TOKEN"], seen["PAIKA_CARDS"]) == ("r1", TOKEN, "n1-card")

    def test_the_supervisor_itself_knows_no_secret_and_nobody_else_may_read_the_folder(self, data: Path) -> None:
        engine = LocalEngine(data, NODES, environ={**os.environ, "PAIKA_SECRET": "s1"})
        engine.start(launch("r1", self.sleeps(60)))
        self.until(engine, ReportState.RUNNING)
        assert b"s1" not in Path(f"/proc/{supervisor_of(data)}/environ").read_bytes()
        folders = [path for path in (data / "runs").rglob("*") if path.is_dir() and not path.is_symlink()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in (data / "runs", *folders)} == {0o700}

    def test_what_the_server_holds_open_does_not_stay_open_with_its_runs(self, engine: LocalEngine) -> None:
        reader, writer = os.pipe()  # stands for a listening socket, or a card's device
        os.set_inheritable(writer, True)
        os.set_blocking(reader, False)
        engine.start(launch("r1", self.sleeps(60)))
        self.until(engine, ReportState.RUNNING)
        os.close(writer)
        assert os.read(reader, 1) == b""
        os.close(reader)

    def test_the_environment_of_a_task_is_not_kept_beyond_its_end(self, engine: LocalEngine) -> None:
        for run, program in (("r1", self.exits(0)), ("r2", Program(argv=("/no/such/command",)))):
            engine.start(launch(run, program, variables=(("API_KEY", "very-secret"),)))
            self.ended(engine, run)
            alive = os.fspath(self.data / "runs" / run / "0" / records.ALIVE)
            eventually(lambda alive=alive: not records.is_held(alive))
        files = [path for path in self.data.rglob("*") if path.is_file()]
        assert files
        assert not [path for path in files if b"very-secret" in path.read_bytes()]

    # Memory

    def test_memory_runs_out_by_the_logs_word(self, engine: LocalEngine) -> None:
        text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB"
        engine.start(launch("r1", bash(f"echo '{text}' >&2; exit 1")))
        report = self.ended(engine)
        assert (report.cause, report.exit_code) == (EndCause.OUT_OF_MEMORY, 1)
        engine.start(launch("r2", bash(f"echo 'caught: {text}'; exit 0")))
        assert self.ended(engine, "r2").cause is EndCause.DONE

    def test_a_kill_by_nobody_knows_whom_is_told_as_such(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", self.sleeps(60)))
        (pid,) = self.until(engine, ReportState.RUNNING).pids
        os.kill(pid, signal.SIGKILL)
        report = self.ended(engine)
        assert (report.cause, report.signal) == (EndCause.SIGNAL, "KILL")
        assert report.detail == "killed_cause_unknown" or report.detail.startswith("killed_while_host_out_of_memory")

    # Several parts

    def test_one_bad_part_ends_all_and_gives_the_cause(self, engine: LocalEngine) -> None:
        text = "trap 'exit 0' TERM; if [ $PAIKA_RANK = 1 ]; then sleep 0.3; exit 7; fi; sleep 300"
        engine.start(launch("r1", bash(text), nodes=("n1", "n2")))
        report = self.ended(engine)
        assert (report.cause, report.exit_code) == (EndCause.EXIT_CODE, 7)
        assert not marked()

    def test_parts_know_their_rank_and_have_logs_of_their_own(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", bash("echo $PAIKA_NODE $PAIKA_RANK/$PAIKA_WORLD"), nodes=("n1", "n2")))
        report = self.ended(engine)
        assert (self.log(engine, rank=0), self.log(engine, rank=1)) == ("n1 0/2\n", "n2 1/2\n")
        assert report.log_bytes == 14

    def test_a_dead_agent_leaves_nothing_of_the_other_part(self, engine: LocalEngine) -> None:
        self.unreachable.add("n2")
        engine.start(launch("r1", self.sleeps(300), nodes=("n1", "n2")))
        self.ended(engine)
        assert not marked()
        part = os.fspath(self.data / "runs" / "r1" / "0")
        eventually(lambda: not records.is_held(os.path.join(part, records.ALIVE)))
        assert records.read(part, records.STARTED) is None

    def test_a_part_that_never_gets_ready_ends_the_start_in_time(self, data: Path) -> None:
        engine = LocalEngine(data, NODES, start_timeout_s=1.0)
        held: list[int] = []

        def hold_the_second(node: str) -> bool:
            if node == "n2":  # the first supervisor is up by now: let it miss its second
                eventually((data / "runs" / "r1" / "0" / records.READY).exists)
                held.append(supervisor_of(data))
                time.sleep(1.5)
            return True

        engine._reachable = hold_the_second
        engine.start(launch("r1", self.sleeps(300), nodes=("n1", "n2")))
        report = self.ended(engine)
        assert (report.cause, report.detail) == (EndCause.START_FAILED, "start_timed_out")
        assert held
        assert not marked()

    # Crashes

    def test_a_supervisor_that_is_killed_takes_its_run_along(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", bash("(trap '' TERM; setsid sleep 300 &) ; sleep 300")))
        eventually(lambda: len(self.report(engine).pids) >= 2)
        os.kill(supervisor_of(self.data), signal.SIGKILL)
        report = self.ended(engine)
        assert (report.cause, report.detail) == (EndCause.UNKNOWN, "supervisor_lost")
        assert report.started_at is not None
        assert report.ended_at is not None
        assert not marked()
        assert self.report(self.restarted(engine)) == report

    def test_one_lost_supervisor_ends_the_other_part_softly(self, engine: LocalEngine) -> None:
        text = "trap 'echo asked; exit 0' TERM; echo up; while :; do sleep 0.1; done"
        engine.start(launch("r1", bash(text), nodes=("n1", "n2"), grace_s=30))
        eventually(lambda: "up" in self.log(engine, rank=0) and "up" in self.log(engine, rank=1))
        os.kill(supervisor_of(self.data, rank=1), signal.SIGKILL)
        report = self.ended(engine)
        assert report.cause is EndCause.UNKNOWN
        assert self.log(engine, rank=0).endswith("asked\n")
        assert not marked()

    def test_a_supervisor_asked_to_end_ends_its_run(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", self.sleeps(300)))
        self.until(engine, ReportState.RUNNING)
        os.kill(supervisor_of(self.data), signal.SIGTERM)
        report = self.ended(engine)
        assert (report.cause, report.detail) == (EndCause.UNKNOWN, "supervisor_terminated")
        assert not marked()

    def test_a_restart_of_the_host_is_told_from_the_boot_id(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", self.sleeps(300)))
        self.until(engine, ReportState.RUNNING)
        os.kill(supervisor_of(self.data), signal.SIGKILL)
        eventually(lambda: not records.is_held(os.fspath(self.data / "runs" / "r1" / "0" / records.ALIVE)))
        path = self.data / "runs" / "r1"
        order = records.read(os.fspath(path), records.RUN)
        assert order is not None
        records.publish(os.fspath(path), records.RUN, {**order, "boot": "another"})
        report = self.ended(self.restarted(engine))
        assert (report.cause, report.detail) == (EndCause.NODE_LOST, "host_restarted")
        assert report.ended_at is not None

    def test_a_crash_between_lock_and_spawn_is_never_a_silent_second_start(self, data: Path) -> None:
        class Crash(BaseException):
            pass

        def crash(node: str) -> bool:
            raise Crash

        with pytest.raises(Crash):
            LocalEngine(data, NODES, crash).start(launch("r1", self.says("ran", 60)))
        engine = LocalEngine(data, NODES)
        engine.start(launch("r1", self.says("ran", 60)))
        report = self.ended(engine)
        assert (report.cause, report.detail) == (EndCause.START_FAILED, "start_interrupted")
        self.pass_time(0.3)
        assert not marked()

    def test_a_crash_between_the_parts_starts_neither(self, data: Path) -> None:
        class Crash(BaseException):
            pass

        def crash_at_the_second(node: str) -> bool:
            if node == "n2":
                raise Crash
            return True

        with pytest.raises(Crash):
            LocalEngine(data, NODES, crash_at_the_second).start(launch("r1", self.sleeps(300), nodes=("n1", "n2")))
        engine = LocalEngine(data, NODES)
        report = self.ended(engine)
        assert (report.cause, report.detail) == (EndCause.START_FAILED, "start_interrupted")
        assert not marked()

    def test_what_a_crash_left_half_laid_out_is_swept(self, data: Path) -> None:
        LocalEngine(data, NODES)
        for name in (".new-1-0-r1", ".gone-1-0-r2"):
            (data / "runs" / name / "0").mkdir(parents=True)
        LocalEngine(data, NODES)
        assert list((data / "runs").iterdir()) == []

    def test_a_run_outlives_a_server_that_is_killed(self, data: Path) -> None:
        server = textwrap.dedent(
            """
            import sys, time
            from pathlib import Path
            from paika.adapters.engine_local.engine import LocalEngine
            from paika.domain.task import Program
            from tests.ports.engine_promises import launch
            engine = LocalEngine(Path(sys.argv[1]), {"n1"})
            engine.start(launch("r1", Program(argv=("sleep", "300")), token=sys.argv[2]))
            engine.start(launch("r2", Program(argv=("sleep", "300")), token=sys.argv[2], limit_s=1))
            print("started", flush=True)
            time.sleep(300)
            """
        )
        root = Path(__file__).parents[3]
        with subprocess.Popen(
            [sys.executable, "-c", server, os.fspath(data), TOKEN],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"},
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"started\n"
            process.kill()
        exit_record = data / "runs" / "r2" / "0" / records.EXIT
        eventually(exit_record.exists)  # the limit is kept although nobody looks
        engine = LocalEngine(data, NODES)
        assert self.ended(engine, "r2").cause is EndCause.LIMIT
        (pid,) = self.until(engine, ReportState.RUNNING).pids
        sessions = {os.getsid(each) for each in (pid, supervisor_of(data), os.getpid())}
        assert len(sessions) == 3  # no terminal and no key press reaches one through another
        engine.stop("r1", TOKEN, EndCause.CANCELLED)
        assert self.ended(engine).cause is EndCause.CANCELLED

    def test_no_dead_supervisor_stays_in_the_process_table(self, engine: LocalEngine) -> None:
        engine.start(launch("r1", self.exits(0)))
        self.ended(engine)
        pid = supervisor_of(self.data)

        def gone() -> bool:
            engine.observe({})
            return processes.look(pid) is None

        eventually(gone)
