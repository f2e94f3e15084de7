"""The import report: nothing in a file is passed over in silence."""

from __future__ import annotations

import pytest

import sharnir as sh
from urdf_files import INERTIAL, arm, joint, link, write


def test_four_verdicts_are_called_to_add_and_read_as_lists():
    r = sh.ImportReport("robot.x")
    r.honoured("joint", "joint 'a', line 1")
    r.approximated("friction", "geom 'b', line 2", "a cone for a pyramid")
    r.kept("limit", "joint 'a', line 3")
    r.ignored("sensor", "sensor 's', line 4", "not modelled")
    r.ignored("sensor", "sensor 't', line 5", "not modelled")
    assert len(r) == 5 and r
    assert [e.where for e in r.ignored] == ["sensor 's', line 4", "sensor 't', line 5"]
    assert [e.verdict for e in r] == ["honoured", "approximated", "kept", "ignored", "ignored"]
    assert r.approximated == r.warnings and not r.complete
    assert r.summary() == "1 honoured, 1 approximated, 1 kept, 2 ignored"
    text = str(r)
    assert "2 × sensor  not modelled  [sensor 's', line 4 and 1 more]" in text
    assert text.count("sensor 't'") == 0 and "1 × friction  a cone for a pyramid  [geom 'b', line 2]" in text
    assert not sh.ImportReport()


@pytest.mark.parametrize("verdict", ["approximated", "ignored"])
def test_strict_raises_on_what_is_not_honoured(verdict):
    r = sh.ImportReport("robot.x", strict=True)
    r.honoured("joint", "joint 'a', line 1")
    r.kept("limit", "joint 'a', line 2")
    with pytest.raises(sh.FormatError, match=rf"robot\.x: geom 'b', line 3: drum would be {verdict} \(too loud\); strict=True"):
        getattr(r, verdict)("drum", "geom 'b', line 3", "too loud")
    with pytest.raises(sh.FormatError, match="line 4"):
        r.kept("inertia", "body 'c', line 4", warning=True)


def test_a_built_model_has_no_report():
    assert sh.samples.chain(2).import_report is None


STRANGE = [
    '<gazebo reference="upper"/>', '<transmission name="t"/>', "<ros2_control/>", '<sensor name="s"/>',
    link("extra", INERTIAL + "<contact/><inertial/><visual/>"), '<unheard_of colour="3"/>',
    joint('hook" mood="bad', "fixed", "tool", "extra", '<safety_controller k="3"/><calibration/><origin/>'),
]  # fmt: skip


def test_everything_that_is_not_read_is_listed_with_its_line(tmp_path):
    parts = [*arm(), *STRANGE]
    m = sh.load(write(tmp_path, *parts))
    found = {(e.what, int(e.where.rpartition(" ")[2])) for e in m.import_report.ignored}
    first = len(arm()) + 2
    assert found == {
        ("<gazebo>", first), ("<transmission>", first + 1), ("<ros2_control>", first + 2), ("<sensor>", first + 3),
        ("<contact>", first + 4), ("second <inertial>", first + 4), ("visual without a known shape", first + 4),
        ("<unheard_of>", first + 5), ("<safety_controller>", first + 6), ("<calibration>", first + 6),
        ("second <origin>", first + 6), ("attribute 'mood' of <joint>", first + 6),
    }  # fmt: skip


@pytest.mark.parametrize("strange", STRANGE[:4])
def test_strict_names_file_and_line_of_the_first_of_them(tmp_path, strange):
    sh.load(write(tmp_path, *arm()), strict=True)
    with pytest.raises(sh.FormatError, match=rf"robot\.urdf: .*, line {len(arm()) + 2}: <.* would be ignored"):
        sh.load(write(tmp_path, *arm(), strange), strict=True)


def test_what_is_kept_says_when_it_acts(tmp_path):
    m = sh.load(write(tmp_path, *arm(inside='<dynamics damping="1" friction="1"/>')))
    why = {e.what: e.why for e in m.import_report.kept}
    assert all('acting="all"' in why[what] for what in ("limits of a joint", "friction"))
    assert [e.what for e in m.import_report.honoured].count("damping") == 1
    m = sh.load(write(tmp_path, *arm(inside='<dynamics damping="1" friction="1"/>')), passive=False)
    assert {e.what for e in m.import_report.ignored} == {"damping", "friction"}


def test_as_data(tmp_path):
    data = sh.load(write(tmp_path, *arm())).import_report.as_dict()
    assert data["source"].endswith("robot.urdf")
    assert data["entries"][0].keys() == {"what", "where", "verdict", "why", "warning", "motion"}
