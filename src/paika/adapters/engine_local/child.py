"""Starts the task's own program; the standard library alone.

The child is the first of a new session, dies with its supervisor, and reads nothing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paika.adapters.engine_local.detail import Detail

SCRIPT_FD = 9
SET_PDEATHSIG, SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None, use_errno=True)
WORDS = {
    ("exec", errno.ENOENT): Detail.COMMAND_NOT_FOUND,
    ("exec", errno.ENOTDIR): Detail.COMMAND_NOT_FOUND,
    ("exec", errno.EACCES): Detail.NOT_EXECUTABLE,
    ("exec", errno.EPERM): Detail.NOT_EXECUTABLE,
    ("exec", errno.ENOEXEC): Detail.NOT_EXECUTABLE,
    ("exec", errno.E2BIG): Detail.ARGUMENTS_TOO_LONG,
    ("account", errno.EPERM): Detail.ACCOUNT_REFUSED,
    ("chdir", errno.ENOENT): Detail.WORKDIR_MISSING,
    ("chdir", errno.ENOTDIR): Detail.WORKDIR_MISSING,
    ("chdir", errno.EACCES): Detail.WORKDIR_FORBIDDEN,
}


class StartFailed(Exception):
    """The program cannot be started; the text is a detail as endings.py has them."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, where, with which whole environment; `door` is a cgroup.procs file or None.

    `account` is (uid, gid, groups) of whom it runs as, None for our own user; `script` is a file that bash
    reads from descriptor SCRIPT_FD, as its folder may be shut to that account.
    """

    argv: Sequence[str]
    workdir: str
    environment: Mapping[str, str]
    door: str | None = None
    account: tuple[int, int, Sequence[int]] | None = None
    script: str | None = None


def become_subreaper() -> None:
    """From now on every orphan among our descendants becomes our child."""
    LIBC.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def check(command: Command) -> None:
    """Raises StartFailed for what can be seen to be wrong before anything runs."""
    if not os.path.isdir(command.workdir):
        raise StartFailed(Detail.WORKDIR_MISSING.of(command.workdir))
    if not os.access(command.workdir, os.X_OK):
        raise StartFailed(Detail.WORKDIR_FORBIDDEN.of(command.workdir))
    if not command.argv or not command.argv[0]:
        raise StartFailed(Detail.COMMAND_NOT_FOUND.of(""))
    found = [path for path in _candidates(command) if os.path.isfile(path)]
    if not found:
        raise StartFailed(Detail.COMMAND_NOT_FOUND.of(command.argv[0]))
    if not any(os.access(path, os.X_OK) for path in found):
        raise StartFailed(Detail.NOT_EXECUTABLE.of(command.argv[0]))


def _candidates(command: Command) -> list[str]:
    name = command.argv[0]
    if "/" in name:
        return [os.path.join(command.workdir, name)]
    folders = command.environment.get("PATH", os.defpath).split(os.pathsep)
    return [os.path.join(command.workdir, folder, name) for folder in folders]


def spawn(command: Command, output: int) -> int:
    """Run it with stdout and stderr into `output`; its process number. Raises StartFailed."""
    answer, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(command, output, tell)
    os.close(tell)
    with os.fdopen(answer, "rb") as pipe:
        trouble = pipe.read()
    if trouble:
        os.waitpid(pid, 0)
        step, number, text = trouble.decode(errors="replace").split(" ", 2)
        raise StartFailed(WORDS.get((step, int(number)), Detail.START_REFUSED).of(text))
    return pid


def _become(command: Command, output: int, tell: int) -> None:
    """In the child: turn into the program, or tell why not. Never returns."""
    step = "prepare"
    text = command.argv[0]
    try:
        os.setsid()
        _enter(command.door)
        _reset_signals()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        if command.script is not None:
            os.dup2(os.open(command.script, os.O_RDONLY), SCRIPT_FD)
        step = "account"
        _change_to(command.account)
        LIBC.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # after the change of account, which forgets it
        step, text = "chdir", command.workdir
        os.chdir(command.workdir)
        step, text = "exec", command.argv[0]
        os.execvpe(command.argv[0], list(command.argv), dict(command.environment))  # noqa: S606 - no shell is the point
    except (OSError, ValueError) as trouble:
        number = getattr(trouble, "errno", None) or 0
        os.write(tell, f"{step} {number} {text}".encode(errors="replace"))
    finally:
        os._exit(127)


def _change_to(account: tuple[int, int, Sequence[int]] | None) -> None:
    if account is not None:
        uid, gid, groups = account
        os.setgroups(list(groups))
        os.setgid(gid)
        os.setuid(uid)


def _enter(door: str | None) -> None:
    if door is None:
        return
    try:
        descriptor = os.open(door, os.O_WRONLY)
        os.write(descriptor, b"0")
        os.close(descriptor)
    except OSError:
        return  # the group is a help, not a need


def _reset_signals() -> None:
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) is not signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
