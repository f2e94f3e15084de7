"""A run that chatters, in words: which force switches, where, and what to take instead."""

from __future__ import annotations

import numpy as np

from ...integrate.chatter import Chatter
from ...reporting.formats import figures
from ..events.event_actions import Changes
from ..systems.motion_system import MotionSystem

REMEDY = (
    "for friction take sh.JointFriction, which is smooth, or sh.BristleFriction, which sticks; for a stop or a floor "
    "sh.JointStop or sh.Contact; let an event switch what only switches now and then; or make the jump a slope, wider than "
    "the tolerance"
)


def chattering(m: MotionSystem, c: Chatter, changes: Changes, remedy: bool = True) -> str:
    """The force that jumps, the joint that it drives to and fro, how often, and with `remedy` what helps."""
    driven, derivative = _driven(m, c.index)
    forces = _that_jump(m, c, changes)
    if forces:
        what = f"force {forces[0][0]!r} switches between {forces[0][1]}"
        if len(forces) > 1:
            what += f" (and so do {', '.join(repr(name) for name, _ in forces[1:4])})"
    else:
        what = f"{derivative} of {driven!r} jumps between {figures(min(c.rates))} and {figures(max(c.rates))}"
    how = f"no step gets past it: {driven!r} is driven back from either side"
    if c.steps:
        count = f"crosses zero {c.crossings} times" if c.crossings >= c.flips // 2 else f"turns round {c.flips} times"
        speed = f"v of joint {driven!r}" if derivative == "the acceleration" else repr(driven)
        step = c.span / c.steps
        how = (
            f"{speed} {count} in {c.span:.2g} s, so that steps stay near {step:.1g} s and the run would need about "
            f"{c.ahead:.0e} more of them"
        )
    found = f"at t = {c.t:.9g} {what}, {how}"
    return f"{found}; {REMEDY}" if remedy else found


def _driven(m: MotionSystem, index: int) -> tuple[str, str]:
    """The number of the state that is driven to and fro, and what its derivative is."""
    model, k = m.d.model, index % max(m.row_size, 1)
    if k < m.nq:
        return model.q_names[k], "the speed"
    if k < m.nq + m.nv:
        return model.v_names[k - m.nq], "the acceleration"
    return m.more[k - m.nq - m.nv], "the rate"


def _that_jump(m: MotionSystem, c: Chatter, changes: Changes) -> list[tuple[str, str]]:
    """Forces whose action differs between two states that hardly do, the greatest jump first; with the two values."""
    t, rows = np.array([c.t, c.t]), np.array([c.before, c.after])
    q, v, z, _ = m.split(rows)
    parameters = m.with_states(changes.over(t), z)
    v = m.velocities(q, v, t, parameters)
    found = []
    for name, acted in m.d.force_actions(q, v, t, parameters=parameters if parameters.size else None).items():
        for on, x in acted.items():
            k = int(np.argmax(np.abs(x[1] - x[0])))
            a, b = (float(one[k]) for one in x)
            unit = _unit(m, on, k)
            if abs(b - a) > 1e-3 * max(abs(a), abs(b)):
                found.append((abs(b - a), name, f"{figures(min(a, b))} and {figures(max(a, b))}{unit} on {on!r}"))
    largest: dict[str, str] = {}
    for _, name, text in sorted(found, reverse=True):
        largest.setdefault(name, text)
    return list(largest.items())


def _unit(m: MotionSystem, on: str, k: int) -> str:
    """Of component k of an action on a body; joint forces are N or N m, as their speeds are."""
    if on in {body.name for body in m.d.model.bodies}:
        return " N" if k < 3 else " N m"
    return ""
