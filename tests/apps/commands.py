"""What the tests of the commands share: how they are run, and four short documents."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import Result

import nestling

Run = Callable[..., Result]

EVIL = "first \x1b]0;owned\x07\x1b[31mred\x1b[0m \x9b2J and \u202eback\r\nlast line"
CARDS = (
    nestling.Document(
        "stomach", "Take it with food, never on an empty stomach.", "Dosage", {"lang": "en", "year": 2023}
    ),
    nestling.Document(
        "fever", "See a doctor when a fever lasts for more than three days.", "Fever", {"lang": "en"}
    ),
    nestling.Document("fieber", "Bei Fieber viel trinken und ruhen.", "Fieber", {"lang": "de", "year": 2019}),
    nestling.Document("evil", EVIL, "Evil \x1b[1mtitle", {"lang": "xx"}),
)
