"""Grammars in llama.cpp's GBNF that a reply is held to, by what a request asks for. They bound how long a program gets
and keep it to calls that the task API has; whether it makes sense they cannot say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.protocols import Message

STEPS, STEP_LENGTH = 16, 120
"""The most lines of a plan, and characters of one step's sentence."""
PLANNER = f"""\
root ::= (step "\\n"){{1,{STEPS}}} "# done"
step ::= "composer(\\"" [^"\\\\\\n\\r]{{1,{STEP_LENGTH}}} "\\")"
"""
"""A plan as the few-shot files have it. Comments before the last line are left out: small models write nothing else."""
_PLANNER = re.compile(r"You (?:complete|rewrite) the program `planner`")


def grammar_of(choice: str, messages: Sequence[Message]) -> str | None:
    """The grammar for a request: that of plans where a plan is asked for or adapted, and none for anything else."""
    asks_for_a_plan = any(_PLANNER.match(message.text) for message in messages if message.role == "system")
    return PLANNER if choice == "planner" and asks_for_a_plan else None
