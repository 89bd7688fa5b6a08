"""What a file system's times can be asked for."""

from pathlib import Path

from worktrees.durable import outlast_stamp

TIMES = 50


def test_a_rename_right_after_a_stamp_was_outlasted_is_later_than_it(tmp_path: Path) -> None:
    """Of a folder nobody looked at: a kernel may stamp what was looked at more finely than its tick."""
    stamps = []
    for n in range(TIMES):
        marker, folder = tmp_path / f"marker-{n}", tmp_path / f"folder-{n}"
        (folder / "a").mkdir(parents=True)
        marker.write_bytes(b"ready\n")
        outlast_stamp(marker)
        (folder / "a").rename(folder / "b")
        stamps.append((marker.stat().st_ctime_ns, folder.stat().st_ctime_ns))
    assert [(stamp, later) for stamp, later in stamps if later <= stamp] == []


def test_nothing_of_the_asking_is_left(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_bytes(b"ready\n")
    outlast_stamp(marker)
    assert list(tmp_path.iterdir()) == [marker]
