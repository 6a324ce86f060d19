"""Self-reflection: a model looks at how the attempt ended and says what went wrong; the planner then plans again
with that (MTP paper, baselines; after Reflexion)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.protocols import Message
from methods.lmp.prompt import Section, fenced
from methods.lmp.writer import refuse_incomplete
from methods.replan import Attempt, Plain, Proposal, failed_section, last_planned

if TYPE_CHECKING:
    from harness.episode import Episode
    from harness.protocols import Manipulation, View

REFLECTOR = "reflector"
"""Role of the chat model that judges an attempt."""


@dataclass(frozen=True)
class Reflection(Plain):
    """One request for a critique, then the usual one for a plan, which shows critique and failed program."""

    camera: str | None = None
    """Whose final picture is shown; null: the environment's first."""

    @property
    def cameras(self) -> Sequence[str]:
        return (self.camera,) if self.camera else ()

    @property
    def roles(self) -> Sequence[str]:
        return (REFLECTOR,)

    def look(self, env: Manipulation) -> View | None:
        return env.view(self.camera or env.cameras()[0])

    def propose(self, episode: Episode, attempts: Sequence[Attempt]) -> Proposal:
        last = last_planned(attempts)
        trial = episode.current
        assert trial is not None
        trial.record.facts["propose"] = "reflect"  # said also where the critique cannot be used
        reply = episode.chat(REFLECTOR, reflection(episode.instruction, last))
        refuse_incomplete(reply, "the critique")
        critique = reply.text.strip()
        sections = (failed_section(last), Section(f"Critique of that attempt: {critique}"))
        return Proposal(sections=sections, facts={"propose": "reflect", "critique": critique})


def reflection(instruction: str, attempt: Attempt) -> list[Message]:
    """The messages that ask for a critique; the picture of the end is attached."""
    system = (
        "You judge the attempt of a robot arm to carry out an instruction. You are shown its program, what a "
        "camera saw before and after it, and the picture after it, in which things are framed and named.\n"
        "Say in a few sentences which things moved, what the gripper holds, why the attempt failed, and what the "
        "next program should do differently."
    )
    text = [f"Instruction: {instruction}"]
    text += [f"Program:\n\n{fenced(attempt.plan)}"] if attempt.plan else ["There was no program."]
    text += [f"It ended with: {attempt.raised}" if attempt.raised else "The program ran to its end."]
    text += [f"Before the attempt:\n{_seen(attempt.start)}", f"After the attempt:\n{_seen(attempt.end)}"]
    images = (_png(attempt.end),) if attempt.end else ()
    return [Message("system", system), Message("user", "\n\n".join(text), images=images)]


def _seen(view: View | None) -> str:
    if view is None:
        return "no picture"
    lines = [f"- {mark.name}: {' '.join(map(str, mark.box))}" for mark in view.marks]
    state = "open" if view.gripper > 0.5 else "closed"
    return "\n".join(["(left, top, right, bottom in pixels)", *lines, f"The gripper is {state}."])


def _png(view: View) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(view.image).save(buffer, format="PNG")
    return buffer.getvalue()
