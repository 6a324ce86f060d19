"""What planners and Sentries are asked, as messages. The protocol, its elements and its rules of evidence are
the paper's (appendix D); the words are this project's.

Pictures come behind a message's text; each has a line in it, in their order, that says what it is: `Image 2:
frame 2, control step 140`. Where a picture is annotated, the lines below that one, indented, say what each
camera sees.

A request is a system message and a user message; turn 2 continues turn 1's conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.protocols import Message
from methods.hime.frames import Frame
from methods.hime.operations import Outcome, told
from methods.record_memory import Found, Hit, MemoryRules, Picture, RecordMemory

INSTRUCTION = "Instruction: "
PLAN = "Plan list:"
STEP = "Control step now: "
NOTES = "Notes:"
FRAMES = "Frames:"
CURRENT = "Current subtask: "
MEMORY = "Memory: "
RESULTS = "Results of your queries:"
PICTURES = "Pictures of the records:"
KEYFRAMES = "Keyframes (what you chose to remember, oldest first):"
RECENT = "Recent frames (oldest first):"
NO_PLAN = "(there is no plan yet)"
NO_RECORD = "no record"

_PICTURES = (
    "Each frame is one picture of all cameras at the same moment, side by side. The wrist camera, on the "
    "left, is fixed to the gripper: use it to recognise things, to read, to look into boxes and to see "
    "whether something is held. The camera on the right shows the whole scene: use it for where things and "
    "the arm are. Use both. Where frames are annotated, the lines below a frame name what each camera sees, "
    "with left, top, right and bottom in pixels; a thing that is not named is not seen, which does not say "
    "that it is not there."
)
_ACTIONS = (
    "A subtask is one of two:\n"
    "- `inspect X`: look at a thing or into a box from above. Use it when you lack information.\n"
    "- `pick up X from Y and place it to Z`: move one thing, with the names that the instruction and the "
    "frames use."
)
_EVIDENCE = (
    "Evidence:\n"
    "- Remember only what the user has said or a frame shows. Never invent a record; if you do not know, "
    "plan to inspect.\n"
    "- Trust newer evidence over older. Frames and the user's words go before what is remembered.\n"
    "- Remember what will be out of sight later: what is in a box, where things stood, what somebody likes, "
    "what a card says."
)
_TAGS = (
    "Tags find records. Give 2 to 5 of them, lower case, words joined by `_`: things (toy_duck, left_box), "
    "places (table, inside_left_box), people and what they like (lily, likes). Ask for one tag a query."
)
_PLAN_LIST = (
    "The plan list has one subtask a line, each with its state first: `[done]`, `[current]` for the one to "
    "do next, of which there is exactly one as long as anything is left to do, `[pending]`. A short purpose "
    "may follow in parentheses. If there is a plan already, update it: keep its history and its wording, "
    "mark as [done] only what the frames show to be done, and change the rest as the evidence and the user's "
    "words demand."
)
_FIRST = "This is turn 1. Write QUERY operations only, and leave the plan list empty."
_SECOND = (
    "This is turn 2. Write operations that change the memory, if any are needed, and the complete plan list."
)


@dataclass(frozen=True)
class Request:
    """What a planner is asked about, at one moment."""

    instruction: str
    """What the user wants, the latest words included."""
    plan: str
    """As `Plan.text` gives it; may be empty."""
    step: int
    """Control step."""
    frames: Sequence[Frame]
    notes: Sequence[str] = ()
    """What else it has to know: what the user has just said, why it is asked, what became of its last
    operations."""


def first_turn(request: Request, memory: RecordMemory, contiguous: bool = False) -> list[Message]:
    """Turn 1 of a planner with memory. `contiguous`: the frames are the latest ones, not a sample of the
    whole segment."""
    text = [*_situation(request), MEMORY + _holding(memory)]
    anchors, images = _anchors(request.frames)
    text += [f"{FRAMES}\n{anchors}" if request.frames else f"{FRAMES} none", _FIRST]
    return [
        Message("system", planner_system(memory.rules, contiguous)),
        Message("user", "\n\n".join(text), images),
    ]


def second_turn(
    first: Sequence[Message], reply: str, outcomes: Sequence[Outcome], rules: MemoryRules
) -> list[Message]:
    """Turn 2: turn 1's messages, its reply, and what its queries found. A record is shown under the first
    query that found it, and each distinct picture once."""
    found = [answer for outcome in outcomes for answer in outcome.found]
    results, images = results_text(found, rules)
    refused = told(outcomes)
    text = [results]
    if refused:
        text.append(_list(NOTES, refused))
    return [*first, Message("assistant", reply), Message("user", "\n\n".join([*text, _SECOND]), images)]


def results_text(found: Sequence[Found], rules: MemoryRules) -> tuple[str, tuple[bytes, ...]]:
    """What was found, and the pictures that its anchors `IMG n` stand for."""
    if not found:
        return f"{RESULTS} you asked for nothing.", ()
    shown: set[int] = set()
    pictures: dict[Picture, list[int]] = {}
    lines = [RESULTS]
    for answer in found:
        how = {
            "tag": "by its tag",
            "similar tag": f"by the similar tag {answer.tag}",
            "text": "by text",
            "nothing": "",
        }
        lines.append(
            f"Query `{answer.term}`" + (f", {how[answer.how]}:" if answer.hits else f": {NO_RECORD}")
        )
        for hit in answer.hits:
            if hit.record.id in shown:
                lines.append(f"- record {hit.record.id}, as above")
                continue
            shown.add(hit.record.id)
            if hit.record.picture and rules.modality != "text":
                pictures.setdefault(hit.record.picture, []).append(hit.record.id)
            lines += _hit(len(shown), hit, list(pictures), rules)
    if pictures:
        lines += ["", PICTURES]
        for number, (picture, ids) in enumerate(pictures.items(), start=1):
            of = "record " + ", ".join(map(str, ids))
            lines += [f"IMG {number}: {of}", *_seen(picture)]
    return "\n".join(lines), tuple(picture.png for picture in pictures)


def single_step(request: Request) -> list[Message]:
    """A planner without memory and without a plan: what to do next, from what is seen now."""
    anchors, images = _anchors(request.frames)
    text = [
        *_situation(request, with_plan=False),
        f"{FRAMES}\n{anchors}" if request.frames else f"{FRAMES} none",
    ]
    return [Message("system", _SINGLE), Message("user", "\n\n".join(text), images)]


def flat(request: Request, keyframes: Sequence[Frame]) -> list[Message]:
    """The flat baseline: what to do next, from keyframes and the recent frames, which `request.frames`
    holds."""
    old, old_images = _anchors(keyframes, "keyframe")
    new, new_images = _anchors(request.frames, "recent frame", len(keyframes))
    text = [
        *_situation(request, with_plan=False),
        f"{KEYFRAMES}\n{old or '(none yet)'}",
        f"{RECENT}\n{new or '(none)'}",
    ]
    return [Message("system", _FLAT), Message("user", "\n\n".join(text), (*old_images, *new_images))]


def sentry(plan: str, current: str, window: Sequence[Frame], with_confidence: bool = False) -> list[Message]:
    """Whether the current subtask is done. `plan` as `Plan.text` gives it."""
    anchors, images = _anchors(window)
    text = [f"{PLAN}\n{plan or NO_PLAN}", CURRENT + current, f"{FRAMES}\n{anchors}"]
    form = _SENTRY_FORM + (_CONFIDENCE_FORM if with_confidence else "")
    return [Message("system", f"{_SENTRY}\n\n{form}"), Message("user", "\n\n".join(text), images)]


def planner_system(rules: MemoryRules, contiguous: bool = False) -> str:
    """The rules of the game for a planner with this memory."""
    frames = (
        "The frames are the latest ones, one after the other."
        if contiguous
        else "The frames are spread evenly over the time since the current subtask began; the first and the "
        "last moment are among them."
    )
    parts = [
        "You plan for a robot arm that has one gripper, and you keep its memory. You are given the user's "
        "instruction, the plan list, and frames of what the cameras saw. An executor, which knows nothing "
        "but its subtask and the current picture, carries out the subtask that you mark as current.",
        f"{_PICTURES} {frames}",
        "The memory holds records with an id, tags, and a text or a picture with a caption. It changes by "
        "your operations "
        "only.\n" + _TAGS,
        _operations(rules),
        _EVIDENCE,
        _upkeep(rules),
        "You are asked twice. Turn 1: ask the memory; QUERY operations only, and an empty plan list. Turn "
        "2: you see what your queries found; now change the memory and write the plan list.",
        _PLAN_LIST,
        _ACTIONS,
        _FORM,
    ]
    return "\n\n".join(part for part in parts if part)


def _operations(rules: MemoryRules) -> str:
    forms = ["<operation><type>QUERY</type><query>one tag</query><reason>what for</reason></operation>"]
    picture = "" if rules.modality == "text" else "<image_path>number of a frame</image_path>"
    fields = f"<tags>tag, tag</tags><text>one fact</text>{picture}<reason>why</reason></operation>"
    forms.append(f"<operation><type>CREATE</type>{fields}")
    if rules.manage == "crud":
        forms.append(f"<operation><type>UPDATE</type><id>id of a record</id>{fields}")
        forms.append("<operation><type>DELETE</type><id>id of a record</id><reason>why</reason></operation>")
    notes = []
    if rules.manage == "crud":
        notes.append("An UPDATE changes the fields that it has; leave out the others.")
    if rules.modality == "both":
        notes.append(
            "image_path is the number of one frame of turn 1, and is left out where words say it all; the "
            "text is then its caption."
        )
    if rules.modality == "text":
        notes.append("Records hold text only.")
    if rules.modality == "image":
        notes.append(
            "Every record needs a picture: image_path is the number of one frame of turn 1. Of a record you "
            "are shown its picture only; its tags and its text are there to find it by."
        )
    return "\n".join(["Operations:", *forms, *notes])


def _upkeep(rules: MemoryRules) -> str:
    lines = []
    if rules.manage == "crud":
        lines += [
            "- Create a record for each new fact. When something has changed, create a record of what is so "
            "now, and update the old one to say that it is past.",
            "- Update a record to correct or refine it. Delete sparingly: what is there twice, or was wrong.",
        ]
    else:
        lines.append("- Create a record for each new fact. Records cannot be changed or deleted.")
    if rules.cap is not None and rules.when_full == "evict":
        lines.append(f"- The memory has room for {rules.cap} records: a further one pushes out the oldest.")
    if rules.cap is not None and rules.when_full == "refuse":
        lines.append(
            f"- The memory has room for {rules.cap} records. When it is full, a CREATE fails: write a DELETE "
            "before it, or update a record in its place."
        )
    return "\n".join(["Keeping the memory:", *lines])


def _situation(request: Request, with_plan: bool = True) -> list[str]:
    parts = [INSTRUCTION + request.instruction]
    if with_plan:
        parts.append(f"{PLAN}\n{request.plan or NO_PLAN}")
    parts.append(f"{STEP}{request.step}")
    if request.notes:
        parts.append(_list(NOTES, request.notes))
    return parts


def _holding(memory: RecordMemory) -> str:
    if not len(memory):
        held = "it holds no record yet"
    else:
        held = f"it holds {len(memory)} record{'s' if len(memory) > 1 else ''}"
    return held + (f", and has room for {memory.rules.cap}." if memory.rules.cap is not None else ".")


def _hit(rank: int, hit: Hit, pictures: Sequence[Picture], rules: MemoryRules) -> list[str]:
    record = hit.record
    parts = [f"{rank}. record {record.id}", record.kind if rules.modality != "text" else "text"]
    hidden = rules.modality == "image"
    if not hidden:
        parts.append(f"tags {', '.join(record.tags)}")
    parts += [f"score {hit.score:.2f}", f"control step {record.updated_at}"]
    if record.picture in pictures:
        parts.append(f"IMG {pictures.index(record.picture) + 1}")
    text = [] if hidden else [f"   {line}" for line in record.text.splitlines()]
    return [" | ".join(parts), *text]


def _anchors(frames: Sequence[Frame], what: str = "frame", before: int = 0) -> tuple[str, tuple[bytes, ...]]:
    """A line for each frame, and their pictures; `before` images stand before them in the message."""
    lines = []
    for number, frame in enumerate(frames, start=1):
        lines.append(f"Image {before + number}: {what} {number}, control step {frame.step}")
        lines += _seen(frame.picture)
    return "\n".join(lines), tuple(frame.picture.png for frame in frames)


def _seen(picture: Picture) -> list[str]:
    return [f"   {line}" for line in picture.seen.splitlines()]


def _list(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *(f"- {line}" for line in lines)])


_FORM = (
    "Answer in this form and with nothing else, in both turns:\n"
    "<summary>in a few sentences: what you see, and what you do about it</summary>\n"
    "<memory_operations>operations, or nothing</memory_operations>\n"
    "<plan_list>\n[done] ...\n[current] ...\n[pending] ...\n</plan_list>"
)
_SINGLE = "\n\n".join(
    (
        "You plan for a robot arm that has one gripper. You are given the user's instruction and what the "
        "cameras see now, and you say which subtask is to be carried out next. An executor, which knows "
        "nothing but its subtask and the current picture, carries it out.",
        _PICTURES,
        _ACTIONS,
        "Answer in this form and with nothing else:\n"
        "<summary>in a few sentences: what you see, and what is next</summary>\n"
        "<subtask>the subtask</subtask>\n"
        "<is_complete>true if all that the user wants is done, else false</is_complete>",
    )
)
_FLAT = "\n\n".join(
    (
        "You plan for a robot arm that has one gripper. You are given the user's instruction, keyframes "
        "that you chose earlier, and the most recent frames. Say which subtask is to be carried out next, "
        "and which of the recent frames are worth remembering: those that show what will be needed later "
        "and cannot be seen then. An executor, which knows nothing but its subtask and the current picture, "
        "carries the subtask out.",
        _PICTURES,
        _ACTIONS,
        "Answer with one JSON object and nothing else:\n"
        '{"action": "the subtask", "keyframe_positions": [numbers of recent frames, counted from 1; '
        "may be empty]}",
    )
)
_SENTRY = (
    "You watch a robot arm carry out a subtask. You are given the plan list, the current subtask and the "
    "latest frames, oldest first. Judge one thing only: whether the current subtask is done.\n\n"
    f"{_PICTURES}\n\n"
    "- `inspect` is done when the wrist camera has shown from above what was to be inspected: the inside of "
    "a box down to its bottom, also if it is empty, or a card that can be read.\n"
    "- `pick up ... and place it to ...` is done when the thing has been let go at its destination and the "
    "gripper has left it.\n"
    "- Moving home is done when the arm is back in the pose in which it began.\n"
    "When in doubt, or when frames show only a pause, it is not done."
)
_SENTRY_FORM = (
    "Answer in this form and with nothing else, with one of the two words done and not_done:\n"
    "<status>word</status>"
)
_CONFIDENCE_FORM = "\n<confidence>a number from 0 to 1: how sure you are that it is done</confidence>"
