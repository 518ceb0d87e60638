"""Compiled code: the decorators, the cache folder, choice by type, and processor instructions as plain functions.

A *kernel* is a free function over `uint64` boards and NumPy arrays. A function marked `specialised` has one body for each
NamedTuple class of its first argument; inside a kernel the body is chosen at compile time, in plain Python at run time.

Numba turns `uint64` mixed with a signed integer into `float64`, so make every constant that meets a board with `u64`.
"""

import hashlib
import inspect
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

from afterstate.kernelcache import KernelCache, prepare_folder, stamp

u64 = np.uint64
F = TypeVar("F", bound=Callable[..., Any])

DISABLED = bool(numba.config.DISABLE_JIT)


def _has_fast_bit_gather() -> bool:
    """Whether this processor has fast `pext` and `pdep` (before Zen 3 they are microcode)."""
    if os.environ.get("AFTERSTATE_PORTABLE") or DISABLED or numba.config.CPU_NAME:
        return False
    return bool(llvm.get_host_cpu_features().get("bmi2")) and llvm.get_host_cpu_name() not in {"znver1", "znver2"}


BIT_GATHER = _has_fast_bit_gather()

# options of Numba that make kernels fast, but are not documented, so that a release may lack them
LACKING = [name for name in ("_nrt", "forceinline") if not hasattr(getattr(cpu_target, "options", None), name)]
if LACKING:
    logging.getLogger("afterstate").warning(
        "Numba %s does not have %s: kernels work, but slower", numba.__version__, " and ".join(LACKING)
    )


def _offered(**options: bool) -> dict[str, bool]:
    """Those of some options that this Numba has."""
    return {name: value for name, value in options.items() if name not in LACKING}


# --- decorators ------------------------------------------------------------------------------------------------------


def _source_hash() -> str:
    """Hash of all kernel sources: Numba does not notice a change in a function that is called from another file."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version} {BIT_GATHER} {LACKING}".encode())
    package = Path(__file__).parent
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"afterstate.kernel" in source or path.name in {"kernel.py", "kernelcache.py"}:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + source)
    return digest.hexdigest()[:16]


CACHE = None if DISABLED else prepare_folder(_source_hash())


def kernel(function: F) -> F:
    """Compile a function to machine code on first use: no interpreter lock, kept on disk between runs.

    It must not make arrays: then Numba needs no reference counting, which is slow.
    """
    return _plain(function) if DISABLED else _compile(function, forceinline=True, _nrt=False)


def routine(function: F) -> F:
    """A kernel that is not inlined: it calls itself, or is large and called from many places."""
    return _plain(function) if DISABLED else _compile(function, forceinline=False, _nrt=False)


def allocating(function: F) -> F:
    """A kernel that makes arrays."""
    return _plain(function) if DISABLED else _compile(function, forceinline=True, _nrt=True)


def _compile(function: F, **options: bool) -> F:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **_offered(**options))(function)
    stamp(function)
    if CACHE is not None:
        compiled._cache = KernelCache(function, CACHE, _bodies_for)
    return compiled  # type: ignore[no-any-return]


def _plain(function: F) -> F:
    """A kernel as plain Python: overflow and division by 0 give no warning, as in compiled code."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return function(*arguments)

    return call  # type: ignore[return-value]


@contextmanager
def on_compile(callback: Callable[[], None]) -> Iterator[None]:
    """Call `callback` each time a kernel is compiled, but not when it is loaded from the cache folder."""

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: event.Event) -> None:  # noqa: ARG002
            callback()

        def on_end(self, event: event.Event) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


# --- choice by type --------------------------------------------------------------------------------------------------

_bodies: dict[str, dict[type, Callable[..., Any]]] = {}


def specialised(declared: F) -> F:
    """A function whose body depends on the NamedTuple class of its first argument; `implement` gives the bodies.

    The body for `object` is used for every class without its own.
    """
    bodies: dict[type, Callable[..., Any]] = {}
    _bodies[f"{declared.__module__}.{declared.__name__}"] = bodies

    def dispatch(*arguments: Any) -> Any:
        kind = type(arguments[0])
        body = bodies.get(kind, bodies.get(object))
        if body is None:
            raise TypeError(f"{declared.__name__} has no body for {kind.__name__}")
        return body(*arguments)

    def choose(*arguments: Any) -> Callable[..., Any] | None:
        first = arguments[0]
        if not isinstance(first, types.BaseNamedTuple):  # type: ignore[attr-defined]
            return None
        return bodies.get(first.instance_class, bodies.get(object))

    dispatch.__name__ = choose.__name__ = declared.__name__
    dispatch.__doc__ = declared.__doc__
    dispatch.__module__ = declared.__module__
    dispatch.__signature__ = choose.__signature__ = inspect.signature(declared)  # type: ignore[attr-defined]
    options = {"nogil": True, "error_model": "numpy", **_offered(forceinline=True, _nrt=False)}
    overload(dispatch, strict=False, jit_options=options)(choose)
    return dispatch  # type: ignore[return-value]


def implement(function: Callable[..., Any], kind: type) -> Callable[[F], F]:
    """Give `function` (marked `specialised`) its body for first arguments of class `kind`."""

    def register(body: F) -> F:
        find_bodies(function)[kind] = body
        stamp(kind)
        stamp(body)
        return body

    return register


def find_bodies(function: Callable[..., Any]) -> dict[type, Callable[..., Any]]:
    """The bodies of a function marked `specialised`, by the class of its first argument."""
    return _bodies[f"{function.__module__}.{function.__name__}"]


def _bodies_for(kind: type) -> list[Callable[..., Any]]:
    """All bodies for a class; those for `object` only if the package asks for them."""
    ours = "" if kind is not object else "afterstate."
    return [bodies[kind] for name, bodies in _bodies.items() if kind in bodies and name.startswith(ours)]


# --- instructions ----------------------------------------------------------------------------------------------------


def _x86(name: str) -> Callable[..., Any]:
    """An intrinsic for an instruction that takes two 64-bit words and returns one."""

    @intrinsic
    def instruction(typingctx: Any, x: Any, mask: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = ir.IntType(64)
            return builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(word, [word, word]), name), args)

        return types.uint64(types.uint64, types.uint64), codegen

    return instruction  # type: ignore[no-any-return]


_native_pext = _x86("llvm.x86.bmi.pext.64")
_native_pdep = _x86("llvm.x86.bmi.pdep.64")


def popcount(x: u64) -> u64:
    """Number of bits that are set: 0b1011 -> 3."""
    return u64(int(x).bit_count())


@intrinsic
def _native_popcount(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@overload(popcount, strict=False)
def _popcount(x: Any) -> Any:
    return lambda x: _native_popcount(x)


def pext(x: u64, mask: u64) -> u64:
    """Gather the bits of x under mask at the low end: pext(0xABCD, 0xF0F0) -> 0xAC."""
    result = u64(0)
    filled = u64(0)
    while mask != u64(0):  # one pass for each run of bits in the mask
        low = mask & (~mask + u64(1))
        run = mask & ~(mask + low)
        result |= ((x & run) >> popcount(low - u64(1))) << filled
        filled += popcount(run)
        mask ^= run
    return result


def pdep(x: u64, mask: u64) -> u64:
    """Spread the low bits of x over the set bits of mask: pdep(0b10, 0x1010) -> 0x1000."""
    result = u64(0)
    while mask != u64(0):
        low = mask & (~mask + u64(1))
        if x & u64(1):
            result |= low
        x >>= u64(1)
        mask ^= low
    return result


portable_pext = kernel(pext)
portable_pdep = kernel(pdep)


@overload(pext, strict=False)
def _pext(x: Any, mask: Any) -> Any:
    return (lambda x, mask: _native_pext(x, mask)) if BIT_GATHER else (lambda x, mask: portable_pext(x, mask))


@overload(pdep, strict=False)
def _pdep(x: Any, mask: Any) -> Any:
    return (lambda x, mask: _native_pdep(x, mask)) if BIT_GATHER else (lambda x, mask: portable_pdep(x, mask))


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of args[0][args[1]], for an intrinsic whose first arguments are an array and an index."""
    return builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])


def prefetch(array: Any, index: Any) -> None:
    """Start loading array[index] from memory, without waiting for it."""


def prefetch_to_write(array: Any, index: Any) -> None:
    """The same before a write: other cores give up the cache line now, not when the write happens."""


def _prefetching(*, to_write: bool) -> Callable[..., Any]:
    @intrinsic
    def instruction(typingctx: Any, array: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = ir.IntType(32)
            pointer = ir.PointerType(ir.IntType(8))
            function_type = ir.FunctionType(ir.VoidType(), [pointer, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
            address = builder.bitcast(_address(context, builder, signature, args), pointer)
            builder.call(function, [address, word(int(to_write)), word(3), word(1)])
            return context.get_dummy_value()

        return types.void(array, index), codegen

    return instruction  # type: ignore[no-any-return]


_native_prefetch = _prefetching(to_write=False)
_native_prefetch_to_write = _prefetching(to_write=True)


@overload(prefetch, strict=False)
def _prefetch(array: Any, index: Any) -> Any:
    return lambda array, index: _native_prefetch(array, index)


@overload(prefetch_to_write, strict=False)
def _prefetch_to_write(array: Any, index: Any) -> Any:
    return lambda array, index: _native_prefetch_to_write(array, index)


CLOCK = hasattr(time, "clock_gettime") and hasattr(time, "CLOCK_MONOTONIC")  # whether kernels can read the clock


def now() -> int:
    """Nanoseconds of a monotonic clock; always 0 where kernels cannot read one."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) if CLOCK else 0


@intrinsic
def _native_now(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, number = ir.IntType(64), ir.IntType(32)
        pointer = ir.PointerType(ir.IntType(8))
        pair = cgutils.alloca_once(builder, ir.ArrayType(word, 2))  # seconds, nanoseconds
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [number, pointer]), "clock_gettime")
        builder.call(function, [number(time.CLOCK_MONOTONIC), builder.bitcast(pair, pointer)])
        seconds, nanoseconds = (builder.extract_value(builder.load(pair), place) for place in (0, 1))
        return builder.add(builder.mul(seconds, word(10**9)), nanoseconds)

    return types.int64(), codegen


@overload(now, strict=False)
def _now() -> Any:
    return (lambda: _native_now()) if CLOCK else (lambda: 0)


def publish(array: Any, index: Any, value: Any) -> None:
    """Write array[index] so that a waiting thread sees it, and everything written before it."""
    array[index] = value


def await_value(array: Any, index: Any, value: Any) -> None:
    """Wait until another thread has published this value in array[index]."""
    while array[index] != value:
        pass


@intrinsic
def _native_publish(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _address(context, builder, signature, args), ordering="release", align=8)
        return context.get_dummy_value()

    return types.void(array, index, types.uint64), codegen


@intrinsic
def _native_look(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_address(context, builder, signature, args), ordering="acquire", align=8)

    return types.uint64(array, index), codegen


@overload(publish, strict=False)
def _publish(array: Any, index: Any, value: Any) -> Any:
    return lambda array, index, value: _native_publish(array, index, value)


@overload(await_value, strict=False)
def _await_value(array: Any, index: Any, value: Any) -> Any:
    def body(array: Any, index: Any, value: Any) -> None:
        while _native_look(array, index) != value:
            pass

    return body
