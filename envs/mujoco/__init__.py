"""What every world simulated in MuJoCo shares: cameras, rays, pictures, point clouds and sensor noise. It knows no
robot and no task."""
