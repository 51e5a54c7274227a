"""Arithmetic on rows of bytes, byte by byte.

A row is taken as one large number, which is many times quicker in Python than a loop. The highest
or lowest bits of all bytes are handled apart, so that nothing is carried over into a neighbour.
"""

from __future__ import annotations

from functools import lru_cache


def plus(one: bytes, other: bytes) -> bytes:
    """Sums modulo 256."""
    a, b, top = number(one), number(other), repeated(0x80, len(one))
    total = ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top)
    return total.to_bytes(len(one), "little")


def minus(one: bytes, other: bytes) -> bytes:
    """Differences modulo 256."""
    a, b, top = number(one), number(other), repeated(0x80, len(one))
    rest = ((a | top) - (b & ~top)) ^ ((a ^ b ^ top) & top)
    return rest.to_bytes(len(one), "little")


def average(one: bytes, other: bytes) -> bytes:
    """Means, rounded down."""
    a, b = number(one), number(other)
    # What both have, and half of what one of them has.
    mean = (a & b) + (((a ^ b) & repeated(0xFE, len(one))) >> 1)
    return mean.to_bytes(len(one), "little")


def number(row: bytes) -> int:
    return int.from_bytes(row, "little")


@lru_cache
def repeated(value: int, length: int) -> int:
    return number(bytes((value,)) * length)
