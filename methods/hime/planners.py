"""The planners of HiMe and its baselines: what each is shown, and what of its answers it carries on to the next time.

A planner is of one episode. It is asked (`plan`), and what it said takes effect later (`adopt`): in between the robot goes
on with the subtask that it has. Only changes of the memory are made at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from harness.embedding import Embedder
from harness.protocols import Message, Reply
from methods.hime.frames import Frame, recent, uniform
from methods.hime.keyframes import Keyframes
from methods.hime.plan import Plan, Revision, restored, revised
from methods.record_memory import MemoryRules, Picture, Record, RecordMemory, restore, written

if TYPE_CHECKING:
    from methods.hime.operations import Outcome
    from methods.hime.prompts import Request

Chat = Callable[[Sequence[Message]], Reply]
Count = Callable[[str], None]
Mode = Literal["async", "sync"]


@dataclass(frozen=True)
class Situation:
    """What a planner can be shown at one moment."""

    instruction: str
    """What the user said last."""
    step: int
    """Control step."""
    frames: Sequence[Frame]
    """All of the episode; the last one is of now."""
    segment: int
    """Index of the first one of the current subtask."""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Remembered:
    """Something in a planner's memory, for scoring."""

    words: str
    """Text and tags; empty where only the picture counts."""
    picture: Picture | None
    step: int
    """Control step at which it was last written."""


@dataclass(frozen=True)
class Decision:
    """A planner's answer."""

    subtask: str
    """What the executor is to do next; empty when there is nothing to do."""
    anew: bool
    """Whether that is another subtask than the one before, also if it has the same words."""
    retrieved: tuple[Remembered, ...] = ()
    """What it was shown of its memory."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For the trace."""
    revision: Revision | None = None
    """Of a planner with a plan list."""


class Planner(Protocol):
    def plan(self, situation: Situation) -> Decision:
        """Ask. Raises what chat models raise, and `GenerationFailure` for an answer that cannot be used, twice."""
        ...

    def adopt(self, decision: Decision) -> None:
        """What it decided takes effect."""
        ...

    def confirm(self) -> None:
        """The Sentry says that the current subtask is done."""
        ...

    def plan_text(self) -> str:
        """The plan list, for the Sentry; empty where there is none."""
        ...

    def remembered(self) -> Sequence[Remembered] | None:
        """All that it remembers now; None for a planner without a memory."""
        ...

    def saved(self) -> dict[str, Any]:
        """All that it carries on, as JSON."""
        ...

    def restore(self, saved: Mapping[str, Any], frames: Sequence[Frame]) -> None:
        """Carry on with what was saved, in an episode of which these frames were seen."""
        ...


class PlannerConfig(Protocol):
    """A method's `planner` node."""

    @property
    def mode(self) -> Mode:
        """Whether the robot goes on with its subtask while the planner thinks, or time stands still."""
        ...

    def open(self, chat: Chat, count: Count) -> Planner: ...


@dataclass(frozen=True)
class WithMemory:
    """HiMe's planner: a plan list, a record memory that it edits, two turns."""

    embedder: Embedder
    memory: MemoryRules = field(default_factory=MemoryRules)
    sample: Literal["segment", "recent"] = "segment"
    """Frames spread over the current subtask, or the latest ones."""
    images: int = 8
    """The most frames that it is shown."""
    mode: Mode = "async"

    def open(self, chat: Chat, count: Count) -> Planner:
        return _WithMemory(self, chat, count)


@dataclass(frozen=True)
class Transient:
    """A planner that is shown the present and remembers nothing: the latest frame in, one subtask out."""

    mode: Mode = "async"

    def open(self, chat: Chat, count: Count) -> Planner:
        return _Transient(chat, count)


@dataclass(frozen=True)
class Flat:
    """The flat baseline (after MemER): the recent frames and keyframes that it has nominated before."""

    recents: int = 8
    gap: int = 5
    """See `methods.hime.keyframes.Keyframes`."""
    most: int = 8
    mode: Mode = "async"

    def open(self, chat: Chat, count: Count) -> Planner:
        return _Flat(self, chat, count)


class _WithMemory:
    def __init__(self, config: WithMemory, chat: Chat, count: Count) -> None:
        self._config, self._chat, self._count = config, chat, count
        self.memory = RecordMemory(config.memory, config.embedder)
        self.plan_list = Plan()
        self._told: tuple[str, ...] = ()
        """What became of the last operations, where it was not what they meant."""

    def plan(self, situation: Situation) -> Decision:
        from methods.hime import operations, prompts
        from methods.hime.asking import answer
        from methods.hime.wire import read_first, read_second

        config, memory = self._config, self.memory
        pick = uniform if config.sample == "segment" else recent
        since = situation.segment if config.sample == "segment" else 0
        frames = pick(situation.frames[since:], config.images)
        request = _request(situation, frames, self.plan_text(), self._told)
        first = prompts.first_turn(request, memory, contiguous=config.sample == "recent")
        one = answer(self._chat, first, read_first, "the planner's first turn", self._count)
        asked = operations.asked(one.found.operations, memory)
        second = prompts.second_turn(first, one.text, asked, memory.rules)
        two = answer(self._chat, second, read_second, "the planner's second turn", self._count)
        changed = operations.changed(two.found.operations, memory, frames, situation.step)
        self._told = operations.told(changed)
        revision = revised(self.plan_list, two.found.lines)
        for note in (*operations.events(asked), *operations.events(changed)):
            self._count(note)
        for note in (*one.found.notes, *two.found.notes, *revision.notes):
            self._count(f"plan: {note}")
        current = revision.plan.current
        hits = {
            hit.record.id: hit.record for outcome in asked for found in outcome.found for hit in found.hits
        }
        facts = {
            "summary": two.found.summary,
            "plan": revision.plan.text(),
            "queries": [_traced(outcome) for outcome in asked],
            "operations": [_traced(outcome) for outcome in changed],
            "memory": [_plain(record) for record in memory.records],
        }
        retrieved = tuple(self._seen(record) for record in hits.values())
        return Decision(
            current.text if current else "", revision.started is not None, retrieved, facts, revision
        )

    def adopt(self, decision: Decision) -> None:
        assert decision.revision is not None
        self.plan_list = decision.revision.plan

    def confirm(self) -> None:
        if self.plan_list.current:
            self.plan_list = self.plan_list.confirmed(self.plan_list.current.key)

    def plan_text(self) -> str:
        return self.plan_list.text()

    def remembered(self) -> Sequence[Remembered]:
        return [self._seen(record) for record in self.memory.records]

    def saved(self) -> dict[str, Any]:
        return {"plan": self.plan_list.saved(), "told": list(self._told), "memory": written(self.memory)}

    def restore(self, saved: Mapping[str, Any], frames: Sequence[Frame]) -> None:
        """Raises `UsageError` for a memory against the planner's rules."""
        config = self._config
        self.plan_list = restored(saved["plan"])
        self._told = tuple(saved["told"])
        self.memory = restore(saved["memory"], config.memory, config.embedder, "the planner's memory")

    def _seen(self, record: Record) -> Remembered:
        """A record as the planner is shown it."""
        modality = self._config.memory.modality
        words = "" if modality == "image" else " ".join((record.text, *record.tags))
        return Remembered(words, None if modality == "text" else record.picture, record.updated_at)


class _Transient:
    def __init__(self, chat: Chat, count: Count) -> None:
        self._chat, self._count = chat, count

    def plan(self, situation: Situation) -> Decision:
        from methods.hime import prompts
        from methods.hime.asking import answer
        from methods.hime.wire import read_step

        request = _request(situation, recent(situation.frames, 1))
        found = answer(self._chat, prompts.single_step(request), read_step, "the planner", self._count).found
        for note in found.notes:
            self._count(f"plan: {note}")
        facts = {"summary": found.summary, "complete": found.complete}
        # Without a plan every answer is a new subtask: the executor cannot be told that it is the old one.
        return Decision("" if found.complete else found.subtask, True, facts=facts)

    def adopt(self, decision: Decision) -> None:
        pass

    def confirm(self) -> None:
        pass

    def plan_text(self) -> str:
        return ""

    def remembered(self) -> None:
        return None

    def saved(self) -> dict[str, Any]:
        return {}

    def restore(self, saved: Mapping[str, Any], frames: Sequence[Frame]) -> None:
        pass


class _Flat:
    def __init__(self, config: Flat, chat: Chat, count: Count) -> None:
        self._config, self._chat, self._count = config, chat, count
        self._keyframes = Keyframes(gap=config.gap, most=config.most)
        self._frames: Sequence[Frame] = ()

    def plan(self, situation: Situation) -> Decision:
        from methods.hime import prompts
        from methods.hime.asking import answer
        from methods.hime.flat import read_flat

        self._frames = situation.frames
        shown = recent(situation.frames, self._config.recents)
        first = len(situation.frames) - len(shown)
        chosen = self._keyframes.chosen()
        keyframes = [situation.frames[index] for index in chosen]
        messages = prompts.flat(_request(situation, shown), keyframes)
        read = partial(read_flat, recent=len(shown))
        found = answer(self._chat, messages, read, "the planner", self._count).found
        for note in found.notes:
            self._count(f"plan: {note}")
        nominated = [first + index for index in found.nominated]
        self._keyframes = self._keyframes.nominated(nominated)
        facts = {"keyframes": list(chosen), "nominated": nominated}
        return Decision(found.action, True, tuple(map(_keyframe, keyframes)), facts)

    def adopt(self, decision: Decision) -> None:
        pass

    def confirm(self) -> None:
        pass

    def plan_text(self) -> str:
        return ""

    def remembered(self) -> Sequence[Remembered]:
        return [_keyframe(self._frames[index]) for index in self._keyframes.chosen()]

    def saved(self) -> dict[str, Any]:
        return {"nominations": list(self._keyframes.nominations)}

    def restore(self, saved: Mapping[str, Any], frames: Sequence[Frame]) -> None:
        self._frames = frames
        self._keyframes = replace(self._keyframes, nominations=tuple(saved["nominations"]))


def _keyframe(frame: Frame) -> Remembered:
    return Remembered("", frame.picture, frame.step)


def _request(
    situation: Situation, frames: Sequence[Frame], plan: str = "", notes: Sequence[str] = ()
) -> Request:
    from methods.hime.prompts import Request

    return Request(situation.instruction, plan, situation.step, frames, (*situation.notes, *notes))


def _plain(record: Record) -> dict[str, Any]:
    """A record in a trace; its picture is in the request that it was taken from."""
    return {
        "id": record.id,
        "kind": record.kind,
        "tags": list(record.tags),
        "text": record.text,
        "step": record.updated_at,
    }


def _traced(outcome: Outcome) -> dict[str, Any]:
    """An operation and how it went."""
    operation = outcome.operation
    found: dict[str, Any] = {"type": type(operation).__name__.lower()}
    found |= {name: value for name, value in vars(operation).items() if value not in ("", (), None)}
    if outcome.change and outcome.change.id is not None:
        found["id"] = outcome.change.id
    if outcome.change and outcome.change.evicted:
        found["evicted"] = [record.id for record in outcome.change.evicted]
    if outcome.refused:
        found["refused"] = outcome.refused
    if outcome.found:
        found["found"] = [
            {"term": answer.term, "how": answer.how, "ids": [hit.record.id for hit in answer.hits]}
            for answer in outcome.found
        ]
    return found
