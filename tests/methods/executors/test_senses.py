import numpy as np
import pytest

from methods.executors.senses import Senses

TRAY = ((0.35, 0.0, 0.002), (0.05, 0.05, 0.002))


def test_pictures_are_kept_until_the_next_control_step(table):
    world = table(tray=TRAY)
    senses = Senses(world)
    first = senses.view("wrist")
    assert senses.view("wrist") is first
    senses.view("third_person")
    assert world.viewed == 2
    world.act(np.zeros(7))
    assert senses.view("wrist") is not first
    assert world.viewed == 3


def test_names_are_those_of_the_pictures_each_once(table):
    assert Senses(table(tray=TRAY, left_box=TRAY)).names() == ["tray", "left box"]


def test_an_environment_that_lists_what_it_sees_draws_nothing(table):
    world = table(tray=TRAY)
    world.objects = lambda: ["tray", "cup"]
    assert Senses(world).names() == ["tray", "cup"]
    assert world.viewed == 0


def test_what_no_camera_sees_has_no_points(table):
    senses = Senses(table(tray=TRAY))
    assert senses.points("cup") is None
    assert senses.points("tray").mean(0) == pytest.approx([0.35, 0.0, 0.002])


@pytest.mark.parametrize(
    "name", ["subtasks", "current_subtask", "verdict", "utterances", "world", "progress"]
)
def test_it_has_nothing_of_the_oracle(table, name):
    assert not hasattr(Senses(table(tray=TRAY)), name)
