"""MuJoCo's compiler in a process of its own: what a file does to it ends with an error of ours, and the next file is read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

import sharnir as sh
from mjcf_models import SLIDER
from mujoco_pairs import write
from sharnir.io import mjcf_process
from sharnir.io.mjcf_process import COMPILER, send

BODY = '<body><joint/><geom size="0.1"/></body>'
COPIES = f'<mujoco><worldbody><replicate count="19999" offset="1 0 0">{BODY}</replicate></worldbody></mujoco>'
TORUS = """<mujoco><asset><mesh name="m" builtin="supertorus" params="{} 0.5 1 1"/></asset>
  <worldbody><body name="b"><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


class Expired:
    """A clock whose time is up as soon as it starts."""

    seconds = 0.0

    def __init__(self, seconds, action):
        Expired.seconds, self.start = seconds, action

    def cancel(self):
        pass


def test_a_small_file_that_takes_minutes_is_refused_when_its_time_is_up(tmp_path, monkeypatch):
    sh.load(write(tmp_path, SLIDER))  # the process is there
    path = write(tmp_path, COPIES)
    with monkeypatch.context() as patched:
        patched.setenv("SHARNIR_MJCF_SECONDS", "40")
        patched.setattr(threading, "Timer", Expired)
        with pytest.raises(sh.FormatError) as refused:
            sh.load(path)
    assert 40.0 < Expired.seconds < 41.0, "and something for its size"
    assert "model.xml: compiling it takes more than 40 s; make fewer copies" in str(refused.value)
    assert "set SHARNIR_MJCF_SECONDS" in str(refused.value)
    assert sh.load(write(tmp_path, SLIDER)).nv == 7


@pytest.mark.skipif(sys.platform != "linux", reason="address space is bounded on Linux alone")
def test_a_small_file_that_takes_gigabytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARNIR_MJCF_SECONDS", "600")  # memory is what it runs out of, however slow the machine
    with pytest.raises(sh.FormatError, match=r"model\.xml: compiling it takes more than 1000 MB of memory; .* SHARNIR_MJCF_MB"):
        sh.load(write(tmp_path, TORUS.format(19000)))
    assert sh.load(write(tmp_path, SLIDER)).nv == 7


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="signals of POSIX")
@pytest.mark.parametrize(
    ("name", "says"),
    [("SIGSEGV", r"MuJoCo's compiler crashed on it \(signal \d+\)"), ("SIGXCPU", "compiling it takes more than 10 s; .*SECONDS")],
)
def test_a_compiler_that_dies_of_a_job_does_not_end_the_caller(name, says, tmp_path, monkeypatch):
    sh.load(write(tmp_path, SLIDER))
    process = COMPILER.process
    assert process is not None

    def deadly(stream, job):
        os.kill(process.pid, getattr(signal, name))
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        send(stream, job)

    path = write(tmp_path, COPIES)
    with monkeypatch.context() as patched:
        patched.setattr(mjcf_process, "send", deadly)
        with pytest.raises(sh.FormatError, match=rf"model\.xml: {says}"):
            sh.load(path)
    assert sh.load(write(tmp_path, SLIDER)).nv == 7 and COMPILER.process is not process


def test_a_file_that_crashes_mujoco_is_refused(tmp_path):
    """A copied shape with a plugin: a segmentation fault in MuJoCo 4.0, in a new process always, later by chance."""
    COMPILER.close()
    plugin = '<plugin instance="g"/>'
    text = f"""<mujoco><extension><plugin plugin="mujoco.sdf.gear"><instance name="g"/></plugin></extension>
      <worldbody><replicate count="3"><body><joint/><geom size="0.1">{plugin}</geom></body></replicate></worldbody></mujoco>"""
    with pytest.raises(sh.FormatError, match=r"model\.xml:.* MuJoCo"):
        sh.load(write(tmp_path, text))
    assert sh.load(write(tmp_path, SLIDER)).nv == 7


@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan", "1e99"])
def test_a_limit_is_a_positive_number(value, tmp_path, monkeypatch):
    monkeypatch.setenv("SHARNIR_MJCF_SECONDS", value)
    with pytest.raises(sh.ModelError, match="SHARNIR_MJCF_SECONDS must be a positive number"):
        sh.load(write(tmp_path, SLIDER))


ALONE = """
import os, sys
import sharnir as sh
from sharnir.io.mjcf_process import COMPILER
assert sh.load("model.xml", acting="motion").nv == 7 and "mujoco" not in sys.modules
before = COMPILER.process.pid
assert sh.load("model.xml", acting="motion").nv == 7 and COMPILER.process.pid == before
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        assert COMPILER.process is None and sh.load("model.xml", acting="motion").nv == 7
        COMPILER.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sh.load("model.xml", acting="motion").nv == 7 and COMPILER.process.pid == before
print(before)
"""


def test_one_process_serves_all_files_and_ends_with_its_parent(tmp_path):
    write(tmp_path, SLIDER)
    (tmp_path / "json.py").write_text("raise SystemExit('a module of the folder is imported')", encoding="utf-8")
    (tmp_path / "script").mkdir()
    (tmp_path / "script" / "alone.py").write_text(ALONE, encoding="utf-8")
    command = [sys.executable, "-W", "error", "script/alone.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_threads_share_the_process(tmp_path):
    path, found = write(tmp_path, SLIDER), list[int]()
    threads = [threading.Thread(target=lambda: found.append(sh.load(path).nv)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [7] * 4
