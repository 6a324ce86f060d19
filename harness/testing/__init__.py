"""For those who add parts: a conformance kit, and an environment and a method that do nothing, for tests
and benchmarks of the engine."""
