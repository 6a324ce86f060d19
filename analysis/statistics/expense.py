"""What a success costs: money, tokens and time of all episodes with a verdict, failures included, over the
successes. Errors are left out, as in the rate. A reply from the cache counts as it did when it was made, so that money and
tokens do not hang on what was played before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.records import VERDICTS
from harness.store import Row


@dataclass(frozen=True)
class Expense:
    """Totals over `episodes`. `cost_usd` is None when any of them has no known price. Times are wall-clock seconds;
    a call that the cache answered took none, so `cached_calls` says how far `chat_seconds` can be trusted."""

    episodes: int
    successes: int
    calls: int
    cached_calls: int
    tokens: int
    cost_usd: float | None
    seconds: float
    chat_seconds: float

    def per_success(self, total: float | None) -> float | None:
        """None without a success: the price of what was never had is not known. None for an unknown total."""
        return None if total is None or not self.successes else total / self.successes

    @property
    def tokens_per_success(self) -> float | None:
        return self.per_success(self.tokens)

    @property
    def cost_per_success(self) -> float | None:
        return self.per_success(self.cost_usd)

    @property
    def seconds_per_success(self) -> float | None:
        return self.per_success(self.seconds)


def expense(rows: Iterable[Row]) -> Expense:
    """Totals of one group of rows."""
    verdicts = [row for row in rows if row["status"] in VERDICTS]
    costs = [row["usage"]["cost_usd"] for row in verdicts]
    return Expense(
        episodes=len(verdicts),
        successes=sum(row["status"] == "success" for row in verdicts),
        calls=sum(row["usage"]["calls"] for row in verdicts),
        cached_calls=sum(row["spent"]["cached_calls"] for row in verdicts),
        tokens=sum(row["usage"]["prompt_tokens"] + row["usage"]["completion_tokens"] for row in verdicts),
        cost_usd=None if None in costs else sum(costs),
        seconds=sum(row["timings"]["seconds"] for row in verdicts),
        chat_seconds=sum(row["timings"]["chat_seconds"] for row in verdicts),
    )
