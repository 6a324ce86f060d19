"""General English for robot instructions: verbs by kind of action, prepositions by relation, directions,
numbers and word forms. It holds no nouns for things, so it knows no scene and no task."""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ACTIONS: dict[str, str] = {
    "press": "press push hit tap click poke depress punch bump strike ring trigger thump jab",
    "place": (
        "put place drop throw set toss insert stack lay bring deliver dump chuck deposit slot shoot stick dunk "
        "fling transfer carry store load pack lob sink dispose discard position relocate move release pop send "
        "leave move transport stow"
    ),
    "take": (
        "take remove lift get pull pick extract withdraw fetch retrieve raise hoist detach draw pluck separate "
        "unplug collect slip free"
    ),
    "grasp": "grasp grab hold grip seize clutch pinch catch",
    "open": "open unlock unseal",
    "unscrew": "unscrew uncap uncork untwist unstop",
    "close": "close shut",
    "off": "deactivate extinguish disable",
    "on": "activate start ignite enable",
    "turn": "turn rotate twist spin swivel crank screw",
    "slide": "slide guide run trace shift navigate steer drag move glide pass take",
    "push": "push shove nudge slide move shift",
    "wipe": "wipe sweep clean rub scrub dust mop polish",
    "pour": "pour tip tilt empty spill",
    "reach": "reach go approach touch move",
    "avoid": "avoid dodge",
}
"""Kinds of action and the verbs that can mean them; a verb may stand under several."""

KINDS_OF: dict[str, frozenset[str]] = {}
for _kind, _verbs in ACTIONS.items():
    for _verb in _verbs.split():
        KINDS_OF[_verb] = KINDS_OF.get(_verb, frozenset()) | {_kind}

SWITCHING = word_set("turn switch shut power flip click toggle put")
"""Verbs that with a bare "on" or "off" mean operating a device."""
KINDS_OF |= {verb: KINDS_OF.get(verb, frozenset()) for verb in ("switch", "power", "flip", "toggle")}

NEAR: dict[frozenset[str], float] = {
    word_set(pair): value
    for pair, value in {
        "open unscrew": 0.85,
        "on off": 0.75,
        "off press": 0.6,
        "on press": 0.6,
        "take grasp": 0.6,
        "take unscrew": 0.3,
        "take open": 0.3,
        "turn unscrew": 0.5,
        "open close": 0.3,
        "slide push": 0.6,
        "slide place": 0.3,
        "place push": 0.3,
        "place pour": 0.3,
        "grasp place": 0.3,
        "reach press": 0.3,
        "reach grasp": 0.3,
        "push press": 0.3,
    }.items()
}
"""How much two different kinds of action have in common; equal kinds have 1, unlisted pairs 0."""

RELATIONS: dict[str, str] = {
    "out of": "out",
    "from inside": "out",
    "from within": "out",
    "off of": "off",
    "from the top of": "off",
    "from on top of": "off",
    "on top of": "on",
    "on to": "on",
    "in front of": "front",
    "to the left of": "left",
    "to the right of": "right",
    "on the left of": "left",
    "on the right of": "right",
    "left of": "left",
    "right of": "right",
    "next to": "beside",
    "away from": "away",
    "inside of": "in",
    "in to": "in",
    "into": "in",
    "inside": "in",
    "within": "in",
    "in": "in",
    "through": "in",
    "onto": "on",
    "on": "on",
    "atop": "on",
    "upon": "on",
    "over": "above",
    "above": "above",
    "below": "below",
    "under": "below",
    "underneath": "below",
    "beneath": "below",
    "behind": "behind",
    "beside": "beside",
    "near": "beside",
    "against": "beside",
    "between": "between",
    "off": "off",
    "out": "out",
    "from": "from",
    "of": "of",
    "along": "along",
    "across": "along",
    "towards": "to",
    "toward": "to",
    "to": "to",
    "at": "to",
    "with": "with",
    "using": "with",
    "by": "by",
    "for": "for",
}
"""Prepositions, longest first, and the relation each expresses."""

DIRECTIONS: dict[str, str] = {
    "upwards": "up",
    "upward": "up",
    "up": "up",
    "downwards": "down",
    "downward": "down",
    "down": "down",
    "left": "left",
    "leftwards": "left",
    "leftward": "left",
    "right": "right",
    "rightwards": "right",
    "rightward": "right",
    "forward": "forward",
    "forwards": "forward",
    "ahead": "forward",
    "backward": "backward",
    "backwards": "backward",
    "clockwise": "clockwise",
    "counterclockwise": "counterclockwise",
    "counter-clockwise": "counterclockwise",
    "anticlockwise": "counterclockwise",
    "anti-clockwise": "counterclockwise",
}
"""Words for directions and turns, and the word that plans use for each."""

DETERMINERS = word_set(
    "a an the this that these those its his her their your my our some any one all both each every"
)
PRONOUNS = word_set("it them itself")
DEMONSTRATIVES = word_set("that this those these")
FILLER = word_set(
    "please kindly now just simply then first next finally also again completely fully all robot arm "
    "firmly safely properly entirely so you there here"
)
SLOWLY = word_set("slowly carefully gently")
QUICKLY = word_set("quickly fast rapidly")

_NUMBERS: dict[str, float] = {
    "half": 0.5,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
}
CENTIMETRES: dict[str, float] = {
    unit: length
    for units, length in (
        ("cm centimetre centimetres centimeter centimeters", 1.0),
        ("mm millimetre millimetres millimeter millimeters", 0.1),
        ("m metre metres meter meters", 100.0),
        ("inch inches in", 2.54),
    )
    for unit in word_set(units)
}
"""Units of length in centimetres."""

_TOKEN = re.compile(r"\d+(?:\.\d+)?|[a-z]+(?:[-'][a-z]+)*|[^\sa-z\d]")


def tokens(text: str) -> list[str]:
    """Lower-case words, numbers and punctuation marks; underscores count as spaces."""
    return _TOKEN.findall(text.lower().replace("_", " ").replace("’", "'"))


def number(word: str) -> float | None:
    """The value of a numeral or a number word."""
    if re.fullmatch(r"\d+(?:\.\d+)?", word):
        return float(word)
    return _NUMBERS.get(word)


def singular(word: str) -> str:
    """A noun without its plural ending; other words stay."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and re.search(r"(?:s|x|z|ch|sh)es$", word):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not re.search(r"(?:s|u|i)s$", word):
        return word[:-1]
    return word


def verb(word: str) -> str | None:
    """The base form of a verb of `ACTIONS`, also from -s, -ed and -ing forms; None for other words."""
    for stem in _stems(word):
        if stem in KINDS_OF:
            return stem
    return None


def is_gerund(word: str) -> bool:
    return word.endswith("ing") and verb(word) is not None


def _stems(word: str) -> list[str]:
    stems = [word, _IRREGULAR.get(word, word)]
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            stem = word[: -len(ending)]
            stems += [stem, stem + "e"]
            if len(stem) > 2 and stem[-1] == stem[-2]:
                stems.append(stem[:-1])
    return stems


_IRREGULAR = {
    "took": "take",
    "taken": "take",
    "got": "get",
    "brought": "bring",
    "threw": "throw",
    "thrown": "throw",
    "slid": "slide",
    "drew": "draw",
    "drawn": "draw",
    "held": "hold",
    "went": "go",
    "lies": "lay",
}


def likeness(first: frozenset[str], second: frozenset[str]) -> float:
    """How alike two sets of action kinds are, 0 to 1: the best pair."""
    if not first or not second:
        return 0.0
    return max(1.0 if a == b else NEAR.get(frozenset((a, b)), 0.0) for a in first for b in second)
