"""Files are written whole or not at all, and it is told before the work where they cannot be."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mrag.adapters.files import check_writable, write_whole
from mrag.errors import InputError


def test_a_file_is_written_whole_and_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    write_whole(path, ["æ", "b", "\ud800"])
    assert path.read_bytes() == "æ\nb\n?\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_until_the_last_line_the_file_of_before_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def broken() -> Iterator[str]:
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, broken())
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def write_a_line(path: Path) -> None:
    write_whole(path, ["line"])


@pytest.mark.parametrize("act", [check_writable, write_a_line])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, act: Callable[[Path], None]) -> None:
    (tmp_path / "file").touch()
    for path, said in [
        (tmp_path / "none" / "a.txt", f"cannot be written: there is no folder {tmp_path / 'none'}: make it"),
        (tmp_path / "file" / "a.txt", "cannot be written: there is no folder"),
        (tmp_path, "cannot be written: Is a directory: name a file"),
        (Path("/"), "/: cannot be written: Is a directory: name a file"),
        (Path(), ".: cannot be written: Is a directory: name a file"),
        (tmp_path / ("a" * 300), "cannot be written: File name too long"),
    ]:
        with pytest.raises(InputError) as caught:
            act(path)
        assert str(caught.value).startswith(f"{path}: ") and said in str(caught.value)


def test_a_device_is_no_file(tmp_path: Path) -> None:
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    with pytest.raises(InputError, match="Is no file: name a file"):
        write_whole(device, ["a"])
    assert device.is_symlink()


def test_what_is_tried_leaves_nothing_behind(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("old")
    check_writable(old)
    check_writable(tmp_path / "new.txt")
    assert old.read_text() == "old" and list(tmp_path.iterdir()) == [old]
