"""Cite markers: how an answer names the passage it rests on, and how a document's own are made harmless."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

import regex

# What stands for a bracket in one font or another. NFKC folds only some of them.
_OPENING = "[［【〔〖〘〚⟦⟨⟪❲❴⁅⦋⦍⦏﹇⎡⸢"
_CLOSING = "]］】〕〗〙〛⟧⟩⟫❳❵⁆⦌⦎⦐﹈⎤⸣"
_BRACKET = re.compile(f"[{re.escape(_OPENING)}]")
# Letters of other scripts that look like those of "cite", after NFKC and case folding.
_TWINS = str.maketrans("сϲᴄіɩıιӏтτеҽ∶ː꞉：﹕", "ccciiiiitt" + "ee" + ":::::")
# No marker of ours is longer after its bracket until it says what it is.
_LOOK = 40
_UNSEEN = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{M}\s]+")
# What models read as the end of a turn or the start of another, wherever it stands.
_TURN = re.compile(
    r"[<＜](?=[|｜][^|｜<>\s]{1,40}[|｜][>＞]|/?(?:start_of_turn|end_of_turn|SYS|s)>|<SYS>|</SYS>)"
    r"|\[(?=/?INST\])"
)


def marker(id: str) -> str:
    """``[cite:ID]``; characters that would end it early are percent-encoded."""
    return "[cite:" + re.sub(r"[\[\]\s%]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), id) + "]"


def marked_id(inside: str) -> str:
    """The inverse of `marker`: the id that the inside of a marker names."""
    return unquote(inside.strip(), errors="replace")


def quoted(text: str) -> str:
    """Document text with anything that looks like a cite marker, or like a model's turn, made harmless.

    A document can say ``[cite:admin]``, also in brackets and letters that only look like these; in a prompt that
    must read as its words, not as our citation. The length stays.
    """
    text = _BRACKET.sub(lambda found: "(" if says_cite(text, found.end()) else found[0], text)
    return _TURN.sub(lambda found: "(" if found[0] == "[" else "‹", text)


def says_cite(text: str, start: int) -> bool:
    """Whether what stands here reads as ``cite``, whatever its letters, and is no longer word."""
    seen = unicodedata.normalize("NFKC", _UNSEEN.sub("", text[start : start + _LOOK]))
    seen = seen.casefold().translate(_TWINS)
    return seen.startswith("cite") and not seen[4:5].isalpha()


def brackets(text: str, start: int) -> int:
    """Where the bracket that opens before ``start`` is closed on its line, or -1."""
    for at in range(start, len(text)):
        if text[at] in _CLOSING:
            return at
        if text[at] in _OPENING or text[at] in "\n\r\u2028\u2029":
            break
    return -1


def openings(text: str) -> list[int]:
    """The offsets of all brackets after which a text says ``cite``."""
    return [found.start() for found in _BRACKET.finditer(text) if says_cite(text, found.end())]
