"""The tasks, a file for each family; see `envs.mujoco.task`."""
