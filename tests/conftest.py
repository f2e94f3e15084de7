"""Settings of every test: one BLAS thread per worker, reproducible examples of hypothesis, a cache of its own, Ctrl-C heard;
which worker runs which tests, and in which order."""

import atexit
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
from functools import cached_property
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit the folder: what one compiles, all find
    os.environ["SHARNIR_CACHE"] = tempfile.mkdtemp(prefix="sharnir-tests-")
    atexit.register(shutil.rmtree, os.environ["SHARNIR_CACHE"], ignore_errors=True)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # `make test &` in a script: no process would hear it
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # for `benchmarks.robots`
sys.path += [str(folder) for folder in sorted(HERE.iterdir()) if folder.is_dir()]  # models, and what test files lend one another

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from browser import INSTALL, OPTIONS, Visit, address_of, find_chromium  # noqa: E402

settings.register_profile("sharnir", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("sharnir")


@pytest.fixture
def command(capsys, monkeypatch):
    """`sharnir` with arguments: exit code, stdout, stderr."""
    from sharnir.cli.main import main

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sharnir", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out = capsys.readouterr()
        return int(end.value.code or 0), out.out, out.err

    return call


# --- which worker ------------------------------------------------------------------------------------------------------------
DURATIONS = HERE / "durations.json"
"""{group: seconds}, as `pytest --record-durations` measured them: the longest groups go first, since a long one at the end would
keep one worker waiting. They only say in which order tests run, and which are fast."""
FAST = 60.0
"""Seconds of processor time of the tests that `--fast` leaves: those of the shortest groups."""


def durations() -> dict[str, float]:
    return json.loads(DURATIONS.read_text(encoding="utf-8"))


def slow_groups() -> set[str]:
    left, slow = FAST, set[str]()
    for name, seconds in sorted(durations().items(), key=lambda item: item[1]):
        left -= seconds
        slow |= {name} if left < 0.0 else set()
    return slow


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true", help=f"the tests of the shortest groups, {FAST:g} s of processor time in all")
    parser.addoption("--record-durations", action="store_true", help=f"write {DURATIONS.name} anew")


GROUPS = Path(os.environ["SHARNIR_CACHE"]) / "groups.json"
"""{test: its group}: written by the first worker, which has collected the tests, read by the process that deals them out."""


def group_of(item) -> str:
    """The tests of a file are a group, unless they say otherwise: two workers in one file would compile the same code at the
    same time, and make the same models, fixtures and graphs."""
    marker = item.get_closest_marker("xdist_group")
    if item.get_closest_marker("browser"):  # all on one worker: one Chromium at a time
        if marker:
            raise pytest.UsageError(f"{item.nodeid}: tests in a browser have a group of their own; move it to another file")
        return "browser"
    return marker.args[0] if marker else item.path.stem


def pytest_collection_modifyitems(config, items):
    groups = {item: group_of(item) for item in items}
    if config.getoption("--fast"):
        slow = slow_groups()
        config.hook.pytest_deselected(items=[item for item in items if groups[item] in slow])
        items[:] = [item for item in items if groups[item] not in slow]
    if "PYTEST_XDIST_WORKER" in os.environ:
        recorded = durations()
        items.sort(key=lambda item: -recorded.get(groups[item], 0.0))


@pytest.hookimpl(tryfirst=True)  # before xdist says that all is collected
def pytest_collection_finish(session):
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        GROUPS.write_text(json.dumps({item.nodeid: group_of(item) for item in session.items}), encoding="utf-8")
    gc.freeze()  # what was imported stays: the search for garbage passes over it, and happens less often
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """xdist 3.8 writes groups into the names of tests, where pytest 9.2 does not look for them: `--dist loadgroup` would deal out
    test by test."""
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        @cached_property
        def groups(self) -> dict[str, str]:
            return json.loads(GROUPS.read_text(encoding="utf-8"))

        def _split_scope(self, nodeid: str) -> str:
            return self.groups[nodeid]

    if config.getvalue("dist") != "loadgroup":
        return None
    config.option.loadscopereorder = False  # the order is ours: that of xdist is by number of tests, not by time
    return Groups(config, log)


# --- pages in a browser -----------------------------------------------------------------------------------------------------
LEFT_OUT: list[str] = []
"""Tests for which there was no Chromium; in the process that reports."""


def pytest_runtest_setup(item):
    if item.get_closest_marker("browser") and find_chromium() is None:
        if os.environ.get("SHARNIR_NEEDS_BROWSER") == "1":
            pytest.fail(f"no Chromium here, and SHARNIR_NEEDS_BROWSER=1; {INSTALL}", pytrace=False)
        pytest.skip("no Chromium here")


SPENT: dict[str, float] = {}
"""Seconds by test; in the process that reports."""


def pytest_sessionfinish(session):
    if session.config.getoption("--record-durations") and "PYTEST_XDIST_WORKER" not in os.environ:
        groups, total = json.loads(GROUPS.read_text(encoding="utf-8")), dict[str, float]()
        for test, seconds in SPENT.items():
            total[groups[test]] = total.get(groups[test], 0.0) + seconds
        ordered = sorted(total.items(), key=lambda item: -item[1])
        text = json.dumps({name: round(seconds, 1) for name, seconds in ordered}, indent=0)
        DURATIONS.write_text(text + "\n", encoding="utf-8")


def pytest_runtest_logreport(report):
    SPENT[report.nodeid] = SPENT.get(report.nodeid, 0.0) + report.duration
    if report.skipped and "browser" in report.keywords and report.longrepr[2].endswith("no Chromium here"):
        LEFT_OUT.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    if LEFT_OUT and "PYTEST_XDIST_WORKER" not in os.environ:  # after pytest's own last line
        tests = "1 test in a browser was" if len(LEFT_OUT) == 1 else f"{len(LEFT_OUT)} tests in a browser were"
        print(f"{tests} left out: no Chromium here; to run them: {INSTALL}", flush=True)


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of this process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=find_chromium(), args=list(OPTIONS))
        yield running
        running.close()


@pytest.fixture
def visits():
    """The windows that a test opens; closed at its end."""
    opened: list[Visit] = []
    yield opened
    for one in opened:
        one.context.close()


@pytest.fixture
def visit(browser, visits):
    """Opens a page in a window of its own, and returns the `Visit`; whoever takes it looks at its complaints himself."""

    def visit(where, size=(1280, 800), dark=False, touch=False, allow=None) -> Visit:
        visits.append(Visit(browser, size, dark, touch, allow or {}))
        visits[-1].page.goto(address_of(where))
        return visits[-1]

    return visit


@pytest.fixture
def open_page(visit, visits):
    """`open_page(address or file, size=(1280, 800), dark=False, touch=False, allow={pattern: reason})`: a page of playwright.
    The test fails if the page had anything to say on the console, an error, or asked for anything outside this machine."""
    yield lambda *args, **options: visit(*args, **options).page
    assert [text for one in visits for text in one.complaints] == []
