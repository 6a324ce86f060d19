"""Run the same code again: Retry's replanning, which does not replan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from methods.replan import Attempt, Plain, Proposal

if TYPE_CHECKING:
    from harness.episode import Episode
    from methods.lmp.prompt import Request


@dataclass(frozen=True)
class Replay(Plain):
    """Re-executes earlier code "without any changes" (MTP paper, baselines). Where several trials wrote
    code for one request, because a failure kept the first from getting there, the earliest counts."""

    scope: Literal["planner", "all"] = "all"
    """`planner` replays the planner's code and asks for the lower programs again. `all` replays these too:
    the reading of "without any changes" that the public code gives, where a cache returns every reply."""

    def propose(self, episode: Episode, attempts: Sequence[Attempt]) -> Proposal:
        """A trial that failed before it had code for a request leaves nothing to replay: that is asked for."""
        code: dict[Request, str] = {}
        for attempt in attempts:
            for request, text in attempt.code.items():
                if self.scope == "all" or request.program == "planner":
                    code.setdefault(request, text)
        return Proposal(code=code, facts={"propose": "replay", "replay": self.scope})
