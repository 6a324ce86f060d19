from __future__ import annotations

from math import comb

import numpy as np
import pytest

from analysis.statistics.paired import Pairs, mcnemar
from analysis.statistics.sequential import Sequential, _log_wealth

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
