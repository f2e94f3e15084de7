"""Shapes of flexible bodies: frequencies of the textbook, integrals as sums, roots that differ by a rigid motion, refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import sharnir as sh
from sharnir.errors import FormatError, ModelError
from sharnir.model.flexible import (
    Circle,
    FlexibleBeam,
    Integrals,
    ISection,
    ModalBody,
    OwnSection,
    Rectangle,
    Tube,
    load_modal,
    reduce,
)
from sharnir.trace import Expression, Graph, tangent

L, E, G, RHO = 1.5, 7e10, 2.6e10, 2700.0
SLENDER = Rectangle(0.001, 0.002)  # rotary inertia changes the frequencies by less than 1e-5
STOUT = Rectangle(0.06, 0.1)
ORIGIN, TIP = (0.0, 0.0, 0.0), (L, 0.0, 0.0)


def beam(section=SLENDER, modes=8, **options):
    return FlexibleBeam(L, E, G, RHO, section, modes, **options)


def bending_unit(section, I):
    """√(EI / ρA L⁴)"""
    return math.sqrt(E * I / (RHO * section.area * L**4))


def free_frequencies(shapes):
    """Of the body floating in space: six rigid motions and the elastic coordinates; from the integrals alone."""
    n, m = shapes.integrals, len(shapes.names)
    S = np.cross(np.eye(3), n.moment)  # rows e_i × ∫x: the mixed block −x̃ of translation and rotation
    turning = np.stack([n.first[:, i, j] - n.first[:, j, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1)  # ∫ x × Φ
    J = np.trace(n.second) * np.eye(3) - n.second
    M = np.block([[n.mass * np.eye(3), -S, n.linear.T], [-S.T, J, turning.T], [n.linear, turning, n.mass_matrix]])
    K = scipy.linalg.block_diag(np.zeros((6, 6)), shapes.stiffness)
    squares = scipy.linalg.eigh(K, M, eigvals_only=True)
    assert np.abs(squares[:6]).max() < 1e-6 * squares[6]
    return np.sqrt(squares[6:])[:m]


# --- beams ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ends", "roots"),
    [
        ("clamped-free", (1.875104, 4.694091, 7.854757)),
        ("pinned", (math.pi, 2 * math.pi, 3 * math.pi)),
        ("free", (4.730041, 7.853205, 10.995608)),
    ],
)
def test_bending_frequencies(ends, roots):
    """Roots of cosh β cos β = ∓1 and of sin β = 0: Blevins, Formulas for Natural Frequency and Mode Shape, 1979, table 8-1."""
    b = beam(modes={"bend_y": 3, "bend_z": 3}, ends=ends)
    for k, I in enumerate((SLENDER.Iz, SLENDER.Iy)):
        assert b.frequencies[3 * k : 3 * k + 3] == pytest.approx(bending_unit(SLENDER, I) * np.array(roots) ** 2, rel=1e-4)
    shapes = b.rooted(ORIGIN)
    if ends == "clamped-free":
        assert shapes.frequencies == pytest.approx(np.sort(b.frequencies), rel=1e-12)
    if ends == "free":
        assert free_frequencies(shapes) == pytest.approx(np.sort(b.frequencies), rel=1e-9)
    if ends == "pinned":  # the section at the root turns about z as well
        n, K, expected = shapes.integrals, shapes.stiffness[:3, :3], b.frequencies[:3]
        turn = (n.first[:, 0, 1] - n.first[:, 1, 0])[:3]
        M = np.block([[n.second[0, 0] + n.second[1, 1], turn[None]], [turn[:, None], n.mass_matrix[:3, :3]]])
        tip = [L, *shapes.at(TIP)[0][1][:3]]
        hold = scipy.linalg.null_space(np.array([tip]))  # the far end on the axis
        squares = scipy.linalg.eigh(hold.T @ scipy.linalg.block_diag(0.0, K) @ hold, hold.T @ M @ hold, eigvals_only=True)
        assert np.sqrt(squares) == pytest.approx(expected, rel=1e-9)


def test_twist_and_stretch_frequencies():
    """(2k − 1)π/2L · √(G It / ρ Ip) clamped-free, kπ/L · √(E/ρ) free: Blevins 1979, tables 8-16 and 8-19."""
    counts = {"twist": 3, "stretch": 3}
    twist, stretch = math.sqrt(G * STOUT.It / (RHO * STOUT.Ip)) / L, math.sqrt(E / RHO) / L
    odd, whole = np.array([0.5, 1.5, 2.5]) * math.pi, np.array([1.0, 2.0, 3.0]) * math.pi
    for ends, waves in (("clamped-free", odd), ("pinned", odd), ("free", whole)):
        assert beam(STOUT, counts, ends=ends).frequencies == pytest.approx([*twist * waves, *stretch * waves], rel=1e-10)
    assert free_frequencies(beam(STOUT, counts, ends="free").rooted(ORIGIN)) == pytest.approx(
        np.sort([*twist * whole, *stretch * whole]), rel=1e-9
    )


def test_the_lowest_modes_are_selected():
    b = beam(STOUT, 8)
    assert b.coordinates == ("bend_y1", "bend_y2", "bend_y3", "bend_y4", "bend_z1", "bend_z2", "bend_z3", "twist1")
    assert b.units == ("m",) * 7 + ("rad",)
    more = beam(STOUT, {"bend_y": 8, "bend_z": 8, "twist": 8, "stretch": 8}).frequencies
    assert np.sort(b.frequencies) == pytest.approx(np.sort(more)[:8], rel=1e-9)
    assert len(beam(Circle(0.01), 3).coordinates) == 3  # planes of equal frequency: one of them has a mode more


@pytest.mark.parametrize("root", [ORIGIN, TIP])
def test_static_deflection_is_exact_with_polynomials(root):
    """F L³/3EI and F L²/2EI at the tip of a cantilever, held at either end. Timoshenko, Strength of Materials."""
    b = beam(STOUT, {"bend_y": 2, "bend_z": 2, "twist": 1, "stretch": 1}, ends="polynomial")
    shapes, end = b.rooted(root), TIP if root != TIP else ORIGIN
    phi, psi = (np.array(rows) for rows in shapes.at(end)[:2])
    sign, F = math.copysign(1.0, end[0] - root[0]), 100.0
    for axis, I, turn in ((1, STOUT.Iz, 2), (2, STOUT.Iy, 1)):
        e = np.linalg.solve(shapes.stiffness, F * phi[axis])
        assert phi[axis] @ e == pytest.approx(F * L**3 / (3 * E * I), rel=1e-10)
        assert psi[turn] @ e == pytest.approx((1 if axis == 1 else -1) * sign * F * L**2 / (2 * E * I), rel=1e-10)
    assert phi[0] @ np.linalg.solve(shapes.stiffness, F * phi[0]) == pytest.approx(F * L / (E * STOUT.area), rel=1e-10)
    assert psi[0] @ np.linalg.solve(shapes.stiffness, psi[0]) == pytest.approx(L / (G * STOUT.It), rel=1e-10)


def test_resultants_of_a_loaded_cantilever():
    b = beam(STOUT, {"bend_y": 2, "bend_z": 2, "twist": 1, "stretch": 1}, ends="polynomial")
    shapes, x = b.rooted(ORIGIN), np.linspace(0, L, 7)
    phi, psi, _ = shapes.at(TIP)
    load = np.array([30.0, 10.0, 20.0])
    e = np.linalg.solve(shapes.stiffness, load @ np.array(phi) + 5.0 * np.array(psi[0]))
    found = b.resultants(e, x)
    expected = {"axial": 30, "torque": 5, "shear_y": 10, "shear_z": 20, "moment_y": -20 * (L - x), "moment_z": 10 * (L - x)}
    for name, value in expected.items():  # moments: (tip − x) × load
        assert found[name] == pytest.approx(np.broadcast_to(value, 7), abs=1e-9), name
    assert b.resultants([e, 2 * e], x)["axial"][1] == pytest.approx([60.0] * 7)


@pytest.mark.parametrize(
    ("speed", "published"),
    [
        (0, (3.5160, 22.0345, 61.697)),
        (3, (4.7973, 23.3203, 62.985)),
        (6, (7.3604, 26.8091, 66.684)),
        (12, (13.1702, 37.6031, 79.615)),
    ],
)
def test_a_rotating_beam_stiffens_as_published(speed, published):
    """Flap of a uniform cantilever at Ω√(ρAL⁴/EI) = 0, 3, 6, 12: Wright, Smith, Thresher, Wang, J. Appl. Mech. 49 (1982);
    Hodges and Rutkowski, AIAA J. 19 (1981)."""
    unit = bending_unit(SLENDER, SLENDER.Iy)
    shapes = beam(modes={"bend_z": 10}, ends="polynomial").rooted(ORIGIN)
    n = shapes.integrals
    K = shapes.stiffness - (speed * unit) ** 2 * n.bent[:, :, 0, 0]
    found = np.sqrt(scipy.linalg.eigh(K, n.mass_matrix, eigvals_only=True)[:3]) / unit
    assert found == pytest.approx(published, rel=2e-5)  # rotary inertia


# --- integrals and roots ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ends", ["clamped-free", "free", "pinned", "polynomial"])
@pytest.mark.parametrize("root", [ORIGIN, (0.37 * L, 0.01, -0.02), TIP])
def test_integrals_are_sums_over_the_solid(ends, root):
    """Gauss's rule over the rectangle, with the shapes of single points, and Γ by quadrature of the slopes."""
    shapes = beam(STOUT, {"bend_y": 2, "bend_z": 2, "twist": 1, "stretch": 1}, ends=ends).rooted(root)
    along, across = np.polynomial.legendre.leggauss(40), np.polynomial.legendre.leggauss(2)
    dm, x, phi, gamma = [], [], [], []
    for (a, wa), (b, wb), (c, wc) in itertools.product(*(list(zip(*rule, strict=True)) for rule in (along, across, across))):
        x.append((L * (a + 1) / 2, STOUT.width * b / 2, STOUT.height * c / 2))
        dm.append(RHO * STOUT.area * L * wa * wb * wc / 8)
        here = shapes.at(x[-1])
        phi.append(np.array(here[0]).T)
        gamma.append(np.moveaxis(np.array(shapes.lines.at(x[-1], slender=True)[2], dtype=float), 0, -1))
    summed, n = Integrals.of_points(np.array(dm), np.array(x), np.array(phi), np.array(gamma)), shapes.integrals
    for name in ("mass", "moment", "second", "linear", "first", "product", "curved", "bent", "mass_matrix"):
        a, b = np.asarray(getattr(n, name)), np.asarray(getattr(summed, name))
        assert np.abs(a - b).max() <= 1e-12 * np.abs(b).max(), name
    for station in (0.0, 0.2 * L, L):
        for k, l in ((0, 0), (0, 1), (2, 3), (0, 2), (4, 4)):

            def slopes(s, k=k, l=l):
                _, turned, _ = shapes.at((s, 0.0, 0.0))
                return turned[1][k] * turned[1][l] + turned[2][k] * turned[2][l]

            expected = -scipy.integrate.quad(slopes, root[0], station, epsabs=1e-12)[0]
            assert shapes.at((station, 0.0, 0.0))[2][0][k][l] == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_mass_properties_of_the_undeformed_beam():
    b = beam(STOUT)
    n = b.rooted(ORIGIN).integrals
    J = np.trace(n.second) * np.eye(3) - n.second - n.mass * (L**2 / 4) * np.diag([0, 1, 1])
    assert n.mass == pytest.approx(b.mass) and n.moment / n.mass == pytest.approx(b.com)
    assert b.inertia == pytest.approx([*np.diag(J), 0, 0, 0])
    assert b.inertia[1] == pytest.approx(b.mass * (L**2 + STOUT.height**2) / 12)


@pytest.mark.parametrize("ends", ["clamped-free", "free", "pinned", "polynomial"])
def test_roots_differ_by_a_rigid_motion(ends):
    b = beam(STOUT, {"bend_y": 3, "bend_z": 2, "twist": 2, "stretch": 1}, ends=ends, stiffening=False, damping=0.01)
    near, far = b.rooted(ORIGIN), b.rooted(TIP)
    shift, turn = (np.array(rows).T for rows in near.at(TIP)[:2])
    for point in ((0.0, 0.01, 0.02), (0.3 * L, -0.01, 0.0), TIP):
        (phi, psi, gamma), (phi_far, psi_far, _) = near.at(point), far.at(point)
        moved = np.array(phi).T - shift - np.cross(turn, np.array(point) - TIP)
        assert gamma is None and np.abs(np.array(phi_far).T - moved).max() < 1e-12
        assert np.abs(np.array(psi_far).T - np.array(psi).T + turn).max() < 1e-11
    moved = near.integrals.less_rigid(shift - np.cross(turn, TIP), turn)
    for name in ("linear", "first", "product", "mass_matrix"):
        a, b_ = getattr(moved, name), getattr(far.integrals, name)
        assert np.abs(a - b_).max() <= 1e-12 * np.abs(b_).max(), name
    assert np.abs(moved.points.phi - far.integrals.points.phi).max() < 1e-12 * np.abs(moved.points.phi).max()
    assert (near.stiffness == far.stiffness).all() and (near.damping == far.damping).all()
    assert free_frequencies(near) == pytest.approx(free_frequencies(far), rel=1e-8)


def test_everything_vanishes_at_the_root():
    b = beam(STOUT)
    for root in (ORIGIN, (0.31 * L, 0.02, 0.01), TIP):
        shapes = b.rooted(root)
        assert shapes is b.rooted(root)
        assert not any(np.any(np.array(rows)) for rows in shapes.at((root[0], 0.01, 0.0)))
        assert all(np.abs(np.array(rows, dtype=float)).max() < 1e-12 for rows in shapes.lines.at(root))


def test_natural_modes_leave_exact_zeros():
    n = beam(STOUT, 8).rooted(ORIGIN)
    assert np.count_nonzero(n.integrals.mass_matrix) == np.count_nonzero(n.stiffness) == 8
    assert not n.integrals.curved[..., 1:].any() and not n.integrals.linear[:3, (0, 2)].any()


@pytest.mark.parametrize("root", [ORIGIN, (0.4 * L, 0.0, 0.0)])
def test_symbols_agree_with_numbers(root):
    shapes = beam(STOUT, 8, ends="free").rooted(root)
    graph = Graph()
    point = graph.inputs(3)

    def flat(found):
        phi, psi, gamma = found
        return [x for table in (phi, psi, *gamma) for row in table for x in row]

    symbolic = Expression(graph, point, flat(shapes.at(point)))
    for place in ((0.0, 0.01, 0.02), (0.77 * L, 0.0, -0.03), TIP):
        assert symbolic(*place) == pytest.approx(flat(shapes.at(place)), abs=1e-13)
    phi, _, _ = shapes.at(point)
    slope = Expression(graph, point, tangent(phi[1], [(point[0], 1.0)]))
    assert slope(0.6 * L, 0.0, 0.0) == pytest.approx(shapes.at((0.6 * L, 0.0, 0.0))[1][2], abs=1e-11)


@pytest.mark.parametrize("ends", ["clamped-free", "free", "pinned", "polynomial"])
def test_modes_have_a_largest_displacement_of_one(ends):
    b = beam(modes={"bend_y": 5, "twist": 3}, ends=ends)
    x = np.linspace(0, L, 2001)
    for family, _, strains in b._modes:
        moved, _ = family.displaced(strains, ends)
        values = np.polynomial.legendre.legval(2 * x / L - 1, moved.T)
        assert np.abs(values).max(axis=1) == pytest.approx(np.ones(len(values)), abs=1e-5)
        assert (values[:, -1] > -1e-9).all()


def test_damping_is_of_modes_and_of_rayleigh():
    ratios = [0.01, 0.02, 0.03]
    shapes = beam(STOUT, {"bend_y": 2, "twist": 1}, damping=ratios, rayleigh=(0.5, 1e-5)).rooted(ORIGIN)
    m, k = np.diag(shapes.integrals.mass_matrix), np.diag(shapes.stiffness)
    assert shapes.damping == pytest.approx(np.diag(2 * np.array(ratios) * np.sqrt(m * k) + 0.5 * m + 1e-5 * k), rel=1e-9)


# --- sections ---------------------------------------------------------------------------------------------------------
def test_section_constants():
    """Torsion of a square 0.1406 a⁴, of 2:1 0.2287 a b³ : Timoshenko and Goodier, Theory of Elasticity, art. 109."""
    assert Rectangle(2.0, 2.0).It == pytest.approx(0.140577 * 16, rel=1e-5)
    assert Rectangle(1.0, 2.0).It == Rectangle(2.0, 1.0).It == pytest.approx(0.22868 * 2, rel=1e-4)
    assert Rectangle(1e-3, 1.0).It == pytest.approx(1e-9 / 3 * (1 - 0.63e-3), rel=1e-5)
    assert Circle(2.0).It == Circle(2.0).Ip == pytest.approx(8 * math.pi)
    assert Tube(2.0, 1.0).Iy == pytest.approx(math.pi * 15 / 4)
    i = ISection(0.1, 0.2, 0.006, 0.01)
    assert i.area == pytest.approx(0.002 + 0.18 * 0.006)
    assert i.Iy == pytest.approx(2 * (0.1 * 0.01**3 / 12 + 0.001 * 0.095**2) + 0.006 * 0.18**3 / 12)
    own = OwnSection(i.area, i.Iy, i.Iz, i.It)
    (b, h), _ = np.ptp(own.outline(), axis=0), own
    assert (b * h**3 / 12, h * b**3 / 12) == pytest.approx((i.Iy, i.Iz)) and own.Ip == i.Iy + i.Iz
    assert own == OwnSection(area=i.area, Iy=i.Iy, Iz=i.Iz, It=i.It) and "OwnSection(" in repr(own)


@pytest.mark.parametrize("section", [Rectangle(0.2, 0.3), ISection(0.1, 0.2, 0.006, 0.01), Circle(0.1), Tube(0.2, 0.1)])
def test_outlines_go_round_counterclockwise(section):
    y, z = np.array(section.outline()).T
    area = np.sum(y * np.roll(z, -1) - np.roll(y, -1) * z) / 2
    hole = math.pi * 0.1**2 if isinstance(section, Tube) else 0.0
    assert area - hole == pytest.approx(section.area, rel=0.02)


# --- modal bodies -----------------------------------------------------------------------------------------------------
def frame_elements(section, elements):
    """M, K and nodes of a beam of cubic elements, six freedoms per node. Przemieniecki, Theory of Matrix Structural Analysis."""
    h, rho_a = L / elements, RHO * section.area
    M, K = np.zeros((2, 6 * (elements + 1), 6 * (elements + 1)))
    bar = np.array([[1, -1], [-1, 1]]) / h, np.array([[2, 1], [1, 2]]) * h / 6
    unit = np.outer([1, h, 1, h], [1, h, 1, h])
    bend = unit * np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
    mass = unit * np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]])
    flip = np.array([1, -1, 1, -1])  # θ_y = −w′
    for k in range(elements):
        for rows, stiff, heavy in (
            ([0, 6], E * section.area * bar[0], rho_a * bar[1]),
            ([3, 9], G * section.It * bar[0], RHO * section.Ip * bar[1]),
            ([1, 5, 7, 11], E * section.Iz / h**3 * bend, rho_a * h / 420 * mass),
            ([2, 4, 8, 10], E * section.Iy / h**3 * bend * np.outer(flip, flip), rho_a * h / 420 * mass * np.outer(flip, flip)),
        ):
            at = np.ix_(6 * k + np.array(rows), 6 * k + np.array(rows))
            M[at] += heavy
            K[at] += stiff
    return M, K, {f"n{k}": (k * h, 0.0, 0.0) for k in range(elements + 1)}


def lattice(rng, size=(3, 3, 4)):
    """M, K and places of point masses joined by springs: three freedoms per node."""
    x = np.array(list(itertools.product(*map(range, size))), dtype=float) * 0.1 + rng.normal(size=(math.prod(size), 3)) * 0.01
    masses, K = rng.uniform(0.5, 1.5, len(x)), np.zeros((3 * len(x), 3 * len(x)))
    for i, j in itertools.combinations(range(len(x)), 2):
        r = x[j] - x[i]
        if np.linalg.norm(r) < 0.19:
            block = 1e4 * np.outer(r, r) / (r @ r)
            for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                K[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    return np.repeat(masses, 3), K, x


def test_reduced_bodies_move_alike_by_kernels_and_oracle():
    """Consistent masses have inertia that points at the nodes do not: both must take it from the integrals."""
    M, K, nodes = frame_elements(STOUT, 6)
    m = sh.Model()
    m.add_body("rod", flexible=reduce(M, K, nodes=nodes, interface=["n0", "n6"], modes=3))
    m.add_joint("hinge", sh.Universal(), "ground", "rod")
    rng = np.random.default_rng(1)
    q, v = m.random_q(rng), rng.normal(size=m.nv)
    expected = sh.Dynamics(m, "extended").forward(q, v)
    for method in ("separate", "composite", "lagrange1"):
        found = sh.Dynamics(m, method, backend="python").forward(q, v)
        assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max(), method


def test_reduced_finite_elements_are_the_beam():
    """Clamped, free and static: the frequencies and deflections of the analytic beam."""
    M, K, nodes = frame_elements(STOUT, 30)
    body = reduce(M, K, nodes=nodes, interface=["n0", "n30"], modes=20)
    same = beam(STOUT, {"bend_y": 8, "bend_z": 8, "twist": 5, "stretch": 5}, ends="polynomial")
    assert body.mass == pytest.approx(same.mass) and body.com == pytest.approx(same.com, abs=1e-12)
    shapes, ours = body.rooted(ORIGIN), same.rooted(ORIGIN)
    assert shapes.frequencies[:5] == pytest.approx(ours.frequencies[:5], rel=0.02)  # no rotary inertia in these elements
    far = body.rooted(TIP)
    assert free_frequencies(shapes)[:6] == pytest.approx(free_frequencies(far)[:6], rel=1e-6)
    phi = np.array(shapes.at(TIP)[0])
    assert phi[1] @ np.linalg.solve(shapes.stiffness, phi[1]) == pytest.approx(L**3 / (3 * E * STOUT.Iz), rel=1e-6)
    squares = scipy.linalg.eigh(K, M, eigvals_only=True)
    assert free_frequencies(shapes)[:4] == pytest.approx(np.sqrt(squares[6:10]), rel=1e-3)


def test_a_lattice_keeps_its_frequencies():
    masses, K, x = lattice(np.random.default_rng(4))
    interface = [0, 2, 20, 35]
    body = reduce(np.diag(masses), K, nodes=x, interface=interface, modes=3 * (len(x) - len(interface)))
    w = masses[::3]
    assert body.mass == pytest.approx(w.sum()) and body.com == pytest.approx(w @ x / w.sum())
    full = np.sqrt(scipy.linalg.eigh(K, np.diag(masses), eigvals_only=True)[6:])
    assert len(full) == len(body.coordinates)
    for root in (0, 35):
        assert free_frequencies(body.rooted(x[root])) == pytest.approx(full, rel=1e-6)
    few = reduce(np.diag(masses), K, nodes=x, interface=interface, modes=12)
    assert free_frequencies(few.rooted(x[0]))[:3] == pytest.approx(full[:3], rel=1e-2)
    n = few.rooted(x[0]).integrals
    summed = Integrals.of_points(n.points.weights, n.points.x, n.points.phi)
    for name in ("moment", "second", "linear", "first", "product", "mass_matrix"):
        a, b = getattr(n, name), getattr(summed, name)
        assert np.abs(a - b).max() <= 1e-8 * np.abs(b).max(), name


def modal(**changes):
    """Two modes of three nodes."""
    rng = np.random.default_rng(0)
    nodes = {"a": (0.0, 0.0, 0.0), "b": (1.0, 0.0, 0.0), "c": (1.0, 1.0, 0.0)}
    options = {
        "mass": 3.0,
        "centre": (2 / 3, 1 / 3, 0.0),
        "inertia": (1.0, 1.0, 1.5, -1 / 3, 0.0, 0.0),
        "nodes": nodes,
        "modes": {name: 0.3 * rng.normal(size=(6, 2)) for name in nodes},
        "frequencies": (10.0, 20.0),
        "node_mass": dict.fromkeys(nodes, 1.0),
        "damping": 0.1,
    }
    return ModalBody(**options | changes)


def test_modal_bodies_are_relative_to_their_root(tmp_path):
    body = modal()
    shapes = body.rooted((1.0, 0.0, 0.0))
    phi, psi, gamma = shapes.at((1.0, 1.0, 0.0))
    b, c = (np.array(body.modes[name]) for name in "bc")
    assert np.array(phi) == pytest.approx(c[:3] - b[:3] - np.cross(b[3:].T, (0, 1, 0)).T)
    assert np.array(psi) == pytest.approx(c[3:] - b[3:]) and gamma is None
    assert not np.any(shapes.at((1.0, 0.0, 0.0))[0])
    assert np.diag(shapes.damping) == pytest.approx([2.0, 4.0]) and np.diag(shapes.stiffness) == pytest.approx([100.0, 400.0])
    body.save(tmp_path / "body.npz")
    again = load_modal(tmp_path / "body.npz").rooted((1.0, 0.0, 0.0))
    assert again.at((1.0, 1.0, 0.0)) == shapes.at((1.0, 1.0, 0.0))
    for name in ("moment", "second", "linear", "first", "product", "mass_matrix"):
        assert getattr(again.integrals, name) == pytest.approx(getattr(shapes.integrals, name), abs=1e-14)
    assert again.damping == pytest.approx(shapes.damping) and again.stiffness == pytest.approx(shapes.stiffness)


def test_damping_ratios_of_coupled_modes():
    K, M = np.array([[200.0, 40.0], [40.0, 500.0]]), np.array([[2.0, 0.3], [0.3, 1.0]])
    shapes = modal(frequencies=None, K=K, modal_mass=M, damping=(0.1, 0.2)).rooted((0.0, 0.0, 0.0))
    squares, V = scipy.linalg.eigh(K, M)
    assert V.T @ shapes.damping @ V == pytest.approx(np.diag([0.2, 0.4] * np.sqrt(squares)), abs=1e-12)


# --- refusals ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FlexibleBeam(0.0, E, G, RHO, SLENDER), "length: expected a number above 0"),
        (lambda: FlexibleBeam(L, -1.0, G, RHO, SLENDER), "E: expected a number above 0"),
        (lambda: FlexibleBeam(L, E, 0.0, RHO, SLENDER), "G: expected a number above 0"),
        (lambda: FlexibleBeam(L, E, G, 0.0, SLENDER), "density: expected a number above 0"),
        (lambda: FlexibleBeam(L, E, G, RHO, 0.01), "section: expected a sharnir.Section"),
        (lambda: beam(modes=-1), "modes: expected a whole number from 0 to 40"),
        (lambda: beam(modes=41), "modes: expected a whole number from 0 to 40"),
        (lambda: beam(modes={"bend_y": 21, "bend_z": 20}), "at most 40 modes in all"),
        (lambda: beam(modes={"bend_x": 1}), "unknown family 'bend_x'; there are bend_y, bend_z"),
        (lambda: beam(modes={"bend_y": -1}), "modes.bend_y: expected a whole number from 0"),
        (lambda: beam(ends="glued"), "ends: expected 'clamped-free', 'pinned', 'free' or 'polynomial'"),
        (lambda: beam(modes={"bend_y": 2}, damping=(0.1, 0.2, 0.3)), r"3 numbers for 2 modes \(bend_y1, bend_y2\)"),
        (lambda: beam(damping=-0.1), "damping: expected a number of at least 0"),
        (lambda: beam().rooted((2 * L, 0, 0)), "the root at x = 3 m is not on the beam"),
        (lambda: beam().rooted(ORIGIN).at((-0.1, 0, 0)), "the point at x = -0.1 m is not on the beam"),
        (lambda: beam().resultants([0.0], [0.0]), "expected 8 elastic coordinates"),
        (lambda: beam().resultants([0.0] * 8, [2 * L]), "positions x from 0 to 1.5 m"),
        (lambda: Tube(0.1, 0.2), "inner radius"),
        (lambda: ISection(0.1, 0.2, 0.2, 0.01), "the web"),
        (lambda: ISection(0.1, 0.2, 0.01, 0.1), "fill the height"),
        (lambda: OwnSection(1.0, 1.0, 0.0, 1.0), "section: Iz: expected a number above 0"),
        (lambda: modal(node_mass=None), "give integrals, or node_mass"),
        (lambda: modal(inertia=(1.0, 0.5, 1.5, -1 / 3, 0.0, 0.0)), "inertia is less than what its mass distribution has"),
        (lambda: modal(centre=(0.0, 0.0, 0.0)), "its mass is spread about"),
        (
            lambda: modal(modes={name: 10.0 * np.array(x) for name, x in modal().modes.items()}),
            "do not have the masses that are given",
        ),
        (lambda: modal(node_mass={"a": 1.0}), "sum to 1 kg, the body has 3 kg"),
        (lambda: modal(node_mass={"d": 3.0}), "no node 'd'"),
        (lambda: modal(K=np.eye(2)), "either the frequencies"),
        (lambda: modal(frequencies=(1.0,)), "the nodes have 2 modes"),
        (lambda: modal(frequencies=None, K=-np.eye(2)), "lowest eigenvalue is -"),
        (lambda: modal(modes=dict.fromkeys("abc", np.ones((6, 2)))), "modes 1, 2 depend on each other"),
        (lambda: modal(modes=dict.fromkeys("ab", np.ones((6, 2)))), "only one of them has c"),
        (lambda: modal(modes=dict.fromkeys("abc", np.ones((4, 2)))), "modes.a: expected a matrix with 3 or 6 rows"),
        (lambda: modal(damping=(0.1, 0.2, 0.3)).rooted((0, 0, 0)), "damping has 3 numbers for 2 modes"),
        (lambda: modal().rooted((0.5, 0, 0)), r"no node at \(0.5, 0.0, 0.0\); the nearest of 3 are a"),
        (lambda: modal().save("body.txt"), r"name the file body\.npz"),
        (lambda: reduce(np.eye(9), np.eye(9), nodes=np.eye(3), interface=[0, 1, 2]), "K resists rigid motions"),
        (lambda: reduce(np.eye(8), np.eye(8), nodes=np.eye(3), interface=[0]), "9 or 18 rows"),
        (lambda: reduce(np.eye(9), np.zeros((9, 9)), nodes=np.eye(3), interface=["node7"]), "no node 'node7'"),
        (lambda: reduce(np.eye(18), np.zeros((18, 18)), nodes=np.eye(3), interface=[0], modes=2), "loose"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_a_lattice_needs_three_interface_nodes():
    masses, K, x = lattice(np.random.default_rng(4))
    with pytest.raises(ModelError, match="at least three that are not on one line"):
        reduce(np.diag(masses), K, nodes=x, interface=[0, 1], modes=3)


def test_an_archive_without_fields_is_refused(tmp_path):
    path = tmp_path / "half.npz"
    np.savez(path, mass=1.0, centre=np.zeros(3))
    with pytest.raises(FormatError, match=r"half\.npz: not a modal body: it has no 'inertia', 'node_names'"):
        load_modal(path)
    path.write_text("no archive", encoding="utf-8")
    with pytest.raises(FormatError, match=r"half\.npz: cannot be read"):
        load_modal(path)
    with pytest.raises(FormatError, match="no such file"):
        load_modal(tmp_path / "none.npz")
