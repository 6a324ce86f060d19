"""Operators that one small expression can turn into hours of work or gigabytes inside a single native
call, which nothing in the process can interrupt: `10**10**10`, `[0] * 10**10`, `1 << 10**10`. They are
refused by the size of the result; all other operators run as they are."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

MAX_BITS = 100_000
"""Longest integer, in bits."""
MAX_ITEMS = 10_000_000
"""Longest sequence made by repetition, and longest range."""


class TooLarge(Exception):
    """The result of an operation is over a size limit; the message says which."""


def multiply(left: Any, right: Any) -> Any:
    _check_product(left, right)
    return left * right


def power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if isinstance(base, int) and isinstance(exponent, int):
        if modulus is not None and max(exponent.bit_length(), modulus.bit_length()) > 4096:
            raise TooLarge("pow with numbers of more than 4096 bits")
        if modulus is None and abs(base) > 1 and base.bit_length() * abs(exponent) > MAX_BITS:
            raise TooLarge(f"the power has more than {MAX_BITS} bits")
    return pow(base, exponent, modulus)


def shift_left(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right > MAX_BITS:
        raise TooLarge(f"the shifted integer has more than {MAX_BITS} bits")
    return left << right


def round_to(number: Any, ndigits: Any = None) -> Any:
    """`round`, where an integer rounded to minus a billion digits would need ten to that power."""
    if isinstance(ndigits, int) and abs(ndigits) > 1000:
        raise TooLarge(f"round to {ndigits} digits")
    return round(number) if ndigits is None else round(number, ndigits)


def factorial(number: Any) -> int:
    if number > 5000:
        raise TooLarge("factorial of more than 5000")
    return math.factorial(number)


def bounded_range(*bounds: Any) -> range:
    """`range`, short enough that native code walks through it in a fraction of a second."""
    result = range(*bounds)
    if result and (abs(result[-1] - result[0]) // abs(result.step)) >= MAX_ITEMS:
        raise TooLarge(f"a range of more than {MAX_ITEMS} numbers; use `while` with a condition")
    return result


def _check_product(left: Any, right: Any) -> None:
    if isinstance(left, int):
        if isinstance(right, int):
            if left.bit_length() + right.bit_length() > MAX_BITS:
                raise TooLarge(f"the product has more than {MAX_BITS} bits")
            return
        left, right = right, left
    if (
        isinstance(right, int)
        and isinstance(left, str | list | tuple | bytes)
        and len(left) * right > MAX_ITEMS
    ):
        raise TooLarge(f"the repeated sequence has more than {MAX_ITEMS} items")


def _multiply_in_place(left: Any, right: Any) -> Any:
    _check_product(left, right)
    left *= right
    return left


def _power_in_place(left: Any, right: Any) -> Any:
    if isinstance(left, int):
        return power(left, right)
    left **= right
    return left


def _shift_in_place(left: Any, right: Any) -> Any:
    if isinstance(left, int):
        return shift_left(left, right)
    left <<= right
    return left


BINARY: dict[str, Callable[[Any, Any], Any]] = {"*": multiply, "**": power, "<<": shift_left}
"""Operators that the policy routes through here."""

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": _multiply_in_place,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": _power_in_place,
    "@=": operator.imatmul,
    "<<=": _shift_in_place,
    ">>=": operator.irshift,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
}
