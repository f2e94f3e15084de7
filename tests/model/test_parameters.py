"""Parameters: a model with parameters at some values is the model built with these numbers, in every answer, on every backend."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import sharnir as sh
from parametric_models import DEFAULTS, LINKAGE_START, LINKAGE_VALUES, VALUES, arm, linkage, numbers_of
from states import assert_close, random_state

QUESTIONS = {
    "forward": lambda d, s, **p: d.forward(s.q, s.v, s.tau, s.t, **p),
    "forward with wrenches": lambda d, s, **p: d.forward(s.q, s.v, s.tau, s.t, s.wrenches, **p),
    "reactions": lambda d, s, **p: d.reactions(s.q, s.v, s.tau, s.t, **p),
    "solve": lambda d, s, **p: d.solve(s.q, s.v, s.tau, s.t, **p),
    "inverse": lambda d, s, **p: d.inverse(s.q, s.v, s.tau, s.t, **p),
    "inverse reactions": lambda d, s, **p: d.inverse_reactions(s.q, s.v, s.tau, s.t, **p),
    "mass matrix": lambda d, s, **p: d.mass_matrix(s.q, s.t, **p),
    "bias": lambda d, s, **p: d.bias(s.q, s.v, s.t, **p),
    "momenta": lambda d, s, **p: d.momenta(s.q, s.v, s.t, **p),
    "poses": lambda d, s, **p: d.poses(s.q, s.t, **p),
    "velocities": lambda d, s, **p: d.body_velocities(s.q, s.v, s.t, **p),
    "Jacobian": lambda d, s, **p: d.jacobian(s.q, "slide", (0.1, 0.2, 0.3), s.t, **p),
    "energy": lambda d, s, **p: d.energy(s.q, s.v, s.t, **p),
    "total momentum": lambda d, s, **p: d.total_momentum(s.q, s.v, s.t, **p),
    "force powers": lambda d, s, **p: d.force_powers(s.q, s.v, s.t, **p),
    "force actions": lambda d, s, **p: d.force_actions(s.q, s.v, s.t, **p),
}
FORMULATIONS = [("composite", "llvm"), ("composite", "loops"), ("composite", "python"), ("extended", "auto")]


def numbers_in_place(method, backend, values=VALUES):
    """Straight-line code is compiled for each model: that of the numbers is interpreted instead."""
    return sh.Dynamics(arm(**values), method, "python" if backend == "llvm" else backend)


@pytest.mark.parametrize(("method", "backend"), FORMULATIONS)
def test_parameters_are_the_numbers_they_stand_for(method, backend):
    plain, parametric = numbers_in_place(method, backend), sh.Dynamics(arm(), method, backend)
    s = random_state(plain.model, 1)
    for name, ask in QUESTIONS.items():
        expected = numbers_of(ask(plain, s))
        assert_close(numbers_of(ask(parametric, s, parameters=VALUES)), expected, 1e-12, what=f"{name} by {method} on {backend}")
        assert np.abs(numbers_of(ask(parametric, s)) - expected).max() > 1e-6, f"{name} does not depend on the parameters"


def test_numbers_of_bodies_are_filled_in_beside_states_of_forces():
    """On loops, whose native code computes them from the parameters: states of forces are the last of these."""

    def controlled(mass=None):
        m = sh.samples.chain(3).copy()
        m.make_parameter("link2.mass")
        if mass is not None:
            m = m.without_parameters({"link2.mass": mass})
        m.add_force(sh.PID("joint1", kp=1.0, ki=2.0, target=0.3), name="pid")
        return m

    q, z = np.array([0.1, 0.2, 0.3]), {"pid.integral": 0.7}
    found = sh.Dynamics(controlled(), "composite", "loops").forward(q, parameters=z | {"link2.mass": 3.0})
    assert_close(found, sh.Dynamics(controlled(3.0), "composite", "python").forward(q, parameters=z), 1e-12)


@pytest.mark.parametrize("backend", ["llvm", "loops", "python"])
def test_every_state_of_a_batch_may_have_parameters_of_its_own(backend):
    d, n = sh.Dynamics(arm(), "composite", backend), 9
    rng = np.random.default_rng(3)
    q = np.array([d.model.random_q(rng) for _ in range(n)])
    v, tau, t = rng.normal(size=(n, d.model.nv)), rng.normal(size=(n, d.model.nv)), rng.uniform(size=n)
    L = np.repeat(rng.uniform(0.4, 0.9, 3), 3)
    for ask in (d.forward, d.inverse, d.reactions):
        found = ask(q, v, tau, t, parameters={"L": L})
        for b in range(n):
            assert_close(found[b], ask(q[b], v[b], tau[b], float(t[b]), parameters={"L": L[b]}), 1e-12)
    assert_close(
        d.forward(q, v, tau, parameters=np.array([0.7, 2.0])), d.forward(q, v, tau, parameters={"L": 0.7, "k": 2.0}), 0.0
    )


@pytest.mark.parametrize("seed", range(6))
def test_any_number_of_a_random_tree_can_be_made_a_parameter(seed):
    """By paths, in trees with every joint type; the model with numbers put in their place is the same model."""
    m = sh.samples.all_joints(seed=seed).copy()
    rng = np.random.default_rng(seed)
    for body in m.bodies[:: 1 + seed % 3]:
        for path in ("mass", "com.y", "inertia.yy"):
            m.make_parameter(f"{body.name}.{path}")
    for joint in m.joints[:: 2 + seed % 2]:
        m.make_parameter(f"{joint.name}.at.x")
        m.make_parameter(f"{joint.name}.child_at.z")
        if joint.type.type_name not in ("Compound", "Weld", "ConstraintJoint") and joint.nv:
            m.make_parameter(f"{joint.name}.armature")
    m.make_parameter("gravity.z")
    values = {name: x * rng.uniform(1.0, 1.001) + 0.01 * name.endswith(("at.x", "armature")) for name, x in m.parameters.items()}
    plain, s = m.without_parameters(values), random_state(m, seed)
    assert plain.structure.parametric is None
    expected = sh.Dynamics(plain, "direct", "python").forward(s.q, s.v, s.tau, s.t, s.wrenches)
    for backend in ("python", "loops"):
        d = sh.Dynamics(m, "direct", backend)
        assert_close(d.forward(s.q, s.v, s.tau, s.t, s.wrenches, parameters=values), expected, 1e-11)
    assert_close(
        sh.matrices(m, s.q, s.v, s.t, parameters=values).M_r, sh.Dynamics(plain, "direct", "python").mass_matrix(s.q, s.t)
    )


@pytest.mark.parametrize("options", [{}, {"backend": "loops"}, {"method": "momentum"}, {"integrator": "radau", "rtol": 1e-6}])
def test_a_motion_with_parameters_is_that_of_the_numbers(options):
    def model(**values):
        m = sh.Model("pendulum on a slider")
        L, k = values.values() if values else (m.add_parameter(name, x) for name, x in DEFAULTS.items())
        m.add_body("slider", mass=k)
        m.add_body("bar", mass=1.0, shape=sh.Rod((0, 0, 0), (L, 0, 0), radius=0.01))
        m.add_joint("x", sh.CustomJoint(1, lambda q, t: sh.Pose((q[0] * L, 0.1 * k * sh.sin(t), 0))), "ground", "slider")
        m.add_joint("hinge", sh.Revolute("y", stiffness=k, armature=0.01 * L), "slider", "bar", at=sh.Pose((0, 0, 0.1 * L)))
        m.add_force(lambda on: on.torque("x", -k * on.v("x")), "brake")
        return m

    given = {"q0": [0.1, 0.3], "output": 0.1, **options}
    expected, found = sh.simulate(model(**VALUES), 0.5, **given), sh.simulate(model(), 0.5, parameters=VALUES, **given)
    for name in ("q", "v", "a", "reactions", "work_done", "force_energies"):
        assert_close(getattr(found, name), getattr(expected, name), 1e-9, what=name)
    assert_close(found.energy.total, expected.energy.total, 1e-10)
    assert np.abs(found.energy.defect).max() < 1e-5 * found.energy.kinetic.max()


def test_trajectories_of_a_rollout_have_parameters_of_their_own():
    L = np.linspace(0.5, 0.9, 5)
    for backend in ("llvm", "loops", "python"):
        m = arm()
        start = m.neutral()[None] + 0.01 * (np.arange(m.nq) < 3)
        both = {"dt": 1e-3, "steps": 5, "backend": backend, "method": "composite"}
        found = sh.rollout(m, start, parameters={"L": L, "k": 2.5}, **both)
        assert found.parameters.tolist() == [[x, 2.5] for x in L]
        for k, x in enumerate(L):
            wanted = sh.rollout(arm(x, 2.5), start, **both | {"backend": "python" if backend == "python" else "loops"})
            assert_close(found.q[k], wanted.q[0], 1e-12)
    with pytest.raises(sh.StateError, match="5 values for 2 trajectories"):
        sh.rollout(m, np.repeat(start, 2, axis=0), dt=1e-3, steps=1, parameters={"L": L})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"backend": "python"},
        {"method": "maggi"},
        {"stabilisation": "partitioning"},
        {"stabilisation": "baumgarte"},
        {"stabilisation": "ggl"},
    ],
)
def test_a_closed_mechanism_with_parameters_is_that_of_the_numbers(options):
    given = {"q0": LINKAGE_START, "fixed": ["A"], "output": 0.01, **options}
    expected = sh.simulate(linkage(**LINKAGE_VALUES), 0.05, **given)
    found = sh.simulate(linkage(), 0.05, parameters=LINKAGE_VALUES, **given)
    for name in ("q", "v", "a", "reactions"):
        assert_close(getattr(found, name), getattr(expected, name), 1e-8, what=name)
    assert found.violation.max() < 1e-8


def test_answers_about_a_closed_mechanism_have_its_parameters():
    plain, m = linkage(**LINKAGE_VALUES), linkage()
    q, v = m.assemble(LINKAGE_START, {"A": 1.0}, parameters=LINKAGE_VALUES, nearest=True)
    assert_close(q, plain.assemble(LINKAGE_START, {"A": 1.0}, nearest=True)[0], 1e-9)
    assert m.mobility(q, parameters=LINKAGE_VALUES).freedoms == plain.mobility(q).freedoms
    for backend in ("llvm", "python"):
        d, expected = sh.Dynamics(m, "composite", backend), sh.Dynamics(plain, "composite", backend)
        a = expected.forward(q, v)
        for name in ("forward", "multipliers", "reactions", "closing_reactions", "solve"):
            assert_close(
                numbers_of(getattr(d, name)(q, v, parameters=LINKAGE_VALUES)), numbers_of(getattr(expected, name)(q, v)), 1e-9
            )
        for name in ("inverse", "inverse_reactions", "inverse_closing_reactions"):
            assert_close(
                numbers_of(getattr(d, name)(q, v, a, parameters=LINKAGE_VALUES)),
                numbers_of(getattr(expected, name)(q, v, a)),
                1e-9,
                scale=1.0,
            )


def test_other_values_compile_nothing(monkeypatch):
    """Two hundred values of a stiffness and of a length, on a closed mechanism."""
    from sharnir.dialect import jit

    m, d = linkage(), sh.Dynamics(linkage())
    for L in (0.95, 1.1):  # compiles everything that the runs below need; starts far away evaluate rows until these are compiled
        sh.simulate(m, 0.01, q0=LINKAGE_START, fixed=["A"], parameters={"L": L}).energy  # noqa: B018
    q, v = m.assemble(LINKAGE_START, nearest=True)
    d.forward(q, v)

    def refused(*arguments, **options):
        raise AssertionError("something was compiled")

    monkeypatch.setattr(jit, "compile_text", refused)
    for name in ("sharnir.backends.graph_function", "sharnir.dialect.native"):
        monkeypatch.setattr(f"{name}.compile_text", refused, raising=False)
    for k in np.linspace(2.0, 4.0, 200):
        d.forward(q, v, parameters={"k": k})
    for L in np.linspace(0.95, 1.1, 5):
        sh.simulate(m, 0.01, q0=LINKAGE_START, fixed=["A"], parameters={"L": L}).energy  # noqa: B018


def test_events_change_parameters_of_masses_and_places():
    """A bar that grows: after the event the motion is that of the longer bar, and so is everything derived from it."""

    def bar(L=None):
        m = sh.Model("bar")
        L = m.add_parameter("L", 0.5) if L is None else L
        m.add_body("bar", mass=L, shape=sh.Rod((0, 0, 0), (L, 0, 0), radius=0.01))
        m.add_joint("hinge", sh.Revolute("y"), "ground", "bar")
        return m

    def grow(state):
        state.parameters["L"] = 0.8

    r = sh.simulate(bar(), 0.4, events=sh.Event(lambda on: on.t - 0.2, grow), output=0.1)
    after = sh.simulate(bar(0.8), 0.2, t0=0.2, q0=r.q[2], v0=r.v[2], output=0.1)
    assert_close(r.q[2:], after.q, 1e-9)
    assert_close(r.a[3:], after.a[1:], 1e-9)
    assert_close(r.energy.total[3:], after.energy.total[1:], 1e-9)
    assert r.parameters[:, 0].tolist() == [0.5, 0.5, 0.8, 0.8, 0.8]

    def shrink(state):
        state.parameters["L"] = -1.0

    with pytest.raises(sh.SimulationError, match=r"bad parameters at t = 0\.2.*mass"):
        sh.simulate(bar(), 0.4, events=sh.Event(lambda on: on.t - 0.2, shrink))


def test_files_say_what_depends_on_parameters(tmp_path):
    text = """
        parameters: {L: 0.5, k: 3, "left arm": 2.0}
        gravity: [0, 0, -9.81*parameter.L]
        bodies:
          a: {mass: 2*parameter.L, shape: {type: rod, start: [0, 0, 0], end: [parameter.L, 0, 0], radius: 0.01}}
          b: {mass: "parameter['left arm']", com: [parameter.L/2, 0, 0], inertia: [0.01, 0.02, 0.03]}
        frames: {tip: {body: b, at: [parameter.L, 0, 0]}}
        joints:
          j: {type: revolute, axis: y, parent: ground, child: a, damping: 0.1*parameter.k}
          k:
            {type: revolute, axis: z, parent: a, child: b, at: {position: [parameter.L, 0, 0], axis: x, angle: parameter.L},
             motion: "parameter.L*sin(parameter.k*t)"}
        forces: {s: {type: spring-damper, a: a, b: ground, at_b: [1, 0, 1], stiffness: parameter.k, length: parameter.L}}
    """
    m = sh.loads(text)
    written = sh.dumps(m)
    again = sh.loads(written)
    assert sh.dumps(again) == written
    values = {"L": 0.8, "k": 2.0, "left arm": 1.0}
    answers = [
        sh.Dynamics(x, backend="python").forward([0.1], [0.2], None, 0.3, parameters=values)
        for x in (m, again, pickle.loads(pickle.dumps(m)))
    ]
    answers += [
        sh.Dynamics(x, backend="python").forward([0.1], [0.2], None, 0.3)
        for x in (m.with_parameters(values), m.without_parameters(values))
    ]
    for answer in answers[1:]:
        assert_close(answer, answers[0], 1e-13)
    sh.simulate(m, 0.1, parameters=values, output=0.05, save=tmp_path / "run.nc")
    assert sh.Result.load(tmp_path / "run.nc").frame("tip")[0].tolist() == [1.6, 0.0, 0.0]
    with pytest.raises(sh.FormatError, match=r"bodies\.a\.mass.*no parameter 'M'; the parameters are"):
        sh.loads(text.replace("mass: 2*parameter.L", "mass: 2*parameter.M"))
    with pytest.raises(sh.FormatError, match=r"bodies\.a\.mass.*write parameter\.L"):
        sh.loads(text.replace("mass: 2*parameter.L", "mass: 2*L"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda m, d: d.forward(m.neutral(), parameters={"l": 1.0}),
            "no parameter 'l'; the parameters are 'L', 'k'",
        ),
        (lambda m, d: d.forward(m.neutral(), parameters={"L": -1.0}), "'L' = -1: body 'upper' would have a mass of -2 kg"),
        (lambda m, d: d.forward(m.neutral(), parameters={"L": np.nan}), "'L' must be a finite number"),
        (lambda m, d: d.forward(m.neutral(), parameters={"L": [[1.0]]}), r"'L': expected a number or \(B,\)"),
        (lambda m, d: d.forward(m.neutral(), parameters={"L": [0.5, 0.6], "k": [1, 2, 3]}), "batches of different sizes"),
        (lambda m, d: d.forward(m.neutral(), parameters=[0.5]), r"expected .*\(2,\) or \(B, 2\), got \(1,\)"),
        (lambda m, d: d.forward(m.neutral(), parameters={"L": 3.5}), "the inertia of body 'fore'"),
        (lambda m, d: d.forward(m.neutral(), parameters={"k": -1.0}), "mass|damping"),
        (lambda m, d: sh.simulate(m, 0.1, parameters={"L": -1.0}), "body 'upper' would have a mass"),
        (lambda m, d: sh.simulate(m, 0.1, parameters={"x": 1.0}), "no parameter 'x'"),
        (lambda m, d: sh.rollout(m, m.neutral()[None], dt=0.1, steps=1, parameters={"L": [-1.0]}), "mass"),
        (lambda m, d: m.parameters.__setitem__("L", 1.0), r"read only; pass parameters=\{'L': 1.0\}"),
        (lambda m, d: m.parameters.__delitem__("L"), "read only"),
        (lambda m, d: m.copy().make_parameter("uper.mass"), "no number 'uper.mass'.*did you mean 'upper.mass'"),
        (lambda m, d: m.copy().make_parameter("upper.mass"), "depends on parameters already"),
        (lambda m, d: m.copy().add_parameter("L", 1.0), "parameter 'L'"),
        (lambda m, d: m.copy().add_parameter("x", "y"), "expected a number"),
        (lambda m, d: m.make_parameter("fore.mass"), "frozen.*model.copy"),
        (lambda m, d: m.with_parameters({"L": -1.0}), "mass"),
        (lambda m, d: sh.Dynamics(sh.samples.pendulum()).forward([0.1], parameters={"L": 1.0}), "there are no parameters"),
    ],
)
def test_values_that_make_no_sense_are_refused_in_words(call, words):
    m = arm()
    with pytest.raises(sh.SharnirError, match=words):
        call(m, sh.Dynamics(m, "composite", "python"))


def test_values_of_many_states_are_refused_wherever_they_stand():
    """Values that were accepted once are not looked at again; others are."""
    m = sh.samples.quarter_car()
    d, own = sh.Dynamics(m), np.tile(list(m.parameters.values()), (6, 1))
    q, wrong = np.zeros((6, m.nq)), np.array(own)
    wrong[4:, 0] = -3.0
    for _ in range(2):
        d.forward(q, parameters=own)
        with pytest.raises(sh.StateError, match=r"'mass' = -3 \(row 4\): .*must be zero or positive"):
            d.forward(q, parameters=wrong)


@pytest.mark.parametrize(("at", "words"), [("spring", "at least 0"), ("ratio", "other than 0")])
def test_a_number_of_many_rows_is_checked_and_not_its_parameters(at, words):
    """The wrong value is where no parameter is at its least or largest."""
    m = sh.samples.double_pendulum().copy()
    a, c = m.add_parameter("a", 2.0), m.add_parameter("c", 1.0)
    if at == "spring":
        m.add_force(sh.SpringDamper("ground", "rod1", at_a=(1, 1, 0), at_b=(1, 0, 0), stiffness=10 * (a - c)), "s")
    else:
        m.couple("hinge2", "hinge1", ratio=a - c)
    rows = np.stack([np.linspace(1.1, 3.0, 100), np.linspace(0.5, 2.5, 100)], axis=1)
    rows[50] = (1.5, 2.0) if at == "spring" else (1.5, 1.5)
    d = sh.Dynamics(m)
    with pytest.raises(sh.StateError, match=rf"row 50.*{words}"):
        d.forward(np.zeros((100, m.nq)), parameters=rows)


def test_parameters_belong_to_one_model():
    one, other = sh.Model("one"), sh.Model("other")
    L = one.add_parameter("L", 0.5)
    other.add_parameter("k", 1.0)
    for use in (
        lambda m: m.add_body("b", mass=L),
        lambda m: m.add_force(sh.Wrench("ground", force=(L, 0, 0))),
        lambda m: setattr(m, "gravity", (0, 0, L)),
    ):
        with pytest.raises(sh.SharnirError, match="'L' is a parameter of another model"):
            use(other)
    bare = sh.Model("bare")
    bare.add_body("b", mass=L, inertia=(1, 1, 1))
    bare.add_joint("j", sh.Revolute("y"), "ground", "b")
    with pytest.raises(sh.ModelError, match="'L' is a parameter of another model"):
        _ = bare.nq
    with pytest.raises(sh.TraceError, match="two different models"):
        L + other.parts.parameter_graph.parameter("k", 1.0)


def test_what_cannot_depend_on_a_parameter_says_so():
    m = sh.Model()
    L = m.add_parameter("L", 0.5)
    for make, words in (
        (lambda: sh.Revolute((0, 0, L)), "axis cannot depend on a parameter"),
        (lambda: sh.Revolute("z", limits=(-1, L)), "limits cannot depend on a parameter"),
        (
            lambda: sh.ConstraintJoint(lambda pose, t: pose.position[0] - L, start=sh.Pose((0.5, 0, 0))),
            "cannot depend on a parameter",
        ),
        (lambda: float(L), "may change from call to call"),
        (lambda: np.array([L], dtype=float), "may change from call to call"),
        (lambda: max(L, 1.0), "may change from call to call"),
    ):
        with pytest.raises(sh.SharnirError, match=words):
            make()


def test_copies_share_nothing_that_can_change():
    m = arm()
    copy = m.copy()
    copy.add_parameter("new", 1.0)
    assert list(m.parameters) == ["L", "k"] and list(copy.parameters) == ["L", "k", "new"]
    other = m.with_parameters({"L": 0.7})
    assert (m.parameters["L"], other.parameters["L"]) == (0.5, 0.7)
    s = random_state(m, 2)
    d = sh.Dynamics(m, "composite", "python")
    assert_close(
        sh.Dynamics(other, "composite", "python").forward(*s.motion[:2]), d.forward(*s.motion[:2], parameters={"L": 0.7}), 1e-13
    )
    joint = m.joints[0].type
    with pytest.raises(AttributeError, match=r"\.replaced\(armature=…\)"):
        joint.armature = 10.0


def test_a_condition_on_parameters_is_checked_before_a_motion():
    """Out of its plane a planar linkage cannot be closed: rows that nothing moves hold for one value of the offset only."""
    m = sh.Model("offset")
    z = m.add_parameter("offset", 0.0)
    for name in ("a", "b", "c"):
        m.add_body(name, mass=1.0, shape=sh.Rod((0, 0, 0), (1, 0, 0)))
    m.add_joint("A", sh.Revolute("z"), "ground", "a")
    m.add_joint("B", sh.Revolute("z"), "a", "b", at=sh.Pose((1, 0, 0)))
    m.add_joint("C", sh.Revolute("z"), "b", "c", at=sh.Pose((1, 0, 0)))
    m.add_joint("D", sh.Revolute("z"), "c", "ground", at=sh.Pose((1, 0, 0)), child_at=sh.Pose((1, 0, z)), cut=True)
    start = {"A": 1.0, "B": -0.9, "C": -1.2}
    assert m.mobility(m.assemble(start, nearest=True)[0]).freedoms == 1
    with pytest.raises(sh.AssemblyError, match="position along z cannot be met with these parameters: it stays at"):
        m.assemble(start, parameters={"offset": 0.1}, nearest=True)
    with pytest.raises(sh.AssemblyError, match="with these parameters"):
        sh.simulate(m, 0.1, q0=start, parameters={"offset": 0.1})


def test_command_line_sets_parameters_and_numbers_by_path(command, tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(
        "parameters: {L: 0.5}\n"
        "bodies: {bar: {mass: 1.0, com: [parameter.L, 0, 0], inertia: [0.1, 0.1, 0.1]}}\n"
        "joints: {hinge: {type: revolute, axis: y, parent: ground, child: bar}}\n",
        encoding="utf-8",
    )
    results = tmp_path / "run.nc"
    code, _, err = command("run", file, "--duration", "0.2", "--set", "L=0.8", "--set", "bar.mass=2", "-o", results, "-q")
    assert code == 0, err
    m = sh.load(file)
    m.make_parameter("bar.mass")
    expected = sh.simulate(m, 0.2, parameters={"L": 0.8, "bar.mass": 2.0})
    assert_close(sh.Result.load(results).q, expected.q, 1e-12)
    for word, message in (("L", "expected name=number"), ("bar.mas=1", "did you mean 'bar.mass'"), ("bar.mass=-1", "mass")):
        code, _, err = command("run", file, "--duration", "0.2", "--set", word)
        assert code == 2 and message in err and "--set" in err


def test_comparison_has_its_parameters():
    c = sh.compare(linkage(), methods=["composite"], backends=["python"], states=1, batch=1, rounds=1, parameters={"L": 1.05})
    assert c.rows[0].ok


def by_differences(f, h: float = 1e-4) -> np.ndarray:
    """f'(0) by central differences of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def assert_derivatives_by_parameters(d, q, v, last, t, values, questions):
    for name in questions:
        derivatives, ask, given = {
            "forward": (d.forward_derivatives, d.forward, (q, v, last, t)),
            "inverse": (d.inverse_derivatives, d.inverse, (q, v, last, t)),
            "reactions": (d.reaction_derivatives, d.reactions, (q, v, last, t)),
            "energy": (d.energy_derivatives, lambda *x, **p: np.array(d.energy(*x, **p)), (q, v, t)),
        }[name]
        found = derivatives(*given, wrt="parameters", parameters=values)
        assert found.dq is None and found.dparameters.shape[-1] == len(values)
        for j, parameter in enumerate(values):

            def changed(h, ask=ask, given=given, p=parameter):
                return ask(*given, parameters={**values, p: values[p] + h})

            expected = by_differences(changed)
            assert_close(found.dparameters[..., j], expected, 1e-8, scale=1.0, what=f"{name} by {parameter}")


@pytest.mark.parametrize("backend", ["llvm", "python"])
def test_derivatives_by_parameters_of_a_tree(backend):
    d = sh.Dynamics(arm(), "composite", backend)
    s = random_state(d.model, 1)
    questions = ("forward", "inverse", "reactions", "energy")
    assert_derivatives_by_parameters(d, s.q, s.v, s.tau, s.t, VALUES, questions)


def test_derivatives_by_parameters_of_a_closed_mechanism():
    m = linkage()
    q, v = m.assemble(LINKAGE_START, {"A": 1.0}, parameters=LINKAGE_VALUES, nearest=True)
    tau = np.random.default_rng(0).normal(size=m.nv)
    assert_derivatives_by_parameters(sh.Dynamics(m), q, v, tau, 0.3, LINKAGE_VALUES, ("forward", "reactions", "energy"))


def test_derivatives_by_state_have_the_parameters_of_the_call():
    s = random_state(arm(), 4)
    for backend in ("llvm", "python"):
        plain, parametric = numbers_in_place("composite", backend), sh.Dynamics(arm(), "composite", backend)
        for name, last in (("forward_derivatives", "dtau"), ("inverse_derivatives", "da")):
            expected = getattr(plain, name)(s.q, s.v, s.tau, s.t)
            found = getattr(parametric, name)(s.q, s.v, s.tau, s.t, parameters=VALUES)
            for field in ("value", "dq", "dv", last):
                assert_close(getattr(found, field), getattr(expected, field), 1e-11, what=f"{name}.{field} on {backend}")
    chain = sh.samples.chain(5)
    chain.make_parameter("link2.mass")
    q = chain.random_q(0)
    expected = sh.Dynamics(chain.without_parameters({"link2.mass": 3.0}), "composite").forward_derivatives(q, q, q)
    found = sh.Dynamics(chain, "composite", "loops").forward_derivatives(q, q, q, parameters={"link2.mass": 3.0})
    assert_close(found.dq, expected.dq, 1e-11)


def test_points_and_frames_have_the_parameters_of_the_call():
    s = random_state(arm(), 2)
    plain, parametric = (sh.Dynamics(m, "composite", "python") for m in (arm(**VALUES), arm()))
    for ask in (
        lambda d, **p: d.jacobian(s.q, "tip", (0.1, 0.2, 0.3), s.t, axes="local", **p),
        lambda d, **p: d.velocity(s.q, s.v, "tip", (0.1, 0.2, 0.3), s.t, **p),
        lambda d, **p: d.acceleration(s.q, s.v, s.tau, "tip", (0.1, 0.2, 0.3), s.t, **p),
        lambda d, **p: d.pose(s.q, "tip", s.t, **p).position,
    ):
        assert_close(ask(parametric, parameters=VALUES), ask(plain), 1e-13)
    many = parametric.pose(np.tile(s.q, (3, 1)), "tip", s.t, parameters={"L": [0.8, 0.5, 0.8], "k": 2.5})[1]
    assert_close(many[0], plain.pose(s.q, "tip", s.t).position, 1e-13)
    assert_close(many[2], many[0], 0.0)


def test_what_cannot_be_differentiated_by_parameters_says_so():
    chain = sh.samples.chain(3)
    chain.make_parameter("link2.mass")
    d = sh.Dynamics(chain, "composite", "loops")
    with pytest.raises(sh.MethodError, match="need straight-line code"):
        d.forward_derivatives(d.model.neutral(), wrt="parameters")
    with pytest.raises(sh.MethodError, match=r"has none; Model\.add_parameter"):
        sh.Dynamics(sh.samples.pendulum()).inverse_derivatives([0.1], [0.0], [0.0], wrt="parameters")


def test_functions_that_read_parameters_keep_their_values_in_a_copy_with_numbers():
    m = arm()
    plain = m.without_parameters(VALUES)
    s = random_state(m, 3)
    wanted = sh.Dynamics(m, "composite", "python").forward(s.q, s.v, s.tau, s.t, parameters=VALUES)
    d = sh.Dynamics(plain, "composite", "python")
    assert_close(d.forward(s.q, s.v, s.tau, s.t), wanted, 1e-13)
    with pytest.raises(sh.ModelError, match="'L' is a number in this copy"):
        d.forward(s.q, s.v, s.tau, s.t, parameters={"L": 0.5})
    assert not linkage().without_parameters().parameters


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        (lambda P: {"joint": sh.Compound({"p": sh.Revolute("y", armature=P), "q": sh.Revolute("z")})}, -0.1, "armature"),
        (lambda P: {"force": sh.Bushing("ground", "a", stiffness=P)}, -0.1, "semidefinite"),
        (lambda P: {"shape": sh.Cylinder(0.3, 1.0, hole=P)}, 0.5, "hole"),
        (lambda P: {"shape": sh.Rod((0, 0, 0), (P, 0, 0), 0.1)}, 0.0, "distance between its ends"),
    ],
)
def test_what_constructors_refuse_as_numbers_is_refused_as_parameters(part, value, words):
    m = sh.Model()
    made = part(m.add_parameter("P", 0.2))
    m.add_body("a", mass=1.0, **({"shape": made["shape"]} if "shape" in made else {"inertia": (1.0, 1.0, 1.0)}))
    m.add_joint("j", made.get("joint", sh.Revolute("y")), "ground", "a")
    if "force" in made:
        m.add_force(made["force"])
    d = sh.Dynamics(m, backend="python")
    with pytest.raises(sh.StateError, match=rf"'P' = {value:g}.*({words})"):
        d.forward(parameters={"P": value})
    for rows in (3, 100):
        batch = {"P": np.full(rows, 0.2)}
        batch["P"][1] = value
        with pytest.raises(sh.StateError, match="row 1"):
            d.forward(np.zeros((rows, m.nq)), parameters=batch)


def test_analyses_and_fields_take_parametric_masses_and_frames():
    m = linkage()
    found = sh.equilibrium(m, LINKAGE_START, parameters=LINKAGE_VALUES)
    assert_close(found.q, sh.equilibrium(linkage(**LINKAGE_VALUES), LINKAGE_START).q, 1e-7)
    space = sh.Model("gravity of a centre", gravity=(0, 0, 0))
    M = space.add_parameter("M", 2.0)
    space.add_body("a", mass=M, inertia=(1, 1, 1))
    space.add_floating("a")
    space.add_force(sh.PointGravity(mu=3.0))
    q = [2.0, 0, 0, 1, 0, 0, 0]
    assert_close(sh.Dynamics(space, backend="python").forward(q, parameters={"M": 5.0})[0], -0.75, 1e-12)
    robot = arm()
    reach = sh.inverse_kinematics(robot, {"tip": sh.Dynamics(robot).pose(robot.random_q(1), "tip").position}, limits=False)
    assert reach.reached
