"""The classification of a model: every form assembled as by hand, its cost as by brute force, its refusals with their reason."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.classification import classify as run
from sharnir.classification.elimination import Skeleton, blocks, eliminated, growth, skeleton
from sharnir.classification.report import power
from sharnir.forms.blocks import dense
from sharnir.programs.methods import METHODS
from states import assert_close

FORMS = ("extended", "lagrange1-full", "lagrange1", "lagrange2", "maggi")


@pytest.fixture(scope="module")
def chain() -> sh.Classification:
    model = sh.samples.chain(4, dof=1)
    rng = np.random.default_rng(2)
    return sh.classify(model, model.random_q(rng), rng.normal(size=4), 0.0, tau=rng.normal(size=4))


@pytest.fixture(scope="module")
def bricard() -> sh.Classification:
    return sh.classify(sh.samples.bricard())


# --- what is in it ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["chain", "bricard"])
def test_every_method_solves_one_form(name, request):
    c = request.getfixturevalue(name)
    assert sorted(use.name for node in c for use in node.methods) == sorted(METHODS)
    assert sum(use.auto for node in c for use in node.methods) == 1
    for use in METHODS:
        assert use in [one.name for one in c[use].methods]


def test_forms_are_found_by_name_equation_and_method(chain):
    assert chain["(3.10)"] is chain["lagrange1"] and chain["kosynka"].name == "kane"
    with pytest.raises(sh.MethodError, match=r"no form '\(3.11\)'; did you mean '\(3.12\)'"):
        chain["(3.11)"]
    assert [child.name for child in chain.root.children] == ["extended", "split"]
    assert repr(chain) == "Classification('chain of 4, 1 degree of freedom each', 11 of 13 forms fit)"


def test_matrices_are_those_one_assembles_oneself(chain):
    """(3.6) from its blocks; (3.8), (3.10), (3.12) as what elimination leaves of it; the mass matrix by a kernel."""
    m = chain["extended"].matrices
    N, n, rhs = 6 * m.N, m.n, chain["extended"].right
    whole = np.zeros((2 * N + n, 2 * N + n))
    for i in range(m.N):
        here = slice(6 * i, 6 * i + 6)
        whole[here, here] = np.tril(m.M_blocks[i])
        whole[N + 6 * i : N + 6 * i + 6, here] = -np.eye(6)
        whole[2 * N + i, N + 6 * i : N + 6 * i + 6] = m.A_blocks[i][:, 0]
        if m.k[i] >= 0:
            whole[N + 6 * i : N + 6 * i + 6, 6 * m.k[i] : 6 * m.k[i] + 6] = m.C[i]
    whole += np.tril(whole, -1).T
    assert_close(chain["(3.6)"].matrix, whole, 1e-14)
    x = np.linalg.solve(whole, rhs)
    R, qdd = x[N : 2 * N], x[2 * N :]
    full, short, second, maggi = (chain[name] for name in ("(3.8)", "(3.10)", "(3.12)", "maggi"))
    assert_close(np.linalg.solve(full.matrix, full.right)[:N], x[:N], 1e-10)
    assert_close(m.Z @ np.linalg.solve(short.matrix, short.right), R - m.A @ np.linalg.solve(m.A.T @ m.A, m.tau), 1e-10)
    assert_close(np.linalg.solve(second.matrix, second.right), qdd, 1e-10)
    assert_close(np.linalg.solve(maggi.matrix, maggi.right), x[:N], 1e-9)
    d = sh.Dynamics(chain.model, "kosynka", "python")
    assert_close(second.matrix, d.mass_matrix(m.q), 1e-12)
    assert_close(second.right, m.tau - d.bias(m.q, m.v_q), 1e-11)
    momentum = chain["momentum"]
    assert_close(np.linalg.solve(momentum.matrix, momentum.right)[2 * N :], m.v_q, 1e-11)


@pytest.mark.parametrize("name", ["bricard", "four_bar", "stewart", "slider_crank"])
def test_split_bodies_accelerate_as_cut_joints_do(name):
    model = getattr(sh.samples, name)()
    c = sh.classify(model, tau=np.linspace(0.5, 1.0, model.nv))
    cut, split = c["extended"], c["split"]
    x, y = (np.linalg.solve(dense(node.matrix), node.right)[12 * node.matrices.N :] for node in (cut, split))
    m, s = cut.matrices, split.matrices
    assert m.N + len(model.closing_joints) == s.N and split.size > cut.size
    for joint in (joint for joint in m.model.joints if joint.nv):
        here, there = (k.model.v_slice(joint.name) for k in (m, s))
        assert_close(y[there], x[here], 1e-8, what=joint.name, scale=np.abs(x[: m.n]).max())


def test_quasi_velocities_of_ones_own():
    c = sh.classify(sh.samples.four_bar(), quasi_velocities=lambda on: on.v("B") + 2.0 * on.v("A"))
    node, m = c["quasi-velocities"], c["extended"].matrices
    assert node.fits and node.unknowns == (("π̇", 1),) and node.matrix.shape == (1, 1)
    x = np.linalg.solve(dense(c["extended"].matrix), c["extended"].right)[12 * m.N :]
    a, b = (m.model.v_slice(name).start for name in "AB")
    assert_close(node.right / node.matrix[0, 0], [x[b] + 2.0 * x[a]], 1e-9)


# --- what it costs ------------------------------------------------------------------------------------------------------------
def brute_force(form: str, s: Skeleton) -> tuple[int, int, int]:
    """Entries, fill-in and multiplications of a factorisation, number by number."""
    sizes, meets = blocks(form, s)
    N = len(s.carriers)
    order = sorted(range(len(sizes)), key=lambda v: -v if v < N else 0.5 - min(s.loops[v - N][0]))
    first = np.cumsum([0, *sizes])
    full = np.zeros((first[-1], first[-1]), dtype=bool)
    for v, near in enumerate(meets):
        for u in {v, *near}:
            full[first[v] : first[v + 1], first[u] : first[u + 1]] = full[first[u] : first[u + 1], first[v] : first[v + 1]] = True
    where = np.concatenate([np.arange(first[v], first[v + 1]) for v in order])
    full = full[np.ix_(where, where)]
    before, multiplications = full.copy(), 0
    for k in range(len(full)):
        below = k + 1 + np.flatnonzero(full[k + 1 :, k])
        full[np.ix_(below, below)] = True
        multiplications += len(below) * (len(below) + 1) // 2
    return int(np.tril(full).sum()), int(np.tril(full & ~before).sum()), multiplications


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["chain", "tree", "stewart", "andrews", "planetary_gear"])
def test_the_cost_by_structure_is_that_of_elimination_number_by_number(form, name):
    model = {"chain": lambda: sh.samples.chain(5), "tree": lambda: sh.samples.tree(9, branching=2.0, seed=3)}.get(
        name, getattr(sh.samples, name)
    )()
    s = skeleton(model)
    for copies in (1, 2):
        assert tuple(eliminated(form, s.repeated(copies))) == brute_force(form, s.repeated(copies))


@pytest.mark.parametrize("form", ["lagrange1", "lagrange1-full", "extended", "lagrange2"])
@pytest.mark.parametrize("name", ["tree", "stewart", "bricard"])
def test_numbers_stand_only_where_blocks_meet(form, name):
    model = sh.samples.tree(9, branching=2.0, seed=3) if name == "tree" else getattr(sh.samples, name)()
    start = model.assemble() if model.constraints else (model.random_q(1), np.ones(model.nv))
    node, s = sh.classify(model, *start)[form], skeleton(model)
    _, meets = blocks(form, s)
    N, owner = len(s.carriers), [of for _, of in node.labels]
    together = {frozenset((v, u)) for v, near in enumerate(meets) for u in near}
    felt = {i for near in meets[N:] for i in near}  # by some constraint
    rows, columns, values = node.entries
    for i, j in zip(rows[np.abs(values) > 1e-12], columns[np.abs(values) > 1e-12], strict=True):
        a, b = owner[i], owner[j]
        inside = max(a, b) == N and (min(a, b) == N or min(a, b) in felt)
        assert a == b or inside or frozenset((a, b)) in together, (node.labels[i], node.labels[j])


def test_growth_is_that_of_the_papers():
    """[I] §4: linear for (3.6), (3.8), (3.10) and separate bodies; squares and cubes for (3.12) of a chain."""
    s = skeleton(sh.samples.chain(20))
    for form, expected in (("extended", ("N", "N")), ("lagrange1-full", ("N", "N")), ("lagrange1", ("N", "N"))):
        assert tuple(map(power, growth(form, s))) == expected
    assert tuple(map(power, growth("lagrange2", s))) == ("N²", "N³")
    assert tuple(eliminated("lagrange2", s)) == (210, 0, 20 * 19 * 21 // 6)
    assert growth("extended", skeleton(sh.samples.chain(300))) is None


def test_the_matrix_of_multipliers_is_banded(chain):
    node = chain["(3.10)"]
    assert node.band <= 9 < chain["(3.12)"].size * 6
    assert node.nonzeros == np.count_nonzero(node.matrix) < 20 * 20


# --- what does not fit --------------------------------------------------------------------------------------------------------
def test_a_form_that_a_model_cannot_have_says_which_property_forbids_it(chain, bricard):
    assert "is a tree: S is square" in chain["split"].why_not
    assert "no quasi-velocities were given" in chain["quasi-velocities"].why_not
    assert (
        "only 4 of the 5 rows of its cut joints are independent" in bricard["graph"].why_not
        and bricard["graph"].matrix is not None
    )
    assert "model 'Bricard' has constraints" in bricard["momentum"].why_not and bricard["momentum"].matrix is None
    arm = sh.classify(sh.samples.flexible_pendulum())
    assert "body 'beam' is flexible" in arm["(3.8)"].why_not and "body 'beam' is flexible" in arm["maggi"].why_not
    assert arm["extended"].fits and arm["composite"].fits and arm["extended"].size == 12 * 4 + arm.model.nv
    bar = sh.classify(sh.samples.four_bar())
    assert "body 'crank' has no inertia about some axis" in bar["(3.10)"].why_not and bar["(3.8)"].fits
    still = sh.Model("still")
    still.add_body("block", mass=1.0)
    still.add_joint("glue", sh.Weld(), "ground", "block")
    with pytest.raises(sh.ModelError, match="no degree of freedom"):
        sh.classify(still)
    with pytest.raises(sh.ModelError, match="classify needs a"):
        sh.classify("crane")


def test_the_model_of_the_caller_is_not_frozen():
    model = sh.samples.pendulum()
    sh.classify(model)
    model.add_body("more", mass=1.0)


def test_measured_times_are_those_of_compare(monkeypatch):
    monkeypatch.setattr(run, "compare", lambda m, names, rounds: sh.compare(m, names, ["python"], rounds=1, states=1, batch=2))
    c = sh.classify(sh.samples.pendulum(), measure=True)
    timed = {use.name: use.measured for node in c for use in node.methods if use.measured}
    assert timed == {row.method: row.time("single") for row in c.comparison.rows if row.ok} and "separate" in timed
    assert "measured" in str(c)


# --- how it is shown ----------------------------------------------------------------------------------------------------------
def test_the_text_is_the_tree_with_its_numbers(chain, bricard):
    text = str(chain)
    words = (
        "(3.6)",
        "(3.8)",
        "(3.10)",
        "(3.12)",
        "method separate",
        "v̇ (24) R (24) q̈ (4)",
        "∝ N",
        "predicted",
        "choice of method=",
    )
    for word in words:
        assert word in text
    assert "does not handle closed loops" in str(bricard) and "λ_c (4)" in str(bricard)
    assert chain._repr_html_().startswith("<pre>chain of 4")


def test_the_command(command, tmp_path):
    file, page = tmp_path / "bar.yaml", tmp_path / "forms.html"
    sh.samples.four_bar().save(file)
    code, out, err = command("classify", file, "--at", "A=0.4", "--html", str(page))
    assert not code and not err and "Multipliers alone (3.10)" in out and out.endswith(f"written: {page}\n")
    assert page.stat().st_size > 20_000
    code, out, err = command("classify", file, "--at", "Q=0.4", "-q")
    assert code == 2 and "no joint 'Q'" in err


@pytest.mark.browser
@pytest.mark.parametrize(
    ("size", "touch", "dark"), [((1280, 800), False, False), ((390, 844), True, True)], ids=["desk", "phone, dark"]
)
def test_a_browser_shows_the_tree_and_the_numbers_of_each_matrix(bricard, tmp_path, open_page, size, touch, dark):
    page = bricard.report(tmp_path / "forms.html")
    opened = open_page(page, size=size, touch=touch, dark=dark)
    assert opened.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert opened.locator("section[data-form]:not([hidden])").get_attribute("data-form") == "extended"
    for node in bricard:
        opened.locator(f"nav a[data-form='{node.name}']").click()
        shown = opened.locator("section[data-form]:not([hidden])")
        assert shown.get_attribute("data-form") == node.name
        assert (shown.locator("canvas").count() == 1) == (node.matrix is not None)
        assert not node.why_not or node.why_not in shown.inner_text()
    opened.locator("nav a[data-form='lagrange2']").click()
    canvas = opened.locator("section:not([hidden]) canvas")
    seen = canvas.evaluate("c => c.seen")
    middle = dict.fromkeys(("x", "y"), seen["head"] + 0.5 * seen["cell"])
    canvas.click(position=middle)
    value = opened.locator("section:not([hidden]) .value").inner_text()
    label, _, number = value.rpartition(": ")
    assert label == "row of q̈ hinge1, column of q̈ hinge1"
    assert_close(float(number), bricard["lagrange2"].matrix[0, 0], 1e-3)
