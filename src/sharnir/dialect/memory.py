"""Addresses: what compiled code does with one instruction, and the interpreter through ctypes. Never traced."""

import ctypes

import numpy as np

_prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def invoke(address, arguments):
    """Call the native function `void f(int64 *arguments)` at an address."""
    _prototype(int(address))(int(arguments))


def atomic_load(x, k):
    """x[k] of an array of integers that other threads write, with everything they wrote before it."""
    return x[k]


def atomic_store(x, k, value):
    """x[k] = value, seen by other threads after everything written before."""
    x[k] = value


def fetch_add(x, k, n):
    """x[k] += n in one step that no other thread can come between; returns what x[k] was."""
    before = int(x[k])
    x[k] += n
    return before


def transpose(size, source, source_stride, target, target_stride):
    """A square of numbers: rows at `source`, so many numbers apart, become columns at `target`. `size`: a constant power of 2."""
    x = numbers_at(source, source_stride * (size - 1) + size)
    y = numbers_at(target, target_stride * (size - 1) + size)
    for k in range(size):
        for i in range(size):
            y[k * target_stride + i] = x[i * source_stride + k]


def numbers_at(address, size):
    """The array of `size` numbers that begins at an address."""
    if size == 0:
        return np.zeros(0)
    return np.ctypeslib.as_array((ctypes.c_double * int(size)).from_address(int(address)))
