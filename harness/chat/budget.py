"""Budgets. One episode has limits on what it uses, whoever serves it, so that a result does not hang on what the cache
held; a sweep has limits on what it spends anew. Both count what was before the call that reaches them: the last call,
or the episodes in flight, may go over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.failures import BudgetExceeded, PriceUnknown, UsageError
from harness.records import Spent, Usage

if TYPE_CHECKING:
    from harness.protocols import Reply


@dataclass(frozen=True)
class Limits:
    """Null: as much as it takes."""

    usd: float | None = None
    tokens: int | None = None
    """Prompts and replies together."""
    calls: int | None = None
    where: str = "budget"
    """The key at which they stand."""

    def __post_init__(self) -> None:
        for name, limit in self._given.items():
            if not limit > 0:
                raise UsageError(
                    f"{self.where}.{name} is {limit}; it has to be above 0, or null for no limit."
                )

    @cached_property
    def _given(self) -> Mapping[str, float]:
        limits = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "where"}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def reached(self, usd: float | None, tokens: int, calls: int) -> str:
        """Which limit is reached and by how much; empty for none. Money that is not known reaches none."""
        used = {"usd": usd, "tokens": tokens, "calls": calls}
        for name, limit in self._given.items():
            if (amount := used[name]) is not None and amount >= limit:
                return f"{self.where}.{name}={limit:g} is reached ({amount:.6g} used)"
        return ""


@dataclass(frozen=True)
class EpisodeGuard:
    """What an episode asks before and after each call."""

    episode: Limits = Limits(where="budget.episode")
    sweep: Limits = Limits()

    @classmethod
    def of(cls, budget: Mapping[str, Any]) -> EpisodeGuard:
        """From the `budget` node of a config. Raises `UsageError` for a limit that is not above 0."""
        sweep = {name: value for name, value in budget.items() if name != "episode"}
        return cls(Limits(**budget["episode"], where="budget.episode"), Limits(**sweep))

    @property
    def counts_money(self) -> bool:
        return self.episode.usd is not None or self.sweep.usd is not None

    def before(self, usage: Usage) -> None:
        """Raises `BudgetExceeded` when the episode has used up what it may."""
        if reached := self.episode.reached(usage.cost_usd, usage.tokens, usage.calls):
            raise BudgetExceeded(reached)

    def after(self, reply: Reply) -> None:
        """Raises `PriceUnknown` for a reply whose price a budget has to count."""
        if reply.cost_usd is not None:
            return
        if self.episode.usd is not None or (self.sweep.usd is not None and not reply.cached):
            limits = self.episode if self.episode.usd is not None else self.sweep
            raise PriceUnknown(
                f"{limits.where}.usd={limits.usd:g} cannot be kept: the price of a reply of {reply.model} is not "
                f"known. Give the model a price, or limit {limits.where}.tokens or {limits.where}.calls instead."
                + _PRUNE.format(model=reply.model)
                * reply.cached
            )


class Purse:
    """What a sweep has spent, in this start and in those before."""

    def __init__(self, limits: Limits, before: Iterable[Spent]) -> None:
        self._limits = limits
        self._spent = sum(before, Spent())

    def pay(self, spent: Spent) -> None:
        self._spent += spent

    @property
    def empty(self) -> str:
        """Which limit is reached; nothing while there is something left."""
        return self._limits.reached(self._spent.cost_usd, self._spent.tokens, self._spent.calls)


_PRUNE = (
    " It was made before without one; one from the cache is dropped with `python -m harness cache prune --model "
    "{model}`."
)
