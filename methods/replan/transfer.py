"""Memory Transfer Planning: replan with a program that worked for a similar instruction, in another environment
perhaps, rewritten in this environment's style (MTP paper, Algorithm 1 and equations 6 to 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.failures import GenerationFailure
from harness.protocols import Message, Problem
from methods.code_memory import CodeMemory, Record
from methods.code_memory.records import program_id
from methods.lmp.prompt import ACKNOWLEDGEMENT, QUERY_MARKER, Section, fenced, load_examples, render_example
from methods.lmp.writer import code_of
from methods.replan import Attempt, Plain, Proposal, failed_section, last_planned
from methods.retrieval import Hit, Retriever

if TYPE_CHECKING:
    from pathlib import Path

    from harness.episode import Episode

ADAPTER = "adapter"
"""Role of the chat model that rewrites programs."""
_SHOWN = 5
"""How many of the ranked records the trace shows at least."""


@dataclass(frozen=True)
class Transfer(Plain):
    """The i-th replan uses the record of rank i (from 0), the code that failed last and the environment's own
    examples. A memory with no record of that rank leaves the rest; the row says so."""

    memory: CodeMemory
    retriever: Retriever
    adapt: bool = True
    """Whether a record is rewritten in this environment's style first (equation 8); else it is shown as it is."""

    @property
    def roles(self) -> Sequence[str]:
        return (ADAPTER,) if self.adapt else ()

    def problems(self) -> list[Problem]:
        return self.memory.problems()

    def fingerprint(self) -> str:
        return self.memory.fingerprint()

    def propose(self, episode: Episode, attempts: Sequence[Attempt]) -> Proposal:
        rank = len(attempts) - 1
        environment, task = episode.seeds.env, episode.key.task
        records, told = self.recall(episode)
        hits = self.retriever.rank(
            episode.instruction,
            records,
            partial(self.memory.allowed, environment=environment, task=task),
            max(rank + 1, _SHOWN),
            episode.seeds.sampling("retrieval"),
            episode.env.render(episode.env.cameras()[0]) if self.memory.with_images else None,
        )
        episode.trace("retrieve", rank=rank, records=len(records), hits=[_described(hit) for hit in hits])
        facts: dict[str, Any] = {"propose": "transfer", "rank": rank, "adapt": self.adapt, "retrieved": None}
        facts |= told
        if self.memory.with_images:
            facts["modality"] = self.memory.modality
        if self.memory.allow_same_task:
            facts["allow_same_task"] = True
        failed = failed_section(last_planned(attempts))
        if rank >= len(hits):
            return Proposal(sections=(failed,), facts=facts)
        facts["retrieved"] = _described(hits[rank])
        trial = episode.current
        assert trial is not None
        trial.record.facts.update(facts)  # said also where the adaptation cannot be used
        record = hits[rank].record
        code = self._adapted(episode, record) if self.adapt else record.code
        facts["example"] = code
        return Proposal(sections=(_example_section(record, code), failed), facts=facts)

    def recall(self, episode: Episode) -> tuple[Sequence[Record], Mapping[str, Any]]:
        """The records that there are for an episode, and what the row says about them."""
        return self.memory.records(), {}

    def _adapted(self, episode: Episode, record: Record) -> str:
        """Equation 8. Raises `GenerationFailure` for a reply without code."""
        env: Any = episode.env
        reply = episode.chat(ADAPTER, adaptation(record, env.prompts))
        trial = episode.current
        assert trial is not None
        what = f"the adaptation of `{record.instruction}`"
        code, cut = _first_program(code_of(reply, what, trial.count))
        if cut:
            trial.count("reply: went on with another query")
        if not code.strip():
            raise GenerationFailure(f"{what}: the reply holds no code: {reply.text[:200]!r}")
        return code


def adaptation(record: Record, prompts: Path) -> list[Message]:
    """The messages that ask for a record's program in the style of the few-shot files in `prompts`."""
    examples = "\n\n".join(render_example(example) for example in load_examples(prompts, "planner"))
    system = (
        "You rewrite the program `planner` of another robot environment so that it fits this one.\n"
        "Keep what the program does: its steps, their order and the objects that it names. Take from the examples "
        "of this environment how things are said: when and in which words the arm goes to its home pose, in which "
        "units distances are given, how steps are worded.\n\n"
        "Rules:\n"
        "- Answer with Python code only, in the style of the examples.\n"
        "- Do not import anything and do not repeat the examples."
    )
    source = _as_example(record, record.code)
    return [
        Message("system", system),
        Message("user", f"Examples:\n{fenced(examples)}"),
        Message("assistant", ACKNOWLEDGEMENT),
        Message("user", f"Rewrite this program, which worked in the other environment:\n\n{fenced(source)}"),
    ]


def _example_section(record: Record, code: str) -> Section:
    return Section(f"This program carried out a similar instruction:\n\n{fenced(_as_example(record, code))}")


def _first_program(code: str) -> tuple[str, bool]:
    """The code without a query line that it begins with, however that words the instruction, and whether something
    was cut: what follows a further query line."""
    lines = code.strip().split("\n")
    while lines and lines[0].startswith(QUERY_MARKER):
        del lines[0]
    end = next((i for i, line in enumerate(lines) if line.startswith(QUERY_MARKER)), len(lines))
    return "\n".join(lines[:end]).strip(), end < len(lines)


def _as_example(record: Record, code: str) -> str:
    """As an example stands in a few-shot file: the instruction on one line."""
    return f"{QUERY_MARKER} {' '.join(record.instruction.split())}\n{code.strip()}"


def _described(hit: Hit) -> dict[str, Any]:
    record = hit.record
    found = {
        "environment": record.environment,
        "task": record.task,
        "instruction": record.instruction,
        "score": round(float(hit.score), 4),
        "program": program_id(record.code),
    }
    if hit.text is not None:
        image = None if hit.image is None else round(hit.image, 4)
        found |= {"text_score": round(hit.text, 4), "image_score": image}
    return found
