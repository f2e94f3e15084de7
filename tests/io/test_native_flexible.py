"""Flexible bodies in files: read and written to the last bit, mistakes by line and field, archives inside the package only."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.fuzz.mutate_native import mutated
from benchmarks.fuzz.readers import native_accepted
from test_native import DOCS
from test_native_schema import SCHEMA, fits

import sharnir as sh
from native_flexible_models import FLEXIBLE, LUMPED, METAL, SMALL, arm
from native_models import assert_same
from sharnir.io.native.document import Document
from sharnir.io.paths import kept_within

GOOD = """\
bodies:
  arm:
    flexible:
      type: beam
      length: 1.0
      E: 7e10
      G: 2.6e10
      density: 2700
      section: {type: tube, outer: 0.02, inner: 0.015}
      modes: {bend_y: 1, bend_z: 2}
      damping: 0.02
  hand: {mass: 1, inertia: [1e-3, 1e-3, 1e-3]}
joints:
  shoulder: {type: revolute, axis: y, parent: ground, child: arm}
  wrist: {type: revolute, axis: y, parent: arm, child: hand, at: [1, 0, 0]}
simulation: {duration: 0.02, q0: {arm elastic: [0, 0.01, 0]}, v0: {arm elastic.bend_z2: 1}}
"""
ARCHIVE = """\
bodies:
  arm: {flexible: {type: modal, file: FILE}}
joints:
  j: {type: revolute, parent: ground, child: arm, child_at: PLACE}
""".replace("PLACE", str(list(LUMPED.nodes["n1"])))


def again(model: sh.Model) -> sh.Model:
    text = sh.dumps(model)
    assert "arm elastic:" not in text.partition("simulation:")[0]
    found = sh.loads(text)
    assert sh.dumps(found) == text
    return found


@pytest.mark.parametrize("name", FLEXIBLE)
def test_a_flexible_body_comes_back_to_the_last_bit(name):
    model = arm(FLEXIBLE[name])
    found = again(model)
    assert found.parts.bodies[1].flexible == FLEXIBLE[name]
    assert_same(model, found)
    assert found.simulation == model.simulation and fits(Document(sh.dumps(model), "f").data, SCHEMA)


def test_integrals_come_back_to_the_last_bit(tmp_path):
    LUMPED.save(tmp_path / "arm.npz")
    whole = sh.load_modal(tmp_path / "arm.npz")
    model = arm(whole)
    assert "integrals:" in sh.dumps(model) and "mass_matrix:" not in sh.dumps(model)
    assert_same(model, again(model))
    integrals = LUMPED.rooted(LUMPED.nodes["n0"]).integrals
    matrix = np.einsum("klii->kl", integrals.product)
    integrals = replace(integrals, mass_matrix=np.nextafter(matrix, np.inf))  # not the trace of the product, by the last bit
    model = arm(LUMPED.replaced(integrals=integrals, modal_mass=integrals.mass_matrix, node_mass=None))
    assert "mass_matrix:" in sh.dumps(model) and fits(Document(sh.dumps(model), "f").data, SCHEMA)
    assert_same(model, again(model))


def test_a_body_without_modes_is_rigid_and_comes_back():
    m = sh.Model("rigid")
    m.add_body("arm", flexible=sh.FlexibleBeam(**METAL, modes=0))
    m.add_joint("j", sh.Revolute("y"), "ground", "arm")
    assert m.nv == 1 and repr(m) == "<Model 'rigid': 1 body, 1 joint, 1 degree of freedom>"
    assert_same(m, again(m))


# --- archives ---------------------------------------------------------------------------------------------------------------
def test_an_archive_is_read_beside_the_file_with_damping_in_its_place(tmp_path):
    LUMPED.save(tmp_path / "arm.npz")
    path = tmp_path / "m.yaml"
    path.write_text(ARCHIVE.replace("FILE", "arm.npz, damping: [0.1, 0.2]"))
    found = sh.load(path)
    assert found.parts.bodies[0].flexible.damping == (0.1, 0.2) and fits(Document(path.read_text(), "f").data, SCHEMA)
    path.write_text(ARCHIVE.replace("FILE", "arm.npz"))
    found = sh.load(path)
    q, v = found.random_q(0), np.ones(found.nv)
    direct = sh.Model("model")
    direct.add_body("arm", flexible=LUMPED)
    direct.add_joint("j", sh.Revolute("z"), "ground", "arm", child_at=sh.Pose(LUMPED.nodes["n1"]))
    a, b = (sh.Dynamics(m, backend="python").forward(q, v) for m in (found, direct))
    assert a == pytest.approx(b, rel=1e-10)
    found.save(tmp_path / "inline.yaml")  # what is saved stands on its own
    (tmp_path / "arm.npz").unlink()
    assert_same(found, sh.load(tmp_path / "inline.yaml"))


def test_archives_are_opened_in_the_package_or_in_declared_folders_only(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    LUMPED.save(outside / "arm.npz")
    home = tmp_path / "package"
    home.mkdir()
    os.symlink(outside / "arm.npz", home / "link.npz")
    path = home / "m.yaml"
    for name in ("../outside/arm.npz", str(outside / "arm.npz"), "link.npz", f"file://{outside}/arm.npz"):
        path.write_text(ARCHIVE.replace("FILE", f"'{name}'"))
        with pytest.raises(sh.FormatError, match=r"m\.yaml:2: bodies\.arm\.flexible\.file: .*leads out of the model's package"):
            sh.load(path)
        assert sh.load(path, package_paths=outside).nv == 3
        with kept_within(home), pytest.raises(sh.FormatError, match="leads out"):  # as in the studio
            sh.load(path, package_paths=outside)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none.npz", "there is no such file"),
        ("half.npz", "cannot be read as an archive of arrays"),
        ("other.npz", "not a modal body: it has no 'mass'"),
        ("words.npz", "K has values of type <U1"),
        ("endless.npz", "linear has numbers that are not finite"),
        ("arm.txt", "name the file arm.npz"),
    ],
)
def test_archives_that_are_none_are_told_by_line_and_field(name, says, tmp_path):
    LUMPED.save(tmp_path / "arm.npz")
    data = dict(np.load(tmp_path / "arm.npz"))
    (tmp_path / "half.npz").write_bytes((tmp_path / "arm.npz").read_bytes()[:300])
    np.savez(tmp_path / "other.npz", x=1.0)
    np.savez(tmp_path / "words.npz", **data | {"K": np.array("x")})
    np.savez(tmp_path / "endless.npz", **data | {"linear": np.full((2, 3), np.inf)})
    (tmp_path / "arm.txt").write_text("")
    (tmp_path / "m.yaml").write_text(ARCHIVE.replace("FILE", name))
    with pytest.raises(sh.FormatError) as found:
        sh.load(tmp_path / "m.yaml")
    assert "m.yaml:2: bodies.arm.flexible.file: " in str(found.value) and says in str(found.value)


def test_damaged_archives_are_read_or_refused(tmp_path):
    LUMPED.save(tmp_path / "arm.npz")
    data, refused = (tmp_path / "arm.npz").read_bytes(), 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        damaged = bytearray(data)
        for k in rng.integers(len(data), size=4).tolist():
            damaged[k] = int(rng.integers(256))
        (tmp_path / "damaged.npz").write_bytes(damaged)
        try:
            sh.load_modal(tmp_path / "damaged.npz")
        except sh.FormatError as error:
            refused += "damaged.npz: " in str(error)
    assert 100 < refused < 300


def test_a_text_opens_no_archive():
    with pytest.raises(sh.FormatError, match=r"f:2: bodies\.arm\.flexible\.file: a text has no folder"):
        sh.loads(ARCHIVE.replace("FILE", "arm.npz"), "f")


def test_an_archive_that_is_too_large_is_not_unpacked(tmp_path, monkeypatch):
    from sharnir.model.flexible import archive

    LUMPED.save(tmp_path / "arm.npz")
    monkeypatch.setattr(archive, "LARGEST", 1000)
    with pytest.raises(sh.FormatError, match="more than 1e-06 GB"):
        sh.load_modal(tmp_path / "arm.npz")


# --- mistakes ---------------------------------------------------------------------------------------------------------------
MISTAKES = [
    ("E: 7e10", "E: -1", "6: bodies.arm.flexible.E: expected a number above 0, got -1"),
    ("E: 7e10", "Y: 7e10", "6: bodies.arm.flexible.Y: unknown field; the fields here are 'type', 'length', 'E'"),
    ("      E: 7e10\n", "", "3: bodies.arm.flexible.E: this field is missing: Young's modulus"),
    ("type: beam", "type: beem", "4: bodies.arm.flexible.type: unknown type 'beem'; did you mean 'beam'?"),
    ("type: tube", "type: pipe", "9: bodies.arm.flexible.section.type: unknown type 'pipe'; the types are 'rectangle', 'circle'"),
    ("outer: 0.02", "outer: x", "9: bodies.arm.flexible.section.outer: expected a number, got 'x'"),
    ("inner: 0.015", "inner: 0.03", "9: bodies.arm.flexible.section: tube: the inner radius (0.03) must be smaller"),
    ("bend_z: 2", "bend_x: 2", "10: bodies.arm.flexible.modes: unknown family 'bend_x'; there are bend_y, bend_z"),
    ("bend_z: 2", "bend_z: 2.5", "10: bodies.arm.flexible.modes.bend_z: expected a whole number"),
    ("damping: 0.02", "damping: [0.1, 0.2]", "3: bodies.arm.flexible: beam: damping has 2 numbers for 3 modes"),
    ("E: 7e10", "E: 2*parameter.k", "6: bodies.arm.flexible.E: a flexible body cannot depend on a parameter"),
    ("    flexible:\n", "    mass: 1\n    flexible:\n", "2: bodies.arm: a flexible body has its mass, centre and inertia from"),
    ("at: [1, 0, 0]", "at: [2, 0, 0]", "15: joints.wrist.at: body 'arm': beam: the point at x = 2 m is not on the beam"),
    ("at: [1, 0, 0]", "at: [parameter.k, 0, 0]", "15: joints.wrist.at: its place on the flexible body 'arm' cannot depend on a"),
    ("parent: arm", "parent: arm elastic", "15: joints.wrist.parent: 'arm elastic' is the deformation of body 'arm'"),
    ("bend_z2: 1", "bend_z3: 1", "16: simulation.v0.arm elastic.bend_z3: no joint 'arm elastic.bend_z3'"),
    ("[0, 0.01, 0]", "[0, 0.01]", "16: simulation.q0.arm elastic: expected 3 numbers, got 2"),
    ("  hand:", "  arm elastic:", "12: bodies.arm elastic: there is a body 'arm elastic' already; names must differ"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "says"), MISTAKES)
def test_mistakes_are_told_by_line_and_field(old, new, says):
    head = "parameters: {k: 1.0}\n" if "parameter" in new else ""
    with pytest.raises(sh.FormatError) as found:
        sh.loads(GOOD.replace(old, new, 1) + head, "f")
    assert f"f:{says}" in str(found.value)


MODAL = sh.dumps(arm(sh.ModalBody(**SMALL)))
LUMPS = "node_mass: {root: 1.0, tip: 1.0}"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("frequencies: [33.3", "frequencies: [-33.3", "flexible.frequencies[0]: expected a number above 0"),
        ("[-1.5]", "[x]", "flexible.modes.tip[4][0]: expected a number, got 'x'"),
        ("[-1.5]", "[-1.5, 2]", "flexible.modes.tip[4]: expected rows of equal length, got 2 numbers after 1"),
        ("tip: [1.0, 0.0, 0.0]", "top: [1.0, 0.0, 0.0]", "flexible: modal: nodes and modes must have the same names"),
        (
            LUMPS,
            "node_mass: {root: 1.0, tip: 2.0}",
            "flexible: modal: the masses of the nodes sum to 3 kg",
        ),
        (
            LUMPS,
            "integrals: {linear: [[1]], first: 1}",
            "flexible.integrals.first: expected a list, got 1",
        ),
        (
            LUMPS,
            "integrals: {linear: [[0, 0, 1]], first: [[[0, 0]]], product: [[[[0]]]]}",
            "flexible.integrals.first: expected 1×3×3 numbers, got 1×1×2",
        ),
        ("mass: 2.0\n", "mass: 2.0\n      modal_mass: [0]\n", "mode 1 has no mass above 0; give modal_mass"),
        ("child_at: tip", "child_at: [0.5, 0, 0]", "joints.wrist.child_at: body 'arm': modal: no node at (0.5, 0.0, 0.0)"),
    ],
)
def test_mistakes_in_modal_bodies_are_told_by_field(old, new, says):
    assert old in MODAL
    with pytest.raises(sh.FormatError) as found:
        sh.loads(MODAL.replace(old, new, 1), "f")
    assert says in str(found.value)


@pytest.mark.parametrize("absurd", [{"length": 1e-300}, {"density": 1e-320}, {"section": sh.Circle(1e-100)}])
def test_beams_beyond_floating_point_are_refused(absurd):
    with pytest.raises(sh.ModelError, match=r"beyond floating point.*are all numbers in SI units"):
        arm(sh.FlexibleBeam(**METAL | absurd)).freeze()


def test_what_files_have_no_words_for_is_refused_by_name():
    class Square(sh.Rectangle):
        pass

    class Rod(sh.FlexibleBeam):
        pass

    def written(flexible: sh.FlexibleBeam) -> str:
        return sh.dumps(arm(flexible))

    with pytest.raises(
        sh.FormatError, match=r"'arm': section: a class of your own \(Square\) cannot be written; there are sharnir"
    ):
        written(sh.FlexibleBeam(**METAL | {"section": Square(0.1, 0.1)}))
    with pytest.raises(sh.FormatError, match=r"body 'arm': a flexible class of your own \(Rod\) cannot be written"):
        written(Rod(**METAL))


def test_a_modal_body_that_is_too_large_for_a_text_is_refused_with_the_remedy(monkeypatch):
    from sharnir.io.native import write

    monkeypatch.setattr(write, "MAX_NODES", 30)
    with pytest.raises(sh.FormatError, match=r"body 'arm': \d+ numbers are too many for a text; keep it in an archive"):
        sh.dumps(arm(LUMPED))


SEEDS = [GOOD, MODAL, sh.dumps(arm(FLEXIBLE["beam of families"]))]


def test_mutations_are_read_or_refused():
    refused = 0
    for k in range(150):
        rng = np.random.default_rng((7, k))
        text = mutated(SEEDS[k % len(SEEDS)], rng)
        try:
            refused += not native_accepted(text)
        except BaseException as error:
            raise AssertionError(f"file {k}: {type(error).__name__}: {error}\n{text}") from error
    assert 0 < refused < 150


# --- elsewhere ----------------------------------------------------------------------------------------------------------------
def test_commands_show_it_in_words_and_move_it(command, tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(GOOD)
    code, out, err = command("inspect", path)
    assert code == 0 and not err and "elastic" not in out and "no mass" not in out
    held = sh.loads(GOOD).parts.bodies[0].flexible.frequencies / (2 * np.pi)
    first = ", ".join(f"{x:.4g}" for x in sorted(held))
    modes = "flexible: beam of 1 m, section tube; 3 modes (bend_y1, bend_z1, bend_z2)"
    assert f"{modes}; {first} Hz where it is held at its root" in out
    assert "2 bodies (1 flexible), 5 degrees of freedom" in out
    data = json.loads(command("inspect", path, "--json")[1])
    assert [b["name"] for b in data["bodies"]] == ["arm", "hand"]
    shown = data["bodies"][0]["flexible"]
    assert shown["coordinates"] == [f"arm elastic.{x}" for x in ("bend_y1", "bend_z1", "bend_z2")]
    assert shown["held_frequencies"] == pytest.approx(sorted(held), rel=1e-9)
    code, out, _ = command("run", path, "-o", tmp_path / "arm.nc")
    assert code == 0 and "2 bodies (1 flexible)" in out and "arm elastic.bend_z1" in out
    assert sh.Result.load(tmp_path / "arm.nc").model.parts.bodies[0].flexible == sh.loads(GOOD).parts.bodies[0].flexible
    hold = ("--hold", "shoulder=0", "--hold", "wrist=0")
    code, out, _ = command("equilibrium", path, *hold, "--json")
    assert code == 0 and json.loads(out)["q"]["arm elastic.bend_z1"] < 0.0
    code, out, _ = command("modes", path, "--json", "--at", "shoulder=1.5707963267948966")
    assert code == 0 and any("arm elastic.bend_y1" in mode["moves"] for mode in json.loads(out)["modes"])


def test_urdf_refuses_it_by_name_with_the_remedy(tmp_path):
    with pytest.raises(sh.FormatError, match=r"body 'arm' is flexible; URDF has rigid bodies only\. Save as \.yaml"):
        sh.loads(GOOD).save(tmp_path / "arm.urdf")
    assert not (tmp_path / "arm.urdf").exists()


@pytest.mark.parametrize("path", ["arm.E", "arm.mass", "arm.flexible.length", "arm elastic.damping", "arm elastic.at.x"])
def test_its_numbers_cannot_be_parameters(path):
    model = sh.loads(GOOD)
    with pytest.raises(
        sh.ModelError, match=f"'{path}': body 'arm' is flexible, and its numbers cannot be parameters.*build a model"
    ):
        model.make_parameter(path)
    with pytest.raises(sh.ModelError, match="joint 'wrist': its place on the flexible body 'arm' cannot depend on a parameter"):
        model.make_parameter("wrist.at.x")
    assert not model.parameters
    model.make_parameter("hand.mass")  # as of any other body


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m.add_frame("f", "arm elastic", sh.Pose()),
        lambda m: m.add_visual("arm elastic", sh.Sphere(0.1)),
        lambda m: m.add_force(sh.Wrench("arm elastic", (1.0, 0.0, 0.0))),
    ],
)
def test_the_row_of_its_deformation_is_no_body_to_attach_to(use):
    with pytest.raises(sh.ModelError, match="'arm elastic' is the deformation of body 'arm'; name 'arm' itself"):
        use(sh.loads(GOOD))


def test_the_example_of_the_documents_is_a_model():
    page = (DOCS / "native_format.md").read_text(encoding="utf-8")
    text = page.partition("## Flexible bodies")[2].partition("```yaml\n")[2].partition("```")[0]
    model = sh.loads(text)
    assert model.nv == 6 and fits(Document(text, "f").data, SCHEMA)
    assert_same(model, sh.loads(sh.dumps(model)))
