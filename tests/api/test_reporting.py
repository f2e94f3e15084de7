"""The timing loop on a clock of our own, tables, number formats, the progress bar."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sharnir as sh
from sharnir.reporting import progress as progress_module
from sharnir.reporting.formats import count, duration, error, figures, memory, plural
from sharnir.reporting.pictures import check_picture_suffix, new_figure
from sharnir.reporting.progress import ProgressBar
from sharnir.reporting.table import Cell, Column, Table
from sharnir.reporting.timing import Stopwatch, cpu_and_wall, interleaved, once, race, repeated_over


# --- timing -----------------------------------------------------------------------------------------------------------------
class Machine:
    """Calls that take as long as they are told, with a slow first one."""

    def __init__(self, seconds: float, first: float = 0.0) -> None:
        self.seconds, self.first, self.samples = seconds, first, []

    def run(self, times: int) -> float:
        took, self.first = times * self.seconds + self.first, 0.0
        self.samples.append(times)
        return took


def test_a_sample_has_as_many_calls_as_fit_it_whatever_the_first_call_took():
    fast, slow = Machine(1e-6, first=5.0), Machine(0.5, first=5.0)
    watches = [Stopwatch(m.run, 0.01) for m in (fast, slow)]
    assert [w.warm_up() for w in watches] == pytest.approx([1e-6, 0.5])
    assert [w.calls for w in watches] == pytest.approx([10_000, 1], rel=0.01)


def test_calls_of_a_sample_stay_between_fewest_and_most():
    assert Stopwatch(Machine(1.0).run, 0.01, fewest=4).calls == 4
    watch = Stopwatch(Machine(1e-6).run, 0.01, most=200)
    watch.warm_up()
    assert watch.calls == 200


def test_times_are_per_state_of_a_call():
    watch = Stopwatch(Machine(0.64).run, 0.01, states=64)
    watch.warm_up()
    watch.take_sample()
    assert watch.least == pytest.approx(0.01)


def test_warming_up_counts_until_the_first_sample():
    machine = Machine(1.0)
    watch = Stopwatch(machine.run, 0.01)
    watch.warm_up()
    assert watch.seconds == [1.0]
    machine.seconds = 2.0
    watch.take_sample()
    watch.take_sample()
    assert watch.seconds == [2.0, 2.0] and watch.spent == 4.0


def test_a_slow_contender_stops_after_three_samples():
    watch = Stopwatch(Machine(1.0).run, 0.01, limit=1.5)
    for _ in interleaved([watch], rounds=10):
        pass
    assert len(watch.seconds) == 3


def test_contenders_are_sampled_in_turn_as_often_as_asked_and_as_long():
    order: list[str] = []
    watches = [Stopwatch(lambda n, name=name: order.append(name) or 1.0, 0.01) for name in "ab"]
    assert list(interleaved(watches, rounds=2)) == [0, 1] and "".join(order) == "abab"
    assert list(interleaved(watches, rounds=2, seconds=5.0)) == [0, 1, 2, 3, 4]
    for k in interleaved(watches, rounds=9):
        if k == 1:
            break
    assert len(watches[0].seconds) == 8


def test_arguments_change_from_call_to_call():
    seen: list[int] = []
    run = repeated_over(seen.append, iter([(k,) for k in range(9)]))
    assert run(2) >= 0.0 and run(3) >= 0.0 and seen == [0, 1, 2, 3, 4]


def test_a_race_gives_the_least_time_of_each():
    found = race({"a": lambda: sum(range(10)), "b": lambda: sum(range(20_000))}, rounds=3, sample=1e-4, states={"a": 1, "b": 2})
    assert 0.0 < found["a"] < found["b"]
    assert once(lambda: None, 10) > 0.0 and all(x >= 0.0 for x in cpu_and_wall(lambda: None))


# --- tables -----------------------------------------------------------------------------------------------------------------
def test_a_table_of_text_is_aligned_wrapped_or_markdown():
    table = Table.of_text([["a", "b"], ["long cell", "**c**"]])
    assert table.plain().splitlines() == ["a          b", "long cell  c"]
    assert table.plain(widest=4, ruled=True).splitlines() == ["a     b", "----  -", "long  c", "cell"]
    assert table.markdown().splitlines() == ["| a | b |", "|---|---|", "| long cell | **c** |"]


def test_a_narrow_terminal_does_without_the_columns_that_are_dropped_first():
    columns = [Column("name"), Column("first", True, dropped=1), Column("second", True, dropped=2)]
    table = Table(columns, [[Cell("x" * 10), Cell("1" * 10), Cell("2" * 10)]])
    assert [len(table.rich(width).columns) for width in (80, 25, 12)] == [3, 2, 1]


@pytest.mark.parametrize("listed", [sh.methods(), sh.integrators()])
def test_lists_of_methods_print_as_tables(listed):
    lines = str(listed).splitlines()
    assert len(lines) == 1 + len(listed) and repr(listed) == str(listed)
    assert [line.split()[0] for line in lines[1:]] == [item.name for item in listed]
    starts = {line.index(item.what) for line, item in zip(lines[1:], listed, strict=True)}
    assert starts == {lines[0].index("what it is")}


# --- numbers ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.234e-9, "1.23 ns"), (9.999e-7, "1 µs"), (2.5e-5, "25 µs"), (0.1, "100 ms"), (3.0, "3 s"), (0.0, "0 ns"), (None, "–")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_numbers_with_their_units():
    assert [memory(x) for x in (None, 12, 1500, 2_500_000)] == ["–", "12 B", "1.5 kB", "2.5 MB"]
    assert [figures(x) for x in (0.12345, 999.4, 999.6, 123456.7)] == ["0.123", "999", "1000", "123457"]
    assert [count(n) for n in (None, 999, 12345)] == ["–", "999", "12\u202f345"]
    assert [error(x) for x in (None, 0.0, 3.14e-12, 3.14e-5)] == ["–", "0", "3.1e-12", "3.1e-5"]
    assert [plural(n, "body", "bodies") for n in (0, 1, 2)] == ["0 bodies", "1 body", "2 bodies"]


# --- progress and pictures --------------------------------------------------------------------------------------------------
def test_a_bar_appears_after_a_while_with_title_and_value(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with ProgressBar(True, "soon", 1.0) as bar:
        bar.update(0.5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress_module, "DELAY", 0.0)
    with ProgressBar(True, "[arm]", end=3.0, start=1.0, label="t = {:.3g} s") as bar:
        bar.update(2.0)
        bar.update(2.5, "landing")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert "[arm], t = 2 s" in shown and "50%" in shown and "[arm], landing" in shown and "75%" in shown


def test_a_bar_of_many_hours_says_when_they_end(capsys, monkeypatch):
    """72 updates, one every ten minutes of a clock that nobody waits for."""
    now = [0.0]
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
    monkeypatch.setattr(progress_module, "perf_counter", lambda: now[0])
    with ProgressBar(True, "study", 72.0) as bar:
        for k in range(1, 73):
            now[0] += 600.0
            bar.update(k)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert all(text in shown for text in ("11:40:00", "6:00:00", "0:10:00"))


def test_no_bar_where_nobody_looks(capsys, monkeypatch):
    monkeypatch.setattr(progress_module, "DELAY", 0.0)
    for shown in (False, None):  # under pytest stderr is no terminal
        with ProgressBar(shown, "quiet", 1.0) as bar:
            bar.update(0.5)
    assert capsys.readouterr().err == ""


def test_suffixes_of_pictures():
    for name in ("a.png", "a.SVG", "a.pdf", "a.webp"):
        check_picture_suffix(Path(name))
    for name, problem in (("a.foo", r"a\.foo: unknown suffix '\.foo'"), ("a", "a: no suffix")):
        with pytest.raises(sh.StateError, match=f"cannot draw {problem}; end the name with .png, .svg or .pdf"):
            check_picture_suffix(name)
    assert new_figure((2.0, 1.0)).get_size_inches().tolist() == [2.0, 1.0]
