"""The page of the studio: without a browser its steps from a file to a run, in Chromium what a user sees and does."""

from __future__ import annotations

import re
import threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

import numpy as np
import pytest

import sharnir as sh
from browser import VISER, changed_pixels, picture, wait_for
from sharnir.viewer.scene import Camera
from sharnir.viewer.studio.studio import Studio
from sharnir.viewer.studio.workspace import COMPARISON, FORMATS

HOSTILE = "<img src=x onerror=alert(1)> {1+1} **b**"
SIZE = (1000, 560)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    m = sh.samples.four_bar(0.5, 1.0, 1.0, 1.2)
    m.simulation = sh.SimulationSettings(duration=1.0, q0={"A": 0.8})
    m.save(folder / "four_bar.yaml")
    m = sh.Model(HOSTILE)
    m.add_body(HOSTILE, mass=1.0, inertia=(1.0, 1.0, 1.0), com=(0.0, 0.5, -1.0))
    m.add_joint(HOSTILE, sh.Revolute("x"), "ground", HOSTILE)
    m.save(folder / "hostile.yaml")
    (folder.parent / "outside.yaml").write_bytes((folder / "four_bar.yaml").read_bytes())
    return folder


@pytest.fixture
def studio(place):
    running = Studio(place / "four_bar.yaml", folder=place, port=0)
    wait_for(lambda: running.page.start_tab.sliders)
    yield running
    running.stop()


def ask(studio: Studio, what):
    """On the thread of the stage, after all that was asked for before."""
    done = threading.Event()
    studio.stage.post(done, lambda: (studio.page.guarded(what), done.set()))
    assert done.wait(600.0)


def idle(studio: Studio):
    """The page once its job is done and shown."""
    studio.page.jobs.wait(600.0)
    ask(studio, lambda: None)
    return studio.page


def do(studio: Studio, what):
    """Something a user would ask for, done and shown."""
    ask(studio, what)
    return idle(studio)


def test_from_a_file_to_a_run_and_back_to_the_sliders(studio):
    page = idle(studio)
    assert page.work.options.duration == 1.0 and np.isclose(page.start_tab.sliders.posing.q[0], 0.8)
    assert page.model_tab.mobility.startswith("1 degree of freedom")
    do(studio, page.run_tab.run)
    first = page.work.result
    assert first.status == "done" and page.plots.visible and page.playback.clock.playing and page.stage.scenes
    posing = page.start_tab.sliders.posing
    do(studio, lambda: page.start_tab.sliders.change(lambda: posing.set(posing.sliders[0], 1.4)))
    assert not page.playback.clock.playing, "a slider that moves stops what plays"
    do(studio, page.run_tab.run)
    assert page.work.result is not first and np.isclose(page.work.result.coordinate("A")[0], 1.4)
    do(studio, page.start_tab._back)
    assert page.work.pose is None and np.isclose(page.start_tab.sliders.posing.q[0], 0.8)


def test_parameters_move_the_model_and_are_those_of_the_run(studio):
    page = idle(studio)
    posing = page.start_tab.sliders.posing
    do(studio, lambda: page.start_tab.sliders.change(lambda: posing.set(posing.sliders[0], 1.1)))
    do(studio, lambda: studio.page.model_tab._make("coupler.mass"))
    do(studio, lambda: page.model_tab._set("coupler.mass", 3.0))
    do(studio, page.run_tab.run)
    assert page.work.result.parameters[0].tolist() == [3.0]
    assert np.isclose(page.work.result.coordinate("A")[0], 1.1), "the position that was edited before stays"


def test_what_is_saved_and_compared_is_in_the_folder_and_on_the_page(studio, place, monkeypatch):
    monkeypatch.setattr("sharnir.viewer.studio.workspace.BUDGET", 1.0)
    page = do(studio, studio.page.run_tab.run)
    for kind, suffix in ((name, suffix) for name, (suffix, _) in FORMATS.items()):
        do(studio, lambda kind=kind: page.run_tab.keep(kind))
        name = f"four_bar-run{suffix}"
        assert (place / name).stat().st_size > 1000 and f"written: {name}" in page._notice.content
    assert "four_bar-run.nc" in page.open_tab._files.options
    do(studio, lambda: page.job("comparison", page.work.compare, lambda _: page.compare_tab._show()))
    do(studio, lambda: page.run_tab.keep(COMPARISON))
    assert b"methods compared" in (place / "four_bar-compared.html").read_bytes()


def test_mistakes_are_words_on_the_page_and_change_nothing(studio):
    page = do(studio, studio.page.run_tab.run)
    result = page.work.result
    for what, words in (
        (lambda: page.open_tab.open("../outside.yaml"), "outside the studio"),
        (lambda: page.open_tab.open("nothing.yaml"), "there is no file"),
        (lambda: page.model_tab._make("nobody.mass"), "nobody"),
        (lambda: page.run_tab._set_tolerance("small"), "expected a number such as 1e-8"),
        (lambda: page.run_tab._ask(["speed of nothing"]), "nothing"),
        (lambda: page.run_tab._set(duration=0.0) or page.run_tab.run(), "duration"),
    ):
        do(studio, what)
        assert page._notice.visible and words in page._notice.content and "Traceback" not in page._notice.content
    assert page.work.result is result and page.work.opened.name == "four_bar.yaml" and page.run_tab.what == []
    assert page.open_tab._files.value == "four_bar.yaml"


def test_messages_that_no_page_sends_are_words_and_harm_nothing(studio, place):
    """By the websocket, with the token: bytes that are no message, names of files outside, values of other types."""
    import msgspec
    import viser
    from websockets.sync.client import connect

    address = urlsplit(studio.url)
    connection = HTTPConnection(address.hostname, address.port)
    connection.request("GET", f"/?{address.query}")
    cookie = connection.getresponse().headers["Set-Cookie"].partition(";")[0]
    connection.close()
    handles = studio.stage.viser.gui._gui_input_handle_from_uuid
    files = next(uuid for uuid, handle in handles.items() if getattr(handle, "label", "") == "file")
    upload = next(uuid for uuid, handle in handles.items() if type(handle).__name__ == "GuiUploadButtonHandle")
    zeros = {name: [0.0] * n for name, n in (("wxyz", 4), ("position", 3), ("look_at", 3), ("up_direction", 3))}
    camera = {"type": "ViewerCameraMessage", **zeros, "fov": 1.0, "near": 0.1, "far": 9.0, "image_height": 9, "image_width": 9}

    def sent(message, says):
        options = {"additional_headers": {"Cookie": cookie}, "subprotocols": [f"viser-v{viser.__version__}"]}
        with connect(f"ws://{address.netloc}/", max_size=None, **options) as socket:
            before = set(studio.stage.viser.get_clients())
            socket.send(msgspec.msgpack.encode(camera))
            wait_for(lambda: set(studio.stage.viser.get_clients()) - before)
            socket.send(message if isinstance(message, (bytes, str)) else msgspec.msgpack.encode(message))
            wait_for(lambda: says in studio.page._notice.content, 20.0)

    do(studio, lambda: studio.page.say("before"))
    for message in (b"", "text", b"\x91" * 10_000, [1], {"type": 3}, {"type": "GuiUpdateMessage", "uuid": [1], "updates": 4}):
        sent(message, "before")
    for name, words in (
        ("../outside.yaml", "outside the studio"),
        ("/etc/passwd", "outside the studio"),
        (["a"], "there is no file"),
    ):
        sent({"type": "GuiUpdateMessage", "uuid": files, "updates": {"value": name}}, words)
    begun = {
        "type": "FileTransferStartUpload",
        "source_component_uuid": upload,
        "mime_type": "",
        "part_count": 0,
        "size_bytes": 0,
    }
    for name, words in (
        ("..", "no model and no result"),
        ("a\n.yaml", "no model and no result"),
        (3, "report it: AttributeError"),
    ):
        sent({**begun, "transfer_uuid": f"t{name}", "filename": name}, words)
    assert [p.name for p in place.parent.glob("*.yaml")] == ["outside.yaml"]
    do(studio, lambda: studio.page.open_tab.open("hostile.yaml"))
    assert studio.page.work.opened.name == "hostile.yaml"


def test_the_page_is_for_whoever_knows_its_token(studio):
    where = urlsplit(studio.url)
    status = {}
    for path in ("/", f"/?{where.query}x", f"/?{where.query}"):
        connection = HTTPConnection(where.hostname, where.port, timeout=10)
        connection.request("GET", path)
        status[path] = connection.getresponse().status
        connection.close()
    assert where.query.startswith("token=") and list(status.values()) == [403, 403, 303]


def test_a_file_outside_the_folder_or_a_folder_that_is_none_starts_nothing(place):
    with pytest.raises(sh.StateError, match="outside the studio's folder"):
        Studio(place.parent / "outside.yaml", folder=place)
    with pytest.raises(sh.StateError, match="there is no folder"):
        Studio(folder=place / "nowhere")
    with pytest.raises(sh.StateError, match="there is no file"):
        Studio(place / "nothing.yaml", folder=place)


def test_the_command_refuses_before_it_serves(command, place):
    code, out, err = command("studio", place.parent / "outside.yaml", "--folder", place, "--no-browser")
    assert code == 1 and out == "" and "outside the studio's folder" in err


@pytest.mark.browser
def test_a_user_opens_runs_watches_and_reads(studio, open_page):
    page = entered(open_page, studio)
    page.get_by_role("tab", name="Run", exact=True).click()
    page.get_by_role("button", name="Run", exact=True).click()
    wait_for(lambda: studio.page.playback)
    page.get_by_role("cell", name="kinetic").wait_for()
    page.locator(".uplot").first.wait_for()
    assert page.locator(".uplot").count() == 3, "angles, speeds, energy"
    wait_for(lambda: changed_pixels(scene(page), scene(page)) > 100)  # it plays
    page.get_by_role("button", name="pause", exact=True).click()
    page.get_by_role("tab", name="Model", exact=True).click()
    page.get_by_text("coupler – rocker by").wait_for()
    page.get_by_role("tab", name="Run", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    assert download.value.suggested_filename == "four_bar-run.nc"


@pytest.mark.browser
def test_names_are_text_and_uploads_stay_in_the_folder(studio, place, open_page, tmp_path):
    page = entered(open_page, studio)
    before = sorted(p.name for p in place.iterdir())
    (tmp_path / "run.sh").write_text("echo", encoding="utf-8")
    upload = page.locator("input[type=file]").first
    upload.set_input_files(tmp_path / "run.sh")
    page.get_by_text("is no model and no result").wait_for()
    assert sorted(p.name for p in place.iterdir()) == before
    upload.set_input_files(place / "hostile.yaml")
    wait_for(lambda: studio.page.work.opened.name == "hostile-2.yaml")
    page.get_by_role("tab", name="Model", exact=True).click()
    page.get_by_text(re.compile(re.escape(HOSTILE))).first.wait_for()
    assert page.locator("img[src=x]").count() == 0
    studio.stage.post("outside", lambda: studio.page.guarded(lambda: studio.page.open_tab.open("../outside.yaml")))
    page.get_by_text("is outside the studio's folder").wait_for()
    assert studio.page.work.opened.name == "hostile-2.yaml"


@pytest.mark.browser
def test_the_page_fits_a_phone_in_the_dark(studio, open_page):
    ask(studio, lambda: studio.stage._paint(True))
    page = entered(open_page, studio, size=(390, 700), touch=True)
    page.get_by_role("tab", name="Model", exact=True).click()
    page.get_by_text("1 degree of freedom", exact=False).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wait_for(lambda: 5.0 < np.median(picture(page)) < 100.0)


@pytest.mark.browser
def test_on_a_phone_the_motion_is_above_the_panel_and_legends_have_values(studio, open_page):
    page = entered(open_page, studio, size=(390, 844), touch=True)
    do(studio, studio.page.run_tab.run)
    ask(studio, studio.page.playback.toggle)
    ask(studio, lambda: studio.page.playback.scrub(0.5))
    page.get_by_text("Plots", exact=True).click()
    r = studio.page.work.result
    shown = page.locator(".st-legend").first
    said = dict(text.split(" ") for text in shown.locator("span").all_text_contents())
    assert said.keys() == {"A", "B", "C"}
    for name, value in said.items():
        assert float(value) == pytest.approx(np.interp(0.5, r.t, r.coordinate(name)), abs=2e-3)
    panel = page.locator(".mantine-Paper-root[style*='max-height: 60%']").bounding_box()
    assert panel["width"] == 390.0 and panel["y"] >= 0.57 * 844.0
    (client,) = studio.stage.viser.get_clients().values()
    c = client.camera
    camera = Camera(c.position, c.look_at, c.up_direction, float(np.degrees(c.fov)))
    x, y, _ = camera.project(studio.stage.scenes[0].scene.outermost, 390.0, 844.0).T
    assert 0.0 < x.min() < x.max() < 390.0 and y.min() > 0.0 and y.max() < panel["y"]
    assert np.ptp(x) > 0.75 * 390.0 or np.ptp(y) > 0.75 * panel["y"], "and fills that part"


def entered(open_page, studio: Studio, **options):
    """The page once it is connected; without the notice that this browser has no graphics card, which lies over the tabs."""
    page = open_page(studio.url, **{"size": SIZE, "allow": VISER, **options})
    page.get_by_role("tab", name="Run", exact=True).wait_for()
    page.add_style_tag(content="[class*=Notification] { display: none !important; }")
    return page


def scene(page) -> np.ndarray:
    """Pixels of the 3D scene."""
    return picture(page, "canvas")
