"""A flexible body given by modes at nodes, as finite elements or measurements give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...errors import ModelError, brief
from ...trace import Number, Symbol
from ...types import FilePath, FloatArray
from ..body import Body
from ..element import element, element_field
from ..values import ByName, ScalarOrVector, Vector
from .flexible_body import NOT_NEGATIVE, POSITIVE, FixedScalar, Flexible, Rows, Shapes, damping_matrix
from .integrals import Integrals, eigh, skew
from .tables import IntegralsValue, Table, TableValue, second_moments


@element("modal")
class ModalBody(Flexible):
    """A body whose shapes are known at nodes. `modes` has for every node a matrix of one column per mode: three rows of
    displacement, then three of rotation. A node of three rows only does not turn: it can be pushed and held, but a joint there
    feels no rotation.

    Stiffness: `frequencies`, with modes of unit modal mass or of `modal_mass`; or the matrix `K`. Integrals over the mass:
    given, or summed over `node_mass`; the modes may contain rigid motions relative to a node, since they are made relative to
    the root."""

    mass: float = element_field(POSITIVE, unit="kg", meaning="mass")
    centre: Sequence[float] = element_field(Vector(3, FixedScalar()), unit="m", meaning="centre of mass")
    inertia: tuple[float, ...] = element_field(
        Vector(6, FixedScalar()), unit="kg m²", meaning="xx yy zz xy xz yz about the centre of mass"
    )
    nodes: Mapping[str, Sequence[float]] = element_field(
        ByName(Vector(3, FixedScalar())), unit="m", meaning="places of the nodes"
    )
    modes: Mapping[str, Table] = element_field(
        ByName(TableValue((3, 6))), meaning="6×m or 3×m per node: displacements and rotations of each mode"
    )
    frequencies: Sequence[float] | None = element_field(Vector(of=POSITIVE), default=None, unit="rad/s", meaning="of each mode")
    K: Table | None = element_field(TableValue(), default=None, meaning="stiffness matrix, in place of frequencies")
    modal_mass: Sequence[float] | Table | None = element_field(
        TableValue(or_diagonal=True), default=None, meaning="masses of the modes, or their matrix; 1 where frequencies are given"
    )
    integrals: Integrals | None = element_field(IntegralsValue(), default=None, meaning="integrals over the mass")
    node_mass: Mapping[str, float] | None = element_field(
        ByName(NOT_NEGATIVE), default=None, unit="kg", meaning="masses lumped at nodes, for the integrals"
    )
    damping: float | Sequence[float] = element_field(
        ScalarOrVector(NOT_NEGATIVE), default=0.0, meaning="ratio of critical damping, for all modes or for each"
    )
    rayleigh: Sequence[float] = element_field(
        Vector(2, NOT_NEGATIVE), default=(0.0, 0.0), unit="1/s, s", meaning="damping α·mass + β·stiffness"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_nodes()
        if (self.frequencies is None) == (self.K is None):
            raise ModelError(f"{self.label}: give either the frequencies of the modes or their stiffness matrix K")
        m = self._count
        sizes = {"frequencies": self.frequencies, "K": self.K, "modal_mass": self.modal_mass}
        for name, value in sizes.items():
            if value is not None and set(np.shape(value)) != {m}:
                raise ModelError(f"{self.label}: {name} has the shape {np.shape(value)}, the nodes have {m} modes")
        if self.frequencies is not None and np.ndim(self.modal_mass or ()) == 2:
            raise ModelError(f"{self.label}: frequencies belong to separate modes: give one modal mass each, or K with a matrix")
        self._check_integrals()
        self._check_mass()
        self._check_matrices()
        self._check_whole()

    def _check_nodes(self) -> None:
        if not self.nodes:
            raise ModelError(f"{self.label}: no nodes; a joint needs at least one to be attached to")
        if lonely := sorted(set(self.nodes) ^ set(self.modes)):
            raise ModelError(f"{self.label}: nodes and modes must have the same names; only one of them has {', '.join(lonely)}")
        if len({len(rows[0]) for rows in self.modes.values()}) != 1:
            raise ModelError(f"{self.label}: every node must have the same number of modes (columns)")

    def _check_integrals(self) -> None:
        if self.integrals is None and self.node_mass is None:
            raise ModelError(f"{self.label}: the distribution of the mass is missing: give integrals, or node_mass (kg per node)")
        if self.node_mass is not None:
            if foreign := sorted(set(self.node_mass) - set(self.nodes)):
                raise ModelError(f"{self.label}: node_mass: no node {', '.join(map(repr, foreign))}")
            total = sum(self.node_mass.values())
            if self.integrals is None and abs(total - self.mass) > 1e-3 * self.mass:
                raise ModelError(f"{self.label}: the masses of the nodes sum to {total:g} kg, the body has {self.mass:g} kg")
        if self.integrals is not None:
            if self.integrals.linear.shape != (self._count, 3):
                raise ModelError(
                    f"{self.label}: the integrals are of {len(self.integrals.linear)} modes, the nodes have {self._count}"
                )
            if abs(self.integrals.mass - self.mass) > 1e-6 * self.mass:
                raise ModelError(f"{self.label}: the integrals are of {self.integrals.mass:g} kg, the body has {self.mass:g} kg")
            if self.integrals.curved.any() or self.integrals.bent.any():
                raise ModelError(f"{self.label}: integrals with Γ are not for bodies given at nodes, where Γ is not known")

    @property
    def _undeformed(self) -> Body:
        x, y, z = self.centre
        return Body(self.label, self.mass, (x, y, z), tuple(self.inertia))

    def _check_mass(self) -> None:
        """The nodes alone cannot have more inertia than the body, nor another centre: the mass matrix would be indefinite."""
        found = self.integrals or self._lumped
        centre = found.moment / found.mass
        size = float(np.sqrt(np.trace(found.second) / found.mass))
        if np.abs(centre - self.centre).max() > 1e-3 * size:
            raise ModelError(f"{self.label}: its mass is spread about {_shown(centre)} m, but centre is {_shown(self.centre)} m")
        S = found.second - found.mass * np.outer(centre, centre)
        J, lumped = self._undeformed.inertia_matrix(), np.trace(S) * np.eye(3) - S
        if np.linalg.eigvalsh(J - lumped)[0] < -1e-3 * np.abs(J).max():
            raise ModelError(
                f"{self.label}: inertia is less than what its mass distribution has about the centre, "
                f"{_shown(np.diag(lumped))} kg m² about x, y, z: is it about the centre of mass?"
            )

    def _check_whole(self) -> None:
        """The mass matrix of size 6 + m: modes that are not scaled as their masses say make it indefinite."""
        found, E = self.integrals or self._lumped, self._mass_matrix
        D = found.first
        P = np.concatenate([found.linear.T, [D[:, 1, 2] - D[:, 2, 1], D[:, 2, 0] - D[:, 0, 2], D[:, 0, 1] - D[:, 1, 0]]])
        M = np.block([[self._undeformed.mass_matrix(), P], [P.T, E]])
        size = np.where(np.diag(M) > 0.0, np.sqrt(np.abs(np.diag(M))), 1.0)  # a rod has no inertia about its axis
        if np.linalg.eigvalsh(M / np.outer(size, size))[0] < -1e-3:
            raise ModelError(
                f"{self.label}: the modes do not have the masses that are given: by their displacements these are "
                f"{_shown(np.diag(found.mass_matrix))} kg, the modal masses are {_shown(np.diag(E))} kg; scale the modes or give "
                "modal_mass"
            )

    def _check_matrices(self) -> None:
        for name, matrix in (("K", self._stiffness), ("modal_mass", self._mass_matrix)):
            if np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
                raise ModelError(f"{self.label}: {name} is not symmetric")
        if (idle := np.flatnonzero(np.diag(self._mass_matrix) <= 0.0)).size:
            raise ModelError(f"{self.label}: mode {idle[0] + 1} has no mass above 0; give modal_mass, or leave it out")
        self._check_independent(self._mass_matrix, "mass matrix")
        if self.integrals is None:
            self._check_independent(self._lumped.mass_matrix, "displacements of the nodes that have mass")
        K = self._stiffness
        lowest = eigh(K, self._mass_matrix, eigvals_only=True)
        if lowest[0] <= 1e-12 * lowest[-1]:
            raise ModelError(
                f"{self.label}: the stiffness is not positive definite: its lowest eigenvalue is {lowest[0]:.3g} (rad/s)²; "
                "leave out rigid-body modes"
            )

    def _check_independent(self, M: FloatArray, what: str) -> None:
        size = np.diag(M)
        if not size.any():
            raise ModelError(f"{self.label}: no mode moves any mass by the {what}; leave out modes of zeros")
        moving = np.flatnonzero(size > 1e-12 * size.max())  # twist of a line of nodes displaces none of them
        scale = np.sqrt(size[moving])
        low, vectors = eigh(M[np.ix_(moving, moving)] / np.outer(scale, scale))
        if low[0] < 1e-12:
            share = np.abs(vectors[:, 0])
            guilty = ", ".join(map(str, 1 + moving[share > 1e-3 * share.max()]))
            raise ModelError(f"{self.label}: modes {guilty} depend on each other by the {what}; leave one of them out")

    @property
    def _count(self) -> int:
        return len(next(iter(self.modes.values()))[0])

    @property
    def com(self) -> tuple[float, float, float]:
        x, y, z = self.centre
        return x, y, z

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(f"mode{k + 1}" for k in range(self._count))

    @property
    def units(self) -> tuple[str, ...]:
        return ("m",) * self._count

    @cached_property
    def _arrays(self) -> tuple[list[str], FloatArray, FloatArray]:
        """Names, places (n, 3), modes (n, m, 6)."""
        names = list(self.nodes)
        modes = np.zeros((len(names), self._count, 6))
        for k, name in enumerate(names):
            rows = np.array(self.modes[name])
            modes[k, :, : len(rows)] = rows.T
        return names, np.array([self.nodes[name] for name in names]), modes

    @cached_property
    def _mass_matrix(self) -> FloatArray:
        if self.modal_mass is None:
            return self._lumped.mass_matrix if self.frequencies is None else np.eye(self._count)
        given = np.array(self.modal_mass)
        return np.diag(given) if given.ndim == 1 else given

    @cached_property
    def _stiffness(self) -> FloatArray:
        return np.array(self.K) if self.frequencies is None else self._mass_matrix * np.array(self.frequencies) ** 2

    @cached_property
    def _lumped(self) -> Integrals:
        """The integrals as given or summed."""
        if self.integrals is not None:
            return self.integrals
        names, places, modes = self._arrays
        weights = np.array([(self.node_mass or {}).get(name, 0.0) for name in names])
        return Integrals.of_points(weights, places, modes[:, :, :3])

    @cached_property
    def _integrals(self) -> Integrals:
        """Integrals with the given mass properties and mass matrix, which lumped masses only approach."""
        moment, second = self.mass * np.array(self.centre), second_moments(self.mass, self.centre, self.inertia)
        return replace(self._lumped, mass=self.mass, moment=moment, second=second, mass_matrix=self._mass_matrix)

    def node_at(self, point: Sequence[Number]) -> int:
        """The number of the node at a point."""
        names, places, _ = self._arrays
        if any(isinstance(x, Symbol) for x in point):
            raise ModelError(f"{self.label}: its shapes are known at nodes only, not at a point that moves in the body")
        size = float(np.ptp(places, axis=0).max()) or float(np.abs(places).max()) or 1.0
        away = np.linalg.norm(places - np.array(point, dtype=float), axis=1)
        k = int(np.argmin(away))
        if away[k] > 1e-6 * size:
            there = ", ".join(f"{names[j]} {tuple(places[j].tolist())}" for j in np.argsort(away)[:8])
            where = brief(tuple(map(float, point)))
            raise ModelError(f"{self.label}: no node at {where}; the nearest of {len(names)} are {there}")
        return k

    @property
    def words(self) -> str:
        return f"modal body with {len(self.nodes)} node{'s' * (len(self.nodes) != 1)}"

    def check_place(self, point: Sequence[float]) -> None:
        self.node_at(point)

    def _shapes(self, root: tuple[float, float, float]) -> ModalShapes:
        _, places, modes = self._arrays
        k = self.node_at(root)
        turn = modes[k, :, 3:]
        shift = modes[k, :, :3] - np.cross(turn, places[k])
        relative = modes.copy()
        relative[:, :, :3] -= shift + np.einsum("kij,nj->nki", skew(turn), places)
        relative[:, :, 3:] -= turn
        relative[k] = 0.0
        damping = damping_matrix(self._mass_matrix, self._stiffness, self.damping, self.rayleigh, self.label)
        integrals = self._integrals.less_rigid(shift, turn)
        return ModalShapes(self.coordinates, integrals, self._stiffness, damping, root, self, relative)

    def save(self, path: FilePath) -> None:
        """Write it to an archive of arrays, .npz; `load_modal` reads it."""
        from .archive import archive_path

        names, places, modes = self._arrays
        np.savez_compressed(
            archive_path(path),
            mass=self.mass,
            centre=np.array(self.centre),
            inertia=np.array(self.inertia),
            node_names=np.array(names, dtype=str),
            nodes=places,
            modes=modes.transpose(0, 2, 1),
            K=self._stiffness,
            modal_mass=self._mass_matrix,
            damping=np.array(self.damping),
            rayleigh=np.array(self.rayleigh),
            **{name: getattr(self._integrals, name) for name in ("linear", "first", "product")},
        )


@dataclass(frozen=True, eq=False)
class ModalShapes(Shapes):
    """Shapes at nodes."""

    body: ModalBody
    modes: FloatArray
    """(nodes, m, 6) relative to the root"""

    def at(self, point: Sequence[Number]) -> tuple[Rows, Rows, list[Rows] | None]:
        rows = self.modes[self.body.node_at(point)].T.tolist()
        return rows[:3], rows[3:], None


def _shown(x: Sequence[float] | FloatArray) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in x) + ")"
