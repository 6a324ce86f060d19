"""The chat model `rules`: a program that answers requests for robot programs from what the messages say, and
from nothing else. It is deterministic; it is no language model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.chat.rules import adapter, composer, lookup, maps, planner, reflector
from harness.chat.rules.embodied.answers import answer
from harness.chat.rules.embodied.reading import is_embodied
from harness.chat.rules.frame import read_frame
from harness.chat.rules.request import Request, read
from harness.failures import ProviderError
from harness.protocols import Message, Reply, Sampling

VERSION = "3"
NAME = f"rules-{VERSION}"


class RulesModel:
    """Completes `planner`, `composer`, `parse_query_obj` and the five map programs, rewrites a plan in the style
    of examples, judges an attempt by what a camera saw, and plays the parts of an episodic memory's planners and
    Sentry (`embodied`).

    A sentence or a phrase outside its grammar gets a reply of one comment that says so: the method's failure,
    as a language model's refusal would be. A conversation that asks for no program or for an unknown one raises
    `ProviderError`: it was sent to the wrong model.

    A token is a word, a number or a punctuation mark, in prompts and replies alike. With a temperature
    above 0, `sampling.seed` chooses among plans that are about equally good; everything else is fixed."""

    name = NAME

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        text, details = _answer(messages, sampling)
        for stop in filter(None, sampling.stop):
            text = text.split(stop, 1)[0]
        text, finish_reason = _cut(text, sampling.max_tokens)
        return Reply(
            text=text,
            finish_reason=finish_reason,
            model=NAME,
            prompt_tokens=sum(count_tokens(message.text) for message in messages),
            completion_tokens=count_tokens(text),
            cost_usd=0.0,
            details=details,
        )

    def close(self) -> None:
        return None


def count_tokens(text: str) -> int:
    return len(_TOKEN.findall(text))


_TOKEN = re.compile(r"\w+|[^\w\s]")


def _answer(messages: Sequence[Message], sampling: Sampling) -> tuple[str, dict[str, str]]:
    system = "\n".join(message.text for message in messages if message.role == "system")
    if is_embodied(system):
        return answer(messages), {}
    if system.startswith("You rewrite the program"):
        return adapter.write(messages) or _refusal("there is no plan to rewrite", "none was shown"), {}
    if system.startswith("You judge the attempt"):
        return reflector.write(messages) or "I see no attempt.", {}
    return _complete(read(messages), sampling)


def _complete(request: Request, sampling: Sampling) -> tuple[str, dict[str, str]]:
    query = request.query.strip().rstrip(".").strip()
    if request.program == "planner":
        found = planner.write(request, sampling.temperature, sampling.seed)
        if found is None:
            return _refusal("no example can be followed for", query), {}
        return found[0], {"analogy": found[1]}
    frame = read_frame(request.examples, request.system)
    if request.program == "composer":
        code = composer.write(query, request.examples)
    elif request.program == "parse_query_obj":
        code = lookup.write(query, request.objects, request.examples, frame)
    elif request.program in maps.WRITERS:
        code = maps.WRITERS[request.program](query, frame)
    else:
        known = ", ".join(["planner", "composer", "parse_query_obj", *maps.WRITERS])
        raise ProviderError(
            f"The model `rules` does not know the program `{request.program}`; it completes {known}."
        )
    return code if code is not None else _refusal("I do not understand", query), {}


def _refusal(why: str, query: str) -> str:
    return f"# {why}: {query}"


def _cut(text: str, max_tokens: int) -> tuple[str, str]:
    spans = list(_TOKEN.finditer(text))
    if len(spans) <= max_tokens:
        return text, "stop"
    return text[: spans[max_tokens].start()], "length"
