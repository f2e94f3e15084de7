"""Numbers of a model by paths such as "link3.com.x" and "elbow.damping", turned into parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ModelError, brief, choices
from ..trace import Symbol, is_parametric
from .body import Body, deformation_name, make_body
from .element import Element
from .pose import Pose

if TYPE_CHECKING:
    from .model import Model
    from .placed_joint import PlacedJoint

XYZ = ("x", "y", "z")
MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
BODY = {"mass": (), "com": XYZ, "inertia": MOMENTS}
"""Fields of a body, and the names of their components."""


class ModelNumber(NamedTuple):
    """A number of a model: its value, and a function that puts another in its place."""

    value: Any
    put: Callable[[Symbol], None]


def make_parameter(model: Model, path: str) -> Symbol:
    """The number at a path as a parameter of that name."""
    if not isinstance(path, str):
        raise ModelError(f"expected a path such as 'link3.mass' or 'elbow.damping', got {brief(path)}")
    places = dict(_places(model, path))
    if path not in places:
        _refuse_flexible(model, path)
        every = dict(_places(model, None))
        raise ModelError(f"no number {path!r} in model {model.name!r}; {choices(path, list(every), 'numbers')}")
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


def _refuse_flexible(model: Model, path: str) -> None:
    """Shapes are computed once, when a flexible body is made."""
    for body in model.parts.bodies:
        if body.flexible is not None and path.startswith((f"{body.name}.", f"{deformation_name(body.name)}.")):
            raise ModelError(
                f"{path!r}: body {body.name!r} is flexible, and its numbers cannot be parameters: its modes are computed when it "
                "is made; build a model for each value"
            )


def _places(model: Model, path: str | None) -> Iterator[tuple[str, ModelNumber]]:
    """Every number of the model with its path; only of the parts whose names begin the path, where one is given."""

    def wanted(name: str) -> bool:
        return path is None or path.startswith(f"{name}.")

    if wanted("gravity"):
        yield from _vector("gravity", model.gravity, lambda new: setattr(model, "gravity", new), XYZ)
    deformations = set(model.parts.deformations.values())
    for k, body in enumerate(model.parts.bodies):
        if wanted(body.name) and body.flexible is None and body.name not in deformations:
            yield from _of_body(model, k, body)
    for k, joint in enumerate(model.parts.joints):
        if wanted(joint.name) and joint.name not in deformations:
            yield from _of_joint(model, k, joint)
    for name, (body_name, pose) in model.parts.frames.items():
        if wanted(name):
            yield from _of_pose(f"{name}.at", pose, _setter(model.parts.frames, name, (body_name,)))
    for group in (model.parts.forces, model.parts.constraints):
        for name, part in group.items():
            if wanted(name) and isinstance(part, Element):
                yield from _of_element(name, part, _setter(group, name))


def _setter(group: Any, key: Any, before: tuple[Any, ...] = ()) -> Callable[[Any], None]:
    """A function that puts a value at a key, after the values before it there."""

    def put(new: Any) -> None:
        group[key] = (*before, new) if before else new

    return put


def _of_body(model: Model, k: int, body: Body) -> Iterator[tuple[str, ModelNumber]]:
    """Mass, centre and inertia; of a body with a shape its mass and the shape, from which the others follow."""
    if body.shape is not None:

        def put_shaped(mass: Any, shape: Any) -> None:
            model.parts.bodies[k] = make_body(body.name, mass, None, None, shape, None)

        yield f"{body.name}.mass", ModelNumber(body.mass, lambda new: put_shaped(new, body.shape))
        yield from _of_element(f"{body.name}.shape", body.shape, lambda new: put_shaped(body.mass, new))
        return
    for field, names in BODY.items():
        path = f"{body.name}.{field}"

        def put(new: Any, field: str = field) -> None:
            model.parts.bodies[k] = replace(body, **{field: new})

        value = getattr(body, field)
        yield from _vector(path, value, put, names) if names else [(path, ModelNumber(value, put))]


def _of_joint(model: Model, k: int, joint: PlacedJoint) -> Iterator[tuple[str, ModelNumber]]:
    name = joint.name

    def changed(**changes: Any) -> None:
        for end, body in (("at", joint.parent), ("child_at", joint.child)):
            if end in changes:
                model.parts.check_place(f"joint {name!r}", body, changes[end])
        model.parts.joints[k] = replace(joint, **changes)

    def put_type(new: Any) -> None:
        changed(type=new, motions=new.built(f"joint {name!r}"))

    yield from _of_element(name, joint.type, put_type)
    yield from _of_pose(f"{name}.at", joint.at, lambda new: changed(at=new))
    yield from _of_pose(f"{name}.child_at", joint.child_at, lambda new: changed(child_at=new))
    if joint.follows is not None:
        follows = joint.follows
        yield f"{name}.ratio", ModelNumber(follows.ratio, lambda new: changed(follows=replace(follows, ratio=new)))
        yield f"{name}.offset", ModelNumber(follows.offset, lambda new: changed(follows=replace(follows, offset=new)))


def _of_pose(path: str, pose: Pose, put: Callable[[Any], None]) -> Iterator[tuple[str, ModelNumber]]:
    yield from _vector(path, tuple(pose.position), lambda new: put(Pose(new, pose.rotation)), XYZ)


def _of_element(path: str, element: Element, put: Callable[[Any], None]) -> Iterator[tuple[str, ModelNumber]]:
    """Fields that are numbers, vectors or poses; elements inside are not looked at."""
    for field, value in element.fields().items():
        here = f"{path}.{field}"

        def put_field(new: Any, field: str = field) -> None:
            put(element.replaced(**{field: new}))

        if isinstance(value, (float, Symbol)):
            yield here, ModelNumber(value, put_field)
        elif isinstance(value, Pose):
            yield from _of_pose(here, value, put_field)
        elif isinstance(value, tuple) and value and all(isinstance(x, (float, Symbol)) for x in value) and field != "limits":
            names = XYZ if len(value) == 3 else tuple(str(n) for n in range(len(value)))
            yield from _vector(here, value, put_field, names)
        elif isinstance(value, Mapping) and all(isinstance(x, (float, Symbol)) for x in value.values()):
            for key, x in value.items():
                yield f"{here}.{key}", ModelNumber(x, _changed(value, key, put_field))


def _changed(values: Mapping[str, Any], key: str, put: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda new: put({**values, key: new})


def _vector(path: str, values: Any, put: Callable[[Any], None], names: tuple[str, ...]) -> Iterator[tuple[str, ModelNumber]]:
    for k, (name, x) in enumerate(zip(names, values, strict=True)):

        def put_one(new: Any, k: int = k) -> None:
            put((*values[:k], new, *values[k + 1 :]))

        yield f"{path}.{name}", ModelNumber(x, put_one)
