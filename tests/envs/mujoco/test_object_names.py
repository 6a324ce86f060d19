import pytest

from envs.mujoco.names import Names, plain
from harness.failures import PerceptionFailure, UsageError

KNOWN = Names([("Wine bottle", "bottle"), ("cap", "cap")], {"gripper": "hand", "cap": "nothing"})


@pytest.mark.parametrize("said", ["wine bottle", "Wine_Bottle", "  'wine  bottle'. ", "WINE BOTTLE"])
def test_case_spaces_and_punctuation_around_do_not_matter(said):
    assert KNOWN.find(said) == "bottle"


def test_objects_go_before_aliases():
    assert KNOWN.find("cap") == "cap"
    assert KNOWN.find("gripper") == "hand"


@pytest.mark.parametrize("said", ["bottle", "wine", "winebottle", "caps", "", "...", None, 3, ["cap"]])
def test_anything_else_is_not_found_and_the_failure_names_the_objects(said):
    with pytest.raises(PerceptionFailure, match="'Wine bottle', 'cap'"):
        KNOWN.find(said)


@pytest.mark.parametrize("names", [["cap", "CAP"], ["a b", "a_b"], ["", "cap"], ["!"]])
def test_names_that_cannot_be_told_apart_are_refused(names):
    with pytest.raises(UsageError, match="different"):
        Names([(name, "part") for name in names], {})


def test_plain():
    assert plain(" The_Left  stand! ") == "the left stand"
