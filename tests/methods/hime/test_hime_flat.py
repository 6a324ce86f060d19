"""The flat baseline: what it remembers, and how its replies are read."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.hime import flat, markup, wire
from methods.hime.flat import read_flat
from methods.hime.keyframes import Keyframes


@pytest.mark.parametrize(
    ("nominated", "chosen"),
    [
        ([], ()),
        ([7], (7,)),
        ([1, 6], (6,)),  # 5 apart is one group, and of two the upper one is the median
        ([1, 7], (1, 7)),
        ([3, 3, 3, 8], (3,)),  # a frame counts as often as it was nominated
        ([10, 1, 2, 12, 3], (2, 12)),
        (list(range(0, 100, 5)), (50,)),  # a chain is one group
        ([10 * n for n in range(12)], tuple(10 * n for n in range(4, 12))),  # the latest eight
    ],
)
def test_keyframes(nominated: list[int], chosen: tuple[int, ...]) -> None:
    assert Keyframes().nominated(nominated).chosen() == chosen


@given(st.lists(st.lists(st.integers(0, 200), max_size=8), max_size=12), st.integers(0, 9), st.integers(1, 9))
def test_groups_are_those_of_their_definition(rounds: list[list[int]], gap: int, most: int) -> None:
    memory = Keyframes(gap=gap, most=most)
    for nominated in rounds:
        memory = memory.nominated(nominated)
    everything = sorted(frame for nominated in rounds for frame in nominated)
    assert list(memory.nominations) == everything
    chosen = memory.chosen()
    cuts = [right for left, right in itertools.pairwise(everything) if right - left > gap]
    assert len(chosen) == min(most, len(cuts) + bool(everything))
    assert set(chosen) <= set(everything)
    assert all(right - left > gap for left, right in itertools.pairwise(chosen))


@pytest.mark.parametrize(
    ("text", "action", "nominated", "notes"),
    [
        ('{"action": "inspect left box", "keyframe_positions": [1, 8]}', "inspect left box", (0, 7), ()),
        ('{"action": "a"}', "a", (), ()),
        ('```json\n{"action": "a", "keyframe_positions": []}\n```', "a", (), (markup.FENCE,)),
        ('<think>{"action": "b"}</think>{"action": "a"}', "a", (), (markup.THINKING,)),
        ('I choose {x}: {"action": "a\nb"}', "a b", (), (wire.AROUND,)),
        ('{"action": "b"} or rather {"action": "a"}', "a", (), (flat.SEVERAL, wire.AROUND)),
        ('{"action": "a", "keyframe_positions": [0, 3, 3, 9]}', "a", (2,), (flat.NO_FRAME,)),
        ('{"action": "a", "keyframe_positions": "2"}', "a", (), (flat.POSITIONS_FORM,)),
        ('{"action": "a", "keyframe_positions": [2, "x", true]}', "a", (1,), (flat.POSITIONS_FORM,)),
        ('{"action": "a", "keyframe_positions": null}', "a", (), (flat.POSITIONS_FORM,)),
    ],
)
def test_flat_replies(text: str, action: str, nominated: tuple[int, ...], notes: tuple[str, ...]) -> None:
    reply = read_flat(text, recent=8)
    assert (reply.action, reply.nominated, reply.notes) == (action, nominated, notes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "inspect left box",
        '{"action": ""}',
        '{"action": 3}',
        '{"keyframe_positions": [1]}',
        '{"action": "a"',
        "[" * 5000,
    ],
)
def test_a_flat_reply_without_an_action_is_refused(text: str) -> None:
    with pytest.raises(wire.UnusableReply):
        read_flat(text, recent=8)


@given(st.text(st.sampled_from('{}[]":,a1 \\n'), max_size=60))
def test_any_flat_reply_is_read_or_refused(text: str) -> None:
    try:
        assert read_flat(text, recent=8).action.strip()
    except wire.UnusableReply as error:
        assert str(error)
