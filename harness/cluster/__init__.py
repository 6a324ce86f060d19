"""Sweeps whose episodes are played by jobs of a cluster, each with the same code as the local pool: Slurm and Ray.
Files are the only thing that a job and the sweep share; docs/cluster.md says how it is used."""
