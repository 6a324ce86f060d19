"""How many yes-or-no outcomes a printed share stands on: episodes for a success rate, subtasks for task progress. For
other metrics it is not known, and nothing is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.audit.numbers import ALL, SUCCESS, Number

PROGRESS = "task_progress"
SUBTASKS = "subtasks"
PROTOCOL = "protocol"
"""The method under which a paper lists what holds for all methods."""


@dataclass(frozen=True)
class Outcomes:
    """Number of outcomes per episode of each number, by line, where it is known."""

    per_episode: dict[int, int]

    def of(self, number: Number, episodes: int | None = None) -> int | None:
        """Outcomes of a number, or those that it would have with another number of episodes."""
        stated = number.episodes if episodes is None else episodes
        each = self.per_episode.get(number.line)
        return stated * each if stated and each else None


def outcomes(numbers: Sequence[Number]) -> Outcomes:
    """From the numbers themselves: a paper's subtasks per episode are numbers of metric `subtasks`, for a method in the
    same item or, listed under the method `protocol`, for all."""
    own: dict[tuple[str, ...], int] = {}
    common: dict[tuple[str, ...], int] = {}
    for number in numbers:
        if number.metric == SUBTASKS and number.value.value.denominator == 1 and number.value.value > 0:
            task = (number.paper, number.benchmark, number.task)
            if number.method == PROTOCOL:
                common[task] = int(number.value.value)
            else:
                own[*task, number.item, number.method] = int(number.value.value)
    found: dict[int, int] = {}
    for number in numbers:
        task = (number.paper, number.benchmark, number.task)
        if number.scale is None:
            continue
        if number.quantity[5] == SUCCESS:
            found[number.line] = 1
        elif number.metric == PROGRESS and number.task != ALL:
            subtasks = own.get((*task, number.item, number.method), common.get(task))
            if subtasks:
                found[number.line] = subtasks
    return Outcomes(found)
