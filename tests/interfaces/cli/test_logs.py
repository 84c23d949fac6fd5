"""Logs: the end, all of it, or as it grows; nothing in them acts on the terminal."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interfaces.cli.house import House

from paika.domain.card import Vendor
from paika.domain.task import Task
from paika.interfaces.cli.logs import last_lines, printable
from paika.ports.engine import Launch, LaunchPart


def running(house: House, text: bytes = b"") -> Task:
    """A task whose run has written `text`."""
    task = house.lab.submit("mia", name="训练")
    run = house.lab.run(task, "a0")
    part = LaunchPart(0, "n1", ("a0",), Vendor.NVIDIA)
    house.lab.engine.start(
        Launch(run.id, run.token, task.id, task.name, "mia", "vision", task.program, (part,), None, "TERM", 30, 1 << 20)
    )
    if text:
        house.lab.engine.write(run.id, text)
    return task


LINES = "".join(f"step {n} 损失\n" for n in range(500)).encode()


def test_the_last_lines_and_a_word_on_the_rest(house: House):
    task = running(house, LINES)
    said = house.paika("logs", task.id, "--tail", "3")
    assert said.out == "step 497 损失\nstep 498 损失\nstep 499 损失\n"
    left = len(LINES) - len(said.out.encode())
    assert f"{left} bytes before this are not shown" in " ".join(said.err.split())
    assert len(house.paika("logs", task.id).out.splitlines()) == 200


def test_all_of_it(house: House):
    task = running(house, LINES)
    assert house.paika("logs", task.id, "--all").out == LINES.decode()
    assert house.paika("task", "logs", task.id, "--all", "--json").json["text"] == LINES.decode()


def test_control_signs_are_shown_unless_raw(house: House):
    task = running(house, b"a\tb\r\n\x1b[31mred\x07\x00\xe2\x80\xae\n")
    for more in ([], ["--all"]):
        assert house.paika("logs", task.id, *more).out == "a\tb\n⟦U+001B⟧[31mred⟦U+0007⟧⟦U+0000⟧⟦U+202E⟧\n"
    assert "\x1b[31mred\x07" in house.paika("logs", task.id, "--raw").out


def test_raw_is_byte_for_byte(house: House):
    task = running(house, b"\xff\x00\x1b[1m\r\n")
    assert house.outside("logs", task.id, "--all", "--raw").stdout == b"\xff\x00\x1b[1m\r\n"


def test_it_follows_until_the_end(house: House):
    task = running(house, b"one\n")
    run = f"{task.id}.r1"

    def go_on() -> None:
        time.sleep(0.5)
        house.lab.engine.write(run, b"two\n")
        house.lab.engine.write(run, "三\n".encode())
        house.lab.engine.end(run, exit_code=0)

    writer = threading.Thread(target=go_on)
    writer.start()
    said = house.paika("logs", task.id, "--follow")
    writer.join()
    assert said.code == 0
    assert said.out == "one\ntwo\n三\n"


def test_a_task_that_never_ran_has_no_log(house: House):
    said = house.paika("logs", house.lab.submit("mia").id)
    assert (said.code, said.out) == (0, "")
    assert "has not run yet" in said.err


def test_logs_of_other_teams_are_refused(house: House):
    task = running(house, b"secret")
    said = house.paika("logs", task.id, by="tim")
    assert said.code == 4
    assert "secret" not in said.out


@given(st.text(st.sampled_from("ab\n"), max_size=30), st.integers(0, 12))
def test_last_lines(text, count):
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    lines = lines[:-1] if lines[-1] == "" else lines
    assert last_lines(text, count) == "".join(lines[-count:] if count else [])


@pytest.mark.parametrize("sign", ["\x1b", "\x9b", "\r", "\x00", "\u2028", "\u202e"])
def test_only_newlines_and_tabs_act(sign):
    assert sign not in printable(f"a{sign}b")
    assert printable("a\n\tb\r\nc") == "a\n\tb\nc"
