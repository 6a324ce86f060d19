"""What the user's words say and ask for: facts to remember, what has changed, and goals. A grammar of general English;
things and places are those whose names are known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.chat.rules.embodied.mentions import Mention, Names
from harness.chat.rules.words import number


@dataclass(frozen=True)
class Look:
    """Look into places, or at them."""

    places: tuple[str, ...]
    """Empty: all that can hide something."""


@dataclass(frozen=True)
class Belong:
    """Put things where they belong: where a rule says, where they were, or where others of their kind are."""

    things: tuple[str, ...]
    """Empty: all of them."""
    where: tuple[str, ...] = ()
    """Places among which theirs is, where it was said."""


@dataclass(frozen=True)
class Serve:
    """Bring to a place something that somebody likes."""

    who: str
    target: str


@dataclass(frozen=True)
class Portions:
    """Put into a place what is drawn on another one, so many times."""

    sheet: str
    """Empty: where something was read before."""
    target: str
    """Empty: where it was put before."""
    times: int = 1
    who: str = ""
    """To whose taste."""
    more: bool = False
    """Whether it comes on top of what was asked for before."""


@dataclass(frozen=True)
class Put:
    """Put things to a place."""

    things: tuple[str, ...]
    """Empty: all of them."""
    target: str


Goal = Look | Belong | Serve | Portions | Put


@dataclass(frozen=True)
class Likes:
    who: str
    what: str


@dataclass(frozen=True)
class Prefers:
    who: str
    better: str
    usual: str


@dataclass(frozen=True)
class Beside:
    """A thing belongs where another one belongs."""

    guest: str
    host: str


Fact = Likes | Prefers | Beside


@dataclass
class Wish:
    """What an utterance comes to."""

    facts: list[Fact] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Places in which the user says that other things are now."""
    swapped: bool = False
    """Whether they hold what the other one held."""
    goals: list[Goal] = field(default_factory=list)


_LIKE = r"(?:likes|loves|enjoys|adores|is fond of|is keen on|is crazy about|favou?rs)"
_LIKES = re.compile(rf"(?P<who>[\w'-]+) (?:really |very much |always )?{_LIKE} (?P<what>[\w' -]+)")
_FAVOURITE = re.compile(r"(?P<who>[\w-]+)'s favou?rites? (?:is|are) (?P<what>[\w' -]+)")
_PREFERS = (
    re.compile(
        r"(?P<who>[\w'-]+) (?:much |always |usually )?prefers (?P<better>.+?) (?:to|over|rather than|instead of) "
        r"(?P<usual>.+)"
    ),
    re.compile(
        r"(?P<who>[\w'-]+) would (?:much )?(?:rather|sooner) (?:have|eat|take|get|want|see) (?P<better>.+?) than "
        r"(?P<usual>.+)"
    ),
    re.compile(rf"(?P<who>[\w'-]+) {_LIKE} (?P<better>.+?) (?:better|more) than (?P<usual>.+)"),
    re.compile(
        r"(?P<who>[\w'-]+) (?:wants|takes|has) (?P<better>.+?) (?:instead of|rather than) (?P<usual>.+)"
    ),
)
_NOBODY = frozenset(
    [
        "that",
        "which",
        "who",
        "it",
        "he",
        "she",
        "they",
        "something",
        "anything",
        "everybody",
        "everyone",
        "one",
        "this",
        "what",
        "whatever",
        "and",
    ]
)
_SAME_PLACE = re.compile(
    r"\b(?:same|shares?|sharing|beside|next to|together with|along with|joins?|with|of|at)\b"
)
_ALWAYS = re.compile(
    r"\b(?:belongs?|shares?|has to|have to|must|shall|should|is to|goes|stands?|lives?|from now on|later)\b"
)
_CHANGED = re.compile(
    r"\b(?:exchanged|swapped|switched|traded|changed|refilled|rearranged|mixed|shuffled|replaced|different|other things|"
    r"anew|new things|something else)\b|\b(?:not|no longer)\b.*\bsame\b"
)
_SWAP = re.compile(r"\b(?:exchanged|swapped|switched|traded|not .*same things any ?more)\b")
_TOLD = re.compile(
    r"\b(?:i|we) (?:have|had|'ve)\b|\b(?:i|we)'ve\b|\b(?:has|have) been\b|\b(?:is|are|do|does)\b"
)
_SOMETHING = re.compile(r"\b(?:something|anything|whatever|what|one|a thing|some|the things?|a treat)\b")
_ONE_MORE = re.compile(
    r"\b(?:one more|another|(?:an? )?(?:additional|extra|further|second)) (?!times?\b|look\b)(?P<what>[a-z][\w-]*)"
)
_TIMES = re.compile(r"\b(?P<count>\w+) (?P<what>batch\w*|times|servings?|helpings?|rounds?)\b")
_TWICE = {"once": 1, "twice": 2, "thrice": 3, "double": 2}
_UNSAID = re.compile(
    r"\b(?:ingredients?|what it (?:says|asks for|shows|needs|lists|calls for)|what (?:is|stands) (?:on|in) it|"
    r"needs?|fill|amounts?|as it says|everything it)\b"
)
_LOOK = re.compile(
    r"\b(?:look|inspect|check|examine|peek|peer|glance|see what|find out|see for yourself|study|search|explore)\b"
)
_READ = re.compile(
    r"\b(?:read|study|consult|follow|look at|check|see|by|according to|as per|from|on|with|what|inspect|examine)\b"
)
_PUT = re.compile(
    r"\b(?:put|place|set|lay|bring|move|sort|tidy|clear|clean|collect|gather|stow|return|restore|store|pack|carry|take|get|"
    r"drop|go|goes|belongs?|file|distribute|throw|deposit|transfer|pick|leave|fetch)\b"
)
_BELONG = re.compile(
    r"\b(?:belongs?|of (?:its|their|the same) (?:sort|kind|type)|(?:of|with) the same (?:sort|kind|type)|where it (?:was|stood|came from|has to)|"
    r"where they (?:were|stood|came from|have to)|(?:in|after) the same (?:manner|way)|away|right (?:one|place|spot|ones|places)|"
    r"(?:its|their) (?:own |right |old |original |proper |usual )?(?:place|spot|home)s?|back|accordingly|matching|fits?|sorted)\b"
)
_ALL = re.compile(r"\b(?:all|every|each|everything)\b")
_THEM = re.compile(r"\b(?:them|they|each|it|those|these|all three|all two|all four|both)\b")
_INTO = re.compile(r"\b(?:into|in|onto|on|to|inside|upon|fill)(?: the| a| an| its| our| my)* $")
_CUT = re.compile(r"(?P<sure>: | so that |, so |, but |, because )|,? (?:and|then|and then) ")
_INTRODUCTION = re.compile(
    r"^(?:and|then|so|also|please|now|later|for later|by the way|note|remember|keep in mind|bear in mind|don't forget|"
    r"you should know|know|mind|be aware|that|,|\s)+\b"
)


def read_wish(text: str, names: Names) -> Wish:
    """Everything that is understood; what is not is passed over."""
    wish = Wish()
    context = _Context()
    sentences = [" ".join(part.split()) for part in re.split(r"[.!?;\n]+", text.lower().replace("’", "'"))]
    sentences = [sentence for sentence in sentences if sentence]
    for sentence in sentences:
        _read_sentence(sentence, names, wish, context)
    portions = _portions(sentences, names, wish)
    if portions is not None:
        wish.goals = [*(goal for goal in wish.goals if isinstance(goal, Serve)), portions]
    looks = [goal for goal in wish.goals if isinstance(goal, Look)]
    wish.goals = [*looks, *(goal for goal in wish.goals if not isinstance(goal, Look))]
    return wish


@dataclass
class _Context:
    """What pronouns can stand for."""

    places: tuple[str, ...] = ()
    things: tuple[str, ...] = ()


def _read_sentence(sentence: str, names: Names, wish: Wish, context: _Context) -> None:
    if fact := _preference(sentence, names):
        wish.facts.append(fact)
        return
    beside = _beside(sentence, names)
    if beside is not None:
        wish.facts.append(beside)
    serve = _serve(sentence, names)
    if serve is not None:
        _notice_change(sentence, names, wish, context)
        wish.goals.append(serve)
        return
    for clause in _clauses(sentence):
        if beside is not None and _beside(clause, names):
            continue
        if _notice_change(clause, names, wish, context):
            continue
        goal = _goal(clause, names, context)
        if goal is not None and goal not in wish.goals:
            wish.goals.append(goal)


def _clauses(sentence: str) -> Iterator[str]:
    """Parts with a verb of their own."""
    start = 0
    for cut in _CUT.finditer(sentence):
        rest = _INTRODUCTION.sub("", sentence[cut.end() :])
        if cut["sure"] or _LOOK.match(rest) or _PUT.match(rest):
            yield sentence[start : cut.start()].strip(" ,")
            start = cut.end()
    yield sentence[start:].strip(" ,")


def _preference(sentence: str, names: Names) -> Fact | None:
    said = _INTRODUCTION.sub("", sentence.rsplit(": ", 1)[-1])
    for pattern in _PREFERS:
        found = pattern.search(said)
        if found and found["who"] not in _NOBODY:
            return Prefers(found["who"], _bare(found["better"]), _bare(found["usual"]))
    for pattern in (_LIKES, _FAVOURITE):
        found = pattern.search(said)
        if found and found["who"] not in _NOBODY and _bare(found["what"]) and not _serve(sentence, names):
            return Likes(found["who"], _bare(found["what"]))
    return None


def _bare(text: str) -> str:
    text = re.sub(r"\b(?:best|most|very much|a lot|best of all|most of all|so much)\b", "", text)
    return re.sub(r"^(?:to \w+ )?(?:the |a |an |all |any )*", "", text.strip(" ,")).strip(" ,")


def _beside(sentence: str, names: Names) -> Beside | None:
    """The first thing belongs where the second one does, if nothing is to be done about it now."""
    things = [
        found for found in names.mentions(sentence) if found.names[0] in names.things and not found.grouped
    ]
    if len(things) != 2:
        return None
    between = sentence[things[0].end : things[1].start]
    if (
        _SAME_PLACE.search(between)
        and _ALWAYS.search(sentence)
        and re.search(r"\bthe $|\bof $|\bwith $", between)
    ):
        return Beside(things[0].names[0], things[1].names[0])
    return None


def _serve(sentence: str, names: Names) -> Serve | None:
    """ "Bring something that Kim likes and put it on the shelf"."""
    found = re.search(rf"(?P<who>[\w'-]+) {_LIKE}(?! (?:the|a) )", sentence)
    if not found or found["who"] in _NOBODY or not _SOMETHING.search(sentence) or not _PUT.search(sentence):
        return None
    target = _target(sentence, names)
    return Serve(found["who"], target) if target else None


def _target(text: str, names: Names) -> str:
    """The last place behind a preposition, of which only one is meant."""
    single = [found for found in names.mentions(text) if not found.grouped and found.names[0] in names.places]
    into = [found.names[0] for found in single if _INTO.search(text[: found.start])]
    needing = [
        found.names[0] for found in single if re.match(r" (?:needs|gets|takes|wants)\b", text[found.end :])
    ]
    found_ = needing or into
    return found_[-1] if found_ else ""


def _notice_change(clause: str, names: Names, wish: Wish, context: _Context) -> bool:
    """ "I have swapped what was in the red cup and in the blue cup"."""
    said = _CHANGED.search(clause)
    if not said or not _TOLD.search(clause) or _LOOK.match(_INTRODUCTION.sub("", clause)):
        return False
    places = _places(names.mentions(clause), names)
    if not places:
        return False
    context.places = places
    wish.changed += [place for place in places if place not in wish.changed]
    wish.swapped = wish.swapped or (len(places) == 2 and bool(_SWAP.search(clause)))
    return True


def _goal(clause: str, names: Names, context: _Context) -> Goal | None:
    mentions = names.mentions(clause)
    places, things = _places(mentions, names), _things(mentions, names)
    said = _INTRODUCTION.sub("", clause)
    if _LOOK.match(said):
        context.places = places or context.places
        return Look(places or context.places)
    if not _PUT.search(clause) or re.match(r"(?:i|we|they|you) \b(?!can|should|must)", said):
        context.things = things or context.things
        return None
    grouped = any(found.grouped for found in mentions if found.names[0] in names.things)
    if not things and _THEM.search(clause):
        things = context.things
    context.things = things or context.things
    everything = not things and bool(_ALL.search(clause) or _THEM.search(clause))
    target = _target(clause, names)
    if target and (things or everything) and not _BELONG.search(clause.replace(target.lower(), "")):
        return Put(() if everything else things, target)
    if _BELONG.search(clause) and (things or everything or grouped):
        return Belong(things, places if len(places) > 1 else ())
    return None


def _places(mentions: Sequence[Mention], names: Names) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for found in mentions for name in found.names if name in names.places))


def _things(mentions: Sequence[Mention], names: Names) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            name
            for found in mentions
            for name in found.names
            if name in names.things and found.names[0] not in names.places
        )
    )


def _portions(sentences: Sequence[str], names: Names, wish: Wish) -> Portions | None:
    """What is drawn somewhere is to be put somewhere. The amounts are on a sheet, so no thing is named but in what
    somebody prefers."""
    text = ". ".join(sentence for sentence in sentences if _preference(sentence, names) is None)
    more = _ONE_MORE.search(text)
    if more and not names.group(more["what"]):
        who = _taste(text)
        return Portions("", _target(text, names), _times(text, default=1), who, more=True)
    mentions = [found for found in names.mentions(text) if not found.grouped]
    if any(found.names[0] in names.things for found in mentions):
        return None
    places = list(dict.fromkeys(found.names[0] for found in mentions))
    if len(places) < 2 or not (_UNSAID.search(text) or _TIMES.search(text)):
        return None
    read = [
        found.names[0]
        for found in mentions
        if _READ.search(text[max(0, found.start - 30) : found.start].rsplit(".", 1)[-1])
    ]
    target = _target(text, names)
    sheet = next((place for place in (*read, *places) if place != target), "")
    return Portions(sheet, target, _times(text, default=1)) if sheet and target else None


def _taste(text: str) -> str:
    """For whom something is."""
    for pattern in (
        r"(?:taste|liking|wish|preference) of (?P<who>[\w-]+)",
        r"(?P<who>[\w-]+)'s (?:taste|liking|wish|preference)",
        r"(?P<who>[\w-]+) (?:prefers|wants|likes|would like)\b",
        r"\b(?:for|to suit) (?P<who>[\w-]+)",
    ):
        found = re.search(pattern, text)
        if found and found["who"] not in _NOBODY and number(found["who"]) is None:
            return str(found["who"])
    return ""


def _times(text: str, default: int) -> int:
    for word, count in _TWICE.items():
        if re.search(rf"\b{word}\b", text):
            return count
    found = _TIMES.search(text)
    count_ = number(found["count"]) if found else None
    return int(count_) if count_ else default
