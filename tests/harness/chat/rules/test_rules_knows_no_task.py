"""The model has no knowledge of any environment: its source names none of their things and imports none of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import harness.chat.rules
from envs.tabletop import Tabletop

SOURCES = sorted(Path(harness.chat.rules.__file__).parent.glob("*.py"))

PLAIN = {
    "in",
    "the",
    "off",
    "open",
    "take",
    "put",
    "out",
    "of",
    "push",
    "bottom",
    "middle",
    "top",
    "left",
    "right",
}
"""Words of tasks and their things that are verbs, prepositions or words for places in English."""


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower().replace("_", " ")))


def names(task) -> set[str]:
    return words(task.name) | {word for name in task.objects for word in words(name)}


def literals(source: Path) -> str:
    """All strings of a module but its docstrings: what the program can compare words with, or say."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in prose]
    return "\n".join(text for text in texts if isinstance(text, str))


def test_there_is_something_to_look_for_and_somewhere_to_look():
    assert len(SOURCES) > 10
    assert {"handle", "button", "lamp", "drawer"} <= {
        w for task in Tabletop().definitions().values() for w in names(task)
    }
    assert {"press", "unscrew", "towards"} <= {word for source in SOURCES for word in words(literals(source))}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_no_word_for_a_thing_of_the_tabletop_occurs(source):
    text = literals(source)
    known = {word for task in Tabletop().definitions().values() for word in names(task)} - PLAIN
    assert words(text) & known == set()
    for task in Tabletop().definitions().values():
        assert task.name not in text


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_nothing_but_the_messages_is_within_reach(source):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    own = {"harness.failures", "harness.protocols"}
    inside = {name for name in imported if name.startswith("harness.chat.rules")}
    plain = {"__future__", "ast", "collections", "collections.abc", "dataclasses", "difflib", "functools"}
    plain |= {"itertools", "json", "random", "re", "typing"}
    assert imported - own - inside - plain == set()
