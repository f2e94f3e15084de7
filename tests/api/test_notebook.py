"""In a notebook every figure is shown once, nothing leaves an empty output, and objects show themselves; elsewhere all stays.

The example runs in a kernel of its own, followed by cells for every function that draws: one process, variables shared.
"""

from __future__ import annotations

import base64
import gzip
import pickle
import re
import sys
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import sharnir as sh
from joint_table import JOINTS, alone
from sharnir.analysis.arguments import coordinate_facts
from sharnir.reporting import notebook
from sharnir.reporting.progress import ProgressBar

EXAMPLE = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
FIGURE = re.compile(r"\b(plot\w*|bode|draw)\(")
SETUP = """import matplotlib.pyplot as plt
many = sh.rollout(m, [[0.1, 0.0], [0.2, 0.0]], duration=0.2, step=0.01)
"""
FIGURES = {
    "the value of a cell": "r.plot('elbow')",
    "assigned": "fig = r.plot('elbow')",
    "shown again": "fig",
    "its value suppressed": "r.plot('elbow');",
    "within a cell": "r.plot('elbow')\n1 + 1",
    "in a loop": "for _ in range(1):\n    r.plot('elbow')",
    "changed by pyplot": "r.plot('elbow')\nplt.title('mine');",
    "results together": "sh.plot({'a': r, 'b': r}, 'elbow')",
    "rollout": "many.plot('elbow')",
    "modes": "s.plot_modes()",
    "response": "s.bode()",
    "comparison": "c.plot()",
    "parallel": "sh.plot_study(ds, kind='parallel')",
    "scatter": "sh.plot_study(ds, kind='scatter')",
    "search": "sh.optimize(m, 'final of ceiling', {'damping': (0.01, 0.2)}, run=dict(duration=0.2), max_runs=3).plot()",
    "sensitivity": "sh.plot_sobol(sh.sobol_indices(m, {'damping': (0.01, 0.2), 'v0.elbow': (0, 1)}, 4, "
    "run=dict(duration=0.2), outputs={'end': 'final of ceiling'}))",
    "a frame of a motion": "r.snapshot(t=0.5, size=(320, 180))",
}
BAR = """
import time
from sharnir.reporting import progress
progress.DELAY = 0.0
ProgressBar = progress.ProgressBar
with ProgressBar({shown}, 'work', 3.0) as bar:
    with bar.meanwhile('compiling'):
        time.sleep(0.05)
    for k in range(30):
        bar.update(k / 10)
progress.DELAY = 1.0
"""
STOPPED = """
try:
    with ProgressBar(True, 'work', 3.0) as bar:
        bar._begun -= 2.0
        bar.update(1.0)
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
"""
OTHERS = {
    "bar": BAR.format(shown=None),
    "bar asked for": BAR.format(shown=True),
    "bar that is stopped": STOPPED,
    "no bar": BAR.format(shown=False),
    "text of a comparison": "print(c)",
    "comparison": "c",
    "rollout": "many",
    "player": "m.animate()",
    "view": "window = sh.view(m, port=0)\nwindow",
    "stopped view": "window.stop()\nwindow",
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The cells, executed: of the example by their source, of the others by their name; and the names of the files they left."""
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.read(EXAMPLE, as_version=4)
    cells = {cell.source: cell for cell in book.cells if cell.cell_type == "code"}
    more = {"set-up": SETUP, **{f"figure: {name}": code for name, code in FIGURES.items()}, **OTHERS}
    cells |= {name: nbformat.v4.new_code_cell(code) for name, code in more.items()}
    book.cells = [*cells.values()]
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()  # an error is raised here
    return cells, sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def cells(executed):
    return executed[0]


def data(cell) -> list[dict]:
    return [output.data for output in cell.outputs if "data" in output]


def html(cell) -> str:
    """Of its value; a bar of progress may stand above it where the machine is slow."""
    *_, shown = data(cell)
    return shown["text/html"]


def test_the_example_is_short_and_stored_without_outputs():
    book = nbformat.read(EXAMPLE, as_version=4)
    nbformat.validate(book)
    assert len(book.cells) == 20
    assert all(not cell.outputs and cell.execution_count is None for cell in book.cells if cell.cell_type == "code")


def test_every_figure_is_shown_exactly_once(cells):
    drawing = {name: cell for name, cell in cells.items() if name.startswith("figure: ") or FIGURE.search(name)}
    assert len(drawing) == len(FIGURES) + 5
    shown = {name: sum("image/png" in one for one in data(cell)) for name, cell in drawing.items()}
    assert shown == dict.fromkeys(drawing, 1)


def test_no_cell_leaves_an_empty_output_or_a_file(executed):
    cells, files = executed
    assert files == []
    for name, cell in cells.items():
        for output in cell.outputs:
            texts = [output.text] if "text" in output else output.data.values()
            assert texts and all(texts), name
            assert not any("widget" in kind for kind in output.get("data", {})), name


def test_a_bar_of_progress_becomes_one_line(cells):
    for name in ("bar", "bar asked for"):
        [shown] = data(cells[name])
        assert "work: done in " in shown["text/html"] and "<progress" not in shown["text/html"]
    [shown] = data(cells["bar that is stopped"])
    assert "work: stopped after " in shown["text/html"]
    assert not cells["no bar"].outputs


def test_text_is_printed_as_text(cells):
    [output] = cells["text of a comparison"].outputs
    assert output.name == "stdout" and "Fastest for single states" in output.text and "\x1b" not in output.text


def test_objects_are_tables(cells):
    ends = {"\nm": "degrees of freedom", "\nr": "401", "\ne": "rad", "\ns": "damped oscillation"}
    for end, words in ends.items():
        [cell] = [cell for source, cell in cells.items() if source.endswith(end)]
        assert html(cell).startswith("<table>") and words in html(cell)
    for name, words in {"comparison": "separate", "rollout": "trajectories"}.items():
        assert html(cells[name]).startswith("<table>") and words in html(cells[name])
    assert "└── " in data(cells["m.tree"])[0]["text/plain"]


def test_players_and_views_are_frames(cells):
    [player] = [cell for source, cell in cells.items() if source.startswith("r.animate")]
    assert html(player).startswith("<iframe srcdoc=") and html(cells["player"]).startswith("<iframe srcdoc=")
    assert 50_000 < len(html(player)) < 500_000
    view = next(one for one in data(cells["view"]))
    assert re.match(r'<iframe src="http://127\.0\.0\.1:\d+/"', view["text/html"])
    assert "stopped" in html(cells["stopped view"]) and "iframe" not in html(cells["stopped view"])


# --- what is shown, without a kernel
@pytest.fixture
def pendulum():
    return sh.samples.double_pendulum()


class Kernel:
    """IPython as a kernel has it, as far as sharnir asks."""

    kernel = object()


@pytest.fixture
def in_kernel(monkeypatch):
    # a bar is shown on a slow machine
    bar = SimpleNamespace(display=lambda *_, **__: SimpleNamespace(update=lambda *_, **__: None))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=Kernel, display=bar))


def test_outside_of_a_kernel_pages_are_files_and_pictures_images(pendulum, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    r = sh.simulate(pendulum, 0.1)
    assert notebook.kernel_shell() is None
    many = sh.rollout(pendulum, [[0.0, 0.0], [0.1, 0.0]], duration=0.1, step=0.01)
    mode = sh.linearize(pendulum, q={"hinge1": -np.pi / 2}).modes[0]
    paths = [r.animate(), sh.animate(r, "named.html"), pendulum.animate(), many.animate(), mode.animate()]
    assert [str(path) for path in paths] == ["run.html", "named.html", "model.html", "rollout.html", "mode.html"]
    assert all(path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>") for path in paths)
    assert pendulum.draw(size=(64, 36)).size == r.snapshot(size=(64, 36), transparent=True).size == (64, 36)
    assert pendulum.draw("a.png", size=(64, 36)) is None and r.snapshot("b.png", size=(64, 36)) is None


def test_ipython_on_a_terminal_is_no_notebook(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: object()))
    assert notebook.kernel_shell() is None and not ProgressBar(None, "", 1.0).shown


def test_a_page_is_packed_whole_or_refused_in_words(in_kernel, pendulum, monkeypatch):
    page = pendulum.animate()
    packed = unescape(re.search('srcdoc="([^"]*)"', page._repr_html_())[1])
    text = gzip.decompress(base64.b64decode(re.search(r'atob\("(.*?)"\)', packed)[1])).decode()
    assert text == str(page)
    monkeypatch.setattr(notebook, "LARGEST", 1000)
    assert "more than Jupyter takes" in page._repr_html_() and "iframe" not in page._repr_html_()


def test_names_cannot_break_out_of_a_table_or_a_page(in_kernel):
    m = sh.Model("<script>alert(1)</script>")
    m.add_body('"><b>', mass=1.0)
    m.add_joint("hinge & pin", sh.Revolute("y"), "ground", '"><b>')
    assert "<script" not in m._repr_html_() and "&lt;script&gt;" in m._repr_html_()
    assert "<script" not in sh.Dynamics(m)._repr_html_()
    e = sh.equilibrium(m)
    assert "hinge &amp; pin" in e._repr_html_()


# --- in a line
def test_models_dynamics_and_results_are_printed_in_a_line(pendulum):
    r = sh.simulate(pendulum, 0.5)
    assert str(pendulum) == "Model 'double pendulum': mass 2 kg, bodies 2, joints 2, degrees of freedom 2"
    line = "Dynamics 'double pendulum': bodies 2, coordinates 2, method separate, backend llvm, threads 1, why "
    assert str(sh.Dynamics(pendulum, method="separate", backend="llvm")).startswith(line)
    assert re.fullmatch(r"Result 'double pendulum': t 0 … 0\.5 s, status done, times 51, .* steps \d+, computed in .*s", str(r))
    s = sh.linearize(pendulum, q={"hinge1": -np.pi / 2})
    assert "\n" not in "".join(map(str, (pendulum, r, s, sh.Dynamics(pendulum), sh.equilibrium(pendulum))))


def test_a_model_that_is_not_finished_says_so():
    m = sh.Model("begun")
    assert str(m) == "Model 'begun': mass 0 kg"
    m.add_body("a", mass=1.5)
    assert "mass 1.5 kg, bodies 1, not complete not connected to 'ground': 'a'" in str(m) and "not complete" in m._repr_html_()


def test_identification_is_no_dump():
    m = sh.samples.pendulum()
    q, v, a = np.random.default_rng(0).normal(size=(3, 10, 1))
    found = sh.identify(m, {"q": q, "v": v, "a": a, "tau": sh.Dynamics(m).inverse(q, v, a)}, physical=False)
    assert repr(found).startswith("<Identification of 'pendulum': 10 samples") and len(repr(found)) < 200
    assert "array" not in repr(found.base) and "deviation" in found._repr_html_()


def test_coordinates_have_the_units_of_their_joints():
    """Of every type of joint: as many as coordinates."""
    for joint in JOINTS.values():
        m = alone(joint)
        assert [name for name, _, _ in coordinate_facts(m, m.neutral())] == m.q_names[:12]
    m = sh.samples.slider_crank()
    assert {name: unit for name, _, unit in coordinate_facts(m, m.neutral())} == {"main": "rad", "crankpin": "rad", "slide": "m"}


# --- the tree
def test_a_tree_is_drawn_as_inspect_draws_it(command, tmp_path):
    m = sh.samples.slider_crank()
    m.save(tmp_path / "crank.yaml")
    drawn = str(m.tree).splitlines()
    assert drawn == [
        "slider-crank: ground",
        "├── crank 1 kg  main: revolute z",
        "│   └── rod 2 kg  crankpin: revolute z",
        "└── piston 0.5 kg  slide: prismatic x",
        "    └── closes a loop with rod  wristpin: revolute z",
    ]
    assert repr(m.tree) == str(m.tree) and m.tree.closing == (3,)
    assert command("inspect", tmp_path / "crank.yaml")[1].splitlines()[: len(drawn)] == drawn


def test_a_tree_shows_couplings_constraints_parameters_frames_and_beams():
    m = sh.Model("mixed")
    m.add_body("a", mass=m.add_parameter("heavy", 3.0))
    m.add_body("b", mass=2.0)
    m.add_joint("A", sh.Revolute("y"), "ground", "a")
    m.add_joint("B", sh.Revolute("y", limits=(-1, 2)), "ground", "b")
    section = sh.Rectangle(0.5, 0.04)
    m.add_body("board", flexible=sh.FlexibleBeam(length=4.0, E=7e10, G=2.6e10, density=2700.0, section=section, modes=2))
    m.add_joint("clamp", sh.Weld(), "b", "board")
    m.couple("B", "A", 2.0)
    m.add_frame("tip", "a", sh.Pose())
    m.add_constraint(sh.Distance("a", "b", length=1.0), "rope")
    lines = str(m.tree).splitlines()
    assert lines[:4] == ["mixed: ground", "├── a 3 kg  A: revolute y", "│   └── frames: tip",
                         "├── b 2 kg  B: revolute y, follows A: 2 × it in [-1, 2]"]  # fmt: skip
    assert lines[4].startswith("│   └── board 216 kg") and lines[5].startswith("│       └── flexible: beam of 4 m")
    assert lines[6:] == ["└── constraint rope: Distance of a, b"]


def test_a_large_tree_is_drawn_in_part():
    lines = str(sh.samples.chain(2500).tree).splitlines()
    assert len(lines) == 102 and lines[-1] == "└── and 2400 more bodies" and "link100 " in lines[-2]
    assert pickle.loads(pickle.dumps(sh.samples.chain(2))).tree.carriers == (-1, 0)


@pytest.mark.browser
def test_a_player_plays_in_its_frame(open_page, in_kernel, pendulum, tmp_path):
    r = sh.simulate(pendulum, 1.0)
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html><body>{r.animate()._repr_html_()}", encoding="utf-8")
    inside = open_page(tmp_path / "cell.html").frame_locator("iframe")
    inside.locator("canvas").first.wait_for()
    assert "double pendulum" in inside.locator("h1").first.inner_text()
