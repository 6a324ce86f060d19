"""Compact letter display: groups that share a letter cannot be told apart by the data (Piepho, 2004). It does not say
that they are equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_letters


def letters(groups: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Letters of each group, given the pairs that were told apart; all other pairs share at least one letter.

    Give the groups from best to worst, and the first letter is the best one's. Raises `ValueError` for a pair that
    names another group, or the same twice.
    """
    columns: list[frozenset[str]] = [frozenset(groups)] if groups else []
    for first, second in different:
        if first == second or first not in groups or second not in groups:
            raise ValueError(f"{first!r} and {second!r} are not two of the groups {', '.join(groups)}.")
        split: list[frozenset[str]] = []
        for column in columns:
            both = first in column and second in column
            split += [column - {first}, column - {second}] if both else [column]
        columns = _absorb(split)
    place = {group: index for index, group in enumerate(groups)}
    columns.sort(key=lambda column: sorted(place[group] for group in column))
    return {
        group: "".join(_letter(index) for index, column in enumerate(columns) if group in column)
        for group in groups
    }


def _absorb(columns: list[frozenset[str]]) -> list[frozenset[str]]:
    """Without the columns whose groups another one holds, too."""
    unique = list(dict.fromkeys(columns))
    return [column for column in unique if not any(column < other for other in unique)]


def _letter(index: int) -> str:
    """a to z, A to Z, then a1, b1 and so on."""
    turn, place = divmod(index, len(ascii_letters))
    return ascii_letters[place] + (str(turn) if turn else "")
