"""Starts of closed mechanisms: what was asked for is held to the last digit, or refused with what is possible."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks import starts

import sharnir as sh
from loop_models import table_of
from sharnir.backends import sizes
from sharnir.equations.assembly import least_motion
from sharnir.viewer.build import position_of
from states import assert_close
from work import counted

S = sh.samples
EPS = float(np.finfo(float).eps)
FOUR = (0.5, 1.3, 0.9, 1.1)


def issue_crank(crank=0.1, rod=0.3):
    """A crank, a rod and a slider on the x axis, the pin of the slider cut."""
    m = sh.Model("slider-crank")
    for name in ("crank", "rod", "slider"):
        m.add_body(name, mass=1.0, inertia=(0.01, 0.01, 0.01))
    m.add_joint("A", sh.Revolute("z"), "ground", "crank")
    m.add_joint("B", sh.Revolute("z"), "crank", "rod", at=sh.Pose((crank, 0, 0)))
    m.add_joint("S", sh.Prismatic("x"), "ground", "slider")
    m.add_joint("C", sh.Revolute("z"), "rod", "slider", at=sh.Pose((rod, 0, 0)))
    return m


# --- every angle ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mechanism", [x for x in starts.mechanisms() if math.isinf(x.half)], ids=lambda x: x.name)
def test_every_angle_of_a_crank_is_held(mechanism):
    found = starts.held_at(mechanism, np.linspace(-math.pi, math.pi, 180, endpoint=False).tolist())
    assert (found.assembled, found.wrong) == (180, 0) and found.residual < 20 * EPS


@pytest.mark.parametrize("mechanism", [x for x in starts.mechanisms() if math.isfinite(x.half)], ids=lambda x: x.name)
def test_angles_out_of_reach_are_refused_with_the_range(mechanism):
    """Also close to its ends, as trigonometry gives them; `python -m benchmarks starts` tries 720 angles."""
    ends = [middle + side * mechanism.half for middle in mechanism.middles[:1] for side in (-1.0, 1.0)]
    angles = [0.3, -2.0, *(ends[k % 2] + off for k, off in enumerate((-1e-7, 1e-7, 1e-7, -1e-7)))]
    found = starts.held_at(mechanism, angles)
    assert found.wrong == found.unsaid == 0 and found.refused >= 2 and found.assembled >= 2
    assert found.ends < 1e-5 and found.residual < 1e-12  # six digits are shown


def test_a_simulation_starts_where_it_was_asked_to():
    m = issue_crank()
    r = sh.simulate(m, 1e-3, q0={"A": 1.0}, v0={"A": 3.0}, backend="python", output=1e-3)
    assert r.q[0, 0] == 1.0 and r.v[0, 0] == 3.0 and r.violation.max() < 1e-12
    expected = 0.1 * math.cos(1.0) + math.sqrt(0.09 - (0.1 * math.sin(1.0)) ** 2)
    assert_close(r.start.q, [1.0, -1.0 - math.asin(0.1 * math.sin(1.0) / 0.3), expected], 1e-12)
    assert set(r.start.moved) == {"B", "S"} and r.start.moved["S"] == pytest.approx(expected)
    assert "start       'A' held; to meet the constraints 'B' moved by -1.28, 'S' by 0.342; speeds changed: " in r.summary()
    assert r.start.held == ("A",) and (r.start.asked_q == [1.0, 0, 0]).all()


def test_guesses_that_contradict_each_other_are_refused():
    m = issue_crank()
    with pytest.raises(sh.AssemblyError, match=r"with A = 0.3 'S' can be .*0.394.* m, not 0.39; .*fixed=\[…\]"):
        sh.simulate(m, 1e-3, q0={"A": 0.3, "S": 0.39}, backend="python")
    r = sh.simulate(m, 1e-3, q0={"A": 0.3, "S": 0.39}, fixed=["S"], backend="python", output=1e-3)
    assert r.q[0, 2] == 0.39 and set(r.start.moved) == {"A", "B"}
    with pytest.raises(sh.AssemblyError, match=r"'C': position along . stays violated by .* m/s"):
        sh.simulate(m, 1e-3, q0={"A": 0.3}, v0={"A": 1.0, "S": 1.0}, backend="python")


def test_a_whole_position_is_held_or_refused_with_what_would_move():
    m = issue_crank()
    q, _ = m.assemble({"A": 0.4}, fixed=["A"])
    run = {"backend": "python", "output": 1e-3}
    assert not sh.simulate(m, 1e-3, q0=np.round(q, 7), **run).start.words  # seven digits of a file
    assert not sh.simulate(m, 1e-3, q0=dict(zip("ABS", np.round(q, 7), strict=True)), **run).start.words
    off = q + np.array([0.0, 0.01, 0.0])
    with pytest.raises(
        sh.AssemblyError, match=r"q0 does not close the loops: joint 'C': position along y is off by .*'B' .*nearest=True"
    ):
        sh.simulate(m, 1e-3, q0=off, **run)
    with pytest.raises(sh.AssemblyError, match="row 1: q0 does not close the loops"):
        sh.rollout(m, [q, off], step=1e-3, duration=2e-3)
    many = sh.rollout(m, [q, off], step=1e-3, duration=2e-3, fixed=["B"])
    assert (many.q[:, 0, 1] == [q[1], off[1]]).all()
    with pytest.raises(sh.AssemblyError, match=r"v0 does not meet the constraints: joint 'C': position along . changes by"):
        sh.simulate(m, 1e-3, q0=q, v0=[1.0, 0.0, 0.0], **run)
    r = sh.simulate(m, 1e-3, q0=q, v0=[1.0, 0.0, 0.0], fixed=["A"], **run)
    assert r.v[0, 0] == 1.0 and "speeds changed" in r.summary()


def test_what_is_named_is_held_by_every_question_and_moves_where_it_is_a_guess():
    """Assembled, simulated, stepped, linearized, drawn: the same start from the same words; an array is a guess to `assemble`."""
    m = issue_crank()
    named = m.coordinates({"A": 0.3, "B": -0.4})
    free = m.assemble(named)[0]
    assert abs(free[0] - 0.3) > 1e-3
    for nearest, first in ((False, 0.3), (True, free[0])):
        values = {"A": 0.3} if not nearest else {"A": 0.3, "B": -0.4}
        q, v = m.assemble(values, {"A": 2.0}, nearest=nearest)
        r = sh.simulate(m, 1e-3, q0=values, v0={"A": 2.0}, nearest=nearest, backend="python", output=1e-3)
        state = sh.Simulation(m, values, {"A": 2.0}, nearest=nearest, backend="python").state
        with pytest.warns(sh.LinearizationWarning):
            linear = sh.linearize(m, values, {"A": 2.0}, nearest=nearest)
        assert q[0] == pytest.approx(first, rel=0.0, abs=0.0 if not nearest else 1e-12) and (v[0] == 2.0) == (not nearest)
        for other in ((r.q[0], r.v[0]), (state.q, state.v), (linear.q, linear.v)):
            assert_close(np.concatenate(other), np.concatenate([q, v]), 1e-12, scale=1.0)
    assert position_of(m, {"A": 0.3})[0][0] == 0.3
    many = sh.rollout(m, named[None], step=1e-3, duration=1e-3, nearest=True)
    assert_close(many.q[0, 0], free, 1e-12, scale=1.0)
    with pytest.raises(sh.AssemblyError, match=r"held \('A', 'B'\): name what must stay, fixed=\[…\], or .* nearest=True"):
        m.assemble({"A": 0.3, "B": -0.4})


def test_a_guess_beside_what_is_held_chooses_the_branch():
    """A four-bar with its crank held: of two positions of the coupler the one that was named, whatever the rocker's guess."""
    m = S.four_bar(*FOUR)
    for angle in (-2.0, 0.9):
        ends = []
        for B in (2.0, -2.0):
            close = m.assemble(np.array([angle, B, math.copysign(1.5, B + angle)]), fixed=["A"])[0]
            for guess in (close[1] + 0.2, close[1] - 0.2):
                ends.append(m.assemble({"A": angle, "B": guess}, fixed=["A"])[0][1] - guess)
                both = sh.simulate(m, 1e-3, q0={"A": angle, "B": guess}, fixed=["A"], backend="python", output=1e-3).q[0]
                assert_close(both[1] - guess, ends[-1], 1e-12, scale=1.0)
        assert_close(np.abs(ends), np.full(4, 0.2), 1e-12)


def test_mechanisms_of_any_size_start_as_that_of_a_metre_does():
    """Residuals are judged by the size of their terms: gigametres are no reason to refuse, micrometres none to be content."""
    guess = {"q0": {"A": 1.3, "B": -1.0}, "v0": {"A": 2.0}, "fixed": ["A"]}
    expected = S.four_bar(*FOUR).assemble(**guess)
    for size in (1e-7, 1e9):
        m = S.four_bar(*(size * np.array(FOUR)))
        r = sh.simulate(m, 1e-6, **guess, backend="python", output=1e-6)
        for found in (m.assemble(**guess), (r.q[0], r.v[0])):
            assert_close(np.concatenate(found), np.concatenate(expected), 1e-12)
        d = sh.Dynamics(m, "composite", backend="python")
        with pytest.raises(sh.StateError, match="the loops are open in this position"):
            d.forward(dict(zip("ABC", expected[0] + [0.0, 1e-3, 0.0], strict=True)))
    with pytest.raises(sh.AssemblyError, match=r"stays violated by 3e-12 m;"):  # too long by a part in 100 000
        S.four_bar(1e-7, 1e-7, 1e-7, 3e-7 * (1.0 + 1e-5)).assemble()


def test_speeds_of_many_four_bars_in_series_are_found_to_rounding(monkeypatch):
    """Each hangs on the one before it and is nearly flat: one solution by JJᵀ loses half the digits."""
    monkeypatch.setattr(sizes, "DENSE_ROWS", 4)
    monkeypatch.setattr(least_motion, "DENSE", 4)
    n, angle = 40, 1e-4
    m, carrier = sh.Model("row"), "r0"
    m.add_body("r0", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("r0", sh.Revolute("z"), "ground", "r0")
    for k in range(1, n + 1):
        m.add_body(f"c{k}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        m.add_body(f"r{k}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        m.add_joint(f"b{k}", sh.Revolute("z"), carrier, f"c{k}", at=sh.Pose((1, 0, 0)))
        m.add_joint(f"d{k}", sh.Revolute("z"), f"c{k}", f"r{k}", at=sh.Pose((1, 0, 0)), child_at=sh.Pose((1, 0, 0)))
        m.add_joint(f"r{k}", sh.Revolute("z"), "ground", f"r{k}", at=sh.Pose((k, 0, 0)), cut=True)
        carrier = f"r{k}"
    names = m.q_names
    q = np.array([-angle if name[0] == "b" else angle for name in names])
    assert_close(m.assemble(q, {"r0": -1.0}, fixed=["r0"])[1], [1.0 if name[0] == "b" else -1.0 for name in names], 1e-8)


def test_a_start_is_in_the_file_of_its_run(tmp_path):
    r = sh.simulate(issue_crank(), 1e-3, q0={"A": 1.0}, backend="python", output=1e-3, save=tmp_path / "run.nc")
    again = sh.Result.load(tmp_path / "run.nc").start
    assert again.words == r.start.words and again.held == ("A",) and (again.asked_q == r.start.asked_q).all()


# --- what is held ---------------------------------------------------------------------------------------------------------------
def hanging_plate():
    """A floating plate on two rods: the height of its middle, and its turn, follow from where it is."""
    m = sh.Model("plate")
    m.add_body("plate", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_floating("plate")
    for side in (-0.5, 0.5):
        ends = {"at_a": (side, 0, 1), "at_b": (side, 0, 0), "length": 1.0}
        m.add_constraint(sh.Distance("ground", "plate", **ends), f"rod {side}")
    return m


def test_single_coordinates_of_a_free_joint_are_held():
    m = hanging_plate()
    q, v = m.assemble({"plate float.x": 0.3}, {"plate float.vz": 0.0}, fixed=["plate float.x", "plate float.y"])
    assert q[0] == 0.3 and q[1] == 0.0
    now = table_of(m).evaluate(q, v, 0.0)
    assert np.abs(now["g"]).max() < 20 * EPS and abs(np.linalg.norm(q[3:]) - 1.0) < 4 * EPS
    with pytest.raises(sh.AssemblyError, match=r"'plate float.x' can be between -1 and 1, not 1.2"):
        m.assemble({"plate float.x": 1.2}, fixed=["plate float.x"])
    with pytest.raises(
        sh.ModelError, match=r"'plate float.qx' is part of a quaternion, which is held as a whole: name its joint"
    ):
        m.assemble(fixed=["plate float.qx"])
    with pytest.raises(sh.ModelError, match="no joint 'plate' to hold fixed; did you mean 'plate float'"):
        m.assemble(fixed=["plate"])
    r = sh.simulate(m, 1e-3, q0={"plate float.x": 0.3}, backend="python", output=1e-3)
    assert r.q[0, 0] == 0.3


def test_a_joint_of_constraints_stays_on_them():
    """A point of a sphere at a given distance from another: |r| = 1 and the distance, both to rounding."""
    m = sh.Model("bead")
    m.add_body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1))
    sphere = sh.ConstraintFormula("x*x + y*y + z*z - 1")
    m.add_joint("sphere", sh.ConstraintJoint(sphere, start=sh.Pose((1, 0, 0))), "ground", "bead")
    m.add_constraint(sh.Distance("ground", "bead", at_a=(0, 0, 2.0), length=1.5), "string")
    q, _ = m.assemble()
    assert abs(q[:3] @ q[:3] - 1.0) < 1e-13 and abs(np.linalg.norm(q[:3] - [0, 0, 2]) - 1.5) < 1e-12
    with pytest.raises(sh.AssemblyError, match="cannot be assembled: constraint 'string': distance stays violated by"):
        m.assemble({"sphere": (1, 0, 0, 1, 0, 0, 0)}, fixed=["sphere"])
    with pytest.raises(sh.AssemblyError, match=r"'sphere.x' = 0.9 is no position of its joint, which is off"):
        m.assemble({"sphere": (0.9, 0, 0, 1, 0, 0, 0)}, fixed=["sphere"])


def test_what_is_held_comes_from_files_and_the_command_line(tmp_path, capsys, monkeypatch):
    from sharnir.cli.main import main

    m = S.four_bar(*FOUR)
    m.simulation = sh.SimulationSettings(duration=1e-3, q0={"A": 1.2, "B": -1.0}, fixed=("A",), backend="python")
    path = tmp_path / "bar.yaml"
    m.save(path)
    assert "fixed: [A]" in path.read_text() and sh.load(path).simulation == m.simulation
    for options, code, words in (
        ([], 0, "start       'A' held; to meet the constraints "),
        (["--fixed", "B"], 0, "start       'B' held; to meet the constraints "),
        (["--fixed", ""], 0, "start       to meet the constraints "),
        (["--fixed", "Z"], 2, "--fixed: no joint 'Z' to hold fixed"),
    ):
        monkeypatch.setattr("sys.argv", ["sharnir", "run", str(path), *options])
        with pytest.raises(SystemExit) as ended:
            main()
        out = capsys.readouterr()
        assert ended.value.code == code and words in out.out + out.err
    path.write_text(path.read_text().replace("fixed: [A]", "fixed: [A, D.angle, E]"))
    with pytest.raises(sh.ModelError, match=r"simulation.fixed.*no joint 'E'"):
        sh.load(path)


# --- positions that are hard ----------------------------------------------------------------------------------------------------
def test_straight_positions_stay_as_they_are():
    """A parallelogram laid flat, and a slider-crank at its dead centre: J has lost rank, the position closes."""
    flat = S.four_bar(1.0, 1.0, 1.0, 1.0)
    q, v = flat.assemble(np.zeros(3))
    assert not q.any() and not v.any()
    for speeds in ([1.0, -1.0, 1.0], [0.0, 1.0, 1.0]):  # all links turn, or the crank rests
        r = sh.simulate(flat, 1e-4, q0=np.zeros(3), v0=speeds, backend="python", output=1e-4, on_failure="return")
        assert not r.q[0].any() and (r.v[0] == speeds).all()
    m = issue_crank()
    q, v = m.assemble({"A": 0.0}, {"A": 2.0}, fixed=["A"])
    assert_close(q, [0.0, 0.0, 0.4], 4 * EPS)
    assert_close(v, [2.0, -2.0 * 0.4 / 0.3, 0.0], 1e-14)
    with pytest.raises(sh.AssemblyError, match="m/s"):  # the slider is no motor there
        m.assemble({"A": 0.0, "S": 0.4}, {"S": 1.0}, fixed=["S"])


def test_a_straight_chain_bends_to_close():
    """All links level and too long for the span: no small motion brings its ends nearer, and a way is found."""
    m = sh.Model("chain")
    for k in range(8):
        m.add_body(f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        m.add_joint(f"j{k}", sh.Revolute("z"), f"link{k - 1}" if k else "ground", f"link{k}", at=sh.Pose((float(k > 0), 0, 0)))
    m.add_joint("end", sh.Revolute("z"), "ground", "link7", at=sh.Pose((5, 0, 0)), child_at=sh.Pose((1, 0, 0)), cut=True)
    q, _ = m.assemble()
    assert np.abs(table_of(m).evaluate(q, np.zeros(8), 0.0)["g"]).max() < 50 * EPS and np.abs(q).max() < math.pi


def test_a_joint_does_not_close_at_half_a_turn():
    """A plate welded, or hinged, to the ground by a joint that is cut: turned over, its rows vanish too."""
    for joint, axis in ((sh.Weld(), "x"), (sh.Revolute("z"), "x"), (sh.Prismatic("z"), "y"), (sh.Planar(), "y")):
        m = sh.Model("turned")
        m.add_body("plate", mass=1.0, inertia=(0.1, 0.1, 0.1))
        m.add_joint("hinge", sh.Revolute(axis), "ground", "plate")
        m.add_joint("lock", joint, "ground", "plate", cut=True)
        q, _ = m.assemble({"hinge": 3.0}, nearest=True)
        assert_close(q % (2.0 * math.pi), [0.0], 1e-12, scale=1.0, what=type(joint).__name__)
        with pytest.raises(sh.AssemblyError, match=r"'lock' closes only at half a turn"):
            m.assemble({"hinge": math.pi}, fixed=["hinge"])


@pytest.mark.parametrize("seed", range(14))
def test_random_loops_close_from_a_guess_nearby(seed):
    """Chains of all joints closed by construction; `python -m benchmarks starts` takes 200 of them."""
    model, guess = starts.random_loop(seed, 0.5)
    left = starts.closed_from(model, guess)
    assert left is not None and left < 1e-12


def test_rows_may_be_sparse(monkeypatch):
    """Large models: the same position and speeds, JJᵀ factorized as a sparse matrix."""
    m = S.n_four_bar(6)
    q = m.coordinates(S.n_four_bar_start(6, angle=1.1)["q0"]) + 0.05 * np.random.default_rng(0).normal(size=m.nq)
    expected = m.assemble(q, {"foot0": 1.0}, fixed=["foot0"])
    monkeypatch.setattr(sizes, "DENSE_ROWS", 4)
    m = m.copy()  # its table is made anew
    monkeypatch.setattr(least_motion, "DENSE", 4)
    found = m.assemble(q, {"foot0": 1.0}, fixed=["foot0"])
    assert_close(found[0], expected[0], 1e-10, scale=1.0)
    assert_close(found[1], expected[1], 1e-8, scale=1.0)
    assert found[0][0] == q[0] and found[1][0] == 1.0


def test_a_further_assembly_traces_and_compiles_nothing():
    m = S.four_bar(*FOUR)
    m.assemble({"A": 1.3, "B": -1.0, "C": 1.5}, fixed=["A"])
    with counted() as work:
        m.assemble({"A": 1.3, "B": -1.0, "C": 1.5}, fixed=["A"])
    assert work.assembly == 0 and work.calls < 12_000  # 7 000: 0.6 ms on an idle machine


def test_a_position_by_name_with_open_loops_has_no_accelerations():
    """Arrays are taken as they are: differences are off the constraints on purpose."""
    m = S.four_bar(*FOUR)
    d = sh.Dynamics(m, "composite", backend="python")
    q, v = m.assemble({"A": 1.0}, fixed=["A"])
    expected = d.forward(q, v)
    assert_close(d.forward(dict(zip("ABC", q, strict=True))), expected, 1e-12)
    assert np.isfinite(d.forward(q + 1e-3, v)).all()
    for question in (d.forward, d.multipliers, d.solve, d.closing_reactions, d.reactions):
        with pytest.raises(
            sh.StateError, match=r"the loops are open in this position: joint 'D': position along . is off by .* m; ass"
        ):
            question({"A": 1.0})


def test_of_two_branches_the_nearer_to_the_guess_is_taken():
    """A four-bar at a given angle of its crank closes in two ways: coupler and rocker above their line of centres, or below."""
    m, (crank, coupler, rocker, base) = S.four_bar(*FOUR), FOUR
    rng = np.random.default_rng(1)
    for _ in range(40):
        angle, side = rng.uniform(-3.0, 3.0), rng.choice([-1.0, 1.0])
        tip = crank * np.array([math.cos(angle), math.sin(angle)])
        way = np.array([base, 0.0]) - tip
        length = np.linalg.norm(way)
        x = (coupler**2 - rocker**2 + length**2) / (2.0 * length)
        top = tip + x * way / length + side * math.sqrt(coupler**2 - x * x) * np.array([-way[1], way[0]]) / length
        B, C = (math.atan2(top[1] - p[1], top[0] - p[0]) for p in (tip, (base, 0.0)))
        guess = np.array([angle, B - angle, C]) + np.append(0.0, rng.uniform(-0.4, 0.4, 2))
        q, _ = m.assemble(guess, fixed=["A"])
        assert_close(q, [angle, B - angle, C], 1e-12, scale=1.0)


def test_an_empty_fixed_holds_nothing_speeds_neither():
    """Speeds that v0 names are the nearest that meet the constraints: those that a projection of the array gives."""
    m, named = sh.samples.four_bar(), {"A": 1.0, "B": 1.0}
    q, v = m.assemble(None, named, fixed=[])
    array = m.assemble(q, [1.0, 1.0, 0.0])[1]
    assert np.abs(v - array).max() < 1e-12 and abs(v[0] - 1.0) > 0.1
    r = sh.simulate(m, 0.01, v0=named, fixed=[])
    assert np.abs(r.v[0] - v).max() < 1e-12 and set(r.start.moved_speeds) >= {"A"}
    for fixed in (None, ["A"]):
        with pytest.raises(sh.AssemblyError, match="no accelerations meet the constraints"):
            m.assemble(None, named, fixed=fixed)
