from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

import conf
from harness.chat.openai import OpenAIChat
from harness.components import build
from harness.failures import UsageError
from tests.harness.chat.openai.conftest import KEY
from tests.harness.chat.wire import WireServer

CONF = Path(conf.__file__).parent / "llm"


def shipped(name: str, **changes: Any) -> OpenAIChat:
    node = OmegaConf.to_container(OmegaConf.load(CONF / f"{name}.yaml"))
    built: OpenAIChat = build({**node, **changes}, "llm")  # type: ignore[dict-item]
    return built


def test_openai_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped("openai").problems() == []
    assert shipped("openai").key() == KEY
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    (problem,) = shipped("openai").problems()
    assert problem.what == "The variable OPENAI_API_KEY is not set"
    monkeypatch.delenv("OPENAI_API_KEY")
    assert len(shipped("openai").problems()) == 1
    assert shipped("openai", api_key_env=None).problems() == []


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk-…"])
def test_what_is_no_key_is_told_without_showing_it(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    (problem,) = shipped("openai").problems()
    assert "OPENAI_API_KEY holds spaces or letters that no key has" in problem.what
    assert "sk-" not in problem.what


def test_a_line_break_at_the_end_of_a_key_is_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    assert shipped("openai").key() == KEY
    assert shipped("openai").problems() == []


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.chat.openai.find_spec", lambda name: None)
    (problem,) = shipped("openai").problems()
    assert "pip install 'engram[openai]'" in problem.fix


@pytest.mark.parametrize("name", ["vllm", "ollama", "llamacpp"])
def test_servers_on_this_machine_need_no_key_and_have_to_be_up(
    name: str, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert shipped(name, base_url=server.url).problems() == []
    server.stop()
    (problem,) = shipped(name, base_url=server.url).problems()
    assert problem.what == f"Nothing answers at {server.url}"


def test_a_table_of_prices_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (problem,) = shipped("openai", prices=str(tmp_path / "none.yaml")).problems()
    assert "none.yaml cannot be read" in problem.what


def test_whether_a_cost_is_known() -> None:
    assert shipped("openai").is_priced()
    assert not shipped("openai", model="gpt-99").is_priced()
    assert not shipped("vllm").is_priced()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_url": "api.openai.com/v1"}, "it looks like http"),
        ({"base_url": ""}, "it looks like http"),
        ({"base_url": "https://user:secret@host/v1"}, "base_url holds a password"),
        ({"extra": {"temperature": 1.0, "stop": []}}, r"extra cannot set stop, temperature; sampling"),
        ({"extra": {"stream": True}}, "extra cannot set stream"),
        ({"layout": "text"}, "it can be chat, completion"),
        ({"detail": "highest"}, "it can be auto, low, high"),
        ({"timeout": None}, "timeout is None, which is not of type float"),
        ({"timeout": 0}, "have to be above 0"),
        ({"deadline": -1.0}, "have to be above 0"),
        ({"concurrency": 0}, "at least 1"),
        ({"api_key": KEY}, "has no key `api_key`. Did you mean api_key_env"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        shipped("openai", **changes)
    assert "secret" not in str(caught.value)


def test_importing_the_config_imports_no_client() -> None:
    import subprocess
    import sys

    code = "import sys, harness.chat.openai; sys.exit('openai' in sys.modules or 'asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=CONF.parent.parent).returncode == 0
