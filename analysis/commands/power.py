"""How many scenes it takes to find a difference between two methods, paired and unpaired.

Computed from the exact tests that the tables use: McNemar's on the same scenes, Boschloo's on different ones, both
two-sided. How many scenes pairing saves depends on the discordance, the share of scenes that the two methods end
differently; without it, the answer is shown for methods that have nothing in common, for methods of which one solves all
that the other does, and for the middle between them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.statistics.power import Scenes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--effect", type=float, required=True, help="difference of the success rates, as 0.15 for 15 points"
    )
    parser.add_argument(
        "--base", type=float, default=0.6, help="the other method's success rate (default: 0.6)"
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        help="level of the test (default: 0.05); divide it for several comparisons",
    )
    parser.add_argument(
        "--power", type=float, default=0.8, help="chance to find the difference if it is there (default: 0.8)"
    )
    parser.add_argument(
        "--discordance", type=float, help="share of scenes that the two end differently, if known"
    )


def run(options: argparse.Namespace) -> int:
    from analysis.statistics import power
    from harness.failures import UsageError

    base, effect = options.base, options.effect
    other = round(base + effect, 12)
    for name, value in (("alpha", options.alpha), ("power", options.power)):
        if not 0 < value < 1:
            raise UsageError(f"--{name} is {value:g}; it lies between 0 and 1.")
    try:
        power.check(base, other, options.discordance)
    except ValueError as error:
        raise UsageError(
            f"--base {base:g} --effect {effect:g}: {error} Rates are shares: 15 points are 0.15."
        ) from error
    print(
        f"To tell a success rate of {100 * other:g} % from one of {100 * base:g} % with a power of "
        f"{100 * options.power:g} % at a level of {100 * options.alpha:g} %, two-sided:\n"
    )
    print("scenes  episodes  power   comparison")
    for name, discordance in _discordances(base, other, options.discordance):
        found = power.scenes_paired(effect, discordance, options.alpha, options.power)
        _show(found, f"same scenes, {100 * discordance:.3g} % of them discordant{name}")
    _show(
        power.scenes_unpaired(base, other, options.alpha, options.power), "different scenes for each method"
    )
    return 0


def _discordances(base: float, other: float, given: float | None) -> list[tuple[str, float]]:
    from analysis.statistics.power import independent_discordance

    if given is not None:
        return [("", given)]
    most, least = independent_discordance(base, other), abs(other - base)
    found = [(": one method solves all that the other does", least)]
    if most > least:
        found += [(": the middle", (least + most) / 2), (": nothing in common", most)]
    return found


def _show(found: Scenes, comparison: str) -> None:
    about = "" if found.exact else ", by the normal approximation"
    print(f"{found.scenes:6}  {2 * found.scenes:8}  {100 * found.power:4.1f} %  {comparison}{about}")
