from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest, boschloo_exact, multinomial

from analysis.statistics import power
from analysis.statistics.power import Scenes


@pytest.mark.parametrize(
    ("scenes", "effect", "discordance", "alpha"),
    [
        (20, 0.3, 0.4, 0.05),
        (25, 0.15, 0.15, 0.05),
        (15, -0.4, 0.7, 0.01),
        (4, 0.5, 0.6, 0.05),
        (30, 0.2, 1, 0.1),
    ],
)
def test_paired_power_is_the_chance_of_all_outcomes_that_the_test_rejects(
    scenes: int, effect: float, discordance: float, alpha: float
) -> None:
    b_share, c_share = (discordance + effect) / 2, (discordance - effect) / 2
    total = 0.0
    for b in range(scenes + 1):
        for c in range(scenes + 1 - b):
            if b + c and binomtest(b, b + c).pvalue <= alpha:
                chances = [b_share, c_share, 1 - discordance]
                total += multinomial.pmf([b, c, scenes - b - c], scenes, chances)
    assert power.paired_power(scenes, effect, discordance, alpha) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(("effect", "discordance"), [(0.4, 0.4), (0.4, 0.6), (0.5, 1), (0.6, 0.7)])
def test_the_scenes_of_a_paired_comparison_are_the_fewest_that_hold(
    effect: float, discordance: float
) -> None:
    found = power.scenes_paired(effect, discordance)
    reached = [power.paired_power(n, effect, discordance) >= 0.8 for n in range(1, 400)]
    assert all(reached[found.scenes - 1 :])
    assert not reached[found.scenes - 2]
    assert found.power == power.paired_power(found.scenes, effect, discordance) and found.exact


@pytest.mark.parametrize("scenes", [4, 9])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_unpaired_power_is_that_of_scipys_boschloo(scenes: int, alpha: float) -> None:
    first, second = 0.3, 0.8
    chances = [binom.pmf(range(scenes + 1), scenes, rate) for rate in (first, second)]
    total = 0.0
    for a in range(scenes + 1):
        for b in range(scenes + 1):
            if 0 < a + b < 2 * scenes and boschloo_exact([[a, b], [scenes - a, scenes - b]]).pvalue <= alpha:
                total += chances[0][a] * chances[1][b]
    assert power.unpaired_power(scenes, first, second, alpha) == pytest.approx(total, abs=1e-9)
    assert power.unpaired_power(scenes, second, first, alpha) == pytest.approx(total, abs=1e-9)


def test_the_scenes_of_an_unpaired_comparison_are_the_fewest_that_hold() -> None:
    found = power.scenes_unpaired(0.3, 0.8)
    reached = [power.unpaired_power(n, 0.3, 0.8) >= 0.8 for n in range(1, 60)]
    assert all(reached[found.scenes - 1 :]) and not reached[found.scenes - 2]


def test_the_size_of_the_unpaired_test_stays_below_alpha() -> None:
    region = power.boschloo_region(40, 0.05)
    for rate in np.linspace(0.005, 0.995, 150):
        chances = binom.pmf(range(41), 40, rate)
        assert 2 * float(chances @ binom.sf(region - 1, 40, rate)) <= 0.05 + 1e-6


def test_fifteen_points_at_sixty_percent() -> None:
    assert power.scenes_paired(0.15, 0.15).scenes == 52
    assert power.scenes_paired(0.15, power.independent_discordance(0.6, 0.75)).scenes == 166
    assert power.scenes_unpaired(0.6, 0.75).scenes == 154


def test_fewer_discordant_scenes_take_fewer_scenes_and_higher_power_takes_more() -> None:
    assert power.scenes_paired(0.2, 0.2).scenes < power.scenes_paired(0.2, 0.4).scenes
    assert power.scenes_paired(0.2, 0.4).scenes < power.scenes_paired(0.2, 0.4, power=0.95).scenes
    assert power.scenes_paired(0.2, 0.4).scenes < power.scenes_paired(0.2, 0.4, alpha=0.01).scenes
    assert power.scenes_paired(-0.2, 0.4) == power.scenes_paired(0.2, 0.4)


def test_all_against_nothing_takes_six_pairs() -> None:
    assert power.scenes_paired(1, 1) == Scenes(6, 1.0)


def test_beyond_enumeration_the_number_is_marked_as_approximate() -> None:
    found = power.scenes_unpaired(0.6, 0.61)
    assert found == Scenes(37513, 0.8, exact=False)


@pytest.mark.parametrize(
    ("first", "second", "discordance", "message"),
    [
        (0.9, 1.05, None, "success rate of 1.05 cannot be"),
        (0.6, 0.6, None, "difference of 0"),
        (0.6, 0.75, 0.1, "lies between 0.15 and 0.65; it cannot be 0.1"),
        (0.6, 0.75, 0.7, "it cannot be 0.7"),
    ],
)
def test_what_cannot_be_is_refused(
    first: float, second: float, discordance: float | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        power.check(first, second, discordance)


def test_the_edges_of_discordance_are_allowed() -> None:
    power.check(0.6, 0.75, 0.75 - 0.6)
    power.check(0.6, 0.75, 0.65)
