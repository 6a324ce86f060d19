"""Steps keep their identity, and nothing is done by the planner's word alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.hime import plan as plans
from methods.hime.plan import Plan, Revision, revised
from methods.hime.wire import PlanLine, plan_lines


def then(plan: Plan, text: str) -> Revision:
    return revised(plan, plan_lines(text)[0])


def first(text: str) -> Plan:
    return then(Plan(), text).plan


def states(plan: Plan) -> list[tuple[int, str, str]]:
    return [(step.key, step.state, step.text) for step in plan.steps]


START = first(
    "[current] inspect left box\n"
    "[pending] inspect right box\n"
    "[pending] pick up bear from tray and place it to left box"
)


def test_a_first_plan_gets_keys_in_its_order_and_starts_its_current_step() -> None:
    revision = then(Plan(), "[current] a\n[pending] b")
    assert states(revision.plan) == [(1, "current", "a"), (2, "pending", "b")]
    assert revision.started == revision.plan.steps[0]
    assert revision.notes == ()


def test_the_planners_word_alone_claims() -> None:
    revision = then(START, "[done] inspect left box\n[current] inspect right box")
    assert states(revision.plan)[-2:] == [
        (1, "claimed", "inspect left box"),
        (2, "current", "inspect right box"),
    ]
    assert plans.CLAIMED in revision.notes
    assert revision.plan.confirmed(1).steps[1].state == "done"  # the oracle may say so later


def test_the_sentrys_word_and_the_planners_make_done() -> None:
    plan = START.confirmed(1)
    assert plan.current == plan.steps[0] and plan.current.confirmed  # the planner has not been asked yet
    revision = then(plan, "[done] inspect left box\n[current] inspect right box")
    assert [step.state for step in revision.plan.steps if step.key == 1] == ["done"]
    assert plans.CLAIMED not in revision.notes
    assert revision.started is not None and revision.started.key == 2


def test_the_planner_may_overrule_the_sentry() -> None:
    revision = then(START.confirmed(1), START.text())
    assert revision.started is None and revision.notes == (plans.OVERRULED,)
    again = then(revision.plan, "[done] inspect left box\n[current] inspect right box").plan
    assert {step.key: step.state for step in again.steps}[1] == "claimed"  # that verdict no longer counts


def test_a_confirmed_step_that_the_planner_leaves_out_is_done() -> None:
    assert states(then(START.confirmed(1), "[current] inspect right box").plan)[0] == (
        1,
        "done",
        "inspect left box",
    )


def test_only_steps_of_the_plan_can_be_confirmed() -> None:
    with pytest.raises(KeyError, match="no step 9"):
        START.confirmed(9)


def test_identity_does_not_hang_on_the_line() -> None:
    revision = then(
        START,
        "[pending] open the lid\n[pending] Pick up the bear from the tray, and place it to the left box.\n"
        "[current] Inspect the left box\n[pending] inspect right box",
    )
    assert [(step.key, step.state) for step in revision.plan.steps] == [
        (4, "pending"),
        (3, "pending"),
        (1, "current"),
        (2, "pending"),
    ]
    assert revision.started is None and revision.notes == ()


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (
            "pick up bear from tray and place it to left box",
            "Pick the bear from the tray, put it into the left box",
            True,
        ),
        ("pick up bear from tray and place it to left box", "pick up bear and place it to left box", True),
        ("inspect recipe card", "inspect the recipe", True),
        ("check the recipe card", "inspect recipe card", True),
        ("move cup from left box to right box", "move cup from right box to left box", False),
        ("pick up bear and place it to left box", "pick up bear and place it to right box", False),
        ("put lid on", "put lid off", False),
        ("open box", "open box again", False),
        ("?", "?", True),
    ],
)
def test_reworded_steps(old: str, new: str, same: bool) -> None:
    revision = then(first(f"[current] {old}"), f"[current] {new}")
    assert (revision.started is None) is same
    if not same:
        assert states(revision.plan)[0][:2] == (1, "dropped")


def test_a_shorter_wording_that_fits_two_steps_is_neither() -> None:
    revision = then(
        first("[current] look into left box\n[pending] look into right box"), "[current] look into box"
    )
    assert [(step.key, step.state) for step in revision.plan.steps] == [
        (1, "dropped"),
        (2, "dropped"),
        (3, "current"),
    ]
    revision = then(
        first("[current] look into box"), "[current] look into left box\n[pending] look into right box"
    )
    assert [step.key for step in revision.plan.steps] == [1, 2, 3]


def test_dropped_steps_are_not_shown_and_come_back_as_themselves() -> None:
    without = then(START, "[current] inspect left box")
    assert without.plan.text() == "[current] inspect left box"
    assert without.notes == (plans.DROPPED,)
    back = then(without.plan, "[done] inspect left box\n[current] inspect right box").plan
    assert back.current is not None and back.current.key == 2


def test_the_same_words_twice_are_two_steps() -> None:
    plan = first("[current] pour beans\n[pending] pour beans")
    revision = then(plan.confirmed(1), "[done] pour beans\n[current] pour beans")
    assert states(revision.plan) == [(1, "done", "pour beans"), (2, "current", "pour beans")]
    assert revision.started is not None and revision.started.key == 2


def test_to_do_again_what_is_done_is_a_new_step_and_what_was_only_claimed_is_open_again() -> None:
    done = then(START.confirmed(1), "[done] inspect left box\n[current] inspect right box").plan
    again = then(done, "[current] inspect left box")
    assert again.plan.current is not None and again.plan.current.key == 4
    assert {step.key: step.state for step in again.plan.steps}[1] == "done"
    claimed = then(START, "[done] inspect left box\n[current] inspect right box").plan
    reopened = then(claimed, "[current] inspect left box\n[pending] inspect right box")
    assert reopened.plan.current is not None and reopened.plan.current.key == 1
    assert plans.REOPENED in reopened.notes and reopened.started is not None


def test_a_plan_without_open_steps_is_exhausted_and_no_task_is_done() -> None:
    assert not Plan().exhausted and not START.exhausted
    plan = first("[done] a\n[done] b")
    assert plan.exhausted and plan.current is None
    assert [step.state for step in plan.steps] == ["claimed", "claimed"]


def test_all_done_in_a_note_ends_nothing() -> None:
    plan = first("[done] a (not all done)\n[current] b (then plan done)")
    assert not plan.exhausted
    assert plan.text() == "[done] a (not all done)\n[current] b (then plan done)"


LINE = st.builds(
    PlanLine,
    st.sampled_from(["done", "current", "pending"]),
    st.lists(
        st.sampled_from(["inspect", "box", "left", "right", "the", "bear", "pick", "place"]),
        min_size=1,
        max_size=4,
    ).map(" ".join),
)


def single(lines: list[PlanLine]) -> list[PlanLine]:
    """As `plan_lines` gives them: one current at most, and one if any is pending."""
    return list(plan_lines("\n".join(f"[{line.state}] {line.text}" for line in lines))[0])


@given(st.lists(st.tuples(st.lists(LINE, max_size=5).map(single), st.booleans()), max_size=6))
def test_whatever_the_planner_writes(rounds: list[tuple[list[PlanLine], bool]]) -> None:
    plan, confirmed, done, keys = Plan(), set[int](), set[int](), set[int]()
    for lines, sentry in rounds:
        if sentry and plan.current:
            confirmed.add(plan.current.key)
            plan = plan.confirmed(plan.current.key)
        before = plan.current
        revision = revised(plan, lines)
        plan = revision.plan
        found = [step.key for step in plan.steps]
        assert len(set(found)) == len(found) and keys <= set(found)
        keys |= set(found)
        assert sum(step.state == "current" for step in plan.steps) == any(
            line.state == "current" for line in lines
        )
        assert done <= {step.key for step in plan.steps if step.state == "done"} <= confirmed
        done = {step.key for step in plan.steps if step.state == "done"}
        assert [step.text for step in plan.steps[len(plan.steps) - len(lines) :]] == [
            line.text for line in lines
        ]
        assert (revision.started is None) == (
            plan.current is None or (before is not None and before.key == plan.current.key)
        )
        again = revised(plan, plan_lines(plan.text())[0])
        assert again.started is None
        assert {step.key: step.state for step in again.plan.steps} == {
            step.key: step.state for step in plan.steps
        }
