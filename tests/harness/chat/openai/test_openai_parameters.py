"""Parameters that a model refuses: found once, and known to all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.chat.openai import OpenAIChat
from harness.chat.openai.faults import Fault
from harness.chat.openai.parameters import Parameters
from harness.failures import ProviderError
from harness.protocols import Reply, Sampling
from tests.harness.chat.openai.conftest import HELLO, Clock
from tests.harness.chat.wire import WireServer, fails, out_of_quota, rate_limited, refuses, says, stalls

Ask = Callable[..., Reply]
SENT = {"temperature": 0.0, "max_tokens": 5, "stop": ["a"], "seed": 1}


@pytest.mark.parametrize(
    ("message", "code", "param", "name"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
            "max_tokens",
            "max_tokens",
        ),
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
            "unsupported_value",
            "temperature",
            "temperature",
        ),
        ("Unsupported parameter: 'stop' is not supported with this model.", "", "", "stop"),
        ("Unrecognized request argument supplied: seed", "", "seed", "seed"),
        ("[{'type': 'extra_forbidden', 'loc': ('body', 'seed')}]", "BadRequestError", "", "seed"),
        ("temperature is deprecated for this model", "", "", "temperature"),
        ("this endpoint does not support parameters: ['stop']", "", "", "stop"),
        # Nothing to leave out:
        (
            "max_tokens is too large: 99. This model supports at most 5 tokens",
            "invalid_value",
            "max_tokens",
            None,
        ),
        (
            "Invalid 'temperature': decimal above maximum value",
            "decimal_above_max_value",
            "temperature",
            None,
        ),
        ("Unsupported parameter: 'top_k'", "unsupported_parameter", "top_k", None),
        ("Unknown model; stop asking for it", "", "", None),
        ("This model's maximum context length is 8192 tokens", "context_length_exceeded", "messages", None),
    ],
)
def test_what_a_refusal_names(tmp_path: Path, message: str, code: str, param: str, name: str | None) -> None:
    parameters = Parameters(tmp_path, "chat")
    assert parameters.learn(Fault("request", message, 400, code=code, param=param), SENT) == (
        name is not None
    )
    adapted = parameters.adapt(Sampling(max_tokens=5, stop=("a",), seed=1))
    expected = {key: value for key, value in SENT.items() if key != name}
    if name == "max_tokens":
        expected["max_completion_tokens"] = 5
    assert adapted.values == expected


def test_only_a_refused_request_says_anything(tmp_path: Path) -> None:
    parameters = Parameters(tmp_path, "chat")
    for status in (None, 401, 404, 500):
        assert not parameters.learn(Fault("request", "Unsupported parameter: 'stop'", status), SENT)


def test_a_refusal_costs_one_request(server: WireServer, ask: Ask) -> None:
    server.always = refuses(["max_tokens", "temperature"], says("x = 1"))
    first = ask()
    assert first.details["retries"] == 2
    for _ in range(5):
        reply = ask()
    assert len(server.bodies) == 2 + 6
    assert "retries" not in reply.details
    assert reply.details["dropped"] == ["temperature"]
    assert reply.details["renamed"] == {"max_tokens": "max_completion_tokens"}
    assert server.bodies[-1]["max_completion_tokens"] == 512
    assert server.bodies[-1].keys() == {"model", "messages", "max_completion_tokens", "seed"}


def test_what_one_process_found_another_knows(
    server: WireServer, configured: Callable[..., OpenAIChat]
) -> None:
    server.always = refuses(["temperature"], says("x = 1"))
    for _ in range(2):
        model = configured().open()
        model.complete(HELLO, Sampling())
        model.close()
    assert len(server.bodies) == 3


def test_another_model_is_another_matter(server: WireServer, ask: Ask) -> None:
    server.script.append(refuses(["temperature"], says("x = 1")))
    assert ask().details["dropped"] == ["temperature"]
    assert "dropped" not in ask(model="gpt-4o").details
    assert "dropped" not in ask(layout="completion").details


def test_stop_strings_that_are_refused_are_cut_here(server: WireServer, ask: Ask) -> None:
    server.always = refuses(["stop"], says("x = 1\n# Query: go on\ny = ", "length"))
    reply = ask(sampling=Sampling(stop=("\n# Query:",)))
    assert (reply.text, reply.finish_reason) == ("x = 1", "stop")
    assert reply.details["dropped"] == ["stop"]
    without = ask()
    assert without.finish_reason == "length"
    assert "dropped" not in without.details  # nothing was left out of this request


def test_a_limit_on_tokens_is_never_left_out(server: WireServer, ask: Ask) -> None:
    server.always = refuses(["max_tokens", "max_completion_tokens"], says("x = 1"))
    with pytest.raises(ProviderError, match="'max_completion_tokens' is not supported"):
        ask()
    assert len(server.bodies) == 2


def test_the_probe_finds_it_before_anything_runs(
    server: WireServer, configured: Callable[..., OpenAIChat]
) -> None:
    server.always = refuses(["max_tokens", "temperature", "stop"], says("OK"))
    config = configured()
    assert config.probe(Sampling(max_tokens=100)) == []
    assert len(server.bodies) == 4
    assert server.bodies[-1]["max_completion_tokens"] == 100
    model = config.open()
    reply = model.complete(HELLO, Sampling(stop=("a",)))
    model.close()
    assert reply.details["dropped"] == ["temperature", "stop"]
    assert len(server.bodies) == 5


def test_the_probe_starts_anew(server: WireServer, configured: Callable[..., OpenAIChat]) -> None:
    """A server may have been started with another model behind the same name."""
    server.script.append(refuses(["temperature"], says("OK")))
    config = configured()
    config.probe(Sampling())
    config.probe(Sampling())
    assert "temperature" in server.bodies[-1]


@pytest.mark.parametrize(
    ("answer", "what", "fix"),
    [
        (fails(401, "Incorrect API key provided"), "401: Incorrect API key", "OPENAI_API_KEY"),
        (fails(404, "The model does not exist"), "404: The model does not exist", "llm.model"),
        (out_of_quota(), "429: You exceeded your current quota", "account"),
        (fails(500, "oops"), r"500: oops (3 attempts; llm.deadline=300)", "llm.base_url"),
        (fails(400, "bad request"), "400: bad request", "server names"),
    ],
)
def test_what_the_probe_says(
    server: WireServer,
    configured: Callable[..., OpenAIChat],
    monkeypatch: pytest.MonkeyPatch,
    answer,
    what,
    fix,
) -> None:
    monkeypatch.setattr("harness.chat.openai.model.FIRST_PAUSE", 0.01)
    server.always = answer
    (problem,) = configured().probe(Sampling())
    assert what in problem.what
    assert "gpt-4.1-mini at http://127.0.0.1" in problem.what
    assert fix in problem.fix


def test_a_rate_limit_is_no_reason_not_to_start(
    server: WireServer, configured: Callable[..., OpenAIChat], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.chat.openai.model.FIRST_PAUSE", 0.01)
    server.always = rate_limited()
    assert configured().probe(Sampling()) == []
    assert len(server.bodies) == 3


def test_a_rate_limit_is_none_either_when_time_runs_out(
    server: WireServer, configured: Callable[..., OpenAIChat], clock: Clock
) -> None:
    server.script.append(rate_limited())
    server.always = clock.takes(301.0, stalls)
    assert configured().probe(Sampling()) == []
    assert len(server.bodies) == 2
