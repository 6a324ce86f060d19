"""What all embedders keep, and the values of each: MiniLM against its published model, OpenAI against a server that
says what it was asked."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.embedding import Lexical, MiniLM, OpenAIEmbedder, SentenceTransformers
from harness.embedding.minilm import FILES
from harness.embedding.openai import EmbeddingUsage
from harness.failures import ProviderError
from harness.testing.conformance import check_embedder

TEXTS = ["open the drawer", "close the drawer", "open the cabinet"]
needs_weights = pytest.mark.skipif(
    bool(MiniLM().problems()), reason="the weights of MiniLM are not installed"
)


def test_lexical_knows_words_and_their_parts() -> None:
    drawer, drawers, lamp = Lexical().embed(["open the drawer", "open the drawers", "switch the lamp"])
    assert drawer @ drawers > 0.8 > drawer @ lamp
    assert Lexical().embed(["OPEN the Drawer!"])[0] @ drawer == pytest.approx(1.0)


@needs_weights
def test_minilm_conforms_and_gives_the_published_cosines() -> None:
    """The values of the original model: "open the drawer" to "close the drawer" 0.905, to "open the cabinet" 0.606."""
    check_embedder(MiniLM())
    vectors = MiniLM().embed(TEXTS)
    assert vectors.shape == (3, 384)
    assert vectors[0] @ vectors[1] == pytest.approx(0.905, abs=1e-3)
    assert vectors[0] @ vectors[2] == pytest.approx(0.606, abs=1e-3)


@needs_weights
def test_minilm_does_not_depend_on_what_else_is_in_a_batch() -> None:
    long = "a robot that puts the umbrella back into its stand because the rain has stopped " * 30
    alone = MiniLM().embed([TEXTS[0]])[0]
    together = MiniLM().embed([long, TEXTS[0], "", *TEXTS])
    assert together[1] @ alone == pytest.approx(1.0, abs=1e-5)
    assert not together[2].any()


@needs_weights
@pytest.mark.slow
def test_minilm_agrees_with_the_library() -> None:
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    folder = MiniLM()._folder()
    library = SentenceTransformers(model=str(folder)).embed(TEXTS)
    assert np.einsum("nd,nd->n", library, MiniLM().embed(TEXTS)) == pytest.approx(np.ones(3), abs=1e-3)


def test_missing_weights_are_named_with_what_mends_them(tmp_path: Path) -> None:
    (problem,) = MiniLM(weights=str(tmp_path)).problems()
    assert "model.safetensors" in problem.what
    assert "embedder.weights" in problem.fix


@needs_weights
def test_damaged_weights_are_told_with_what_was_expected_and_found(tmp_path: Path) -> None:
    """One bit of a weight; the file reads like any other."""
    same, other = tmp_path / "same", tmp_path / "other"
    for folder in (same, other):
        folder.mkdir()
        for name in FILES:
            shutil.copy(MiniLM()._folder() / name, folder)
    assert MiniLM(weights=str(same)).problems() == []
    data = bytearray((other / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (other / "model.safetensors").write_bytes(data)
    embedder = MiniLM(weights=str(other))
    told = f"model.safetensors is not .*: its SHA-256 is {hashlib.sha256(data).hexdigest()}, not 53aa51172d14"
    (problem,) = embedder.problems()
    assert re.search(told, problem.what)
    with pytest.raises(ProviderError, match=told):
        embedder.embed(TEXTS)


def test_a_missing_library_is_named() -> None:
    if importlib.util.find_spec("sentence_transformers") is None:
        (problem,) = SentenceTransformers().problems()
        assert "engram[sentence-transformers]" in problem.fix
    else:
        assert SentenceTransformers().problems() == []


class Server(BaseHTTPRequestHandler):
    """Embeds a text as (its length, 1), and answers out of order."""

    asked: list[dict[str, Any]] = []  # noqa: RUF012
    status = 200
    width = 2
    counts = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Server.asked.append(body | {"path": self.path, "key": self.headers["Authorization"]})
        rows = [
            {"object": "embedding", "index": i, "embedding": [float(len(text)), 1.0, 0.0][: Server.width]}
            for i, text in enumerate(body["input"])
        ]
        reply = {
            "object": "list",
            "data": rows[::-1],
            "model": body["model"],
            "usage": {"prompt_tokens": 7, "total_tokens": 7} if Server.counts else None,
        }
        self.send_response(Server.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIEmbedder]:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    monkeypatch.setenv("TEST_KEY", "secret")
    Server.asked, Server.status, Server.width, Server.counts = [], 200, 2, True
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{listening.server_port}/v1"
    yield OpenAIEmbedder("small", 2, url, api_key_env="TEST_KEY", timeout=60, retries=0)
    listening.shutdown()


def test_openai_asks_for_what_it_is_told_and_puts_rows_in_order(server: OpenAIEmbedder) -> None:
    check_embedder(server)
    Server.asked.clear()
    rows = server.embed(["abc", " ", "a"])
    assert rows == pytest.approx(np.array([[3, 1], [0, 0], [1, 1]]) / np.sqrt([[10], [1], [2]]))
    (asked,) = Server.asked
    assert (asked["path"], asked["model"], asked["dimensions"]) == ("/v1/embeddings", "small", 2)
    assert asked["input"] == ["abc", "a"]
    assert asked["key"] == "Bearer secret"


def test_openai_asks_a_server_on_this_machine_without_a_proxy(
    server: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert len(server.embed(["abc"])) == 1


@pytest.mark.parametrize(
    ("status", "width", "message"), [(503, 2, "503"), (401, 2, "401"), (200, 1, "not 1 of length 2")]
)
def test_a_server_that_fails_is_the_providers_doing(
    server: OpenAIEmbedder, status: int, width: int, message: str
) -> None:
    Server.status, Server.width = status, width
    with pytest.raises(ProviderError, match=message):
        server.embed(["abc"])


def sent() -> list[list[str]]:
    return [asked["input"] for asked in Server.asked]


def test_a_text_is_paid_for_once_a_process(server: OpenAIEmbedder) -> None:
    first = server.embed(["abc", "a", "abc"])
    again = replace(server, timeout=59).embed(["a", "abcd", " ", "abc"])
    assert sent() == [["abc", "a"], ["abcd"]]
    np.testing.assert_array_equal(again[[0, 3]], first[[1, 0]])
    assert not again[2].any()
    assert server.usage() == EmbeddingUsage(requests=2, texts=3, tokens=14)


@pytest.mark.parametrize("change", [{"model": "large"}, {"dimensions": 3}])
def test_the_vectors_of_another_model_are_others(server: OpenAIEmbedder, change: dict[str, Any]) -> None:
    server.embed(["abc"])
    Server.width = 3
    other = replace(server, **change)
    with pytest.raises(ProviderError) if "model" in change else nullcontext():
        other.embed(["abc"])  # three components, which only the second asked for
    assert sent() == [["abc"], ["abc"]]
    assert server.usage().requests == other.usage().requests == 1


def test_another_server_is_asked_anew(server: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    server.embed(["abc"])
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/")
    replace(server, base_url=None).embed(["abc"])
    assert sent() == [["abc"], ["abc"]]


def test_what_failed_is_asked_again_and_what_came_before_it_is_not(
    server: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.embedding.openai._BATCH", 1)
    Server.status = 503
    with pytest.raises(ProviderError):
        server.embed(["abc"])
    Server.status, Server.counts = 200, False
    server.embed(["abc", "a"])
    assert sent() == [["abc"], ["abc"], ["a"]]
    assert server.usage() == EmbeddingUsage(requests=2, texts=2, tokens=0)


def test_a_process_keeps_a_bounded_number_of_vectors(
    server: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.embedding.openai._KEPT", 2)
    assert server.embed(["a", "ab", "abc"]).shape == (3, 2)
    server.embed(["abc", "ab"])
    assert len(Server.asked) == 1
    server.embed(["a"])
    assert sent()[1:] == [["a"]]


def test_a_missing_key_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    problems = OpenAIEmbedder(api_key_env="NO_SUCH_KEY").problems()
    assert problems
    assert "secret" not in str(problems)
