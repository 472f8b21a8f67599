"""Promise 7 for answers: inside a scope, ask and verify know of nothing outside it."""

from __future__ import annotations

import pytest

import nestling
from leaking import HIDDEN, NOBODYS, SAID, TEXTS, THEIRS, Repeater, fill
from wordhash import WordHash


def pair() -> tuple[nestling.Nest, nestling.Nest, nestling.Nest]:
    """The whole nest that tenants share, the scope in it, and the same scope in a nest of its own."""
    whole, own = (nestling.open(":memory:", embedder=WordHash()) for _ in range(2))
    return whole, fill(whole, True), fill(own, False)


def test_verify_is_as_if_the_tenant_were_alone() -> None:
    """Quotes and citations of what others have get the verdicts, reasons and standings of what is nowhere."""
    whole, scope, alone = pair()
    seen = set()
    for text in TEXTS:
        found = scope.verify(text)
        assert repr(found) == repr(alone.verify(text)), text
        assert HIDDEN not in repr(found)
        seen |= {claim.verdict for claim in found.claims} | {each.standing for each in found.citations}
    assert {"fabricated", "uncited", "unknown", "sound", "supported"} <= seen
    # the same texts are held by the nest itself: there was something to learn
    held = [whole.verify(text) for text in SAID]
    assert sum(found.sound for found in held) >= 4
    assert "sound" in {each.standing for text in TEXTS for each in whole.verify(text).citations}


@pytest.mark.parametrize("budget", [30, 2000])
def test_answers_are_as_if_the_tenant_were_alone(budget: int) -> None:
    """Whatever a model writes and whoever asks what, nothing of the others is shown to it or told."""
    _, scope, alone = pair()
    questions = ("what is the plan of Acme?", "where is the memo kept?", "may I return bulbs?")
    for question in questions:
        assert repr(scope.ask(question, budget)) == repr(alone.ask(question, budget))
        for text in TEXTS:
            models = Repeater(text), Repeater(text)
            answers = [
                nest.ask(question, budget, model=model, min_similarity=-1)
                for nest, model in zip((scope, alone), models, strict=True)
            ]
            assert repr(answers[0]) == repr(answers[1]), (question, text)
            assert HIDDEN not in repr(answers[0])
            assert models[0].shown == models[1].shown
            assert not any(HIDDEN in each for each in models[0].shown)


def test_a_filter_of_an_answer_cannot_widen() -> None:
    """The `where` of a question that names the others finds nothing of theirs."""
    _, scope, alone = pair()
    for where in (
        {"tenant": "acme"},
        {"$or": [{"tenant": "acme"}, {"tenant": {"$exists": False}}]},
        {"$not": {"tenant": "umbrella"}},
        {"page": {"$exists": True}},
    ):
        models = Repeater(SAID[0]), Repeater(SAID[0])
        answers = [
            nest.ask("what will Acme buy?", where=where, model=model, min_similarity=-1)
            for nest, model in zip((scope, alone), models, strict=True)
        ]
        assert repr(answers[0]) == repr(answers[1])
        assert models[0].shown == models[1].shown
        assert not any(HIDDEN in each for each in models[0].shown)


def test_what_leaves_the_scope_is_not_cited_any_more() -> None:
    """A document that the owner gives to another tenant is unknown to the one that had it."""
    whole, scope, _ = pair()
    text = "You have 30 days to return a lamp [cite:terms]."
    assert scope.verify(text).sound
    label = "«tenant=umbrella»terms"
    shown = whole.show(label)
    assert shown is not None
    whole.remove(label)
    whole.scope(tenant="acme").add(nestling.Document("terms", shown.document.text))
    found = scope.verify(text)
    assert [each.standing for each in found.citations] == ["unknown"]
    assert [claim.verdict for claim in found.claims] == ["fabricated"]
    assert whole.scope(tenant="acme").verify(text).sound


def test_the_hidden_word_is_there() -> None:
    """What is looked for in answers is in all that the others have."""
    assert all(HIDDEN in each.text for each in (*THEIRS, NOBODYS))
