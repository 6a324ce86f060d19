"""Plays the parts that an episodic memory has for models: the planner's two turns, the planner without memory, the flat
one, the Sentry. Each answer comes from one request and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from harness.chat.rules.embodied import memory
from harness.chat.rules.embodied.beliefs import Beliefs, believe
from harness.chat.rules.embodied.planning import Course, next_subtasks
from harness.chat.rules.embodied.reading import Line, Situation, read
from harness.chat.rules.embodied.sight import Sights
from harness.chat.rules.embodied.subtasks import REST, Move, Subtask, certainty, parse
from harness.protocols import Message

_SURE = 0.7
"""How sure one has to be to call a subtask done."""
_CONFIRMED = "The Sentry says that the current subtask is done"
_UNCONFIRMED = "The current subtask has not been seen done"
_REFUSED = "The executor does not carry out the current subtask"
_PERHAPS = 0.3
"""How sure one has to be when nobody has seen it done for long."""


def answer(messages: Sequence[Message]) -> str:
    """Raises `ProviderError` for what cannot be answered without seeing."""
    situation = read(messages)
    sights = situation.sights()
    if situation.role == "sentry":
        return _sentry(situation, sights)
    beliefs = believe(situation, sights)
    if situation.role == "first turn":
        return _first(situation, beliefs)
    if situation.role == "second turn":
        return _second(situation, beliefs, sights)
    subtasks = next_subtasks(beliefs, Course())
    if situation.role == "flat":
        return _flat(situation, beliefs, subtasks)
    return _single(beliefs, subtasks)


def _sentry(situation: Situation, sights: Sights) -> str:
    sure = certainty(parse(situation.current), sights)
    status = f"<status>{'done' if sure >= _SURE else 'not_done'}</status>"
    return f"{status}\n<confidence>{sure:.2f}</confidence>" if situation.with_confidence else status


def _first(situation: Situation, beliefs: Beliefs) -> str:
    asked = [
        f"<operation><type>QUERY</type><query>{_safe(term)}</query></operation>"
        for term in memory.queries(situation, beliefs)
    ]
    return _reply(_summary(beliefs), asked, [])


def _second(situation: Situation, beliefs: Beliefs, sights: Sights) -> str:
    lines = _judged(situation, Sights(situation.frames))
    left = next_subtasks(beliefs, Course(tuple(lines)))
    done = [line for line in lines if line.state == "done"]
    texts = _worded(left, situation, lines)
    if not done and not texts:
        texts = [REST] if beliefs.wish.facts or beliefs.wish.changed else []
    plan = [f"[done] {line.text}" for line in done]
    plan += [f"[{'pending' if index else 'current'}] {text}" for index, text in enumerate(texts)]
    changed = [_operation(change) for change in memory.changes(situation, beliefs, sights)]
    return _reply(_summary(beliefs), changed, plan)


def _judged(situation: Situation, sights: Sights) -> list[Line]:
    """The plan with the current line as the frames and the Sentry show it."""
    needed = _PERHAPS if _noted(situation, _UNCONFIRMED) else _SURE
    lines = []
    for line in situation.plan:
        is_done = line.state == "current" and (
            _noted(situation, _CONFIRMED) or certainty(parse(line.text), sights) >= needed
        )
        lines.append(Line("done", line.text) if is_done else line)
    return lines


def _noted(situation: Situation, start: str) -> bool:
    return any(note.startswith(start) for note in situation.notes)


def _worded(left: Sequence[Subtask], situation: Situation, lines: Sequence[Line]) -> list[str]:
    """In the plan's own words where it has the same. The subtask under way goes on; one that was refused is said in
    another way."""
    current = next((line.text for line in lines if line.state == "current"), "")
    under_way = parse(current) if current else None
    ordered = list(left)
    for subtask in left:
        if under_way is not None and _is_same(subtask, under_way):
            ordered.remove(subtask)
            ordered.insert(0, subtask)
            break
    texts = [subtask.text() for subtask in ordered]
    if ordered and under_way is not None and _is_same(ordered[0], under_way):
        texts[0] = current
        if _noted(situation, _REFUSED) or _noted(situation, _UNCONFIRMED):
            texts[0] = _otherwise(ordered[0], current)
    return texts


def _is_same(one: Subtask, other: Subtask) -> bool:
    if isinstance(one, Move) and isinstance(other, Move):
        return (one.thing, one.target) == (other.thing, other.target)
    return one == other


def _otherwise(subtask: Subtask, current: str) -> str:
    """Where the thing is believed to be now, or without saying where it is."""
    if isinstance(subtask, Move) and subtask.text() == current:
        return Move(subtask.thing, subtask.target).text()
    return subtask.text()


def _single(beliefs: Beliefs, subtasks: Sequence[Subtask]) -> str:
    complete = not subtasks and bool(beliefs.wish.goals)
    text = subtasks[0].text() if subtasks else ""
    return (
        f"<summary>{_safe(_summary(beliefs))}</summary>\n<subtask>{_safe(text)}</subtask>\n"
        f"<is_complete>{str(complete).lower()}</is_complete>"
    )


def _flat(situation: Situation, beliefs: Beliefs, subtasks: Sequence[Subtask]) -> str:
    action = subtasks[0].text() if subtasks else REST
    return json.dumps({"action": action, "keyframe_positions": _nominated(situation, beliefs)})


def _nominated(situation: Situation, beliefs: Beliefs) -> list[int]:
    """Recent frames that show what no keyframe does: the inside of a place, what is drawn on one, where things stand."""
    recent, old = Sights(situation.frames), Sights(situation.keyframes)
    known = {sight for seen in old.seen for sight in memory.worth_keeping(seen, beliefs)}
    best: dict[object, int] = {}
    for number, seen in enumerate(recent.seen, start=1):
        best.update({sight: number for sight in memory.worth_keeping(seen, beliefs) if sight not in known})
    return sorted(set(best.values()))


def _summary(beliefs: Beliefs) -> str:
    seen = [f"{place} holds {', '.join(beliefs.contents(place)) or 'nothing'}" for place in beliefs.shown]
    held = [f"the gripper holds {beliefs.held}"] if beliefs.held else []
    asked = (
        ", ".join(type(goal).__name__.lower() for goal in beliefs.wish.goals) or "nothing that I understand"
    )
    return f"Seen: {'; '.join((*seen, *held)) or 'nothing that was hidden'}. Asked for: {asked}."


def _reply(summary: str, operations: Sequence[str], plan: Sequence[str]) -> str:
    inside = "\n".join(operations)
    lines = "\n".join(_safe(line) for line in plan)
    return (
        f"<summary>{_safe(summary)}</summary>\n<memory_operations>\n{inside}\n</memory_operations>\n"
        f"<plan_list>\n{lines}\n</plan_list>"
    )


def _operation(change: memory.Change) -> str:
    if isinstance(change, memory.Delete):
        return f"<operation><type>DELETE</type><id>{change.id}</id></operation>"
    statements = change.statements if isinstance(change, memory.Create) else (change.statement,)
    tags, text = memory.describe(statements)
    head = (
        "<type>CREATE</type>"
        if isinstance(change, memory.Create)
        else f"<type>UPDATE</type><id>{change.id}</id>"
    )
    image = f"<image_path>{change.image}</image_path>" if change.image else ""
    return (
        f"<operation>{head}<tags>{_safe(', '.join(tags))}</tags><text>{_safe(text)}</text>{image}</operation>"
    )


def _safe(text: str) -> str:
    return escape(text, quote=False)
