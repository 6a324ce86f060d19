"""Commands are found by their files, and what cannot be run ends with one message."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.commandline import main

COMMAND = '''"""Greets.

At length."""
from harness.failures import UsageError

def add_arguments(parser):
    parser.add_argument("name")

def run(options):
    if options.name == "nobody":
        raise UsageError("There is nobody to greet.")
    print("hello", options.name)
    return 3
'''


def test_a_file_adds_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "greetings" / "commands"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "greet.py").write_text(COMMAND)
    monkeypatch.syspath_prepend(tmp_path)
    import greetings.commands as commands  # type: ignore[import-not-found]

    assert main(commands, "Says things.", ["greet", "Ada"]) == 3
    assert capsys.readouterr().out == "hello Ada\n"
    assert main(commands, "Says things.", ["greet", "nobody"]) == 2
    assert capsys.readouterr().err == "There is nobody to greet.\n"
    with pytest.raises(SystemExit):
        main(commands, "Says things.", ["--help"])
    assert "Greets." in (shown := capsys.readouterr().out) and "At length" not in shown
    with pytest.raises(SystemExit):
        main(commands, "Says things.", ["no_such_command"])
    assert "invalid choice" in capsys.readouterr().err
    for name in [name for name in sys.modules if name.startswith("greetings")]:
        del sys.modules[name]
