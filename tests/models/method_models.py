"""Models with everything that a method may or may not handle, each with a state of motion that its constraints allow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import sharnir as sh
from loop_models import placed

S = sh.samples
Z = sh.Pose((0.0, 0.0, 1.0))


def massless_axes() -> sh.Model:
    """Hinges that follow one another without mass between them, points of mass, and a marker welded to them."""
    m = sh.Model("massless axes")
    m.add_body("foot", 2.0, (0.1, 0.2, 0.3), (1.0, 2.0, 2.5))
    m.add_body("cross")
    m.add_body("arm", 1.0, (0.0, 0.0, -0.5), (0.2, 0.3, 0.4))
    m.add_body("bob", 0.5, (0.0, 0.3, -0.5))
    m.add_body("marker")
    m.add_joint("foot", sh.Revolute("z"), "ground", "foot")
    m.add_joint("first", sh.Revolute("x"), "foot", "cross", at=Z)
    m.add_joint("second", sh.Revolute("y"), "cross", "arm")
    m.add_joint("bob", sh.Universal("x", "y"), "arm", "bob", at=Z)
    m.add_joint("marker", sh.Weld(), "bob", "marker", at=Z)
    return m


def rotors() -> sh.Model:
    m = S.chain(3)
    last = m.bodies[-1].name
    m.add_body("wheel", 0.5, (0.0, 0.1, 0.0), (0.1, 0.2, 0.15))
    m.add_joint("wheel", sh.Universal("x", "y", armature=(0.3, 0.1)), last, "wheel", at=Z)
    return m


def coupled() -> sh.Model:
    m = S.chain(4)
    names = [j.name for j in m.joints]
    m.couple(names[2], names[0], -0.5, 0.1)
    m.couple(names[3], names[1], 2.0)
    return m


def driven() -> sh.Model:
    m = S.chain(3)
    last = m.bodies[-1].name
    m.add_body("hand", 0.5, (0.0, 0.1, 0.0), (0.1, 0.2, 0.15))
    m.add_joint("hand", sh.Revolute("y", motion=lambda t: sh.sin(2.0 * t)), last, "hand", at=Z)
    return m


def with_arm(m: sh.Model) -> sh.Model:
    """Two coupled hinges on the last body."""
    last = m.bodies[-1].name
    for name, carrier in (("x", last), ("y", "x")):
        m.add_body(name, 0.3, (0.1, 0.0, 0.2), (0.02, 0.03, 0.025))
        m.add_joint(name, sh.Revolute(name), carrier, name, at=Z)
    m.couple("y", "x", 1.5)
    return m


def random_start(model: sh.Model) -> tuple[sh.Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return model, model.random_q(rng), rng.normal(size=model.nv)


def closed_start(model: sh.Model, q: dict | None = None) -> tuple[sh.Model, np.ndarray, np.ndarray]:
    return model, *model.assemble(q, np.random.default_rng(4).normal(size=model.nv), nearest=True)


FOUR_BAR = {"A": 1.2, "B": -1.0, "C": 1.5}
MODELS: dict[str, tuple[tuple[bool, bool, bool], Callable[[], tuple[sh.Model, np.ndarray, np.ndarray]]]] = {
    "tree": ((False, False, False), lambda: random_start(S.all_joints(1))),
    "thin rods": ((False, False, False), lambda: random_start(S.rods(4))),
    "massless axes, points": ((False, False, False), lambda: random_start(massless_axes())),
    "rotors": ((False, False, False), lambda: random_start(rotors())),
    "driven": ((False, False, False), lambda: random_start(driven())),
    "coupled": ((True, False, False), lambda: random_start(coupled())),
    "flexible": ((False, True, False), lambda: random_start(S.flexible_pendulum())),
    "loop": ((False, False, True), lambda: closed_start(S.four_bar(0.5, 1.3, 0.9, 1.1), FOUR_BAR)),
    "over-constrained": ((False, False, True), lambda: placed("Bricard")),
    "loop, coupled": ((True, False, True), lambda: closed_start(with_arm(S.four_bar(0.5, 1.3, 0.9, 1.1)), FOUR_BAR)),
    "loop, flexible": ((False, True, True), lambda: closed_start(S.flexible_four_bar())),
}
"""By what they have: what it means to `methods.features` (followers, flexible bodies, constraints), and the model."""
