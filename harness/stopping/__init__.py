"""Sequential stopping: two methods are compared while they are played, and once the comparison has decided, the rest of
their episodes is left out. docs/statistics.md says how it is used and what it promises."""
