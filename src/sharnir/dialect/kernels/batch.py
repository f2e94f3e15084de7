"""Many states through a function that takes one at a time, or as many as there are lanes: rows in, rows out.

Arrays of the caller hold one state after the other; a function with lanes needs them side by side, lanes innermost. Some
states are laid out so, the function is called, its results are laid out as rows again.
"""

from typing import NamedTuple

from ..arrays import IntegerArray
from ..memory import invoke, numbers_at, transpose


class Batch(NamedTuple):
    count: IntegerArray[2]  # states; lanes, of which there are no more than states
    call: IntegerArray[1, 2]  # the function
    sources: IntegerArray["ni", 4]  # rows: address, numbers from one to the next (0: one for all); place; numbers in a row
    targets: IntegerArray["no", 4]


def run_batch(b):
    n, lanes = b.count[0], b.count[1]
    done = 0
    while done < n:
        first = min(done, n - lanes)  # the last states are done twice rather than fewer at a time
        for k in range(b.sources.shape[0]):
            stride, size = b.sources[k, 1], b.sources[k, 3]
            if done == 0 or stride > 0:
                lay_out(b.sources[k, 0] + 8 * stride * first, stride, b.sources[k, 2], size, lanes)
        invoke(b.call[0, 0], b.call[0, 1])
        for k in range(b.targets.shape[0]):
            stride, size = b.targets[k, 1], b.targets[k, 3]
            collect(b.targets[k, 0] + 8 * stride * first, stride, b.targets[k, 2], size, lanes)
        done += lanes


def lay_out(rows, stride, place, size, lanes):
    """Rows of states to lanes. By squares as far as they fit; a row for all states is read again and again."""
    done = 0
    if lanes == 8:
        while done + 8 <= size:
            transpose(8, rows + 8 * done, stride, place + 64 * done, 8)
            done += 8
    elif lanes == 4:
        while done + 4 <= size:
            transpose(4, rows + 8 * done, stride, place + 32 * done, 4)
            done += 4
    x, y = numbers_at(rows, size + stride * (lanes - 1)), numbers_at(place, size * lanes)
    for i in range(done, size):
        for lane in range(lanes):
            y[i * lanes + lane] = x[lane * stride + i]


def collect(rows, stride, place, size, lanes):
    """Lanes back to rows of states."""
    done = 0
    if lanes == 8:
        while done + 8 <= size:
            transpose(8, place + 64 * done, 8, rows + 8 * done, stride)
            done += 8
    elif lanes == 4:
        while done + 4 <= size:
            transpose(4, place + 32 * done, 4, rows + 8 * done, stride)
            done += 4
    x, y = numbers_at(rows, size + stride * (lanes - 1)), numbers_at(place, size * lanes)
    for i in range(done, size):
        for lane in range(lanes):
            x[lane * stride + i] = y[i * lanes + lane]
