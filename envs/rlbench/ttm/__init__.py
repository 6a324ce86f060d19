"""A reader for CoppeliaSim's model files (.ttm) in Python and NumPy: the objects of a model without the simulator.

    model = read("rlbench/task_ttms/push_button.ttm")
    model.pose(model.find("push_button_target")).position

`python -m envs.rlbench.ttm FILE` prints the tree of objects. The format is CoppeliaSim 4.1's, as far as RLBench's models
use it; scripts, dynamics and textures are left out."""

from envs.rlbench.ttm.meshes import Mesh
from envs.rlbench.ttm.model import Joint, Model, Object, read

__all__ = ["Joint", "Mesh", "Model", "Object", "read"]
