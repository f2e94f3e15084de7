"""URDF files for tests: a few lines of XML in a folder of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sharnir as sh
from states import error

INERTIAL = (
    '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/><mass value="1.5"/>'
    '<inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/></inertial>'
)


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(
    name: str, kind: str, parent: str, child: str, inside: str = "", place: str = 'xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"'
) -> str:
    if kind in ("revolute", "prismatic") and "<limit" not in inside:
        inside += '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}"><origin {place}/>{ends}{inside}</joint>'


def write(folder: Path, *parts: str, name: str = "robot.urdf") -> Path:
    """A file with one part per line: part k stands in line k + 2."""
    path = folder / name
    path.write_text("\n".join(['<robot name="test">', *parts, "</robot>"]), encoding="utf-8")
    return path


def arm(kind: str = "revolute", inside: str = '<axis xyz="1 2 -2"/>') -> list[str]:
    """Two moving links on a root, the second with a fixed tool."""
    return [
        link("base"), link("upper"), link("lower"), link("tool"),
        joint("shoulder", kind, "base", "upper", inside),
        joint("elbow", "revolute", "upper", "lower", '<axis xyz="0 1 0"/>'),
        joint("mount", "fixed", "lower", "tool"),
    ]  # fmt: skip


def assert_same_dynamics(a: sh.Model, b: sh.Model, tolerance: float = 1e-11) -> None:
    """The same joints by name, and the same inertia, forces and places of what has the same name."""
    joints = [j.name for j in a.joints if j.nv]
    assert {j.name for j in b.joints if j.nv} == set(joints)
    order_q = np.concatenate([np.r_[b.q_slice(j)] for j in joints])
    order_v = np.concatenate([np.r_[b.v_slice(j)] for j in joints])
    own_q, own_v = (np.concatenate([np.r_[where(j)] for j in joints]) for where in (a.q_slice, a.v_slice))
    rng = np.random.default_rng(5)
    q, v = a.random_q(rng), rng.normal(size=a.nv)
    p, u = np.zeros(b.nq), np.zeros(b.nv)
    p[order_q], u[order_v] = q[own_q], v[own_v]
    x, y = sh.matrices(a, q, v), sh.matrices(b, p, u)
    assert error(y.M_r[np.ix_(order_v, order_v)], x.M_r[np.ix_(own_v, own_v)]) <= tolerance
    assert error(y.Q[order_v], x.Q[own_v]) <= tolerance
    here, there = places(a, x), places(b, y)
    for name in here.keys() & there.keys():
        assert error(there[name], here[name]) <= tolerance, name
    assert not {n for n in here if n not in there}


def places(m: sh.Model, x: sh.Matrices) -> dict[str, np.ndarray]:
    """4×4 of every body and frame in the world."""
    rotations, positions = x.poses
    found = {b.name: _homogeneous(rotations[i], positions[i]) for i, b in enumerate(m.bodies)}
    carriers = {**found, "ground": np.eye(4)}
    for name, (body, at) in m.frames.items():
        found[name] = carriers[body] @ _homogeneous(at.rotation.matrix, at.position)
    return found


def _homogeneous(rotation: np.ndarray, position: object) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = rotation, position
    return out


SHAPES = (
    '<visual name="v"><origin xyz="0 0 1"/><geometry><mesh filename="package://p/m.stl" scale="1 1 1"/></geometry>'
    '<material name="red"><color rgba="1 0 0 1"/></material></visual>'
    '<collision><geometry><box size="1 2 3"/></geometry></collision>'
)
SEED_FILE = "\n".join(
    [
        '<?xml version="1.0" encoding="utf-8"?>', '<robot name="fuzz">', *arm(), link("hand", SHAPES), link("puck"), link("kite"),
        joint("wrist", "continuous", "tool", "hand", '<axis xyz="0 0 1"/><mimic joint="elbow" multiplier="2" offset="1"/>'),
        joint("slide", "planar", "base", "puck", '<axis xyz="0 1 1"/><dynamics damping="0.1" friction="0.2"/>'),
        joint("fly", "floating", "puck", "kite"), '<gazebo reference="hand"><mu1>0.2</mu1></gazebo>', "</robot>",
    ]
)  # fmt: skip
"""Every element and every kind of joint: what the fuzzer damages."""
