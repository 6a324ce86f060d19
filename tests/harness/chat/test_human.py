from __future__ import annotations

import os
import pty
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.chat import human
from harness.failures import ProviderError
from harness.protocols import Message, Sampling
from tests.terminal import without_echo


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The person's end of a terminal."""
    person, terminal = pty.openpty()
    without_echo(terminal)
    monkeypatch.setattr(human, "TERMINAL", os.ttyname(terminal))
    yield person
    os.close(person)
    os.close(terminal)


def shown(person: int, until: str) -> str:
    text = ""
    while until not in text:
        text += os.read(person, 4096).decode()
    return text


def test_a_reply_has_all_its_lines_and_the_conversation_is_shown(keyboard: int) -> None:
    model = human.Human().open()
    os.write(keyboard, "x = 'é'\n\n  y = 2\n.\nnot of it\n".encode())
    reply = model.complete(
        [Message("system", "Be brief."), Message("user", "Go on.", images=(b"\x89PNG",))], Sampling()
    )
    assert (reply.text, reply.finish_reason, reply.cost_usd) == ("x = 'é'\n\n  y = 2", "stop", 0.0)
    screen = shown(keyboard, "ends it:")
    assert "--- system\r\nBe brief.\r\n" in screen
    picture = Path(screen.partition("[picture: ")[2].partition("]")[0])
    assert picture.read_bytes() == b"\x89PNG"
    picture.unlink()
    model.close()


def test_ctrl_d_ends_a_reply(keyboard: int) -> None:
    model = human.Human().open()
    os.write(keyboard, b"x = 1\n\x04")
    assert model.complete([Message("user", "Go on.")], Sampling()).text == "x = 1"
    os.write(keyboard, b"\x04")
    assert model.complete([Message("user", "Again.")], Sampling()).text == ""
    model.close()


def test_without_a_terminal_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(human, "TERMINAL", str(tmp_path / "tty"))
    (problem,) = human.Human().problems()
    assert "No such file" in problem.what and "run.workers=0" in problem.fix
    with pytest.raises(ProviderError, match="llm=human asks at"):
        human.Human().open()
