"""What a call costs, from a table of USD per million tokens. A model that is not in it has no known cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.failures import UsageError

SHIPPED = Path(__file__).with_name("prices.yaml")
_KEYS = {"input", "cached_input", "output"}


@dataclass(frozen=True)
class Price:
    """USD per million tokens."""

    input: float
    cached_input: float
    output: float

    def cost(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """USD. Cached tokens are among the prompt's, those of thinking among the completion's."""
        paid = (
            (prompt_tokens - cached_tokens) * self.input
            + cached_tokens * self.cached_input
            + completion_tokens * self.output
        )
        return paid / 1e6


@dataclass(frozen=True)
class Prices:
    """A table by model; a name that ends in `*` holds for all that begin so, the longest first."""

    table: Mapping[str, Price]

    def of(self, *names: str) -> Price | None:
        """The price of the first name that has one."""
        for name in names:
            if name in self.table:
                return self.table[name]
            fitting = [key for key in self.table if key.endswith("*") and name.startswith(key[:-1])]
            if fitting:
                return self.table[max(fitting, key=len)]
        return None


def read_prices(choice: str | None) -> Prices:
    """The table that `llm.prices` names: `shipped`, a file, or null for none. Raises `UsageError`."""
    if choice is None:
        return Prices({})
    import yaml

    path = SHIPPED if choice == "shipped" else Path(choice)
    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    if not isinstance(table, Mapping):
        raise UsageError(f"{path} is no table of models.")
    return Prices({str(name): _price(entry, f"{path}: {name}") for name, entry in table.items()})


def _price(entry: Any, where: str) -> Price:
    """Without a price of its own, cached input costs what input costs."""
    if not isinstance(entry, Mapping) or not {"input", "output"} <= set(entry) <= _KEYS:
        raise UsageError(f"{where} needs `input` and `output`, and may have `cached_input`.")
    values = {name: entry.get(name, entry["input"]) for name in _KEYS}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise UsageError(f"{where}: {name} is {value!r}, which is no price in USD.")
    return Price(**{name: float(value) for name, value in values.items()})
