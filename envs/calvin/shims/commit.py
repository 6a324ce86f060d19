"""Lets calvin_env be built outside a git repository.

Its constructor logs the commit that it was built from and raises where there is none, as in an unpacked archive. Rows
name the commit instead."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType


def without_commit(play_table_env: ModuleType) -> None:
    """Replace the function by which the module asks git."""
    play_table_env.get_git_commit_hash = lambda path: "not asked"  # type: ignore[attr-defined]


def commit_of(checkout: Path) -> str:
    """12 digits; "unknown" for what is no clone."""
    import git

    try:
        return str(git.Repo(checkout).head.commit.hexsha)[:12]
    except (git.InvalidGitRepositoryError, ValueError):
        return "unknown"
