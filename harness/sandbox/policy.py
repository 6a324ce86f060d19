"""What a generated program may say: RestrictedPython's transformer, which refuses what it does not know
and routes attribute and item access through guards, with the differences listed at `Policy`. It reads
syntax and names only; what values may be reached at run time is for `harness.sandbox.guards`."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

from RestrictedPython.transformer import IOPERATOR_TO_STR, RestrictingNodeTransformer, copy_locations

from harness.failures import CodeFailure, GenerationFailure
from harness.sandbox.extract import MAX_CHARS

FILENAME = "<program>"

_UNAVAILABLE = (
    "open input eval exec compile globals locals vars dir breakpoint help memoryview object super classmethod "
    "staticmethod property setattr delattr bytearray copyright credits license aiter anext"
)
UNAVAILABLE = frozenset(_UNAVAILABLE.split())
"""Builtins that are refused before anything runs, unless the program or its API defines the name."""

MODULES = ("numpy", "numpy.linalg", "numpy.random", "math")
"""Modules that may be imported: the names are bound to the sandbox's own versions."""
IGNORED_MODULES = ("typing", "__future__", "collections.abc")
"""Imported for annotations, which are dropped; so are these imports."""

_GUARDED_OPERATORS: dict[type[ast.operator], str] = {ast.Mult: "*", ast.Pow: "**", ast.LShift: "<<"}
_GUARD_NAME = re.compile(r"_tmp\d+|_[a-z_]*_|__.*")
"""Names that the transformed program uses itself. Other names with one leading underscore are free."""


@dataclass(frozen=True)
class Compiled:
    code: CodeType
    notes: tuple[str, ...] = ()
    """What was dropped, for example "import numpy"."""


@lru_cache(maxsize=512)
def compile_program(source: str, api_names: frozenset[str]) -> Compiled:
    """Check and compile. Raises `GenerationFailure` for what is not Python at all, and `CodeFailure` that
    names the first line that is not allowed and what to write instead."""
    if len(source) > MAX_CHARS:
        raise CodeFailure(f"the program has {len(source)} characters, more than {MAX_CHARS}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the model's style, not about this process
            return _compile(source, api_names)
    except SyntaxError as error:
        raise GenerationFailure(f"the program is not Python: line {error.lineno or 0}: {error.msg}") from None
    except ValueError as error:  # a null byte
        raise GenerationFailure(f"the program is not Python: {error}") from None
    except (RecursionError, MemoryError):
        raise CodeFailure("the program is nested too deeply to be checked; use shorter expressions") from None


def _compile(source: str, api_names: frozenset[str]) -> Compiled:
    tree = ast.parse(source)
    policy = Policy(_bound_names(tree) | api_names)
    policy.visit(tree)
    if policy.refusals:
        line, reason = min(policy.refusals)
        raise CodeFailure(f"line {line}: {reason}")
    code = compile(ast.fix_missing_locations(tree), FILENAME, "exec", dont_inherit=True)
    return Compiled(code, tuple(policy.notes))


Visited = ast.AST | Iterable[ast.AST] | None
"""What takes the place of a node."""


class Policy(RestrictingNodeTransformer):
    """RestrictedPython's rules, and on top of them:

    - every call goes through `_call_`, so that time inside the API can be told from the program's own;
    - `*`, `**` and `<<` go through size guards;
    - handlers cannot catch what the harness must see: each `try` first re-raises `_passing_`;
    - no classes, decorators, `with`, `match`, `async`, `except*`; no `yield` inside `try` (it would run after the end);
    - no assignment to attributes; augmented assignment to items works, with Python's order of evaluation;
    - `nonlocal`, `print`, annotations and names with a leading underscore work as in Python;
    - imports of numpy, math and typing are dropped or bound to the sandbox's own, others are refused.
    """

    def __init__(self, known_names: Collection[str]) -> None:
        super().__init__()
        self.refusals: list[tuple[int, str]] = []
        self.notes: list[str] = []
        self._known = known_names

    def error(self, node: ast.AST, info: str) -> None:
        self.refusals.append((getattr(node, "lineno", 0), info))

    def not_allowed(self, node: ast.AST) -> None:
        self.error(
            node, f"`{_KEYWORDS.get(type(node).__name__, type(node).__name__)}` is not available to programs"
        )

    # Names

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        if name is not None and _GUARD_NAME.fullmatch(name):
            self.error(node, f"the name `{name}` is reserved, use one without underscores at its ends")

    def visit_Name(self, node: ast.Name) -> Visited:  # noqa: N802
        if node.id == "__name__" and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Constant("__main__"), node)
        self.check_name(node, node.id)
        if node.id in UNAVAILABLE and node.id not in self._known:
            self.error(
                node,
                f"`{node.id}` is not available to programs, only the task API, np, math and plain Python",
            )
        return node

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> Visited:  # noqa: N802
        for name in node.names:
            self.check_name(node, name)
        return node

    visit_Nonlocal = visit_Global  # noqa: N815

    def visit_keyword(self, node: ast.keyword) -> Visited:
        self.check_name(node, node.arg)
        return self.node_contents_visit(node)

    def visit_arg(self, node: ast.arg) -> Visited:
        self.check_name(node, node.arg)
        node.annotation = None
        return node

    # Access

    def visit_Attribute(self, node: ast.Attribute) -> Visited:  # noqa: N802
        if not isinstance(node.ctx, ast.Load):
            self.error(node, f"attributes cannot be set or deleted (`.{node.attr}`); make a new value")
            return node
        return super().visit_Attribute(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Visited:  # noqa: N802
        target, operator = node.target, IOPERATOR_TO_STR[type(node.op)]
        if not isinstance(target, ast.Subscript):
            return super().visit_AugAssign(node)
        # Container and index are evaluated once, and before the value, as Python does.
        container, index = self.gen_tmp_name(), self.gen_tmp_name()
        old = _call("_getitem_", _load(container), _load(index))
        new = _call("_inplacevar_", ast.Constant(operator), old, self.visit(node.value))
        place = ast.Subscript(_call("_write_", _load(container)), _load(index), ast.Store())
        statements: list[ast.stmt] = [
            ast.Assign([ast.Name(container, ast.Store())], self.visit(target.value)),
            ast.Assign([ast.Name(index, ast.Store())], _index_value(self.visit(target.slice))),
            ast.Assign([place], new),
            ast.Delete([ast.Name(container, ast.Del()), ast.Name(index, ast.Del())]),
        ]
        for statement in statements:
            copy_locations(statement, node)
        return statements

    def visit_Assign(self, node: ast.Assign) -> Visited:  # noqa: N802
        return self.node_contents_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Visited:  # noqa: N802
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def guard_iter(self, node: ast.For | ast.comprehension) -> Visited:
        node = self.node_contents_visit(node)
        iterator = _call("_getiter_", node.iter)
        copy_locations(iterator, node.iter)
        node.iter = iterator
        return node

    # Calls and operators

    def visit_Call(self, node: ast.Call) -> Visited:  # noqa: N802
        node = self.node_contents_visit(node)
        node.args.insert(0, node.func)
        node.func = _load("_call_")
        copy_locations(node.func, node.args[0])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Visited:  # noqa: N802
        operator = _GUARDED_OPERATORS.get(type(node.op))
        harmless = any(
            isinstance(side, ast.Constant) and isinstance(side.value, float)
            for side in (node.left, node.right)
        )
        node = self.node_contents_visit(node)
        if operator is None or harmless:
            return node
        guarded = _call("_binary_", ast.Constant(operator), node.left, node.right)
        copy_locations(guarded, node)
        return guarded

    # Control flow

    def visit_Try(self, node: ast.Try) -> Visited:  # noqa: N802
        for statement in _inside(node.finalbody, (ast.Return, ast.Break, ast.Continue)):
            self.error(statement, "`return`, `break` and `continue` are not available inside `finally`")
        for found in _inside([node], (ast.Yield, ast.YieldFrom)):
            self.error(found, "`yield` is not available inside `try`")
        node = self.node_contents_visit(node)
        if node.handlers:
            passing = ast.ExceptHandler(_load("_passing_"), None, [ast.Raise(None, None)])
            copy_locations(passing, node.handlers[0])
            node.handlers.insert(0, passing)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Visited:  # noqa: N802
        self.check_name(node, node.name)
        node.returns = None
        for decorator in node.decorator_list:
            self.error(decorator, "decorators are not available to programs; call the function instead")
        return self.node_contents_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> Visited:  # noqa: N802
        return self.node_contents_visit(node)

    def visit_Module(self, node: ast.Module) -> Visited:  # noqa: N802
        return self.node_contents_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Visited:  # noqa: N802
        self.error(node, "`class` is not available to programs; use functions, lists and dicts")
        return node

    def visit_With(self, node: ast.With) -> Visited:  # noqa: N802
        self.not_allowed(node)
        return node

    # Imports

    def visit_Import(self, node: ast.Import) -> Visited:  # noqa: N802
        bound: list[ast.stmt] = []
        for alias in node.names:
            self.check_name(node, alias.asname)
            if alias.name in MODULES:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                bound.append(_bind(alias.asname or whole, _call("_module_", ast.Constant(whole)), node))
            elif alias.name not in IGNORED_MODULES:
                self._refuse_import(node, alias.name)
            self.notes.append(f"import {alias.name}")
        return bound or [ast.copy_location(ast.Pass(), node)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Visited:  # noqa: N802
        module = "." * node.level + (node.module or "")
        bound: list[ast.stmt] = []
        for alias in node.names:
            name = alias.asname or alias.name
            self.check_name(node, name)
            if module in MODULES and alias.name != "*" and not alias.name.startswith("_"):
                found = _call("_getattr_", _call("_module_", ast.Constant(module)), ast.Constant(alias.name))
                bound.append(_bind(name, found, node))
            elif module not in IGNORED_MODULES or alias.name == "*":
                self._refuse_import(node, f"{module}.{alias.name}")
        self.notes.append(f"import {module}")
        return bound or [ast.copy_location(ast.Pass(), node)]

    def _refuse_import(self, node: ast.stmt, module: str) -> None:
        self.error(
            node, f"import of `{module}` is refused; np, math and the task API are there without an import"
        )


_KEYWORDS = {
    "With": "with",
    "Match": "match",
    "TryStar": "except*",
    "AsyncFunctionDef": "async def",
    "AsyncFor": "async for",
    "AsyncWith": "async with",
    "Await": "await",
}


def _bound_names(tree: ast.Module) -> frozenset[str]:
    """Names that the program gives a value somewhere."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return frozenset(names)


def _inside(nodes: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> Iterable[ast.AST]:
    """Nodes of a kind below `nodes`, without looking into functions, which run at another time."""
    for node in nodes:
        if isinstance(node, kinds):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            yield from _inside(ast.iter_child_nodes(node), kinds)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_load(function), list(arguments), [])


def _bind(name: str, value: ast.expr, node: ast.stmt) -> ast.stmt:
    statement = ast.Assign([ast.Name(name, ast.Store())], value)
    copy_locations(statement, node)
    return statement


def _index_value(index: ast.expr) -> ast.expr:
    """An index as a value of its own: a slice is only syntax until `slice` is called."""
    if isinstance(index, ast.Slice):
        bounds: list[Any] = [bound or ast.Constant(None) for bound in (index.lower, index.upper, index.step)]
        return _call("_slice_", *bounds)
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_index_value(part) for part in index.elts], ast.Load())
    return index
