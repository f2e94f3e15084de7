"""Elements: immutable, equal by their fields, with a `repr` that can be pasted; wrong fields and values are named."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh
from joint_table import JOINTS
from native_flexible_models import FLEXIBLE, SECTIONS
from native_models import FORCES, WRITABLE_JOINTS
from sharnir.io.native.entries import CONSTRAINTS as CONSTRAINT_TYPES
from sharnir.io.native.entries import FLEXIBLE as FLEXIBLE_TYPES
from sharnir.io.native.entries import FORCES as FORCE_TYPES
from sharnir.io.native.entries import JOINTS as JOINT_TYPES
from sharnir.io.native.entries import SHAPES as SHAPE_TYPES
from sharnir.io.native.schema import BEGIN, updated
from sharnir.model.element import described
from sharnir.model.flexible.sections import SECTIONS as SECTION_TYPES

DOCS = Path(__file__).parents[2] / "docs"

SURFACE = sh.formula("x*x + y - t", "x", "y", "z", "t")
TILTED = sh.Pose((0.1, 0.2, 0.3), sh.Rotation.rpy(0.1, 0.2, 0.3))
CONSTRAINTS = {
    "distance": sh.Distance("a", "b", (0.1, 0.2, 0.3), length=2),
    "gear": sh.Gear({"x": 1, "y": -2.0}, name="teeth"),
    "surface": sh.PointOnSurface("a", SURFACE, of="b"),
    "curve": sh.PointOnCurve("a", SURFACE, SURFACE),
    "rolling": sh.Rolling("a", 0.3, axis="-x", normal=(0.0, 0.6, 0.8)),
    "speed": sh.SpeedConstraint(sh.SignalFormula("v.ja - k", {"k": "2*t"})),
}
SHAPES = {
    "box": sh.Box([1, 2, 3], TILTED),
    "bar": sh.Cylinder(2, 3, hole=1),
    "ball": sh.Sphere(1),
    "rod": sh.Rod((0, 0, 0), (1, 0, 0)),
    "capsule": sh.Capsule(1, 2, TILTED),
    "torus": sh.Torus(2, 1),
}
ELEMENTS = {**WRITABLE_JOINTS, **FORCES, **CONSTRAINTS, **SHAPES, **SECTIONS, **FLEXIBLE}
PUBLIC = {name: getattr(sh, name) for name in vars(sh)["__all__"]}
TYPES = (*JOINT_TYPES, *FORCE_TYPES, *CONSTRAINT_TYPES, *SHAPE_TYPES, *FLEXIBLE_TYPES, *SECTION_TYPES)


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_repr_of_an_element_is_code_that_makes_an_equal_one(name):
    element = ELEMENTS[name]
    again = eval(repr(element), dict(PUBLIC))
    assert again == element and hash(again) == hash(element) and repr(again) == repr(element)
    assert element.replaced() == element


def test_functions_are_shown_in_angle_brackets():
    def swing(t):
        return t

    assert repr(sh.Revolute("x", motion=swing)) == "Revolute(axis='x', motion=<function swing>)"
    assert repr(JOINTS["custom"]) == "CustomJoint(2, <function moving>)"


def test_other_fields_make_another_element():
    assert sh.Revolute("x") != sh.Revolute("y") and sh.Revolute("x") != sh.Prismatic("x")
    assert sh.Revolute("x", damping=1) == sh.Revolute("x", damping=1.0) != sh.Revolute("x")
    assert sh.Ball() in {sh.Ball()} and sh.Box((1, 1, 1)) != sh.Box((1, 1, 1), TILTED)


def test_a_class_of_the_users_own_is_equal_to_itself_alone():
    class Arm(sh.Revolute):
        def __init__(self, length):
            super().__init__("x")
            self.length = length

    one, two = Arm(1.0), Arm(2.0)
    assert one == one and one != two and (one.length, two.length) == (1.0, 2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.axis = "y"


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_cannot_be_changed(name):
    element = ELEMENTS[name]
    for one in described(type(element)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(element, one.name, one.default)


def test_the_error_of_a_change_says_what_to_do_instead():
    hinge = sh.Revolute("x")
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"revolute joint: 'damping' cannot.*\.replaced\(damping=…\)"):
        hinge.damping = 0.5
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"'dampng' cannot be changed.*its fields are 'axis'"):
        setattr(hinge, "dampng", 0.5)  # noqa: B010 - the checker of types knows that there is no such field
    with pytest.raises(dataclasses.FrozenInstanceError, match="'axis' cannot be changed"):
        del hinge.axis


def test_arrays_without_dimensions_are_numbers():
    one = np.array(1.0)
    assert sh.Revolute("x", damping=one) == sh.Revolute("x", damping=1.0)
    assert sh.Ball(damping=[one, one, one]) == sh.Ball(damping=(1.0, 1.0, 1.0))
    assert sh.SpringDamper("a", "b", stiffness=one) == sh.SpringDamper("a", "b", stiffness=1.0)
    assert sh.Revolute(limits=(-one, one)) == sh.Revolute(limits=(-1.0, 1.0))
    assert sh.Bushing("a", "b", stiffness=one) == sh.Bushing("a", "b", stiffness=1.0)
    assert sh.Box((one, one, one)) == sh.Box((1, 1, 1))
    with pytest.raises(sh.ModelError, match="damping: expected a number"):
        sh.Revolute("x", damping=np.array("x"))


@pytest.mark.parametrize("cls", TYPES, ids=lambda cls: cls.__name__)
def test_every_field_is_named_in_the_signature_and_described(cls):
    parameters = inspect.signature(cls).parameters
    for one in described(cls):
        assert one.name in parameters, one
        assert one.meaning or not one.key, one


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: sh.Revolute("y", dampng=3), TypeError, "Revolute: unknown field 'dampng'; did you mean 'damping'?"),
        (lambda: sh.Compound({"a": sh.Ball()}, efort=1.0), TypeError, "Compound: unknown field 'efort'; did you mean 'effort'?"),
        (lambda: sh.Motor("j", tork=1.0), TypeError, "Motor: unknown field 'tork'; did you mean 'torque'?"),
        (lambda: sh.Box(), TypeError, "missing 1 required positional argument: 'size'"),
        (lambda: sh.Revolute("w"), sh.ModelError, "revolute joint: axis: expected 'x', 'y', 'z', '-x'"),
        (lambda: sh.Revolute((0, 1, 1)), sh.ModelError, "revolute joint: axis: the axis (0.0, 1.0, 1.0) has length"),
        (lambda: sh.Ball(damping=(1.0, -1.0, 0.0)), sh.ModelError, "ball joint: damping[1]: expected a number of at least 0"),
        (lambda: sh.Revolute(limits=(1.0,)), sh.ModelError, "revolute joint: limits: expected [low, high] or one such pair"),
        (lambda: sh.Box((1.0, 0.0, 1.0)), sh.ModelError, "box: size[1]: expected a number above 0, got 0.0"),
        (lambda: sh.Cylinder(1.0, 1.0, hole=1.0), sh.ModelError, "cylinder: the hole (radius 1.0) must be smaller"),
        (lambda: sh.Rod((0, 0, 0), (0, 0, 0)), sh.ModelError, "rod: the distance between its ends must be positive"),
        (lambda: sh.FlexibleBeam(1.0, -1.0, 1.0, 1.0, sh.Circle(1.0)), sh.ModelError, "beam: E: expected a number above 0"),
        (lambda: sh.FlexibleBeam(1.0, 1.0, 1.0, 1.0, 3.0), sh.ModelError, "beam: section: expected a sharnir.Section"),
        (lambda: sh.Motor("j", kp="big"), sh.ModelError, "motor: kp: expected a number, got 'big'"),
        (lambda: sh.Gear({"a": 1.0, "b": "x"}), sh.ModelError, "gear: ratios.b: expected a number, got 'x'"),
        (lambda: sh.Tendon(terms=[("a", 0, 0)]), sh.ModelError, "tendon: terms[0]: expected (joint, q, v, coefficient)"),
    ],
)  # fmt: skip
def test_mistakes_name_element_field_value_and_bound(make, error, says):
    with pytest.raises(error) as found:
        make()
    assert says in str(found.value)


def test_the_tables_of_the_documents_are_those_of_the_code():
    page = (DOCS / "native_format.md").read_text(encoding="utf-8")
    command = "python -m sharnir.io.native.schema docs/native_format.md"
    assert page.count(BEGIN) == 1 and page == updated(page), f"make them anew: {command}"


@pytest.mark.parametrize("package", ["forces", "constraints"])
def test_elements_of_the_library_use_only_what_is_public_in_motion(package):
    """What they can do, a user's force or constraint can do too. `groups.py` and `shape.py` trace forces; they are none."""
    folder = Path(sh.__file__).parent / "model" / package
    private = [path.name for path in folder.glob("*.py") if re.search(r"\bon\._\w", path.read_text(encoding="utf-8"))]
    assert set(private) <= {"groups.py", "shape.py"}
