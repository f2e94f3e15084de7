"""Functions in a file: formulas, poses by formulas, motions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from ...errors import ModelError
from ...model.formulas import PoseFormula
from ...trace.formula import Formula
from . import checks
from .checks import array, either, expected, fault, leaf, shown
from .fields import Axis, Fields, Name, Names, at

FORMULA = either({"type": "string", "description": "a formula such as 0.3*sin(2*t)"}, {"type": "number"})


def item(value: Any, *path: Any) -> str | float:
    """A formula as text, or a number."""
    return value if isinstance(value, str) else checks.number(value, "a formula or a number", *path)


def items(n: int | None = None) -> Any:
    def check(value: Any) -> tuple[str | float, ...]:
        if not isinstance(value, list) or (n is not None and len(value) != n):
            cut = isinstance(value, list) and any(isinstance(x, str) and x.count("(") != x.count(")") for x in value)
            hint = "; put a formula that contains a comma in quotes" if cut else ""
            raise fault(f"expected {n or 'a list of'} formulas or numbers, got {shown(value)}{hint}")
        return tuple(item(x, k) for k, x in enumerate(value))

    return check


def where(value: Any) -> dict[str, str | float]:
    if not isinstance(value, dict):
        raise expected("named formulas {a: …, b: …}", value)
    return {name: item(x, name) for name, x in value.items()}


Item = TypeAliasType("Item", Annotated[Any, *leaf(item, FORMULA)])
Items = Annotated[tuple[str | float, ...], *leaf(items(), array(FORMULA))]
Three = Annotated[tuple[str | float, ...], *leaf(items(3), array(FORMULA, 3))]
FourItems = Annotated[tuple[str | float, ...], *leaf(items(4), array(FORMULA, 4))]
Where = TypeAliasType("Where", Annotated[dict[str, Any], *leaf(where, {"type": "object", "additionalProperties": FORMULA})])


class LongFormula(Fields):
    """A formula with variables called otherwise than usual here, or with named parts."""

    formula: Item
    of: Names | None = None
    """Names of the variables, in place of the usual ones."""
    where: Where | None = None
    """Named parts, each may use the variables and the parts before it."""

    def build(self, variables: Sequence[str]) -> Formula:
        return Formula(self.formula, variables if self.of is None else self.of, self.where)


class Turn(Fields):
    """A turn about an axis."""

    axis: Axis
    """In the axes turned so far."""
    angle: Item
    """Formula or number, rad."""


class PoseByFormulas(Fields):
    """A pose by formulas: of t, or of the coordinates of a custom joint and t."""

    position: Three = (0.0, 0.0, 0.0)
    """Three formulas, m."""
    turns: list[Turn] = Field(default_factory=list)
    """Turns one after another, each in the axes turned by those before it."""
    quaternion: FourItems | None = None
    """Four formulas w x y z instead of turns; of any length but zero."""
    of: Names | None = None
    """Names of the variables, in place of the usual ones (the coordinates, t)."""
    where: Where | None = None
    """Named parts, each may use the variables and the parts before it."""

    def build(self, variables: Sequence[str]) -> PoseFormula:
        variables = variables if self.of is None else self.of
        turns = [(turn.axis, turn.angle) for turn in self.turns]
        pose = _try_each(self, variables, turns)
        return pose or PoseFormula(self.position, turns, self.quaternion, variables, self.where)


def _try_each(fields: PoseByFormulas, variables: Sequence[str], turns: list[tuple[Any, Any]]) -> PoseFormula | None:
    """The whole; where that fails, the formula at fault is found by trying them one by one."""
    try:
        return PoseFormula(fields.position, turns, fields.quaternion, variables, fields.where)
    except ModelError:
        for k, text in enumerate(fields.position):
            with at("position", k):
                Formula(text, variables, fields.where)
        for k, turn in enumerate(turns):
            with at("turns", k):
                PoseFormula(turns=[turn], variables=variables, where=fields.where)
        return None


def _kind_of_formula(value: Any) -> str | None:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return "formula"
    return "long formula" if isinstance(value, (dict, LongFormula)) else None


def _kind_of_motion(value: Any) -> str | None:
    if not isinstance(value, dict):
        return _kind_of_formula(value)
    if "formula" in value:
        return "long formula"
    if "turns" in value or "quaternion" in value or isinstance(value.get("position"), list):
        return "pose"
    return "coordinates"


def _kind_of_one_motion(value: Any) -> str | None:
    kind = _kind_of_motion(value)
    return "pose" if kind == "coordinates" else kind


def _kind_of_vector(value: Any) -> str | None:
    return "list" if isinstance(value, list) else "vector" if isinstance(value, dict) else None


def _or(kind: Any, words: str) -> Discriminator:
    return Discriminator(kind, custom_error_type="fault", custom_error_message=f"expected {words}")


FormulaField = TypeAliasType(
    "FormulaField",
    Annotated[
        Annotated[Item, Tag("formula")] | Annotated[LongFormula, Tag("long formula")],
        _or(_kind_of_formula, "a formula such as 0.3*sin(2*t), a number, or {formula: …, where: {…}}"),
    ],
)
OneMotion = TypeAliasType(
    "OneMotion",
    Annotated[
        Annotated[Item, Tag("formula")] | Annotated[LongFormula, Tag("long formula")] | Annotated[PoseByFormulas, Tag("pose")],
        _or(_kind_of_one_motion, "a formula of t, or a pose by formulas {turns: …}"),
    ],
)
Motion = TypeAliasType(
    "Motion",
    Annotated[
        Annotated[Item, Tag("formula")]
        | Annotated[LongFormula, Tag("long formula")]
        | Annotated[PoseByFormulas, Tag("pose")]
        | Annotated[dict[Name, OneMotion], Tag("coordinates"), Field(json_schema_extra={"not": {"required": ["formula"]}})],
        _or(_kind_of_motion, "a formula of t, formulas by coordinate {y: …}, or a pose by formulas {turns: …}"),
    ],
)


class LongVector(Fields):
    """Three formulas with named parts."""

    vector: Three
    where: Where | None = None
    """Named parts, each may use t, signals, and the parts before it."""


VectorField = TypeAliasType(
    "VectorField",
    Annotated[
        Annotated[Three, Tag("list")] | Annotated[LongVector, Tag("vector")],
        _or(_kind_of_vector, "three formulas or numbers, or {vector: …, where: {…}}"),
    ],
)


def formula_of(value: Any, variables: Sequence[str]) -> Formula:
    return value.build(variables) if isinstance(value, LongFormula) else Formula(value, variables)


def number_or_formula(value: Any, variables: Sequence[str]) -> Any:
    """Plain numbers stay numbers."""
    return value if isinstance(value, float) else formula_of(value, variables)


def motion_of(value: Any) -> Any:
    """A function of t, or {coordinate: function}."""
    if isinstance(value, dict):
        out = {}
        for name, one in value.items():
            with at(name):
                out[name] = motion_of(one)
        return out
    if isinstance(value, PoseByFormulas):
        return value.build(("t",))
    return None if value is None else formula_of(value, ("t",))


class Arguments(Fields):
    """Fields that are the arguments of a class, some of them formulas; what is not said has its default there."""

    makes: ClassVar[type]
    formulas: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Fields that are formulas, and the variables they are formulas of."""

    def made(self) -> Any:
        given: dict[str, Any] = {}
        for name in type(self).model_fields:
            if name != "type" and name in self.model_fields_set:
                with at(name):
                    given[name] = self.convert(name, getattr(self, name))
        return self.makes(**given)

    def convert(self, name: str, value: Any) -> Any:
        return formula_of(value, self.formulas[name]) if name in self.formulas else value
