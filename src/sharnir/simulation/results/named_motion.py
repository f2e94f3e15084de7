"""A motion by name: what joints, bodies, frames, forces and constraints do in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...equations.rows.constraint_table import table_of
from ...equations.rows.one_constraint import ConstraintRow, label_of
from ...errors import StateError, choices, no_such
from ...model.placed_joint import couplings
from ...model.pose import Pose
from ...model.references import is_name_in
from ...model.states import check_array
from ...solvers.evaluator import Actions
from ...types import real_array
from .derived import Derived
from .joint_forces import JointLoads, joint_loads, power, reaction, reactions_of_links
from .joint_motion import ACCELERATION, COORDINATE, SPEED, columns, find_joint, values_of
from .records import entry, squeezed

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

    from .storage import PathLike


class NamedMotion(Derived):
    """Methods by name shared by `Result` (T,) and `Rollout` (B, T); "…" stands for these axes."""

    # --- joints ---------------------------------------------------------------------------------------------------------------
    def coordinate(self, joint: str) -> np.ndarray:
        """Coordinates of a joint: (…,), or (…, n) where it has several, in the order of `coordinate_names`.

        Of every joint: where it is driven, of its law; where it follows another, ratio times that one's plus offset; where it is
        cut, as the poses of its two bodies say, angles without jumps from (−π, π] at the first time on. "joint.part" is one of
        several.
        """
        return squeezed(values_of(self, joint, COORDINATE))

    def speed(self, joint: str) -> np.ndarray:
        """Speeds of a joint, driven and dependent ones too: (…,), or (…, n) where it has several."""
        return squeezed(values_of(self, joint, SPEED))

    def acceleration(self, joint: str) -> np.ndarray:
        """Accelerations of a joint, the rates of its speeds: (…,), or (…, n) where it has several."""
        return squeezed(values_of(self, joint, ACCELERATION))

    def coordinate_names(self, joint: str) -> list[str]:
        """The names of what `coordinate` gives: the joint's, followed by `.part` where it has several."""
        return [column.name for column in columns(self.model, find_joint(self.model, joint), COORDINATE)]

    def speed_names(self, joint: str) -> list[str]:
        """The names of what `speed` and `acceleration` give."""
        return [column.name for column in columns(self.model, find_joint(self.model, joint), SPEED)]

    def reaction(self, joint: str, axes: str = "body", at: str = "origin") -> np.ndarray:
        """(…, 6): force and moment of any joint, a cut one too, on the body it is named to carry, its child.

        axes   of the "body", of the "world", or of the "joint": its frame in the child, `child_at`
        at     the moment is about the "origin" of the child, or of the "joint"'s frame in it

        All that the joint transmits is in it: the force of its drive, joint forces τ, springs, dampers and motors in the joint.
        What gears, couplings and other constraints do in its coordinates is theirs: `closing_reaction`.
        Where constraints are redundant their forces are those of least norm.
        """
        return reaction(self, find_joint(self.model, joint), axes, at)

    def power(self, joint: str) -> np.ndarray:
        """(…,): power that the actuator of a joint puts into the motion: of its joint force τ, and of its drive.

        The sum over all joints is the rate of `energy.work` of "tau" and "drives", to which a moving base and constraints that
        depend on time contribute too. Springs, dampers, friction and motors are forces: see `force_power`. The drive of a joint
        bears what these, gears, constraints and followers load it with.
        """
        return power(self, find_joint(self.model, joint))

    @cached_property
    def joint_loads(self) -> JointLoads:
        """Forces in the coordinates of the joints of the tree, by name."""
        return joint_loads(self)

    @cached_property
    def closing_reactions(self) -> Actions:
        """Forces of cut joints, other constraints and couplings: {name: {body: (…, T, 6) at its origin, in its axes}}."""
        out = {name: dict(bodies) for name, bodies in self.forces_on_bodies.items()}
        for name, bodies in reactions_of_links(self).items():
            for body, wrench in bodies.items():
                out.setdefault(name, {})[body] = out.get(name, {}).get(body, 0.0) + wrench
        return out

    def closing_reaction(self, name: str, body: str | None = None) -> dict[str, np.ndarray] | np.ndarray:
        """Forces of a cut joint, a constraint, or the "coupling of" a follower: {body: (…, 6) force and moment at its origin, in
        its axes}, or those on one `body`. The ground is left out. What acts in the coordinate of a joint acts along its axis on
        both of its bodies."""
        found = entry(self.closing_reactions, name, "cut joint or constraint", "cut joints and constraints")
        if body is None:
            return found
        if not is_name_in(found, body):
            raise StateError(f"{name!r} has {no_such('body', body, found, 'bodies')}")
        return found[body]

    def constraint_rows(self, name: str) -> dict[int, ConstraintRow]:
        """The rows of a constraint or a cut joint by their place among all, with what each forbids."""
        model = self.model_with_contacts
        label = label_of(name, entry(model.constraints, name, "cut joint or constraint", "cut joints and constraints"))
        return {k: row for k, row in enumerate(table_of(model).rows) if row.owner == label}

    def multiplier(self, name: str) -> np.ndarray:
        """(…,), or (…, rows): the force λ of a constraint or a cut joint, of each of its rows (`constraint_rows`), positive where
        it pushes to larger residuals: N of lengths (a rod pushes its ends apart), N m of angles; that of the "coupling of" a
        follower in the follower's coordinate."""
        if is_name_in(links := couplings(self.model.joints), name) and name not in self.model_with_contacts.constraints:
            return squeezed(self.joint_loads.links[name][links[name].name])
        return squeezed(self.multipliers[..., list(self.constraint_rows(name))])

    # --- bodies and frames ----------------------------------------------------------------------------------------------------
    def point(self, body: str, at: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Path (…, 3) of a point of a body in the world. `at` in the body's axes, where the body is undeformed."""
        return self.place(self._point(body, at))[1]

    def point_velocity(self, body: str, at: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Velocity (…, 3) of a point of a body in the world."""
        return self.velocity_of(self._point(body, at))[..., :3]

    def point_acceleration(self, body: str, at: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Acceleration (…, 3) of a point of a body in the world."""
        return self.acceleration_of(self._point(body, at))[..., :3]

    def rotation(self, body: str) -> np.ndarray:
        """Rotation (…, 3, 3) of a body, its axes → those of the world; of a flexible one that of its section or node at the
        origin, as `angular_velocity`."""
        return self.place(self._point(body, (0.0, 0.0, 0.0)))[0]

    def angular_velocity(self, body: str) -> np.ndarray:
        """Angular velocity (…, 3) of a body, world axes."""
        return self.velocity_of(self._point(body, (0.0, 0.0, 0.0)))[..., 3:]

    def frame(self, name: str) -> np.ndarray:
        """Path (…, 3) of the origin of a named frame in the world."""
        return self.place(entry(self.model.frames, name, "frame"))[1]

    def frame_rotation(self, name: str) -> np.ndarray:
        """Rotation (…, 3, 3) of a named frame, its axes → those of the world."""
        return self.place(entry(self.model.frames, name, "frame"))[0]

    def _point(self, body: str, at: Sequence[float]) -> tuple[str, Pose]:
        place = check_array(at, "point", 3)
        return self.model.bodies[self.model.body_index(body)].name, Pose(place.tolist())

    # --- flexible bodies ------------------------------------------------------------------------------------------------------
    def deformation(self, body: str, at: Sequence[float]) -> np.ndarray:
        """(…, 3): how far a point of a flexible body has moved from where it is while the body is undeformed, m, in the axes of
        the body's frame, which moves with the section or node that the tree holds."""
        place = check_array(at, "point", 3)
        return self._moved_places(self._flexible(body), place).position - place

    def resultants(self, body: str, x: float | Sequence[float] | np.ndarray) -> dict[str, np.ndarray]:
        """Forces and moments in the sections of a flexible beam at x along its axis (`FlexibleBeam.resultants`): "axial",
        "torque", "moment_y", "moment_z", "shear_y", "shear_z"; each (…,), or (…, n) of n sections."""
        from ...model.flexible import FlexibleBeam  # imported here: most models are rigid

        i = self._flexible(body)
        beam = self.model.bodies[i].flexible
        if not isinstance(beam, FlexibleBeam):
            raise StateError(f"resultants: body {body!r} is no beam: its shapes say nothing of sections")
        e = self._elastic_coordinates(i)
        found = beam.resultants(e.reshape(-1, e.shape[-1]), np.atleast_1d(real_array(x, "x")))
        shape = (*self.shape, *np.shape(x))
        return {name: values.reshape(shape) for name, values in found.items()}

    def _flexible(self, body: str) -> int:
        i = self.model.body_index(body)
        if i + 1 not in self.model.structure.deformations:
            there = [b.name for b in self.model.bodies if b.flexible is not None]
            raise StateError(f"body {body!r} is rigid; {choices(body, there, 'flexible bodies')}")
        return i

    # --- forces ---------------------------------------------------------------------------------------------------------------
    def force(self, name: str) -> dict[str, np.ndarray]:
        """The action of a force: {body: (…, 6) force and moment at its origin, in its axes; joint: (…, n)}. What it does in a
        driven coordinate moves nothing and is not listed: see `force_power`, and `power` of the joint."""
        return entry(self.force_actions, name, "force")

    def force_power(self, name: str) -> np.ndarray:
        """Power (…,) of a force."""
        return self.force_powers[..., entry({x: k for k, x in enumerate(self.dynamics.force_names)}, name, "force")]

    def quantity(self, name: str) -> np.ndarray:
        """(…, T), or (…, T, lines) where the name stands for several: anything that `plot` takes, "penetration of foot"."""
        from .quantities import quantity

        lines = [line.values for line in quantity(self, name)]
        return lines[0] if len(lines) == 1 else np.stack(lines, axis=-1)

    def state_of(self, name: str) -> np.ndarray:
        """(…, T): a state of a force, or one of `Model.add_state`."""
        return self.state_values[..., entry({x: k for k, x in enumerate(self.model.states)}, name, "state")]

    # --- tables ---------------------------------------------------------------------------------------------------------------
    def to_xarray(self) -> Dataset:
        """An xarray.Dataset with named dimensions: (trajectory,) time, coordinate, speed, body."""
        from .storage import to_xarray

        return to_xarray(self)

    def to_dataframe(self) -> DataFrame:
        """A pandas.DataFrame, a row per time, a column per coordinate, speed, acceleration of every joint, states, and energies.

        Columns are called as in `to_csv`: "q elbow", "v elbow", "a elbow", "state integral", "kinetic", "work of drives". Units
        are in `attrs["units"]`, by column. The rows of a rollout are numbered by trajectory and time.
        """
        from .storage import to_dataframe

        return to_dataframe(self)

    def to_csv(self, path: PathLike) -> None:
        """Time, coordinates, speeds and accelerations of every joint, states of forces, energies: a row per time."""
        from .storage import to_csv

        to_csv(self, path)
