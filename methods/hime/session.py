"""What HiMe's upper layers know and do in one episode: the frames, the user's words, the planner, and when it is asked. It
knows no robot and no clock: a control loop (`methods.hime.hierarchy`) or a server hands it what was seen and said, lets it
think when something is `due`, and tells it when the thought takes effect.

    session.see(frame)                      the first frame, and one after each execution (`executed`)
    if session.due: thought = session.think()
    session.adopt(thought)                  now, or as many control steps later as the thinking took
    session.assignment                      what the executor is to do
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from harness.protocols import Message, Reply
from methods.hime.frames import Film, Frame, recent
from methods.hime.planners import Decision, PlannerConfig, Situation
from methods.hime.triggers import Cause, Watch

PLANNER, SENTRY = "planner", "sentry"
"""Roles of chat models."""
PLANNER_TOKENS, SENTRY_TOKENS = 4096, 512
"""The most that an answer may have, as in the public code."""

SPOKEN = "The user has just said this instruction; it takes the place of the one before."
CONFIRMED = "The Sentry says that the current subtask is done."
UNCONFIRMED = "The current subtask has not been seen done for a long time."
REFUSED = "The executor does not carry out the current subtask: "

Ask = Callable[[str, Sequence[Message], int], Reply]
"""Role, messages, the most tokens of the answer."""


class Trigger(Protocol):
    """A method's `trigger` node; see `methods.hime.triggers`."""

    def watch(self) -> Watch: ...

    def restored(self, saved: Mapping[str, int]) -> Watch:
        """The watch of which this was saved."""
        ...


@dataclass(frozen=True)
class Assignment:
    """What the executor is told."""

    number: int
    """Of this subtask, from 1 on; another one also where the words are the same."""
    text: str
    """Empty: there is nothing to do but to wait for the user."""


@dataclass
class Cost:
    """Of one thought, all of its requests together."""

    requests: int = 0
    tokens: int = 0
    """That the model wrote."""
    seconds: float = 0.0
    """As the replies say that they took; also of replies that come from a cache. 0 for a model that does not say."""

    def add(self, reply: Reply) -> None:
        self.requests += 1
        self.tokens += reply.completion_tokens
        self.seconds += float(reply.details.get("seconds", 0.0))


@dataclass(frozen=True)
class Thought:
    cause: Cause | Literal["instruction", "refused"]
    """Why the planner was asked; empty: only the Sentry was, and it saw no reason."""
    judgement: str = ""
    """The Sentry's, if it was asked."""
    decision: Decision | None = None
    watching: Cost = field(default_factory=Cost)
    planning: Cost = field(default_factory=Cost)

    @property
    def seconds(self) -> float:
        return self.watching.seconds + self.planning.seconds


class Session:
    """Not for two threads at once."""

    def __init__(
        self,
        planner: PlannerConfig,
        trigger: Trigger,
        ask: Ask,
        count: Callable[[str], None],
        trace: Callable[..., None],
        instruction: str,
        film: Film | None = None,
    ) -> None:
        """`film` takes the frames and has those of a session that goes on; by default they are in memory."""
        self.instruction = instruction
        self.frames: list[Frame] | Film = [] if film is None else film
        self.segment = 0
        """Index of the current subtask's first frame."""
        self.assignment: Assignment | None = None
        """None until the planner has been heard for the first time."""
        self.planner = planner.open(self._asks_planner, count)
        self._trigger, self._ask, self._trace, self._count = trigger, ask, trace, count
        self._watch = trigger.watch()
        self._notes: list[str] = [SPOKEN]
        self._spoken = True
        self._refused = ""
        self._cost = Cost()

    @property
    def due(self) -> bool:
        """Whether somebody is to be asked now."""
        return self._spoken or bool(self._watch.due)

    @property
    def waits(self) -> bool:
        """Whether the planner sees nothing to do, and the user has not spoken since."""
        return not self._spoken and self.assignment is not None and not self.assignment.text

    def see(self, frame: Frame) -> None:
        """What the cameras show now."""
        self.frames.append(frame)

    def executed(self, refused: str = "") -> None:
        """The executor has been asked once more; `refused` is its reason if it did not act."""
        self._watch = self._watch.executed()
        self._refused = refused

    def hear(self, text: str) -> None:
        """The user says something: the new instruction. At least one frame has been seen."""
        self.instruction = text
        self._notes = [SPOKEN]
        self._spoken = True

    def think(self) -> Thought:
        """Ask who is due: the Sentry, and the planner if there is a cause. Raises what chat models raise, and
        `GenerationFailure`; then the same is due again."""
        before = self._watch, self._notes, self._spoken
        try:
            return self._thought()
        except Exception:
            self._watch, self._notes, self._spoken = before
            raise

    def _thought(self) -> Thought:
        self._cost = watching = Cost()
        cause, judgement = self._cause()
        self._cost = planning = Cost()
        if not cause:
            return Thought(cause, judgement, None, watching, planning)
        self._spoken = False
        notes, self._notes = [*self._notes, *self._reason(cause)], []
        situation = Situation(self.instruction, self.frames[-1].step, self.frames, self.segment, notes)
        decision = self.planner.plan(situation)
        self._trace(
            "planner",
            step=situation.step,
            cause=cause,
            instruction=situation.instruction,
            subtask=decision.subtask,
            requests=planning.requests,
            seconds=planning.seconds,
            tokens=planning.tokens,
            **decision.facts,
        )
        return Thought(cause, judgement, decision, watching, planning)

    def adopt(self, thought: Thought) -> None:
        """What was thought takes effect now."""
        decision = thought.decision
        if decision is None:
            return
        self.planner.adopt(decision)
        self._watch = self._watch.planned()
        if self.assignment is None or decision.anew or decision.subtask != self.assignment.text:
            number = self.assignment.number + 1 if self.assignment else 1
            if self.assignment is None or decision.anew:  # one that was only reworded goes on
                self.segment = len(self.frames) - 1
            self.assignment = Assignment(number, decision.subtask)
            self._refused = ""

    def saved(self) -> dict[str, Any]:
        """As JSON, between two thoughts; all but the frames."""
        return {
            "instruction": self.instruction,
            "segment": self.segment,
            "assignment": self.assignment and asdict(self.assignment),
            "notes": list(self._notes),
            "spoken": self._spoken,
            "refused": self._refused,
            "watch": self._watch.saved(),
            "planner": self.planner.saved(),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on where `saved` was called, in a session of the same config that has the frames of then."""
        assignment = saved["assignment"]
        self.instruction, self.segment = saved["instruction"], saved["segment"]
        self.assignment = Assignment(**assignment) if assignment else None
        self._notes, self._spoken, self._refused = list(saved["notes"]), saved["spoken"], saved["refused"]
        self._watch = self._trigger.restored(saved["watch"])
        self.planner.restore(saved["planner"], self.frames)

    def _cause(self) -> tuple[Any, str]:
        """Why the planner is to be asked, and what the Sentry said if it was."""
        if self._spoken:
            return "instruction", ""
        if self._watch.due == "planner":
            return "interval", ""
        if self._refused:  # nothing has moved, so there is nothing to be judged
            return "refused", ""
        if not (self.assignment and self.assignment.text):  # the robot waits
            self._watch, cause = self._watch.judged("not_done")
            return cause, ""
        judgement = self._judge(self.assignment.text)
        self._watch, cause = self._watch.judged(judgement)
        if judgement == "done":
            self.planner.confirm()
        return cause, judgement

    def _judge(self, subtask: str) -> Any:
        from methods.hime import prompts
        from methods.hime.sentry import verdict
        from methods.hime.triggers import Sentry

        trigger = self._trigger
        assert isinstance(trigger, Sentry)
        window = recent(self.frames[self.segment :], trigger.window)
        messages = prompts.sentry(
            self.planner.plan_text(), subtask, window, with_confidence=trigger.threshold is not None
        )
        found = verdict(self._asks(SENTRY, messages, SENTRY_TOKENS), trigger.threshold)
        for note in found.notes:
            self._count(f"sentry: {note}")
        if found.judgement in ("unparsed", "failed"):
            self._count(f"sentry: {found.judgement}")
        step = self.frames[-1].step
        self._trace(
            "sentry", step=step, subtask=subtask, judgement=found.judgement, confidence=found.confidence
        )
        return found.judgement

    def _reason(self, cause: str) -> list[str]:
        """What the planner is told about why it is asked."""
        if self._refused:
            return [REFUSED + self._refused]
        return {"done": [CONFIRMED], "fallback": [UNCONFIRMED], "unreadable": [UNCONFIRMED]}.get(cause, [])

    def _asks_planner(self, messages: Sequence[Message]) -> Reply:
        return self._asks(PLANNER, messages, PLANNER_TOKENS)

    def _asks(self, role: str, messages: Sequence[Message], tokens: int) -> Reply:
        reply = self._ask(role, messages, tokens)
        self._cost.add(reply)
        return reply
