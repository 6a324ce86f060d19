"""The person at the terminal, on a terminal of the test's own."""

import os

import pytest

from envs.robots import operator as terminal
from harness.failures import SimulatorError
from tests.terminal import without_echo


@pytest.fixture
def keyboard(monkeypatch):
    """`keyboard(TEXT)` types; the operator reads it."""
    ours, theirs = os.openpty()
    without_echo(theirs)
    monkeypatch.setattr(terminal, "TERMINAL", os.ttyname(theirs))
    yield lambda text: os.write(ours, text.encode())
    os.close(theirs)
    os.close(ours)


@pytest.fixture
def operator(keyboard):
    operator = terminal.Operator()
    yield operator
    operator.close()


def test_what_is_typed_unasked_is_given_line_by_line_and_waits_for_nothing(operator, keyboard):
    assert operator.typed() == []
    keyboard("done\nsay we have a guest\nhal")
    assert operator.typed() == ["done", "say we have a guest"]
    keyboard("f\n\n")
    assert operator.typed() == ["half", ""]
    assert operator.typed() == []


def test_a_line_that_was_typed_before_is_the_answer_to_the_next_question(operator, keyboard):
    keyboard("these words\nn\n")
    assert operator.asks("What does the user say? ") == "these words"
    assert operator.allows("It moves.") is False
    keyboard("Ünï\n")
    assert operator.asks("And now? ") == "Ünï"


def test_a_terminal_that_has_gone_is_an_error(operator, monkeypatch):
    monkeypatch.setattr(terminal.os, "read", lambda *_: b"")
    with pytest.raises(SimulatorError, match="closed while the operator was asked: What now"):
        operator.asks("What now?")
    monkeypatch.setattr(terminal.select, "select", lambda *_: ([1], [], []))
    with pytest.raises(SimulatorError, match="terminal was closed"):
        operator.typed()
