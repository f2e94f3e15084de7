"""Kind "calls": every public call with arguments of which one or two are hostile; then what it made is used."""

from __future__ import annotations

import contextlib
import inspect
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import sharnir as sh
from sharnir.model.shapes import Shape

from .hostile import hostile
from .valid import MODELS, Context, comparison, result, small_model, valid_of

OUTPUTS = {
    "Result",
    "Optimum",
    "Ground",
    "Commands",
    "Sample",
    "SimulationBatch",
    "SimulationState",
    "Plant",
    "Rollout",
    "Classification",
    "Comparison",
    "Matrices",
    "Motion",
    "ImportReport",
    "Force",
    "Constraint",
    "Joint",
    "cache_clear",
    "BaseParameters",
    "Identification",
    "Equilibrium",
    "InverseKinematics",
    "LinearSystem",
    "Mode",
    "Buckling",
    "Section",
    "Derivatives",
    "Table",
    "View",
    "view",
}
"""Public names that users do not construct, or that would clear the cache under a run, or open a server."""
COSTLY = {
    "n",
    "planets",
    "steps",
    "states",
    "batch",
    "rounds",
    "duration",
    "graph_limit",
    "threads",
    "rng",
    "budget",
    "dof",
    "samples",
}
"""Parameters whose large values are a long computation the caller asked for; absurd ones must still be refused."""
PUBLIC: list[str] = vars(sh)["__all__"]
LONG, ABSURD = 20.0, 1e12
ALWAYS = {
    "compare": {"methods", "backends", "states", "batch", "rounds"},
    "rollout": {"duration", "step", "backend"},
    "simulate": {"backend"},
}
"""Options that are given in every call, so that it does not take long."""
METHODS = {"Model": sh.Model, "Dynamics": sh.Dynamics, "Result": sh.Result, "Comparison": sh.Comparison, "Rotation": sh.Rotation}
METHODS |= {"Motion": sh.Motion, "SimulationSettings": sh.SimulationSettings}
SETTERS = ("gravity", "base_motion", "numbering", "name")


@dataclass
class Call:
    """What a case calls, for its report."""

    name: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={shown(x)}' for key, x in self.arguments.items())})"


def shown(x: Any, longest: int = 60) -> str:
    try:
        text = repr(x).encode("ascii", "backslashreplace").decode()
    except Exception as error:  # such as the digits of 10**400 in an array
        text = f"<{type(x).__name__}, {type(error).__name__} in its repr>"
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@cache
def targets() -> tuple[str, ...]:
    """Every public call, as in `sharnir.__init__.pyi`; of classes with methods these too."""
    found = [name for name in PUBLIC if name not in OUTPUTS and _is_call(getattr(sh, name))]
    found += [f"samples.{name}" for name in dir(sh.samples) if callable(getattr(sh.samples, name))]
    for owner, cls in METHODS.items():
        found += [
            f"{owner}.{name}"
            for name in dir(cls)
            if name[0] != "_" and (inspect.isfunction(x := getattr(cls, name)) or inspect.ismethod(x))
        ]
    return (*found, *(f"Model.{name}=" for name in SETTERS))


def _is_call(x: Any) -> bool:
    return callable(x) and not (isinstance(x, type) and issubclass(x, Exception))


def required(name: str) -> list[str]:
    """Parameters that a target must be given."""
    return [p.name for p in _parameters(_unbound(name)) if p.default is p.empty and p.kind is not p.VAR_KEYWORD]


def _unbound(name: str) -> Callable[..., Any]:
    owner, _, method = name.rpartition(".")
    return getattr(METHODS.get(owner) or getattr(sh, owner, sh) if owner else sh, method)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(function).parameters.values() if p.name != "self"]


def run(seed: int) -> tuple[str, str]:
    """One case: how it ended, and what was called."""
    rng = np.random.default_rng((seed, 1))
    name = max(targets(), key=lambda target: crc32(f"{seed} {target}".encode()))  # a new call changes few of the old cases
    with tempfile.TemporaryDirectory(prefix="sharnir-fuzz-") as folder, contextlib.chdir(folder):
        case = Case(name, rng, Path(folder))
        try:
            return case.run(), str(case.call)
        except BaseException as error:
            error.add_note(f"in {case.call}")
            raise


class Case:
    def __init__(self, name: str, rng: np.random.Generator, folder: Path) -> None:
        self.name, self.rng = name, rng
        owner = name.partition(".")[0]
        kinds = ["small"] if owner in ("Result", "Motion") else list(MODELS)
        self.kind = str(rng.choice(kinds))
        self.model = MODELS[self.kind]()
        self.context = Context(rng, self.model, folder)
        self.call = Call(name, {})

    def run(self) -> str:
        before = _text(self.model)
        try:
            function = self._function()
            positional, named = self._arguments(function)
            found = function(*positional, **named)
        except sh.SharnirError as error:
            if not str(error):
                raise AssertionError("refused without a word") from error
            if self.name.startswith("Model.") and before != _text(self.model):
                raise AssertionError("a call that was refused has changed the model") from error
            return "refused"
        for step in self._uses(found):
            with contextlib.suppress(sh.SharnirError):
                step()
        return "accepted"

    # --- the call -------------------------------------------------------------------------------------------------------------
    def _function(self) -> Callable[..., Any]:
        owner, _, method = self.name.rpartition(".")
        if method.endswith("="):
            return _setter(self.model, method[:-1])
        if owner == "Model":
            return getattr(self.model, method)
        if owner == "Dynamics":
            return getattr(self._dynamics(), method)
        if owner in ("Result", "Comparison"):
            return getattr(result() if owner == "Result" else comparison(), method)
        if owner == "SimulationSettings":
            return getattr(sh.SimulationSettings(duration=0.01), method)
        if owner == "Motion":
            return self._in_a_force(method)
        return _unbound(self.name)

    def _dynamics(self) -> sh.Dynamics:
        backend = str(self.rng.choice(["python", "python", "loops", "llvm"]))
        d = _cached_dynamics(self.kind, str(self.rng.choice(["composite", "separate", "momentum", "extended"])), backend)
        self.context.model = d.model
        self.call.name = f"{d!r}.{self.name.rpartition('.')[2]}"
        return d

    def _in_a_force(self, method: str) -> Callable[..., Any]:
        """A method of `Motion`, called where forces call it."""

        def call(*positional: Any, **named: Any) -> Any:
            self.model.add_force(lambda on: getattr(on, method)(*positional, **named) and None)
            return sh.Dynamics(self.model, "composite", "python").forward()

        call.__signature__ = inspect.signature(getattr(sh.Motion, method))  # type: ignore[attr-defined]
        return call

    def _arguments(self, function: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
        parameters = [p for p in _parameters(function) if p.kind is not p.VAR_KEYWORD]
        spoilt = set(self.rng.permutation(len(parameters))[: int(self.rng.integers(1, 3))].tolist())
        positional: list[Any] = []
        for k, p in enumerate(parameters):
            optional = p.default is not p.empty
            left_out = optional and p.name not in ALWAYS.get(self.name, ()) and self.rng.random() < 0.7
            if k not in spoilt and (left_out or (optional and valid_of(self.name, p.name) is None)):
                continue
            value = self._hostile(p.name) if k in spoilt else self.context.valid(self.name, p.name)
            self.call.arguments[p.name] = value
            if p.kind is p.VAR_POSITIONAL:
                positional += [value] * int(self.rng.integers(1, 4))
        stars = {p.name for p in parameters if p.kind is p.VAR_POSITIONAL}
        named = {key: x for key, x in self.call.arguments.items() if key not in stars}
        if positional:  # what stands before them goes by position too
            names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.name in named]
            positional = [*(named.pop(key) for key in names), *positional]
        return positional, named

    def _hostile(self, parameter: str) -> Any:
        while True:
            value = hostile(self.rng)
            if parameter not in COSTLY or not _is_long(value):
                return value

    # --- what follows -----------------------------------------------------------------------------------------------------------
    def _uses(self, found: Any) -> Iterator[Callable[[], Any]]:
        """What was made, or changed, is put to use: each step ends well or with an error of ours."""
        m = self.model if self.name.startswith("Model.") else small_model()
        yield lambda: repr(found)
        if isinstance(found, sh.Model):
            m = found
        elif isinstance(found, sh.Joint):
            yield lambda: m.add_body("extra", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1))
            yield lambda: m.add_joint(
                "added", found, "bob" if self.rng.random() < 0.5 else "ground", "extra", cut=self.rng.random() < 0.1
            )
        elif isinstance(found, sh.Force):
            yield lambda: m.add_force(found)
        elif isinstance(found, sh.Constraint):
            yield lambda: m.add_constraint(found)
        elif isinstance(found, Shape):
            yield lambda: m.add_body(
                "extra", 1.0 if self.rng.random() < 0.5 else None, shape=found, density=self.rng.choice([None, 2.0])
            )
            yield lambda: m.add_joint("added", sh.Free(), "ground", "extra")
        elif isinstance(found, sh.Pose):
            yield lambda: m.add_frame("added", "bar", found)
        elif isinstance(found, (sh.Event, sh.Impact)):
            yield lambda: sh.simulate(m, 0.02, backend="python", integrator="euler", step=0.01, events=[found]).save(
                self.context.folder / "events.nc"
            )
        elif not self.name.startswith("Model."):
            return
        if len(m.parts.bodies) <= 10:
            yield from self._uses_of_a_model(m)

    def _uses_of_a_model(self, m: sh.Model) -> Iterator[Callable[[], Any]]:
        yield lambda: repr(m)
        yield lambda: sh.loads(sh.dumps(m))
        yield lambda: m.save(self.context.folder / "out.urdf")
        yield lambda: sh.Dynamics(m, "composite", "python").forward(m.random_q(0), np.ones(m.nv))
        if self.rng.random() < 0.2:
            yield lambda: m.mobility()
            yield lambda: sh.simulate(m, 0.02, backend="python", integrator="euler", step=0.01).save(
                self.context.folder / "out.nc"
            )


def _setter(model: sh.Model, name: str) -> Callable[..., None]:
    def assign(**named: Any) -> None:
        setattr(model, name, named[name])

    assign.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)])  # type: ignore[attr-defined]
    return assign


def _text(model: sh.Model) -> str:
    try:
        return sh.dumps(model)
    except sh.SharnirError as error:
        return str(error)


def _is_long(value: Any) -> bool:
    try:
        return LONG < abs(value) < ABSURD
    except Exception:
        return False


@cache
def _cached_dynamics(kind: str, method: str, backend: str) -> sh.Dynamics:
    try:
        return sh.Dynamics(MODELS[kind](), method, backend)
    except sh.MethodError:
        return sh.Dynamics(MODELS[kind](), "composite", backend)
