"""What happens when the same documents are added again, one is edited, one is removed: measured, not read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nestling.types import Document

from .peer import NoSuchCallError
from .systems import make

OLD, NEW = "The password of the north gate is heron.", "The password of the north gate is kestrel."
LAST = "The old drawbridge was sold to a farmer in the valley."
GONE = "The lighthouse keeper drinks only water from melted snow."
FILLER = (
    "The town keeps a record of every {0}, and the clerk reads it aloud on the first day of each month.",
    "A {0} that nobody claims is kept in the cellar of the hall until the next market.",
    "Whoever repairs a {0} without leave pays a fine of three coins to the miller.",
    "In winter the {0} is covered with straw, and children are told to stay away from it.",
)


def prose(*things: str) -> str:
    """Paragraphs about things."""
    return "\n\n".join(" ".join(line.format(thing) for line in FILLER) for thing in things)


def documents() -> list[Document]:
    """Three documents of a few thousand characters."""
    first = "\n\n".join((OLD, prose("bridge", "barrel", "ladder", "cart", "gate", "well"), LAST))
    second = "\n\n".join((prose("lamp", "boat", "net", "anchor"), GONE, prose("rope", "sail")))
    third = prose("oven", "sieve", "scale", "sack", "broom")
    return [
        Document("gate", first, "Gate"),
        Document("coast", second, "Coast"),
        Document("mill", third, "Mill"),
    ]


def holds(texts: Sequence[str], sentence: str) -> int:
    """How many of the shown pieces hold a sentence."""
    words = sentence.split()
    return sum(" ".join(words) in " ".join(text.split()) for text in texts)


def live(name: str, folder: str) -> dict[str, Any]:
    """One system's life; a value that is text says why there is none."""
    peer, given = make(name, Path(folder)), documents()
    peer.build(given)
    peer.open()
    ids, embedded = set(peer.stored()), peer.embedder.texts
    result: dict[str, Any] = {"units": len(ids), "shown": holds(peer.texts(OLD), OLD)}
    result["again"] = tried(lambda: peer.add(given))
    again = list(peer.stored())
    result |= {
        "units_again": len(again),
        "embedded_again": peer.embedder.texts - embedded,
        "same_ids": set(again) == ids,
        "shown_again": holds(peer.texts(OLD), OLD),
    }
    return result | edited(name, folder, given)


def edited(name: str, folder: str, given: list[Document]) -> dict[str, Any]:
    """Edit and remove on an index made anew, so that what re-adding did does no harm here."""
    peer = make(name, Path(folder) / "second")
    peer.folder.mkdir()
    peer.build(given)
    peer.open()
    embedded = peer.embedder.texts
    text = given[0].text.replace(OLD, NEW).removesuffix(LAST).rstrip()
    result: dict[str, Any] = {"edit": tried(lambda: peer.edit(replace(given[0], text=text)))}
    if result["edit"] == "no such call":
        peer.add([replace(given[0], text=text)])
    result |= {
        "embedded_edit": peer.embedder.texts - embedded,
        "stale_sentence": holds(peer.texts(OLD), OLD),
        "stale_end": holds(peer.texts(LAST), LAST),
        "new_found": holds(peer.texts(NEW), NEW),
        "remove": tried(lambda: peer.remove(given[1])),
    }
    return result | {"still_found": holds(peer.texts(GONE), GONE)}


def tried(call: Callable[[], None]) -> str:
    """Call; what came of it in words."""
    try:
        call()
    except NoSuchCallError:
        return "no such call"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "done"
