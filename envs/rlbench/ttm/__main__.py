"""`python -m envs.rlbench.ttm FILE`: the tree of objects of a model, with poses in the world."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from envs.rlbench.ttm import Model, Object, read
from harness.failures import UsageError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m envs.rlbench.ttm",
        description="Print the objects of a CoppeliaSim model: kind, position (metres) and orientation (wxyz) in the world.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a .ttm file")
    options = parser.parse_args(arguments)
    try:
        model = read(options.file)
    except UsageError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    for root in model.children():
        _print(model, root, 0)
    return 0


def _print(model: Model, entry: Object, depth: int) -> None:
    pose = model.pose(entry)
    position = " ".join(f"{value:7.3f}" for value in pose.position)
    quaternion = " ".join(f"{value:6.3f}" for value in pose.quaternion)
    print(
        f"{'  ' * depth + entry.name:<44} {entry.kind:<16} {position}  {quaternion}  {_detail(entry)}".rstrip()
    )
    for child in model.children(entry):
        _print(model, child, depth + 1)


def _detail(entry: Object) -> str:
    if entry.joint is not None:
        limits = entry.joint.limits
        told = "no limits" if limits is None else f"{limits[0]:.4g} to {limits[1]:.4g}"
        return f"{entry.joint.kind}, {told}, at {entry.joint.position:.4g}"
    if entry.meshes:
        vertices = sum(len(mesh.vertices) for mesh in entry.meshes)
        triangles = sum(len(mesh.faces) for mesh in entry.meshes)
        return f"{vertices} vertices, {triangles} triangles{'' if entry.renderable else ', hidden'}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
