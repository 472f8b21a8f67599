"""Markdown is told from plain text and source code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nestling.ingest.sniff import looks_like_markdown, markdown_by_name

_PYTHON = '''# Settings
#
## Paths

import os

# Where things are

ROOT = os.getcwd()

def run(a, b):
    """Do it.

    ```
    run(1, 2)
    ```
    """
    return {
        "a": a,
    }
'''
_SHELL = "#!/bin/sh\n# Install\n\n## Step one\n\nset -e\n\n## Step two\n\nif [ -f x ]; then\n  rm x;\nfi;\n"
_YAML = "---\n# Config\n\nname: x\n\n# Steps\n\nsteps:\n  - run: y\n"
_RUST = "//! # Title\n//!\n//! ```\n//! x();\n//! ```\nuse std::io;\n\n#[derive(Debug)]\nstruct A {\n  b: u8,\n}\n"
_SGML = "<DOC>\n<TITLE>x</TITLE>\n\n<TEXT>\nSome text here.\n</TEXT>\n</DOC>\n"


@pytest.mark.parametrize(
    "text", [_PYTHON, _SHELL, _YAML, _RUST, _SGML, "# only one sign", "", "plain", "a | b\n"]
)
def test_other_text_is_not_taken_for_markdown(text: str) -> None:
    """Comments are no headings, and one sign is not enough."""
    assert not looks_like_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\ntext\n\n## One\n\ntext\n\n## Two\n\ntext\n",
        "# Title\r\n\r\ntext with a [link](https://x.y)\r\n",
        "text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "# Use\n\n```python\nimport os\nx = {}\nfor y in x:\n    pass\n```\n\nAnd more.\n",
        "---\ntitle: x\n---\n\n# Title\n\ntext\n",
    ],
)
def test_markdown_is_recognised(text: str) -> None:
    """Two independent signs are enough."""
    assert looks_like_markdown(text)


@pytest.mark.parametrize(
    ("name", "markdown"),
    [
        ("a/b.MD", True),
        ("x.markdown", True),
        ("main.rs", False),
        ("page.rst", False),
        ("x.txt", None),
        ("cards.jsonl", None),
        ("https://docs.example.com/en/page", None),
        ("https://example.com", None),
        (None, None),
    ],
)
def test_the_name_decides_where_it_tells(name: str | None, markdown: bool | None) -> None:
    """A suffix of Markdown or of source code settles it; an address does not."""
    assert markdown_by_name(name) is markdown


@pytest.mark.parametrize(
    ("folder", "least", "most"),
    [
        ("codebase_chunks", 0, 0.03),
        ("legalbench_rag_small", 0, 0.03),
        ("md_papers", 0.9, 1),
        ("financebench_md", 0.9, 1),
    ],
)
def test_real_documents(folder: str, least: float, most: float) -> None:
    """On real source code, contracts, papers and filings the answer is right."""
    corpus = Path(__file__).parents[2].parent / "shared" / "data" / folder / "corpus.jsonl"
    if not corpus.exists():
        pytest.skip(f"the shared corpus {folder} is not here")
    with corpus.open(encoding="utf-8", newline="\n") as lines:
        answers = [looks_like_markdown(json.loads(line)["text"]) for line in lines]
    assert least <= sum(answers) / len(answers) <= most
