"""Rewrites a plan in the style of the examples: their words for going home and where in a plan they stand, their
unit of length. What the plan does stays as it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

from harness.chat.rules import sentence as grammar
from harness.chat.rules.planner import sentences_of
from harness.chat.rules.request import fenced_entries
from harness.protocols import Message

_LENGTH = re.compile(r"(?<![\w.])(?P<n>\d+(?:\.\d+)?)(?P<gap> ?)(?P<unit>cm|mm|m)\b")
_METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}
_MOST = 0.5
"""Share of the examples from which on a habit is one."""


def write(messages: Sequence[Message]) -> str | None:
    """The plan of the last message in the style of the examples before it; None if there is no plan."""
    users = [message.text for message in messages if message.role == "user"]
    plans = [sentences_of(code) for _, code in fenced_entries(users[-1])] if users else []
    if not plans or not plans[-1]:
        return None
    shown = [sentences_of(code) for text in users[:-1] for _, code in fenced_entries(text)]
    examples = [sentences for sentences in shown if sentences]
    sentences = _at_home_like(examples, [_measured(said, _unit(examples)) for said in plans[-1]])
    return "\n".join([*(f"composer({json.dumps(said, ensure_ascii=False)})" for said in sentences), "# done"])


def _at_home_like(examples: Sequence[Sequence[str]], sentences: Sequence[str]) -> list[str]:
    """Home steps in the examples' words; at the start and the end where the examples have them."""
    words = Counter(said for example in examples for said in example if is_home(said))
    if not words:
        return list(sentences)
    home = words.most_common(1)[0][0]
    inner = [home if is_home(said) else said for said in sentences]
    for position in (0, -1):
        usual = sum(is_home(example[position]) for example in examples) >= _MOST * len(examples)
        there = bool(inner) and inner[position] == home
        if usual and not there:
            inner.insert(0 if position == 0 else len(inner), home)
        elif there and not usual and not any(is_home(example[position]) for example in examples):
            inner.pop(position)
    return inner


def is_home(said: str) -> bool:
    read = grammar.parse(said)
    return read is not None and read.steps[-1].action == "home"


def _unit(examples: Sequence[Sequence[str]]) -> tuple[str, str] | None:
    """The unit that the examples use most, and what stands between number and unit."""
    found = Counter(
        (match["unit"], match["gap"])
        for example in examples
        for said in example
        for match in _LENGTH.finditer(said)
    )
    return found.most_common(1)[0][0] if found else None


def _measured(said: str, unit: tuple[str, str] | None) -> str:
    if unit is None:
        return said
    name, gap = unit

    def converted(match: re.Match[str]) -> str:
        value = float(match["n"]) * _METRES[match["unit"]] / _METRES[name]
        return f"{round(value, 6):g}{gap}{name}"

    return _LENGTH.sub(converted, said)
