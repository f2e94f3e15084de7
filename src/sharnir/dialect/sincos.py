"""Sine and cosine as inline LLVM code, for a vector of lanes at once.

Argument reduction by multiples of π/2 in three parts with fused multiply-add (exact for |x| < LIMIT), then the
polynomials of Cephes (S. Moshier) on [−π/4, π/4]. Beyond LIMIT, and only then, the machine's own libm is called.
"""

from __future__ import annotations

from .text import Writer

LIMIT = 1e5
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
ROUND = 6755399441055744.0  # 1.5 · 2^52: adding it leaves the nearest integer in the low bits
SIN = (
    1.58962301576546568060e-10,
    -2.50507477628578072866e-8,
    2.75573136213857245213e-6,
    -1.98412698295895385996e-4,
    8.33333333332211858878e-3,
    -1.66666666666666307295e-1,
)
COS = (
    -1.13585365213876817300e-11,
    2.08757008419747316778e-9,
    -2.75573141792967388112e-7,
    2.48015872888517045348e-5,
    -1.38888888888730564116e-3,
    4.16666666666665929218e-2,
)


def sines_and_cosines(w: Writer, args: list[str]) -> list[tuple[str, str]]:
    """(sine, cosine) of each argument; one branch to the slow path for all of them together.

    Only the lanes beyond LIMIT take libm's result, so that a lane does not depend on its neighbours.
    """
    beyond = [w.let(f"fcmp ogt {w.T} {w.call('fabs', x)}, {w.const(LIMIT)}") for x in args]
    any_beyond = beyond[0]
    for more in beyond[1:]:
        any_beyond = w.let(f"or {w.bools} {any_beyond}, {more}")
    if w.lanes > 1:
        any_beyond = w.let(f"icmp ne i{w.lanes} {w.let(f'bitcast {w.bools} {any_beyond} to i{w.lanes}')}, 0")
    near = [value for x in args for value in _sincos(w, x)]
    before, slow, join = w.here, w.label(), w.label()
    w.line(f"br i1 {any_beyond}, label %{slow}, label %{join}, !prof !0")
    w.block(slow)
    far = [w.libm(name, x) for x in args for name in ("sin", "cos")]
    masks = [mask for mask in beyond for _ in range(2)]
    mixed = [w.let(f"select {w.bools} {mask}, {w.T} {f}, {w.T} {n}") for mask, f, n in zip(masks, far, near, strict=True)]
    w.line(f"br label %{join}")
    w.block(join)
    out = [w.let(f"phi {w.T} [ {n}, %{before} ], [ {m}, %{slow} ]") for n, m in zip(near, mixed, strict=True)]
    return list(zip(out[::2], out[1::2], strict=True))


UNLIKELY = '!0 = !{!"branch_weights", i32 1, i32 100000}'
"""The metadata !prof !0 refers to: every module that uses this must contain it."""


def _sincos(w: Writer, x: str) -> tuple[str, str]:
    turns = w.let(f"fmul {w.T} {x}, {w.const(0.6366197723675814)}")
    shifted = w.let(f"fadd {w.T} {turns}, {w.const(ROUND)}")
    k = w.let(f"fsub {w.T} {shifted}, {w.const(ROUND)}")
    quadrant = w.let(f"bitcast {w.T} {shifted} to {w.I}")
    r = x
    for part in HALF_PI:
        r = w.fma(k, w.const(-part), r)
    z = w.let(f"fmul {w.T} {r}, {r}")
    s = w.const(SIN[0])
    for coefficient in SIN[1:]:
        s = w.fma(s, z, w.const(coefficient))
    s = w.fma(w.let(f"fmul {w.T} {s}, {z}"), r, r)
    c = w.const(COS[0])
    for coefficient in COS[1:]:
        c = w.fma(c, z, w.const(coefficient))
    c = w.fma(w.let(f"fmul {w.T} {c}, {z}"), z, w.fma(z, w.const(-0.5), w.const(1.0)))

    odd = w.let(f"icmp ne {w.I} {w.let(f'and {w.I} {quadrant}, {w.integer(1)}')}, {w.integer(0)}")
    sine = w.let(f"select {w.bools} {odd}, {w.T} {c}, {w.T} {s}")
    cosine = w.let(f"select {w.bools} {odd}, {w.T} {s}, {w.T} {c}")
    after = w.let(f"add {w.I} {quadrant}, {w.integer(1)}")
    return _with_sign(w, sine, quadrant), _with_sign(w, cosine, after)


def _with_sign(w: Writer, x: str, quadrant: str) -> str:
    """Negative in the second half of the turn: bit 1 of the quadrant becomes the sign bit."""
    bit = w.let(f"shl {w.I} {w.let(f'and {w.I} {quadrant}, {w.integer(2)}')}, {w.integer(62)}")
    bits = w.let(f"bitcast {w.T} {x} to {w.I}")
    return w.let(f"bitcast {w.I} {w.let(f'xor {w.I} {bits}, {bit}')} to {w.T}")
