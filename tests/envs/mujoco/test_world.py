import subprocess
import sys

import numpy as np
import pytest

from envs.mujoco.environment import ManipulationEnvironment
from envs.mujoco.task import PandaTask
from envs.mujoco.world import Crowded, World
from envs.playtable import Playtable
from envs.tabletop import Tabletop
from envs.tabletop.setting import SETTING
from harness.components import build
from harness.failures import ResetError, UsageError
from harness.protocols import Pose
from harness.seeding import Seeds

DOWN = np.array([0.0, 1.0, 0.0, 0.0])


def reset(env, task, scene=0, seed=0, trial=0):
    return env.reset(task, scene, Seeds("tabletop", task, scene, seed, trial))


def run(env, task, scene):
    """States along a short motion that meets the scene."""
    first = reset(env, task, scene)
    states = []
    env.on_control_step = lambda: states.append(env.world.data.qpos.copy())
    env.set_gripper(0.0)
    env.move(Pose(np.array([0.25, 0.05, 0.85]), DOWN))
    env.move(Pose(np.array([0.35, -0.15, 0.80]), DOWN))
    env.home()
    env.on_control_step = None
    return first, np.array(states)


def test_importing_the_description_is_light():
    code = (
        "import sys, envs.tabletop as t\n"
        "assert [task.name for task in t.Tabletop().suite()]\n"
        "print(sorted({'mujoco', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("task", sorted(Tabletop().definitions()))
def test_the_same_scene_gives_the_same_run_to_the_bit(tabletop, task):
    first, states = run(tabletop, task, 7)
    run(tabletop, "push_button" if task != "push_button" else "open_drawer", 3)
    again, same = run(tabletop, task, 7)
    assert again == first
    assert (same == states).all()
    fresh = Tabletop(noise=0).open()
    other, equal = run(fresh, task, 7)
    fresh.close()
    assert other == first
    assert (equal == states).all()


def test_the_scene_depends_on_task_and_index_alone(tabletop):
    hashes = {
        reset(tabletop, "push_button", 4, seed=s, trial=t).state_hash for s, t in ((0, 0), (1, 0), (0, 2))
    }
    assert len(hashes) == 1
    others = {
        reset(tabletop, task, scene).state_hash for task in Tabletop().definitions() for scene in range(5)
    }
    assert len(others) == 5 * len(Tabletop().definitions())
    assert all(len(value) == 16 and int(value, 16) >= 0 for value in others | hashes)


def test_the_hash_sees_a_variation_that_moves_nothing(tabletop):
    reset(tabletop, "open_drawer", 0)
    before = tabletop.world.state_hash()
    tabletop.world.variation = {"drawer": "none"}
    assert tabletop.world.state_hash() != before


def test_reset_undoes_everything(tabletop):
    first = reset(tabletop, "lamp_off", 1)
    world = tabletop.world
    world.paint("bulb", (0.0, 0.0, 0.0))
    world.memo["off"] = True
    world.data.qvel[:] = 0.1
    tabletop.set_gripper(0.0)
    again = reset(tabletop, "lamp_off", 1)
    assert again == first
    assert "off" not in world.memo
    assert world.model.geom("bulb").rgba[0] == 1.0
    assert tabletop.gripper() == 1.0
    assert tabletop.steps() == 0
    assert not tabletop.verdict().success


def test_an_unknown_task_is_a_usage_error(tabletop):
    with pytest.raises(UsageError, match="push_button"):
        reset(tabletop, "push_buton")


def test_asking_before_a_reset_says_so():
    env = Tabletop().open()
    for ask in (env.objects, env.steps, env.verdict, env.pose):
        with pytest.raises(RuntimeError, match="reset"):
            ask()
    env.close()


class Toy(PandaTask):
    name = "toy"
    instructions = ("a", "b", "c")
    objects = {"cube": ("cube",)}  # noqa: RUF012

    def build(self, spec):
        from envs.mujoco import parts

        cube = parts.free_body(spec, "cube")
        parts.box(cube, (0, 0, 0), (0.02, 0.02, 0.02), mass=0.05)
        base = parts.fixed_body(spec, "base")
        parts.sensor(base, "eye", (0, 0, 0.02), (0.03, 0.03, 0.03))
        base.add_body(name="inner", pos=[0, 0, 0.1])

    def place(self, world, rng):
        world.put("base", 0.3, 0.2, 0.752)
        world.put("cube", 0.3, 0.0, 0.772)
        return {}

    def success(self, world):
        return world.sees("eye", "cube")


def test_a_scene_that_never_fits_is_a_reset_error():
    class Full(Toy):
        def place(self, world, rng):
            world.spot(rng, 0.2, x=(0.2, 0.3), y=(0.0, 0.1))
            world.spot(rng, 0.2, x=(0.2, 0.3), y=(0.0, 0.1))
            return {}

    with pytest.raises(ResetError, match=r"'toy'.*40 draws.*no room"):
        World(Full(), SETTING).reset(np.random.default_rng(0))


def test_a_scene_that_starts_solved_or_off_the_table_is_drawn_again():
    class Sometimes(Toy):
        draws = 0

        def place(self, world, rng):
            Sometimes.draws += 1
            world.put("base", 0.3, 0.0 if self.draws == 1 else 0.2, 0.752)
            world.put("cube", 0.3 if self.draws != 2 else 3.0, 0.0, 0.772)
            return {}

    assert World(Sometimes(), SETTING).reset(np.random.default_rng(0)) == 3

    class Always(Toy):
        def place(self, world, rng):
            world.put("cube", 3.0, 0.0, 0.772)
            return {}

    with pytest.raises(ResetError, match="'cube' fell down"):
        World(Always(), SETTING).reset(np.random.default_rng(0))


def test_spots_do_not_overlap(tabletop):
    world = World(Toy(), SETTING)
    world.reset(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    spots = [world.spot(rng, 0.05) for _ in range(8)]
    apart = [np.hypot(a[0] - b[0], a[1] - b[1]) for i, a in enumerate(spots) for b in spots[:i]]
    assert min(apart) > 0.1
    with pytest.raises(Crowded, match=r"0\.05 m"):
        [world.spot(rng, 0.05) for _ in range(100)]


def test_verdicts_latch_and_the_first_one_counts():
    class Both(Toy):
        def failed(self, world):
            return world.memo.get("broken", False)

    world = World(Both(), SETTING)
    world.reset(np.random.default_rng(0))
    world.begin()
    world.step()
    assert (world.succeeded, world.failed) == (False, False)
    world.put("cube", 0.3, 0.2, 0.772)
    world.step()
    world.memo["broken"] = True
    world.put("cube", 0.3, 0.0, 0.772)
    world.step()
    assert (world.succeeded, world.failed) == (True, False)
    world.reset(np.random.default_rng(0))
    world.begin()
    assert (world.succeeded, world.failed) == (False, False)
    world.memo["broken"] = True
    world.step()
    world.put("cube", 0.3, 0.2, 0.772)
    world.step()
    assert (world.succeeded, world.failed) == (False, True)


def test_a_sensor_sees_what_reaches_into_it():
    world = World(Toy(), SETTING)
    world.reset(np.random.default_rng(0))
    import mujoco

    for y, seen in ((0.14, False), (0.149, False), (0.152, True), (0.2, True), (0.248, True), (0.252, False)):
        world.put("cube", 0.3, y, 0.772)
        mujoco.mj_forward(world.model, world.data)
        assert world.sees("eye", "cube") is seen, y


def test_only_children_of_the_world_can_be_placed():
    world = World(Toy(), SETTING)
    with pytest.raises(ValueError, match="'inner'"):
        world.put("inner", 0.0, 0.0, 1.0)


def test_an_object_of_unknown_parts_is_named():
    class Wrong(Toy):
        objects = {"ghost": ("sheet",)}  # noqa: RUF012

    with pytest.raises(ValueError, match=r"'ghost' of 'toy'.*'sheet'"):
        World(Wrong(), SETTING)


def test_objects_can_be_renamed_and_instructions_reworded():
    config = Tabletop(rename={"button": "gizmo"}, reword={"push_button": ["poke the gizmo", "prod it"]})
    suite = {task.name: task for task in config.suite()}
    assert suite["push_button"].instructions == ("poke the gizmo", "prod it")
    assert suite["lamp_off"].instructions == Tabletop().definitions()["lamp_off"].instructions
    env = config.open()
    plain = Tabletop().open()
    renamed, usual = reset(env, "push_button", 2), reset(plain, "push_button", 2)
    assert env.objects() == ["gizmo", *plain.objects()[1:]]
    assert renamed == usual
    env.close()
    plain.close()


def test_the_environment_is_a_manipulation():
    assert isinstance(Tabletop().open(), ManipulationEnvironment)
    assert Tabletop().problems() == []
    from harness.protocols import Manipulation

    env = Tabletop().open()
    assert isinstance(env, Manipulation)
    assert (env.workspace[1] - env.workspace[0]) == pytest.approx([1.0, 1.0, 1.0])
    env.close()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"noise": -1.0}, r"noise is -1\.0; it is a factor of 0 \(off\) or more"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"renderer": "gl"}, "renderer is `gl`; it can be auto, egl, osmesa, rays"),
    ],
)
def test_a_noise_or_a_renderer_that_cannot_be_is_refused_by_the_config(values, message):
    for target in ("envs.tabletop.Tabletop", "envs.playtable.Playtable"):
        with pytest.raises(UsageError, match=message):
            build({"_target_": target, **values}, "env")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            Tabletop(reword={"push_buton": ["poke it"]}),
            r"env\.reword names `push_buton`.* Did you mean push_button\?",
        ),
        (Tabletop(reword={"push_button": []}), r"env\.reword\.push_button is empty"),
        (Tabletop(rename={"buton": "gizmo"}), r"env\.rename names `buton`.* Did you mean button"),
        (Playtable(chosen_suite="chains", reword={"chain": ["all"]}), r"env\.reword names `chain`"),
    ],
)
def test_other_words_for_what_there_is_not_are_refused(config, message):
    with pytest.raises(UsageError, match=message):
        config.suite()
