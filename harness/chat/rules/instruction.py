"""Reads an instruction: its clauses, joined to what a robot has to do, what to keep away from, and the pace."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from harness.chat.rules import words
from harness.chat.rules.clause import GOALS, OBJECT, SOURCES, Clause, Role, noun_phrase, read_clause
from harness.chat.rules.segments import commands, segments

_AVOIDING = re.compile(
    r"^(?:while |and |but |by )*(?:(?:don't|without) (?:touch\w*|hit\w*|bump\w*|disturb\w*|go\w* near|com\w* near)(?: into)?"
    r"|(?:avoid|dodg)\w*(?: touching| hitting)?"
    r"|keep\w* (?:\w+ ){1,4}?(?:off|away from|clear of)(?: of)?"
    r"|(?:keep|stay|remain)\w*(?: at least)?(?: [\d.]+ ?\w+)? (?:away|far|clear|[\d.]+ ?\w+) (?:away )?(?:from|of))\s+"
)
_LEAVING = re.compile(r"^leav\w* .*\b(?:alone|untouched|in place|where .*)$")


@dataclass(frozen=True)
class Instruction:
    clauses: tuple[Clause, ...]
    avoid: tuple[str, ...] = ()
    pace: str = ""
    """"slow", "fast" or empty."""


def parse(text: str, names: Collection[str] = ()) -> Instruction:
    """`names` are the things of the scene: their words are not read as verbs."""
    said = commands(text)
    nouns = frozenset(word for name in names for word in words.tokens(name))
    clauses: list[Clause] = []
    avoid: list[str] = []
    pace = "slow" if words.SLOWLY & set(said) else "fast" if words.QUICKLY & set(said) else ""
    for link, segment in segments(said, nouns):
        kept_off = _AVOIDING.match(" ".join(segment))
        if kept_off:
            rest = " ".join(segment)[kept_off.end() :]
            avoid += [
                _referent(noun_phrase(part.split()), clauses) for part in re.split(r" and | or |,", rest)
            ]
            continue
        if _LEAVING.search(" ".join(segment)):
            continue
        _join(clauses, link, read_clause(segment))
    return Instruction(tuple(_distribute(clauses)), tuple(filter(None, avoid)), pace)


def _referent(phrase: str, clauses: list[Clause]) -> str:
    """What a pronoun stands for: the thing that was named last."""
    if phrase not in words.PRONOUNS:
        return phrase
    named = [role.phrase for clause in clauses for role in clause.roles if role.phrase]
    return named[-1] if named else ""


def _join(clauses: list[Clause], link: str, clause: Clause) -> None:
    """Join a clause to those before it: means replace goals, pronouns are resolved, preparations dropped."""
    before = clauses[-1] if clauses else None
    if before is None:
        clauses.append(clause)
        return
    if before.verb == "use" and link == "to":
        clauses[-1] = replace(clause, roles=(*clause.roles, Role("with", before.phrase(OBJECT))))
        return
    if link == "to":
        return
    if not before.kinds and before.verb not in words.KINDS_OF and clause.kinds:
        # "I need something out of the box, so open it": the first part only says what is talked about
        named = [role.phrase for role in before.roles]
        clauses[-1] = _with_object(clause, named[-1]) if clause.refers and named else clause
        return
    refers = clause.refers
    if refers:
        clause = _with_object(clause, before.phrase(OBJECT))
    if link == "by":
        clauses[-1] = clause
    elif refers and before.kinds & {"turn", "unscrew"} and clause.kinds & {"take", "open", "grasp"}:
        kept = tuple(role for role in clause.roles if role.relation != OBJECT and role.phrase)
        clauses[-1] = replace(before, kinds=frozenset({"unscrew"}), roles=(*before.roles, *kept))
    elif refers and clause.verb in ("release", "let", "return"):
        return
    elif before.kinds <= {"reach"} or (
        refers and before.kinds & {"take", "grasp"} and not before.relations & GOALS
    ):
        kept = tuple(role for role in before.roles if role.relation in SOURCES and role.phrase)
        clauses[-1] = replace(clause, roles=(*clause.roles, *kept))
    else:
        clauses.append(clause)


def _with_object(clause: Clause, phrase: str) -> Clause:
    others = tuple(role for role in clause.roles if role.relation != OBJECT)
    return replace(clause, roles=(Role(OBJECT, phrase), *others) if phrase else others, refers=False)


def _distribute(clauses: list[Clause]) -> list[Clause]:
    """ "put the fork and the spoon in the case" is two clauses."""
    spread = []
    for clause in clauses:
        parts = [part for part in clause.phrase(OBJECT).split(" and ") if part] or [clause.phrase(OBJECT)]
        for part in parts:
            roles = tuple(replace(r, phrase=part) if r.relation == OBJECT else r for r in clause.roles)
            spread.append(replace(clause, roles=roles))
    return spread
