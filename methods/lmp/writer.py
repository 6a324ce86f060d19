"""Where a program's code comes from: replayed from an earlier trial, asked before in this trial, or asked
now from the chat model. It runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.failures import GenerationFailure
from harness.protocols import Reply
from harness.sandbox import extract_code
from methods.lmp.prompt import QUERY_MARKER, Request, load_examples, load_frame, messages, normalise_query

if TYPE_CHECKING:
    from harness.episode import Episode, Trial
    from methods.replan import Proposal

ROLES = {"planner": "planner", "composer": "composer"}
LOW_LEVEL_ROLE = "low_level"
"""Role of the chat model that writes every other program."""
_CUT_OFF = ("length", "max_tokens")
_REFUSED = ("content_filter", "refusal")


class Writer:
    """Answers the requests of one trial, each distinct one once."""

    def __init__(
        self,
        episode: Episode,
        trial: Trial,
        prompts: Path,
        proposal: Proposal,
    ) -> None:
        """`prompts` is the folder of few-shot files; the proposal says what to replay instead of asking, and
        what is added to the planner's prompt."""
        self.code: dict[Request, str] = {}
        """What this trial used, replayed and asked."""
        self._episode = episode
        self._trial = trial
        self._prompts = prompts
        self._proposal = proposal
        trial.record.facts["programs"] = {"asked": 0, "replayed": 0}

    def write(self, asked: Request) -> str:
        """The code for a request. Raises `GenerationFailure` for a reply that is empty, cut off or
        refused, and `ProviderError`."""
        if asked not in self.code:
            replayed = asked in self._proposal.code
            code = self._proposal.code[asked] if replayed else self._ask(asked)
            self.code[asked] = code
            origin = "replayed" if replayed else "asked"
            self._trial.record.facts["programs"][origin] += 1
            if asked.program == "planner":
                self._trial.record.facts["planner_code"] = code
            self._episode.trace("code", program=asked.program, query=asked.query, code=code, origin=origin)
        return self.code[asked]

    def _ask(self, asked: Request) -> str:
        sections = self._proposal.sections if asked.program == "planner" else ()
        examples = load_examples(self._prompts, asked.program)
        sampling = {} if self._proposal.temperature is None else {"temperature": self._proposal.temperature}
        reply = self._episode.chat(
            ROLES.get(asked.program, LOW_LEVEL_ROLE),
            messages(asked, examples, load_frame(self._prompts), sections),
            **sampling,
        )
        code, cut = cut_at_next_query(code_of(reply, _name(asked), self._trial.count), asked.query)
        if cut:
            self._trial.count("reply: went on with another query")
        if not code.strip():
            raise GenerationFailure(f"{_name(asked)}: the reply holds no code: {reply.text[:200]!r}")
        return code


def code_of(reply: Reply, what: str, count: Callable[[str], None]) -> str:
    """The code in a reply; notes on what had to be put right are counted. Raises `GenerationFailure`, naming
    `what` was asked for, when the reply is empty, cut off or refused, or holds no code."""
    refuse_incomplete(reply, what)
    try:
        extracted = extract_code(reply.text)
    except GenerationFailure as failure:
        raise GenerationFailure(f"{what}: {failure}") from None
    for note in extracted.notes:
        count(f"reply: {note}")
    return extracted.code


def cut_at_next_query(code: str, query: str) -> tuple[str, bool]:
    """Drop what follows a query line that is not the one that was asked: a model that goes on writing
    examples must not have them run. A restated query line is only a comment."""
    lines = code.split("\n")
    for number, line in enumerate(lines):
        if line.startswith(QUERY_MARKER) and normalise_query(line.removeprefix(QUERY_MARKER)) != query:
            return "\n".join(lines[:number]).rstrip(), True
    return code, False


def refuse_incomplete(reply: Reply, what: str) -> None:
    """Half a program is never run."""
    if reply.finish_reason in _CUT_OFF:
        raise GenerationFailure(
            f"{what}: the reply was cut off after {reply.completion_tokens} tokens; "
            "sampling.max_tokens is the limit"
        )
    if reply.finish_reason in _REFUSED:
        raise GenerationFailure(f"{what}: the model refused to answer ({reply.finish_reason})")
    if not reply.text or not reply.text.strip():
        raise GenerationFailure(f"{what}: the reply is empty (finish reason {reply.finish_reason!r})")


def _name(asked: Request) -> str:
    return f"{asked.program} for `{asked.query}`"
