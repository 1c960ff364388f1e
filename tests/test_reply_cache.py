"""Replies on disk: what was kept comes back, what is damaged does not, and two processes do each other no harm."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mrag.adapters.serving.reply_cache import ReplyCache, cache_folder, key_of

KEY = key_of({"prompt": "Who kept the light?"})


@pytest.fixture
def cache(tmp_path: Path) -> ReplyCache:
    return ReplyCache(tmp_path / "replies", 100_000)


def file_of(folder: Path) -> Path:
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    return path


@pytest.mark.parametrize(
    "reply", ["Berit Foss.", "", " \n\t", "日本語 🕯 é", "a\0b", "\\ud83d", "x" * 50_000, '{"a": "\u2028"}']
)
def test_what_was_kept_comes_back(cache: ReplyCache, reply: str) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, reply)
    assert cache.get(KEY) == reply and cache.trouble == ""


def test_another_cache_in_the_folder_has_it_too(cache: ReplyCache, tmp_path: Path) -> None:
    cache.put(KEY, "one")
    assert ReplyCache(tmp_path / "replies", 1000).get(KEY) == "one"
    cache.put(KEY, "two")
    assert ReplyCache(tmp_path / "replies", 1000).get(KEY) == "two"


def test_any_difference_is_another_key() -> None:
    asked = {"url": "http://a", "model": "m", "prompt": "p", "stop": ["x"], "temperature": 0.0, "top_p": None}
    others = [{**asked, name: value} for name, value in (("url", "b"), ("model", ""), ("prompt", "p "), ("stop", []))]
    others += [{**asked, "temperature": 0.5}, {**asked, "top_p": 1.0}, {**asked, "prompt": "\ud800"}]
    assert len({key_of(row) for row in [asked, *others]}) == len(others) + 1
    assert key_of(asked) == key_of(dict(reversed(asked.items())))


def damaged(content: bytes) -> list[bytes]:
    row = json.loads(content)
    changed = [{**row, "reply": "Somebody else."}, {**row, "format": 2}, {**row, "key": "0" * 64}, {**row, "reply": 7}]
    changed += [{**row, "sha256": None}, {"reply": row["reply"]}, [], "text", None, {}]
    return [
        b"",
        content[:-5],
        content[10:],
        content.replace(b"Foss", b"Moss"),
        b"\xff\xfe\x00",
        b"[" * 90_000,
        content + b" " * 100_000,
        *(json.dumps(other).encode() for other in changed),
    ]


def test_a_damaged_file_counts_as_not_there_and_is_replaced(cache: ReplyCache, tmp_path: Path) -> None:
    cache.put(KEY, "Berit Foss.")
    path = file_of(tmp_path)
    content = path.read_bytes()
    for spoilt in damaged(content):
        path.write_bytes(spoilt)
        assert cache.get(KEY) is None, spoilt[:50]
    cache.put(KEY, "Berit Foss.")
    assert cache.get(KEY) == "Berit Foss." and path.read_bytes() == content


def test_a_folder_in_the_place_of_a_file_counts_as_not_there(cache: ReplyCache, tmp_path: Path) -> None:
    cache.put(KEY, "one")
    path = file_of(tmp_path)
    path.unlink()
    path.mkdir()
    assert cache.get(KEY) is None
    cache.put(KEY, "one")
    assert "replies cannot be kept here" in cache.trouble and list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ReplyCache(tmp_path / "file" / "replies", 1000)
    cache.put(KEY, "one")
    assert cache.trouble.startswith(f"{tmp_path / 'file' / 'replies'}: replies cannot be kept here")
    assert cache.get(KEY) is None


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
def test_only_its_owner_can_read_a_reply(cache: ReplyCache, tmp_path: Path) -> None:
    cache.put(KEY, "one")
    path = file_of(tmp_path)
    assert [part.stat().st_mode & 0o077 for part in (path, path.parent)] == [0, 0]


def test_two_processes_keep_the_same_replies_at_once(tmp_path: Path) -> None:
    """They write, read and damage the same files; what is read is whole, or nothing."""
    code = (
        "import sys, pathlib, random\n"
        "from mrag.adapters.serving.reply_cache import ReplyCache, key_of\n"
        "folder = pathlib.Path(sys.argv[1]); cache = ReplyCache(folder, 100_000); chance = random.Random(sys.argv[2])\n"
        "for _ in range(2000):\n"
        "    number = chance.randrange(20); key = key_of(number); reply = str(number) * 3000\n"
        "    found = cache.get(key)\n"
        "    assert found in (None, reply), found[:20]\n"
        "    if chance.random() < 0.5: cache.put(key, reply); assert not cache.trouble, cache.trouble\n"
        "    elif chance.random() < 0.1:\n"
        "        for path in folder.glob(f'*/{key}.json'): path.write_bytes(b'{')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in "ab"]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert not list(tmp_path.rglob("*.new"))


def test_the_cache_lies_beside_that_of_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "mrag" / "replies"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache" / "mrag" / "replies"
