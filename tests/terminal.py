"""Terminals for tests."""

from __future__ import annotations

import termios


def without_echo(terminal: int) -> None:
    """What is typed ahead is not shown: the system would put it anywhere in what a program prints."""
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
