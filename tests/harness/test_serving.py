"""What is handed to a method that is served, and what keeps it from being served."""

from __future__ import annotations

import socket

import pytest

from harness import commands
from harness.chat.models import OpenModels
from harness.commandline import main
from harness.failures import UsageError
from harness.protocols import Message, Reply, Sampling
from harness.serving import Service, composed, method_of, open_models

VARIANTS = [
    "flat",
    "hime",
    "hime_fifo",
    "hime_image_only",
    "hime_limited",
    "hime_no_management",
    "hime_no_sentry",
]
VARIANTS += ["hime_no_sentry_uniform", "hime_text_only", "transient", "transient_sentry"]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_of_hime_can_be_served_with_the_models_of_its_roles(name) -> None:
    cell = composed([f"method={name}", "llm=rules"])
    method = method_of(cell)
    opened = OpenModels()
    models = open_models(cell, method.roles, opened)
    wanted = {"planner", "sentry"} if "sentry" in method.roles else {"planner"}
    assert set(models) == wanted and {model.name for model in models.values()} == {"rules-3"}
    opened.close()


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["method=voxposer"], "method=voxposer cannot be served: it only plays episodes"),
        ([], "method=retry cannot be served"),
        (["method=himee"], "There is no method=himee. Did you mean hime"),
        (["method=hime", "method.planner.imagess=3"], "There is no key"),
        (["method=hime", "budget.usd=3"], "budget.usd counts in sweeps only"),
        (["method=hime", "budget.episode.calls=3"], "budget.episode.calls counts in sweeps only"),
        (["method=transient", "+llm.roles.sentry.model=x"], "nothing in method=transient asks for this role"),
        (["method=hime", "llm=replay"], "llm=replay has nothing to replay"),
    ],
)
def test_what_cannot_be_served_is_told_with_a_way_out(overrides, words, capsys) -> None:
    assert main(commands, "", ["serve", *overrides]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_an_address_that_is_taken_is_told(tmp_path, capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = ["serve", "method=hime", "llm=rules", "--port", port, "--state", str(tmp_path)]
        assert main(commands, "", arguments) == 2
    said = capsys.readouterr().err
    assert f"Cannot listen at 127.0.0.1, port {port}: " in said and "Address already in use" in said
    assert "Another address: --host, --port (0 for any port that is free)." in said


@pytest.mark.parametrize("cameras", ["[wrist]", "[wrist,third_person,side]"])
def test_a_client_has_two_cameras(tmp_path, capsys, cameras) -> None:
    arguments = ["serve", "method=hime", "llm=rules", f"method.cameras={cameras}", "--state", str(tmp_path)]
    assert main(commands, "", arguments) == 2
    assert "a client sends pictures of two cameras" in capsys.readouterr().err


def test_what_a_model_draws_hangs_on_the_task(tmp_path) -> None:
    class Model:
        name = "model"

        def complete(self, messages, sampling):
            asked.append(sampling)
            return Reply("")

        def close(self) -> None: ...

    asked: list[Sampling] = []
    service = Service("hime", "x", {"planner": Model()}, Sampling(temperature=0.6), 5, tmp_path, "", 0)
    for task in ("a", "b", "a"):
        service.ask(task, "planner", [Message("user", "?")], 77)
    assert [sampling.seed for sampling in asked[:2]] != [asked[0].seed] * 2 and asked[0] == asked[2]
    assert (asked[0].temperature, asked[0].max_tokens) == (0.6, 77) and not service.needs_words


def test_budgets_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"budget\.tokens counts in sweeps only"):
        method_of(composed(["method=flat", "budget.tokens=3"]))
