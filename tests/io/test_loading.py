"""`Result.load` trusts no file: what is not a result is refused, quickly, whatever stands in its header."""

from __future__ import annotations

import os
import random
import struct
import tracemalloc
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import sharnir as sh
from sharnir.simulation.results.netcdf import CHECKSUM_BYTES, COUNT_AT, Reader, Writer
from sharnir.simulation.results.storage import motion
from work import counted

pytestmark = pytest.mark.xdist_group("integrators")


@pytest.fixture(scope="module")
def model():
    m = sh.samples.chain(2)
    m.add_parameter("load", 1.0)
    return m


@pytest.fixture(scope="module")
def result(model):
    events = [sh.Event(lambda on: on.t - 0.1, name="früh"), sh.Event(lambda on: on.t - 0.2)]
    return sh.simulate(model, 0.3, method="separate", events=events, tau={"joint1": 0.5})


def written(path, data, attributes):
    with path.open("wb") as file:
        Writer(file, data, attributes)
    return path


def refused(path, model, says):
    with pytest.raises(sh.StateError, match=says) as error:
        sh.Result.load(path, model)
    assert str(path) in str(error.value)


# --- the format -------------------------------------------------------------------------------------------------------------
def test_what_is_written_is_what_others_read(tmp_path):
    """SciPy reads the format independently, and so do all NetCDF programs."""
    from scipy.io import netcdf_file

    rng = np.random.default_rng(0)
    x, y, fixed = rng.normal(size=(7, 3)), rng.normal(size=(7, 2, 2)), rng.normal(size=5)
    words = ["a", "über alles", ""]
    data = {
        "time": (("time",), np.arange(7.0), {"units": "s"}),
        "x": (("time", "three"), x, {}), "y": (("time", "two", "two"), y, {}),
        "three": (("three",), words, {}), "fixed": (("five",), fixed, {"long_name": "of five"}),
        "none": (("time", "nothing"), np.zeros((7, 0)), {}),
    }  # fmt: skip
    attributes = {"text": "Größe", "whole": 3, "large": 2**40, "numbers": np.array([1.5, -0.0]), "empty": ""}
    with (tmp_path / "a.nc").open("wb") as file:
        writer = Writer(file, data, attributes)
        writer.append({"time": np.array([7.0]), "x": x[:1], "y": y[:1]})
    theirs: Any
    with netcdf_file(tmp_path / "a.nc", "r", mmap=False) as theirs:
        assert set(theirs.variables) == set(data) - {"none"} and theirs.variables["time"].units == b"s"
        assert np.array_equal(theirs.variables["x"][:], np.concatenate([x, x[:1]]))
        assert np.array_equal(theirs.variables["y"][:7], y) and np.array_equal(theirs.variables["fixed"][:], fixed)
        assert theirs.text.decode() == "Größe" and (theirs.whole, theirs.large) == (3, 2**40)
    with (tmp_path / "a.nc").open("rb") as file:
        ours = Reader(file)
        back = ours.read("x", "y", "fixed", "time")
        assert ours.words("three") == words and list(back["time"]) == list(range(8)) and ours.whole
    assert np.array_equal(back["x"][:7], x) and np.array_equal(back["y"][7], y[0]) and np.array_equal(back["fixed"], fixed)
    assert {name: value for name, value in ours.attributes.items() if name != "numbers"} == {
        "text": "Größe", "whole": [3], "large": [2**40], "empty": ""
    }  # fmt: skip


def test_a_file_that_another_program_has_written_is_read_too(result, model, tmp_path):
    import xarray as xr

    result.save(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc", decode_times=False) as data:
        data.to_netcdf(tmp_path / "b.nc", format="NETCDF3_64BIT")
        data.to_netcdf(tmp_path / "c.nc", format="NETCDF3_CLASSIC")
    for name in ("b.nc", "c.nc"):
        back = sh.Result.load(tmp_path / name, model)
        assert np.array_equal(back.q, result.q) and back.cost == result.cost and np.array_equal(back.tau, result.tau)
        assert [event.name for event in back.events] == ["früh", ""]


# --- contents ---------------------------------------------------------------------------------------------------------------
def wide(data, attributes):
    data["q"] = (("time", "wide"), np.zeros((31, 5)), {})


def turned(data, attributes):
    data["v"] = (("speed", "row"), np.zeros((2, 31)), {})


def without(name):
    def change(data, attributes):
        (data if name in data else attributes).pop(name)

    return change


def about(name, **said):
    def change(data, attributes):
        dimensions, x, _ = data[name]
        data[name] = (dimensions, x, said)

    return change


def says(name, value):
    def change(data, attributes):
        attributes[name] = value

    return change


def times(change_of):
    def change(data, attributes):
        data["time"] = (("time",), change_of(data["time"][1].copy()), {"units": "s"})

    return change


def events(data, attributes):
    data["event"] = (("event",), ["a", "b"], {})
    data["event_time"] = (("event",), np.zeros(2), {})


DAMAGES = {
    "width": (wide, r"'q' is float64 \(31, 5\) over \('time', 'wide'\); expected float64 \(31, 2\)"),
    "turned": (turned, r"'v' is float64 \(2, 31\)"),
    "no speeds": (without("v"), "it has no 'v'"),
    "no time": (without("time"), "it has no 'time'"),
    "no names": (without("coordinate"), "other coordinates"),
    "letters": (lambda data, _: data.update(q=(("coordinate",), ["a", "b"], {})), "'q' is bytes8"),
    "scale": (about("q", scale_factor="2"), "attribute 'scale_factor'; a result holds plain numbers"),
    "units": (about("time", units="ms"), "'time' is in units of 'ms'; expected 's'"),
    "no units": (about("time"), "'time' is in units of ''"),
    "disorder": (times(lambda t: t[::-1] * np.where(np.arange(31) == 3, 9.0, 1.0)), "times are not in order"),
    "not finite": (times(lambda t: t + np.where(np.arange(31) == 3, np.nan, 0.0)), "times are not in order"),
    "events": (events, "it has no 'event_q'"),
    "no tau": (without("tau"), "no attribute 'tau'"),
    "short tau": (says("tau", np.zeros(1)), "'tau' must be 2 numbers"),
    "no status": (without("status"), "no attribute 'status'"),
    "status": (says("status", 3), "'status' is no text"),
    "no method": (without("cost_method"), "no attribute 'cost_method'"),
    "steps": (says("cost_steps", 1.5), "'cost_steps' is no whole number"),
    "wall": (says("cost_wall", "long"), "'cost_wall' is no number"),
    "accounted": (without("accounted"), "no attribute 'accounted'"),
    "version": (says("sharnir_result", 99), "a later version of sharnir"),
    "no result": (without("sharnir_result"), "not a result of sharnir"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "message"), DAMAGES.values(), ids=list(DAMAGES))
def test_what_a_result_cannot_be_is_refused_by_name(result, model, tmp_path, damage, message):
    data, attributes = motion(result)
    assert sh.Result.load(written(tmp_path / "good.nc", data, attributes), model).status == "done"
    damage(data, attributes)
    refused(written(tmp_path / "run.nc", data, attributes), model, message)


def test_the_model_in_a_file_is_checked_as_any_other(result, tmp_path):
    data, attributes = motion(result)
    path = written(tmp_path / "run.nc", data, {**attributes, "model_yaml": "sharnir: 1\nbodies: 3"})
    with pytest.raises(sh.FormatError, match=r"run\.nc: the model in it"):
        sh.Result.load(path)
    refused(written(tmp_path / "none.nc", data, attributes), None, "holds no model")


# --- damage -----------------------------------------------------------------------------------------------------------------
def test_hdf5_is_refused_unread_and_the_remedy_named(tmp_path):
    (tmp_path / "run.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    refused(tmp_path / "run.nc", None, "HDF5.*NETCDF3_64BIT")


def test_a_length_that_lies_costs_neither_memory_nor_work(result, model, tmp_path):
    path = tmp_path / "run.nc"
    result.save(path)
    good = path.read_bytes()[:-CHECKSUM_BYTES]  # as older versions wrote it
    lies = [good[:COUNT_AT] + struct.pack(">I", n) + good[COUNT_AT + 4 :] for n in (32, 2**31 - 1, 2**32 - 1)]
    for at in range(8, 400, 4):  # dimensions, attributes, their counts and lengths
        lies += [good[:at] + struct.pack(">I", n) + good[at + 4 :] for n in (2**31 - 1, 2**32 - 1)]
    tracemalloc.start()
    with counted() as work:
        for k, lie in enumerate(lies):
            path.write_bytes(lie)
            if k < 3:
                refused(path, model, "incomplete: it ends after 31 rows")
            else:
                with suppress(sh.SharnirError):  # some are numbers, and no lengths
                    sh.Result.load(path, model)
    assert work.calls < 20_000 * len(lies) and tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


def test_a_byte_that_changed_anywhere_is_noticed(result, model, tmp_path):
    """Of the checksum itself too, but for the mark by which it is known: then the numbers are as they were."""
    path = tmp_path / "run.nc"
    result.save(path)
    good, rng = path.read_bytes(), random.Random(0)
    ends = range(len(good) - CHECKSUM_BYTES, len(good))
    for at in [*range(0, 600, 5), *rng.sample(range(600, len(good)), 120), *ends]:
        path.write_bytes(good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1 :])
        if at in ends[:8]:
            assert np.array_equal(sh.Result.load(path, model).q, result.q)
        else:
            refused(path, model, "cannot be read as a result")
    path.write_bytes(good[:-CHECKSUM_BYTES])
    assert np.array_equal(sh.Result.load(path, model).q, result.q), "a file of an older version"


def test_the_checksum_follows_the_rows_that_are_appended(tmp_path):
    rows = {"time": np.arange(5.0), "x": np.ones((5, 1))}
    dimensions = {"time": ("time",), "x": ("time", "one")}
    with (tmp_path / "a.nc").open("wb") as file:
        writer = Writer(file, {name: (dimensions[name], x[:2], {}) for name, x in rows.items()}, {})
        for k in range(2, 5):
            writer.append({name: x[k : k + 1] for name, x in rows.items()})
            with (tmp_path / "a.nc").open("rb") as so_far:
                assert Reader(so_far).rows == k + 1
    data = bytearray((tmp_path / "a.nc").read_bytes())
    data[-CHECKSUM_BYTES - 1] ^= 1  # of the last row
    (tmp_path / "a.nc").write_bytes(data)
    with (tmp_path / "a.nc").open("rb") as file, pytest.raises(ValueError, match="checksum is another"):
        Reader(file)


def test_a_file_full_of_holes_is_refused_before_memory_is_asked_for(result, model, tmp_path, monkeypatch):
    monkeypatch.setattr("sharnir.machine.memory", lambda: 2**34)
    path = tmp_path / "run.nc"
    result.save(path)
    good = path.read_bytes()
    path.write_bytes(good[:COUNT_AT] + struct.pack(">I", 2**31 - 1) + good[COUNT_AT + 4 :])
    try:
        os.truncate(path, 2**41)
    except OSError:
        pytest.skip("no file of this size here")
    refused(path, model, "GiB, of .* GiB of memory")
    path.unlink()


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_an_error_of_ours_or_a_result(result, model, tmp_path, seed):
    path = tmp_path / "run.nc"
    result.save(path)
    good, rng = path.read_bytes()[:-CHECKSUM_BYTES], random.Random(seed)  # as older versions wrote it
    numbers = [bytes(4), b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\1", b"\0\0\1\0"]
    read = 0
    for _ in range(150):
        data = bytearray(good)
        for _ in range(rng.choice([1, 1, 2, 8])):
            at = rng.randrange(len(good) if seed == 0 else 4000)
            if rng.random() < 0.5:
                data[at] = rng.randrange(256)
            else:
                data[at & ~3 : (at & ~3) + 4] = rng.choice(numbers)
        path.write_bytes(data if rng.random() < 0.8 else data[: rng.randrange(len(data))])
        with suppress(sh.SharnirError):
            r = sh.Result.load(path, model if rng.random() < 0.8 else None)
            read += 1
            assert r.q.shape == (len(r.t), r.model.nq) and r.v.shape == (len(r.t), r.model.nv)
    assert 0 < read < 150
