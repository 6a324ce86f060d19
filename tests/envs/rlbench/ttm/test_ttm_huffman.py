"""The decoder, against the writer of the tests: that it gives back what was coded, however badly chunks synchronise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.rlbench.ttm.huffman import DamagedCode, decode
from tests.envs.rlbench.ttm.writer import huffman

RNG = np.random.default_rng(3)
FIBONACCI = [1, 1]
while len(FIBONACCI) < 26:
    FIBONACCI.append(FIBONACCI[-1] + FIBONACCI[-2])
DEEP = np.repeat(np.arange(26, dtype=np.uint8), FIBONACCI)

CONTENTS = {
    "one byte": b"a",
    "one byte many times": b"a" * 50_000,
    # All code words have eight bits: a decoder that begins out of step never falls into step.
    "every byte equally often": bytes(range(256)) * 300,
    "out of step": b"a" * 3 + RNG.permutation(np.arange(60_000) % 256).astype(np.uint8).tobytes(),
    "periodic": b"\xff\xff\xff\x00" * 20_000,
    "skewed": RNG.geometric(0.3, 60_000).clip(max=255).astype(np.uint8).tobytes(),
    # Code words of 1 to 25 bits, longer than the prefix that is looked up.
    "long codes": RNG.permutation(DEEP).tobytes(),
    "long codes in order": DEEP.tobytes(),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_what_was_coded_comes_back(name: str) -> None:
    assert decode(huffman(CONTENTS[name]), len(CONTENTS[name])) == CONTENTS[name]


@settings(deadline=None, max_examples=60)
@given(st.binary(min_size=1, max_size=3000))
def test_any_bytes_come_back(content: bytes) -> None:
    assert decode(huffman(content), len(content)) == content


def test_a_code_that_ends_early_says_how_much_it_holds() -> None:
    content = CONTENTS["skewed"]
    coded = huffman(content)
    with pytest.raises(DamagedCode, match=rf"it holds \d+ of {len(content)} bytes"):
        decode(coded[: len(coded) // 2], len(content))


@pytest.mark.parametrize("coded", [b"", b"\x00", b"\x00" * 500, b"\xff" * 10, b"\x0f"])
def test_bits_without_a_tree_are_refused(coded: bytes) -> None:
    with pytest.raises(DamagedCode, match="tree"):
        decode(coded, 10)
