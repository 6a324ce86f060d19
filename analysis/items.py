"""What a table or figure of a paper consists of: the `item` node of each `conf/experiment/*.yaml`, which also says how
its cells are run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from analysis.metrics import MEASURES, Measure, Metric
from harness.components import build, suggest
from harness.failures import UsageError

EXPERIMENTS = Path(__file__).resolve().parent.parent / "conf" / "experiment"

PAPERS = {"mtp": "MTP", "hime": "HiMe"}
"""As they are called in print."""

WORLDS: Mapping[str, tuple[str, ...]] = {
    "rlbench": ("rlbench", "tabletop"),
    "calvin": ("calvin", "playtable"),
    "ur5": ("ur5", "ur5_sim"),
    "widowx": ("widowx", "household"),
}
"""A benchmark of the papers, and the environments that may stand for it: itself, then the embedded one."""

Where = dict[str, list[str]]
"""Config group to its options, or config key to values as they are typed, any of which will do; `*` stands for any text, and
capitals are not told apart. For example `method: [mtp]`, `env.rounds: ["1"]`, `llm.roles.planner.model: ["*gpt-4o*"]`."""


@dataclass(frozen=True)
class Group:
    """A row or a column: which cells belong to it, and what the paper calls it."""

    label: str
    published: str = ""
    """Its name in `published.csv`: a row's is a method, a column's a task. Empty: the paper has none, or the column's
    `task`."""
    where: Where = field(default_factory=dict)
    """Which cells belong here. A group that a cell's method has no use for says nothing of it, and a key that a cell
    does not have is null."""
    benchmark: str = ""
    """Of a column: a key of `WORLDS`."""
    instructions: Literal["single", "paraphrased", "any"] = "any"
    """Of a column: which wordings count."""
    task: str = ""
    """Of a column: only this task; empty for all."""
    metric: Metric | None = None
    """Of a column: what it holds, where that is not the item's metric."""


@dataclass(frozen=True)
class Item:
    """One table or figure."""

    paper: Literal["mtp", "hime"]
    number: str
    """As in `table1`."""
    title: str
    metric: Metric
    episodes: int
    """Verdicts that each entry of the last column needs, over all seeds."""
    rows: list[Group]
    columns: list[Group]
    comparisons: list[list[str]] = field(default_factory=list)
    """Pairs of row labels that are compared, by their successes, in every column that sums up and holds verdicts."""
    note: str = ""
    where: Where = field(default_factory=dict)
    """As a group's, of all rows and columns."""
    prefer: Where = field(default_factory=dict)
    """As `where`, but only where the item's cells differ in the key: those that have one of these values count. Where no
    cell has, the key chooses nothing."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(table|figure)\d+[a-z]?", self.number):
            raise ValueError(f"number is `{self.number}`; it is like table1 or figure9a")
        labels = [row.label for row in self.rows]
        for pair in self.comparisons:
            for label in pair:
                if label not in labels:
                    raise ValueError(f"comparisons name `{label}`, which is no row. {suggest(label, labels)}")
        for column in self.columns:
            if column.benchmark not in WORLDS:
                raise ValueError(f"column {column.label} has no known benchmark: {', '.join(WORLDS)}")

    @property
    def name(self) -> str:
        """As in `mtp_table1`, which is also the name of its experiment."""
        return f"{self.paper}_{self.number}"

    @property
    def heading(self) -> str:
        """As in `HiMe, Figure 9a: ` and the title."""
        kind, number, _ = re.split(r"(\d.*)", self.number)
        return f"{PAPERS[self.paper]}, {kind.capitalize()} {number}: {self.title}"

    def metric_of(self, column: Group) -> Metric:
        return column.metric or self.metric

    def measure_of(self, column: Group) -> Measure:
        return MEASURES[self.metric_of(column)]

    def sums_up(self, column: Group) -> bool:
        """Whether a column is of all that an item has in its benchmark: of no task, or of the only one."""
        tasks = {other.task for other in self.columns}
        return not column.task or len(tasks) == 1


def load(paper: str | None = None, numbers: Sequence[str] = ()) -> list[Item]:
    """Items in the order of their files. Raises `UsageError` for a number that there is not, and for a file that does
    not say what an item needs."""
    items = [item for item in map(_read, sorted(EXPERIMENTS.glob("*.yaml"))) if item is not None]
    if paper is not None:
        items = [item for item in items if item.paper == paper]
    known = {known for item in items for known in (item.number, item.name)}
    for number in numbers:
        if number not in known:
            raise UsageError(f"There is no item `{number}`. {suggest(number, known)}")
    chosen = [item for item in items if not numbers or item.number in numbers or item.name in numbers]
    return sorted(chosen, key=lambda item: (item.paper != "mtp", _natural(item.number)))


def _read(path: Path) -> Item | None:
    import yaml

    with path.open(encoding="utf-8") as file:
        config: Any = yaml.load(file, yaml.CSafeLoader)
    found: Item | None = build(config["item"], f"{path.name}: item") if "item" in config else None
    return found


def _natural(number: str) -> tuple[str, int, str]:
    """For sorting: `table2` before `table10`, `figure9a` before `figure9b`."""
    kind, digits, rest = re.fullmatch(r"([a-z]*?)(\d*)([a-z]*)", number).groups()  # type: ignore[union-attr]
    return kind, int(digits or 0), rest
