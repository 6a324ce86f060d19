"""The parts of HiMe's planner and Sentry that need neither a robot nor a model: what is written to them and
what their replies mean (`prompts`, `wire`, `flat`), how operations are carried out (`operations`), the plan
list (`plan`), when who is asked (`triggers`), which frames are shown (`frames`), and the flat baseline's
memory (`keyframes`)."""
