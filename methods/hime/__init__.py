"""HiMe: hierarchical embodied memory, and the baselines that are made of the same parts. `hierarchy` is the method,
`session` what its upper layers know in one episode, `body` the robot under them.

The other parts need neither a robot nor a model: what is written to planners and Sentries and what their replies mean
(`prompts`, `wire`, `flat`), how operations are carried out (`operations`), the plan list (`plan`), when who is asked
(`triggers`), which frames are shown (`frames`), the flat baseline's memory (`keyframes`), and how what was remembered is
held against the oracle (`scores`)."""
