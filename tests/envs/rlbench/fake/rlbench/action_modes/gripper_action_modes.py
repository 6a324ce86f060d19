from __future__ import annotations


class Discrete:
    def __init__(self, attach_grasped_objects=True, detach_before_open=True):
        pass

    def action(self, scene, action) -> None:
        """Steps the simulator and the task, not the scene."""
        gripper = scene.robot.gripper
        wanted = float(action[0] > 0.5)
        if wanted == float(all(amount > 0.9 for amount in gripper.get_open_amount())):
            return
        if wanted:
            gripper.release()
        else:
            for entry in scene.task.get_graspable_objects():
                gripper.grasp(entry)
        done = False
        while not done:
            done = gripper.actuate(wanted, velocity=0.2)
            scene.pyrep.step()
            scene.task.step()
