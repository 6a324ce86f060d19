class CameraConfig:
    def __init__(
        self,
        rgb=True,
        depth=True,
        point_cloud=True,
        mask=True,
        image_size=(128, 128),
        masks_as_one_channel=True,
        depth_in_meters=False,
    ):
        self.rgb, self.depth, self.point_cloud, self.mask = rgb, depth, point_cloud, mask
        self.image_size = image_size


class ObservationConfig:
    def __init__(
        self,
        left_shoulder_camera=None,
        right_shoulder_camera=None,
        overhead_camera=None,
        wrist_camera=None,
        front_camera=None,
        joint_velocities=True,
        joint_positions=True,
        joint_forces=True,
        gripper_open=True,
        gripper_pose=True,
    ):
        self.cameras = {
            "left_shoulder": left_shoulder_camera or CameraConfig(),
            "right_shoulder": right_shoulder_camera or CameraConfig(),
            "overhead": overhead_camera or CameraConfig(),
            "wrist": wrist_camera or CameraConfig(),
            "front": front_camera or CameraConfig(),
        }
