from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.chat import local, roles
from harness.chat.local import Local
from harness.chat.local.weights import KNOWN
from harness.components import build
from harness.failures import UsageError
from harness.protocols import Sampling

NODE = {"_target_": "harness.chat.local.Local"}
HASH = "ab" * 32


@pytest.fixture
def with_runtime(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Whether, and in which version, the runtime is installed."""
    found = importlib.util.find_spec

    def install(version: str | None) -> None:
        def find(name: str) -> Any:
            return (version and object()) if name == "xllamacpp" else found(name)

        monkeypatch.setattr(local, "find_spec", find)
        monkeypatch.setattr(local, "version", lambda name: version)

    return install


def test_what_cannot_be_is_refused() -> None:
    for keys, message in [
        ({"model": "gpt-4"}, "known are qwen2.5-coder-1.5b-instruct, .* give its path and sha256"),
        ({"model": "mine", "path": "m.gguf"}, "give its path and sha256"),
        ({"model": "mine", "path": "m.gguf", "sha256": "ABC"}, "it has 64 digits"),
        ({"sha256": HASH}, "give another file another name"),
        ({"threads": 0}, "have to be above 0"),
        ({"grammar": "json"}, "it can be none, planner"),
    ]:
        with pytest.raises(UsageError, match=message):
            build({**NODE, **keys}, "llm")


def test_the_name_says_what_text_hangs_on(with_runtime: Callable[[str | None], None]) -> None:
    with_runtime("1.2")
    assert Local().served == ("qwen2.5-coder-1.5b-instruct-q4_k_m cc324af070c2 xllamacpp-1.2 2 threads")
    assert Local("mine", "/models/m-q8.gguf", HASH, threads=3).served == (
        "m-q8 abababababab xllamacpp-1.2 3 threads"
    )


def test_what_can_change_a_reply_is_its_identity(with_runtime: Callable[[str | None], None]) -> None:
    """The key by which the cache finds a reply, and that of a cell."""
    with_runtime("1.2")

    def identity(**keys: Any) -> str:
        return str(
            sorted(
                roles.settings({**NODE, "model": "mine", "path": "a", "sha256": HASH, **keys}, "llm").items()
            )
        )

    first = identity()
    assert first == identity(path="elsewhere/b", timeout=5.0)
    others = {
        identity(sha256="cd" * 32),
        identity(threads=1),
        identity(grammar="planner"),
        identity(layout="completion"),
        identity(prompt_cache=False),
    }
    with_runtime("1.3")
    assert len(others | {first, identity()}) == 7


def test_a_missing_package_is_told(with_runtime: Callable[[str | None], None]) -> None:
    with_runtime(None)
    (problem,) = Local().problems()
    assert problem.what == "The package xllamacpp is missing"
    assert problem.fix == "pip install 'engram[local]'"
    assert len(Local().fingerprint()) > 64  # a command that only looks at cells goes on


def test_a_known_file_may_be_absent_and_one_of_the_users_not(
    with_runtime: Callable[[str | None], None], tmp_path: Path
) -> None:
    with_runtime("1.2")
    assert Local().problems() == []
    (missing,) = Local(path=str(tmp_path / "no.gguf")).problems()
    assert "no.gguf cannot be read: No such file" in missing.what
    (tmp_path / "no.gguf").write_bytes(b"GGUF")
    (wrong,) = Local(path=str(tmp_path / "no.gguf")).problems()
    assert f"not {KNOWN['qwen2.5-coder-1.5b-instruct'].sha256}" in wrong.what


def test_doctor_says_which_files_are_here(tmp_path: Path) -> None:
    parts = Local().parts()
    (absent,) = parts["qwen2.5-coder-1.5b-instruct"]
    assert absent.what == "Not downloaded yet (1.12 GB)"
    assert absent.fix.endswith("llm=local llm.model=qwen2.5-coder-1.5b-instruct")
    folder = tmp_path / "cache" / "engram" / "models"
    folder.mkdir(parents=True)
    (folder / KNOWN["smollm2-135m-instruct"].file).write_bytes(b"damaged")
    (damaged,) = Local().parts()["smollm2-135m-instruct"]
    assert "its SHA-256 is" in damaged.what


def test_a_file_that_cannot_be_had_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    (problem,) = Local().probe(Sampling())
    assert "cannot be downloaded" in problem.what
    assert "llm.path=FILE" in problem.fix


def test_it_costs_nothing() -> None:
    assert Local().is_priced()
