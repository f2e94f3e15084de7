"""Numbers in place of formulas of parameters: in poses, elements, bodies, and in a whole model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..trace import Symbol, at_values, is_parametric
from .element import Element
from .per_structure import per_structure
from .pose import Pose, unchecked_rotation

if TYPE_CHECKING:
    from .model import Model


KEPT = 4
"""How many models with numbers in place of parameters are cached, those of the last values."""


def mapped(x: Any, change: Callable[[Symbol], Any]) -> Any:
    """x with every number in it that depends on parameters changed; x itself where there is none."""
    if is_parametric(x):
        return change(x)
    if isinstance(x, (tuple, list)):
        items = [mapped(item, change) for item in x]
        return x if all(a is b for a, b in zip(items, x, strict=True)) else type(x)(items)
    if isinstance(x, Mapping):
        values = {name: mapped(item, change) for name, item in x.items()}
        return x if all(values[name] is item for name, item in x.items()) else values
    if isinstance(x, Pose):
        before = (tuple(x.position), tuple(x.rotation.entries))
        after = mapped(before, change)
        return x if after is before else Pose(after[0], unchecked_rotation(after[1]))
    if isinstance(x, Element) and x.is_described:
        fields = x.fields()
        changed = {name: y for name, value in fields.items() if (y := mapped(value, change)) is not value}
        return x.replaced(**changed) if changed else x
    return x


def formulas_in(x: Any) -> list[Symbol]:
    """All numbers in it that depend on parameters."""
    found: list[Symbol] = []

    def note(symbol: Symbol) -> Symbol:
        found.append(symbol)
        return symbol

    mapped(x, note)
    return found


def substituted(x: Any, values: Mapping[str, float] | None) -> Any:
    """x with parameters at these values, or at their defaults."""
    return mapped(x, lambda symbol: at_values(symbol, values))


def numeric(model: Model, values: Mapping[str, float] | None = None) -> Model:
    """The model with numbers in place of formulas of parameters: itself where it has no parameters. The last few are kept."""
    if not model.parts.parameters and not model.states:
        return model
    all_values = model.parameter_values(values)
    kept, key = _numeric_models(model), tuple(all_values.values())
    if key not in kept:
        while len(kept) >= KEPT:
            del kept[next(iter(kept))]
        kept[key] = with_numbers(model, all_values)
        _numeric_models(kept[key])[key] = kept[key]
    return kept[key]


@per_structure
def _numeric_models(model: Model) -> dict[tuple[float, ...], Model]:
    """Models with numbers in place of parameters, by the values of these."""
    return {}


def without_unread(model: Model) -> Model:
    """The model without the parameters that nothing in it reads."""
    s = model.structure
    at = s.forces.layout.at["parameter"]
    names = list(s.parameters)
    read = {name for expression in (*s.drives, *(one[0] for one in s.given)) for name in expression.parameters}
    read |= {names[k - at] for group in s.forces.groups for k in group.reads.ravel().tolist() if at <= k < at + len(names)}
    reads_more = any(callable(x) for part in model.parts.constraints.values() for x in vars(part).values())
    model.parts.parameters = {name: x for name, x in model.parts.parameters.items() if name in read or reads_more}
    model.parts.constants = frozenset(model.parts.parameters)
    model._tree = model._structure = None
    return model


def with_numbers(model: Model, values: Mapping[str, float]) -> Model:
    """A copy of a model with numbers in place of all formulas of parameters. It has the parameters still, with these values, for
    functions that read them."""
    out = model.copy()
    out.parts.parameters = {name: values[name] for name in model.parts.parameters}
    out.parts.state_values = {name: x for name, x in values.items() if name not in model.parts.parameters}
    out.gravity = substituted(model.gravity, values)
    out.parts.bodies = [
        replace(body, **{name: substituted(getattr(body, name), values) for name in ("mass", "com", "inertia", "shape")})
        for body in model.parts.bodies
    ]
    out.visuals = [substituted(visual, values) for visual in model.visuals]
    out.parts.frames = {name: (body, substituted(pose, values)) for name, (body, pose) in model.parts.frames.items()}
    out.parts.joints = []
    for joint in model.parts.joints:
        type_ = substituted(joint.type, values)
        follows = joint.follows and replace(
            joint.follows, ratio=substituted(joint.follows.ratio, values), offset=substituted(joint.follows.offset, values)
        )
        motions = joint.motions if type_ is joint.type else type_.built(f"joint {joint.name!r}")
        at, child_at = substituted(joint.at, values), substituted(joint.child_at, values)
        out.parts.joints.append(replace(joint, type=type_, at=at, child_at=child_at, motions=motions, follows=follows))
    out.parts.forces = {name: substituted(force, values) for name, force in model.parts.forces.items()}
    out.parts.constraints = {name: substituted(constraint, values) for name, constraint in model.parts.constraints.items()}
    return out
