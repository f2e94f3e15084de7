"""Numbers of a model by paths such as "link3.com.x" and "elbow.damping", turned into parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import setitem
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, brief, choices
from ..trace import Symbol, is_parametric
from .body import Body, deformation_name, make_body
from .element import Element, described
from .pose import Pose
from .references import readings

if TYPE_CHECKING:
    from .model import Model
    from .placed_joint import PlacedJoint

XYZ = ("x", "y", "z")
MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


Put = Callable[[Any], None]
Places = Iterator[tuple[str, Any, Put]]
"""Paths, each with the number there and a function that puts another in its place."""


def make_parameter(model: Model, path: str) -> Symbol:
    """The number at a path as a parameter of that name."""
    if not isinstance(path, str):
        raise ModelError(f"expected a path such as 'link3.mass' or 'elbow.damping', got {brief(path)}")
    places = {where: (value, put) for where, value, put in _places(model, path)}
    if path not in places:
        for body in model.parts.bodies:
            if body.flexible is not None and path.startswith((f"{body.name}.", f"{deformation_name(body.name)}.")):
                raise ModelError(
                    f"{path!r}: body {body.name!r} is flexible, and its numbers cannot be parameters: its modes are computed "
                    "when it is made; build a model for each value"
                )
        every = [where for where, _, _ in _places(model, None)]
        raise ModelError(f"no number {path!r} in model {model.name!r}; {choices(path, every, 'numbers')}")
    value, put = places[path]
    if is_parametric(value):
        raise ModelError(f"{path!r} depends on parameters already: {value!r}")
    symbol = model.add_parameter(path, value)
    try:
        put(symbol)
    except Exception:
        del model.parts.parameters[path]  # as if nothing had been asked
        raise
    return symbol


PLAIN = {"mass": "kg", "com": "m", "inertia": "kg m²", "at": "m", "child_at": "m"}


def unit_of(model: Model, name: str) -> str:
    """Unit of a parameter that stands in the model as it is; empty where it does not, or where nothing says the unit."""
    units = {_unit_at(model, where) for where, x, _ in _places(model, None) if repr(x) in
             (f"<parameter parameter.{name}>", f"<parameter parameter[{name!r}]>")}  # fmt: skip
    return units.pop() if len(units) == 1 else ""


def _unit_at(model: Model, path: str) -> str:
    parts = model.parts
    joints = {joint.name: joint.type for joint in parts.joints}
    plain = {"gravity": None} | dict.fromkeys((*(body.name for body in parts.bodies), *parts.frames))
    owner, part = next(iter(readings(path, {**parts.constraints, **parts.forces, **joints, **plain})), ("", ""))
    field = part.partition(".")[0]
    element = parts.forces.get(owner, parts.constraints.get(owner, joints.get(owner)))
    unit = next((one.unit for one in described(type(element)) if one.name == field), "") if isinstance(element, Element) else ""
    unit = unit or PLAIN.get(field, "m/s²" if owner == "gravity" else "")
    return unit if "," not in unit else ""  # of a joint that turns and slides


def _places(model: Model, path: str | None) -> Places:
    """Every number of the model with its path; only of the parts whose names begin the path, where one is given."""
    parts, deformations = model.parts, set(model.parts.deformations.values())

    def wanted(name: str) -> bool:
        return path is None or path.startswith(f"{name}.")

    if wanted("gravity"):
        yield from _numbers("gravity", model.gravity, lambda new: setattr(model, "gravity", new))
    for k, body in enumerate(parts.bodies):
        if wanted(body.name) and body.flexible is None and body.name not in deformations:
            yield from _of_body(model, k, body)
    for k, joint in enumerate(parts.joints):
        if wanted(joint.name) and joint.name not in deformations:
            yield from _of_joint(model, k, joint)
    for name, (body_name, pose) in parts.frames.items():
        if wanted(name):
            yield from _numbers(f"{name}.at", pose, partial(_put_frame, parts.frames, name, body_name))
    for group in (parts.forces, parts.constraints):
        for name, part in group.items():
            if wanted(name) and isinstance(part, Element):
                yield from _of_element(name, part, partial(setitem, group, name))


def _put_frame(frames: dict[str, tuple[str, Pose]], name: str, body: str, pose: Pose) -> None:
    frames[name] = body, pose


def _of_body(model: Model, k: int, body: Body) -> Places:
    """Mass, centre and inertia; of a body with a shape its mass and the shape, from which the others follow."""
    if body.shape is not None:

        def put_shaped(mass: Any, shape: Any) -> None:
            model.parts.bodies[k] = make_body(body.name, mass, None, None, shape, None)

        yield f"{body.name}.mass", body.mass, lambda new: put_shaped(new, body.shape)
        yield from _of_element(f"{body.name}.shape", body.shape, lambda new: put_shaped(body.mass, new))
        return
    for field in ("mass", "com", "inertia"):

        def put(new: Any, field: str = field) -> None:
            model.parts.bodies[k] = replace(body, **{field: new})

        yield from _numbers(f"{body.name}.{field}", getattr(body, field), put, MOMENTS if field == "inertia" else XYZ)


def _of_joint(model: Model, k: int, joint: PlacedJoint) -> Places:
    name = joint.name

    def changed(**changes: Any) -> None:
        for end, body in (("at", joint.parent), ("child_at", joint.child)):
            if end in changes:
                model.parts.check_place(f"joint {name!r}", body, changes[end])
        model.parts.joints[k] = replace(joint, **changes)

    yield from _of_element(name, joint.type, lambda new: changed(type=new, motions=new.built(f"joint {name!r}")))
    yield from _numbers(f"{name}.at", joint.at, lambda new: changed(at=new))
    yield from _numbers(f"{name}.child_at", joint.child_at, lambda new: changed(child_at=new))
    if joint.follows is not None:
        follows = joint.follows
        yield f"{name}.ratio", follows.ratio, lambda new: changed(follows=replace(follows, ratio=new))
        yield f"{name}.offset", follows.offset, lambda new: changed(follows=replace(follows, offset=new))


def _of_element(path: str, element: Element, put: Put) -> Places:
    """Fields that are numbers, vectors or poses; elements inside are not looked at."""
    for field, value in element.fields().items():

        def put_field(new: Any, field: str = field) -> None:
            put(element.replaced(**{field: new}))

        if field != "limits":
            yield from _numbers(f"{path}.{field}", value, put_field)


def _numbers(path: str, x: Any, put: Put, names: Sequence[str] = XYZ) -> Places:
    """The numbers in a value: itself, components of a vector (`names`, if as many), a pose's position, values by name."""
    if isinstance(x, (float, Symbol)):
        yield path, x, put
    elif isinstance(x, Pose):
        yield from _numbers(path, tuple(x.position), lambda new: put(Pose(new, x.rotation)))
    elif isinstance(x, (tuple, Mapping)):
        keys = list(x) if isinstance(x, Mapping) else names if len(names) == len(x) else range(len(x))
        values = list(x.values()) if isinstance(x, Mapping) else x
        if all(isinstance(one, (float, Symbol)) for one in values):
            for k, (key, one) in enumerate(zip(keys, values, strict=True)):
                yield f"{path}.{key}", one, partial(_put_item, x, k, put)


def _put_item(x: Any, k: int, put: Put, new: Any) -> None:
    """A vector, or values by name, with another k-th number."""
    if isinstance(x, Mapping):
        put({**x, list(x)[k]: new})
    else:
        put((*x[:k], new, *x[k + 1 :]))
