"""Tuning: a better setting is found where there is one, and none where there is none."""

from __future__ import annotations

import functools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import nestling
import shelves
from nestling.errors import InputError, SettingError
from nestling.measure.candidates import Candidate, axes, whole
from nestling.measure.gold import Gold, Need
from nestling.measure.golden import Golden, GoldenQuestion
from nestling.measure.objective import Asked
from nestling.measure.search import TuneProgress, halves
from nestling.measure.state import State
from nestling.measure.trials import Cost, Deadline, Trials
from nestling.measure.tune import tune as search
from nestling.settings import Recipe, Scoring
from nestling.types import Context, Piece
from wordhash import WordHash

WITHOUT_TITLES = Recipe(child_size=120, parent_size=240, lead=False)
FEW = Golden(shelves.golden().questions[:24], "few")


def shelf(embedder: WordHash | None = None, recipe: Recipe = WITHOUT_TITLES) -> nestling.Nest:
    """A nest of the synthetic corpus."""
    nest = nestling.open(":memory:", embedder=embedder or WordHash(), recipe=recipe)
    nest.add(shelves.documents())
    return nest


def test_finds_the_setting_that_decides() -> None:
    """Titles before children are what tells these documents apart; the held-out half agrees."""
    with shelf() as nest:
        before = nest.stats()
        found = nestling.tune(nest, shelves.golden(), minutes=5, budgets=(60,))
        assert nest.stats() == before
    assert found.winner
    assert found.use.recipe.lead
    assert found.verdict.startswith("use these settings: +")
    now, best = found.standings[0], found.standings[-1]
    assert (now.name, best.name) == ("now", "defaults, best")
    assert "lead on" in best.told
    assert best.difference is not None
    assert best.difference.low > 0.3
    assert sum(found.questions) == 60
    assert found.measure == "evidence recall, mean over the budgets"
    settings = found.settings()
    assert Recipe(**settings["recipe"]) == found.use.recipe
    assert Scoring(**settings["scoring"]) == found.use.scoring


def test_whole_cards_are_always_among_the_candidates() -> None:
    """A team sees what splitting buys it: figures and costs of one child a parent."""
    with shelf() as nest:
        found = nestling.tune(nest, FEW, minutes=5, budgets=(60,))
    cards = next(each for each in found.standings if "whole card" in each.name)
    assert cards.candidate.recipe.child_size == cards.candidate.recipe.parent_size == 240
    assert cards.difference is not None
    assert cards.cost is not None
    now = found.standings[0].cost
    assert now is not None
    assert cards.cost.children < now.children
    assert cards.cost.bytes == (60 + cards.cost.parents + cards.cost.children) * 64 * 3


def test_keeps_the_defaults_where_all_do_alike() -> None:
    """Where every question is answered by any setting, nothing wins."""
    documents = [nestling.Document(f"d{n}", f"Only here is word{n}.") for n in range(40)]
    golden = Golden(
        tuple(GoldenQuestion(f"q{n}", f"Where is word{n}?", relevant={f"d{n}": 1}) for n in range(40)), "g"
    )
    with nestling.open(":memory:", embedder=WordHash()) as nest:
        nest.add(documents)
        found = nestling.tune(nest, golden, minutes=5)
    assert not found.winner
    assert found.verdict == "keep the defaults: nothing that was tried is better on the tuning half"
    assert found.use == Candidate()
    assert found.measure == "nDCG@10 of documents"


class Noise:
    """An index whose answers have nothing to do with its settings."""

    cost = Cost(1, 1, 1)
    seconds = 0.0

    def __init__(self, seed: int, recipe: Recipe, scoring: Scoring | None = None) -> None:
        self._seed, self._recipe, self._scoring = seed, recipe, scoring

    def asked_with(self, scoring: Scoring) -> Noise:
        """Itself with other weights."""
        return Noise(self._seed, self._recipe, scoring)

    def context(self, query: str, budget: int = 0, **options: Any) -> Context:
        """A share of the evidence, drawn."""
        drawn = random.Random(repr((self._seed, query, self._recipe, self._scoring, options))).random()
        return Context("", 1, budget, (), (Piece("d", 0, 1 + int(99 * drawn)),))


def asked(n: int) -> list[Asked]:
    """Questions with one span each."""
    gold = Gold(Need(None, None), Need(None, None), {"d": [(0, 100)]})
    return [Asked(GoldenQuestion(f"q{i}", f"Question {i}?"), gold) for i in range(n)]


def test_noise_seldom_wins() -> None:
    """Of many candidates that are all alike the luckiest wins no oftener than one fair comparison would."""
    wins = 0
    for seed in range(12):
        with Closing(State(None, "noise")) as state:
            trials = Trials(
                functools.partial(Noise, seed),
                state,
                Deadline(600),
                (100,),
                len,  # type: ignore[arg-type]
            )
            found = search(trials, Candidate(), asked(80))
        assert len(found.tried) > 15
        wins += found.winner
    assert wins <= 3


class Closing:
    """Closes a state at the end of a block."""

    def __init__(self, state: State) -> None:
        self._state = state

    def __enter__(self) -> State:
        return self._state

    def __exit__(self, *_: object) -> None:
        self._state.close()


def test_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """After a stop nothing is embedded or asked again, and the outcome is that of a search in one go."""
    golden, file, embedder = Golden(FEW.questions[:16], "few"), tmp_path / "tuning.state", WordHash()
    told: list[TuneProgress] = []

    def stop(now: TuneProgress) -> None:
        told.append(now)
        if now.tried == 10:
            raise KeyboardInterrupt

    with shelf(embedder) as nest:
        embedder.calls.clear()
        with pytest.raises(KeyboardInterrupt):
            nestling.tune(nest, golden, minutes=5, budgets=(30,), state=file, progress=stop)
        first = list(embedder.calls)
        again = nestling.tune(nest, golden, minutes=5, budgets=(30,), state=file)
        calls = Counter(embedder.calls)
        at_once = nestling.tune(nest, golden, minutes=5, budgets=(30,))
        third = nestling.tune(nest, golden, minutes=5, budgets=(30,), state=file)
    assert len(first) > 0
    assert max(calls.values()) == 1
    assert again.embedded == len(calls) - len(first)
    assert again.tried == at_once.tried
    assert again.standings == at_once.standings == third.standings
    assert at_once.embedded == len(calls)
    assert third.embedded == 0
    assert told[0].now == "the settings of now"
    assert all(now.seconds >= 0 for now in told)


def test_the_nests_own_vectors_are_not_made_again() -> None:
    """Other sizes of parents leave children as they are: what the nest has embedded is used."""
    embedder = WordHash()
    with shelf(embedder) as nest:
        embedded = set(embedder.calls)
        embedder.calls.clear()
        nestling.tune(nest, FEW, minutes=5, budgets=(30,))
    assert not embedded & set(embedder.calls)


def test_stops_in_time_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is over the best candidate until then is judged; time for that is held back."""
    now = 0.0

    class Slow(WordHash):
        def embed_documents(self, texts: Any) -> Any:
            nonlocal now
            now += 0.5 * len(texts)
            return super().embed_documents(texts)

    monkeypatch.setattr("nestling.tuning.Deadline", functools.partial(Deadline, clock=lambda: now))
    with shelf(Slow()) as nest:
        now = 0.0
        found = nestling.tune(nest, FEW, minutes=2, budgets=(30,))
    assert not found.finished
    # a batch of texts is embedded to its end
    assert found.seconds <= 2 * 60 + 32 * 0.5
    assert found.standings[0].held_out is not None


def test_too_little_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything could be compared there is nothing to report."""
    ticks = iter(range(10**6))
    monkeypatch.setattr("nestling.tuning.Deadline", functools.partial(Deadline, clock=lambda: next(ticks)))
    with shelf() as nest, pytest.raises(SettingError, match="give more minutes"):
        nestling.tune(nest, shelves.golden(), minutes=0.1, budgets=(60,))


def test_suggests_a_gate(tmp_path: Path) -> None:
    """Questions about nothing that is there are told from the others, on the half that did not choose."""
    with shelf(recipe=Recipe(child_size=120, parent_size=240)) as nest:
        found = nestling.tune(nest, shelves.golden(unanswerable=30), minutes=5, budgets=(60,))
    gate = found.gate
    assert (gate.min_similarity, gate.min_coverage) != (None, None)
    assert gate.youden is not None
    assert gate.youden > 0.8
    assert gate.answerable + gate.unanswerable == found.questions[1] + gate.unanswerable
    assert found.settings()["gate"] == {
        "min_similarity": gate.min_similarity,
        "min_coverage": gate.min_coverage,
    }


def test_too_few_questions_decide_nothing() -> None:
    """Ten questions are not enough to leave the settings of the nest for."""
    few = Golden(FEW.questions[:12], "few")
    with shelf() as nest:
        found = nestling.tune(nest, few, minutes=5, budgets=(60,))
        assert not found.winner
        assert found.verdict.startswith("keep the settings of the nest: ")
        assert "give 20 questions or more in all" in found.verdict
        with pytest.raises(SettingError, match="too few questions with gold"):
            nestling.tune(nest, Golden(few.questions[:1], "one"), minutes=5)


def test_the_state_of_something_else_is_refused(tmp_path: Path) -> None:
    """Another tuning's state, a nest, and a file of text are left alone."""
    golden, file = shelves.golden(), tmp_path / "tuning.state"
    with shelf() as nest:
        State(file, "another").close()
        with pytest.raises(SettingError, match="other documents, questions or another model"):
            nestling.tune(nest, golden, state=file)
    own = tmp_path / "own.nest"
    nestling.open(own, create=True, embedder=WordHash()).close()
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and longer than the header of one would be " * 20)
    before = own.read_bytes(), text.read_bytes()
    for other in (own, text, tmp_path / "nowhere" / "a.state"):
        with pytest.raises(InputError, match="give the path of a new file"):
            State(other, "one")
    assert (own.read_bytes(), text.read_bytes()) == before


@pytest.mark.parametrize("minutes", [0, -1, float("inf"), "5", True])
def test_minutes_are_above_zero(minutes: Any) -> None:
    """Anything else is refused."""
    with shelf() as nest, pytest.raises(SettingError, match="give a number above 0"):
        nestling.tune(nest, FEW, minutes=minutes)


@pytest.mark.parametrize("budget", [0, 1.5, "500"])
def test_budgets_are_whole_numbers(budget: Any) -> None:
    """Anything else is refused."""
    with shelf() as nest, pytest.raises(SettingError, match="give whole numbers, 1 or more"):
        nestling.tune(nest, FEW, budgets=(500, budget))


def test_halves_stay_when_questions_come_and_go() -> None:
    """A question is on the side its id says; about as many are on each."""
    many, few = halves(asked(400)), halves(asked(400)[::3])
    assert 160 < len(many.tuning) < 240
    assert {each.question.id for each in few.tuning} <= {each.question.id for each in many.tuning}
    assert {each.question.id for each in few.held_out} <= {each.question.id for each in many.held_out}


@pytest.mark.parametrize(
    "sizes", [Recipe(), Recipe(child_size=1, parent_size=1), Recipe(50, 200, 10, "tokens")]
)
def test_candidates_are_valid_and_differ(sizes: Recipe) -> None:
    """Every axis offers settings that can be used, each once, none of which is where the search stands."""
    at = Candidate(sizes)
    for axis in axes(at, sizes, packing=True):
        keys = [candidate.key for candidate in axis.candidates]
        assert len(set(keys)) == len(keys), axis.name
        assert at.key not in keys
        assert all(candidate.told(at) for candidate in axis.candidates)
    names = [axis.name for axis in axes(at, sizes, packing=False)]
    assert "pack shape" not in names
    assert whole(at).recipe.child_size == sizes.parent_size
