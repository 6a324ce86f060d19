"""The parts of NumPy and of `math` that programs may use. What reads or writes files, allocates without
being told to, changes global state or builds views over raw memory is not in the lists.

Two differences from NumPy, so that a program gives the same result each time: `np.empty` is `np.zeros`,
and `np.random` is a generator of its own, seeded by the program's text, never the global one."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from typing import Any

from harness.sandbox.arithmetic import factorial, power
from harness.sandbox.attributes import Namespace

_MATH = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist e erf exp expm1 fabs floor fmod "
    "fsum gcd hypot inf isclose isfinite isinf isnan lcm log log10 log1p log2 modf nan pi radians sin sinh sqrt "
    "tan tanh tau trunc"
)
_NUMPY = (
    "abs absolute add all allclose amax amin any append arange arccos arcsin arctan arctan2 argmax argmin "
    "argpartition argsort argwhere around array array_equal array_split asarray atleast_1d atleast_2d atleast_3d "
    "average bincount bitwise_and bitwise_or bool_ ceil clip column_stack concatenate conj convolve copy copysign "
    "cos cosh count_nonzero cov cross cumprod cumsum deg2rad degrees delete diag diagonal diff digitize divide dot "
    "dstack e equal exp expand_dims expm1 eye fabs fill_diagonal flatnonzero flip fliplr flipud float32 float64 "
    "floor floor_divide fmax fmin fmod full full_like gradient greater greater_equal histogram hstack hypot "
    "identity inf inner insert int16 int32 int64 int8 integer interp intersect1d invert isclose isfinite isin isinf "
    "isnan isscalar less less_equal linspace log log10 log1p log2 floating logical_and logical_not logical_or logical_xor "
    "logspace matmul max maximum mean median meshgrid min minimum mod moveaxis multiply nan nan_to_num nanargmax "
    "nanargmin nanmax nanmean nanmin nansum ndarray number ndenumerate ndim ndindex negative newaxis nonzero not_equal ones "
    "ones_like outer pad partition percentile pi power prod quantile rad2deg radians ravel reciprocal remainder "
    "repeat reshape roll rot90 round searchsorted setdiff1d shape sign sin sinh size sort split sqrt square squeeze "
    "stack std subtract sum swapaxes take tan tanh tile trace transpose trapezoid tril triu true_divide uint16 "
    "uint32 uint64 uint8 union1d unique unravel_index ravel_multi_index var vdot vstack where zeros zeros_like"
)
_LINALG = "cond cross det eig eigh eigvals eigvalsh inv lstsq matrix_rank norm pinv qr solve svd"
_RANDOM = (
    "choice normal permutation rand randint randn random random_sample seed shuffle standard_normal uniform"
)

Adapter = Callable[[Any], Any]
"""Turns a function of the program into one that NumPy may call."""


@functools.cache
def math_namespace() -> Namespace:
    members = {name: getattr(math, name) for name in _MATH.split()}
    return Namespace("math", {**members, "factorial": factorial, "pow": power})


class Numpy(Namespace):
    """`np` for one run. NumPy is imported when a member is first asked for."""

    def __init__(self, source: str, adapt: Adapter) -> None:
        super().__init__("np", {})
        self._members: dict[str, Any] = {}
        self._source = source
        self._adapt = adapt

    def member(self, name: str) -> Any:
        if not self._members:
            functions, linalg = _shared()
            self._members = {
                **functions,
                "linalg": Namespace("np.linalg", linalg),
                "vectorize": self._vectorize,
                "apply_along_axis": self._apply_along_axis,
            }
        if name == "random" and name not in self._members:
            self._members["random"] = Namespace("np.random", self._random())
        return super().member(name)

    def _random(self) -> dict[str, Any]:
        import numpy as np

        seed = int.from_bytes(hashlib.sha256(self._source.encode(errors="replace")).digest()[:4], "little")
        generator = np.random.RandomState(seed)
        return {name: getattr(generator, name) for name in _RANDOM.split()}

    def _vectorize(self, function: Any, otypes: Any = None) -> Any:
        import numpy as np

        return np.vectorize(self._adapt(function), otypes=otypes)

    def _apply_along_axis(self, function: Any, axis: int, array: Any, *args: Any) -> Any:
        import numpy as np

        return np.apply_along_axis(self._adapt(function), axis, array, *args)


@functools.cache
def _shared() -> tuple[dict[str, Any], dict[str, Any]]:
    import numpy as np

    members = {name: getattr(np, name) for name in _NUMPY.split()}
    members |= {"empty": np.zeros, "empty_like": np.zeros_like, "trapz": np.trapezoid, "row_stack": np.vstack}
    return members, {name: getattr(np.linalg, name) for name in _LINALG.split()}
