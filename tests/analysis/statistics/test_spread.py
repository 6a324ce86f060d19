from __future__ import annotations

import pytest

from analysis.statistics.rates import Rate
from analysis.statistics.spread import Spread, over_seeds, rates_by_seed, spread


def test_the_papers_spread_is_the_sample_deviation_over_runs() -> None:
    found = over_seeds([16 / 45, 18 / 45, 19 / 45])  # table I, VoxPoser: 39.3 ± 3.4
    assert found.mean is not None and found.deviation is not None
    assert f"{100 * found.mean:.1f} {100 * found.deviation:.1f} {found.seeds}" == "39.3 3.4 3"


def test_one_seed_has_no_spread() -> None:
    assert over_seeds([0.4]) == Spread(0.4, None, 1)
    assert over_seeds([]) == Spread(None, None, 0)
    assert over_seeds([0.4, 0.4]) == Spread(0.4, 0.0, 2)


def test_seeds_have_one_vote_each_and_errors_none(make_row) -> None:
    rows = [make_row(True, seed=1, scene=i) for i in range(4)]
    rows += [make_row(i > 0, seed=0, scene=i) for i in range(2)]
    rows += [make_row(status="error", error="crash", seed=2)]
    assert rates_by_seed(rows) == {0: Rate(1, 2), 1: Rate(4, 4)}
    assert spread(rows) == Spread(0.75, pytest.approx(0.5 / 2**0.5), 2)
