"""A shop's handbook, and sentences about it as people and models write them, each with what it deserves."""

from __future__ import annotations

from nestling.types import Document

DOCUMENTS = (
    Document(
        "returns",
        "You have 30 days to return a lamp. It must be unused and in its box. Bulbs cannot be returned once they"
        " are opened. We refund the price within five working days; shipping costs are not refunded.",
        "Returns",
        {"page": 4},
    ),
    Document(
        "shipping",
        "We ship within two working days, lamps and bulbs alike. Orders above 50 euros are shipped free of charge."
        " We do not ship to post office boxes. Parcels to Norway take up to nine days.",
        "Shipping",
        {"page": 5},
    ),
    Document(
        "warranty",
        "Every lamp has a warranty of two years from the day of purchase. The warranty covers faults of material"
        " and workmanship. It does not cover damage by water, or by bulbs that are stronger than 60 watts.",
        "Warranty",
        {"page": 7},
    ),
    Document(
        "safety",
        "Unplug the lamp before you change the bulb. Let the bulb cool for ten minutes first. Never cover a lamp"
        " that is switched on. Use the lamp indoors only.",
        "Safety",
    ),
    Document(
        "cleaning",
        "Clean the shade with a dry cloth. Glass shades may be washed by hand in lukewarm water. Do not use"
        " solvents; they make the lacquer dull.",
        "Cleaning",
    ),
    Document(
        "company",
        "Lumen & Daughters was founded in Bergen in 1961 by Astrid Lumen. The workshop moved to Oslo in 1984."
        " Today 42 people work there, and a third of them are glassblowers.",
        "About us",
    ),
)

# what a text says, the passage it cites, and the verdict that is due
TRUE = (
    ("You can return a lamp within 30 days", "returns"),
    ("Lamps may be returned within thirty days", "returns"),
    ("A returned lamp has to be unused and in its box", "returns"),
    ("Opened bulbs cannot be returned", "returns"),
    ("The price is refunded within five working days", "returns"),
    ("Shipping costs aren't refunded", "returns"),
    ("Shipping is free for orders above 50 euros", "shipping"),
    ("Lamps and bulbs are shipped within 2 working days", "shipping"),
    ("There is no shipping to post office boxes", "shipping"),
    ("A parcel to Norway takes up to nine days", "shipping"),
    ("There is a warranty of two years from the day of purchase", "warranty"),
    ("Faults of material and workmanship are covered by the warranty", "warranty"),
    ("Damage by water is not covered", "warranty"),
    ("Before changing the bulb, unplug the lamp", "safety"),
    ("First, let the bulb cool for 10 minutes", "safety"),
    ("A lamp that is switched on must never be covered", "safety"),
    ("The lamp is only for use indoors", "safety"),
    ("The shade is cleaned with a dry cloth", "cleaning"),
    ("You may wash glass shades by hand in lukewarm water", "cleaning"),
    ("Solvents make the lacquer dull", "cleaning"),
    ("Astrid Lumen founded Lumen & Daughters in Bergen in 1961", "company"),
    ("In 1984 the workshop moved to Oslo", "company"),
    ("Of the 42 people who work there, a third are glassblowers", "company"),
)
# the same said in words that are not in the passage: true, but past what words alone can tell
TRUE_IN_OTHER_WORDS = (
    ("Customers get a month to bring back a lamp", "returns"),
    ("You get your money back in less than a week", "returns"),
    ("Larger orders are delivered for free", "shipping"),
    ("The guarantee is void if the lamp got wet", "warranty"),
    ("The warranty lasts two years", "warranty"),
    ("Pull the plug prior to replacing the bulb", "safety"),
    ("The firm started in Norway in the sixties", "company"),
)
MISATTRIBUTED = (
    ("You can return a lamp within 30 days", "shipping"),
    ("There is a warranty of two years from the day of purchase", "returns"),
    ("In 1984 the workshop moved to Oslo", "warranty"),
    ("Orders above 50 euros are shipped free of charge", "returns"),
    ("Never cover a lamp that is switched on", "cleaning"),
)
FALSE = (
    ("You can return a lamp within 60 days", "returns"),
    ("Lamps may be returned within three days", "returns"),
    ("Opened bulbs can be returned", "returns"),
    ("Shipping costs are refunded within five working days", "returns"),
    ("We ship within two working weeks", "shipping"),
    ("Orders above 500 euros are shipped free of charge", "shipping"),
    ("We ship to post office boxes", "shipping"),
    ("Parcels to Norway take up to nine weeks", "shipping"),
    ("The warranty covers damage by water", "warranty"),
    ("The warranty does not cover faults of material", "warranty"),
    ("Every lamp has a warranty of three years from the day of purchase", "warranty"),
    ("Cover a lamp that is switched on", "safety"),
    ("Let the bulb cool for twenty minutes", "safety"),
    ("Do not unplug the lamp before you change the bulb", "safety"),
    ("Solvents do not make the lacquer dull", "cleaning"),
    ("Glass shades may not be washed by hand", "cleaning"),
    ("Lumen & Daughters was founded in Bergen in 1961 by Ingrid Dahl", "company"),
    ("The workshop moved to Stockholm in 1984", "company"),
    ("Lamps are tested by an independent laboratory in Trondheim", "safety"),
    ("The company was sold to investors in 2009", "company"),
)
