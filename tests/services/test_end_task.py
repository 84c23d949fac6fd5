"""What the end of a task means for its children (field case C20)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.lab import T0

from paika.domain.records import Records
from paika.domain.task import Dependency, Program, Task, TaskState, When
from paika.services.end_task import after_end, after_ends, closing_cause

ENDS = st.sampled_from([TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED])


def task(task_id: str, *after: tuple[str, When], state: TaskState = TaskState.WAITING) -> Task:
    links = tuple(Dependency(parent, when) for parent, when in after)
    return Task(task_id, task_id, "mia", "vision", T0, Program(("true",)), after=links, state=state)


def records(*tasks: Task) -> Records:
    return Records(tasks={one.id: one for one in tasks})


def test_a_child_of_success_may_go_on_when_its_parent_is_done():
    house = records(task("p", state=TaskState.RUNNING), task("c", ("p", When.SUCCESS)))
    (child,) = after_end(house, house.tasks["p"], TaskState.DONE, T0)
    assert child.state is TaskState.WAITING
    assert child.after[0].met
    assert child.version == house.tasks["c"].version + 1


def test_a_child_of_success_is_closed_when_its_parent_fails_and_so_are_its_own_children():
    house = records(
        task("p", state=TaskState.RUNNING),
        task("c", ("p", When.SUCCESS)),
        task("g", ("c", When.SUCCESS)),
        task("cleanup", ("g", When.END)),
        task("other"),
    )
    changed = {one.id: one for one in after_end(house, house.tasks["p"], TaskState.FAILED, T0)}
    assert changed["c"].state is changed["g"].state is TaskState.CLOSED
    assert changed["cleanup"].state is TaskState.WAITING
    assert changed["cleanup"].after[0].met
    assert "other" not in changed
    cause = closing_cause(changed["g"])
    assert cause is not None
    assert (cause.parent, cause.outcome, cause.when) == ("c", "closed", "success")


def test_cancelled_is_not_failed():
    house = records(task("p"), task("c", ("p", When.FAILURE)))
    (child,) = after_end(house, house.tasks["p"], TaskState.CANCELLED, T0)
    assert child.state is TaskState.CLOSED


def test_a_child_of_failure_runs_after_a_failure():
    house = records(task("p"), task("c", ("p", When.FAILURE)))
    (child,) = after_end(house, house.tasks["p"], TaskState.FAILED, T0)
    assert child.state is TaskState.WAITING
    assert child.after[0].met


def test_a_held_child_is_closed_too_and_a_running_one_is_left_on_its_cards():
    house = records(
        task("p"),
        task("held", ("p", When.SUCCESS), state=TaskState.HELD),
        task("running", ("p", When.SUCCESS), state=TaskState.RUNNING),
    )
    changed = {one.id: one for one in after_end(house, house.tasks["p"], TaskState.FAILED, T0)}
    assert changed["held"].state is TaskState.CLOSED
    assert changed["running"].state is TaskState.RUNNING


def test_two_ends_at_once_move_a_common_child_by_one_version():
    house = records(task("p"), task("q"), task("c", ("p", When.SUCCESS), ("q", When.SUCCESS)))
    (child,) = after_ends(house.tasks, {"p": TaskState.DONE, "q": TaskState.DONE}, T0)
    assert child.version == 2
    assert all(dependency.met for dependency in child.after)


@st.composite
def forests(draw: st.DrawFn) -> list[Task]:
    """Up to eight tasks, each after some of the earlier ones."""
    size = draw(st.integers(2, 8))
    made = []
    for number in range(size):
        parents = draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3)) if number else []
        made.append(task(f"t{number}", *((f"t{p}", draw(st.sampled_from(When))) for p in parents)))
    return made


@given(forests(), st.lists(ENDS, min_size=8, max_size=8), st.randoms(use_true_random=False))
def test_the_order_in_which_ends_come_in_does_not_matter(made, outcomes, dice):
    """Told all at once or one after the other, in any order: the same tasks are closed."""
    roots = {one.id: outcomes[n] for n, one in enumerate(made) if not one.after}
    start = {one.id: one for one in made}
    at_once = start | {one.id: one for one in after_ends(start, roots, T0)}
    one_by_one, order = dict(start), list(roots)
    dice.shuffle(order)
    for root in order:
        one_by_one |= {one.id: one for one in after_ends(one_by_one, {root: roots[root]}, T0)}
    for key, one in at_once.items():
        other = one_by_one[key]
        assert one.state is other.state
        if key not in roots and not one.ended:
            assert replace(one, version=1) == replace(other, version=1)
    for one in at_once.values():
        if one.id not in roots:
            assert (one.state is TaskState.CLOSED) == any(dependency.dead for dependency in one.after)
