"""What an instruction is read as."""

from __future__ import annotations

import pytest

from harness.chat.rules.instruction import parse


def read(text: str, names: tuple[str, ...] = ()) -> list[tuple[set[str], dict[str, str]]]:
    return [(set(c.kinds), {r.relation: r.phrase for r in c.roles}) for c in parse(text, names).clauses]


@pytest.mark.parametrize(
    ("text", "kind", "roles"),
    [
        ("put the cup in the pot", "place", {"object": "cup", "in": "pot"}),
        ("Could you please place the cup inside of the pot?", "place", {"object": "cup", "in": "pot"}),
        ("pick up the cup, then drop it into the pot", "place", {"object": "cup", "in": "pot"}),
        ("the cup should be in the pot", "place", {"object": "cup", "in": "pot"}),
        ("get rid of the peel", "place", {"object": "peel"}),
        ("turn off the fan", "off", {"object": "fan"}),
        ("turn the fan off", "off", {"object": "fan"}),
        ("the fan should not be on any more", "off", {"object": "fan"}),
        ("the fan must be off", "off", {"object": "fan"}),
        ("switch on the fan", "on", {"object": "fan"}),
        ("press down on the bell", "press", {"object": "bell"}),
        ("make the fan go off", "off", {"object": "fan"}),
        ("please make sure that the fan is off", "off", {"object": "fan"}),
        ("have the fan be switched on", "on", {"object": "fan"}),
        ("the bell has to be pressed", "press", {"object": "bell"}),
        ("give the bell a push", "press", {"object": "bell"}),
        ("switch the fan off by pressing the key", "press", {"object": "key"}),
        ("press the key to turn off the fan", "press", {"object": "key"}),
        ("press the key so that the fan stops", "press", {"object": "key"}),
        ("go to the bell and press it", "press", {"object": "bell"}),
        ("unscrew the seal from the jar", "unscrew", {"object": "seal", "from": "jar"}),
        ("twist the seal and pull it off", "unscrew", {"object": "seal"}),
        ("screw the seal off the jar", "unscrew", {"object": "seal", "off": "jar"}),
        ("screw off the seal", "unscrew", {"object": "seal", "off": ""}),
        ("screw the seal onto the jar", "turn", {"object": "seal", "on": "jar"}),
        ("take off the hood", "take", {"object": "hood", "off": ""}),
        ("take the hood off the pot", "take", {"object": "hood", "off": "pot"}),
        ("grasp the arrow and slide it out of the quiver", "take", {"object": "arrow", "out": "quiver"}),
        ("slide the upper crate open", "open", {"object": "upper crate"}),
        ("I need something from the upper crate, so open it", "open", {"object": "upper crate"}),
        ("push the door shut", "close", {"object": "door"}),
        ("use the rag to wipe the desk", "wipe", {"object": "desk", "with": "rag"}),
        ("put the cup to the left of the pot", "place", {"object": "cup", "left": "pot"}),
    ],
)
def test_kind_and_roles(text, kind, roles):
    assert read(text) == [({kind}, roles)]


def test_direction_amount_and_pace():
    clause = parse("slowly push the boat to the right by 0.2 m").clauses[0]
    assert (clause.kinds, clause.direction, clause.amount, clause.unit) == ({"push"}, "right", 20.0, "cm")
    assert parse("slowly push the boat").pace == "slow"
    turn = parse("turn the wheel anti-clockwise by 45 degrees").clauses[0]
    assert (turn.direction, turn.amount, turn.unit) == ("counterclockwise", 45.0, "degrees")


@pytest.mark.parametrize(
    ("text", "avoided"),
    [
        ("put the cup in the pot without touching the vase", ("vase",)),
        ("put the cup in the pot and stay away from the vase", ("vase",)),
        ("put the cup in the pot, keeping clear of the vase and the jug", ("vase", "jug")),
        ("put the cup in the pot; avoid the vase", ("vase",)),
        ("put the cup in the pot, but don't bump into the vase", ("vase",)),
        ("put the cup in the pot, leaving everything else alone", ()),
    ],
)
def test_what_to_avoid_is_no_clause(text, avoided):
    read_as = parse(text)
    assert len(read_as.clauses) == 1
    assert read_as.avoid == avoided


def test_conjoined_objects_are_clauses_and_conjoined_actions_too():
    assert read("put the cup and the can in the pot") == [
        ({"place"}, {"object": "cup", "in": "pot"}),
        ({"place"}, {"object": "can", "in": "pot"}),
    ]
    assert [kinds for kinds, _ in read("open the crate and press the bell")] == [{"open"}, {"press"}]


def test_a_things_name_is_not_read_as_a_verb():
    named = read("put the fork and slide rule in the case", ("fork", "slide rule", "case"))
    assert [roles["object"] for _, roles in named] == ["fork", "slide rule"]
    named = read("put the nut and screw in the case", ("nut", "screw", "case"))
    assert [roles["object"] for _, roles in named] == ["nut", "screw"]


@pytest.mark.parametrize("text", ["", "...", "gloop", "the", "and then", "?!", "über die Brücke", "a" * 5000])
def test_nonsense_is_read_without_an_error(text):
    for clause in parse(text).clauses:
        assert not clause.kinds
