"""The reader of models, on files that the tests write."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from envs.rlbench.ttm import Model, read
from envs.rlbench.ttm.__main__ import main
from envs.rlbench.ttm.poses import compose
from harness.failures import UsageError
from harness.protocols import Pose
from tests.envs.rlbench.ttm import writer
from tests.envs.rlbench.ttm.writer import END, entry, integers, record

QUARTER = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
"""A quarter turn about z, wxyz."""
CORNERS = [value for z in (-1, 1) for y in (-1, 1) for x in (-1, 1) for value in (x, y, z)]
BOX = [
    1,
    0,
    3,
    3,
    0,
    2,
    0,
    1,
    5,
    0,
    5,
    4,
    3,
    2,
    7,
    7,
    2,
    6,
    1,
    3,
    7,
    1,
    7,
    5,
    2,
    0,
    6,
    6,
    0,
    4,
    5,
    7,
    6,
    5,
    6,
    4,
]
"""Twelve triangles, anticlockwise from outside."""


@pytest.fixture
def written(tmp_path: Path):
    def put(content: bytes) -> Path:
        path = tmp_path / "some.ttm"
        path.write_bytes(content)
        return path

    return put


@pytest.fixture
def model(written):
    return lambda *objects: read(written(writer.model(*objects)))


def position(found: Model, name: str) -> list[float]:
    return found.pose(found.find(name)).position.tolist()


def test_poses_are_relative_to_the_parent_and_turn_with_it(model) -> None:
    found = model(
        entry("DMY", 66, -1, "base", (0.25, 0.0, 0.75), QUARTER, renderable=False),
        entry("DMY", 7, 66, "arm", (0.1, 0.0, 0.02), QUARTER),
        entry("DMY", 8, 7, "tip", (0.1, 0.0, 0.0)),
    )
    assert [(o.name, o.id, o.parent, o.kind, o.renderable) for o in found.objects] == [
        ("base", 66, None, "dummy", False),
        ("arm", 7, 66, "dummy", True),
        ("tip", 8, 7, "dummy", True),
    ]
    assert found.find("arm").local.position == pytest.approx([0.1, 0, 0.02])
    assert position(found, "arm") == pytest.approx([0.25, 0.1, 0.77], abs=1e-6)
    assert position(found, "tip") == pytest.approx([0.15, 0.1, 0.77], abs=1e-6)
    assert found.pose(found.find("tip")).quaternion == pytest.approx([0, 0, 0, 1], abs=1e-6)
    assert [o.name for o in found.children()] == ["base"]
    assert [o.name for o in found.children(found.find("base"))] == ["arm"]
    assert [o.name for o in found.family(found.find("arm"))] == ["arm", "tip"]


@pytest.mark.parametrize(
    ("content", "where", "limits"),
    [
        (writer.joint(11, 0.15, (0.0, 0.3)), [0.1, 0.0, 1.15], (0.0, 0.3)),
        (writer.joint(10, math.pi / 2, (-1.0, 2.0)), [0.0, 0.1, 1.0], (-1.0, 2.0)),
        (writer.joint(10, math.pi / 2, (-math.pi, math.pi), cyclic=True), [0.0, 0.1, 1.0], None),
        (writer.joint(10, math.pi, (0.0, 7.0), pitch=0.01), [-0.1, 0.0, 1 + 0.01 * math.pi], (0.0, 7.0)),
        (writer.joint(12, rotation=(0.0, 0.0, 1.0, 0.0)), [-0.1, 0.0, 1.0], None),
    ],
    ids=["slide", "hinge", "wheel", "screw", "ball"],
)
def test_a_joint_moves_what_hangs_on_it_and_not_itself(model, content, where, limits) -> None:
    found = model(
        entry("JNT", 1, -1, "joint", (0.0, 0.0, 1.0), more=content),
        entry("DMY", 2, 1, "tip", (0.1, 0.0, 0.0)),
    )
    joint = found.find("joint").joint
    assert position(found, "joint") == [0, 0, 1]
    assert position(found, "tip") == pytest.approx(where, abs=1e-6)
    assert joint.limits == (None if limits is None else pytest.approx(limits, abs=1e-6))


def test_vertices_are_brought_into_the_frame_of_the_shape(model) -> None:
    scaled = [0.05 * value for value in CORNERS]
    frame = {"position": (0.0, 0.0, 0.1), "quaternion": QUARTER}
    found = model(
        writer.pool([scaled, CORNERS], [BOX]),
        entry("SHP", 1, -1, "cube", (0.3, 0, 0), more=writer.simple(0, 0, colour=(1, 0, 0.5), **frame)),
    )
    (mesh,) = found.find("cube").meshes
    assert mesh.vertices[:2] == pytest.approx(np.array([[0.05, -0.05, 0.05], [0.05, 0.05, 0.05]]), abs=1e-6)
    assert mesh.faces.tolist() == np.reshape(BOX, (12, 3)).tolist()
    assert mesh.colour == (1.0, 0.0, 0.5)
    assert volume(mesh) == pytest.approx(0.1**3, rel=1e-5)


def test_a_group_has_the_meshes_of_its_parts_and_of_the_groups_in_it(model) -> None:
    def part(tag: str, height: float) -> bytes:
        return record(tag, writer.geometry(0, 0, (0, 0, height)))

    inner = record("Wrp", record("Nme", writer.text("inner")), END, part("Geo", 3.0), part("Geo", 4.0), END)
    group = record("Gsg", record("Vtb", writer.floats(*[7.0] * 7)), END, part("Geo", 1.0), inner, END)
    found = model(writer.pool([CORNERS], [BOX]), entry("SHP", 1, -1, "group", more=record("Ge2", group, END)))
    heights = [mesh.vertices[:, 2].mean() for mesh in found.find("group").meshes]
    assert heights == pytest.approx([1.0, 3.0, 4.0])


def test_indices_may_be_far_apart(model) -> None:
    number = 60_000
    indices = [0, number - 1, 1, 33, 32, 0, 32, 31, 0, 8192, 0, 8193, 16384, 8193, 2, 70, 1, 71]
    found = model(
        writer.pool([[0.5] * 3 * number], [indices]), entry("SHP", 1, -1, "s", more=writer.simple(0, 0))
    )
    assert found.find("s").meshes[0].faces.ravel().tolist() == indices


def test_kinds_have_names_and_unknown_ones_keep_their_tag(model) -> None:
    tags = ["SHP", "DMY", "SNR", "FSE", "RSN", "PAT", "XYZ"]
    shape = writer.simple(0, 0)
    found = model(
        writer.pool([CORNERS], [BOX]),
        *[entry(tag, n, -1, f"o{n}", more=shape if tag == "SHP" else b"") for n, tag in enumerate(tags)],
    )
    assert [entry.kind for entry in found.objects] == [
        "shape",
        "dummy",
        "proximity sensor",
        "force sensor",
        "vision sensor",
        "path",
        "XYZ",
    ]


def test_an_unknown_name_is_told_with_the_known_ones(model) -> None:
    found = model(entry("DMY", 1, -1, "bowl"), entry("DMY", 2, 1, "lid"))
    with pytest.raises(KeyError, match="there is no 'cup'; there are bowl, lid"):
        found.find("cup")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is no CoppeliaSim model: it begins with b'' at byte 0"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (writer.header(10)[:100], "cut off at byte 100, within its header of 1021 bytes"),
        (writer.header(10), "cut off at byte 1021"),
        (writer.model(version=25), r"serialisation number 25 at byte 4; 21 and 22 are read\. Save"),
        (writer.model(compression=0), "compression 0 at byte 12"),
        (
            writer.model(entry("DMY", 1, -1, "long" * 99))[:-40],
            r"begins at byte 1021, it holds \d+ of \d+ bytes\. Copy",
        ),
        (writer.header(50) + bytes(50), "begins at byte 1021, it does not begin with a tree"),
    ],
    ids=["empty", "pointer", "short header", "no body", "version", "compression", "cut off", "no code"],
)
def test_what_is_no_model_is_told_with_file_place_and_remedy(written, content: bytes, told: str) -> None:
    path = written(content)
    with pytest.raises(UsageError, match=told) as refused:
        read(path)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ([b"\x01\x02\x03\x04\x05\x06\x07\x08"], r"no record begins with '\\x01\\x02\\x03' at byte 29"),
        ([b"ABC" + integers(1000)], r"ABC has a length of 1000 bytes where 3 are left at byte 29"),
        ([b"ABC" + integers(-1)], "ABC has a length of -1 bytes"),
        ([entry("DMY", 1, -1, "a", without="Nme")], "DMY has no Nme at byte"),
        ([entry("DMY", 1, 5, "a")], "a has id 1 and hangs on 5"),
        ([entry("DMY", 1, -1, "a"), entry("DMY", 1, -1, "b")], "b has id 1"),
        ([entry("SHP", 1, -1, "a", more=writer.simple(0, 0))], "Vev names number 0 of 0"),
        (
            [writer.pool([CORNERS[:6]], [BOX]), entry("SHP", 1, -1, "a", more=writer.simple(0, 0))],
            "vertex 7 of 2",
        ),
        ([writer.pool([], [[0, -1, 2]])], "an index is negative"),
        ([writer.pool([], [[0, 1]])], "2 indices do not fill 2 bytes"),
        ([record("VIN", record("In2", integers(6), b"\x1f\x1f\x1f"), END)], "6 indices do not fill 3 bytes"),
        ([record("VIN", record("In2", integers(3), b"\x1f\x1f\x40"), END)], "3 indices do not fill 3 bytes"),
        ([record("VIN", record("In2", integers(-3), b"\x1f"), END)], "-3 indices do not fill 1 bytes"),
        ([entry("JNT", 1, -1, "j", more=writer.joint(13))], "no joint of type 13"),
        ([entry("DMY", 1, -1, "a", position=())], "Cfq has 16 bytes"),
    ],
)
def test_a_damaged_body_is_told_with_the_place(model, objects: list[bytes], told: str) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        model(*objects)
    assert "some.ttm is damaged" in str(refused.value)
    assert "of the uncompressed body" in str(refused.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.ttm cannot be read: No such file or directory"):
        read(tmp_path / "none.ttm")


def test_poses_compose_as_turns_and_shifts() -> None:
    outer = Pose(np.array([1.0, 2.0, 3.0]), np.array(QUARTER))
    back = Pose(np.array([-2.0, 1.0, -3.0]), np.array([QUARTER[0], 0, 0, -QUARTER[3]]))
    both = compose(outer, back)
    assert both.position == pytest.approx([0, 0, 0], abs=1e-12)
    assert both.quaternion == pytest.approx([1, 0, 0, 0], abs=1e-12)


def test_the_command_prints_the_tree(written, capsys) -> None:
    path = written(
        writer.model(
            writer.pool([CORNERS], [BOX]),
            entry("DMY", 1, -1, "drawers", (0.25, 0, 0.752)),
            entry("JNT", 2, 1, "slide", more=writer.joint(11, 0.1, (0.0, 0.3))),
            entry("SHP", 3, 2, "drawer", more=writer.simple(0, 0)),
        )
    )
    assert main([str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["drawers", "slide", "drawer"]
    assert lines[1].startswith("  slide") and "prismatic, 0 to 0.3, at 0.1" in lines[1]
    assert (
        lines[2].startswith("    drawer") and "0.852" in lines[2] and "8 vertices, 12 triangles" in lines[2]
    )


def test_the_command_says_what_it_cannot_read(tmp_path: Path, capsys) -> None:
    assert main([str(tmp_path / "none.ttm")]) == 2
    assert "Error: " in capsys.readouterr().err


def volume(mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6)
