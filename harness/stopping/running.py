"""The comparisons of a sweep that runs: feeds each its pairs in the order of its plan, whatever the order in which their
episodes end, and says which episodes are still wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from harness.components import build
from harness.pool import Job
from harness.records import VERDICTS
from harness.stopping.plan import Comparison
from harness.stopping.record import Decision, Standing
from harness.store import Digest


class PairedTest(Protocol):
    """The dataclass behind `run.test`, with the keys `alpha` and `margin`: it may be looked at after every pair."""

    @property
    def first_only(self) -> int: ...
    @property
    def second_only(self) -> int: ...
    @property
    def concordant(self) -> int: ...
    @property
    def decided(self) -> Decision | None: ...
    @property
    def p_value(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]:
        """For the first rate minus the second."""
        ...

    def update(self, first: bool, second: bool) -> PairedTest: ...


class Running:
    """One comparison: as many pairs as have a verdict on both sides, without a gap, have been taken."""

    def __init__(self, plan: Comparison) -> None:
        self.plan = plan
        self.taken = 0
        self._test: PairedTest = build(plan.test, "run.test")
        self._rows: dict[tuple[str, str], Digest] = {}
        self._unlike = ""

    @property
    def decided(self) -> bool:
        return self._test.decided is not None

    def wants(self, place: int) -> bool:
        """Whether the pair at that place counts, or may come to."""
        return not self.decided or place < self.taken

    def take(self, identity: str, digest: Digest) -> bool:
        """A row of one of its episodes has come. Returns whether the comparison has decided with it."""
        if self.decided:
            return False
        self._rows[identity, digest.episode] = digest
        while not self.decided and not self._unlike and (pair := self._next()) is not None:
            first, second = pair
            if first.state_hash and second.state_hash and first.state_hash != second.state_hash:
                self._unlike = first.episode
                return False
            self._test = self._test.update(first.status == "success", second.status == "success")
            self.taken += 1
        return self.decided

    def _next(self) -> tuple[Digest, Digest] | None:
        if self.taken == len(self.plan.pairs):
            return None
        pair = self.plan.pairs[self.taken]
        rows = [self._rows.get((identity, pair.episode)) for identity in (pair.first, pair.second)]
        first, second = (row if row is not None and row.status in VERDICTS else None for row in rows)
        return (first, second) if first is not None and second is not None else None

    def standing(self) -> Standing:
        plan, test = self.plan, self._test
        cells = {(pair.first, pair.second): None for pair in plan.pairs}
        return Standing(
            first=plan.first,
            second=plan.second,
            where=plan.where,
            folders=tuple((plan.folders[first], plan.folders[second]) for first, second in cells),
            level=plan.level,
            margin=float(plan.test["margin"]),
            asked=len(plan.pairs),
            mark=plan.mark(len(plan.pairs)),
            first_only=test.first_only,
            second_only=test.second_only,
            concordant=test.concordant,
            decided=test.decided,
            p_value=test.p_value,
            interval=test.interval,
            waits_for=self._obstacle(),
        )

    def _obstacle(self) -> str:
        if self._unlike:
            return f"It cannot go on: {self._unlike} did not start from the same state for both."
        if self.decided or self.taken == len(self.plan.pairs):
            return ""
        pair = self.plan.pairs[self.taken]
        for identity in (pair.first, pair.second):
            row = self._rows.get((identity, pair.episode))
            if row is not None and row.status not in VERDICTS:
                return (
                    f"It waits for {pair.episode} of {self.plan.folders[identity]}, which ended in an error; the same "
                    "command plays it again."
                )
        return ""


class Stopping:
    """All comparisons of a sweep; without any, every episode is wanted."""

    def __init__(self, plans: Sequence[Comparison]) -> None:
        self.running = [Running(plan) for plan in plans]
        self._places: dict[tuple[str, str], list[tuple[Running, int]]] = {}
        for one in self.running:
            for place, pair in enumerate(one.plan.pairs):
                for identity in (pair.first, pair.second):
                    self._places.setdefault((identity, pair.episode), []).append((one, place))

    def take(self, identity: str, digest: Digest) -> list[Running]:
        """A row has come. Returns the comparisons that have decided with it."""
        found = self._places.get((identity, digest.episode), ())
        return [one for one, _ in found if one.take(identity, digest)]

    def wants(self, identity: str, episode: str) -> bool:
        """Whether an episode counts or is to be played: one that is in no comparison always is, one that several share
        as long as one of them wants it."""
        places = self._places.get((identity, episode))
        return places is None or any(one.wants(place) for one, place in places)

    def arranged(self, jobs: Iterable[Job]) -> list[Job]:
        """Those that are wanted, pair by pair in the order of the comparisons, then those that are in none."""
        wanted = [job for job in jobs if self.wants(job.cell.identity, str(job.key))]
        last = max((len(one.plan.pairs) for one in self.running), default=0)
        return sorted(wanted, key=lambda job: self._place(job, last))

    def _place(self, job: Job, last: int) -> int:
        places: Any = self._places.get((job.cell.identity, str(job.key)))
        return min(place for _, place in places) if places else last

    def standings(self) -> tuple[Standing, ...]:
        return tuple(one.standing() for one in self.running)
