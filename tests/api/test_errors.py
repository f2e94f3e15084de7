"""Bad input is refused where it is given, and the message names the culprit and the remedy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh


def model(**options):
    """Two bodies: "a" on a hinge, "b" on a ball joint of a."""
    m = sh.Model("bad luck", **options)
    for name in "ab":
        m.add_body(name, mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "a")
    m.add_joint("socket", sh.Ball(), "a", "b")
    return m


def refused(error, message):
    return pytest.raises(error, match=message)


# --- bodies -----------------------------------------------------------------------------------------------------------------
BODIES = {
    "negative mass": ({"mass": -1.0}, r"body 'c': mass must be zero or positive, got -1 kg"),
    "mass that is no number": ({"mass": "heavy"}, r"body 'c': mass must be a number of kilograms, got 'heavy'"),
    "infinite mass": ({"mass": math.inf}, r"body 'c': mass must be zero or positive, got inf kg"),
    "triangle": ({"mass": 1, "inertia": (1, 1, 3)}, r"body 'c': its inertia breaks the triangle inequality .*1, 1, 3 kg m²"),
    "negative moment": ({"mass": 1, "inertia": (1, 1, -1)}, r"body 'c': its inertia is not that of any body"),
    "asymmetric": ({"mass": 1, "inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, r"body 'c': the inertia matrix is not symmetric"),
    "four moments": ({"mass": 1, "inertia": (1, 1, 1, 1)}, r"body 'c': inertia must be 3 numbers, 6 .* or 3×3, got shape \(4,\)"),
    "nan moment": ({"mass": 1, "inertia": (1, math.nan, 1)}, r"body 'c': inertia must be finite"),
    "flat com": ({"mass": 1, "com": (0, 0)}, r"body 'c': com: expected three numbers, got 2"),
    "nan com": ({"mass": 1, "com": (0, 0, math.nan)}, r"body 'c': com: the numbers must be finite"),
    "density alone": ({"density": 1.0}, r"body 'c': a density needs a shape to fill"),
    "shape alone": ({"shape": sh.Sphere(1.0)}, r"body 'c': give a shape either its mass or its density"),
    "shape twice": (
        {"shape": sh.Sphere(1.0), "mass": 1, "com": (0, 0, 1)},
        r"body 'c': a shape gives centre of mass and inertia",
    ),
    "thin rod": ({"shape": sh.Rod((0, 0, 0), (1, 0, 0)), "density": 1.0}, r"body 'c': this shape has no volume"),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_cannot_be(case):
    options, message = BODIES[case]
    with refused(sh.ModelError, message):
        model().add_body("c", **options)


def test_a_body_with_a_name_that_is_taken():
    with refused(sh.ModelError, "there is a body 'a' already; names must differ"):
        model().add_body("a", mass=1.0)
    with refused(sh.ModelError, "'ground' is the base of every model"):
        model().add_body("ground", mass=1.0)
    with refused(sh.ModelError, "a body needs a name, got ''"):
        model().add_body("", mass=1.0)


def test_a_shape_without_size():
    for make, message in (
        (lambda: sh.Box((1, 0, 1)), r"box: size\[1\]: expected a number above 0, got 0"),
        (lambda: sh.Sphere(-1.0), "sphere: radius: expected a number above 0, got -1.0"),
        (lambda: sh.Cylinder(0.0, 1.0), "cylinder: radius: expected a number above 0, got 0.0"),
        (lambda: sh.Rod((1, 1, 1), (1, 1, 1)), "rod: the distance between its ends must be positive"),
    ):
        with refused(sh.ModelError, message):
            make()


# --- joints -----------------------------------------------------------------------------------------------------------------
JOINTS = {
    "unknown body": (sh.Revolute(), "a", "elbow", r"joint 'j': no body 'elbow'; the bodies are 'ground', 'a', 'b'"),
    "to itself": (sh.Revolute(), "a", "a", r"joint 'j' joins the body 'a' to itself"),
    "joined twice": (sh.Revolute(), "b", "a", r"joint 'j': 'b' and 'a' are joined already, by 'socket'.*cut=True"),
    "no joint": ("revolute", "ground", "b", r"joint 'j': expected a joint such as sharnir.Revolute\('z'\), got 'revolute'"),
    "long axis": (lambda: sh.Revolute((0, 0, 2)), "", "", r"joint: axis: the axis .* length 2, not 1; did you mean \(0, 0, 1\)"),
    "zero axis": (lambda: sh.Prismatic((0, 0, 0)), "", "", r"prismatic joint: axis: the axis has length zero"),
    "unknown axis": (lambda: sh.Screw("u", pitch=1), "", "", r"screw joint: axis: expected 'x', 'y', 'z', .* got 'u'"),
    "nan axis": (lambda: sh.Revolute((0, 0, math.nan)), "", "", r"revolute joint: axis\[2\]: expected a finite number, got nan"),
    "parallel axes": (sh.Universal("z", "-z"), "ground", "b", r"joint 'j': the two axes of a universal joint must not be para"),
    "one drive for two": (sh.Universal(motion=sh.sin), "ground", "b", r"joint 'j': motion is one function .* 2 coordinates"),
    "unknown drive": (sh.Planar(motion={"z": sh.sin}), "ground", "b", r"joint 'j': no coordinate 'z' to drive; it has 'x', 'y'"),
    "drive by a number": (lambda: sh.Revolute(motion=3.0), "", "", r"joint: motion: expected a function of t or a mapping"),
    "ball by a mapping": (sh.Ball(motion={"x": sh.sin}), "ground", "b", r"joint 'j': a Ball joint is driven as a whole"),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINTS)
def test_a_joint_that_cannot_be(case):
    joint, parent, child, message = JOINTS[case]
    with refused(sh.ModelError, message):
        model().add_joint("j", joint() if callable(joint) else joint, parent, child)


def test_a_joint_with_a_name_that_is_taken():
    with refused(sh.ModelError, "there is a joint 'hinge' already; names must differ"):
        model().add_joint("hinge", sh.Weld(), "ground", "b")


def test_frames_that_are_unknown_taken_or_elsewhere():
    m = model()
    m.add_frame("tip", "a", sh.Pose((1, 0, 0)))
    m.add_body("c", mass=1.0)
    with refused(sh.ModelError, r"joint 'j': no frame 'top'; did you mean 'tip'\? The frames are 'tip'"):
        m.add_joint("j", sh.Weld(), "a", "c", at="top")
    with refused(sh.ModelError, "joint 'j': the frame 'tip' is on body 'a', not on 'b'"):
        m.add_joint("j", sh.Weld(), "b", "c", at="tip")
    with refused(sh.ModelError, "there is a frame 'tip' already, on body 'a'"):
        m.add_frame("tip", "b", sh.Pose())
    with refused(sh.ModelError, r"joint 'j': expected a sharnir.Pose, such as .*, or the name of a frame, got \(1, 0, 0\)"):
        m.add_joint("j", sh.Weld(), "a", "c", at=(1, 0, 0))
    m.add_joint("j", sh.Weld(), "a", "c", at="tip")
    assert m.joints[m.joint_index("j")].at.position == (1.0, 0.0, 0.0)


def test_a_pose_that_is_none():
    with refused(sh.ModelError, "rotation: the matrix is not orthonormal"):
        sh.Pose(rotation=[[1, 0, 0], [0, 1, 0], [0, 0, 2]])
    with refused(sh.ModelError, "rotation: the matrix is a reflection"):
        sh.Rotation([[1, 0, 0], [0, 1, 0], [0, 0, -1]])
    with refused(sh.ModelError, "rotation: expected .*3×3 numbers, got 6 numbers"):
        sh.Rotation([[1, 0, 0], [0, 1, 0]])
    with refused(sh.ModelError, "a quaternion of length zero"):
        sh.Pose(rotation=(0, 0, 0, 0))
    with refused(sh.ModelError, "position: expected three numbers, got 2"):
        sh.Pose((1, 2))


# --- the graph --------------------------------------------------------------------------------------------------------------
def test_a_body_that_hangs_on_nothing():
    m = model()
    m.add_body("lost", mass=1.0)
    with refused(sh.ModelError, r"not connected to 'ground': 'lost'; .*model.add_floating\('lost'\)"):
        m.freeze()


def test_a_cut_joint_that_closes_no_loop():
    m = model()
    m.add_body("c", mass=1.0)
    m.add_joint("j", sh.Weld(), "b", "c", cut=True)
    with refused(sh.ModelError, "joint 'j' is marked cut=True but closes no loop: without it 'c' would be disconnected"):
        m.freeze()


def test_a_second_joint_between_two_bodies_is_allowed_where_it_is_marked_cut():
    m = model()
    m.add_joint("strut", sh.Prismatic("x"), "b", "a", cut=True)
    assert [j.name for j in m.closing_joints] == ["strut"] and m.nv == 4


def test_a_model_without_bodies_or_with_an_unknown_numbering():
    with refused(sh.ModelError, "model 'empty' has no bodies yet"):
        sh.Model("empty").freeze()
    with refused(sh.ModelError, "unknown numbering 'random'; the numberings are 'depth-first', 'leaves-last'"):
        model(numbering="random").freeze()


def test_a_frozen_model_is_not_changed_but_its_copy_is():
    m = model()
    sh.Dynamics(m)
    for change in (lambda x: x.add_body("c"), lambda x: x.add_frame("f", "a", sh.Pose()), lambda x: x.add_floating("b")):
        with refused(sh.ModelError, "cannot add the .*: model '.*' was frozen by Dynamics.*; change a copy: model.copy"):
            change(m)
    copy = m.copy()
    copy.add_body("c", mass=1.0)
    copy.add_floating("c")
    assert len(copy.bodies) == 3 and len(m.bodies) == 2


def test_names_that_do_not_exist():
    m = model()
    with refused(sh.ModelError, "no body 'c'; the bodies are 'a', 'b'"):
        m.body_index("c")
    with refused(sh.ModelError, "no joint 'c' in the tree; the joints are 'hinge', 'socket'"):
        m.joint_index("c")
    with refused(sh.ModelError, "no body or frame 'c'"):
        sh.Dynamics(m).jacobian(None, "c")


# --- states -----------------------------------------------------------------------------------------------------------------
Q, V = np.array([0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(4)
STATES = {
    "short q": ({"q": Q[:4]}, r"q: expected \(5,\).*, got \(4,\)"),
    "long v": ({"v": np.zeros(5)}, r"v: expected \(4,\).*, got \(5,\)"),
    "short tau": ({"tau": np.zeros(3)}, r"tau: expected \(4,\).*, got \(3,\)"),
    "flat wrenches": ({"wrenches": np.zeros(12)}, r"wrenches: expected \(2, 6\).*, got \(12,\)"),
    "nan q": ({"q": [math.nan, 1, 0, 0, 0]}, r"q: 'hinge' is nan"),
    "nan v": ({"v": [0, 0, math.nan, 0]}, r"v: 'socket.wy' is nan"),
    "infinite tau": ({"tau": [0, 0, 0, math.inf]}, r"tau: 'socket.wz' is inf"),
    "nan wrench": ({"wrenches": [[0] * 6, [math.nan] * 6]}, r"wrenches: the one on body 'b' is not finite"),
    "nan time": ({"t": math.nan}, r"t: expected a finite time, got nan"),
    "zero quaternion": ({"q": [0, 0, 0, 0, 0]}, r"q: the quaternion of joint 'socket' is zero"),
    "short value": ({"q": {"socket": (1, 0, 0)}}, r"q of joint 'socket': expected 4 numbers, got 3"),
    "words": ({"q": ["a", "b", "c", "d", "e"]}, r"q: expected numbers"),
}


@pytest.mark.parametrize("case", STATES)
def test_a_state_that_cannot_be(case):
    options, message = STATES[case]
    with refused(sh.StateError, message):
        sh.Dynamics(model()).forward(**({"q": Q, "v": V} | options))


def test_states_are_checked_by_every_question():
    d, bad = sh.Dynamics(model()), Q[:4]
    for ask in (
        lambda: d.inverse(bad, V, V), lambda: d.mass_matrix(bad), lambda: d.bias(bad, V), lambda: d.energy(bad, V),
        lambda: d.poses(bad), lambda: d.jacobian(bad, "a"), lambda: d.momenta(bad, V), lambda: d.rates(bad, V),
        lambda: d.body_velocities(bad, V), lambda: d.reactions(bad, V), lambda: sh.matrices(d.model, bad),
    ):  # fmt: skip
        with refused(sh.StateError, r"q: expected \(5,\).*, got \(4,\)"):
            ask()
    with refused(sh.StateError, r"a: expected \(4,\).*, got \(3,\)"):
        d.inverse(Q, V, V[:3])
    with refused(sh.StateError, r"p: expected \(4,\).*, got \(3,\)"):
        d.velocities(Q, V[:3])
    with refused(sh.StateError, "batches of different sizes"):
        d.forward(np.tile(Q, (2, 1)), np.tile(V, (3, 1)))


def test_every_error_is_a_sharnir_error_and_of_the_kind_python_users_expect():
    assert issubclass(sh.ModelError, ValueError) and issubclass(sh.StateError, ValueError)
    assert issubclass(sh.TraceError, TypeError) and issubclass(sh.SingularError, ArithmeticError)
    assert all(
        issubclass(e, sh.SharnirError) for e in (sh.ModelError, sh.StateError, sh.TraceError, sh.SingularError, sh.MethodError)
    )


def test_a_body_too_far_away_is_named():
    """Found by the fuzzer: squares of such a distance are infinite, and LAPACK did not converge."""
    m = sh.Model("far")
    m.add_body("a", 1.0, (0.1, 0, 0), (1, 1, 1))
    m.add_body("b", 1.0, (0.1, 0, 0), (1, 1, 1))
    m.add_joint("A", sh.Revolute("z"), "ground", "a")
    m.add_joint("B", sh.Ball(), "a", "b", child_at=sh.Pose((1e200, 0, 0)))
    with np.errstate(all="ignore"), pytest.raises(sh.SingularError, match="joint 'B' moves is not a finite number"):
        sh.Dynamics(m).forward()


# --- words ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sh.simulate(sh.samples.pendulum(), 0.1, q0={np.str_("a"): 1.0}), "no joint 'a' in the tree; "),
        (lambda: sh.simulate(sh.samples.pendulum(), np.float64("nan")), "number of seconds, got nan"),
        (lambda: sh.samples.pendulum().make_parameter(np.str_("it's")), 'no number "it\'s" in model'),
        (lambda: model().add_body(np.str_("a"), mass=1.0), "there is a body 'a' already"),
        (lambda: sh.Event(np.True_), "expected a function, got True$"),
        (lambda: model().add_body("c", mass=1.0, inertia=(np.float32(1.5), np.int64(-3), "x")), r"got \(1\.5, -3, 'x'\)$"),
    ],
)
def test_messages_show_scalars_of_numpy_as_a_user_writes_them(call, says):
    with refused(sh.SharnirError, says) as caught:
        call()
    assert "np." not in str(caught.value)
