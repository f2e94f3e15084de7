"""Pictures of parameter studies: what is drawn is what the dataset says, failed runs apart, thinned where there are many."""

from __future__ import annotations

import itertools
import json
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import LineCollection, PathCollection, QuadMesh
from matplotlib.contour import QuadContourSet
from matplotlib.tri import TriContourSet

from sharnir.errors import StateError
from sharnir.studies.pictures.columns import inputs_of, outputs_of, read_table, thinned_grid
from sharnir.studies.pictures.drawing import FAILED, scale_of, texts
from sharnir.studies.pictures.plot_study import NODES, RUNS, plot_study, study_page
from sharnir.studies.pictures.runs import LINES, MOST_COLUMNS, NO_VALUE, parallel_coordinates, scatter_matrix
from sharnir.studies.pictures.surface import response_surface

mpl.use("Agg")
HOSTILE = "<b>Ω $x_1$</b> of the front  wheel"
RED = mpl.colors.to_rgba(FAILED)


@pytest.fixture(autouse=True)
def _windows():
    yield
    plt.close("all")


def marked(ds: xr.Dataset, inputs, outputs, **units) -> xr.Dataset:
    for role, names in (("input", inputs), ("output", outputs)):
        for name in names:
            ds[name].attrs["role"] = role
    for name, unit in units.items():
        ds[name].attrs["units"] = unit
    return ds


def design(inputs: dict, outputs: dict, failed=(), **units) -> xr.Dataset:
    """One dimension "run"; the failed runs have no outputs."""
    n = len(next(iter(inputs.values())))
    status = np.full(n, "done", dtype=object)
    status[list(failed)] = "not_finite"
    outputs = {name: np.where(status == "done", values, np.nan) for name, values in outputs.items()}
    said = np.where(status == "done", "", "speed of <joint> is not finite")
    data = {
        name: ("run", values) for name, values in (outputs | {"status": status, "message": said, "t_end": np.ones(n)}).items()
    }
    ds = xr.Dataset(data, coords={name: ("run", values) for name, values in inputs.items()})
    return marked(ds, inputs, outputs, **units)


def grid(inputs: dict, formula, failed=(), name="force", **units) -> xr.Dataset:
    """A dimension for each input; `failed` are indices of nodes."""
    axes = [np.arange(len(v)) if isinstance(v[0], str) else np.asarray(v, dtype=float) for v in inputs.values()]
    values = formula(*np.meshgrid(*axes, indexing="ij"))
    status = np.full(values.shape, "done", dtype=object)
    for at in failed:
        status[at] = "refused"
    values = np.where(status == "done", values, np.nan)
    ds = xr.Dataset({name: (tuple(inputs), values), "status": (tuple(inputs), status)}, coords=inputs)
    return marked(ds, inputs, [name], **units)


def random_design(n=60, failed=(3, 4), **more) -> xr.Dataset:
    rng = np.random.default_rng(0)
    mass, k = rng.uniform(1.0, 3.0, n), 10.0 ** rng.uniform(2.0, 5.0, n)
    inputs = {"mass": mass, "k": k, **more}
    return design(inputs, {"frequency": np.sqrt(k / mass), "static": mass / k}, failed, mass="kg", k="N/m", frequency="rad/s")


def words_of(figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def line_collections(figure) -> tuple[LineCollection, LineCollection | None]:
    """Those of runs that ended, and of failed ones."""
    found = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    return found[0], found[1] if len(found) > 1 else None


def crosses(axes) -> np.ndarray:
    """Where no value is marked."""
    found = [np.column_stack(line.get_data()) for line in axes.lines if line.get_label() == "_failed"]
    return np.concatenate(found) if found else np.empty((0, 2))


def panels(figure) -> dict:
    return {axes.get_label(): axes for axes in figure.axes if axes.get_label() and not axes.get_label().startswith("<")}


# --- the table ---------------------------------------------------------------------------------------------------------------
def test_a_grid_is_read_in_the_order_of_its_dimensions():
    ds = grid({"a": [1.0, 2.0], "b": [10.0, 20.0, 30.0]}, lambda a, b: a + b)
    ds["force"] = ds["force"].transpose("b", "a")
    ds["series"] = (("a", "b", "time"), np.zeros((2, 3, 4)))
    marked(ds, [], ["series"])
    table = read_table(ds)
    assert inputs_of(ds) == ("a", "b") and outputs_of(ds) == ("force",) and table.left_out == ("series",) and table.is_grid
    assert table.shape == (2, 3) and list(table.columns["a"].values) == [1, 1, 1, 2, 2, 2]
    np.testing.assert_array_equal(table.columns["force"].values, table.columns["a"].values + table.columns["b"].values)
    sliced = read_table(ds.isel(a=1))
    assert list(sliced.columns["a"].values) == [2, 2, 2] and list(sliced.columns["force"].values) == [12, 22, 32]
    assert len(read_table(ds.isel(a=1, b=0))) == 1


def test_words_are_counted_in_the_order_they_come():
    column = read_table(random_design(4, (), method=["rk4", "euler", "rk4", "abm"])).columns["method"]
    assert column.words == ("rk4", "euler", "abm") and list(column.values) == [0, 1, 0, 2] and column.text(3) == "abm"


def test_runs_that_met_a_limit_have_not_failed():
    ds = random_design(6, (1,))
    ds["status"][2], ds["status"][3] = "max_steps", "stopped"
    assert list(read_table(ds).ok) == [True, False, True, True, True, True]
    assert "6 runs, 1 failed (1 not_finite); 1 max_steps" in words_of(parallel_coordinates(ds))


def test_what_a_failed_run_leaves_behind_does_not_count():
    ds = random_design(6, (1,))
    ds["frequency"][1] = 1e300
    assert np.isnan(read_table(ds).columns["frequency"].values[1]) and scale_of(read_table(ds).columns["frequency"]).high < 1e3
    assert len(crosses(response_surface(ds, "frequency").axes[0])) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ds: parallel_coordinates(ds["frequency"]), "expected the xarray.Dataset that a study returns"),
        (lambda ds: plot_study(xr.Dataset({"x": ("run", [1.0])})), 'attrs\\["role"\\] = "input"'),
        (lambda ds: plot_study(ds.isel(run=[])), "no runs"),
        (lambda ds: scatter_matrix(ds, "mass", "freqency"), "did you mean 'frequency'"),
        (lambda ds: parallel_coordinates(ds, color="speed"), "no input or output 'speed'"),
        (lambda ds: parallel_coordinates(ds, "series"), "'series' is not one value per run: it extends along 'time' \\(3\\)"),
        (lambda ds: response_surface(ds, "mass"), "no output 'mass'; the outputs are 'frequency', 'static'"),
        (lambda ds: response_surface(ds, "static", x="frequency"), "no input 'frequency'"),
        (lambda ds: response_surface(ds, "static", "k", "k"), "both 'k'"),
        (lambda ds: response_surface(ds.drop_vars("k"), "static", y="mass"), "the only input: give it as x"),
        (lambda ds: plot_study(ds, kind="pie"), "unknown kind of picture 'pie'; the kinds are 'parallel'"),
        (lambda ds: plot_study(ds, kind="page"), "path='study.html'"),
        (lambda ds: plot_study(ds, "study.png", kind="page"), "end the name with .html"),
        (lambda ds: plot_study(ds, kind="surface", color="k"), "color is not for pictures of kind 'surface', but for 'parallel'"),
        (lambda ds: plot_study(ds, names="mass"), "write \\['mass'\\]"),
        (lambda ds: plot_study(ds, "study.docx"), "unknown suffix"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    ds = random_design()
    ds["series"] = (("run", "time"), np.zeros((60, 3)))
    with pytest.raises(StateError, match=message):
        call(marked(ds, [], ["series"]))


def test_only_what_is_drawn_is_read_and_once():
    from xarray.backends import BackendArray
    from xarray.core.indexing import LazilyIndexedArray

    read: list[str] = []

    class Stored(BackendArray):
        def __init__(self, name, values):
            self.name, self.values, self.shape, self.dtype = name, values, values.shape, values.dtype

        def __getitem__(self, key):
            read.append(self.name)
            return self.values[key.tuple]

    ds = random_design()
    for name in ("frequency", "static", "t_end"):
        stored = LazilyIndexedArray(Stored(name, ds[name].values))
        ds[name] = xr.Variable("run", stored, ds[name].attrs)
    response_surface(ds, "static")
    parallel_coordinates(ds, "mass", "static")
    assert read == ["static", "static"]


# --- axes --------------------------------------------------------------------------------------------------------------------
def test_axes_are_logarithmic_where_that_spreads_the_values():
    table = read_table(random_design())
    linear, log = scale_of(table.columns["mass"]), scale_of(table.columns["k"])
    assert (linear.log, log.log) == (False, True)
    for scale, column in ((linear, table.columns["mass"]), (log, table.columns["k"])):
        at = scale.position(column.values)
        assert at.min() == 0.0 and at.max() == 1.0 and len(scale.ticks) >= 3
        np.testing.assert_allclose(scale.value(at), column.values, rtol=1e-12)
        assert all(scale.low <= tick * (1 + 1e-9) and tick <= scale.high * (1 + 1e-9) for tick in scale.ticks)


def test_numbers_at_ticks_are_short_and_differ():
    assert texts([1000.001, 1000.002, 1000.003]) == ["1000.001", "1000.002", "1000.003"]
    assert texts([-2e-6, 0.0, 2e-6]) == ["−2e−6", "0", "2e−6"]
    assert texts([0.0, 20000.0, 2e6]) == ["0", "20000", "2e6"]


# --- parallel coordinates -----------------------------------------------------------------------------------------------------
def test_every_run_is_a_line_through_its_values():
    ds = random_design()
    figure = parallel_coordinates(ds)
    good, failed = line_collections(figure)
    assert len(good.get_segments()) == 58 and len(failed.get_segments()) == 2
    table = read_table(ds)
    expected = [scale_of(c).position(c.values) for c in table.columns.values()]
    np.testing.assert_allclose(np.array(good.get_segments())[:, :, 1], np.stack(expected, 1)[table.ok], atol=1e-12)
    assert [list(s[2:, 1]) for s in failed.get_segments()] == [[NO_VALUE] * 2] * 2
    assert failed.get_linestyle()[0][1] is not None and tuple(failed.get_colors()[0][:3]) == RED[:3]
    labels = figure.axes[0].get_xticklabels()
    assert [t.get_text() for t in labels] == ["mass, kg", "k, N/m", "frequency\nrad/s", "static"]
    assert [t.get_fontweight() for t in labels] == ["normal", "normal", "bold", "bold"]
    assert figure.axes[1].get_ylabel() == "frequency, rad/s" and "60 runs, 2 failed (2 not_finite)" in words_of(figure)


def test_columns_come_in_the_order_named_and_colour_by_another():
    figure = parallel_coordinates(random_design(method=["a", "b"] * 30), "static", "mass", color="method")
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["static", "mass, kg"]
    good, _ = line_collections(figure)
    assert len(np.unique(good.get_colors(), axis=0)) == 2
    assert [t.get_text().strip() for t in figure.axes[1].get_legend().get_texts()] == ["a", "b"]


def test_twelve_names_do_not_overlap():
    rng = np.random.default_rng(1)
    inputs = {f"suspension.front left.link {k}.stiffness of its bushing": rng.uniform(size=5) for k in range(11)}
    ds = design(inputs, {f"largest reaction {k}": rng.uniform(size=5) for k in range(6)})
    figure = parallel_coordinates(ds)
    assert len(figure.axes[0].get_xticklabels()) == MOST_COLUMNS and "5 more columns not drawn" in words_of(figure)
    figure.draw_without_rendering()
    above = min(t.get_window_extent().y0 for t in figure.texts)
    boxes = [t.get_window_extent() for t in figure.axes[0].get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))
    assert boxes[0].x0 >= 0.0 and max(box.y1 for box in boxes) < above


# --- the scatter matrix -------------------------------------------------------------------------------------------------------
def test_the_matrix_has_every_column_over_every_other():
    ds = random_design(gravity=np.full(60, 9.81))
    figure = scatter_matrix(ds)
    shown = panels(figure)
    names = ["mass", "k", "frequency", "static"]
    assert list(shown)[:10] == [f"{b} over {a}" for i, b in enumerate(names) for a in names[: i + 1]]
    assert "constant: gravity = 9.81" in words_of(figure)
    points, failed = (c for c in shown["k over mass"].collections if isinstance(c, PathCollection))
    expected = np.stack([ds["mass"].values, ds["k"].values], 1)
    ok = np.isfinite(ds["static"].values)
    np.testing.assert_array_equal(points.get_offsets(), expected[ok])
    np.testing.assert_array_equal(failed.get_offsets(), expected[~ok])
    assert shown["k over mass"].get_yscale() == "log" and shown["k over mass"].get_ylabel() == "k, N/m"
    assert len(shown["static over mass"].collections) == 1  # failed runs have no place there
    good, bad = (s.get_data() for s in shown["mass over mass"].patches)
    assert good.values.sum() == 58 and (bad.values - bad.baseline).sum() == 2


# --- the response surface -----------------------------------------------------------------------------------------------------
def test_one_input_gives_a_curve():
    ds = grid({"mass": [3.0, 1.0, 2.0, 4.0]}, lambda m: m**2, failed=[(2,)], mass="kg", force="N")
    figure = response_surface(ds, "force")
    axes = figure.axes[0]
    x, y = axes.lines[0].get_data()
    np.testing.assert_array_equal(x, [1, 2, 3, 4])
    np.testing.assert_array_equal(y, [1, np.nan, 9, 16])
    assert crosses(axes)[:, 0].tolist() == [2.0] and "crosses: no value" in words_of(figure)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mass, kg", "force, N") and len(figure.axes) == 1


def test_a_small_grid_gives_a_cell_for_every_run():
    ds = grid({"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0]}, lambda a, b: a * b, failed=[(0, 1)])
    axes = response_surface(ds, "force").axes[0]
    (mesh,) = (c for c in axes.collections if isinstance(c, QuadMesh))
    np.testing.assert_array_equal(mesh.get_array().filled(-1.0), [[10, 20, 30], [-1, 40, 60]])
    np.testing.assert_allclose(mesh.get_coordinates()[0, :, 0], [0.5, 1.5, 2.5, 3.5])
    assert crosses(axes).tolist() == [[1.0, 20.0]] and [t.get_text() for t in axes.texts] == ["10", "20", "30", "40", "60"]
    turned = response_surface(ds, "force", x="b").axes[0]
    (mesh,) = (c for c in turned.collections if isinstance(c, QuadMesh))
    assert mesh.get_array().shape == (3, 2) and (turned.get_xlabel(), turned.get_ylabel()) == ("b", "a")


def test_a_fine_grid_gives_contours_where_the_values_are():
    ds = grid({"a": np.linspace(0, 1, 9), "b": np.geomspace(1, 1e4, 7)}, lambda a, b: a, failed=[(8, 6)])
    axes = response_surface(ds, "force").axes[0]
    filled = next(c for c in axes.collections if isinstance(c, QuadContourSet))
    assert axes.get_yscale() == "log" and axes.get_xlim() == (0.0, 1.0) and crosses(axes).tolist() == [[1.0, 1e4]]
    for low, high, path in zip(filled.levels[:-1], filled.levels[1:], filled.get_paths(), strict=True):
        assert path.vertices[:, 0].min() >= low - 1e-9 and path.vertices[:, 0].max() <= high + 1e-9


def test_more_inputs_give_panels_and_slices_at_the_middle():
    inputs = {"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0], "c": np.arange(9.0), "method": ["rk4", "euler"]}
    ds = grid(inputs, lambda a, b, c, m: a + 10 * b + 100 * c + 1000 * m)
    figure = response_surface(ds, "force")
    shown = panels(figure)
    assert list(shown) == ["method = rk4", "method = euler"] and "at c = 4 (the middle)" in words_of(figure)
    mesh = next(c for c in shown["method = euler"].collections if isinstance(c, QuadMesh))
    np.testing.assert_array_equal(mesh.get_array(), [[1411, 1412], [1421, 1422], [1431, 1432]])
    figure = response_surface(ds.isel(method=1), "force", x="c", y="a")
    assert list(panels(figure)) == ["b = 1", "b = 2", "b = 3"]
    figure = response_surface(ds.isel(method=1), "force")
    assert len(panels(figure)) == 6 and "panels at 6 values of c" in words_of(figure)


def test_a_design_of_two_inputs_gives_triangles_through_its_points():
    ds = random_design(60, (3, 4))
    axes = response_surface(ds, "frequency").axes[0]
    contours, points = axes.collections
    assert isinstance(contours, TriContourSet) and axes.get_yscale() == "log"
    ok = np.isfinite(ds["frequency"].values)
    np.testing.assert_array_equal(points.get_offsets(), np.stack([ds["mass"].values, ds["k"].values], 1)[ok])
    np.testing.assert_array_equal(points.get_array(), ds["frequency"].values[ok])
    np.testing.assert_array_equal(crosses(axes), np.stack([ds["mass"].values, ds["k"].values], 1)[~ok])


def test_a_design_of_more_inputs_says_that_the_surface_is_a_mean():
    rng = np.random.default_rng(2)
    ds = random_design(60, (), length=rng.uniform(size=60), method=["rk4", "euler"] * 30)
    figure = response_surface(ds, "frequency")
    assert list(panels(figure)) == ["method = rk4", "method = euler"]
    assert "mean of the 6 nearest runs, over length" in words_of(figure)
    on_a_line = design({"a": np.arange(6.0), "b": 2 * np.arange(6.0)}, {"y": np.arange(6.0)})
    (points,) = response_surface(on_a_line, "y").axes[0].collections
    assert len(points.get_offsets()) == 6


def test_words_beside_one_number_give_a_curve_each():
    ds = grid({"method": ["rk4", "_own"], "step": [1.0, 2.0, 3.0]}, lambda m, h: h * (m + 1), failed=[(1, 0)])
    axes = response_surface(ds, "force").axes[0]
    curves = {line.get_label(): line.get_data() for line in axes.lines if line.get_label() != "_failed"}
    np.testing.assert_array_equal(curves["rk4"], [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(curves["_own"], [[1, 2, 3], [np.nan, 4, 6]])
    assert [t.get_text().strip() for t in axes.get_legend().get_texts()] == ["rk4", "_own"]


# --- unusual studies ----------------------------------------------------------------------------------------------------------
UNUSUAL = {
    "one run": (random_design(1, ()), "1 run"),
    "all failed": (random_design(5, range(5)), "5 runs, all failed (5 not_finite)"),
    "one run, failed": (random_design(1, (0,)), "1 run, 1 failed"),
    "constant": (design({"a": [2.0, 2.0]}, {"y": [1.0, 1.0]}), "2 runs"),
    "words only": (design({"a": ["x", "y", "x"], "b": ["u", "u", "v"]}, {"y": [1.0, 2.0, 3.0]}, (1,)), "3 runs, 1 failed"),
    "grid of words": (grid({"a": ["x", "y"], "b": ["u", "v"]}, lambda a, b: a + b), "4 runs"),
    "one node": (grid({"a": [1.0], "b": [2.0]}, lambda a, b: a + b), "1 run"),
    "hostile": (design({HOSTILE: [1.0, 2.0], "_ü": [3.0, 1.0]}, {"größte Kraft": [1.0, 2.0]}), "2 runs"),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_studies_are_drawn(name, tmp_path):
    ds, said = UNUSUAL[name]
    for kind in ("parallel", "scatter", "surface"):
        figure = plot_study(ds, kind=kind)
        assert said in words_of(figure)
        figure.draw_without_rendering()
    text = plot_study(ds, tmp_path / "study.html").read_text(encoding="utf-8")
    assert said in re.sub("\u202f", "", text)


def test_names_are_shown_as_they_are():
    ds = UNUSUAL["hostile"][0]
    figure = response_surface(ds, "größte Kraft")
    axes = figure.axes[0]
    assert axes.get_xlabel() == HOSTILE and axes.get_ylabel() == "_ü" and not axes.xaxis.label.get_parse_math()
    labels = [t.get_text().replace("\n", " ") for t in parallel_coordinates(ds).axes[0].get_xticklabels()]
    assert labels[0].startswith("<b>Ω $x_1$</b>".replace("x_1", "x_ 1")) and labels[1:] == ["_ü", "größte Kraft"]


def test_large_studies_are_thinned_the_same_way_every_time():
    n = 100_000
    rng = np.random.default_rng(5)
    a, b = rng.uniform(size=n), rng.uniform(size=n)
    ds = design({"a": a, "b": b}, {"y": a * b}, failed=range(0, n, 1000))
    first, second = (line_collections(parallel_coordinates(ds)) for _ in range(2))
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.get_segments(), two.get_segments())
    drawn = np.array(first[0].get_segments())
    assert LINES - 100 <= len(drawn) + 100 <= LINES + 6 and len(first[1].get_segments()) == 100
    assert drawn[:, :, 1].min(axis=0)[2] == 0.0 and drawn[:, :, 1].max(axis=0)[2] == 1.0  # the extremes are there
    figure = scatter_matrix(ds)
    assert re.search("100\u202f000 runs, 100 failed .*; a sample of 2\u202f00\\d is drawn, 100 of them failed", words_of(figure))
    good, _ = (s.get_data() for s in panels(figure)["a over a"].patches)
    assert good.values.sum() == n - 100  # counts are of all runs
    assert len(response_surface(ds, "y").axes[0].collections[-1].get_offsets()) < 3100


def test_large_grids_keep_their_ends():
    kept = thinned_grid((1000, 3, 700), NODES)
    assert np.prod([len(k) for k in kept]) <= NODES and [(k[0], k[-1]) for k in kept] == [(0, 999), (0, 2), (0, 699)]
    ds = grid({"a": np.arange(1000.0), "b": np.arange(100.0)}, lambda a, b: a * b)
    figure = response_surface(ds, "force")
    assert "300 values of a are drawn" in words_of(figure) and figure.axes[0].get_xlim() == (0.0, 999.0)


# --- the choice, and the page -------------------------------------------------------------------------------------------------
def test_the_picture_suits_the_study(tmp_path):
    few, many = random_design(), random_design(length=np.arange(60.0))
    titles = {"few": few, "many": many}
    found = {name: plot_study(ds, tmp_path / f"{name}.png").texts[0].get_text() for name, ds in titles.items()}
    assert found == {"few": "frequency over mass and k", "many": "Parameter study"}
    assert plot_study(many, output="static").texts[0].get_text() == "static over mass and k"
    assert (tmp_path / "few.png").read_bytes()[:4] == b"\x89PNG"
    few.attrs["title"] = "Springs"
    assert plot_study(few, color="k").texts[0].get_text() == "Springs"
    assert plot_study(few, tmp_path / "few.html") == tmp_path / "few.html"


def page_of(ds, path, **options) -> tuple[str, dict]:
    text = study_page(ds, path, **options).read_text(encoding="utf-8")
    data = re.search('<script type="application/json" id="charts">(.*?)</script>', text, re.DOTALL)[1]
    return text, json.loads(data)["study"]


def test_the_page_says_what_the_study_found(tmp_path):
    ds = random_design()
    text, data = page_of(ds, tmp_path / "study.html", title=HOSTILE)
    assert HOSTILE not in text and "<joint>" not in text and "speed of &lt;joint&gt; is not finite" in text
    assert "default-src 'none'" in text and not re.search(r"<(script|link)[^>]* (src|href)=.(?!data:)", text)
    np.testing.assert_allclose(data["runs"]["values"][0], ds["mass"].values, rtol=1e-6)
    assert data["runs"]["values"][2][3] is None and data["runs"]["ok"].count(0) == 2 and data["grid"] is None
    best, rows = int(np.nanargmax(ds["frequency"].values)), re.findall("<tr>.*?</tr>", text, re.DOTALL)
    row = next(row for row in rows if "frequency, rad/s" in row and "<small>" in row)
    assert f"{float(ds['frequency'].max()):.6g}<small>run {best}</small>" in row
    assert f"<td>{float(ds['frequency'].mean()):.6g}</td>" in row
    assert [re.sub("<.*?>", "|", row).count("not_finite") for row in rows if row.startswith("<tr><td>")] == [1, 1]


def test_the_page_of_a_large_grid_is_thinned(tmp_path):
    ds = grid({"a": np.arange(300.0), "b": np.arange(200.0)}, lambda a, b: a + 1000 * b)
    text, data = page_of(ds, tmp_path / "study.html")
    shape, (a, b, y) = data["grid"]["shape"], data["grid"]["values"]
    assert len(data["runs"]["index"]) <= RUNS + 6 and np.prod(shape) == len(y) <= NODES and "a sample of 4" in text
    np.testing.assert_allclose(y, np.add(a, np.multiply(1000, b)))
    np.testing.assert_array_equal(np.reshape(a, shape)[:, 0], np.reshape(a, shape)[:, -1])


@pytest.mark.browser
def test_brushing_chooses_runs_on_the_page(tmp_path, open_page):
    ds = grid({"a": np.linspace(0, 1, 6), HOSTILE: np.arange(5.0), "c": [0.0, 1.0]}, lambda a, b, c: a + b + c, [(0, 0, 1)])
    opened = open_page(study_page(ds, tmp_path / "study.html"), dark=True)
    opened.locator("#chosen", has_text="60 of 60").wait_for()
    canvas = opened.locator("#parallel")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    opened.mouse.move(box["x"] + 64, box["y"] + 50)
    opened.mouse.down()
    opened.mouse.move(box["x"] + 64, box["y"] + 76 + 165, steps=2)  # the upper half of the first axis
    opened.mouse.up()
    opened.locator("#chosen", has_text="30 of 60").wait_for()
    opened.locator("#all").click()
    opened.locator("#chosen", has_text="60 of 60").wait_for()
    assert opened.locator("#surface .g-ytitle, #surface [class^=g-ytitle]").first.text_content() == HOSTILE
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.wait_for_function("(size) => document.querySelector('#surface svg').clientWidth < size", arg=390)
    assert opened.locator("#surface").bounding_box()["height"] > 400.0
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page is wider than the window"
    opened.locator("#across").select_option("2")
    opened.locator("#surface-note", has_text="At a = 0.6").wait_for()


@pytest.mark.browser
def test_names_are_no_code_on_the_page(tmp_path, open_page):
    names = ('"\'><img src=x onerror="window.hit=1">', "<!--<script>window.hit=2", "\N{RIGHT-TO-LEFT OVERRIDE}mass", "__proto__")
    ds = grid({name: np.arange(2.0) for name in names}, lambda *x: sum(x))
    opened = open_page(study_page(ds, tmp_path / "study.html", title=names[0]))
    opened.locator("#chosen", has_text="16 of 16").wait_for()
    assert opened.evaluate("[window.hit, document.querySelectorAll('img[src=x]').length]") == [None, 0]
    shown = opened.evaluate("document.title + document.body.textContent")
    assert all(name in shown for name in names)
