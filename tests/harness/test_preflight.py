"""What is told before anything runs: cameras that an environment does not have, values that cannot be. What other
components lack is in their own tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.cells import Cell
from harness.failures import UsageError
from harness.preflight import check

TABLETOP = {"_target_": "envs.tabletop.Tabletop"}


def reflection(camera: str | None) -> dict[str, Any]:
    return {
        "_target_": "methods.replanning.Replanning",
        "trials": 2,
        "replan": {"_target_": "methods.replan.reflection.Reflection", "camera": camera},
    }


def policy(cameras: list[str]) -> dict[str, Any]:
    return {
        "_target_": "methods.policy.Policy",
        "policy": "harness.testing.noop:NoopMethod",
        "cameras": cameras,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"method": reflection("fornt")},
            r"method=noop wants the camera `fornt`, .* Did you mean front\?",
        ),
        ({"method": reflection("side")}, r"`side`, which env=noop does not have\. Known: front, .*wrist\."),
        ({"method": policy(["wrist", "side"])}, r"method=noop wants the camera `side`"),
        (
            {"method": reflection(None), "record": {"camera": "side"}},
            r"record\.camera wants the camera `side`",
        ),
    ],
)
def test_a_camera_that_the_environment_does_not_have_is_named(
    make_cell: Callable[..., Cell], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check([make_cell(env=TABLETOP, **changes)])


@pytest.mark.parametrize(
    "changes",
    [
        {"method": reflection(None)},
        {"method": reflection("wrist")},
        {"method": {"_target_": "methods.replanning.Replanning"}, "record": {"camera": None}},
        {"method": policy(["wrist", "front"])},
    ],
)
def test_cameras_that_are_there_and_the_environments_own_choice_are_fine(
    make_cell: Callable[..., Cell], changes: dict[str, Any]
) -> None:
    check([make_cell(env=TABLETOP, **changes)])


def test_an_environment_that_does_not_say_what_it_has_is_not_judged(make_cell: Callable[..., Cell]) -> None:
    """The no-op environment has no method `cameras` before it is open."""
    check([make_cell(record={"camera": "side"})])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run": {"workers": -1}}, r"run\.workers is -1; it has to be at least 0\."),
        ({"run": {"retries": -1}}, r"run\.retries is -1; it has to be at least 0\."),
        ({"run": {"max_errors": 0}}, r"run\.max_errors is 0; it has to be at least 1\."),
        ({"run": {"episode_timeout": 0.0}}, r"run\.episode_timeout is 0; it has to be above 0\."),
        ({"run": {"episode_timeout": float("nan")}}, r"run\.episode_timeout is nan; it has to be a number\."),
        ({"sampling": {"temperature": -0.5}}, r"sampling\.temperature is -0\.5; .* at least 0\."),
        (
            {"sampling": {"temperature": float("inf")}},
            r"sampling\.temperature is inf; it has to be a number\.",
        ),
        ({"sampling": {"max_tokens": 0}}, r"sampling\.max_tokens is 0; it has to be at least 1\."),
        ({"sandbox": {"seconds": -1.0}}, r"sandbox\.seconds=-1\.0 must be greater than 0"),
        ({"record": {"fps": float("nan")}}, r"record\.fps is nan; it has to be a number\."),
        ({"budget": {"usd": float("nan")}}, r"budget\.usd is nan; it has to be a number\."),
        ({"env": {"rate": float("nan")}}, r"env\.rate is nan; it has to be a number\."),
    ],
)
def test_values_that_cannot_be_are_told_before_anything_is_played(
    make_cell: Callable[..., Cell], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check([make_cell(**changes)])
