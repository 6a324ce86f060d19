from __future__ import annotations

from pathlib import Path

import pytest

from harness.chat.openai.prices import Price, read_prices
from harness.failures import UsageError


def test_the_shipped_table() -> None:
    prices = read_prices("shipped")
    assert prices.of("gpt-4.1-mini") == prices.of("gpt-4.1-mini-2025-04-14") == Price(0.4, 0.1, 1.6)
    assert prices.of("gpt-4.1-2025-04-14") == Price(2.0, 0.5, 8.0)
    assert prices.of("gpt-4o-2024-08-06") == Price(2.5, 1.25, 10.0)
    assert prices.of("gpt-4o-2024-05-13") == Price(5.0, 5.0, 15.0)
    assert prices.of("gpt-4o-mini-2024-07-18") == Price(0.15, 0.075, 0.6)


@pytest.mark.parametrize("name", ["gpt-4o-audio-preview", "gpt-4.1-turbo", "gpt-4", "gpt-5-pro", "", "llama"])
def test_a_model_that_is_not_in_it_has_no_price(name: str) -> None:
    assert read_prices("shipped").of(name) is None


def test_the_name_as_served_comes_first() -> None:
    prices = read_prices("shipped")
    assert prices.of("gpt-4o", "gpt-4.1") == Price(2.5, 1.25, 10.0)
    assert prices.of("somewhere/else", "gpt-4.1") == Price(2.0, 0.5, 8.0)


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("mine*: {input: 1, output: 2}\nmine-large*: {input: 3, cached_input: 0, output: 4.5}\n")
    prices = read_prices(str(path))
    assert prices.of("mine-small") == Price(1.0, 1.0, 2.0)
    assert prices.of("mine-large-2") == Price(3.0, 0.0, 4.5)
    assert prices.of("gpt-4o") is None
    assert read_prices(None).of("gpt-4o") is None


def test_cached_tokens_are_among_those_of_the_prompt() -> None:
    assert Price(2.0, 0.5, 8.0).cost(1_000_000, 250_000, 500_000) == pytest.approx(1.5 + 0.125 + 4.0)
    assert Price(2.0, 0.5, 8.0).cost(0, 0, 0) == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {input: 1}", "needs `input` and `output`"),
        ("a: {input: 1, output: 2, ouput: 3}", "a needs"),
        ("a: 3", "a needs"),
        ("a: {input: free, output: 1}", "input is 'free'"),
        ("a: {input: -1, output: 1}", "input is -1"),
        ("a: {input: .nan, output: 1}", "input is nan"),
        ("a: {input: true, output: 1}", "input is True"),
        ("[]", "is no table"),
        ("", "is no table"),
        ("a: {", "cannot be read"),
    ],
)
def test_a_broken_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_prices(str(path))


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.yaml cannot be read"):
        read_prices(str(tmp_path / "nowhere.yaml"))
