"""One valid value for every parameter of a public call, so that a case can spoil a single one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import sharnir as sh


def small_model() -> sh.Model:
    """Two bodies on a hinge and a ball joint, with one of everything else that has a name; all of it can be written."""
    m = sh.Model("small")
    m.add_body("bar", 1.0, (0.3, 0.0, 0.0), (0.01, 0.02, 0.02))
    m.add_body("bob", 2.0, (0.0, 0.1, 0.0), (0.02, 0.01, 0.02))
    m.add_frame("tip", "bar", sh.Pose((0.6, 0.0, 0.0)))
    m.add_joint("hinge", sh.Revolute("y", limits=(-3.0, 3.0), damping=0.1), "ground", "bar")
    m.add_joint("ball", sh.Ball(), "bar", "bob", at="tip")
    m.add_parameter("k", 2.0)
    m.add_force(sh.SpringDamper("ground", "bob", (1.0, 0.0, 0.0), stiffness=3.0, length=0.1), "spring")
    return m


def model_with_slider() -> sh.Model:
    """One more body on a slide: a joint that `couple` and `split` can work on."""
    m = small_model()
    m.add_body("cart", 1.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    m.add_joint("slide", sh.Prismatic("x"), "ground", "cart")
    return m


MODELS: dict[str, Callable[[], sh.Model]] = {
    "small": small_model, "slider": model_with_slider, "pendulum": sh.samples.pendulum, "four_bar": sh.samples.four_bar,
    "gear": sh.samples.planetary_gear, "disc": sh.samples.rolling_disc,
}  # fmt: skip


@cache
def result() -> sh.Result:
    return sh.simulate(small_model(), 0.05, q0={"hinge": 0.3}, backend="python", integrator="rk4", step=0.01)


@cache
def comparison() -> sh.Comparison:
    return sh.compare(sh.samples.pendulum(), "composite", "python", states=1, batch=2, rounds=1, progress=False)


@dataclass
class Context:
    """Of one case: the model that names refer to, and a folder for files."""

    rng: np.random.Generator
    model: sh.Model
    folder: Path

    def valid(self, call: str, parameter: str) -> Any:
        make = valid_of(call, parameter)
        if make is None:
            raise KeyError(f"{call}: no valid value is known for {parameter!r}; add one to benchmarks/fuzz/valid.py")
        return make(self)

    def joint(self) -> str:
        return str(self.rng.choice([j.name for j in self.model.joints]))

    def body(self) -> str:
        return str(self.rng.choice([b.name for b in self.model.bodies]))

    def state(self, n: int) -> np.ndarray:
        return self.rng.normal(size=n if self.rng.random() < 0.7 else (int(self.rng.integers(3)), n))


def _words(*words: str) -> Callable[[Context], str]:
    return lambda c: str(c.rng.choice(words))


def _new(thing: Any) -> Callable[[Context], Any]:
    return lambda c: thing


def _measured(c: Context) -> dict[str, np.ndarray]:
    m, n = c.model, 60
    return {"q": np.array([m.random_q(c.rng) for _ in range(n)]), **{x: c.rng.normal(size=(n, m.nv)) for x in ("v", "a", "tau")}}


def _model_file(c: Context) -> Path:
    path = c.folder / "model.yaml"
    small_model().save(path)
    return path


def _result_file(c: Context) -> Path:
    path = c.folder / "result.nc"
    result().save(path)
    return path


def _comparison_file(c: Context) -> Path:
    return comparison().to_json(c.folder / "comparison.json")


def _mesh_file(c: Context) -> Path:
    """A tetrahedron."""
    path = c.folder / "mesh.off"
    path.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n", encoding="utf-8")
    return path


def _touching(c: Context) -> sh.Model:
    """The case's model with a shape that touches."""
    c.model.add_visual(c.model.bodies[0].name, sh.Sphere(0.2), role="collision")
    return c.model


def _pinocchio(c: Context) -> Any:
    """What is read of a model of Pinocchio, for the case's own model."""
    joints = [j for j in c.model.joints if j.nq]
    q, v = ([s.start for s in map(place, (j.name for j in joints))] for place in (c.model.q_slice, c.model.v_slice))
    return SimpleNamespace(
        names=[j.name for j in joints], idx_qs=q, nqs=[j.nq for j in joints], idx_vs=v, nvs=[j.nv for j in joints],
        nq=c.model.nq, nv=c.model.nv,
    )  # fmt: skip


def _mujoco(c: Context) -> Any:
    """The same of MuJoCo's: a body for each joint, hinges, balls and free ones."""
    p = _pinocchio(c)
    n, kinds = len(p.names), {1: 3, 4: 1, 7: 0}
    return SimpleNamespace(
        nbody=n, body_jntadr=range(n), body_jntnum=[1] * n, jnt_type=[kinds.get(k, 3) for k in p.nqs],
        jnt_qposadr=p.idx_qs, jnt_dofadr=p.idx_vs, nq=p.nq, nv=p.nv,
        joint=lambda j: SimpleNamespace(name=p.names[j]), body=lambda b: SimpleNamespace(name=f"body {b}"),
    )  # fmt: skip


def valid_of(call: str, parameter: str) -> Callable[[Context], Any] | None:
    return VALID.get(f"{call}.{parameter}") or VALID.get(parameter)


def _study(c: Context) -> Any:
    return sh.study(small_model(), {"bar.mass": [0.5, 1.0]}, {"duration": 0.02}, "final of hinge", progress=False)


def _indices(c: Context) -> Any:
    over = {"bar.mass": (0.5, 1.0), "v0.hinge": (0.0, 1.0)}
    return sh.sobol_indices(small_model(), over, 2, run={"duration": 0.02}, outputs="final of hinge", progress=False)


NUMBERS = (
    "mass", "density", "ratio", "offset", "value", "radius", "length", "stiffness", "damping", "friction", "rest",
    "armature", "effort",
    "velocity", "pitch", "linear", "quadratic", "angular", "crank", "coupler", "rocker", "base", "rod", "top", "height",
    "sun", "planet",
    "angle", "speed", "roll", "yaw", "w", "x", "y", "z", "t", "t0", "args", "minimum.b", "maximum.b", "minimum.a",
    "maximum.a", "torque", "initial", "period", "share", "x0", "h0", "h1", "restitution", "rest_speed",
    "voltage", "resistance", "torque_constant", "time_constant", "area", "area_a", "area_b", "stroke", "supply", "volume",
    "precharge", "peak", "kp", "ki", "kd",
)  # fmt: skip
VALID: dict[str, Callable[[Context], Any]] = {
    "Sampled.function": _new(lambda sample: sample.tau),
    "Sampled.period": lambda c: float(c.rng.uniform(0.001, 0.1)),
    # numbers
    **dict.fromkeys(NUMBERS, _new(0.5)),
    **dict.fromkeys(("com", "at_a", "at_b", "point", "wind", "force", "moment", "position", "size", "start"), _new((0.1, 0.2,
    0.3))),
    "end": _new((1.0, 0.0, 0.0)), "inertia": _new((0.1, 0.1, 0.1)), "limits": _new((-1.0, 1.0)), "at": _new(sh.Pose((0.1,
    0.0, 0.0))),
    **dict.fromkeys(("n", "dof", "planets", "branching"), _new(3)), **dict.fromkeys(("threads", "every"), _new(1)),
    "k": _new(0), "rng": _new(1),
    "Rotation.align_z.direction": _new((0.0, 0.6, 0.8)), "entries": _new((1, 0, 0, 0, 1, 0, 0, 0, 1)), "gravity": _new((0.0,
    0.0, -9.81)),
    "table.x": _new((0.0, 0.5, 1.0)), "table.y": _new((1.0, 2.0, 0.0)), "table.kind": _words("cubic", "linear", "monotone"),
    "x1": _new(1.5), "outside": _words("hold", "error"),
    # names, and what a model consists of
    "name": _words("new", "another", "a b"), "body": Context.body, "joint": Context.joint, "a": Context.body,
    "b": _words("ground"),
    "parent": _words("ground", "bar"), "child": Context.body, "follower": Context.joint, "leader": Context.joint,
    "Result.frame.name": _words("tip"), "Result.force.name": _words("spring"), "Result.force_power.name": _words("spring"),
    "Model.joint_index.name": Context.joint, "Model.body_index.name": Context.body, "fixed": lambda c: [c.joint()],
    "actuated": lambda c: [c.joint()],
    "model": lambda c: c.model, "axis": _words("x", "y", "z"), "what": _words("forward", "hinge"), "kind": _words("single",
    "batch"),
    "Model.add_joint.joint": _new(sh.Revolute("x")), "Model.add_joint.child": _words("bob", "cart"),
    "row": lambda c: comparison().rows[0],
    "Model.add_force.force": lambda c: sh.Wrench(c.body(), (1.0, 0.0, 0.0)), "parts": _new({"a": sh.Revolute("x"),
    "b": sh.Prismatic("y")}),
    "Model.add_constraint.constraint": lambda c: sh.Distance(c.body(), "ground"), "shape": _new(sh.Box((0.1, 0.2, 0.3))),
    "Contact.shape": _new(sh.Sphere(0.3)), "Contact.against": _new(sh.Plane()), "Contact.on": _words("ground"), "tube": _new(0.1),
    "HeightFunction.height": _new(sh.formula("0.1*x*y", "x", "y")), "Points.points": _new([(0.1, 0.2, 0.3), (0.0, 0.0, 0.1)]),
    "wheel": Context.body, "mesh_points.path": _mesh_file, "points": _new(8), "most": _new(8), "add_ground.model": _touching,
    "signal": _new(sh.SignalFormula("velocity.bar.x")), "lengths": _new((0.1, 0.4)),
    "Accumulator.at": _words("a", "b", "supply"), "terms": lambda c: [(c.joint(), 0, 0, 1.0)], "Actuator.points": _new(()),
    "ratios": lambda c: {c.joint(): 1.0}, "method": _words("composite", "separate"), "backend": _new("python"),
    "rollout.backend": _new("auto"), "backends": _new("python"),
    "methods": _new("composite"), "states": _new(1), "batch": _new(2), "rounds": _new(1), "numbering": _words("depth-first",
    "leaves-last"),
    # functions and formulas
    "gap": _new(sh.SignalFormula("position.bar.z + 2")), "slip": _new(None), "Impact.friction": _new(0.0),
    "when": _new(sh.SignalFormula("t - 0.01")), "function": _new(sh.SignalFormula("velocity.bar.x")), "text": _words("t",
    "sin(t)"),
    "rate": _new(sh.SignalFormula("velocity.bar.x")), "simulate.states": _new({}), "rollout.states": _new({}),
    "surface": _new(sh.formula("x*x + z", "x", "y", "z")), "first": _new(sh.formula("x", "x", "y", "z")),
    "items": _words("t", "2*t"),
    "second": _new(sh.formula("z", "x", "y", "z")), "Universal.first": _new("x"), "Universal.second": _new("y"),
    "variables": _words("t"),
    "constraints": _new(sh.ConstraintFormula("x", "y")), "pose": _new(sh.PoseFormula(("q", 0.0, 0.0), variables=("q", "t"))),
    "CustomJoint.dof": _new(1), "base_motion": _new(sh.PoseFormula(("t", 0.0, 0.0))),
    # states
    "q": lambda c: c.model.random_q(c.rng), **dict.fromkeys(("v", "tau", "p"), lambda c: c.state(c.model.nv)),
    **{f"Dynamics.{name}.a": lambda c: c.state(c.model.nv) for name in ("inverse", "inverse_reactions",
    "inverse_closing_reactions", "acceleration")},
    "dv": lambda c: c.state(c.model.nv), "q1": lambda c: c.model.random_q(c.rng), "axes": _words("world", "local"),
    "Result.reaction.axes": _words("world", "body", "joint"),
    "pin_model": _pinocchio, "mj_model": _mujoco, "qpos": lambda c: c.model.random_q(c.rng),
    "qvel": lambda c: c.state(c.model.nv),
    "wrenches": lambda c: np.ones((len(c.model.bodies), 6)), "out": lambda c: np.zeros(c.model.nv),
    "values": lambda c: {c.joint(): 0.1},
    "q0": lambda c: c.model.random_q(c.rng), "v0": lambda c: np.zeros(c.model.nv),
    "rollout.q0": lambda c: c.model.random_q(c.rng)[None],
    "rollout.v0": lambda c: np.zeros((1, c.model.nv)), "duration": _new(0.02), "step": _new(0.01), "simulate.step": _new(None),
    **dict.fromkeys(("identify.fixed", "base_parameters.fixed"), _new(["*.friction"])), "data": _measured, "samples": _new(30),
    "prior": _new(0.3), "seed": _new(1), "Dynamics.regressor.a": lambda c: c.state(c.model.nv),
    "targets": lambda c: {c.body(): (0.1, 0.2, 0.3)}, "Model.make_parameter.path": _words("bar.mass", "hinge.damping"),
    "parameters": _new({}), "Model.with_parameters.values": _new({}), "sensitivities": _new(()),
    "Dynamics.acceleration.a": lambda c: c.state(c.model.nv), "Dynamics.inverse_derivatives.a": lambda c: c.state(c.model.nv),
    # flexible bodies
    **dict.fromkeys(("E", "G", "Iy", "Iz", "It", "outer", "width"), _new(0.8)), "section": _new(sh.Circle(0.1)),
    "inner": _new(0.2), "web": _new(0.1), "flange": _new(0.1), "modes": _new(2), "load": _words("load"), "flexible": _new(None),
    "FlexibleBeam.E": _new(1e9), "FlexibleBeam.G": _new(4e8), "Model.add_node.at": _new((0.1, 0.0, 0.0)), "count": _new(1),
    "ModalBody.mass": _new(1.0), "ModalBody.inertia": _new((1.0, 1.0, 1.0, 0.0, 0.0, 0.0)), "centre": _new((0.5, 0.0, 0.0)),
    "nodes": _new({"a": (0.0, 0.0, 0.0), "b": (1.0, 0.0, 0.0)}), "node_mass": _new({"a": 0.5, "b": 0.5}),
    "ModalBody.modes": _new({"a": [[0.0]] * 6, "b": [[0.0], [1.0], [0.0], [0.0], [0.0], [1.0]]}), "frequencies": _new((10.0,)),
    **dict.fromkeys(("M", "K"), _new(np.eye(18))), "reduce.nodes": _new(np.eye(3)), "interface": _new([0]),
    "load_modal.path": lambda c: c.folder / "none.npz", "Result.deformation.at": _new((0.1, 0.0, 0.0)),
    # studies
    "study.over": _new({"bar.mass": [0.5, 1.0]}), "study.run": _new({"duration": 0.02}),
    "study.outputs": _words("final of hinge", "max of hinge"), "client": _new(None), "store": lambda c: c.folder / "study",
    "runs": _new(2), "sampler": _words("random", "sobol"), "workers": _new(1), "processes": _new(False), "bundle": _new(1),
    "sobol_indices.over": _new({"bar.mass": (0.5, 1.0), "v0.hinge": (0.0, 1.0)}),
    "optimize.objective": _words("final of hinge", "max of hinge"), "bounds": _new({"bar.mass": (0.5, 1.0)}), "max_runs": _new(4),
    **dict.fromkeys(("optimize.run", "sobol_indices.run"), _new({"duration": 0.02})), "optimize.constraints": _new(None),
    "optimize.start": _new(None), "sobol_indices.n": _new(2), "sobol_indices.outputs": _new("final of hinge"),
    "optimize.method": _words("auto", "Nelder-Mead"), "plot_sobol.ds": _indices,
    **dict.fromkeys(("optimize.model", "sobol_indices.model"), lambda c: small_model()),
    "ds": _study, "open_study.path": lambda c: c.folder / "study", "study.model": lambda c: small_model(),
    # files
    "path": lambda c: c.folder / str(c.rng.choice(["out.yaml", "out.urdf", "out.nc", "out.csv", "out.png"])),
    "load.path": _model_file,
    "plot.results": lambda c: result(), "animate.results": lambda c: result(), "where": Context.body,
    "Result.velocity_of.v": lambda c: result().v,
    "plot.what": _words("hinge", "energy"), "over": _words("hinge"),
    "Result.load.path": _result_file, "Comparison.from_json.path": _comparison_file, "save": lambda c: c.folder / "out.nc",
    "package_paths": lambda c: [c.folder], "loads.text": lambda c: sh.dumps(small_model()), "source": _words("a file"),
}  # fmt: skip
"""By the name of a parameter, or by call and parameter where a name means several things."""
