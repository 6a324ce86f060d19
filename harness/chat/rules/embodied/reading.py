"""Reads what a planner or a Sentry of an episodic memory is asked: a conversation as a situation. The layout is the one
of `docs/contracts.md`. What users and records say is taken as text and never as part of the layout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.chat.rules.embodied.sight import Mark, Shot, Sights
from harness.failures import ProviderError
from harness.protocols import Message

Role = Literal["first turn", "second turn", "single step", "flat", "sentry"]
State = Literal["done", "current", "pending"]

_PLANS = "You plan for a robot arm"
_WATCHES = "You watch a robot arm"
_KEEPS = "you keep its memory"
_CHOSE = "keyframes that you chose"
_RESULTS = "Results of your queries"
_SECTIONS = (
    "Instruction: ",
    "Plan list:",
    "Control step now: ",
    "Notes:",
    "Current subtask: ",
    "Memory: ",
    "Keyframes",
    "Recent frames",
    "Frames:",
    "Pictures of the records:",
)
_ANCHOR = re.compile(r"Image \d+: (?P<what>\w+(?: \w+)*) (?P<number>\d+), control step (?P<step>\d+)")
_CAMERA = re.compile(r" {3}(?P<camera>[^:]+): (?P<marks>.*)")
_MARK = re.compile(r"(?P<name>.+) (?P<box>\d+ \d+ \d+ \d+)")
_LINE = re.compile(r"\[(?P<state>done|current|pending)\] (?P<text>.*?)(?: \([^()]*\))?")
_HIT = re.compile(
    r"\d+\. record (?P<id>\d+) \| (?P<kind>\w+)(?: \| tags (?P<tags>[^|]*))? \| score \S+ \| control step (?P<step>\d+)"
    r"(?: \| IMG \d+)?"
)
_PICTURE = re.compile(r"IMG \d+: record (?P<ids>\d+(?:, \d+)*)")
_ROOM = re.compile(r"has room for (\d+)")


@dataclass(frozen=True)
class Line:
    """A line of the plan list."""

    state: State
    text: str


@dataclass(frozen=True)
class Record:
    """What a query found. Without `text` its picture is all that is shown of it."""

    id: int
    step: int
    tags: tuple[str, ...] = ()
    text: str = ""
    shot: Shot | None = None


@dataclass(frozen=True)
class Upkeep:
    """What the memory allows."""

    changes: bool = True
    """Whether records can be updated and deleted."""
    cap: int | None = None
    refuses: bool = False
    """Whether a full memory takes no further record; else it drops the oldest."""
    modality: Literal["text", "image", "both"] = "both"


@dataclass(frozen=True)
class Situation:
    role: Role
    instruction: str = ""
    plan: tuple[Line, ...] = ()
    step: int = 0
    notes: tuple[str, ...] = ()
    current: str = ""
    """Of a Sentry: what is to be judged."""
    frames: tuple[Shot, ...] = ()
    """The frames of now, in the order in which they are numbered."""
    keyframes: tuple[Shot, ...] = ()
    records: tuple[Record, ...] = ()
    size: int = 0
    """How many records the memory holds."""
    upkeep: Upkeep = Upkeep()
    with_confidence: bool = False

    def sights(self) -> Sights:
        """All that is shown, oldest first."""
        remembered = (record.shot for record in self.records if record.shot)
        return Sights(sorted((*remembered, *self.keyframes, *self.frames), key=lambda shot: shot.step))


def is_embodied(system: str) -> bool:
    """Whether a system message gives one of the roles that are read here."""
    return system.startswith((_PLANS, _WATCHES))


def read(messages: Sequence[Message]) -> Situation:
    """Raises `ProviderError` when the pictures have no lines that say what they show: this model cannot see."""
    system = "\n".join(message.text for message in messages if message.role == "system")
    asked = [message for message in messages if message.role == "user"]
    if not asked:
        raise ProviderError("The model `rules` was given a planner's or a Sentry's part and no question.")
    parts = _sections(asked[0].text)
    keyframes, frames = _shots(parts.get("Keyframes", "")), _shots(_frames(parts))
    results = [message for message in asked[1:] if message.text.startswith(_RESULTS)]
    records = _records(results[-1].text) if results else ()
    pictures = sum(len(message.images) for message in asked)
    described = [*frames, *keyframes, *(record.shot for record in records if record.shot)]
    if pictures and not described:
        raise ProviderError(
            f"The model `rules` does not look at pixels, and nothing is written below the {pictures} pictures of this "
            "request. It knows what a camera sees only from the lines below a frame: annotate the frames, which takes "
            "an environment that names what its cameras see, or use a model that sees (llm=...)."
        )
    return Situation(
        role=_role(system, bool(results)),
        instruction=parts.get("Instruction: ", ""),
        plan=_plan(parts.get("Plan list:", "")),
        step=int("0" + "".join(re.findall(r"^\d+", parts.get("Control step now: ", "")))),
        notes=tuple(line.removeprefix("- ") for line in parts.get("Notes:", "").split("\n") if line.strip()),
        current=parts.get("Current subtask: ", "").strip(),
        frames=frames,
        keyframes=keyframes,
        records=records,
        size=int("0" + "".join(re.findall(r"holds (\d+) record", parts.get("Memory: ", "")))),
        upkeep=_upkeep(system),
        with_confidence="<confidence>" in system,
    )


def _role(system: str, has_results: bool) -> Role:
    if system.startswith(_WATCHES):
        return "sentry"
    if _KEEPS in system:
        return "second turn" if has_results else "first turn"
    return "flat" if _CHOSE in system else "single step"


def _sections(text: str) -> Mapping[str, str]:
    """Heading to what stands below it. Read from the end, where no user has written: of a heading that is there twice
    the later one is the layout's, and no earlier section can hold a later one's."""
    found: dict[str, str] = {}
    end = len(text)
    for heading in reversed(_SECTIONS):
        for start in _starts(text[:end], heading):
            found[heading] = text[start + len(heading) : end].strip("\n")
            end = start
            break
    return found


def _starts(text: str, heading: str) -> Iterable[int]:
    start = text.rfind("\n\n" + heading)
    if start >= 0:
        yield start + 2
    elif text.startswith(heading):
        yield 0


def _frames(parts: Mapping[str, str]) -> str:
    return parts.get("Frames:", "") or parts.get("Recent frames", "")


def _shots(text: str) -> tuple[Shot, ...]:
    """One for each frame with lines below it; in a request either all frames have them or none has."""
    found: list[Shot] = []
    lines = text.split("\n")
    for index, line in enumerate(lines):
        anchor = _ANCHOR.fullmatch(line)
        if anchor:
            shot = _shot(int(anchor["step"]), lines[index + 1 :])
            if shot is not None:
                found.append(shot)
    return tuple(found)


def _shot(step: int, lines: Sequence[str]) -> Shot | None:
    """What the lines at the head say of the cameras."""
    cameras: list[tuple[Mark, ...]] = []
    for line in lines:
        camera = _CAMERA.fullmatch(line)
        if camera is None:
            break
        cameras.append(_marks(camera["marks"]))
    return Shot(step, cameras[0], cameras[1] if len(cameras) > 1 else ()) if cameras else None


def _marks(text: str) -> tuple[Mark, ...]:
    found = (_MARK.fullmatch(part) for part in text.split("; "))
    return tuple(Mark(mark["name"], *map(int, mark["box"].split())) for mark in found if mark)


def _plan(text: str) -> tuple[Line, ...]:
    found = (_LINE.fullmatch(line.strip()) for line in text.split("\n"))
    return tuple(Line(_state(line["state"]), line["text"].strip()) for line in found if line)


def _state(word: str) -> State:
    return "done" if word == "done" else "current" if word == "current" else "pending"


def _records(text: str) -> tuple[Record, ...]:
    """By id. The lines of a record's text are indented, so none of them is taken for a record."""
    listed, _, pictured = text.rpartition("\nPictures of the records:\n")
    if not listed:
        listed, pictured = text, ""
    shots: dict[int, Shot] = {}
    lines = pictured.split("\n")
    steps: dict[int, int] = {}
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in listed.split("\n"):
        if hit := _HIT.fullmatch(line):
            found.append((hit, []))
            steps[int(hit["id"])] = int(hit["step"])
        elif found and line.startswith("   "):
            found[-1][1].append(line[3:])
    for index, line in enumerate(lines):
        if picture := _PICTURE.fullmatch(line):
            for number in map(int, picture["ids"].split(", ")):
                shot = _shot(steps.get(number, 0), lines[index + 1 :])
                if shot is not None:
                    shots[number] = shot
    records = {
        int(hit["id"]): Record(
            id=int(hit["id"]),
            step=int(hit["step"]),
            tags=tuple(tag for tag in (hit["tags"] or "").split(", ") if tag),
            text="\n".join(body),
            shot=shots.get(int(hit["id"])),
        )
        for hit, body in found
    }
    return tuple(records[number] for number in sorted(records))


def _upkeep(system: str) -> Upkeep:
    room = _ROOM.search(system)
    if "Records hold text only" in system:
        modality: Literal["text", "image", "both"] = "text"
    else:
        modality = "image" if "Every record needs a picture" in system else "both"
    return Upkeep(
        changes="<type>UPDATE</type>" in system,
        cap=int(room[1]) if room else None,
        refuses=room is not None and "a CREATE fails" in system,
        modality=modality,
    )
