"""The client of a policy server as an executor: what is asked, how an answer becomes actions, every way of not answering."""

import numpy as np
import pytest

from harness.failures import MotionFailure, PolicyServerError
from methods.executors.openpi import OpenPi, padded
from methods.executors.senses import Senses
from tests.methods.test_policy_server import answering, serving

pytest.importorskip("msgpack", reason="the extra robots is not installed")

DOWN = [0.0, np.pi, 0.0]
"""The rotation vector of the hand of the test's table: the quaternion (0, 0, 1, 0)."""


def chunk(*rows):
    return {"actions": np.array(rows, np.float32)}


def absolute(x=0.1, y=0.0, z=0.2, turn=DOWN, gripper=1.0):
    return [x, y, z, *turn, gripper]


@pytest.fixture
def senses(table):
    return Senses(table(tray=((0.35, 0.0, 0.002), (0.05, 0.05, 0.002))))


def ask(url, senses, text="inspect left box", **config):
    executor = OpenPi(server=url, timeout=60.0, pause=0.0, **config).open()
    try:
        executor.reset(text)
        return executor.act(senses), executor
    finally:
        executor.close()


def test_what_is_asked(senses):
    asked = []
    with serving(answering(chunk(absolute()), asked=asked)) as url:
        ask(url, senses)
    (request,) = asked
    assert set(request) == {
        "observation/image",
        "observation/wrist_image",
        "observation/state",
        "prompt",
    }
    assert request["prompt"] == "inspect left box"
    for key in ("observation/image", "observation/wrist_image"):
        assert (request[key].shape, request[key].dtype) == ((224, 224, 3), np.uint8)
    assert request["observation/state"].dtype == np.float32
    assert request["observation/state"] == pytest.approx([0.1, 0.0, 0.2, *DOWN, 1.0], abs=1e-6)


def test_the_keys_are_the_configs(senses):
    asked = []
    with serving(answering(chunk(absolute()), asked=asked)) as url:
        ask(url, senses, pictures={"wrist": "wrist"}, state="arm")
    assert set(asked[0]) == {"wrist", "arm", "prompt"}


def test_absolute_poses_become_steps_from_where_the_tool_is(senses):
    rows = [
        absolute(z=0.19),
        absolute(z=0.17, gripper=0.4),
        absolute(x=0.11, z=0.17, turn=[0.0, np.pi - 0.1, 0.0]),
    ]
    with serving(answering(chunk(*rows))) as url:
        actions, _ = ask(url, senses)
    assert actions == pytest.approx(
        np.array(
            [
                [0, 0, -0.01, 0, 0, 0, 1],
                [0, 0, -0.02, 0, 0, 0, -1],
                [0.01, 0, 0, 0, -0.1, 0, 1],
            ]
        ),
        abs=1e-6,
    )


def test_relative_poses_are_all_from_where_the_server_was_asked(senses):
    rows = [[0, 0, 0.01, 0, 0, 0, 1], [0, 0, 0.03, 0, 0, 0, 1], [0.02, 0, 0.03, 0, 0, 0, 0]]
    with serving(answering(chunk(*rows))) as url:
        actions, _ = ask(url, senses, actions="relative")
    assert actions[:, :3] == pytest.approx(np.array([[0, 0, 0.01], [0, 0, 0.02], [0.02, 0, 0]]), abs=1e-6)
    assert actions[:, 6].tolist() == [1, 1, -1]


def test_each_subtask_is_a_connection_of_its_own(senses):
    opened, asked = [], []

    def handle(connection):
        opened.append(connection)
        answering(chunk(absolute()), asked=asked)(connection)

    with serving(handle) as url:
        executor = OpenPi(server=url, timeout=60.0).open()
        for text, times in (("inspect left box", 2), ("inspect left box", 1), ("go to rest", 1)):
            executor.reset(text)
            for _ in range(times):
                executor.act(senses)
        executor.close()
    assert len(opened) == 3
    assert [request["prompt"] for request in asked] == ["inspect left box"] * 3 + ["go to rest"]


def test_a_broken_connection_is_made_anew_and_the_same_is_asked(senses):
    asked = []

    def handle(connection):
        if not asked:
            connection.send(b"\x80")
            asked.append(connection.recv())
            connection.close(1011, "restarting")
        else:
            answering(chunk(absolute()), asked=asked)(connection)

    with serving(handle) as url:
        actions, executor = ask(url, senses)
    assert actions.shape == (1, 7)
    assert executor.reconnected == 1
    assert asked[1]["prompt"] == "inspect left box"


def test_a_server_that_is_down_is_an_error_after_all_attempts(senses):
    with serving(answering(chunk(absolute()))) as url:
        pass
    with pytest.raises(PolicyServerError, match=r"cannot be reached.*\(tried 3 times\)"):
        ask(url, senses)
    with pytest.raises(PolicyServerError, match=r"\(tried once\)"):
        ask(url, senses, attempts=1)


def test_a_server_that_reports_an_exception_each_time_is_an_error(senses):
    asked = []
    with (
        serving(answering("KeyError: 'observation/joints'", asked=asked)) as url,
        pytest.raises(PolicyServerError, match=r"KeyError: 'observation/joints' \(tried 2 times\)"),
    ):
        ask(url, senses, attempts=2)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({}, r"not made of numbers|not \(\)"),
        ({"actions": np.zeros((0, 7))}, r"\(0, 7\)"),
        ({"actions": np.zeros((5, 8))}, r"\(5, 8\)"),
        ({"actions": np.zeros(7)}, r"\(7,\)"),
        (chunk(absolute(x=np.nan)), "finite"),
        ({"actions": ["up"]}, "not made of numbers"),
    ],
)
def test_an_answer_that_is_no_chunk_is_the_policys_failure(senses, answer, message):
    with serving(answering(answer)) as url, pytest.raises(MotionFailure, match=message):
        ask(url, senses)


def test_pictures_are_fitted_and_padded():
    wide = np.full((120, 160, 3), 200, np.uint8)
    picture = padded(wide, 224)
    assert picture.shape == (224, 224, 3)
    assert (picture[:28] == 0).all()
    assert (picture[28:196] == 200).all()
    assert (picture[196:] == 0).all()
    assert (padded(wide.transpose(1, 0, 2), 224)[:, 28:196] == 200).all()
    right = np.arange(224 * 224 * 3, dtype=np.uint8).reshape(224, 224, 3)
    assert np.array_equal(padded(right, 224), right)
    assert padded(np.zeros((1, 1000, 3), np.uint8), 224).shape == (224, 224, 3)


@pytest.mark.parametrize(
    "values",
    [
        {"executed": 0},
        {"timeout": 0.0},
        {"timeout": float("inf")},
        {"attempts": 0},
        {"pause": -1.0},
        {"state": "prompt"},
        {"pictures": {"observation/state": "wrist"}},
    ],
)
def test_values_that_cannot_be_are_refused(values):
    with pytest.raises(ValueError, match=r"executed|timeout|attempts|keys"):
        OpenPi(**values)


def test_what_is_missing_is_a_problem_before_anything_runs():
    assert OpenPi().problems() == []
    (problem,) = OpenPi(server="localhost").problems()
    assert problem.fix == "Write executor.server=ws://host:port"
