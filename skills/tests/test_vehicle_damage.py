from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE, Runner, load
from test_shipped import check_events

SKILL = "vehicle-damage-inspection"
STAGES = ["extract", "detect", "ground", "select", "report"]
samples = load(SKILL, "sample_frames")
png = load(SKILL, "png")
formats = load(SKILL, "formats")
raster = load(SKILL, "raster")


@pytest.fixture(scope="session")
def sample(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    samples.make(folder)
    return folder


@pytest.fixture
def inspect(runner: Runner, sample: Path, tmp_path: Path):
    """Runs the skill on sample frames, with no program on the path unless a test puts one there."""
    programs = tmp_path / "programs"
    programs.mkdir()
    runner.variables["PATH"] = str(programs)
    shutil.copytree(sample, runner.workspace / "sample")
    return lambda **given: runner.run(SKILL, given)


def few(runner: Runner) -> Path:
    """Two frames of the scratched side and two of its mirror image."""
    folder = runner.workspace / "few"
    folder.mkdir()
    for name in ("01-left-1.png", "02-left-2.png", "13-right-1.png", "14-right-2.png"):
        shutil.copy(runner.workspace / "sample" / "after" / name, folder)
    return folder


def frames_with_findings(result) -> list[str]:
    return sorted({name for finding in result["findings"] for name in finding["frames"]})


@pytest.mark.parametrize("more", [{"reference": "sample/before"}, {}])
def test_damaged_frames_are_found_and_clean_ones_are_not(inspect, runner: Runner, more):
    done = inspect(source="sample/after", **more)
    assert (done.code, done.logs) == (0, [])
    assert frames_with_findings(done.result) == samples.damaged_names()
    kinds = {(finding["kind"], finding["frames"][0]) for finding in done.result["findings"]}
    assert kinds == {
        ("scratch", "01-left-1.png"),
        ("dent", "10-right-front-1.png"),
        ("dent", "13-right-1.png"),
    }
    # The third of each view is shaken.
    assert not any(finding["frame"].endswith("-3.png") for finding in done.result["findings"])
    assert done.result["counts"] == {"frames": 18, "unreadable": 0, "notJudged": 0, "findings": 3}
    check_box(next(f["box"] for f in done.result["findings"] if f["kind"] == "scratch"))
    check_honesty(done.result, runner)


def check_box(box):
    """On the rear door: from 6 to 19 units right of the middle, at 4 of 480 pixels each."""
    assert 0.50 < box["left"] < 0.56 and 0.64 < box["right"] < 0.71
    assert 0.55 < box["top"] < 0.66 and 0.69 < box["bottom"] < 0.75


def check_honesty(result, runner: Runner):
    assert result["method"] == "image_comparison"
    assert "not by a trained detector" in result["methodNote"]
    assert "not by a trained detector" in runner.read(result["report"])


@pytest.mark.parametrize("more", [{"reference": "sample/after"}, {}])
def test_an_undamaged_vehicle_has_no_findings(inspect, runner: Runner, more):
    done = inspect(source="sample/before", **more)
    assert (done.result["findings"], done.result["images"]) == ([], [])
    assert "does not prove" in done.result["summary"]
    check_events(done.events)


def test_stages_batches_and_pictures(inspect, runner: Runner):
    done = inspect(source="sample/after", batchFrames=4, maxPictures=2)
    assert done.stages() == STAGES
    check_events(done.events)
    batches = [(e["batch"], e["totalBatches"]) for e in done.of_stage("detect") if "batch" in e]
    assert batches == [(number, 5) for number in range(1, 6)]
    assert [event["candidates"] for event in done.of_stage("detect")[1:-1]] == [3, 3, 6, 9, 9]
    assert len(done.result["images"]) == 2
    report = runner.read(done.result["report"])
    for image in done.result["images"]:
        path = runner.workspace / image["path"]
        assert f"]({path.name})" in report
        picture = png.decode(path.read_bytes())
        assert picture.height == 270 and picture.width > 480
        assert bytes(load(SKILL, "pictures").MARK) in picture.pixels
    assert json.loads(runner.read(done.result["data"]))["findings"] == done.result["findings"]


def test_the_same_frames_give_the_same_result(inspect, runner: Runner):
    few(runner)

    def everything():
        result = inspect(source="few").result
        return result, {file.name: file.read_bytes() for file in runner.output.iterdir()}

    assert everything() == everything()


def test_sample_frames_are_always_the_same(sample: Path, tmp_path: Path):
    view = samples.VIEWS[0]
    one, other = (samples.draw(view, (1.5, -0.5), True) for _ in range(2))
    assert one == other
    filmed = [samples.filmed(one, 1.1, True, random.Random(7)) for _ in range(2)]
    assert filmed[0] == filmed[1] != one
    names = sorted(file.name for file in (sample / "after").iterdir())
    assert len(names) == 18 and set(samples.damaged_names()) < set(names)


def test_a_reference_that_does_not_show_everything(inspect, runner: Runner):
    """What it shows is compared with it, the rest with the other frames; the report says which."""
    few(runner)
    reference = runner.workspace / "reference"
    reference.mkdir()
    shutil.copy(runner.workspace / "sample" / "before" / "01-left-1.png", reference)
    done = inspect(source="few", reference="reference")
    evidence = {f["frames"][0]: f["evidence"] for f in done.result["findings"]}
    assert evidence == {"01-left-1.png": "reference", "13-right-1.png": "mirror"}
    report = runner.read(done.result["report"])
    assert re.search("2 frames .* from the reference frames", report)
    assert re.search("2 frames .* from neighbouring and mirrored frames", report)


def test_unrelated_frames_are_not_judged(inspect, runner: Runner):
    folder = runner.workspace / "unrelated"
    folder.mkdir()
    for seed in range(3):
        blocks = raster.Picture(20, 12, random.Random(seed).randbytes(20 * 12 * 3))
        formats.write_ppm(folder / f"{seed}.ppm", raster.enlarge(blocks, 8))
    done = inspect(source="unrelated")
    assert done.result["counts"]["notJudged"] == 3
    assert "0.ppm, 1.ppm, 2.ppm" in runner.read(done.result["report"])


def test_unreadable_frames_are_told_and_left_out(inspect, runner: Runner):
    folder = few(runner)
    (folder / "00-broken.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    (folder / "00-photo.jpg").write_bytes(b"\xff\xd8")
    (folder / "00-tiny.ppm").write_bytes(b"P6 2 2 255\n" + bytes(12))
    (folder / "00-narrow.ppm").write_bytes(b"P6 20 900 255\n" + bytes(20 * 900 * 3))
    (folder / "notes.txt").write_text("not a frame")
    done = inspect(source="few", language="zh")
    assert done.result["counts"]["unreadable"] == 4
    assert len(frames_with_findings(done.result)) == 4
    assert len(done.warnings()) == 4
    assert "00-photo.jpg (needs ffmpeg" in runner.read(done.result["report"])


def test_of_many_frames_some_are_chosen(inspect, runner: Runner):
    done = inspect(source="sample/after", maxFrames=3)
    assert json.loads(runner.read(done.result["data"]))["frames"] == [
        "01-left-1.png",
        "09-front-3.png",
        "18-rear-3.png",
    ]
    assert "Of 18 frames, 3" in runner.read(done.result["report"])


def test_frames_are_taken_in_the_order_of_their_numbers():
    in_order = load(SKILL, "frames").in_order
    names = ["frame10.png", "frame2.png", "10.png", "9.png", "a.png"]
    assert [path.name for path in sorted(map(Path, names), key=in_order)] == [
        "9.png",
        "10.png",
        "a.png",
        "frame2.png",
        "frame10.png",
    ]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, "bad_input"),
        ({"source": "missing"}, "not_found"),
        ({"source": ".."}, "outside_workspace"),
        ({"source": "empty"}, "not_found"),
        ({"source": "photos"}, "unsupported"),
        ({"source": "broken"}, "unsupported"),
        ({"source": "walk.mp4"}, "unsupported"),
        ({"source": "photos", "maxFrames": 0}, "bad_input"),
        ({"source": "photos", "sensitivity": "extreme"}, "bad_input"),
        ({"source": "photos", "detector": "vision"}, "unsupported"),
    ],
)
def test_refuses(runner: Runner, tmp_path: Path, given, kind):
    runner.variables["PATH"] = str(tmp_path)
    for name, file in (("empty", "x.txt"), ("photos", "x.jpg"), ("broken", "x.png")):
        (runner.workspace / name).mkdir()
        (runner.workspace / name / file).write_bytes(b"x")
    (runner.workspace / "walk.mp4").write_bytes(b"x")
    done = runner.run(SKILL, given)
    assert (done.code, done.result["kind"]) == (1, kind)
    assert str(runner.workspace) not in json.dumps([done.result, done.events])


# Behaves as ffmpeg does: describes a file, writes the frames of a video, converts a picture. Its
# videos are lists of PPM files, and its photos PPM files by another name.
FAKE_FFMPEG = """#!{python}
import re, shutil, sys
from pathlib import Path
source = Path(sys.argv[sys.argv.index("-i") + 1].removeprefix("file:"))
target = sys.argv[-1]
if target.startswith("file:"):
    sys.exit("  Duration: 00:00:09.00, start: 0.000000, bitrate: 1 kb/s")
if "-progress" in sys.argv:
    names = source.read_text().splitlines()
    if not names[0].endswith(".ppm"):
        sys.exit(f"file:{{source}}: Invalid data found when processing input")
    for number, name in enumerate(names, 1):
        shutil.copy(source.parent / name, target.replace("%05d", f"{{number:05}}"))
        print(f"frame={{number}}\\nprogress=continue", flush=True)
else:
    shutil.copy(source, target)
"""


@pytest.fixture
def with_ffmpeg(inspect, runner: Runner):
    program = Path(runner.variables["PATH"]) / "ffmpeg"
    program.write_text(FAKE_FFMPEG.format(python=sys.executable))
    program.chmod(0o755)
    names = []
    for file in sorted((runner.workspace / "sample" / "after").glob("*-1.png")):
        formats.write_ppm(runner.workspace / f"{file.stem}.ppm", formats.read_picture(file))
        names.append(f"{file.stem}.ppm")
    return names


def test_a_video_is_read_by_ffmpeg(inspect, with_ffmpeg, runner: Runner):
    (runner.workspace / "walk.mp4").write_text("\n".join(with_ffmpeg))
    done = inspect(source="walk.mp4", reference="sample/before")
    assert done.code == 0, done.result
    check_events(done.events)
    # Two frames a second: damage is in the first, fourth and fifth.
    assert frames_with_findings(done.result) == ["0.0 s", "1.5 s", "2.0 s"]


def test_a_video_that_ffmpeg_cannot_read(inspect, with_ffmpeg, runner: Runner):
    (runner.workspace / "walk.mp4").write_text("rubbish")
    done = inspect(source="walk.mp4")
    assert (done.code, done.result["kind"]) == (1, "unsupported")
    assert "walk.mp4: Invalid data" in done.result["error"]
    assert str(runner.workspace) not in json.dumps(done.result)


def test_a_video_that_is_too_small(inspect, with_ffmpeg, runner: Runner):
    (runner.workspace / "tiny.ppm").write_bytes(b"P6 8 8 255\n" + bytes(192))
    (runner.workspace / "walk.mp4").write_text("tiny.ppm")
    done = inspect(source="walk.mp4")
    assert (done.code, done.result["kind"]) == (1, "unsupported")
    assert "too small" in done.result["error"]


def test_photos_are_converted_by_ffmpeg(inspect, with_ffmpeg, runner: Runner):
    photos = runner.workspace / "photos"
    photos.mkdir()
    for name in with_ffmpeg:
        shutil.move(runner.workspace / name, photos / name.replace(".ppm", ".jpg"))
    done = inspect(source="photos", reference="sample/before")
    assert frames_with_findings(done.result)[0] == "01-left-1.jpg"
    assert done.result["counts"]["unreadable"] == 0


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_a_real_video(inspect, runner: Runner, sample: Path):
    runner.variables["PATH"] = os.environ["PATH"]
    for name in ("before", "after"):
        assert samples.make_video(sample / name, runner.workspace / f"{name}.mp4")
    done = inspect(source="after.mp4", reference="before.mp4")
    assert done.code == 0, done.result
    assert {finding["kind"] for finding in done.result["findings"]} == {"scratch", "dent"}


def test_sigterm_ends_it_at_once_without_a_report(inspect, runner: Runner):
    process = runner.start(SKILL)
    process.stdin.write(json.dumps({"source": "sample/after", "batchFrames": 1}).encode())
    process.stdin.close()
    for line in process.stderr:
        if json.loads(line)["stage"] == "detect":
            break
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == -signal.SIGTERM
    assert process.stdout.read() == b""
    assert list(runner.output.iterdir()) == []
    process.stdout.close()
    process.stderr.close()
