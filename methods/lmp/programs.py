"""The language model programs of one trial. The planner and the composer run when they are called; the
others are compiled once and evaluated again at each use, against the newest observation (fact page A1).
What the programs can do is in `methods.lmp.interface`, where their code comes from in `methods.lmp.writer`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from harness.failures import CodeFailure
from methods.lmp.interface import call_record, described
from methods.lmp.prompt import CONTEXT_PROGRAMS, LAZY_PROGRAMS, MAP_PROGRAMS, Request, request
from methods.lmp.values import LazyMap, LazyObservation, Observations, observations

if TYPE_CHECKING:
    from harness.episode import Episode, Trial
    from harness.sandbox import Program
    from methods.lmp.interface import TaskInterface
    from methods.lmp.writer import Writer

RECORDED = frozenset({"detect", "execute", "reset_to_default_pose", "composer", "parse_query_obj"})
"""Calls that look or act."""


class Programs:
    """Runs programs by what they are asked."""

    def __init__(self, episode: Episode, trial: Trial, writer: Writer, interface: TaskInterface) -> None:
        self._episode = episode
        self._trial = trial
        self._writer = writer
        self._interface = interface
        self._objects = interface.objects()
        self._compiled: dict[Request, Program] = {}

    def plan(self, instruction: str) -> None:
        """Write the planner's program for the instruction and run it to its end. Raises the
        `MethodFailure` of whatever fails in it: a step that fails ends the plan."""
        self._run("planner", instruction)

    def api(self, program: str) -> dict[str, object]:
        """What the code of a program may use besides `np`. Programs that are evaluated again and again
        cannot act; the names of `objects` are there where the prompt shows them."""
        names: dict[str, Callable[..., Any]] = dict(self._interface.reading())
        if program not in LAZY_PROGRAMS:
            names |= self._interface.acting()
        if program == "planner":
            names["composer"] = partial(self._run, "composer")
        if program == "composer":
            names |= {name: partial(self._map, name) for name in MAP_PROGRAMS}
        if program == "composer" or program in MAP_PROGRAMS:
            names["parse_query_obj"] = self._parse
        recorded: dict[str, object] = {n: self._recorded(program, n, call) for n, call in names.items()}
        return recorded | ({"objects": list(self._objects)} if _shows_objects(program) else {})

    def _run(self, program: str, query: str) -> None:
        self._program(_asked(program, query, self._objects)).run()

    def _map(self, program: str, query: str) -> LazyMap:
        asked = _asked(program, query, self._objects)
        return LazyMap(asked, partial(_ret_val, asked, self._program(asked)))

    def _parse(self, query: str) -> LazyObservation | Observations:
        asked = _asked("parse_query_obj", query, self._objects)
        return observations(asked, partial(_ret_val, asked, self._program(asked)), self._objects)

    def _program(self, asked: Request) -> Program:
        if asked not in self._compiled:
            code = self._writer.write(asked)
            program = self._episode.sandbox.compile(code, self.api(asked.program))
            for note in program.notes:
                self._trial.count(f"code: {note}")
            self._compiled[asked] = program
        return self._compiled[asked]

    def _recorded(self, program: str, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The call, written to the trace. Geometry is left out: it can be read off the code. The call's own
        signature stays visible: by it the sandbox tells wrong arguments, which are the program's mistake."""
        if name not in RECORDED and name not in MAP_PROGRAMS:
            return call

        @wraps(call, assigned=())
        def recorded(*args: Any, **kwargs: Any) -> Any:
            self._episode.trace("call", by=program, name=name, arguments=call_record(args, kwargs))
            return call(*args, **kwargs)

        return recorded


def _shows_objects(program: str) -> bool:
    return program in CONTEXT_PROGRAMS


def _asked(program: str, query: str, objects: list[str]) -> Request:
    """Raises `CodeFailure` when a program is called with what is no sentence, or no text that can be sent."""
    if not isinstance(query, str) or not query.replace(".", " ").split() or not _is_unicode(query):
        raise CodeFailure(f"{program} has to be called with a sentence, not with {described(query)}")
    return request(program, query, objects)


def _is_unicode(text: str) -> bool:
    """Whether it holds no half of a surrogate pair, as "\\ud83d" without its second half is one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _ret_val(asked: Request, program: Program) -> Any:
    """Run a lazy program. Raises `CodeFailure` when it sets no `ret_val`."""
    results = program.run()
    if "ret_val" not in results:
        raise CodeFailure(f"{asked.program} for `{asked.query}` did not set ret_val")
    return results["ret_val"]
