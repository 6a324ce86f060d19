from __future__ import annotations

from math import comb, exp, log

import numpy as np
import pytest

from analysis.statistics.paired import Pairs, mcnemar
from analysis.statistics.sequential import Sequential, _log_wealth, _log_wealth_against

PAIRS, LOOKS = 300, 500


def _decides(wins: int, losses: int, alpha: float = 0.05) -> bool:
    return _log_wealth(wins, losses) >= -np.log(alpha)


def test_the_error_rate_holds_however_often_one_looks() -> None:
    random = np.random.default_rng(11)
    streams = random.random((LOOKS, PAIRS)) < 0.5
    stopped = 0
    for stream in streams:
        test = Sequential()
        for won in stream:
            test = test.update(bool(won), not won)
            if test.decided:
                stopped += 1
                break
    assert 0 < stopped / LOOKS <= 0.05


def test_the_error_rate_holds_exactly() -> None:
    """Every path of a fair coin over 300 discordant pairs, by dynamic programming."""
    for alpha in (0.01, 0.05, 0.2):
        walking, stopped = {0: 1.0}, 0.0
        for pairs in range(1, PAIRS + 1):
            moved: dict[int, float] = {}
            for wins, chance in walking.items():
                for more in (wins, wins + 1):
                    moved[more] = moved.get(more, 0.0) + chance / 2
            stopped += sum(p for wins, p in moved.items() if _decides(wins, pairs - wins, alpha))
            walking = {wins: p for wins, p in moved.items() if not _decides(wins, pairs - wins, alpha)}
        assert alpha / 2 < stopped <= alpha


def test_looking_at_a_test_for_one_look_would_not_hold() -> None:
    random = np.random.default_rng(11)
    rejected = np.array(
        [
            [mcnemar(Pairs(0, w, n - w, 0)) <= 0.05 for w in range(n + 1)] + [False] * (PAIRS - n)
            for n in range(1, 101)
        ]
    )
    wins = np.cumsum(random.random((LOOKS, 100)) < 0.5, axis=1)
    assert rejected[np.arange(100), wins].any(axis=1).mean() > 0.15


def test_a_difference_is_found_and_named() -> None:
    random = np.random.default_rng(2)
    for better in ("first", "second"):
        taken = []
        for _ in range(200):
            test = Sequential()
            while test.decided is None and test.first_only + test.second_only < 500:
                won = bool(random.random() < 0.75) == (better == "first")
                test = test.update(won, not won)
            assert test.decided == better
            taken.append(test.first_only + test.second_only)
        assert np.mean(taken) < 40


def test_the_wealth_is_the_mixture_of_bets() -> None:
    # Over Beta(2, 2) the chance of a given order of w wins and l losses is 6 (w + 1)! (l + 1)! / (w + l + 3)!.
    for wins, losses in [(0, 0), (1, 0), (9, 0), (4, 3)]:
        n = wins + losses
        expected = 6 * 2**n / (comb(n + 2, wins + 1) * (n + 3))
        assert np.exp(_log_wealth(wins, losses)) == pytest.approx(expected)


def test_scenes_that_both_end_alike_bet_nothing() -> None:
    test = Sequential().update(True, True).update(False, False)
    assert test == Sequential(concordant=2)
    assert test.p_value == 1


def test_a_decision_stays_and_the_p_value_never_rises() -> None:
    test, last = Sequential(), 1.0
    for pair in range(9):
        assert test.decided is None, pair
        test = test.update(False, True)
        assert test.p_value <= last
        last = test.p_value
    assert test.decided == "second" and last <= 0.05
    for _ in range(60):
        test = test.update(True, False)
    assert test.decided == "second"
    assert test.p_value <= last


@pytest.mark.parametrize("alpha", [0, 1, -0.1])
def test_a_level_that_cannot_be_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        Sequential(alpha)


@pytest.mark.parametrize("margin", [-0.1, 1])
def test_a_margin_that_cannot_be_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        Sequential(margin=margin)


def test_the_wealth_against_a_difference_is_the_same_mixture_of_bets() -> None:
    """By another quadrature, over the chance that a bet gives the first method."""
    from scipy.integrate import quad

    for wins, losses, ties, difference in [
        (3, 0, 4, 0.2),
        (7, 2, 30, -0.1),
        (0, 0, 60, 0.1),
        (40, 25, 200, 0.3),
    ]:

        def weighted(
            chance: float, w: int = wins, m: int = losses, t: int = ties, d: float = difference
        ) -> float:
            bet = 2 * chance - 1
            logs = w * log(1 + bet) + m * log(1 - bet) - (w + m + t) * log(1 + bet * d)
            return 6 * chance * (1 - chance) * exp(logs)

        expected, _ = quad(weighted, 0, 1, limit=500)
        assert _log_wealth_against(difference, wins, losses, ties) == pytest.approx(log(expected), abs=1e-6)


@pytest.mark.parametrize("counts", [(0, 0, 0), (5, 0, 0), (9, 0, 3), (30, 12, 93), (300, 200, 1500)])
def test_against_no_difference_both_ways_of_working_out_the_wealth_agree(
    counts: tuple[int, int, int],
) -> None:
    assert _log_wealth_against(0.0, *counts) == pytest.approx(_log_wealth(*counts[:2]), abs=1e-9)


def test_the_interval_leaves_out_no_difference_when_the_test_rejects_there() -> None:
    for wins in range(12):
        for losses in range(12):
            low, high = Sequential(0.05, 0.0, wins, losses, 10).interval
            assert -1 <= low < (wins - losses) / (wins + losses + 10) < high <= 1 or not wins + losses
            assert (low > 0 or high < 0) == _decides(wins, losses)


def test_the_interval_is_never_a_point_and_the_whole_range_without_pairs() -> None:
    assert Sequential().interval == (-1, 1)
    low, high = Sequential(concordant=60).interval
    assert high == -low == pytest.approx(0.104, abs=1e-3)
    assert Sequential(first_only=3).interval[1] == 1
    assert Sequential(second_only=3).interval[0] == -1


def test_the_intervals_hold_at_every_pair_at_once_for_tasks_that_are_unlike() -> None:
    """Three tasks in turns: a method that is better at one, worse at another and the same at the third. The average of
    their differences over the pairs so far is what the interval is about."""
    random = np.random.default_rng(5)
    chances = [(0.9, 0.3), (0.2, 0.6), (0.5, 0.5)]
    alpha, missed = 0.2, 0
    for _ in range(150):
        test, truth = Sequential(alpha), 0.0
        for pair in range(60):
            first, second = chances[pair % 3]
            truth += first - second
            test = test.update(bool(random.random() < first), bool(random.random() < second))
            if test._refutes(truth / (pair + 1)):
                missed += 1
                break
    assert missed / 150 <= alpha


def test_methods_are_called_alike_when_no_difference_beyond_the_margin_is_left() -> None:
    test = Sequential(margin=0.1)
    while test.decided is None:
        test = test.update(True, True)
    assert (test.decided, test.pairs) == ("alike", 63)
    assert max(map(abs, test.interval)) <= 0.1
    assert Sequential(margin=0.1, concordant=61).update(True, True).decided is None
    assert Sequential(concordant=5000).update(True, True).decided is None


def test_methods_that_differ_by_the_margin_are_seldom_called_alike() -> None:
    random = np.random.default_rng(8)
    wrong = 0
    for _ in range(60):
        test = Sequential(0.2, margin=0.2)
        while test.decided is None and test.pairs < 150:
            draw = random.random()
            test = test.update(bool(draw < 0.25), bool(0.25 <= draw < 0.3))  # a difference of 0.2
        wrong += test.decided in ("alike", "second")
    assert wrong / 60 <= 0.2
