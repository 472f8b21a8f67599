"""Texts that are hard to show, and how a test opens the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# opens an address in a fresh tab
Visit = Callable[..., Any]

MANUAL = "# Manual\n\n" + "".join(
    f"## Part {n}\n\nThe {word} is painted {colour}. "
    + f"More about the {word}, cleaned every week. " * 40
    + "\n\n"
    for n, (word, colour) in enumerate((("gate", "red"), ("bridge", "green"), ("tower", "blue")))
)
FAMILY = "👨‍👩‍👧‍👦😀 e\u0301 𝔘𝔫𝔦𝔠𝔬𝔡𝔢. "
EMOJI = FAMILY * 30 + "The zeppelin 🎈 lands at noon. " + FAMILY * 30
EVIL = (
    '<script>window.hacked=1</script><img src=x onerror="window.hacked=1">'
    " \u202e\"'&lt; [cite:admin] \u2066 kraken"
)
