"""The page and the command of a comparison: nothing is fetched, nothing of the model is taken for markup, exit codes."""

from __future__ import annotations

import json
import re
from functools import partial
from html.parser import HTMLParser

import pytest

import sharnir as sh
from urdf_files import arm, write

QUICK = {"states": 2, "batch": 8, "rounds": 2}
HOSTILE = '<script>alert("x")</script> & <img src=https://example.invalid/x.png onerror=alert(1)> [bold]{q}[/] $x_1$'


class Tags(HTMLParser):
    """Elements with their attributes, texts of the scripts, and whether everything that is opened is closed."""

    VOID = ("meta", "link", "img", "br", "hr", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open[-1:]:
            self.texts[tag] = self.texts.get(tag, "") + data


def hostile() -> sh.Model:
    """Names that would be markup, and a joint whose name is in a reason."""
    m = sh.Model(HOSTILE)
    m.add_body(HOSTILE, mass=1.0, inertia=(1.0, 1.0, 0.1))
    m.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 0.1))
    m.add_joint("axle", sh.Revolute("x"), HOSTILE, "wheel")
    m.add_joint(HOSTILE, sh.Revolute("x"), "ground", HOSTILE)
    m.couple(HOSTILE, "axle", 2.0)
    return m


@pytest.fixture(scope="module")
def nasty() -> sh.Comparison:
    return sh.compare(hostile(), ["separate", "lagrange1"], ["llvm", "python"], **QUICK)


@pytest.fixture(scope="module")
def page(nasty, tmp_path_factory):
    return nasty.report(tmp_path_factory.mktemp("report") / "nasty.html")


def test_the_page_is_whole_and_fetches_nothing(page):
    tags = Tags(page.read_text(encoding="utf-8"))
    assert not tags.open
    kinds = [tag for tag, _ in tags.found]
    assert "iframe" not in kinds and "object" not in kinds and "img" not in kinds and kinds.count("script") == 3
    for tag, attributes in tags.found:
        for name in ("src", "href", "data", "srcset", "action", "poster"):
            assert (attributes.get(name) or "data:").startswith("data:"), (tag, name)
        assert not any(name.startswith("on") for name in attributes)
    style = tags.texts["style"]
    assert "url(" not in style and "@import" not in style
    policy = next(a["content"] for tag, a in tags.found if tag == "meta" and a.get("http-equiv"))
    assert policy is not None and policy.startswith("default-src 'none'") and "http" not in policy


def test_the_page_can_be_read_by_anybody(page):
    tags = Tags(page.read_text(encoding="utf-8"))
    attributes = dict(reversed(tags.found))
    assert attributes["html"]["lang"] == "en" and "title" in tags.texts
    assert any(a.get("name") == "viewport" for tag, a in tags.found if tag == "meta")
    assert "prefers-color-scheme: dark" in tags.texts["style"]
    charts = [a for tag, a in tags.found if tag == "div" and (a.get("id") or "").startswith("chart-")]
    assert len(charts) == 4 and all(a["role"] == "img" and a["aria-label"] for a in charts)
    assert all(a.get("scope") for tag, a in tags.found if tag == "th")


def test_names_of_the_model_are_text_everywhere(page, nasty, tmp_path):
    text = page.read_text(encoding="utf-8")
    tags = Tags(text)
    assert tags.texts["h1"] == HOSTILE and tags.texts["title"].startswith(HOSTILE)
    assert "alert(" not in tags.texts["script"]
    assert "lagrange1" in tags.texts["td"] and HOSTILE in tags.texts["td"]
    assert HOSTILE in str(nasty) or HOSTILE.split()[0] in str(nasty)
    nasty.plot(tmp_path / "nasty.png")
    nasty.to_json(tmp_path / "nasty.json")
    assert sh.Comparison.from_json(tmp_path / "nasty.json").model["name"] == HOSTILE


def test_an_undefined_name_in_a_template_is_an_error():
    from jinja2 import UndefinedError

    from sharnir.reporting.pages import templates

    with pytest.raises(UndefinedError):
        templates("sharnir.comparison").get_template("page.html").render(name="arm")


def test_page_and_picture_draw_the_same_points(nasty, tmp_path):
    from sharnir.comparison.charts import charts
    from sharnir.comparison.report import figure

    timed = [row for row in nasty.rows if row.ok]
    figures = nasty.plot(tmp_path / "nasty.png")
    for panel, (name, chart) in zip(figures.axes, list(charts(nasty.rows).items())[:3], strict=True):
        described = {(s.name, p.row.method, p.x) for s in chart.series for p in s.points}
        on_page = {(t["name"], y, x) for t in figure(chart)["data"] for x, y in zip(t["x"], t["y"], strict=True)}
        assert described == on_page
        marks = [line for line in panel.lines if line.get_marker() != "None"]
        drawn = sorted((float(line.get_xdata()[0]), round(float(line.get_ydata()[0]))) for line in marks)
        assert drawn == sorted((p.x, timed.index(p.row)) for s in chart.series for p in s.points)
        assert name == "operations" or len(drawn) == len(timed)


@pytest.mark.parametrize(
    "values", [(3.05, 4.8), (348.0, 387.0), (9.9, 9.9), (1.0, 40.0), (1e-6, 2e-3), *((x, x) for x in range(1, 30))]
)
def test_logarithmic_axes_have_two_ticks_at_least(values):
    from sharnir.comparison.charts import log_ticks

    (low, high), ticks = log_ticks(values)
    assert 2 <= len(ticks) <= 12 and all(10**low <= x <= 10**high for x in ticks)


def test_charts_are_valid_data(page):
    found = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    charts = json.loads(found[1])
    assert set(charts) == {"single", "batch", "operations", "against"}
    assert all(trace["x"] for chart in charts.values() for trace in chart["data"])


def test_a_page_without_a_single_answer_still_says_why(tmp_path):
    c = sh.compare(hostile(), "lagrange1", "python", **QUICK)
    text = c.report(tmp_path / "none.html").read_text(encoding="utf-8")
    assert "does not handle coupled coordinates" in text and len(text) < 50_000 and c.best is None
    with pytest.raises(sh.StateError, match="nothing to plot"):
        c.plot(tmp_path / "none.png")


# --- in a browser -----------------------------------------------------------------------------------------------------------
@pytest.mark.browser
@pytest.mark.parametrize(
    ("size", "touch", "dark"), [((1280, 800), False, False), ((390, 844), True, True)], ids=["desk", "phone, dark"]
)
def test_a_browser_draws_all_charts_and_has_nothing_to_complain_of(page, open_page, size, touch, dark):
    opened = open_page(page, size=size, touch=touch, dark=dark)
    charts = opened.locator("[id^=chart-]")
    assert charts.count() == 4 and charts.locator(".main-svg").count() >= 4
    assert all(charts.nth(i).locator(".xtick").count() >= 2 and charts.nth(i).locator(".ytick").count() >= 1 for i in range(4))
    assert opened.evaluate("document.documentElement.scrollWidth") <= size[0], "the page is wider than the window"
    table = opened.locator(".scroll").first  # it scrolls in its own box, and its first column stays
    moved = table.evaluate("e => { e.scrollLeft = 150; return e.scrollLeft; }")
    assert (moved > 100) == touch and opened.evaluate("window.scrollX") == 0
    name = table.locator("tbody th").first.bounding_box()
    assert name["x"] >= table.bounding_box()["x"] and name["width"] > 40.0
    background = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 384) == dark


@pytest.mark.browser
def test_columns_sort_by_their_numbers(page, open_page):
    opened = open_page(page)
    head = opened.locator("table.sortable th[data-kind=number]").first
    column = head.evaluate("th => th.cellIndex")
    values = f"rows => rows.map(row => row.cells[{column}].dataset.value).filter(x => x !== '').map(Number)"
    for order in (1, -1):
        head.locator("button").click()
        shown = opened.locator("table.sortable tbody tr").evaluate_all(values)
        assert len(shown) > 1 and shown == sorted(shown)[::order]


@pytest.mark.browser
def test_a_page_that_fetches_something_would_be_noticed(page, tmp_path, visit):
    text = page.read_text(encoding="utf-8")
    picture = '<header><img alt="" src="https://example.invalid/x.png">'
    worse, worst = tmp_path / "worse.html", tmp_path / "worst.html"
    worse.write_text(text.replace("<header>", picture, 1), encoding="utf-8")
    assert "Content Security Policy" in " ".join(visit(worse).complaints)
    worst.write_text(f"<!DOCTYPE html><title>x</title>{picture}", encoding="utf-8")
    assert any(c.startswith("asked for https://example.invalid") for c in visit(worst).complaints)


# --- the command ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def run(command):
    return partial(command, "compare")


@pytest.fixture
def file(tmp_path):
    return write(tmp_path, *arm())


FEW = ("--acting", "motion", "--methods", "separate,composite", "--backends", "python", "--states", 2, "--rounds", 2, "--batch", 4)


def test_table_numbers_picture_and_page(run, file, tmp_path):
    places = {kind: tmp_path / f"out.{kind}" for kind in ("json", "html", "png")}
    code, out, err = run(file, *FEW, "--json", places["json"], "--html", places["html"], "--plot", places["png"])
    assert (code, err) == (0, "") and "Fastest for single states" in out and out.count("written:") == 3
    c = sh.Comparison.from_json(places["json"])
    assert {row.label for row in c.rows} == {"separate · python", "composite · python"} and c.disagreement < 1e-10
    assert places["png"].read_bytes()[:4] == b"\x89PNG" and places["html"].stat().st_size > 1_000_000


def test_floating_frees_the_root(run, file, tmp_path):
    code, out, _ = run(file, *FEW, "--floating", "--json", tmp_path / "a.json", "-q")
    assert code == 0 and out == ""
    assert sh.Comparison.from_json(tmp_path / "a.json").model["freedoms"] == sh.load(file).nv + 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--methods", "newton"), "the choices are 'separate'"),
        (("--backends", "cuda"), "the choices are 'llvm'"),
        (("--states", "0"), "--states"),
        (("--json", "nowhere/a.json"), "no folder"),
        (("--plot", "a.foo"), "argument --plot: cannot draw a.foo: unknown suffix '.foo'; end the name with .png, .svg or .pdf"),
    ],
)
def test_a_mistake_on_the_command_line_is_exit_code_two(run, file, arguments, words):
    code, out, err = run(file, *arguments)
    assert code == 2 and out == "" and words in " ".join(err.split())


def test_help_gives_the_defaults_of_compare(run):
    import inspect

    defaults = {name: p.default for name, p in inspect.signature(sh.compare).parameters.items()}
    _, out, _ = run("--help")
    found = dict(re.findall(r"--([\w-]+) [A-Z]+\s[^-]*?\(default:\s+(\d+)\)", out))
    assert found.keys() == {"states", "seed", "batch", "rounds", "graph-limit"}
    assert all(int(value) == defaults[name.replace("-", "_")] for name, value in found.items())


def test_a_bad_file_is_exit_code_one(run, tmp_path):
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot", encoding="utf-8")
    code, out, err = run(bad)
    assert code == 1 and out == "" and err.startswith("sharnir: ") and "bad.urdf" in err


def test_ctrl_c_shows_what_there_is_and_is_exit_code_130(run, file, monkeypatch):
    from sharnir.reporting.timing import Stopwatch

    calls = []

    def interrupted(self):
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Stopwatch, "take_sample", interrupted)
    code, out, err = run(file, *FEW)
    assert code == 130 and "Fastest for single states" in out and "interrupted" in out and err.startswith("sharnir: interrupted")
