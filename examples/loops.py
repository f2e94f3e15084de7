"""Closed loops: a four-bar and how it moves, a mechanism that the count says cannot move, and what holds it together.

python examples/loops.py
"""

import numpy as np

import sharnir as sh


def four_bar() -> sh.Result:
    """Bodies and joints are added as they are seen; the joint that closes the loop needs no special word."""
    m = sh.Model("four-bar", gravity=(0, -9.81, 0))
    for name, length in (("crank", 0.5), ("coupler", 1.3), ("rocker", 0.9)):
        m.add_body(name, mass=1.0, shape=sh.Rod((0, 0, 0), (length, 0, 0)))
    m.add_joint("A", sh.Revolute("z"), "ground", "crank")
    m.add_joint("B", sh.Revolute("z"), "crank", "coupler", at=sh.Pose((0.5, 0, 0)))
    m.add_joint("C", sh.Revolute("z"), "ground", "rocker", at=sh.Pose((1.1, 0, 0)))
    m.add_joint("D", sh.Revolute("z"), "coupler", "rocker", at=sh.Pose((1.3, 0, 0)), child_at=sh.Pose((0.9, 0, 0)))
    print(f"{m.name}: {m.nv} coordinates, cut at {[j.name for j in m.closing_joints]}")
    q, _ = m.assemble({"A": 1.2}, fixed=["A"])  # the others follow
    print(f"  assembled with A at 1.2 rad: B {q[1]:.6f}, C {q[2]:.6f}")
    print(f"  {m.mobility(q)}".replace("\n", "\n  "))
    r = sh.simulate(m, 5.0, q0=q, rtol=1e-10, atol=1e-12)
    print(f"  after 5 s: A {r.coordinate('A')[-1]:.6f}; constraints kept to {r.violation.max():.0e},", end=" ")
    print(f"energy to {abs(r.energy.defect).max():.0e} J")
    return r


def bricard() -> sh.Result:
    """Six hinges in one loop: 6·5 − 5·6 = 0 freedoms by the count, and yet it moves."""
    m = sh.samples.bricard()
    print(f"\n{m.name}: {m.mobility()}".replace("\n  ", "\n    "))
    r = sh.simulate(m, 2.5, rtol=1e-10, atol=1e-12, output=0.5)
    x, y, z = r.point("rod3")[2]
    print(f"  the point that starts at (1, −1, 0) is at ({x:.9f}, {y:.9f}, {z:.9f}) after 1 s")
    d = sh.Dynamics(m)
    for body, wrench in d.closing_reactions(r.q[2], r.v[2], t=1.0)["hinge6"].items():
        print(f"  there hinge6 pushes {body} with {np.linalg.norm(wrench[:3]):.3f} N")
    return r


def singular() -> sh.Result:
    """Two four-bars side by side pass through positions where their constraints lose rank."""
    m, start = sh.samples.n_four_bar(2), sh.samples.n_four_bar_start(2)
    level = m.coordinates(sh.samples.n_four_bar_start(2, angle=0.0)["q0"])
    print(
        f"\n{m.name}: {m.mobility(m.coordinates(start['q0'])).freedoms} freedom, {m.mobility(level).freedoms} when all is level"
    )
    r = sh.simulate(m, 4.0, **start, rtol=1e-10, atol=1e-12)
    x, y, _ = r.point("rod0", (1, 0, 0))[-1]
    print(f"  after 4 s and four such positions the tip of the left rod is at ({x:.7f}, {y:.7f})")
    return r


if __name__ == "__main__":
    four_bar()
    bricard()
    singular()
