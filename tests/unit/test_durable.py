"""What a file system's times can be asked for."""

from pathlib import Path

from worktrees.durable import outlast_stamp

TIMES = 50


def test_what_is_written_right_after_a_stamp_was_outlasted_is_later_than_it(tmp_path: Path) -> None:
    stamps = []
    for n in range(TIMES):  # new files each time: a kernel may stamp one that was looked at more finely
        marker, after = tmp_path / f"marker-{n}", tmp_path / f"after-{n}"
        marker.write_bytes(b"ready\n")
        outlast_stamp(marker)
        after.write_bytes(b"written\n")
        stamps.append((marker.stat().st_ctime_ns, after.stat().st_ctime_ns))
    assert [(stamp, later) for stamp, later in stamps if later <= stamp] == []


def test_nothing_of_the_asking_is_left(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_bytes(b"ready\n")
    outlast_stamp(marker)
    assert list(tmp_path.iterdir()) == [marker]
