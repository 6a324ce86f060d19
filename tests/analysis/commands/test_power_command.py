from __future__ import annotations

import pytest

from analysis import commands
from harness.commandline import main


def _run(*arguments: str) -> int:
    return main(commands, "", ["power", *arguments])


def test_fifteen_points(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--effect", "0.15") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "To tell a success rate of 75 % from one of 60 % with a power of 80 % at a level of 5 %, two-sided:"
    )
    assert [line.split()[:2] for line in lines[3:]] == [
        ["52", "104"],
        ["112", "224"],
        ["166", "332"],
        ["154", "308"],
    ]
    assert "15 % of them discordant: one method solves all" in lines[3]
    assert lines[6].endswith("different scenes for each method")


def test_a_known_discordance_and_other_rates(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--effect", "-0.3", "--base", "0.9", "--discordance", "0.36", "--power", "0.9") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("To tell a success rate of 60 % from one of 90 % with a power of 90 %")
    assert len(lines) == 5 and "36 % of them discordant" in lines[3]


def test_where_enumeration_ends_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--effect", "0.01", "--discordance", "0.2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "approximation" not in lines[3] and lines[4].endswith("by the normal approximation")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--effect", "15"],
            "success rate of 15.6 cannot be; it lies between 0 and 1. Rates are shares: 15 points are",
        ),
        (["--effect", "0"], "difference of 0 cannot be found"),
        (["--effect", "nan"], "success rate of nan cannot be"),
        (["--effect", "0.15", "--discordance", "0.1"], "lies between 0.15 and 0.65; it cannot be 0.1"),
        (["--effect", "0.15", "--alpha", "0"], "--alpha is 0; it lies between 0 and 1"),
        (["--effect", "0.15", "--power", "80"], "--power is 80; it lies between 0 and 1"),
    ],
)
def test_what_cannot_be_is_one_message(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(*arguments) == 2
    shown = capsys.readouterr()
    assert message in shown.err and shown.out == ""
