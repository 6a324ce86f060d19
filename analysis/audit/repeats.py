"""The same quantity in several items: a table, another table, a figure, the text. Where they print different values,
these are looked for under other labels, which is how exchanged labels and copied cells show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from analysis.audit.findings import Finding, items
from analysis.audit.numbers import Number

ANOTHER_SETTING = 3
"""Quantities that two groups of items share and all print otherwise, from which on they are taken for two settings
rather than for so many slips."""

Quantities = Mapping[tuple[str, ...], Sequence[Number]]
Item = tuple[str, str, str]
"""Paper, setting, item."""
Versions = list[list[Number]]
"""Numbers of one quantity; those that agree are together."""


def check(numbers: Sequence[Number]) -> Iterator[Finding]:
    """One finding for each method and each way in which items fall apart over it, and one for each two groups of
    items that look like two settings."""
    found: dict[tuple[str, ...], list[Number]] = {}
    for number in numbers:
        found.setdefault(number.quantity, []).append(number)
    quantities = {quantity: same for quantity, same in found.items() if len(same) > 1}
    groups = _groups(quantities)
    apart: dict[tuple[Item, Item], list[Number]] = {}
    disputes: dict[tuple[object, ...], list[Versions]] = {}
    for quantity, same in quantities.items():
        inside: dict[Item, list[Number]] = {}
        for number in same:
            inside.setdefault(groups[_item(number)], []).append(number)
        for pair in combinations(sorted(inside), 2):
            apart.setdefault(pair, []).extend([*inside[pair[0]], *inside[pair[1]]])
        for members in inside.values():
            versions = _versions(members)
            if len(versions) > 1:
                sides = tuple(items(version) for version in versions)
                disputes.setdefault((*quantity[:3], sides), []).append(versions)
    for dispute in disputes.values():
        yield _dispute(dispute, numbers)
    for (first, _), shared in apart.items():
        yield _two_settings(
            [number for number in shared if groups[_item(number)] == first],
            [number for number in shared if groups[_item(number)] != first],
        )


def _agree(first: Number, second: Number) -> bool:
    if not first.window.meets(second.window):
        return False
    if first.spread is None or second.spread is None:
        return True
    spreads = (first.spread_window or first.spread.window, second.spread_window or second.spread.window)
    return spreads[0].meets(spreads[1])


def _versions(numbers: Sequence[Number]) -> Versions:
    versions: Versions = []
    for number in numbers:
        for version in versions:
            if all(_agree(number, other) for other in version):
                version.append(number)
                break
        else:
            versions.append([number])
    return versions


def _item(number: Number) -> Item:
    return (number.paper, number.setting, number.item)


def _groups(quantities: Quantities) -> dict[Item, Item]:
    """Items that are taken to be of one setting, by one of them: joined by some value that they share, or by too few
    that they do not share to say otherwise."""
    parents = {_item(number): _item(number) for same in quantities.values() for number in same}

    def root(item: Item) -> Item:
        while parents[item] != item:
            item = parents[item]
        return item

    for same in quantities.values():
        for first, second in combinations(same, 2):
            if first.window.meets(second.window):
                parents[root(_item(first))] = root(_item(second))
    apart: Counter[tuple[Item, Item]] = Counter()
    for same in quantities.values():
        apart.update(combinations(sorted({root(_item(number)) for number in same}), 2))
    for (one, other), shared in apart.items():
        if shared < ANOTHER_SETTING:
            parents[root(one)] = root(other)
    return {item: root(item) for item in parents}


def _two_settings(first: Sequence[Number], second: Sequence[Number]) -> Finding:
    shared = len({number.quantity for number in first})
    problem = f"{items(first)} and {items(second)} share {shared} quantities and agree in none of them."
    fits = "They may be of two settings (name them in a column `setting`); else one of the two is wrong."
    return Finding("setting", [*first, *second], problem, fits)


def _dispute(dispute: Sequence[Versions], numbers: Sequence[Number]) -> Finding:
    """Of one method, over quantities on which the same items fall apart."""
    name = dispute[0][0][0].name
    parts = []
    for versions in dispute:
        first = versions[0][0]
        said = "; ".join(f"{version[0].printed} in {items(version)}" for version in versions)
        parts.append(f"{first.benchmark} {first.task}, {first.metric}: {said}")
    involved = [number for versions in dispute for version in versions for number in version]
    hints: dict[bool, list[str]] = {True: [], False: []}  # those in an item of another side, and elsewhere
    for side in range(len(dispute[0])):
        here = [versions[side][0] for versions in dispute]
        others = {
            number.item
            for versions in dispute
            for index, version in enumerate(versions)
            if index != side
            for number in version
        }
        values = f"{', '.join(number.printed for number in here)} of {items(dispute[0][side])}"
        verb = "stands" if len(here) == 1 else "stand"
        for item, names in _under_another_name(here, numbers).items():
            hints[item in others].append(f"{values} {verb} in {item} under {' and '.join(names)}.")
    problem = f"{name} has more than one value. {'. '.join(parts)}."
    return Finding(
        "label" if hints[True] else "repeat", involved, problem, " ".join(hints[True] or hints[False])
    )


def _under_another_name(here: Sequence[Number], numbers: Sequence[Number]) -> dict[str, list[str]]:
    """Items, and in each the names under which all these values are printed as they are here."""
    places: Counter[tuple[str, str]] = Counter()
    for number in here:
        paper, setting, name, *rest = number.quantity
        places.update(
            {
                (other.item, other.name)
                for other in numbers
                if other.name != name
                and other.quantity == (paper, setting, other.name, *rest)
                and other.printed == number.printed
            }
        )
    found: dict[str, list[str]] = {}
    for (item, name), count in sorted(places.items()):
        if count == len(here):
            found.setdefault(item, []).append(name)
    return found
