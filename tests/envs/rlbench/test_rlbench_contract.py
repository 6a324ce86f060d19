"""What the adapter uses of `rlbench` and `pyrep` is in the fake and, where checkouts are found (RLBENCH_ROOT, and
PYREP_ROOT or PyRep beside it), in the real sources with the same parameters; and the names that it exposes are in the real
models. Nothing is imported from the checkouts."""

from __future__ import annotations

import ast
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from envs.mujoco.names import Names
from envs.rlbench import package
from envs.rlbench.exposed import EXPOSED, Part, Shape, discovered
from envs.rlbench.perception import within
from envs.rlbench.ttm import Model, Object, read
from envs.rlbench.ttm.poses import rotated

FAKE = Path(__file__).parent / "fake"
ROOT = Path(os.environ.get("RLBENCH_ROOT", "/nowhere"))
PYREP = Path(os.environ.get("PYREP_ROOT", ROOT.parent / "PyRep"))
MODELS = ROOT / "rlbench" / "task_ttms"
real = [
    pytest.mark.rlbench,
    pytest.mark.skipif(
        not (MODELS.is_dir() and (PYREP / "pyrep").is_dir()),
        reason="RLBENCH_ROOT names no checkout of github.com/stepjam/RLBench, with PyRep's beside it or in PYREP_ROOT",
    ),
]

OBJECT = "pyrep/objects/object.py"
ARM = "rlbench/action_modes/arm_action_modes.py"
FINGERS = "rlbench/action_modes/gripper_action_modes.py"
USED = [
    ("rlbench/environment.py", "Environment.__init__", "action_mode obs_config headless"),
    ("rlbench/environment.py", "Environment.launch", ""),
    ("rlbench/environment.py", "Environment.shutdown", ""),
    ("rlbench/environment.py", "Environment.get_task", "task_class"),
    ("rlbench/task_environment.py", "TaskEnvironment.variation_count", ""),
    ("rlbench/task_environment.py", "TaskEnvironment.set_variation", "v"),
    ("rlbench/task_environment.py", "TaskEnvironment.reset", ""),
    ("rlbench/task_environment.py", "TaskEnvironment.get_observation", ""),
    ("rlbench/task_environment.py", "TaskEnvironment.step", "action"),
    ("rlbench/observation_config.py", "CameraConfig.__init__", "rgb depth point_cloud mask image_size"),
    (
        "rlbench/observation_config.py",
        "ObservationConfig.__init__",
        "left_shoulder_camera right_shoulder_camera overhead_camera wrist_camera front_camera "
        "joint_velocities joint_positions joint_forces gripper_open gripper_pose",
    ),
    (ARM, "EndEffectorPoseViaPlanning.__init__", "absolute_mode collision_checking"),
    (ARM, "EndEffectorPoseViaPlanning.action", "scene action"),
    (FINGERS, "Discrete.__init__", "attach_grasped_objects"),
    (FINGERS, "Discrete.action", "scene action"),
    ("rlbench/backend/exceptions.py", "InvalidActionError", ""),
    ("rlbench/backend/exceptions.py", "TaskEnvironmentError", ""),
    ("rlbench/backend/scene.py", "Scene.register_step_callback", "func"),
    ("rlbench/backend/scene.py", "Scene.step", ""),
    ("rlbench/backend/task.py", "Task.__init__", "pyrep robot"),
    ("rlbench/backend/task.py", "Task.get_base", ""),
    ("rlbench/backend/task.py", "Task.success", ""),
    ("rlbench/backend/task.py", "Task.step", ""),
    ("rlbench/backend/task.py", "Task.get_graspable_objects", ""),
    (OBJECT, "Object.get_object", "name_or_handle"),
    (OBJECT, "Object.get_handle", ""),
    (OBJECT, "Object.get_name", ""),
    (OBJECT, "Object.get_pose", ""),
    (OBJECT, "Object.get_position", ""),
    (OBJECT, "Object.get_parent", ""),
    (OBJECT, "Object.is_renderable", ""),
    (OBJECT, "Object.get_bounding_box", ""),
    (OBJECT, "Object.get_objects_in_tree", "object_type exclude_base"),
    ("pyrep/const.py", "ObjectType", ""),
    ("pyrep/objects/shape.py", "Shape", ""),
]
"""File, what is used in it, and the parameters that it is given."""
ROBOT = [
    ("pyrep/robots/arms/arm.py", "Arm.__init__", "max_velocity"),
    ("pyrep/robots/end_effectors/gripper.py", "Gripper.get_grasped_objects", ""),
    ("pyrep/robots/end_effectors/gripper.py", "Gripper.get_open_amount", ""),
    ("pyrep/robots/robot_component.py", "RobotComponent.get_joint_positions", ""),
]
"""Of the real robot, whose classes the fake puts in one file."""


@pytest.mark.parametrize(("file", "name", "parameters"), USED)
def test_the_fake_has_what_the_adapter_uses(file: str, name: str, parameters: str) -> None:
    check(FAKE / file, name, parameters.split())


class TestRealSources:
    pytestmark = real

    @pytest.mark.parametrize(("file", "name", "parameters"), USED + ROBOT)
    def test_the_sources_have_what_the_adapter_uses(self, file: str, name: str, parameters: str) -> None:
        root = PYREP if file.startswith("pyrep/") else ROOT
        check(root / file, name, parameters.split())

    def test_the_suite_is_read_from_the_package(self) -> None:
        tasks = package.suite(ROOT / "rlbench", ["reach_target"])
        assert [task.name for task in tasks] == [*package.NINE, "reach_target"]
        assert all(3 <= len(task.instructions) <= 7 for task in tasks)
        assert len(package.task_names(ROOT / "rlbench")) > 100


class TestRealModels:
    pytestmark = real

    @pytest.mark.parametrize(("task", "name"), [(task, name) for task in EXPOSED for name in EXPOSED[task]])
    def test_an_exposed_name_covers_something_that_cameras_see(self, task: str, name: str) -> None:
        assert len(seen(task, name)) >= 8

    def test_parts_are_cut_out_where_they_are(self) -> None:
        sensor = position("basketball_in_hoop", "success")
        ring = seen("basketball_in_hoop", "hoop")
        assert np.abs(ring.mean(axis=0) - sensor)[:2].max() < 0.03 and np.ptp(ring, axis=0)[:2].max() < 0.15
        assert np.ptp(seen("basketball_in_hoop", "backboard"), axis=0).max() > 0.4
        knob = seen("take_lid_off_saucepan", "lid handle")
        grasp = position("take_lid_off_saucepan", "saucepan_lid_grasp_point")
        assert np.abs(knob.mean(axis=0) - grasp).max() < 0.01 and np.ptp(knob, axis=0).max() < 0.06
        for which in ("bottom", "middle", "top"):
            handle = seen("open_drawer", f"{which} drawer handle")
            anchor = position("open_drawer", f"waypoint_anchor_{which}")
            assert np.abs(handle.mean(axis=0) - anchor).max() < 0.03
            assert np.ptp(handle, axis=0).max() < 0.08
        umbrella, handle = (
            seen("take_umbrella_out_of_umbrella_stand", name) for name in ("umbrella", "umbrella handle")
        )
        assert handle[:, 2].min() > umbrella[:, 2].mean() and handle[:, 2].max() == umbrella[:, 2].max()
        start, end = (seen("beat_the_buzz", f"{which} post").mean(axis=0) for which in ("start", "end"))
        wand, goal = position("beat_the_buzz", "wand"), position("beat_the_buzz", "right_sensor")
        assert np.linalg.norm((start - wand)[:2]) < 0.06 and np.linalg.norm((end - wand)[:2]) > 0.2
        assert np.linalg.norm((end - goal)[:2]) < 0.05
        assert seen("beat_the_buzz", "wire")[:, 2].min() > 0.84

    def test_what_has_a_name_of_its_own_is_left_out(self) -> None:
        pan, lid = (seen("take_lid_off_saucepan", name) for name in ("saucepan", "lid"))
        assert pan[:, 2].mean() < lid[:, 2].min() - 0.01 and pan[:, 2].min() < 0.76
        assert len(seen("push_button", "button base")) == 8

    @pytest.mark.slow
    def test_all_other_tasks_have_names_that_can_be_told_apart(self) -> None:
        for path in sorted(MODELS.glob("*.ttm")):
            names = discovered(shapes(path.stem))
            assert names, path.stem
            Names([(name, name) for name in names], {"gripper": "gripper", "table": "table"})


def check(path: Path, name: str, parameters: list[str]) -> None:
    """`name` is in a file, directly or in another class of it, and takes the parameters by these names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    class_name, _, method = name.partition(".")
    assert class_name in classes, f"{path} has no {class_name}"
    if not method:
        return
    own = classes[class_name]
    bases = [classes[base.id] for base in own.bases if isinstance(base, ast.Name) and base.id in classes]
    found = [
        entry
        for owner in (own, *bases)
        for entry in owner.body
        if isinstance(entry, ast.FunctionDef) and entry.name == method
    ]
    assert found, f"{path}: {class_name} has no {method}"
    taken = found[0].args
    if taken.kwarg is None:
        known = {argument.arg for argument in (*taken.args, *taken.kwonlyargs)}
        assert set(parameters) <= known, f"{path}: {name} takes {sorted(known)}"


@cache
def model(task: str) -> Model:
    return read(MODELS / f"{task}.ttm")


def position(task: str, name: str) -> np.ndarray:
    return model(task).pose(model(task).find(name)).position


def seen(task: str, name: str) -> np.ndarray:
    """Vertices (N, 3) in the world of what a name covers and cameras see, as the environment works it out."""
    found, part = model(task), EXPOSED[task][name]
    families = {other.object: ids(found, other) for other in EXPOSED[task].values()}
    mine = families[part.object].difference(*(f for f in families.values() if f < families[part.object]))
    points = np.concatenate(
        [
            world(found, entry)
            for entry in found.objects
            if entry.id in mine and entry.renderable and entry.meshes
        ]
    )
    if part.box is None:
        return points
    return points[within(points, part.box, found.pose(found.find(part.frame or part.object)))]


def ids(found: Model, part: Part) -> frozenset[int]:
    return frozenset(entry.id for entry in found.family(found.find(part.object)))


def world(found: Model, entry: Object) -> np.ndarray:
    pose = found.pose(entry)
    vertices = np.concatenate([mesh.vertices for mesh in entry.meshes])
    return rotated(pose.quaternion, vertices) + pose.position


def shapes(task: str) -> list[Shape]:
    by_id = {entry.id: entry for entry in model(task).objects}
    made = []
    for entry in model(task).objects:
        above, at = [], entry
        while at.parent is not None:
            at = by_id[at.parent]
            above += [at.name] if at.kind == "shape" else []
        if entry.kind == "shape":
            made.append(Shape(entry.name, tuple(above), entry.renderable))
    return made
