"""The grammar of the sentences that planners say to the composer: steps and their manner. It reads; what code a
step becomes is `composer`'s to say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from harness.chat.rules.manner import Manner, take_manner
from harness.chat.rules.places import (
    AMOUNT,
    GRIPPER,
    NUMBER,
    RELATION,
    Place,
    centimetres,
    noun,
    place,
    take_amount,
    take_way,
)
from harness.chat.rules.words import DIRECTIONS, number, word_set

_HOME = re.compile(
    r"(?:go |move |come |return |get |reset )?(?:back )?(?:to )?(?:the |its |your |a )?(?:robot'?s? )?"
    r"(?:default|home|initial|start|starting|neutral|rest|resting|ready)(?: pose| position| configuration)?"
    r"|reset|back|return"
)
_OPEN = re.compile(
    rf"open(?: up)? {GRIPPER}|release(?: .+)?|let go(?: of .+)?|drop(?: (?!.* (?:in|into|on|onto) ).+)?"
)
_CLOSE = re.compile(rf"close {GRIPPER}(?: (?:around|on) (?P<x>.+))?")
_GRASP = re.compile(
    r"(?:grasp|grab|grip|pick up|pick|hold(?: on to| onto)?|take hold of|pinch|seize|clutch|take) (?P<x>.+)"
)
_TURN = r"(?:rotate|turn|twist|spin|screw|unscrew|swivel)"
_AIM = r"(?:face|look at|point (?:at|to|towards?)|aim at)"
_STRAIGHT = re.compile(
    rf"(?:orient|point|{_TURN}) {GRIPPER} (?:to be |to )?(?:facing |pointing |point |face )?(?:straight )?"
    r"(?P<x>down|downwards?|up|upwards?|forwards?|vertical(?:ly)?)"
)
_FACE = re.compile(
    rf"(?:(?:{_TURN}|orient|align) {GRIPPER} (?:to |so that it ){_AIM}s?"
    rf"|{_AIM}|(?:orient|align|point) {GRIPPER} (?:to|towards?|with|at)) (?P<x>.+)"
)
_TILT = re.compile(
    rf"tilt(?: {GRIPPER})?(?: by {NUMBER} degrees?)?"
    r"(?: (?:to(?:wards)? the |towards? )?(?P<way>front|back|left|right|forwards?|backwards?))?"
)
_CLOCKWISE = re.compile(r" ?\b(?P<counter>(?:counter|anti)-?)?clockwise\b(?: direction)?")
_DEGREES = re.compile(rf" ?(?:\bby )?{NUMBER} ?(?:degrees?|°)")
_PRESS_DOWN = re.compile(r"(?:press|push|hit|tap|click|poke) (?:down |in )(?:on |onto )?(?P<x>.+)")
_PRESS = re.compile(
    r"(?:(?:press|push)(?: on| onto| into)?|hit|tap|click|poke) (?P<x>.+?)(?: down| inwards?| in| deep(?:ly)?)?"
)
_DEPTH = re.compile(
    rf"(?: until it is| (?:to|with) a depth of| by)? {AMOUNT}(?: (?:deep(?:er)?|down(?:wards?)?|in(?:wards?)?))?"
    r"(?= on\b| onto\b| into\b|$)"
)
_PUSH = r"(?:push|slide|shove|nudge)"
_PUSH_TO = re.compile(rf"{_PUSH} (?P<x>.+?) (?:to|towards?|until|into|onto|against) (?P<place>.+)")
_MOVE = re.compile(
    r"(?P<verb>move|go|come|reach|shift|travel|hover|navigate|lower|descend|lift|raise|pull|ascend|rise|approach"
    rf"|place|put|bring|retreat|back off|position)(?: {GRIPPER}(?= |$))?(?: (?P<rest>.+))?"
)
_USUAL_WAY = {
    "lower": "down",
    "descend": "down",
    "lift": "up",
    "raise": "up",
    "ascend": "up",
    "rise": "up",
    "retreat": "backward",
    "back off": "backward",
    "pull": "backward",
}
_LEAVE = re.compile(r"(?:away |off |back )?from (?P<x>.+)|(?:away|off) (?P<y>.+)")
_APPROACH = re.compile(r"(?:towards?|into) (?P<x>.+)")
_PLACE_START = re.compile(
    rf"(?:to|towards?|into|in|at|between|by)\b|\d|(?:{RELATION})\b|the (?:center|centre|top|middle|left|right|front|back)\b"
)
_CARRY = re.compile(r"(?P<x>.+?) (?P<place>(?:to|towards?|into|onto|in|on) .+)")
_MOVING = word_set("move go descend lower lift raise")


@dataclass(frozen=True)
class Step:
    """One movement. `action` is home, open, close, grasp, go, shift (by a distance), leave and approach (along
    the direction that a thing faces), press, push, face, turn (the gripper), twist (a thing) or tilt. `thing` is
    a noun phrase; `way` a direction word; `amount` is centimetres, or degrees for turns."""

    action: str
    thing: str = ""
    place: Place | None = None
    way: str = ""
    amount: float | None = None


@dataclass(frozen=True)
class Sentence:
    """Steps in order, and the manner that holds for all of them."""

    steps: tuple[Step, ...]
    manner: Manner = field(default_factory=Manner)

    @property
    def things(self) -> tuple[str, ...]:
        """The noun phrases for things in it."""
        named: list[str] = []
        for step in self.steps:
            named += [step.thing, *(step.place.things if step.place else ())]
        for _, joined in self.manner.avoid:
            named += joined.split(" and ")
        return tuple(dict.fromkeys(name for name in (noun(thing) for thing in named) if name))


def parse(text: str) -> Sentence | None:
    """None for a sentence that the grammar does not cover."""
    plain, manner = take_manner(" ".join(text.split()).rstrip(". "))
    steps: list[Step] = []
    for part in re.split(r"\s*(?:, and then |, then | and then |; | then |, and |, )\s*", plain):
        for piece in _conjuncts(part):
            step = _step(piece)
            if step is None:
                return None
            steps.append(step)
    return Sentence(tuple(steps), manner) if steps else None


def _conjuncts(text: str) -> list[str]:
    """Split at an "and" that joins two steps, not two things."""
    parts = text.split(" and ")
    for i in range(1, len(parts)):
        left, right = " and ".join(parts[:i]), " and ".join(parts[i:])
        second = _step(right)
        if second is not None and (second.action != "go" or right.split()[0] in _MOVING) and _step(left):
            return [left, *_conjuncts(right)]
    return [text]


def _step(text: str) -> Step | None:
    text = re.sub(r"^(?:please |then |now |next |finally |and )+", "", text.strip())
    for reader in (_hand, _turn, _push, _press, _move):
        step = reader(text)
        if step is not None:
            return step
    return None


def _hand(text: str) -> Step | None:
    if _HOME.fullmatch(text):
        return Step("home")
    if _OPEN.fullmatch(text):
        return Step("open")
    if found := _CLOSE.fullmatch(text):
        return Step("grasp", noun(found["x"]), place(found["x"])) if found["x"] else Step("close")
    if found := _GRASP.fullmatch(text):
        held = place(found["x"])
        return Step("grasp", held.things[0], held) if held else None
    return None


def _turn(text: str) -> Step | None:
    if found := _STRAIGHT.fullmatch(text):
        return Step("face", DIRECTIONS.get(found["x"], "down"))
    if found := _FACE.fullmatch(text):
        return Step("face", DIRECTIONS.get(found["x"], noun(found["x"])))
    if found := _TILT.fullmatch(text):
        way = {"front": "forward", "back": "backward"}.get(
            found["way"], DIRECTIONS.get(found["way"], "forward")
        )
        return Step("tilt", way=way, amount=number(found["n"]) if found["n"] else None)
    if found := re.fullmatch(rf"{_TURN} (?P<x>.+)", text):
        rest, degrees = found["x"], None
        way = "counterclockwise" if text.startswith("unscrew") else "clockwise"
        if turned := _CLOCKWISE.search(rest):
            way = "counterclockwise" if turned["counter"] else "clockwise"
            rest = rest[: turned.start()] + rest[turned.end() :]
        if measured := _DEGREES.search(rest):
            degrees = number(measured["n"])
            rest = rest[: measured.start()] + rest[measured.end() :]
        thing = noun(re.sub(r" (?:off|open|on|in|by)$", "", rest.strip()))
        return Step("twist" if thing else "turn", thing, way=way, amount=degrees)
    return None


def _press(text: str) -> Step | None:
    """A push, too, where it is one into the thing: without a direction or a goal."""
    bare, depth = _without_depth(text)
    if _PUSH_TO.fullmatch(bare):
        return None
    if found := _PRESS_DOWN.fullmatch(bare) or _PRESS.fullmatch(bare):
        return Step("press", noun(found["x"]), amount=depth)
    return None


def _without_depth(text: str) -> tuple[str, float | None]:
    """The sentence without how deep to press: "3cm deep", "down by 2 cm", "to a depth of 5mm"."""
    found = _DEPTH.search(text)
    if found is None:
        return text, None
    return text[: found.start()] + text[found.end() :], centimetres(found)


def _push(text: str) -> Step | None:
    bare, amount = take_amount(text)
    bare, way = take_way(bare)
    if amount is None:
        bare, amount = take_amount(bare)  # "by 10cm to the left"
    if way and (found := re.fullmatch(rf"{_PUSH} (?P<x>.+)", bare)):
        return Step("press" if way == "down" else "push", noun(found["x"]), way=way, amount=amount)
    found = _PUSH_TO.fullmatch(text)
    if found is None or take_amount(found["x"])[1] is not None or _without_depth(text)[1] is not None:
        return None  # by how much and where to are two targets
    return Step("push", noun(found["x"]), place(found["place"]))


def _move(text: str) -> Step | None:
    found = _MOVE.fullmatch(text)
    if found is None:
        return None
    verb, whole = found["verb"], found["rest"] or ""
    usual = _USUAL_WAY.get(verb, "")
    rest, amount = take_amount(whole)
    if leave := _LEAVE.fullmatch(rest):
        return Step("leave", noun(leave["x"] or leave["y"]), amount=amount)
    if amount is not None and (near := _APPROACH.fullmatch(rest)):
        return Step("approach", noun(near["x"]), amount=amount)
    rest, way = take_way(rest)
    if not rest:
        return Step("shift", way=way or usual, amount=amount) if way or usual else None
    if _PLACE_START.match(rest) or verb in ("go", "come", "reach", "hover", "approach", "travel", "navigate"):
        goal = place(re.sub(r"^(?:to|towards?) ", "", whole))
        return Step("go", place=goal) if goal else None
    return _carry(rest, way, usual, amount)


def _carry(rest: str, way: str, usual: str, amount: float | None) -> Step | None:
    """A thing is moved: in the gripper if it goes up or down or is lifted, else by pushing it."""
    if (found := _CARRY.fullmatch(rest)) and not way:
        goal = place(re.sub(r"^(?:to|towards?) ", "", found["place"]))
        return Step("push", noun(found["x"]), goal) if goal else None
    if usual or way in ("up", "down"):
        return Step("shift", way=way or usual, amount=amount)
    return Step("push", noun(rest), way=way, amount=amount) if way else Step("go", place=place(rest))
