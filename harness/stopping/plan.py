"""Which methods of a sweep are compared, on which pairs of episodes and in which order: fixed by the command, before
anything is played. It looks at no row."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from harness.cells import Cell
from harness.components import suggest
from harness.failures import UsageError
from harness.protocols import Task
from harness.records import EpisodeKey
from harness.schema import RunConfig

STOPS = ("all", "sequential")


@dataclass(frozen=True)
class Pair:
    """The episode of one name in two cells, by their identities."""

    first: str
    second: str
    episode: str


@dataclass(frozen=True)
class Comparison:
    """The first method against the second. Their cells differ in nothing else that can change a result."""

    first: str
    second: str
    where: str
    """What the two have in common: environment, model and what was typed beside."""
    test: Mapping[str, Any]
    """Config of the test, at the level that this comparison has."""
    pairs: tuple[Pair, ...]
    """In the order in which the test takes them."""
    folders: Mapping[str, str]
    """Name of a cell's folder by its identity."""

    @property
    def level(self) -> float:
        return float(self.test["alpha"])

    @cached_property
    def name(self) -> str:
        return f"{self.first} against {self.second} ({self.where})"

    def mark(self, pairs: int) -> str:
        """Hash of the test and of the first pairs, in their order."""
        lines = [f"{sorted(self.test.items())}"]
        lines += [f"{pair.first} {pair.second} {pair.episode}" for pair in self.pairs[:pairs]]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _Arm:
    """A method as it is configured, with its cells by seed and the episodes of each."""

    method: str
    label: str
    where: str
    cells: Mapping[int, Cell]
    episodes: Mapping[int, Sequence[EpisodeKey]]


def comparisons(cells: Sequence[Cell]) -> list[Comparison]:
    """What `run.stop=sequential` of a sweep compares; nothing for `run.stop=all`. Raises `UsageError` for a sweep that
    cannot be stopped so."""
    run = RunConfig(**cells[0].config["run"])
    if run.stop not in STOPS:
        raise UsageError(f"run.stop is `{run.stop}`; it can be {' or '.join(STOPS)}.")
    if run.stop == "all":
        return []
    if not 0 < run.alpha < 1:
        raise UsageError(f"run.alpha is {run.alpha:g}; it lies between 0 and 1, as 0.05.")
    if not 0 <= run.margin < 1:
        raise UsageError(f"run.margin is {run.margin:g}; it is a difference of rates, as 0.1 for 10 points.")
    matches = list(_matches(_arms(cells), run.compare))
    if not matches:
        raise UsageError(
            "run.stop=sequential has nothing to compare: it takes two methods in one sweep that differ in nothing "
            "else, as in `python run.py -m method=voxposer,mtp run.stop=sequential`."
        )
    test = {**run.test, "alpha": run.alpha / len(matches), "margin": run.margin}
    return [_comparison(first, second, test) for first, second in matches]


def refuse(cells: Sequence[Cell], launcher: str) -> None:
    """Raise `UsageError` where others than the sweep hand out the episodes."""
    if RunConfig(**cells[0].config["run"]).stop != "all":
        raise UsageError(
            f"run.stop=sequential does not go with hydra/launcher={launcher}: a job gets its episodes when it is "
            "submitted, and none could be taken back when a comparison has decided. Leave the launcher out, or "
            "take run.stop=all."
        )


def _arms(cells: Sequence[Cell]) -> list[list[_Arm]]:
    """Lists of what can be compared with each other, in the order of the command."""
    grouped: dict[str, dict[str, list[Cell]]] = {}
    for cell in cells:
        grouped.setdefault(cell.context, {}).setdefault(cell.arm, []).append(cell)
    common = {}
    for context, of_context in grouped.items():
        typed = [cell.variant for of_arm in of_context.values() for cell in of_arm]
        common[context] = [one for one in typed[0] if all(one in others for others in typed)]
    places = _told_apart(
        {
            context: " ".join([f"env={cell.env}", f"llm={cell.choices['llm']}", *common[context]])
            for context, of_context in grouped.items()
            for cell in [next(iter(of_context.values()))[0]]
        }
    )
    found = []
    for context, of_context in grouped.items():
        names = _told_apart(
            {
                arm: " ".join([cell.method, *(one for one in cell.variant if one not in common[context])])
                for arm, (cell, *_) in of_context.items()
            }
        )
        found.append([_arm(cells, names[arm], places[context]) for arm, cells in of_context.items()])
    return found


def _told_apart(names: Mapping[str, str]) -> Mapping[str, str]:
    """Names by hash, with the hash where two have the same."""
    taken = Counter(names.values())
    return {mark: name if taken[name] == 1 else f"{name} {mark[:6]}" for mark, name in names.items()}


def _arm(cells: Sequence[Cell], label: str, where: str) -> _Arm:
    episodes: dict[int, dict[EpisodeKey, None]] = {}
    for cell in cells:  # one with several choices of episodes comes several times
        episodes.setdefault(cell.seed, {}).update(dict.fromkeys(cell.episodes()))
    return _Arm(
        method=cells[0].method,
        label=label,
        where=where,
        cells={cell.seed: cell for cell in cells},
        episodes={seed: list(keys) for seed, keys in episodes.items()},
    )


def _matches(
    groups: Sequence[Sequence[_Arm]], compare: Sequence[Sequence[str]] | None
) -> Iterator[tuple[_Arm, _Arm]]:
    """Pairs of arms: those that are named, or each with the first."""
    if compare is None:
        for arms in groups:
            yield from ((arm, arms[0]) for arm in arms[1:])
        return
    _check(compare, {arm.method for arms in groups for arm in arms})
    for arms in groups:
        for one, other in compare:
            yield from product(
                [arm for arm in arms if arm.method == one], [arm for arm in arms if arm.method == other]
            )


def _check(compare: Sequence[Sequence[str]], known: set[str]) -> None:
    seen: set[frozenset[str]] = set()
    for pair in compare:
        if len(set(pair)) != 2 or len(pair) != 2:
            raise UsageError(
                f"run.compare names {list(pair)}; it is a list of pairs of methods, as [[mtp,voxposer]]."
            )
        for method in pair:
            if method not in known:
                raise UsageError(
                    f"run.compare names `{method}`, which the sweep does not play. {suggest(method, known)}"
                )
        if frozenset(pair) in seen:
            raise UsageError(f"run.compare names {' and '.join(pair)} twice.")
        seen.add(frozenset(pair))


def _comparison(first: _Arm, second: _Arm, test: Mapping[str, Any]) -> Comparison:
    pairs = []
    for seed in sorted(first.cells.keys() & second.cells.keys()):
        ours, theirs = first.cells[seed], second.cells[seed]
        for cell in (ours, theirs):
            _refuse_an_order(cell)
        shared = set(second.episodes[seed])
        pairs += [
            (key, seed, Pair(ours.identity, theirs.identity, str(key)))
            for key in first.episodes[seed]
            if key in shared
        ]
    if not pairs:
        raise UsageError(
            f"{first.label} and {second.label} ({first.where}) have no episode of the same task, scene, wording and "
            "seed, so run.stop=sequential cannot compare them."
        )
    suite = {
        task.name: (number, task)
        for number, task in enumerate(next(iter(first.cells.values())).component("env").suite())
    }
    pairs.sort(key=lambda found: _place(found[0], found[1], *suite[found[0].task]))
    return Comparison(
        first=first.label,
        second=second.label,
        where=first.where,
        test=test,
        pairs=tuple(pair for _, _, pair in pairs),
        folders={cell.identity: cell.folder_name for arm in (first, second) for cell in arm.cells.values()},
    )


def _place(key: EpisodeKey, seed: int, number: int, task: Task) -> tuple[int, ...]:
    """Round by round, each with every task and seed in its share: so the pairs up to any stop are of all tasks, and
    more scenes come after those that there were."""
    return key.scene // task.share, seed, number, key.scene, key.instruction


def _refuse_an_order(cell: Cell) -> None:
    order = getattr(cell.component("method"), "order", None)
    if order is not None and order(cell.episodes(), cell.seed) is not None:
        raise UsageError(
            f"method={cell.method} plays its episodes in an order of its own, each hanging on those before, so "
            "run.stop=sequential cannot compare it. Name the pairs of other methods with run.compare=[[...]]."
        )
