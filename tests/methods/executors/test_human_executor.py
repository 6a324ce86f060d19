import os
import pty

import numpy as np
import pytest

from harness.failures import HarnessError
from methods.executors import Refusal, human
from methods.executors.senses import Senses


@pytest.fixture
def keyboard(monkeypatch):
    """The operator's end of a terminal."""
    person, terminal = pty.openpty()
    monkeypatch.setattr(human, "TERMINAL", os.ttyname(terminal))
    yield person
    os.close(person)
    os.close(terminal)


@pytest.fixture
def senses(table):
    return Senses(table(tray=((0.35, 0.0, 0.002), (0.05, 0.05, 0.002))))


def shown(person, until):
    text = ""
    while until not in text:
        text += os.read(person, 4096).decode()
    return text


def test_keys_are_actions(keyboard, senses):
    executor = human.Human().open()
    executor.reset("inspect tray")
    os.write(keyboard, b"wffcaq\n")
    actions = executor.act(senses)
    assert actions == pytest.approx(
        np.array(
            [
                [0.02, 0, 0, 0, 0, 0, 1],
                [0, 0, -0.02, 0, 0, 0, 1],
                [0, 0, -0.02, 0, 0, 0, 1],
                [0, 0, 0, 0, 0, 0, -1],
                [0, -0.02, 0, 0, 0, 0, -1],
                [0, 0, 0, 0, 0, 0.12, -1],
            ]
        )
    )
    screen = shown(keyboard, "they see tray")
    assert "--- subtask: inspect tray" in screen
    assert "tool at 0.100 0.000 0.200 m" in screen
    executor.close()


def test_an_empty_line_lets_time_pass_and_keeps_the_grip(keyboard, senses):
    executor = human.Human(executed=3).open()
    executor.reset("inspect tray")
    os.write(keyboard, b"c\n\n")
    executor.act(senses)
    assert executor.act(senses).tolist() == [[0, 0, 0, 0, 0, 0, -1]] * 3
    executor.close()


def test_unknown_keys_are_asked_again(keyboard, senses):
    executor = human.Human().open()
    os.write(keyboard, b"wx!\nw\n")
    assert len(executor.act(senses)) == 1
    assert "no such keys: ! x." in shown(keyboard, "no such keys: ! x.")
    executor.close()


def test_the_operator_may_refuse(keyboard, senses):
    executor = human.Human().open()
    os.write(keyboard, b"? it is empty\n?\n")
    assert executor.act(senses) == Refusal("declined", "it is empty")
    assert executor.act(senses) == Refusal("declined", "the operator declines")
    executor.close()


def test_the_end_of_the_terminal_is_an_error(keyboard, senses):
    executor = human.Human().open()
    os.write(keyboard, b"\x04")
    with pytest.raises(HarnessError, match="the terminal has ended"):
        executor.act(senses)
    executor.close()


def test_without_a_terminal_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(human, "TERMINAL", str(tmp_path / "tty"))
    (problem,) = human.Human().problems()
    assert "executor=human asks at" in problem.what
    assert "run.workers=0" in problem.fix
    with pytest.raises(HarnessError, match="cannot open"):
        human.Human().open()
