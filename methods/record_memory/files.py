"""A record memory as JSON: {"format", "next_id", "records": [{"id", "tags", "text", "updated_at", "picture"?,
"seen"?}]}, with pictures as PNG in base64. Embeddings are not in it; they are made again when they are
needed.

What cannot be taken over as it is, be it damaged or against the rules of the memory that is to hold it, is
refused as a whole: half a memory would look like a forgetful robot."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.failures import UsageError
from methods.record_memory.records import Picture, Record, normalise_tags
from methods.record_memory.rules import MemoryRules
from methods.record_memory.store import RecordMemory

if TYPE_CHECKING:
    from harness.embedding import Embedder

FORMAT = "engram record memory 1"
_KEYS = {"id", "tags", "text", "updated_at", "picture", "seen"}


def written(memory: RecordMemory) -> str:
    """JSON, one line, ASCII."""
    return json.dumps(
        {
            "format": FORMAT,
            "next_id": memory.next_id,
            "records": [_plain(record) for record in memory.records],
        }
    )


def save(memory: RecordMemory, path: Path) -> None:
    """Replaces the file as a whole, so that it is never half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(written(memory) + "\n", encoding="ascii")
    temporary.replace(path)


def load(path: Path, rules: MemoryRules, embedder: Embedder) -> RecordMemory:
    """Raises `UsageError` for a file that is not there or that `restore` refuses."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as a record memory: {error}.") from None
    return restore(text, rules, embedder, str(path))


def restore(text: str, rules: MemoryRules, embedder: Embedder, where: str) -> RecordMemory:
    """The memory that `written` wrote; `where` names the source in messages. Raises `UsageError`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is no record memory: not JSON: {error}.") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UsageError(f'{where} is no record memory: it lacks "format": "{FORMAT}".')
    listed, next_id = found.get("records"), found.get("next_id")
    if not isinstance(listed, list) or not isinstance(next_id, int) or not _is_count(next_id):
        raise UsageError(f"{where}: a record memory has a list `records` and a number `next_id` above 0.")
    records = [_record(entry, f"{where}, record {n}") for n, entry in enumerate(listed, start=1)]
    ids = [record.id for record in records]
    if len(set(ids)) < len(ids) or next_id <= max(ids, default=0):
        raise UsageError(
            f"{where}: ids have to differ, and `next_id` ({next_id}) has to be above all of them."
        )
    _check_rules(records, rules, where)
    memory = RecordMemory(rules, embedder)
    memory.put_back(records, next_id)
    return memory


def _plain(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": record.id,
        "tags": list(record.tags),
        "text": record.text,
        "updated_at": record.updated_at,
    }
    if record.picture:
        found |= {
            "picture": base64.b64encode(record.picture.png).decode("ascii"),
            "seen": record.picture.seen,
        }
    return found


def _record(entry: Any, where: str) -> Record:
    if not isinstance(entry, dict) or not {"id", "tags", "text", "updated_at"} <= entry.keys() <= _KEYS:
        raise UsageError(
            f"{where} has to be an object with {', '.join(sorted(_KEYS))} (the picture may be missing)."
        )
    id, tags, text, step = (entry[key] for key in ("id", "tags", "text", "updated_at"))
    if not _is_count(id):
        raise UsageError(f"{where}: id is {id!r}; it is a number above 0.")
    if (
        not isinstance(tags, list)
        or not all(isinstance(tag, str) for tag in tags)
        or not normalise_tags(tags)
    ):
        raise UsageError(f"{where}: tags are {tags!r}; they are a list of words, at least one.")
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{where}: text is {text!r}; it is a text that is not empty.")
    if not isinstance(step, int) or isinstance(step, bool):
        raise UsageError(f"{where}: updated_at is {step!r}; it is a control step.")
    return Record(id, normalise_tags(tags), text, _picture(entry, where), step)


def _picture(entry: dict[str, Any], where: str) -> Picture | None:
    from PIL import Image

    if "picture" not in entry and "seen" not in entry:
        return None
    png, seen = entry.get("picture"), entry.get("seen", "")
    if not isinstance(png, str) or not isinstance(seen, str):
        raise UsageError(f"{where}: picture and seen have to be texts.")
    try:
        found = base64.b64decode(png, validate=True)
        Image.open(io.BytesIO(found), formats=("PNG",)).load()  # a damaged PNG raises OSError or SyntaxError
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UsageError(f"{where}: picture is no PNG in base64: {error}.") from None
    return Picture(found, seen)


def _check_rules(records: list[Record], rules: MemoryRules, where: str) -> None:
    if rules.cap is not None and len(records) > rules.cap:
        raise UsageError(
            f"{where} holds {len(records)} records, and the memory's cap is {rules.cap}: raise the cap."
        )
    pictures = sum(record.picture is not None for record in records)
    if rules.modality == "text" and pictures:
        raise UsageError(
            f"{where} holds {pictures} pictures, and the memory's modality is text: set it to both."
        )
    if rules.modality == "image" and pictures < len(records):
        raise UsageError(
            f"{where} holds {len(records) - pictures} records without a picture, and the memory's modality "
            "is image: set it to both."
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
