"""Files gone wrong: whatever is done to a native file, it is read or refused with an error of ours, soon."""

from __future__ import annotations

import builtins
import contextlib
import time
from copy import deepcopy

import numpy as np
import pytest
import yaml

import sharnir as sh
from native_models import CURVE, FORCES, WAVE, on_base
from sharnir.io.native.document import MAX_DEPTH, Document
from sharnir.io.native.emit import emit
from test_native import EXAMPLE
from test_native_mistakes import GOOD

ROUNDS, PER_ROUND = 24, 50
SLOWEST = 8.0
"""Seconds for one file, on a busy machine."""


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
VALUES = [
    None, True, False, 0, -1, 1, 7, 1e308, -1e308, 1e-320, float("nan"), float("inf"), 10**30, "", " ", "x", "t", "ground", "nan",
    "1e400", "9**9**9", "t**t**t", "1/0", "log(-1)", "sin(t", "q.elbow", "__import__('os').system('true')", "../x", "/etc/passwd",
    "a" * 3000, "\u202e", "\0", [], {}, [0, 0, 0], [1, 0, 0], [0, 0, 0, 0], [[1]], [1, 2, 3, 4, 5, 6], [None], ["t", 0, 0],
    {"type": "revolute"}, {"formula": "t"}, {"turns": [{"axis": "x", "angle": "t"}]}, {"x": {"y": {"z": 1}}}, "revolute", "free",
    "weld", "wrench", {"quaternion": [0, 0, 0, 0]}, {"quaternion": ["t", 0, 0, 0]}, -0.0, "z", 2, 6, "1e-3", "pi",
]  # fmt: skip
SCRAPS = ["{", "}", "[", "]", ": ", "- ", "&a ", "*a", "!!python/object:os.system ", "!x ", "|\n", ">\n", "? ", "---\n", "...\n",
          "%YAML 1.1\n", "\t", '"', "'", "#", "\n\n", "<<: *a\n", "\ufeff", "\x07", "\u2028", "@", "`", ","]  # fmt: skip


def mutated(text: str, rng: np.random.Generator) -> str:
    """One to three blows: mostly to keys and values, so that some pass as models, else to the characters."""
    blows = int(rng.integers(1, 4))
    if rng.random() < 0.75:
        data = deepcopy(Document(text, "seed").data)
        for _ in range(blows):
            _bend(data, rng)
        return emit(data)
    for _ in range(blows):
        text = _break(text, rng)
    return text


def _places(data, found=None):
    found = [] if found is None else found
    for key in data if isinstance(data, dict) else range(len(data)):
        found.append((data, key))
        if isinstance(data[key], (dict, list)):
            _places(data[key], found)
    return found


def _bend(data, rng) -> None:
    """Another value, a key less, more or renamed, an entry moved elsewhere."""
    places = _places(data)
    if not places:
        return
    (one, key), (two, other) = (places[int(k)] for k in rng.integers(len(places), size=2))
    kind = rng.integers(6)
    if kind <= 1:
        one[key] = VALUES[int(rng.integers(len(VALUES)))]
    elif kind == 2:
        del one[key]
    elif kind == 3 and isinstance(one, dict):
        items = [(str(other) if k == key else k, v) for k, v in one.items()]
        one.clear()
        one.update(items)
    elif kind == 4:
        one[key] = deepcopy(two[other])
    elif isinstance(one, dict):
        one[str(other)] = deepcopy(two[other])


def _break(text: str, rng) -> str:
    at, kind = int(rng.integers(len(text) + 1)), rng.integers(5)
    if kind == 0:
        return text[:at] + SCRAPS[int(rng.integers(len(SCRAPS)))] + text[at:]
    if kind == 1:
        return text[:at] + text[at + int(rng.integers(40)) :]
    if kind == 2:
        return text[:at] + text[at : at + 200] + text[at:]
    return text[:at] + chr(int(rng.integers(1, 400))) + text[at + 1 :] if kind == 3 else text[:at]


def accepted(text: str) -> bool:
    """Whether it passes as a model. What does is written and read again, and may be frozen or refused then."""
    try:
        model = sh.loads(text, "fuzz.yaml")
    except sh.FormatError as error:
        if not str(error).startswith("fuzz.yaml:"):
            raise AssertionError(f"an error without its file: {error}") from error
        return False
    written = sh.dumps(model)
    assert sh.dumps(sh.loads(written)) == written
    with contextlib.suppress(sh.SharnirError):
        model.freeze()
    return True


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_mutations_are_read_or_refused(round_):
    refused = 0
    for k in range(PER_ROUND):
        rng = np.random.default_rng((round_, k))
        text = mutated(SEEDS[int(rng.integers(len(SEEDS)))], rng)
        start = time.perf_counter()
        try:
            refused += not accepted(text)
        except BaseException as error:
            raise AssertionError(f"round {round_}, file {k}: {type(error).__name__}: {error}\n{text}") from error
        assert time.perf_counter() - start < SLOWEST, f"round {round_}, file {k}"
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
        (laughs(12), "aliases expanded"),
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
    start = time.perf_counter()
    with pytest.raises(sh.FormatError) as found:
        sh.loads(text, "f")
    assert says in str(found.value)
    assert time.perf_counter() - start < SLOWEST


def test_formulas_share_their_parts():
    start = time.perf_counter()
    assert sh.loads(chained(300)).nv == 0
    assert time.perf_counter() - start < SLOWEST


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
