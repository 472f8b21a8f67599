"""Is this text Markdown? Decided by the name it came by, else by a look at its beginning."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import PurePosixPath

MARKDOWN_SUFFIXES = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mdx"))
# Text that is surely no Markdown, whatever its comments look like.
PLAIN_SUFFIXES = frozenset(
    f".{name}"
    for line in (
        "rst adoc org tex log csv tsv yaml yml toml ini cfg srt vtt sgml sgm",
        "py pyi rs js mjs ts tsx jsx java kt scala swift c h cc cpp hpp cs go rb php pl r jl lua",
        "sh bash zsh ps1 sql css proto graphql tf hs ml ex exs erl clj el vim",
    )
    for name in line.split()
)
# Characters looked at.
_SAMPLE = 32_768

# What must stand in the text for the pattern to be worth trying; the pattern; how often it must be found;
# what it counts then.
_SIGNS = (
    # headings below the first level, each after a blank line
    ("##", re.compile(r"(?:\A|\n[ \t]*\n)#{2,6}[ \t]+\S"), 2, 2),
    # a first-level heading, set apart by blank lines
    ("# ", re.compile(r"(?:\A\s*|\n[ \t]*\n)#[ \t]+\S[^\n]*\n[ \t]*\n"), 1, 1),
    # a pair of fences
    ("```", re.compile(r"^ {0,3}```[^`\n]*$", re.M), 2, 1),
    # the delimiter row of a table
    ("--|", re.compile(r"^ {0,3}\|? *:?-{2,}:? *\|[-:| \t]*$", re.M), 1, 2),
    # a heading underlined
    ("\n===", re.compile(r"(?:\A|\n[ \t]*\n)[^\n|]{1,100}\n={3,}[ \t]*\n[ \t]*\n"), 1, 1),
    # a link or an image
    ("](", re.compile(r"\[[^\]\n]{1,80}\]\((?:https?:|/|#|\.)"), 1, 1),
    # strong text
    ("**", re.compile(r"(?<![\w*])\*\*[^\s*][^*\n]{0,80}\*\*(?![\w*])"), 2, 1),
    # front matter
    ("---", re.compile(r"\A---[ \t]*\n[\w-]+:[^\n]*\n"), 1, 1),
)
_CODE = re.compile(
    r"^(?:#!|#include\b|(?:import|from|use|using|package|def|class|fn|func|function|pub|let|const|var|impl"
    r"|static|public|private|return|if|for|while|struct|enum|@\w+)\b.*[;:{(\w)]$|[ \t]*[})\]]+[;,)]*$"
    r"|.*(?:[;{]|\) ?:)$)",
    re.M,
)
_ENOUGH = 2
_CODE_SHARE = 0.15


def markdown_by_name(name: str | None) -> bool | None:
    """Tell from a file name, path or address whether a text is Markdown.

    Args:
        name: What the text came by, or None.

    Returns:
        True for the suffixes of Markdown, False for those of source code and other formats (``.py``,
        ``.rst``, ``.csv``), None for any other: ``.txt`` and ``.jsonl`` say nothing about the text inside.
    """
    suffix = PurePosixPath((name or "").lower()).suffix
    if suffix in MARKDOWN_SUFFIXES:
        return True
    return False if suffix in PLAIN_SUFFIXES else None


def looks_like_markdown(text: str) -> bool:
    """Tell by the first 32,768 characters whether a text is Markdown.

    One sign is not enough, since a ``# comment`` is no heading: two are asked for, of headings set apart by
    blank lines, fences, tables, links, strong text and front matter; and the lines outside fences must not
    read like source code. When in doubt it is plain text, which loses structure but never text.

    Args:
        text: Any text.

    Returns:
        True for Markdown.
    """
    sample = text[:_SAMPLE].removeprefix("\ufeff")
    if "\r" in sample:
        sample = sample.replace("\r\n", "\n").replace("\r", "\n")
    score = 0
    for needle, pattern, least, worth in _SIGNS:
        if needle in sample and len(list(islice(pattern.finditer(sample), least))) == least:
            score += worth
    return score >= _ENOUGH and not _reads_like_code(sample)


def _reads_like_code(sample: str) -> bool:
    outside = re.sub(r"^ {0,3}(```|~~~).*?^ {0,3}\1[`~]*[ \t]*$", "", sample, flags=re.M | re.S)
    lines = sum(1 for line in outside.split("\n") if line.strip())
    return len(_CODE.findall(outside)) > max(2, _CODE_SHARE * lines)
