"""The few-shot files of the worlds, and the model `rules` asked with them, for tests."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from harness.chat.rules.model import RulesModel
from harness.protocols import Sampling
from methods.lmp.prompt import PROGRAMS, Example, load_examples, messages, request

ENVS = Path(__file__).parents[2] / "envs"
FOLDERS = {folder.parent.name: folder for folder in sorted(ENVS.glob("*/prompts"))}
"""Of each world that has such files."""


def of(world: str) -> list[tuple[str, Example]]:
    """All examples of a world, each with its program."""
    return [(program, example) for program in PROGRAMS for example in load_examples(FOLDERS[world], program)]


def by_query(example: Example) -> str:
    return example.query


def names_in(context: str) -> list[str]:
    return ast.literal_eval(context.partition("=")[2].strip()) if context else []


def ask(
    program: str, query: str, objects: Sequence[str], examples: Sequence[Example], frame: str = ""
) -> str:
    """The answer of `rules`."""
    asked = messages(request(program, query, objects), examples, frame)
    return RulesModel().complete(asked, Sampling()).text


def ask_as(program: str, example: Example, examples: Sequence[Example]) -> str:
    """The answer of `rules` to an example's query."""
    return ask(program, example.query, names_in(example.context), examples)
