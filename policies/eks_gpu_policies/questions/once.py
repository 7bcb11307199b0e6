"""Answers about a whole stack that several rules ask for, found once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from eks_gpu_policies.stack import Stack

T = TypeVar("T")


def once(read: Callable[[Stack], T]) -> Callable[[Stack], T]:
    """Return ``read``, which then does its work once for each stack; what it raises is not kept."""
    answers: WeakKeyDictionary[Stack, T] = WeakKeyDictionary()

    @wraps(read)
    def answer(stack: Stack) -> T:
        if stack not in answers:
            answers[stack] = read(stack)
        return answers[stack]

    return answer
