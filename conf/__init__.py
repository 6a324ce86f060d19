"""Configuration tree; it mirrors the code."""
