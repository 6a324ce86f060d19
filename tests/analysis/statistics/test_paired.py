from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, multinomial

from analysis.statistics.paired import (
    NotComparable,
    NotPaired,
    Pairs,
    _tango,
    difference_interval,
    mcnemar,
    pair,
)


@pytest.mark.parametrize(
    ("first_only", "second_only", "p"),
    [(0, 0, 1), (1, 0, 1), (5, 0, 2 / 32), (0, 6, 2 / 64), (1, 8, 0.0390625), (7, 7, 1)],
)
def test_mcnemar_is_a_fair_coin_over_the_discordant_pairs(
    first_only: int, second_only: int, p: float
) -> None:
    assert mcnemar(Pairs(3, first_only, second_only, 4)) == pytest.approx(p)


def test_mcnemar_is_the_binomial_test_for_any_counts() -> None:
    for b in range(0, 30, 3):
        for c in range(1, 30, 4):
            assert mcnemar(Pairs(0, b, c, 0)) == pytest.approx(binomtest(b, b + c).pvalue)
    assert 0 < mcnemar(Pairs(0, 40_000, 41_000, 10**6)) < 0.001


def _score(pairs: Pairs, difference: float) -> float:
    """Tango's score with the likelihood under that difference maximised by search, not by his formula."""
    n, b, c = pairs.total, pairs.first_only, pairs.second_only

    def loss(q: float) -> float:
        cells = [(b, q + difference), (c, q), (n - b - c, 1 - 2 * q - difference)]
        return -sum(count * np.log(max(p, 1e-300)) for count, p in cells if count)

    least = max(0.0, -difference)
    q = minimize_scalar(
        loss, bounds=(least, (1 - difference) / 2), method="bounded", options={"xatol": 1e-12}
    ).x
    return float((b - c - n * difference) / np.sqrt(n * (2 * q + difference - difference**2)))


@pytest.mark.parametrize(
    "pairs", [Pairs(53, 16, 8, 9), Pairs(2, 21, 14, 13), Pairs(10, 20, 39, 30), Pairs(20, 6, 5, 1)]
)
def test_the_interval_ends_where_tangos_score_is_the_normal_quantile(pairs: Pairs) -> None:
    low, high = _tango(pairs.total, pairs.first_only, pairs.second_only, 0.95)
    assert _score(pairs, low) == pytest.approx(1.959964, abs=1e-3)
    assert _score(pairs, high) == pytest.approx(-1.959964, abs=1e-3)


def test_the_interval_is_no_point_where_nothing_differs() -> None:
    z2 = 1.959964**2
    for pairs in (Pairs(50, 0, 0, 0), Pairs(0, 0, 0, 50), Pairs(20, 0, 0, 30)):
        assert difference_interval(pairs) == pytest.approx((-z2 / (50 + z2), z2 / (50 + z2)), abs=1e-6)
    assert difference_interval(Pairs(0, 0, 0, 0)) == (-1, 1)


def test_the_interval_is_right_where_all_differ_and_turns_with_the_methods() -> None:
    low, high = difference_interval(Pairs(0, 10, 0, 0))
    assert 0 < low < 1 and high == 1
    assert difference_interval(Pairs(0, 0, 10, 0)) == pytest.approx((-high, -low))
    low, high = difference_interval(Pairs(9, 7, 2, 4))
    assert difference_interval(Pairs(9, 2, 7, 4)) == pytest.approx((-high, -low))


@pytest.mark.parametrize("n", [12, 30])
def test_the_interval_covers_the_difference(n: int) -> None:
    outcomes = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    bounds = np.array([difference_interval(Pairs(0, b, c, n - b - c)) for b, c in outcomes])
    cells = np.array([(b, c, n - b - c) for b, c in outcomes])
    coverage = []
    for first_only, second_only in [
        (0.1, 0.1),
        (0.3, 0.15),
        (0.2, 0.05),
        (0.4, 0.4),
        (0.02, 0.02),
        (0.5, 0.1),
    ]:
        chances = multinomial.pmf(cells, n, [first_only, second_only, 1 - first_only - second_only])
        inside = (bounds[:, 0] <= first_only - second_only) & (first_only - second_only <= bounds[:, 1])
        coverage.append(float(chances[inside].sum()))
    assert min(coverage) > 0.95
    assert np.mean(coverage) < 0.99


@pytest.mark.parametrize("n", [8, 30, 60])
def test_the_interval_leaves_out_zero_exactly_where_the_test_rejects(n: int) -> None:
    for b in range(n + 1):
        for c in range(n + 1 - b):
            pairs = Pairs(0, b, c, n - b - c)
            low, high = difference_interval(pairs)
            assert (mcnemar(pairs) <= 0.05) == (not low <= 0 <= high), pairs


def test_few_discordant_pairs_that_all_go_one_way_decide_nothing() -> None:
    pairs = Pairs(100, 0, 4, 46)
    assert _tango(150, 0, 4, 0.95)[1] < 0
    share = 1 - 0.025**0.25  # at most this share of such pairs would the first method win, after none of four
    assert difference_interval(pairs)[1] == pytest.approx(4 / 150 * (2 * share - 1))


def test_rows_are_matched_by_scene_and_errors_are_left_out(make_row) -> None:
    first = [make_row(i % 2 == 0, scene=i) for i in range(4)]
    second = [make_row(True, method="mtp", scene=i) for i in (3, 1, 0)]
    second += [make_row(method="mtp", scene=2, status="error", error="provider")]
    assert pair(first, second) == ({"push_button": Pairs(both=1, first_only=0, second_only=2, neither=0)}, 1)


def test_tasks_and_seeds_are_kept_apart(make_row) -> None:
    first = [make_row(task=task, seed=seed) for task in ("a", "b") for seed in (0, 1)]
    second = [
        make_row(task == "a", method="mtp", task=task, seed=seed) for task in ("a", "b") for seed in (0, 1)
    ]
    assert pair(first, second) == ({"a": Pairs(2, 0, 0, 0), "b": Pairs(0, 2, 0, 0)}, 0)


def test_rows_of_different_initial_states_are_not_paired(make_row) -> None:
    first = [make_row(scene=i) for i in range(6)]
    second = [make_row(method="mtp", scene=i, state_hash=f"other {i}") for i in range(6)]
    with pytest.raises(
        NotPaired, match=r"initial states differ in tabletop push_button scene 0 .* and 3 more"
    ):
        pair(first, second)


def test_rows_without_a_hash_are_not_paired(make_row) -> None:
    with pytest.raises(NotPaired, match="no initial state is recorded"):
        pair([make_row(state_hash="")], [make_row(state_hash="")])


@pytest.mark.parametrize(
    "change",
    [{"task": "open_drawer"}, {"scene": 1}, {"seed": 1}, {"env": "playtable"}, {"instruction_index": 1}],
)
def test_other_scenes_are_not_paired(make_row, change: dict[str, object]) -> None:
    with pytest.raises(NotPaired, match="no episode on the same"):
        pair([make_row()], [make_row(**change)])


def test_an_environment_of_another_config_is_not_the_same(make_row) -> None:
    with pytest.raises(NotPaired):
        pair([make_row()], [make_row(env_config="noisier")])


def test_two_verdicts_on_a_scene_are_not_averaged(make_row) -> None:
    rows = [make_row(cell="one"), make_row(False, cell="two")]
    with pytest.raises(NotComparable, match=r"voxposer has two verdicts on .* \(cells one and two\)"):
        pair(rows, [make_row(method="mtp")])
