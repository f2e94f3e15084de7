"""Files gone wrong: whatever is done to a native file, it is read or refused with an error of ours, with little work."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
import yaml
from benchmarks.fuzz.mutate_native import mutated
from benchmarks.fuzz.readers import native_accepted
from test_native import EXAMPLE
from test_native_mistakes import GOOD

import sharnir as sh
from native_models import CURVE, FORCES, WAVE, on_base
from sharnir.io.native.document import MAX_DEPTH, Document
from work import counted

ROUNDS, PER_ROUND = 24, 50
MOST = 5_000_000
"""Calls of functions that one file may cost."""


def forces() -> sh.Model:
    m = on_base("forces")
    for name, force in FORCES.items():
        m.add_force(force, name)
    return m


def joints() -> sh.Model:
    m = sh.Model("joints")
    kinds = [sh.CustomJoint(2, CURVE), sh.Ball(), sh.Universal(motion={"first": WAVE}), sh.Screw("x", pitch=0.1)]
    kinds += [sh.Compound({"a": sh.Revolute("x"), "b": (sh.Prismatic("y", limits=(-1.0, 1.0)), sh.Pose((1.0, 0.0, 0.0)))})]
    for k, kind in enumerate(kinds):
        m.add_body(f"b{k}", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1))
        m.add_joint(f"j{k}", kind, f"b{k - 1}" if k else "ground", f"b{k}")
    return m


SEEDS = [GOOD, EXAMPLE, sh.dumps(joints()), sh.dumps(forces()), sh.dumps(sh.samples.four_bar())]


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_mutations_are_read_or_refused(round_):
    refused = 0
    for k in range(PER_ROUND):
        rng = np.random.default_rng((round_, k))
        text = mutated(SEEDS[int(rng.integers(len(SEEDS)))], rng)
        with counted() as work:
            try:
                refused += not native_accepted(text)
            except BaseException as error:
                raise AssertionError(f"round {round_}, file {k}: {type(error).__name__}: {error}\n{text}") from error
        assert work.calls < MOST, f"round {round_}, file {k}"
    assert 0 < refused < PER_ROUND


def laughs(levels: int, width: int = 10) -> str:
    lines = ["x0: &x0 [1]"] + [f"x{k}: &x{k} [{', '.join([f'*x{k - 1}'] * width)}]" for k in range(1, levels)]
    return "\n".join(lines)


def chained(n: int) -> str:
    """Each part uses the one before it twice: 2ⁿ terms if it were written out."""
    parts = ", ".join(f"a{k}: a{k - 1}*a{k - 1} + 1" for k in range(1, n))
    motion = f"{{formula: a{n - 1}, where: {{a0: t, {parts}}}}}"
    return f"bodies: {{b: {{mass: 1}}}}\njoints: {{j: {{type: revolute, parent: ground, child: b, motion: {motion}}}}}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (laughs(12), "aliases expanded to more than 1000000 values"),
        (laughs(39, 1) + "\ny: [[[*x38]]]", "levels of nesting"),
        ("a: &a [*a]", "has no anchor"),
        ("a: &a {b: *a}", "has no anchor"),
        ("[" * 100_000, "levels"),
        ("{a: " * 100_000, "levels"),
        ("- " * 100_000, "levels"),
        ("".join("  " * k + "a:\n" for k in range(2000)), "levels"),
        ("bodies: !!python/object/apply:os.system ['true']", "the tag"),
        ("!!python/name:os.system x", "the tag"),
        ("bodies: !!map {}", "the tag"),
        ("name: !!binary aGVsbG8=", "the tag"),
        ("<<: {name: x}", "unknown field"),
        ("? [a, b]\n: 1", "a key must be a word"),
        ("name: a\n---\nname: b", "second document"),
        ("name: '" + "a" * 10_000_000, "malformed"),
        ("bodies: {" + ", ".join(f"b{k}: {{mass: 1, mess: 2}}" for k in range(5000)) + "}", "and 4990 more"),
        ("parameters: {a: " + "9" * 100_000 + "}", "expected a number"),
        ("parameters: {a: " + "(" * 5000 + "}", "expected a number"),
        ("parameters: {a: '" + "-" * 3900 + "1'}", "expected a number"),
        ("visuals: [{body: ground, kind: mesh, path: \"/etc/passwd\\0\"}]", "null characters"),
    ],
    ids=range(21),
)  # fmt: skip
def test_attacks_are_refused_at_once(text, says):
    with counted() as work, pytest.raises(sh.FormatError) as found:
        sh.loads(text, "f")
    assert says in str(found.value)
    assert work.calls < MOST


def test_formulas_share_their_parts():
    with counted() as work:
        assert sh.loads(chained(300)).nv == 0
    assert work.calls < MOST


def test_a_file_opens_no_other(monkeypatch, tmp_path):
    text = GOOD + "visuals: [{body: fore, kind: mesh, uri: 'file:///etc/passwd', path: /etc/passwd}]\n"
    (tmp_path / "m.yaml").write_text(text)
    sh.load(tmp_path / "m.yaml")  # so that every module is imported

    def refuse(*args, **kwargs):
        raise AssertionError(f"opened {args}")

    monkeypatch.setattr(builtins, "open", refuse)
    model = sh.loads(text)
    assert str(model.visuals[0].path) == "/etc/passwd"


def test_the_depth_that_is_allowed_is_enough_for_compounds():
    part = "{type: revolute, axis: x}"
    for _ in range((MAX_DEPTH - 4) // 2):
        part = f"{{type: compound, parts: {{a: {part}}}}}"
    text = f"bodies: {{b: {{mass: 1}}}}\njoints: {{j: {part[:-1]}, parent: ground, child: b}}}}"
    assert sh.loads(text).nv == 1


@pytest.mark.skipif(not hasattr(yaml, "CSafeLoader"), reason="PyYAML without libyaml")
@pytest.mark.parametrize("text", SEEDS)
def test_the_python_parser_reads_the_same(text, monkeypatch):
    import sharnir.io.native.document as document

    fast = Document(text, "f").data
    monkeypatch.setattr(document, "_LOADER", yaml.SafeLoader)
    assert repr(Document(text, "f").data) == repr(fast)
