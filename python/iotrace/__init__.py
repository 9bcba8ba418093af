"""Marks that a Python program leaves in its own I/O trace.

    import iotrace

    for batch in loader:
        iotrace.step()
        with iotrace.range("forward"):
            ...

In a process that iotrace does not trace each of these does nothing, and costs some tens of
nanoseconds. ``iotrace run -- python3 train.py`` (or ``python3 -m iotrace run -- ...``) traces one;
``iotrace report`` then has steps, marks and ranges.
"""

import ctypes as _ctypes
import functools as _functools
from types import TracebackType as _TracebackType
from typing import Any, Callable, Optional, Type, TypeVar, Union

__all__ = ["mark", "pause", "range", "resume", "step", "traced"]

_F = TypeVar("_F", bound=Callable[..., Any])

# The preload library is there from the start of a process or never. PyDLL keeps the interpreter
# lock during the calls: to let go of it would let other threads run where the program alone does not.
_process = _ctypes.PyDLL(None)


def _find(symbol: str, *arguments: Any) -> Optional[Callable[..., None]]:
    function: Any = getattr(_process, symbol, None)
    if function is not None:
        function.argtypes, function.restype = arguments, None
    return function  # type: ignore[no-any-return]


_step = _find("iotrace_step")
_mark = _find("iotrace_mark", _ctypes.c_char_p)
_begin = _find("iotrace_range_begin", _ctypes.c_char_p)
_end = _find("iotrace_range_end")
_pause = _find("iotrace_pause")
_resume = _find("iotrace_resume")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def traced() -> bool:
    """Whether iotrace records this process."""
    return _step is not None


def step() -> None:
    """A step (of training: one batch; of serving: one request or token) begins here, in this thread."""
    if _step is not None:
        _step()


def mark(name: str) -> None:
    """Something happens here, in this thread. At most 4096 bytes of the name are kept."""
    if _mark is not None:
        _mark(_bytes(name))


def pause() -> None:
    """Nothing is recorded from here on, in no process of the run, until `resume`."""
    if _pause is not None:
        _pause()


def resume() -> None:
    """Recording goes on, in all processes of the run."""
    if _resume is not None:
        _resume()


class _Range:
    """What this thread does between entering and leaving. Ranges of a thread nest."""

    __slots__ = ("_name",)

    def __init__(self, name: bytes) -> None:
        self._name = name

    def __enter__(self) -> None:
        _begin(self._name)  # type: ignore[misc]

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[_TracebackType]) -> None:
        _end()  # type: ignore[misc]

    def __call__(self, function: _F) -> _F:
        @_functools.wraps(function)
        def inside(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)
        return inside  # type: ignore[return-value]


class _NoRange:
    """The range of a process that is not traced."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[_TracebackType]) -> None:
        pass

    def __call__(self, function: _F) -> _F:
        return function


_no_range = _NoRange()


def range(name: str) -> Union[_Range, _NoRange]:
    """What happens inside has the name: ``with iotrace.range("load"): ...``, or ``@iotrace.range("load")``
    in front of a function.

    Ranges of a thread nest, also where it leaves them by an exception. A coroutine must not be
    suspended inside of one: what its thread does meanwhile would count as part of it.
    """
    return _no_range if _begin is None else _Range(_bytes(name))
