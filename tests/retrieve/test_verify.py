"""Verdicts on quotes and sentences: by hand on a small handbook, and measured on claims planted in real text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import handbook
from nestling.answers import Claim, Verification
from nestling.asking import analysis_of
from nestling.retrieve.sources import Source
from nestling.retrieve.verify import Named, verify
from planted import Case, cases

ANALYSIS = analysis_of({"en": 1})
SOURCES = tuple(Source(d.id, d.id, d.title, (), 0, d.text, d.metadata, d.source) for d in handbook.DOCUMENTS)


def held(text: str, sources: Sequence[Source] = SOURCES, more: Sequence[Source] = ()) -> Verification:
    """A text held to passages; ``more`` can be searched."""
    known = {source.id: source for source in sources}
    return verify(
        text,
        sources,
        lambda id: Named("sound", known[id]) if id in known else Named("unknown"),
        lambda claim: more,
        ANALYSIS,
    )


def only(text: str, sources: Sequence[Source] = SOURCES) -> Claim:
    """The only claim of a text."""
    claims = held(text, sources).claims
    assert len(claims) == 1, claims
    return claims[0]


@pytest.mark.parametrize(("said", "cites"), handbook.TRUE)
def test_what_a_passage_says_is_supported(said: str, cites: str) -> None:
    """In its own words, in another order, with other endings, with numbers in words."""
    claim = only(f"{said} [cite:{cites}].")
    assert claim.verdict == "supported", claim
    assert claim.support[0].id == cites
    assert claim.share >= 0.85


@pytest.mark.parametrize(("said", "cites"), handbook.TRUE_IN_OTHER_WORDS)
def test_words_that_are_not_there_cannot_be_confirmed(said: str, cites: str) -> None:
    """Other words for the same are past what is compared: they are never called supported, which the page says."""
    claim = only(f"{said} [cite:{cites}].")
    assert claim.verdict == "fabricated"
    assert claim.reason.startswith("not there: ")


@pytest.mark.parametrize(("said", "cites"), handbook.MISATTRIBUTED)
def test_what_another_passage_says_is_misattributed(said: str, cites: str) -> None:
    """It is true, but not of the passage that is cited (C3)."""
    claim = only(f"{said} [cite:{cites}].")
    assert claim.verdict == "misattributed", claim
    assert claim.support[0].id != cites
    assert claim.support[0].id in claim.reason


@pytest.mark.parametrize(("said", "cites"), handbook.FALSE)
def test_what_no_passage_says_is_not_supported(said: str, cites: str) -> None:
    """Other numbers, units, names, negations, and what was made up."""
    claim = only(f"{said} [cite:{cites}].")
    assert claim.verdict in ("fabricated", "stitched"), claim
    assert claim.reason


def test_what_words_alone_cannot_tell() -> None:
    """A known limit, kept here so that a better rule shows: who a sentence is about, where words stand near by."""
    assert only("Lamps cannot be returned once they are opened [cite:returns].").verdict == "supported"


@pytest.mark.parametrize(
    "quote",
    [
        "You have 30 days to return a lamp. It must be unused and in its box.",
        "you HAVE 30 days\n   to return a lamp",
        "Bulbs cannot be returned … we refund the price",
        "We refund the price [...] shipping costs are not refunded",
        "shipping costs are not refunded",
        "within five working days – shipping costs",
    ],
)
def test_a_quote_may_differ_in_form(quote: str) -> None:
    """White space, case, quotation marks, dashes and ellipses do not matter, nor where children were cut (C2)."""
    claim = only(f"It says “{quote}” [cite:returns].")
    assert (claim.kind, claim.verdict, claim.share) == ("quote", "supported", 1.0)
    start, end = claim.support[0].start, claim.support[0].end
    assert quote.split()[0].lower() in SOURCES[0].text[start:end].lower()


@pytest.mark.parametrize("mark", ["'", "’", "ʼ"])
@pytest.mark.parametrize(
    "form", ["don{}t use it in the café – ever", "DON{}T use it in the cafe\u0301 - ever"]
)
def test_a_quote_may_differ_in_unicode_form(mark: str, form: str) -> None:
    """Composed and decomposed letters, curly and straight apostrophes are the same (C2)."""
    source = Source("a", "a", "", (), 0, "Please don’t use it in the café — ever again.", {}, None)
    assert only(f"“{form.format(mark)}” [cite:a].", [source]).verdict == "supported"


def test_a_quote_across_two_children_or_two_passages_is_whole() -> None:
    """Passages that follow each other in their document are one text; either may be cited (C2)."""
    text = SOURCES[0].text
    parts = [
        Source("d§1", "d", "", (), 0, text[:60], {}, None),
        Source("d§2", "d", "", (), 60, text[60:], {}, None),
    ]
    quote = "return a lamp. It must be unused and in its box. Bulbs cannot"
    start = text.index(quote)
    for cites in ("d§1", "d§2"):
        claim = only(f"“{quote}” [cite:{cites}].", parts)
        assert claim.verdict == "supported"
        assert [(s.id, s.start, s.end) for s in claim.support] == [
            ("d§1", start, 60),
            ("d§2", 60, start + len(quote)),
        ]


@pytest.mark.parametrize(
    ("quote", "cites", "verdict", "reason"),
    [
        ("You have 30 days to return a lamp", "shipping", "misattributed", "it stands in returns"),
        ("You have 30 days to ship within two working days", "returns", "stitched", "do not stand together"),
        ("You have 60 days to return a lamp", "returns", "fabricated", "stand in no passage"),
        ("Bulbs can be returned once they are opened", "returns", "fabricated", "stand in no passage"),
        ("shipping costs are refunded after all of it", "returns", "fabricated", "stand in no passage"),
        ("Lamps last for a hundred years", "returns", "fabricated", "stand in no passage"),
        ("We do … ship to post office boxes", "shipping", "fabricated", "leaves out 'not'"),
        ("50 euros are shipped free of charge. We do", "shipping", "fabricated", "leaves out 'not'"),
        ("We do … post office boxes", "shipping", "fabricated", "leaves out 'not'"),
    ],
)
def test_quotes_that_do_not_hold(quote: str, cites: str, verdict: str, reason: str) -> None:
    """Of another passage, put together from two, changed, or made to say the opposite by what is left out (C3)."""
    claim = only(f"It says “{quote}” [cite:{cites}].")
    assert claim.verdict == verdict, claim
    assert reason in claim.reason


def test_a_stitched_quote_names_its_parts() -> None:
    """Each part with the passage it is from, by offsets (C3)."""
    claim = only(
        "“Let the bulb cool for ten minutes within two working days, lamps and bulbs alike” [cite:safety]."
    )
    assert claim.verdict == "stitched"
    texts = {source.id: source.text for source in SOURCES}
    assert [(s.id, texts[s.id][s.start : s.end]) for s in claim.support] == [
        ("safety", "Let the bulb cool for ten minutes"),
        ("shipping", "within two working days, lamps and bulbs alike"),
    ]


def test_a_sentence_may_rest_on_two_passages_where_it_cites_both() -> None:
    """Two clauses of two passages hold with both cited; with one, or cut elsewhere, they are stitched."""
    said = "You have 30 days to return a lamp, and orders above 50 euros are shipped free of charge"
    assert only(f"{said} [cite:returns] [cite:shipping].").verdict == "supported"
    assert only(f"{said} [cite:returns].").verdict == "stitched"
    for turned in (
        said.replace("You have", "You do not have"),
        said.replace("50", "70"),
        said.replace("30", "40"),
    ):
        assert only(f"{turned} [cite:returns] [cite:shipping].").verdict == "fabricated"
    run = "The workshop moved to Oslo in lukewarm water washed by hand"
    assert only(f"{run} [cite:company] [cite:cleaning].").verdict == "stitched"


def test_without_citations_a_sentence_is_looked_for_everywhere() -> None:
    """What any passage says is supported; what none says is uncited, and a quote of none fabricated."""
    found = held(
        "You have 30 days to return a lamp. The moon is made of green cheese. “We sell cheese of all kinds”."
    )
    assert [claim.verdict for claim in found.claims] == ["supported", "uncited", "fabricated"]
    assert not found.sound
    assert [each.start for each in found.problems] == sorted(each.start for each in found.problems)


def test_what_claims_nothing_is_not_judged() -> None:
    """Questions, lines that lead in, headings, and saying that there is no answer."""
    text = "# Answer\n\nHere is what I found:\n\nWhich lamp? The passages do not say what it costs."
    assert held(text).claims == ()
    assert held(text).sound
    assert held("").sound


def test_further_passages_are_searched_for_what_is_not_at_hand() -> None:
    """A claim of a passage that was not given is misattributed, not fabricated."""
    said = "In 1984 the workshop moved to Oslo [cite:returns]."
    assert held(said, SOURCES[:2]).claims[0].verdict == "fabricated"
    found = held(said, SOURCES[:2], more=SOURCES).claims[0]
    assert (found.verdict, found.support[0].id) == ("misattributed", "company")


def test_what_stands_around_a_quote_is_judged_too() -> None:
    """A true quote does not carry an invented frame; who says it needs no support."""
    framed = held(
        'In 1999 doctors in Stockholm proved that "a third of them are glassblowers" [cite:company].'
    )
    assert [(claim.kind, claim.verdict) for claim in framed.claims] == [
        ("quote", "supported"),
        ("sentence", "fabricated"),
    ]
    assert held('The handbook says "a third of them are glassblowers" [cite:company].').sound


def test_offsets_are_those_of_the_text() -> None:
    """Claims and citations can be marked in the text as it was given."""
    text = "So:\n\n- Solvents make the lacquer dull [cite:cleaning].\n- It says “dry cloth or wet one” [cite:nope]."
    found = held(text)
    assert [text[each.start : each.end] for each in found.citations] == ["[cite:cleaning]", "[cite:nope]"]
    assert [text[each.start : each.end] for each in found.claims] == [
        "Solvents make the lacquer dull",
        "dry cloth or wet one",
    ]
    assert [each.standing for each in found.citations] == ["sound", "unknown"]


def test_a_claim_that_cites_nothing_sound_is_not_supported() -> None:
    """A true sentence with a made-up id is misattributed."""
    assert only("Solvents make the lacquer dull [cite:nope].").verdict == "misattributed"


def test_ids_with_commas() -> None:
    """A marker's inside is one id where the nest has it, else a list."""
    one = Source("a, b", "a, b", "", (), 0, SOURCES[0].text, {}, None)
    assert [each.id for each in held("You have 30 days [cite:a,%20b].", [one]).citations] == ["a, b"]
    assert [each.id for each in held("You have 30 days [cite:a, b].", [one]).citations] == ["a, b"]
    assert [each.id for each in held("You have 30 days [cite:returns, safety].").citations] == [
        "returns",
        "safety",
    ]


def test_planted_claims() -> None:
    """On real text: what share of each kind gets its verdict (docs/asking.md has the measured figures)."""
    rights: dict[str, list[bool]] = {}
    for case in cases(12, seed=3, others=2):
        rights.setdefault(case.kind, []).append(_verdict(case) == case.verdict)
    share = {kind: sum(right) / len(right) for kind, right in rights.items()}
    # a dozen of each kind: one or two may be missed
    least = {
        "quote": 0.9,
        "quote with ellipsis": 0.8,
        "quote of another": 0.9,
        "quote of two": 0.8,
        "quote, negated": 0.8,
        "quote, two words changed": 0.9,
        "sentence": 1.0,
        "paraphrase": 0.8,
        "paraphrase of another": 0.8,
        "halves of two": 0.6,
        "paraphrase, negated": 0.6,
        "invented": 0.9,
    }
    assert share.keys() >= least.keys()
    assert {kind: share[kind] for kind in least if share[kind] < least[kind]} == {}


def _verdict(case: Case) -> str:
    verdicts = [claim.verdict for claim in held(case.text, case.sources).claims]
    return next((each for each in verdicts if each != "supported"), "supported")
