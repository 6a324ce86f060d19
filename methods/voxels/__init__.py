"""The geometric half of VoxPoser (fact page A2 to A4): voxel grids, value maps, the planner, the controllers and
`execute`. It knows no chat model and no program."""
