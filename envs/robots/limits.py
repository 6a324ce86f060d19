"""Checks of limits that an operator sets."""

from __future__ import annotations

from collections.abc import Sequence


def check_workspace(workspace: Sequence[Sequence[float]]) -> None:
    """Raises `ValueError` for what is not a lower and an upper corner, (2, 3)."""
    if [len(corner) for corner in workspace] != [3, 3]:
        raise ValueError("workspace is two corners of three numbers")
    if not all(low < high for low, high in zip(*workspace, strict=True)):
        raise ValueError(f"workspace is {workspace}; its lower corner has to be below its upper one")


def check_limit(name: str, value: float, most: float) -> None:
    """Raises `ValueError` for a limit that is not above 0 and at most `most`."""
    if not 0 < value <= most:
        raise ValueError(f"{name} is {value}; it is above 0 and at most {most}")
