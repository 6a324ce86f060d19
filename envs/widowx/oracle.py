"""The operator as the oracle of a long task: he types at the terminal, while the robot works, which subtasks are done and what
the user says. What is asked for is on the scene's sheet (`envs.widowx.sheet`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from harness.failures import SimulatorError
from harness.protocols import Fact, Reset, Subtask, Utterance, Verdict

if TYPE_CHECKING:
    from envs.robots.operator import Operator
    from envs.widowx.sheet import Known, Sheet, Sheets
    from harness.seeding import Seeds

HELP = (
    "type at any time: done (the subtask marked >), done N, undo, next (this part of the task is over), "
    "say WORDS (the user speaks), fail (the trial is over), stop, or ? for the list"
)


class Oracle(Protocol):
    """Of an environment, for one trial after the other."""

    def begin(self, task: str, scene: int, seeds: Seeds) -> Reset:
        """The scene is laid out; the arm is at home."""
        ...

    def update(self, step: int) -> None:
        """A control step is over."""
        ...

    def subtasks(self) -> Sequence[Subtask]: ...

    def current(self) -> int | None: ...

    def utterances(self) -> Sequence[Utterance]: ...

    def verdict(self) -> Verdict: ...


class OperatorOracle:
    """See `Oracle`."""

    def __init__(self, operator: Operator, sheets: Sheets, halt: Callable[[], object]) -> None:
        """`halt` is the stop from the terminal."""
        self._operator, self._sheets, self._halt = operator, sheets, halt
        self._sheet: Sheet | None = None

    def begin(self, task: str, scene: int, seeds: Seeds) -> Reset:
        """The operator lays out the scene. It has no hash: that two of them are alike is his word."""
        self._sheet = sheet = self._sheets.sheet(task, seeds)
        self._stage = self._began = self._step = 0
        self._starts = [0]
        self._done: dict[tuple[int, int], int] = {}
        self._said: list[Utterance] = []
        self._failed = False
        things = "\n  ".join(sheet.layout)
        if not self._operator.allows(
            f"Lay out {task}, scene {scene} (x ahead of the arm, y to its left):\n  {things}"
        ):
            raise SimulatorError("the operator did not lay out the scene")
        digest = self._laid_out(task, scene, seeds)
        self._operator.tells(f"{HELP}\n{self._list()}")
        return Reset(digest, variation=sheet.variation)

    def update(self, step: int) -> None:
        """Takes what was typed since the last one."""
        self._step = step
        for line in self._operator.typed():
            self._take(line.strip())
        stage = self._open.stages[self._stage]
        over = self.current() is None or step - self._began >= stage.steps
        if over and not self._failed and self._stage + 1 < len(self._open.stages):
            self._begin_next()

    def subtasks(self) -> Sequence[Subtask]:
        return [
            Subtask(
                text=part.text,
                stage=index,
                done_at=self._done.get((index, place)),
                facts=self._facts(part.facts),
                outdated=self._facts(part.outdated) if index <= self._stage else (),
            )
            for index, stage in enumerate(self._open.stages)
            for place, part in enumerate(stage.parts)
        ]

    def current(self) -> int | None:
        before = sum(len(stage.parts) for stage in self._open.stages[: self._stage])
        place = self._next_place()
        return None if place is None else before + place

    def utterances(self) -> Sequence[Utterance]:
        return list(self._said)

    def verdict(self) -> Verdict:
        """Success is that every subtask was done in its stage."""
        total = sum(len(stage.parts) for stage in self._open.stages)
        complete = len(self._done) == total
        return Verdict(complete, self._failed and not complete, complete, len(self._done), total)

    def _laid_out(self, task: str, scene: int, seeds: Seeds) -> str:
        """After the operator has laid it out; returns the scene's hash where there is one."""
        return ""

    def _changed(self, stage: int) -> None:
        """After the operator has changed the table for a stage."""

    def _seen(self, stage: int, place: int) -> str:
        """What is known of a subtask beside the operator's eyes."""
        return ""

    @property
    def _open(self) -> Sheet:
        if self._sheet is None:
            raise RuntimeError("there is no scene yet: reset it first")
        return self._sheet

    def _take(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        word, rest = word.lower(), rest.strip()
        if not word:
            return
        said = ""
        if word == "done" and (place := self._place(rest)) is not None:
            self._done[self._stage, place] = self._step
        elif word == "undo" and self._done:
            self._done.popitem()
        elif word == "next" and self._stage + 1 < len(self._open.stages):
            self._begin_next()
        elif word == "say" and rest:
            self._said.append(Utterance(self._step, rest))
        elif word == "fail":
            self._failed = True
        elif word == "stop":
            self._halt()
        else:
            said = f"{HELP}\n"
        self._operator.tells(f"{said}{self._list()}")

    def _left(self) -> list[int]:
        """Places within the stage of its subtasks that are not done."""
        parts = self._open.stages[self._stage].parts
        return [place for place in range(len(parts)) if (self._stage, place) not in self._done]

    def _next_place(self) -> int | None:
        return next(iter(self._left()), None)

    def _place(self, number: str) -> int | None:
        """Of the subtask that is meant within the stage: the number as listed, or the next one."""
        if not number:
            return self._next_place()
        place = int(number) - 1 if number.isdecimal() else -1
        return place if place in self._left() else None

    def _begin_next(self) -> None:
        """The robot waits while the operator changes the table and speaks."""
        stage = self._open.stages[self._stage + 1]
        changes = "\n  ".join(stage.changes) or "nothing"
        self._operator.tells(f"The next part of the task. Change on the table:\n  {changes}")
        words = self._operator.asks(
            f"Then the user says: {stage.words}\nEnter: just so; or type other words: "
        )
        self._stage += 1
        self._began = self._step
        self._starts.append(self._step)
        self._changed(self._stage)
        self._said.append(Utterance(self._step, words.strip() or stage.words))
        self._operator.tells(self._list())

    def _facts(self, known: Sequence[Known]) -> tuple[Fact, ...]:
        return tuple(Fact(fact.subject, fact.relation, fact.value, self._since(fact)) for fact in known)

    def _since(self, fact: Known) -> int | None:
        if fact.stage > self._stage:
            return None
        if fact.told:
            return self._starts[fact.stage]
        looks = [
            self._done.get((fact.stage, place))
            for place, part in enumerate(self._open.stages[fact.stage].parts)
            if part.text == f"inspect {fact.subject}"
        ]
        return min((step for step in looks if step is not None), default=None)

    def _list(self) -> str:
        current = self._next_place()
        lines = []
        for place, part in enumerate(self._open.stages[self._stage].parts):
            done = self._done.get((self._stage, place))
            mark = ">" if place == current else " "
            state = "" if done is None else f"   done at step {done}"
            lines.append(f"{mark} {place + 1}. {part.text}{state}{self._seen(self._stage, place)}")
        return "\n".join(lines)
