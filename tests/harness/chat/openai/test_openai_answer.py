"""Thinking, stop strings and the places where servers put text. What a whole reply says is in `test_openai_model`."""

from __future__ import annotations

import json

import pytest

from harness.chat.openai.answer import cut_at_stops, read_answer
from harness.chat.openai.prices import Prices
from harness.chat.openai.thinking import without_thinking


@pytest.mark.parametrize(
    ("text", "left", "thinking"),
    [
        ("x = 1", "x = 1", ""),
        ("<think>plan</think>\nx = 1", "x = 1", "plan"),
        ("\n <think>\nplan\n</think>\n\n  x = 1", "  x = 1", "plan"),
        ("<THINK>plan</think>x", "x", "plan"),
        ("<think></think>x", "x", ""),
        ("<think>a</think><reasoning>b</reasoning>x", "x", "a\nb"),
        ("<think>plan, never closed", "", "plan, never closed"),
        ("plan</think>\nx = 1", "x = 1", "plan"),
        ("plan\n</think>x = 1", "x = 1", "plan"),
        # Part of the reply:
        ('x = "<think>a</think>"', 'x = "<think>a</think>"', ""),
        ('x = "</think>" + y', 'x = "</think>" + y', ""),
        ("x = 1\n<think>a</think>\ny = 2", "x = 1\n<think>a</think>\ny = 2", ""),
        ("<thinker>a</thinker>", "<thinker>a</thinker>", ""),
        # HIM-03: the last status stands outside of the thinking
        (
            "<think>if <status>done</status> ...</think><status>not_done</status>",
            "<status>not_done</status>",
            "if <status>done</status> ...",
        ),
        ("", "", ""),
    ],
)
def test_thinking_is_taken_out_and_kept(text: str, left: str, thinking: str) -> None:
    assert without_thinking(text) == (left, thinking)


def test_stop_strings() -> None:
    assert cut_at_stops("a\n# Query: b\nobjects =", ["\nobjects =", "\n# Query:"]) == "a"
    assert cut_at_stops("a", []) == "a"
    assert cut_at_stops("STOP a", ["STOP"]) == ""


def test_text_in_parts() -> None:
    parts = [{"type": "text", "text": "x ="}, {"type": "text", "text": " 1"}, {"type": "image"}]
    body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    reply = read_answer(json.dumps(body), "application/json", "asked", Prices({}))
    assert (reply.text, reply.model, reply.cost_usd) == ("x = 1", "asked", None)
