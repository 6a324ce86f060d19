"""Configs of the parts that do nothing: add `hydra.searchpath=[pkg://harness.testing.conf]`."""
