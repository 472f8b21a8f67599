"""Two tenants of one nest, and texts by which one could try to learn what the other has."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import nestling

# stands in what the others have, and in no request
HIDDEN = "zyzzyva"
THEIRS = [
    nestling.Document(
        "plan",
        f"Acme will buy the glass works of Oslo in May for nine million euros. The code word is {HIDDEN}.",
        f"The {HIDDEN} plan",
        {"tenant": "acme", "page": 7},
        f"{HIDDEN}.md",
    ),
    nestling.Document(
        "prices", f"Acme sells the lamp at 40 euros, and the {HIDDEN} at 90.", "", {"tenant": "acme"}
    ),
]
# without a tenant, so in no scope of one
NOBODYS = nestling.Document("memo", f"The memo says that the {HIDDEN} is kept under the stairs of the house.")
OWN = [
    nestling.Document(
        "plan", "Umbrella will open a shop in Bergen next summer. It needs ten people.", "Plan"
    ),
    nestling.Document("terms", "You have 30 days to return a lamp. Bulbs cannot be returned.", "Terms"),
]
IDS = ("plan", "prices", "memo", "«tenant=acme»plan", "«tenant=acme»prices", "«»memo", "«tenant=acme»plan.0")
# said by the others, word for word or nearly, with what cites it
SAID = (
    "Acme will buy the glass works of Oslo in May for nine million euros.",
    "“Acme will buy the glass works of Oslo in May”",
    "“Acme sells the lamp at 40 euros ... at 90”",
    "> kept under the stairs of the house",
    "Umbrella will open a shop in Bergen, and Acme will buy the glass works of Oslo.",
    "“Umbrella will open a shop in Bergen ... the glass works of Oslo in May”",
    "The lamp of Acme sells at 40 euros.",
)
TEXTS = [
    *SAID,
    *(f"{said} [cite:{id}]" for said in SAID for id in IDS),
    " ".join(f"Bulbs cannot be returned [cite:{id}]." for id in IDS),
    f"You have 30 days to return a lamp [cite:terms, {', '.join(IDS)}].",
]


def fill(nest: nestling.Nest, shared: bool) -> nestling.Nest:
    """The scope of the tenant Umbrella, in a nest that Acme and nobody are in, too, or in one of its own."""
    if shared:
        nest.scope(tenant="acme").add(THEIRS)
        nest.add(NOBODYS)
    scope = nest.scope(tenant="umbrella")
    scope.add(OWN)
    return scope


@dataclass
class Repeater:
    """A language model that writes what it was told to, and notes what it was shown."""

    text: str
    name: str = "repeater"
    shown: list[str] = field(default_factory=list)

    def generate(self, system: str, prompt: str, on_text: Any) -> nestling.Generated:
        """Write it."""
        self.shown.append(system + prompt)
        on_text(self.text)
        return nestling.Generated(self.text)


def told(value: Any) -> str:
    """All that a value holds, as text that can be compared."""
    return json.dumps(value, default=repr, ensure_ascii=False, sort_keys=True)
