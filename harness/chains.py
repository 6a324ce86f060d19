"""Plays a chain: its sentences are given to the method one after the other, each with whatever the one before left. The
method plays each sentence as if it were an episode, and knows nothing of the others.

There is one reset, at the beginning. A method that tries again within a sentence goes on from where its attempt before
ended, as long as the sentence has control steps left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from harness.episode import Episode, TraceWriter, events_of
from harness.failures import HarnessError, MethodFailure, StepLimit
from harness.protocols import Chained, Method, Reset, Sentence, Verdict
from harness.records import EpisodeKey
from harness.seeding import Seeds


class Missed(MethodFailure):
    """An attempt at a sentence ended, and its task was not done."""

    kind = "goal"


def play_chain(method: Method, episode: Episode) -> None:
    """Play the chain that `episode` is about, as its only trial, up to the first sentence that fails. The trial's facts
    say how far it came (`chain`: how many of how many are done, and the task that failed) and what happened in each
    sentence (`sentences`)."""
    env, total = episode.env, episode.task.sentences
    if not isinstance(env, Chained):
        raise HarnessError(f"{episode.task.name} is a chain, and env={episode.seeds.env} gives no sentences")
    with episode.trial() as trial:
        facts = trial.record.facts
        facts["chain"] = {"done": 0, "of": total, "failed": None}
        facts["sentences"] = []
        while (sentence := env.next_sentence()) is not None:
            part = _part(episode, trial.record.state_hash, env.verdict().subtasks_done, sentence)
            facts["chain"]["failed"] = sentence.task
            episode.trace("sentence", index=part.index, task=sentence.task, text=sentence.text)
            try:
                method.play(part)
            except StepLimit:
                pass  # a further attempt was refused; what the sentence came to is in those before
            finally:
                facts["sentences"].append(_told(part))
                facts["chain"]["done"] = part.index + part.done
                for event, times in events_of(part.trials).items():
                    trial.count(event, times)
            if not part.trials:
                raise HarnessError("the method returned without an attempt at the sentence")
            if not part.done:
                last = part.trials[-1]
                failure = next(kind for kind in MethodFailure.__subclasses__() if kind.kind == last.failure)
                raise failure(f"sentence {part.index + 1} of {total}, {sentence.text!r}: {last.reason}")
            facts["chain"]["failed"] = None


@dataclass
class Part(Episode):
    """A sentence of a chain as a method sees it: an episode that begins where the one before ended. Its trials are
    attempts, and none of them resets anything."""

    index: int = 0
    """Its place in the chain."""
    state_hash: str = ""
    """Of the chain's initial state."""
    begun: int = 0
    """Control step at which the attempt began."""

    @property
    def done(self) -> bool:
        return any(attempt.success for attempt in self.trials)

    def verdict(self) -> Verdict:
        chain = self.env.verdict()
        done = chain.subtasks_done > self.index
        return Verdict(done, chain.failed, holds=done, subtasks_done=int(done))

    def steps(self) -> int:
        return self.env.steps() - self.begun

    def _reset(self, seeds: Seeds) -> Reset:
        """Go on. Raises `StepLimit` when the attempt before has spent the sentence's control steps."""
        if self.trials and self.trials[-1].failure == StepLimit.kind:
            raise StepLimit(self.trials[-1].reason)
        self.begun = self.env.steps()
        return Reset(self.state_hash, attempts=0)


def _part(episode: Episode, state_hash: str, index: int, sentence: Sentence) -> Part:
    shared = ("env", "models", "sandbox", "sampling", "budget", "history", "served", "usage", "spent")
    return Part(
        # A memory leaves out programs of the task itself, which it knows by its name.
        key=EpisodeKey(sentence.task, 0, episode.key.scene),
        task=replace(episode.task, name=sentence.task, instructions=(sentence.text,), sentences=1),
        seeds=replace(episode.seeds, task=f"{episode.key.task}/{index}"),
        trace=_Told(episode.trace),
        index=index,
        state_hash=state_hash,
        **{name: getattr(episode, name) for name in shared},
    )


@dataclass(frozen=True)
class _Told:
    """The trace of the whole, in which a sentence's trials are attempts."""

    trace: TraceWriter

    def __call__(self, event: str, **data: Any) -> None:
        self.trace({"trial": "attempt", "trial_end": "attempt_end"}.get(event, event), **data)


def _told(part: Part) -> dict[str, Any]:
    """What the row says of a sentence."""
    attempts = [
        {
            "success": attempt.success,
            "failure": attempt.failure,
            "reason": attempt.reason,
            "steps": attempt.steps,
            "facts": attempt.facts,
        }
        for attempt in part.trials
    ]
    return {"task": part.task.name, "text": part.instruction, "done": part.done, "attempts": attempts}
